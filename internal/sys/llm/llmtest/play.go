package llmtest

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/dialect"
)

// sides are callbacks for the progress of an answer: that it begins, and whether it counts as
// paid.
type sides struct {
	begin  func()
	settle func(paid bool)
}

// play sends the turn.
func (s *Server) play(w http.ResponseWriter, r *http.Request, t Turn, said dialect.TurnContent, seen LoggedRequest, at sides) {
	settle := at.settle
	if t.Fault == Silent {
		settle(false)
		wait(r.Context().Done(), s.stalled)
	}
	if seen.Status == 0 {
		settle(false)
		tear(w)
		return
	}
	if page, ok := t.Fault.page(); ok {
		settle(false)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(seen.Status)
		_, _ = io.WriteString(w, page) // the client may have gone
		return
	}
	if trouble, ok := t.Fault.trouble(said.Wire, key(r)); ok && seen.Status != http.StatusOK {
		if t.Fault == RateLimit {
			t.After = cmp.Or(t.After, "1")
			trouble.Delay = t.After + "s"
		}
		if t.After != "" && (said.Wire != dialect.Gemini || t.Fault != RateLimit) && t.Fault != Throttled { // Google has it only in the body
			w.Header().Set("Retry-After", t.After)
		}
		if t.Window {
			w.Header().Set("Anthropic-Ratelimit-Requests-Remaining", "0")
			w.Header().Set("X-Ratelimit-Remaining-Requests", "0")
		}
		settle(false)
		writeJSON(w, seen.Status, dialect.Failure(said.Wire, trouble))
		return
	}
	answer := dialect.Put(said)
	if !said.Stream {
		at.begin()
		settle(true)
		writeJSON(w, http.StatusOK, answer.Whole())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	p := answerSender{
		w: w, gone: r.Context().Done(), end: s.stalled, pause: max(s.options.Pace, t.Delay), linger: s.options.Linger,
		begin: at.begin, settle: settle,
	}
	if t.Fault == Slow && p.pause == 0 {
		p.pause = 20 * time.Millisecond
	}
	p.give(answer.Events(), said.Wire, t.Fault)
	p.stay()
}

// key returns the key of the request, for the fault that repeats it.
func key(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}

// wait waits for the first of the two ends.
func wait(gone, end <-chan struct{}) {
	select {
	case <-gone:
	case <-end:
	}
}

// tear closes the connection without a response.
func tear(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// answerSender sends the events of one answer.
type answerSender struct {
	w         http.ResponseWriter
	gone, end <-chan struct{} // the client's end, and ours
	pause     time.Duration   // before each event
	linger    time.Duration   // after the last
	begin     func()
	settle    func(paid bool)
}

// give sends the events with the fault.
func (p answerSender) give(events [][]byte, way dialect.Wire, f Fault) {
	half := events[:(len(events)+1)/2]
	switch f {
	case Cut:
		if p.send(half, false) {
			tear(p.w)
		}
	case Short:
		p.send(half, false)
	case Stall:
		if p.send(half, false) {
			p.stall()
		}
	case Pings, Comments, Hollow, Endless:
		if p.send(half, false) {
			p.babble(dialect.Babble(way, string(f)))
		}
	case Stays:
		if p.send(events, true) {
			p.stall()
		}
	case ErrorEvent:
		t, _ := f.trouble(way, "")
		p.send(append(half[:len(half):len(half)], dialect.FailureEvent(way, t)), false)
	case Noise:
		p.send(noisy(events, way), true)
	case CRLF:
		p.send([][]byte{bytes.ReplaceAll(bytes.Join(events, nil), []byte("\n"), []byte("\r\n"))}, true)
	case Floats:
		counts := regexp.MustCompile(`(token(?:s|Count)"):([0-9]+)`)
		p.send([][]byte{counts.ReplaceAll(bytes.Join(events, nil), []byte("$1:$2.0"))}, true)
	case Split:
		p.send(torn(bytes.Join(events, nil), 3), true)
	default:
		if p.pause == 0 { // one write, because nobody watches
			events = [][]byte{bytes.Join(events, nil)}
		}
		p.send(events, true)
	}
}

// send sends the events one by one, and records the request before the last one. It reports
// whether the client was connected to the end.
func (p answerSender) send(events [][]byte, paid bool) bool {
	flush := http.NewResponseController(p.w)
	for i, e := range events {
		if !p.wait() {
			return false
		}
		if i == 0 {
			p.begin()
		}
		if i == len(events)-1 {
			p.settle(paid)
		}
		if _, err := p.w.Write(e); err != nil {
			return false
		}
		if len(events) > 1 && flush.Flush() != nil {
			return false
		}
	}
	return true
}

func (p answerSender) wait() bool {
	if p.pause == 0 {
		return true
	}
	t := time.NewTimer(p.pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.gone:
	case <-p.end:
	}
	return false
}

func (p answerSender) stall() {
	_ = http.NewResponseController(p.w).Flush() // the sent part must arrive
	wait(p.gone, p.end)
}

// babble sends the same event repeatedly until the client disconnects.
func (p answerSender) babble(event []byte) {
	p.pause = max(p.pause, 100*time.Millisecond)
	for p.send([][]byte{event, {}}, false) {
	}
}

// stay leaves the connection open after the end of the answer.
func (p answerSender) stay() {
	if p.linger == 0 {
		return
	}
	_ = http.NewResponseController(p.w).Flush() // the sent part must arrive
	var over <-chan time.Time                   // never
	if p.linger > 0 {
		t := time.NewTimer(p.linger)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
	case <-p.gone:
	case <-p.end:
	}
}

// noisy inserts events that a client must ignore.
func noisy(events [][]byte, way dialect.Wire) [][]byte {
	noise := dialect.Noise(way)
	var out [][]byte
	for i, e := range events {
		out = append(out, noise[i%len(noise)], e)
	}
	return out
}

// torn cuts data into pieces of n bytes.
func torn(data []byte, n int) [][]byte {
	var out [][]byte
	for len(data) > n {
		out = append(out, data[:n])
		data = data[n:]
	}
	return append(out, data)
}
