// Package gatererun runs gates again for people, from a page or over the API. The result of such a
// gate is shown, and decides nothing in the run.
package gatererun

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

// GateRerun is a gate of a task that a person runs again.
type GateRerun struct {
	Run   nexus.RunID     `json:"run"`
	Task  nexus.TaskID    `json:"task"`
	Gate  string          `json:"gate"`
	By    string          `json:"by"`
	Began time.Time       `json:"began"`
	Ended time.Time       `json:"ended,omitzero"` // zero: in progress
	State nexus.GateState `json:"state,omitzero"` // once it has ended
	Text  string          `json:"text,omitzero"`  // as nexus check prints it

	end context.CancelCauseFunc
}

const (
	// most limits the concurrent reruns.
	most = 2
	// kept limits the remembered reruns.
	kept = 20
)

// GateReruns are the reruns since the server began. The zero value is ready for use, by several
// goroutines.
type GateReruns struct {
	work sync.WaitGroup // reruns in progress

	mu   sync.Mutex   // guards the fields below
	all  []*GateRerun // the latest first
	over bool         // the server ends
}

// Start runs one gate of a task again, as nexus check --task does, on behalf of a person. It does
// not wait, because a gate may take longer than a response may. It returns an error if the gate
// cannot run.
func (g *GateReruns) Start(ctx context.Context, s access.WebBackend, one GateRerun) (GateRerun, error) {
	by := access.PersonFrom(ctx)
	ctx, one.end = context.WithCancelCause(context.WithoutCancel(ctx))
	one.By, one.Began = by.Name, s.Now()
	if one.Task == "" || one.Gate == "" {
		return one, refuseRerun(one, nexus.CodeInvalidInput, "choose a task and a gate")
	}
	held := one
	if err := g.addRerun(&held); err != nil {
		return one, err
	}
	args := []string{"check", "--run", string(one.Run), "--json", "--task", string(one.Task), "--gates", access.QuoteListValue(one.Gate)}
	go func() { // ends with the command, or with the server, which waits for it
		defer g.work.Done()
		defer one.end(nil)
		g.recordResult(&held, s.Act(ctx, by, access.CommandInput{Args: args}), s.Now())
	}()
	return one, nil
}

// refuseRerun returns the error of a rerun that cannot begin.
func refuseRerun(one GateRerun, code nexus.ErrorCode, why string) error {
	err := &nexus.Error{Code: code, Message: why, Hint: "See the checks of the run."}
	one.end(err)
	return err
}

// addRerun records a rerun that begins, or returns why it cannot.
func (g *GateReruns) addRerun(one *GateRerun) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return refuseRerun(*one, nexus.CodeTransition, "the server ends")
	}
	n := 0
	for _, r := range g.all {
		if !r.Ended.IsZero() {
			continue
		}
		if n++; r.isSameRerun(one) {
			return refuseRerun(*one, nexus.CodeTransition, fmt.Sprintf("%s of %s is already in progress", one.Gate, one.Task))
		}
	}
	if n >= most {
		return refuseRerun(*one, nexus.CodeTransition, "two gates are already running again: wait until one of them has ended")
	}
	g.all = slices.DeleteFunc(g.all, func(r *GateRerun) bool { return !r.Ended.IsZero() && r.isSameRerun(one) })
	g.all = slices.Insert(g.all, 0, one)
	for i := len(g.all) - 1; len(g.all) > kept; i-- {
		if !g.all[i].Ended.IsZero() { // one in progress is ended by name
			g.all = slices.Delete(g.all, i, i+1)
		}
	}
	g.work.Add(1)
	return nil
}

func (r *GateRerun) isSameRerun(o *GateRerun) bool {
	return r.Run == o.Run && r.Task == o.Task && r.Gate == o.Gate
}

// stopRunningReruns ends the reruns in progress, waits for them, and names them.
func (g *GateReruns) stopRunningReruns() []string {
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

// errEnds is the reason why a rerun is interrupted.
var errEnds = errors.New("the server ends")

// Wait waits until no rerun is in progress.
func (g *GateReruns) Wait() { g.work.Wait() }

// StopOnDone waits until the context ends, then ends the reruns in progress and returns their names.
func (g *GateReruns) StopOnDone(ctx context.Context) []string {
	<-ctx.Done()
	return g.stopRunningReruns()
}

// RerunsOf returns the reruns of a run, the latest first.
func (g *GateReruns) RerunsOf(run nexus.RunID) []GateRerun {
	g.mu.Lock()
	defer g.mu.Unlock()
	var some []GateRerun
	for _, r := range g.all {
		if r.Run == run {
			some = append(some, *r)
		}
	}
	return some
}

// recordResult records the result of a rerun.
func (g *GateReruns) recordResult(one *GateRerun, result access.CommandLineResult, at time.Time) {
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
