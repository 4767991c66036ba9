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
}

const (
	// maxReruns is how many gates are run again at a time.
	maxReruns = 2
	// keptReruns is how many are remembered.
	keptReruns = 20
)

// reruns are the gates that were run again since the server began, the latest first.
type reruns struct {
	mu  sync.Mutex
	all []*Rerun
}

// begin notes one that begins; why it cannot.
func (a *reruns) begin(one *Rerun) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, r := range a.all {
		if !r.Ended.IsZero() {
			continue
		}
		if n++; r.Run == one.Run && r.Task == one.Task && r.Gate == one.Gate {
			return fmt.Errorf("%s of %s is under way already", one.Gate, one.Task)
		}
	}
	if n >= maxReruns {
		return errors.New("two gates are run again already: wait until one of them has ended")
	}
	a.all = slices.DeleteFunc(a.all, func(r *Rerun) bool {
		return !r.Ended.IsZero() && r.Run == one.Run && r.Task == one.Task && r.Gate == one.Gate
	})
	a.all = slices.Insert(a.all, 0, one)
	a.all = a.all[:min(len(a.all), keptReruns)]
	return nil
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

// end notes what one came to.
func (a *reruns) end(one *Rerun, result access.Result, at time.Time) {
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
	one := &Rerun{Run: run, Task: nexus.TaskID(f.Get("task")), Gate: f.Get("gate"), By: by.Name, Began: s.Now()}
	said := Said{Text: fmt.Sprintf("%s of %s is run again.", one.Gate, one.Task), at: s.Now()}
	err := errors.New("choose a task and a gate")
	if one.Task != "" && one.Gate != "" {
		err = s.again.begin(one)
	}
	if err != nil {
		said.Text, said.Bad = err.Error(), true
	} else {
		args := []string{"check", "--run", string(run), "--json", "--task", string(one.Task), "--gates", listed(one.Gate)}
		go func(ctx context.Context) { // ends with the command, or with the server
			s.again.end(one, s.Act(ctx, by, access.Order{Args: args}), s.Now())
		}(context.WithoutCancel(r.Context()))
	}
	http.Redirect(w, r, s.back(runPath(run, "/checks"), s.said.put(said)), http.StatusSeeOther)
}

// underWay reports whether one of some has not ended.
func underWay(all []Rerun) bool {
	return slices.ContainsFunc(all, func(r Rerun) bool { return r.Ended.IsZero() })
}
