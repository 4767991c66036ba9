package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestAWorkersResultIsRecorded, and nothing else is said about its work. A result
// that cannot be true is no result: the attempt is broken, and says why.
func TestAWorkersResultIsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		facts []nexus.Fact
		err   error
		says  string // about the broken attempt; empty: its result counts
	}{
		"a result":                     {[]nexus.Fact{nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.GaveUp, Why: "it cannot be done"}}, nil, ""},
		"a result that cannot be true": {[]nexus.Fact{nexus.AttemptEnded{Attempt: "T9.1", Outcome: nexus.GaveUp}}, nil, `there is no attempt "T9.1"`},
		"an error":                     {nil, errors.New("the machinery broke"), "the machinery broke"},
		"nothing":                      {nil, nil, "its worker ended without a result"},
	} {
		core, m := begun(t, 1)
		intent := core.State.AttemptByID("T1.1")
		w := RecordedIntent{Key: "T1.1", Intent: nexus.AttemptStarted{Attempt: intent.ID, Task: intent.Task}}
		if err := core.FinishWork(t.Context(), w, c.facts, c.err); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a := core.State.AttemptByID("T1.1")
		if a.Stage != state.Over || a.Broken != (c.says != "") || c.says == "" && a.Outcome != nexus.GaveUp || !strings.Contains(a.Why, c.says) {
			t.Errorf("%s: %s, broken %v: %s", name, a.Stage, a.Broken, a.Why)
		}
		if c.says == "" && !slices.Equal(m.appends, []string{"attempt.ended"}) {
			t.Errorf("%s: recorded are %q", name, m.appends)
		}
	}
}

// TestNothingIsToldToAConductorThatIsGone: a worker whose time is over gets the
// reason, and not an answer that nobody gave.
func TestNothingIsToldToAConductorThatIsGone(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the run is over")
	cancel(gone)
	for name, inbox := range map[string]chan workerMessage{"nobody reads what it says": make(chan workerMessage), "nobody answers": make(chan workerMessage, 9)} {
		d := workerCoreConnection{h: &runConductor{inbox: inbox}}
		if err := d.Record(ctx, opened(1)); !errors.Is(err, gone) {
			t.Errorf("%s: recorded: %v", name, err)
		}
		if err := d.Record(ctx, results(1)...); !errors.Is(err, gone) {
			t.Errorf("%s: noted: %v", name, err)
		}
		if _, err := d.Reserve(ctx, nexus.BudgetReserved{ID: "R1"}); !errors.Is(err, gone) {
			t.Errorf("%s: reserved: %v", name, err)
		}
		if answer, err := d.Ask(ctx, nexus.QuestionAsked{ID: "q1"}); !errors.Is(err, gone) {
			t.Errorf("%s: asked: %q, %v", name, answer, err)
		}
		if e, ok := d.Known(ctx, "t", "test"); ok {
			t.Errorf("%s: known: %+v", name, e)
		}
	}
}

// TestAnInterruptedRunStartsNothing, not even what judges the result.
func TestAnInterruptedRunStartsNothing(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		core, _ := begun(t, 1)
		if err := core.Record(t.Context(), nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.GaveUp}, nexus.TaskSkipped{Task: "T1"}, nexus.FinalGatesStarted{}); err != nil {
			t.Fatal(err)
		}
		core.working = map[WorkKey]bool{}
		if interrupted {
			core.DrainWorkers()
		}
		start, _, err := core.DecideUntilDone(t.Context(), time.Unix(9, 0))
		if err != nil || (len(start) == 0) != interrupted || !interrupted && start[0].Intent != (nexus.FinalGatesStarted{}) {
			t.Errorf("interrupted %v: %+v, %v", interrupted, start, err)
		}
	}
}

// TestARequestCountsOnce, however often it is heard, and one of another run never.
func TestARequestCountsOnce(t *testing.T) {
	core, _ := begun(t, 1)
	e := nexus.Event{Seq: core.State.Seq + 1, Run: "r", At: time.Unix(2, 0), Fact: nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "mind the gap"}}}
	other := e
	other.Run, other.Seq = "another", e.Seq+1
	for _, e := range []nexus.Event{e, e, other} {
		if err := core.ApplyRequest(e); err != nil {
			t.Fatal(err)
		}
	}
	if s := core.State; len(s.Requests) != 1 || len(s.Guidance) != 1 {
		t.Errorf("%+v, %+v", s.Requests, s.Guidance)
	}
}

// TestAReviewIsHeardBeforeItsChangeLands, at every moment at which a change would land, though
// only the journal has it yet.
func TestAReviewIsHeardBeforeItsChangeLands(t *testing.T) {
	moments := 0
	situations(t, func(events []nexus.Event) {
		m := &memory{events: slices.Clone(events)}
		s, err := state.ReplayRun("r", m.Events(t.Context(), 0))
		if err != nil {
			t.Fatal(err)
		}
		decided := schedule.NextFacts(s, time.Unix(1, 0))
		if len(decided) == 0 {
			return
		}
		landing, ok := decided[0].(nexus.LandingStarted)
		if !ok || schedule.UnreviewableReason(s, s.TaskByID(landing.Task)) != "" {
			return
		}
		moments++
		c := &RunCore{State: s, journal: m, working: map[WorkKey]bool{}, read: s.Seq}
		must := nexus.Request{Verb: nexus.VerbReview, Task: landing.Task, By: "ana", Review: &nexus.ChangeReview{
			Commit: s.AttemptByID(landing.Attempt).Commit, Comments: []nexus.ReviewComment{{Kind: nexus.MustComment, Body: "not like this"}},
		}}
		if _, err := m.Append(t.Context(), nexus.RequestMade{Request: must}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.DecideUntilDone(t.Context(), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		for _, e := range m.events[len(events):] {
			if f, ok := e.Fact.(nexus.LandingStarted); ok && f.Task == landing.Task {
				t.Errorf("after %s, %s lands against the word of a person", eventtapetest.FormatFact(events[len(events)-1].Fact), f.Task)
			}
		}
		if len(s.TaskByID(landing.Task).BlockingComments()) != 1 {
			t.Errorf("after %s, the review was not heard", eventtapetest.FormatFact(events[len(events)-1].Fact))
		}
	})
	if moments == 0 {
		t.Error("nothing was to land")
	}
}

// full is a journal on a disk that is full.
type full struct{ *memory }

func (full) Append(context.Context, ...nexus.Fact) ([]nexus.Event, error) {
	return nil, &nexus.Error{Code: nexus.CodeDiskFull, Message: "the disk is full"}
}

// TestAFullDiskStopsTheRun, also where the notes of a group are recorded one by
// one because they cannot all be true.
func TestAFullDiskStopsTheRun(t *testing.T) {
	core, m := begun(t, 1)
	core.journal = full{m}
	h := &runConductor{core: core}
	note := func(facts ...nexus.Fact) workerMessage {
		return workerMessage{notes: facts, heard: make(chan error, 1)}
	}
	for name, group := range map[string][]workerMessage{
		"one":                       {note(opened(1))},
		"two of which one is wrong": {note(opened(1)), note(opened(9))},
	} {
		if err := h.recordMessages(t.Context(), group); !errors.Is(err, &nexus.Error{Code: nexus.CodeDiskFull}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
