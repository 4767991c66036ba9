package sandbox

import (
	"cmp"
	"os"
	"slices"
)

// outputs collects the output of a command.
type outputs struct {
	out, err Keeper   // err is nil if merged, out if it goes to a file
	to       *os.File // destination of standard output; nil: it is stored
	heard    func([]byte)
}

func newOutputs(c Command) *outputs {
	limit := max(cmp.Or(c.Cap, defaultCap), 1)
	made := c.Keeper
	if made == nil {
		made = func() Keeper { return NewHeadTail(limit) }
	}
	o := &outputs{heard: c.Heard, to: c.Stdout}
	if o.to == nil {
		o.out = made()
	}
	if !c.Merge || o.to != nil {
		o.err = made()
	}
	return o
}

// keepers returns one keeper for each stream.
func (o *outputs) keepers() []Keeper {
	return slices.DeleteFunc([]Keeper{o.out, o.err}, func(k Keeper) bool { return k == nil })
}

// got handles a piece of a stream.
func (o *outputs) got(k Keeper, p []byte) {
	_, _ = k.Write(p)
	if o.heard != nil && len(p) > 0 {
		o.heard(p)
	}
}

func (o *outputs) into(r *Result) {
	if o.out != nil {
		r.Stdout, r.Cut = o.out.Bytes()
	}
	if o.err != nil {
		var cut bool
		r.Stderr, cut = o.err.Bytes()
		r.Cut = r.Cut || cut
	}
}
