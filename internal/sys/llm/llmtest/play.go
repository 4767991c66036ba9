package llmtest

import (
	"bytes"
	"net/http"
	"strings"
	"time"
)

// play sends the turn.
func (s *Server) play(w http.ResponseWriter, r *http.Request, a asked, t Turn, seen Seen, settle func(paid bool)) {
	if seen.Status == 0 {
		settle(false)
		tear(w)
		return
	}
	if _, body, ok := t.Fault.refusal(a.wire, key(r)); ok && seen.Status != http.StatusOK {
		if t.After != "" {
			w.Header().Set("Retry-After", t.After)
		} else if t.Fault == RateLimit {
			w.Header().Set("Retry-After", "1")
		}
		settle(false)
		writeJSON(w, seen.Status, body)
		return
	}
	answer := compose(a, t, seen)
	if !a.stream {
		settle(true)
		writeJSON(w, http.StatusOK, answer.whole())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	p := performance{w: w, gone: r.Context().Done(), end: s.stalled, pause: max(s.options.Pace, t.Delay), settle: settle}
	if t.Fault == Slow && p.pause == 0 {
		p.pause = 20 * time.Millisecond
	}
	p.give(answer.events(), a.wire, t.Fault)
}

// key returns the key that came with the request, for the fault that repeats
// it.
func key(r *http.Request) string {
	if k := r.Header.Get("X-Api-Key"); k != "" {
		return k
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// tear ends the connection without a word.
func tear(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// performance sends the events of one answer.
type performance struct {
	w         http.ResponseWriter
	gone, end <-chan struct{} // the client's end, and ours
	pause     time.Duration   // before each event
	settle    func(paid bool)
}

// give sends events, spoilt by the fault.
func (p performance) give(events [][]byte, way wire, f Fault) {
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
	case ErrorEvent:
		_, body, _ := f.refusal(way, "")
		p.send(append(half[:len(half):len(half)], event(way, "error", body)), false)
	case Noise:
		p.send(noisy(events, way), true)
	case CRLF:
		p.send([][]byte{bytes.ReplaceAll(bytes.Join(events, nil), []byte("\n"), []byte("\r\n"))}, true)
	case Split:
		p.send(torn(bytes.Join(events, nil), 3), true)
	default:
		if p.pause == 0 { // one write: nobody watches
			events = [][]byte{bytes.Join(events, nil)}
		}
		p.send(events, true)
	}
}

// send sends the events one by one, and settles before the last one. It
// reports whether the client was there to the end.
func (p performance) send(events [][]byte, paid bool) bool {
	flush := http.NewResponseController(p.w)
	for i, e := range events {
		if !p.wait() {
			return false
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

func (p performance) wait() bool {
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

func (p performance) stall() {
	_ = http.NewResponseController(p.w).Flush() // what was said must arrive
	select {
	case <-p.gone:
	case <-p.end:
	}
}

// noisy puts between events what a client must not mind.
func noisy(events [][]byte, way wire) [][]byte {
	noise := [][]byte{[]byte(": keep-alive\n\n"), []byte("retry: 100\n\n"), []byte("id: 7\n: OPENROUTER PROCESSING\n\n")}
	if way == anthropicWire {
		noise = append(noise, []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n"),
			[]byte("event: novelty\ndata: {\"type\":\"novelty\",\"index\":0}\n\n"))
	} else {
		noise = append(noise, []byte("data: {\"id\":\"x\",\"object\":\"novelty\",\"choices\":[]}\n\n"))
	}
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
