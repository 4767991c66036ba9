package run

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// memory is a journal that counts its appends.
type memory struct {
	mu      sync.Mutex       // guards what follows
	now     func() time.Time // nil: a second after 1970 began
	events  []nexus.Event
	appends []string // kinds of facts of each
	broken  error
}

func (m *memory) Append(_ context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return nil, m.broken
	}
	at := time.Unix(1, 0)
	if m.now != nil {
		at = m.now()
	}
	from := len(m.events)
	var kinds []string
	for _, f := range facts {
		m.events = append(m.events, nexus.Event{Seq: int64(len(m.events) + 1), Run: "r", At: at, Fact: f})
		kinds = append(kinds, nexus.FactKind(f))
	}
	m.appends = append(m.appends, strings.Join(kinds, " "))
	return slices.Clone(m.events[from:]), nil
}

func (m *memory) Events(_ context.Context, after int64) iter.Seq2[nexus.Event, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	events := slices.Clone(m.events[after:])
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// planned returns the journal of a run with a plan of n tasks, all of which may
// be worked on at once.
func planned(t *testing.T, n int) *memory {
	t.Helper()
	limits := nexus.DefaultLimits()
	limits.Parallel, limits.RunMoney, limits.DayMoney, limits.TaskMoney = n, 100, 100, 100
	m := &memory{}
	facts := []nexus.Fact{nexus.GoalAccepted{Goal: nexus.Goal{Text: "x"}, Base: "b", Limits: limits}, nexus.PlanProposed{Tasks: n}}
	for i := range n {
		facts = append(facts, nexus.TaskPlanned{Task: nexus.Task{
			ID: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Title: "x", Kind: nexus.DocsTask, Files: []string{fmt.Sprint(i)}, Minutes: 5,
		}})
	}
	if _, err := m.Append(t.Context(), facts...); err != nil {
		t.Fatal(err)
	}
	return m
}

// begun returns a run with n attempts under way.
func begun(t *testing.T, n int) (*RunCore, *memory) {
	t.Helper()
	m := planned(t, n)
	c, err := BeginRun(t.Context(), m, "r", StartOptions{Fence: 1})
	if err != nil {
		t.Fatal(err)
	}
	start, _, err := c.DecideUntilDone(t.Context(), time.Unix(1, 0))
	if err != nil || len(start) != n {
		t.Fatalf("%d of %d start: %v", len(start), n, err)
	}
	m.appends = nil
	return c, m
}

func results(n int) []nexus.Fact {
	s := nexus.SessionID(fmt.Sprintf("T%d.1/coder.1", n))
	return []nexus.Fact{
		nexus.ToolCallEnded{Session: s, Call: "c"},
		nexus.ToolResultsSent{Session: s, Message: "m"},
	}
}

func opened(n int) nexus.Fact {
	a := nexus.AttemptID(fmt.Sprintf("T%d.1", n))
	return nexus.SessionStarted{Session: nexus.SessionID(a + "/coder.1"), Attempt: a, Role: nexus.Coder, Model: "m"}
}

// Notes of workers that wait at the same time are one append, each worker's
// together, and each is told.
func TestNotesAreGrouped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 8
		c, m := begun(t, n)
		for i := range n {
			if err := c.Record(t.Context(), opened(i+1)); err != nil {
				t.Fatal(err)
			}
		}
		m.appends = nil
		h := &runConductor{core: c, inbox: make(chan workerMessage)}
		told := make(chan error, n)
		for i := range n {
			go func() { told <- workerCoreConnection{h}.Record(t.Context(), results(i+1)...) }()
		}
		synctest.Wait()
		if err := h.receiveMessages(t.Context(), <-h.inbox); err != nil {
			t.Fatal(err)
		}
		for range n {
			if err := <-told; err != nil {
				t.Error(err)
			}
		}
		if want := strings.TrimSpace(strings.Repeat("tool.answered tools.answered ", n)); len(m.appends) != 1 || m.appends[0] != want {
			t.Errorf("appends: %q", m.appends)
		}
	})
}

// A worker that says what cannot be true is refused alone.
func TestOneBadNoteSpoilsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, m := begun(t, 2)
		m.appends = nil
		h := &runConductor{core: c, inbox: make(chan workerMessage)}
		good, bad := make(chan error, 1), make(chan error, 1)
		go func() { good <- workerCoreConnection{h}.Record(t.Context(), opened(1)) }()
		go func() {
			bad <- workerCoreConnection{h}.Record(t.Context(), nexus.SessionStarted{Session: "T9.1/coder.1", Attempt: "T9.1", Role: nexus.Coder, Model: "m"})
		}()
		synctest.Wait()
		if err := h.receiveMessages(t.Context(), <-h.inbox); err != nil {
			t.Fatal(err)
		}
		if err := <-good; err != nil {
			t.Error(err)
		}
		if err := <-bad; err == nil {
			t.Error("a session of no attempt was recorded")
		}
		if diff := cmp.Diff([]string{"session.started"}, m.appends); diff != "" {
			t.Error(diff)
		}
	})
}

// When storage fails, everybody of the group hears it, and the run ends.
func TestGroupHearsOfFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, m := begun(t, 2)
		m.broken = &nexus.Error{Code: nexus.CodeDiskFull, Message: "full"}
		h := &runConductor{core: c, inbox: make(chan workerMessage)}
		told := make(chan error, 2)
		for i := range 2 {
			go func() { told <- workerCoreConnection{h}.Record(t.Context(), opened(i+1)) }()
		}
		synctest.Wait()
		if err := h.receiveMessages(t.Context(), <-h.inbox); !isFatal(err) {
			t.Error(err)
		}
		for range 2 {
			if err := <-told; !isFatal(err) {
				t.Error(err)
			}
		}
	})
}

