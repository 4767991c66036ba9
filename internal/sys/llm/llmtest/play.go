package llmtest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// play sends the turn and reports the status and whether the answer was sent
// whole.
func (s *Server) play(w http.ResponseWriter, r *http.Request, a asked, t Turn, seen Seen) (int, bool) {
	if t.Fault == Hangup {
		tear(w)
		return 0, false
	}
	if status, body, ok := t.Fault.refusal(a.wire, key(r)); ok && status != http.StatusOK {
		if t.After != "" {
			w.Header().Set("Retry-After", t.After)
		} else if t.Fault == RateLimit {
			w.Header().Set("Retry-After", "1")
		}
		writeJSON(w, status, body)
		return status, false
	}
	answer := compose(a, t, seen)
	if !a.stream {
		if !t.Fault.whole() {
			tear(w)
			return 0, false
		}
		writeJSON(w, http.StatusOK, answer.whole())
		return http.StatusOK, true
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	p := performance{w: w, ctx: r.Context(), end: s.stalled, pause: max(s.options.Pace, t.Delay)}
	if t.Fault == Slow && p.pause == 0 {
		p.pause = 20 * time.Millisecond
	}
	return http.StatusOK, p.give(answer.events(), a.wire, t.Fault) == nil && t.Fault.whole()
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
	w     http.ResponseWriter
	ctx   context.Context //nolint:containedctx // lives as long as the one response that it serves
	end   <-chan struct{}
	pause time.Duration
}

var errGone = errors.New("the client has gone")

// give sends events, spoilt by the fault.
func (p performance) give(events [][]byte, way wire, f Fault) error {
	half := events[:(len(events)+1)/2]
	switch f {
	case Cut:
		err := p.send(half)
		tear(p.w)
		return err
	case Short:
		return p.send(half)
	case Stall:
		if err := p.send(half); err != nil {
			return err
		}
		return p.stall()
	case ErrorEvent:
		_, body, _ := f.refusal(way, "")
		return p.send(append(half[:len(half):len(half)], event(way, "error", body)))
	case Noise:
		return p.send(noisy(events, way))
	case CRLF:
		return p.send([][]byte{bytes.ReplaceAll(bytes.Join(events, nil), []byte("\n"), []byte("\r\n"))})
	case Split:
		return p.send(torn(bytes.Join(events, nil), 3))
	default:
		if p.pause == 0 {
			events = [][]byte{bytes.Join(events, nil)}
		}
		return p.send(events)
	}
}

func (p performance) send(events [][]byte) error {
	flush := http.NewResponseController(p.w)
	for _, e := range events {
		if err := p.wait(); err != nil {
			return err
		}
		if _, err := p.w.Write(e); err != nil {
			return err
		}
		if len(events) > 1 {
			if err := flush.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p performance) wait() error {
	if p.pause == 0 {
		return nil
	}
	t := time.NewTimer(p.pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.ctx.Done():
		return errGone
	case <-p.end:
		return errGone
	}
}

func (p performance) stall() error {
	_ = http.NewResponseController(p.w).Flush() // what was said must arrive
	select {
	case <-p.ctx.Done():
	case <-p.end:
	}
	return errGone
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
