package sandbox

import "fmt"

// HeadTailBuffer stores the head and the tail of a stream and counts the rest, so that endless output
// needs only limited memory.
type HeadTailBuffer struct {
	half  int // limit of the head, and of the tail, in bytes
	head  []byte
	tail  []byte // a ring buffer once it is full
	at    int    // index of the oldest byte of a full ring
	total int64
}

// NewHeadTail returns a HeadTailBuffer that stores at most limit bytes.
func NewHeadTail(limit int64) *HeadTailBuffer {
	return &HeadTailBuffer{half: int(max(limit/2, 1))}
}

// Write never fails and never retains p.
func (k *HeadTailBuffer) Write(p []byte) (int, error) {
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

// Bytes returns the stored bytes, with a note in place of omitted ones.
func (k *HeadTailBuffer) Bytes() (kept []byte, cut bool) {
	left := k.total - int64(len(k.head)+len(k.tail))
	out := k.head
	if left > 0 {
		out = fmt.Appendf(out, "\n[... %d bytes left out ...]\n", left)
	}
	out = append(out, k.tail[k.at:]...)
	return append(out, k.tail[:k.at]...), left > 0
}
