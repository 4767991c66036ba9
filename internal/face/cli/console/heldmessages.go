package console

import (
	"bytes"
	"io"
	"sync"
)

// heldMessages keeps messages while something else has the terminal. The zero value keeps none.
type heldMessages struct {
	mu   sync.Mutex // guards what follows
	on   bool
	kept bytes.Buffer
}

func (h *heldMessages) write(w io.Writer, text string) {
	if h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.on {
			h.kept.WriteString(text)
			return
		}
	}
	_, _ = io.WriteString(w, text)
}

// Hold keeps all messages until release writes them: something else draws on the
// terminal. Only one may hold them at a time.
func (a *Console) Hold() (release func()) {
	h := a.held
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.on = false
		_, _ = a.Err.Write(h.kept.Bytes())
		h.kept.Reset()
	}
}

// Fits reports whether the whole screen can be drawn on: somebody sits in front of it,
// it is large enough, and nobody wants sentences in place of pictures.
func (a *Console) Fits() bool {
	if a.Played() || a.JSON || !a.Person() || !a.Live(a.Out) || !a.Live(a.Err) {
		return false
	}
	if v := a.Env("NEXUS_A11Y"); v != "" && v != "0" {
		return false
	}
	s := a.Style(a.Out)
	return s.Width >= leastColumns && s.Height >= leastLines
}

// The least room that a run is shown in on the whole screen unasked.
const (
	leastColumns = 60
	leastLines   = 15
)
