package sandbox

import (
	"fmt"
	"os"
	"slices"
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

// outputs collects what a command prints.
type outputs struct {
	out, err *keeper  // err is nil when merged, out when it goes to a file
	to       *os.File // where standard output goes; nil: it is kept
	heard    func([]byte)
}

func newOutputs(c Command) *outputs {
	o := &outputs{heard: c.Heard, to: c.Stdout}
	if o.to == nil {
		o.out = newKeeper(c.Cap)
	}
	if !c.Merge || o.to != nil {
		o.err = newKeeper(c.Cap)
	}
	return o
}

// keepers returns one keeper for each stream.
func (o *outputs) keepers() []*keeper {
	return slices.DeleteFunc([]*keeper{o.out, o.err}, func(k *keeper) bool { return k == nil })
}

// got takes a piece of a stream.
func (o *outputs) got(k *keeper, p []byte) {
	_, _ = k.Write(p)
	if o.heard != nil && len(p) > 0 {
		o.heard(p)
	}
}

func (o *outputs) into(r *Result) {
	if o.out != nil {
		r.Stdout, r.Cut = o.out.bytes()
	}
	if o.err != nil {
		var cut bool
		r.Stderr, cut = o.err.bytes()
		r.Cut = r.Cut || cut
	}
}