// What was done is recorded with the next reservation, and also when there is
// no leave for it, now or ever.
func TestReserveRecordsWhatWasDone(t *testing.T) {
	for _, tt := range []struct {
		name    string
		money   nexus.Money
		before  func(t *testing.T, c *RunCore, m *memory)
		appends []string
		answers int
		refused bool
	}{
		{"granted", 1, nil, []string{"tool.answered tools.answered budget.reserved"}, 1, false},
		{"over the budget", 1000, nil, []string{"tool.answered tools.answered", "budget.refused"}, 1, true},
		{"paused", 1, func(t *testing.T, c *RunCore, m *memory) {
			t.Helper()
			events, err := m.Append(t.Context(), nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbPause}})
			if err == nil {
				err = c.ApplyRequest(events[0])
			}
			if err == nil {
				_, _, err = c.DecideUntilDone(t.Context(), time.Unix(2, 0))
			}
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"tool.answered tools.answered"}, 0, false},
		{"let go", 1, func(_ *testing.T, c *RunCore, _ *memory) { c.DrainWorkers() }, []string{"tool.answered tools.answered"}, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, m := begun(t, 1)
			if err := c.Record(t.Context(), opened(1)); err != nil {
				t.Fatal(err)
			}
			if tt.before != nil {
				tt.before(t, c, m)
			}
			m.appends = nil
			var answers []WaitingWorkerReply
			r := nexus.BudgetReserved{ID: "R1", Task: "T1", Session: "T1.1/coder.1", Role: nexus.Coder, Money: tt.money}
			err := c.Reserve(t.Context(), r, results(1), func() bool { return false }, func(a WaitingWorkerReply) { answers = append(answers, a) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.appends, m.appends); diff != "" {
				t.Error(diff)
			}
			if len(answers) != tt.answers || tt.answers > 0 && (answers[0].Err != nil) != tt.refused {
				t.Errorf("answers: %v", answers)
			}
		})
	}
}

// Guidance goes to who writes for its task, and to nobody who judges or writes
// for another.
func TestGuidanceIsForAuthors(t *testing.T) {
	c, m := begun(t, 2)
	if _, err := m.Append(t.Context(), nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "use tabs"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.ApplyRequest(m.events[len(m.events)-1]); err != nil {
		t.Fatal(err)
	}
	for _, r := range []nexus.BudgetReserved{
		{Task: "T1", Role: nexus.Coder},
		{Task: "T1", Role: nexus.Tester},
		{Task: "T1", Role: nexus.Reviewer},
		{Task: "T1", Role: nexus.Verifier},
		{Task: "T1", Role: nexus.Merger},
		{Task: "T2", Role: nexus.Coder},
		{Role: nexus.Coder},
	} {
		r.ID, r.Session, r.Money = fmt.Sprint(r.Task, r.Role), nexus.SessionID(r.Task+".1/x.1"), 1
		var got *WaitingWorkerReply
		err := c.Reserve(t.Context(), r, nil, func() bool { return false }, func(a WaitingWorkerReply) { got = &a })
		if err != nil || got == nil || got.Err != nil {
			t.Fatalf("%s of %s: %+v, %v", r.Role, r.Task, got, err)
		}
		want := 0
		if r.Task == "T1" && (r.Role == nexus.Coder || r.Role == nexus.Tester) {
			want = 1
		}
		if len(got.Guidance) != want {
			t.Errorf("%s of %s hears %v", r.Role, r.Task, got.Guidance)
		}
	}
}

// A question that somebody answered is not asked again by its attempt. What
// nobody answered is.
func TestAFallbackIsNoAnswerToTheNextQuestion(t *testing.T) {
	c, _ := begun(t, 1)
	ask := func(mark string) (told *WaitingWorkerReply) {
		t.Helper()
		q := nexus.QuestionAsked{ID: mark, Attempt: "T1.1", Text: "tabs?", Fallback: "no"}
		if err := c.Ask(t.Context(), q, func() bool { return false }, func(a WaitingWorkerReply) { told = &a }); err != nil {
			t.Fatal(err)
		}
		return told
	}
	if a := ask("m1"); a != nil || len(c.State.Questions) != 1 {
		t.Fatalf("%+v, %d questions", a, len(c.State.Questions))
	}
	if err := c.Record(t.Context(), nexus.QuestionAnswered{ID: "q1", Text: "no", By: "fallback"}); err != nil {
		t.Fatal(err)
	}
	if a := ask("m2"); a != nil || len(c.State.Questions) != 2 {
		t.Fatalf("after a fallback: %+v, %d questions", a, len(c.State.Questions))
	}
	if err := c.Record(t.Context(), nexus.QuestionAnswered{ID: "q2", Text: "yes", By: "me"}); err != nil {
		t.Fatal(err)
	}
	if a := ask("m3"); a == nil || a.Text != "yes" || len(c.State.Questions) != 2 {
		t.Errorf("after an answer: %+v, %d questions", a, len(c.State.Questions))
	}
	if a := ask("m1"); a == nil || a.Text != "no" || len(c.State.Questions) != 2 {
		t.Errorf("the very question again: %+v, %d questions", a, len(c.State.Questions))
	}
}
