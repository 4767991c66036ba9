package llmtest

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// answerProgressCallbacks are callbacks for the progress of an answer: that it begins, and whether it counts as
// paid.
type answerProgressCallbacks struct {
	begin  func()
	settle func(paid bool)
}

// sendTurn sends the turn.
func (s *Server) sendTurn(w http.ResponseWriter, r *http.Request, t ScriptTurn, said wireformat.ScriptedTurnContent, seen LoggedRequest, at answerProgressCallbacks) {
	settle := at.settle
	if t.Fault == Silent {
		settle(false)
		waitForEitherEnd(r.Context().Done(), s.stalled)
	}
	if seen.Status == 0 {
		settle(false)
		dropConnection(w)
		return
	}
	if page, ok := t.Fault.htmlPage(); ok {
		settle(false)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(seen.Status)
		_, _ = io.WriteString(w, page) // the client may have gone
		return
	}
	if trouble, ok := t.Fault.errorReply(said.Wire, requestKey(r)); ok && seen.Status != http.StatusOK {
		if t.Fault == RateLimit {
			t.After = cmp.Or(t.After, "1")
			trouble.Delay = t.After + "s"
		}
		if t.After != "" && (said.Wire != wireformat.Gemini || t.Fault != RateLimit) && t.Fault != Throttled { // Google has it only in the body
			w.Header().Set("Retry-After", t.After)
		}
		if t.Window {
			w.Header().Set("Anthropic-Ratelimit-Requests-Remaining", "0")
			w.Header().Set("X-Ratelimit-Remaining-Requests", "0")
		}
		settle(false)
		writeJSON(w, seen.Status, wireformat.ErrorBody(said.Wire, trouble))
		return
	}
	answer := wireformat.EncodeTurn(said)
	if !said.Stream {
		at.begin()
		settle(true)
		writeJSON(w, http.StatusOK, answer.WholeBody())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	p := scriptedAnswerSender{
		w: w, gone: r.Context().Done(), end: s.stalled, pause: max(s.options.Pace, t.Delay), linger: s.options.Linger,
		begin: at.begin, settle: settle,
	}
	if t.Fault == Slow && p.pause == 0 {
		p.pause = 20 * time.Millisecond
	}
	p.sendWithFault(answer.StreamEvents(), said.Wire, t.Fault)
	p.keepConnectionOpen()
}

// requestKey returns the key of the request, for the fault that repeats it.
func requestKey(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}

// waitForEitherEnd waits for the first of the two ends.
func waitForEitherEnd(gone, end <-chan struct{}) {
	select {
	case <-gone:
	case <-end:
	}
}

// dropConnection closes the connection without a response.
func dropConnection(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// scriptedAnswerSender sends the events of one answer.
type scriptedAnswerSender struct {
	w         http.ResponseWriter
	gone, end <-chan struct{} // the client's end, and ours
	pause     time.Duration   // before each event
	linger    time.Duration   // after the last
	begin     func()
	settle    func(paid bool)
}

// sendWithFault sends the events with the fault.
func (p scriptedAnswerSender) sendWithFault(events [][]byte, way wireformat.WireFormat, f ProviderFault) {
	half := events[:(len(events)+1)/2]
	switch f {
	case Cut:
		if p.sendEvents(half, false) {
			dropConnection(p.w)
		}
	case Short:
		p.sendEvents(half, false)
	case Stall:
		if p.sendEvents(half, false) {
			p.stallAnswer()
		}
	case Pings, Comments, Hollow, Endless:
		if p.sendEvents(half, false) {
			p.repeatEvent(wireformat.RepeatedEvent(way, string(f)))
		}
	case Stays:
		if p.sendEvents(events, true) {
			p.stallAnswer()
		}
	case ErrorEvent:
		t, _ := f.errorReply(way, "")
		p.sendEvents(append(half[:len(half):len(half)], wireformat.FailureEvent(way, t)), false)
	case Noise:
		p.sendEvents(insertIgnorableEvents(events, way), true)
	case CRLF:
		p.sendEvents([][]byte{bytes.ReplaceAll(bytes.Join(events, nil), []byte("\n"), []byte("\r\n"))}, true)
	case Floats:
		counts := regexp.MustCompile(`(token(?:s|Count)"):([0-9]+)`)
		p.sendEvents([][]byte{counts.ReplaceAll(bytes.Join(events, nil), []byte("$1:$2.0"))}, true)
	case Split:
		p.sendEvents(splitBytes(bytes.Join(events, nil), 3), true)
	default:
		if p.pause == 0 { // one write, because nobody watches
			events = [][]byte{bytes.Join(events, nil)}
		}
		p.sendEvents(events, true)
	}
}

// sendEvents sends the events one by one, and records the request before the last one. It reports
// whether the client was connected to the end.
func (p scriptedAnswerSender) sendEvents(events [][]byte, paid bool) bool {
	flush := http.NewResponseController(p.w)
	for i, e := range events {
		if !p.pauseBetween() {
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

func (p scriptedAnswerSender) pauseBetween() bool {
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

func (p scriptedAnswerSender) stallAnswer() {
	_ = http.NewResponseController(p.w).Flush() // the sent part must arrive
	waitForEitherEnd(p.gone, p.end)
}

// repeatEvent sends the same event repeatedly until the client disconnects.
func (p scriptedAnswerSender) repeatEvent(event []byte) {
	p.pause = max(p.pause, 100*time.Millisecond)
	for p.sendEvents([][]byte{event, {}}, false) {
	}
}

// keepConnectionOpen leaves the connection open after the end of the answer.
func (p scriptedAnswerSender) keepConnectionOpen() {
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

// insertIgnorableEvents inserts events that a client must ignore.
func insertIgnorableEvents(events [][]byte, way wireformat.WireFormat) [][]byte {
	noise := wireformat.HarmlessEvents(way)
	var out [][]byte
	for i, e := range events {
		out = append(out, noise[i%len(noise)], e)
	}
	return out
}

// splitBytes cuts data into pieces of n bytes.
func splitBytes(data []byte, n int) [][]byte {
	var out [][]byte
	for len(data) > n {
		out = append(out, data[:n])
		data = data[n:]
	}
	return append(out, data)
}
