package sandbox

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/keep"
)

// outputs collects what a command prints.
type outputs struct {
	out, err *keep.Keeper // err is nil when merged
	heard    func([]byte)
}

func newOutputs(c Command) *outputs {
	limit := max(cmp.Or(c.Cap, defaultCap), 1)
	o := &outputs{heard: c.Heard, out: keep.New(limit)}
	if !c.Merge {
		o.err = keep.New(limit)
	}
	return o
}

// keepers returns one keeper for each stream.
func (o *outputs) keepers() []*keep.Keeper {
	if o.err == nil {
		return []*keep.Keeper{o.out}
	}
	return []*keep.Keeper{o.out, o.err}
}

// got takes a piece of a stream.
func (o *outputs) got(k *keep.Keeper, p []byte) {
	_, _ = k.Write(p)
	if o.heard != nil && len(p) > 0 {
		o.heard(p)
	}
}

func (o *outputs) into(r *Result) {
	r.Stdout, r.Cut = o.out.Bytes()
	if o.err != nil {
		var cut bool
		r.Stderr, cut = o.err.Bytes()
		r.Cut = r.Cut || cut
	}
}
