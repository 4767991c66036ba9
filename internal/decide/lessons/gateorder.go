package lessons

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// least is the minimum duration of a gate in the calculation, in seconds: shorter times
// depend on the machine's load, and people do not notice them.
const least = 1

// learnGateOrder returns the order in which gates judge, or nil if the usual order is as good. The
// gate that fails most often per second comes first, so that a round that fails ends as soon
// as possible. A gate that needs a build never comes before the build.
func learnGateOrder(runs []runhistory.RunRecord, since time.Time, sample int) *nexus.GateOrderLesson {
	all := map[string]*runhistory.GateUsage{}
	tasks := 0
	for _, r := range slices.Backward(runs) {
		if r.Began.Before(since) || tasks >= window {
			break
		}
		tasks += len(r.Tasks)
		for _, g := range r.Gates {
			if all[g.Name] == nil {
				all[g.Name] = &runhistory.GateUsage{Name: g.Name}
			}
			o := all[g.Name]
			o.Judged, o.Failed, o.Seconds = o.Judged+g.Judged, o.Failed+g.Failed, o.Seconds+g.Seconds
		}
	}
	var some []runhistory.GateUsage
	for _, g := range all {
		if g.Judged >= sample && g.Failed > 0 {
			some = append(some, *g)
		}
	}
	if len(some) < 2 {
		return nil
	}
	slices.SortStableFunc(some, func(a, b runhistory.GateUsage) int {
		return cmp.Or(cmp.Compare(redPerSecond(b), redPerSecond(a)), strings.Compare(a.Name, b.Name))
	})
	l := &nexus.GateOrderLesson{Tasks: tasks}
	var why []string
	for _, g := range some {
		l.Order = append(l.Order, g.Name)
		why = append(why, fmt.Sprintf("%s was red %d of %d times and takes %.1f s", g.Name, g.Failed, g.Judged,
			g.Seconds/float64(g.Judged)))
	}
	l.Order = moveBuildFirst(l.Order)
	l.Why = strings.Join(why, "; ")
	return l
}

// redPerSecond returns the number of a gate's failures per second of its time.
func redPerSecond(g runhistory.GateUsage) float64 {
	each := max(least, g.Seconds/float64(g.Judged))
	return float64(g.Failed) / float64(g.Judged) / each
}

// moveBuildFirst moves the build before the gates that may need it: all except those that only
// read code.
func moveBuildFirst(order []string) []string {
	at := slices.Index(order, "build")
	first := slices.IndexFunc(order, func(name string) bool {
		step, _, _ := strings.Cut(name, "-")
		return !slices.Contains([]string{"build", "type", "lint", "golangci", "format"}, step)
	})
	if first < 0 || at >= 0 && at < first {
		return order
	}
	if at >= 0 {
		order = slices.Delete(order, at, at+1)
	}
	return slices.Insert(order, first, "build")
}
