package sandbox

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// keeper keeps the head and the tail of a stream and counts the rest, so
// that a command may print without end in bounded memory.
type keeper struct {
	half  int // most bytes of the head, and of the tail
	head  []byte
	tail  []byte // a ring once it is full
	at    int    // where the oldest byte of a full ring is
	total int64
}

func newKeeper(limit int64) *keeper {
	if limit <= 0 {
		limit = defaultCap
	}
	return &keeper{half: int(max(limit/2, 1))}
}

// Write never fails and never keeps p.
func (k *keeper) Write(p []byte) (int, error) {
	n := len(p)
	k.total += int64(n)
	room := min(k.half-len(k.head), n)
	k.head = append(k.head, p[:room]...)
	p = p[room:]
	if len(p) > k.half {
		p = p[len(p)-k.half:]
	}
	grow := min(k.half-len(k.tail), len(p))
	k.tail = append(k.tail, p[:grow]...)
	for p = p[grow:]; len(p) > 0; {
		m := copy(k.tail[k.at:], p)
		p = p[m:]
		k.at = (k.at + m) % k.half
	}
	return n, nil
}

// bytes returns what was kept, with a note where something was left out.
func (k *keeper) bytes() (kept []byte, cut bool) {
	left := k.total - int64(len(k.head)+len(k.tail))
	out := k.head
	if left > 0 {
		out = fmt.Appendf(out, "\n[... %d bytes left out ...]\n", left)
	}
	out = append(out, k.tail[k.at:]...)
	return append(out, k.tail[:k.at]...), left > 0
}

// streams are the ends of a command's output pipes.
type streams struct {
	out, err         *keeper // err is nil when merged
	readers, writers []*os.File
	hear             func([]byte)
	listening        sync.WaitGroup
	hearing          sync.Mutex
}

func openStreams(c Command) (*streams, error) {
	s := &streams{hear: c.Heard, out: newKeeper(c.Cap)}
	if !c.Merge {
		s.err = newKeeper(c.Cap)
	}
	for range s.keepers() {
		r, w, err := os.Pipe()
		if err != nil {
			s.close()
			return nil, fmt.Errorf("open pipe: %w", err)
		}
		s.readers, s.writers = append(s.readers, r), append(s.writers, w)
	}
	return s, nil
}

func (s *streams) keepers() []*keeper {
	if s.err == nil {
		return []*keeper{s.out}
	}
	return []*keeper{s.out, s.err}
}

// started closes our copies of the writing ends and begins to read. Whatever
// the command prints is read until the end, so it is never blocked for long.
func (s *streams) started() {
	for _, w := range s.writers {
		_ = w.Close()
	}
	s.writers = nil
	for i, k := range s.keepers() {
		s.listening.Go(func() { s.read(s.readers[i], k) })
	}
}

func (s *streams) read(r io.Reader, k *keeper) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		_, _ = k.Write(buf[:n])
		if s.hear != nil && n > 0 {
			s.hearing.Lock()
			s.hear(buf[:n])
			s.hearing.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (s *streams) close() {
	for _, f := range append(s.readers, s.writers...) {
		_ = f.Close()
	}
}

func (s *streams) into(r *Result) {
	r.Stdout, r.Cut = s.out.bytes()
	if s.err != nil {
		var cut bool
		r.Stderr, cut = s.err.bytes()
		r.Cut = r.Cut || cut
	}
}
