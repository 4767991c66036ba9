package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Rerun is a gate of a task that somebody runs again. It tells, and decides nothing.
type Rerun struct {
	Run   nexus.RunID
	Task  nexus.TaskID
	Gate  string
	By    string
	Began time.Time
	Ended time.Time // zero: it is under way
	State nexus.GateState
	Text  string // as nexus check says it

	end context.CancelCauseFunc
}

const (
	// maxReruns is how many gates are run again at a time.
	maxReruns = 2
	// keptReruns is how many are remembered.
	keptReruns = 20
)

// reruns are the gates that were run again since the server began, the latest first.
type reruns struct {
	work sync.WaitGroup // those under way

	mu   sync.Mutex // guards what follows
	all  []*Rerun
	over bool // the server ends
}

// begin notes one that begins; why it cannot.
func (a *reruns) begin(one *Rerun) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return errors.New("the server ends")
	}
	n := 0
	for _, r := range a.all {
		if !r.Ended.IsZero() {
			continue
		}
		if n++; r.Run == one.Run && r.Task == one.Task && r.Gate == one.Gate {
			return fmt.Errorf("%s of %s is already in progress", one.Gate, one.Task)
		}
	}
	if n >= maxReruns {
		return errors.New("two gates are already running again: wait until one of them has ended")
	}
	a.all = slices.DeleteFunc(a.all, func(r *Rerun) bool {
		return !r.Ended.IsZero() && r.Run == one.Run && r.Task == one.Task && r.Gate == one.Gate
	})
	a.all = slices.Insert(a.all, 0, one)
	for i := len(a.all) - 1; len(a.all) > keptReruns; i-- {
		if !a.all[i].Ended.IsZero() { // one that is under way is ended by name
			a.all = slices.Delete(a.all, i, i+1)
		}
	}
	a.work.Add(1)
	return nil
}

// stop ends those that are under way, waits until they have, and names them.
func (a *reruns) stop() []string {
	a.mu.Lock()
	a.over = true
	var said []string
	for _, r := range a.all {
		if r.Ended.IsZero() {
			said = append(said, fmt.Sprintf("%s of %s was run again, and ended with the server", r.Gate, r.Task))
			r.end(errEnds)
		}
	}
	a.mu.Unlock()
	a.work.Wait()
	return said
}

// errEnds is why a gate that is run again is interrupted.
var errEnds = errors.New("the server ends")

// Tend waits until the context ends, and then ends what the pages began: it says
// what that was.
func (s *Site) Tend(ctx context.Context) []string {
	<-ctx.Done()
	return s.again.stop()
}

// of returns those of a run.
func (a *reruns) of(run nexus.RunID) []Rerun {
	a.mu.Lock()
	defer a.mu.Unlock()
	var some []Rerun
	for _, r := range a.all {
		if r.Run == run {
			some = append(some, *r)
		}
	}
	return some
}

// ended notes what one came to.
func (a *reruns) ended(one *Rerun, result access.Result, at time.Time) {
	var told struct {
		State nexus.GateState `json:"state"`
	}
	why := read(result, &told)
	a.mu.Lock()
	defer a.mu.Unlock()
	one.Ended, one.State, one.Text = at, told.State, strings.TrimSpace(result.Text)
	if why != "" {
		one.State, one.Text = nexus.NotRun, why
	}
	one.State = cmp.Or(one.State, nexus.NotRun)
}

// rerun runs one gate of a task again, as nexus check --task does, beside all else: it may
// take longer than an answer may.
func (s *Site) rerun(w http.ResponseWriter, r *http.Request) {
	f, ok := form(w, r)
	if !ok {
		return
	}
	run := nexus.RunID(r.PathValue("run"))
	by := access.From(r.Context())
	ctx, end := context.WithCancelCause(context.WithoutCancel(r.Context()))
	one := &Rerun{Run: run, Task: nexus.TaskID(f.Get("task")), Gate: f.Get("gate"), By: by.Name, Began: s.Now(), end: end}
	said := Said{Text: fmt.Sprintf("%s of %s is run again.", one.Gate, one.Task), at: s.Now()}
	err := errors.New("choose a task and a gate")
	if one.Task != "" && one.Gate != "" {
		err = s.again.begin(one)
	}
	if err != nil {
		said.Text, said.Bad = err.Error(), true
		end(err)
	} else {
		args := []string{"check", "--run", string(run), "--json", "--task", string(one.Task), "--gates", listed(one.Gate)}
		go func() { // ends with the command, or with the server, which waits for it
			defer s.again.work.Done()
			defer end(nil)
			s.again.ended(one, s.Act(ctx, by, access.Order{Args: args}), s.Now())
		}()
	}
	http.Redirect(w, r, s.back(runPath(run, "/checks"), s.said.put(said)), http.StatusSeeOther)
}

// underWay reports whether one of some has not ended.
func underWay(all []Rerun) bool {
	return slices.ContainsFunc(all, func(r Rerun) bool { return r.Ended.IsZero() })
}
