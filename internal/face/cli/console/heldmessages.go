package console

import (
	"bytes"
	"io"
	"sync"
)

// heldMessages stores messages while another part of the program draws on the terminal. The zero
// value stores none.
type heldMessages struct {
	mu   sync.Mutex // guards the fields below
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

// HoldMessages delays all messages until release writes them, because something else draws on the
// terminal. Only one caller may hold them at a time.
func (a *Console) HoldMessages() (release func()) {
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

// FitsFullScreen reports whether the whole screen can be used: the terminal is interactive and large
// enough, and the user did not ask for plain sentences.
func (a *Console) FitsFullScreen() bool {
	if a.HasPlayedPerson() || a.JSON || !a.HasPerson() || !a.CanRedraw(a.Out) || !a.CanRedraw(a.Err) {
		return false
	}
	if v := a.Env("NEXUS_A11Y"); v != "" && v != "0" {
		return false
	}
	s := a.Style(a.Out)
	return s.Width >= leastColumns && s.Height >= leastLines
}

// The minimum size in which a run is shown on the whole screen by default.
const (
	leastColumns = 60
	leastLines   = 15
)
