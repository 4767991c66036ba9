package sandbox

import (
	"cmp"
	"os"
	"slices"
)

// outputCapture collects the output of a command.
type outputCapture struct {
	out, err OutputBuffer // err is nil if merged, out if it goes to a file
	to       *os.File     // destination of standard output; nil: it is stored
	heard    func([]byte)
}

func newOutputCapture(c Command) *outputCapture {
	limit := max(cmp.Or(c.Cap, defaultOutputCap), 1)
	made := c.Keeper
	if made == nil {
		made = func() OutputBuffer { return NewHeadTail(limit) }
	}
	o := &outputCapture{heard: c.Heard, to: c.Stdout}
	if o.to == nil {
		o.out = made()
	}
	if !c.Merge || o.to != nil {
		o.err = made()
	}
	return o
}

// streamKeepers returns one keeper for each stream.
func (o *outputCapture) streamKeepers() []OutputBuffer {
	return slices.DeleteFunc([]OutputBuffer{o.out, o.err}, func(k OutputBuffer) bool { return k == nil })
}

// keepOutput handles a piece of a stream.
func (o *outputCapture) keepOutput(k OutputBuffer, p []byte) {
	_, _ = k.Write(p)
	if o.heard != nil && len(p) > 0 {
		o.heard(p)
	}
}

func (o *outputCapture) fillResult(r *Result) {
	if o.out != nil {
		r.Stdout, r.Cut = o.out.Bytes()
	}
	if o.err != nil {
		var cut bool
		r.Stderr, cut = o.err.Bytes()
		r.Cut = r.Cut || cut
	}
}
