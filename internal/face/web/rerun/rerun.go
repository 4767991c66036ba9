// Package rerun keeps the gates that people run again from a page or over the API.
// What such a gate says is told, and decides nothing in the run.
package rerun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Rerun is a gate of a task that somebody runs again.
type Rerun struct {
	Run   nexus.RunID     `json:"run"`
	Task  nexus.TaskID    `json:"task"`
	Gate  string          `json:"gate"`
	By    string          `json:"by"`
	Began time.Time       `json:"began"`
	Ended time.Time       `json:"ended,omitzero"` // zero: it is under way
	State nexus.GateState `json:"state,omitzero"` // once it has ended
	Text  string          `json:"text,omitzero"`  // as nexus check says it

	end context.CancelCauseFunc
}

const (
	// most is how many gates are run again at a time.
	most = 2
	// kept is how many are remembered.
	kept = 20
)

// Gates are the gates that were run again since the server began. The zero value is
// ready for use, by several goroutines.
type Gates struct {
	work sync.WaitGroup // those under way

	mu   sync.Mutex // guards what follows
	all  []*Rerun   // the latest first
	over bool       // the server ends
}

// Start runs one gate of a task again, as nexus check --task does, in the name of a
// person. It does not wait for it: a gate may take longer than an answer may. It says
// why it cannot.
func (g *Gates) Start(ctx context.Context, s access.Site, one Rerun) (Rerun, error) {
	by := access.From(ctx)
	ctx, one.end = context.WithCancelCause(context.WithoutCancel(ctx))
	one.By, one.Began = by.Name, s.Now()
	if one.Task == "" || one.Gate == "" {
		return one, refuse(one, nexus.CodeInvalidInput, "choose a task and a gate")
	}
	held := one
	if err := g.begin(&held); err != nil {
		return one, err
	}
	args := []string{"check", "--run", string(one.Run), "--json", "--task", string(one.Task), "--gates", access.Listed(one.Gate)}
	go func() { // ends with the command, or with the server, which waits for it
		defer g.work.Done()
		defer one.end(nil)
		g.ended(&held, s.Act(ctx, by, access.Order{Args: args}), s.Now())
	}()
	return one, nil
}

// refuse ends what does not begin.
func refuse(one Rerun, code nexus.Code, why string) error {
	err := &nexus.Error{Code: code, Message: why, Hint: "See the checks of the run."}
	one.end(err)
	return err
}

// begin notes one that begins; why it cannot.
func (g *Gates) begin(one *Rerun) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return refuse(*one, nexus.CodeTransition, "the server ends")
	}
	n := 0
	for _, r := range g.all {
		if !r.Ended.IsZero() {
			continue
		}
		if n++; r.is(one) {
			return refuse(*one, nexus.CodeTransition, fmt.Sprintf("%s of %s is already in progress", one.Gate, one.Task))
		}
	}
	if n >= most {
		return refuse(*one, nexus.CodeTransition, "two gates are already running again: wait until one of them has ended")
	}
	g.all = slices.DeleteFunc(g.all, func(r *Rerun) bool { return !r.Ended.IsZero() && r.is(one) })
	g.all = slices.Insert(g.all, 0, one)
	for i := len(g.all) - 1; len(g.all) > kept; i-- {
		if !g.all[i].Ended.IsZero() { // one that is under way is ended by name
			g.all = slices.Delete(g.all, i, i+1)
		}
	}
	g.work.Add(1)
	return nil
}

func (r *Rerun) is(o *Rerun) bool { return r.Run == o.Run && r.Task == o.Task && r.Gate == o.Gate }

// stop ends those that are under way, waits until they have, and names them.
func (g *Gates) stop() []string {
	g.mu.Lock()
	g.over = true
	var said []string
	for _, r := range g.all {
		if r.Ended.IsZero() {
			said = append(said, fmt.Sprintf("%s of %s was run again, and ended with the server", r.Gate, r.Task))
			r.end(errEnds)
		}
	}
	g.mu.Unlock()
	g.Wait()
	return said
}

// errEnds is why a gate that is run again is interrupted.
var errEnds = errors.New("the server ends")

// Wait waits until nothing is under way.
func (g *Gates) Wait() { g.work.Wait() }

// Tend waits until the context ends, and then ends what is under way: it says what
// that was.
func (g *Gates) Tend(ctx context.Context) []string {
	<-ctx.Done()
	return g.stop()
}

// Of returns those of a run, the latest first.
func (g *Gates) Of(run nexus.RunID) []Rerun {
	g.mu.Lock()
	defer g.mu.Unlock()
	var some []Rerun
	for _, r := range g.all {
		if r.Run == run {
			some = append(some, *r)
		}
	}
	return some
}

// ended notes what one came to.
func (g *Gates) ended(one *Rerun, result access.Result, at time.Time) {
	var told struct {
		State nexus.GateState `json:"state"`
	}
	why := result.Read(&told)
	g.mu.Lock()
	defer g.mu.Unlock()
	one.Ended, one.State, one.Text = at, told.State, strings.TrimSpace(result.Text)
	if why != "" {
		one.State, one.Text = nexus.NotRun, why
	}
	one.State = cmp.Or(one.State, nexus.NotRun)
}
