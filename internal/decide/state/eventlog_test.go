package state_test

import (
	"errors"
	"iter"
	"runtime"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// wentBack returns a run that landed, went back to before that, landed something else, and went
// back once more to a point that it only reached after that.
func wentBack() []nexus.Event {
	var events []nexus.Event
	add := func(facts ...nexus.Fact) {
		for _, f := range facts {
			seq := int64(len(events) + 1)
			events = append(events, nexus.Event{Seq: seq, Run: "r", At: eventtapetest.TapeStartTime().Add(time.Duration(seq) * time.Minute), Fact: f})
		}
	}
	work := func(attempt nexus.AttemptID, task nexus.TaskID, base, commit string) {
		add(nexus.AttemptStarted{Attempt: attempt, Task: task, Tier: nexus.Fast, Base: base},
			nexus.AttemptEnded{Attempt: attempt, Outcome: nexus.Accepted, Commit: "x"},
			nexus.LandingQueued{Attempt: attempt, Task: task},
			nexus.LandingStarted{Attempt: attempt, Task: task, Onto: base},
			nexus.LandingCompleted{Attempt: attempt, Task: task, Commit: commit, Parent: base})
	}
	add(nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 2},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2"}}, nexus.PlanApproved{})
	work("T1.1", "T1", "c0", "c1") // 7 to 11
	work("T2.1", "T2", "c1", "c2") // 12 to 16
	add(nexus.RunRewound{To: 11, Tip: "c1", From: "c2", By: "ann"})
	work("T2.2", "T2", "c1", "c3") // 18 to 22
	add(nexus.RunRewound{To: 18, Tip: "c1", From: "c3", By: "ann"})
	return events
}

// sequence returns events, and counts how many were read of it.
func sequence(events []nexus.Event, read *int) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range events {
			if *read++; !yield(e, nil) {
				return
			}
		}
	}
}

// A state that can read its past again and one that keeps it in memory go back to the same.
func TestPast(t *testing.T) {
	events, read := wentBack(), 0
	past := sequence(events, &read)
	own, following := state.NewState("r"), state.NewState("r").ReadPastFrom(past)
	for _, e := range events {
		for _, s := range []*state.State{own, following} {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	replayed, err := state.ReplayRun("r", past)
	if err != nil {
		t.Fatal(err)
	}
	if own.Logged() != len(events) || following.Logged() != 0 || replayed.Logged() != 0 {
		t.Errorf("in memory are %d events without a past, %d and %d with one", own.Logged(), following.Logged(), replayed.Logged())
	}
	if own.Tip != "c1" || len(own.Landings) != 1 || len(own.Rewinds) != 2 {
		t.Errorf("the run went back to %s with %d landings, %d times", own.Tip, len(own.Landings), len(own.Rewinds))
	}
	want := inFull(t, own)
	for name, s := range map[string]*state.State{"followed": following, "replayed": replayed} {
		if inFull(t, s) != want {
			t.Errorf("%s: another state:\n%s\n%s", name, inFull(t, s), want)
		}
		for _, seq := range []int64{11, 16, 18, 22} {
			mine, err := own.StateAt(seq)
			if err != nil {
				t.Fatal(err)
			}
			then, err := s.StateAt(seq)
			if err != nil {
				t.Fatal(err)
			}
			if inFull(t, then) != inFull(t, mine) {
				t.Errorf("%s: another state at event %d", name, seq)
			}
		}
		a, err := view.EventsSince(s, 18)
		if err != nil || a.Events != len(events)-18 {
			t.Errorf("%s: %d events after 18: %v", name, a.Events, err)
		}
	}
}

// What the past cannot tell is an error, and the state stays as it was.
func TestPastThatIsGone(t *testing.T) {
	events, broken := wentBack(), errors.New("the disk is gone")
	for name, past := range map[string]iter.Seq2[nexus.Event, error]{
		"empty":  func(func(nexus.Event, error) bool) {},
		"broken": func(yield func(nexus.Event, error) bool) { yield(nexus.Event{}, broken) },
	} {
		s := state.NewState("r").ReadPastFrom(past)
		for _, e := range events[:16] {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		was := inFull(t, s)
		err := s.Apply(events[16])
		if err == nil || name == "broken" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		if inFull(t, s) != was {
			t.Errorf("%s: it changed", name)
		}
	}
}

// A long run with a past stays small: what it holds grows with tasks, not with facts.
func TestLongRunIsSmall(t *testing.T) {
	const n, most = 200_000, 2_000_000 // bytes; an event in memory takes about 100
	past := func(yield func(nexus.Event, error) bool) {
		for i := range int64(n) {
			var f nexus.Fact = nexus.RequestSettled{Seq: i}
			if i == 0 {
				f = nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}
			}
			if !yield(nexus.Event{Seq: i + 1, Run: "r", At: eventtapetest.TapeStartTime(), Fact: f}, nil) {
				return
			}
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, err := state.ReplayRun("r", past)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > most {
		t.Errorf("%d facts take %d bytes", n, held)
	}
	runtime.KeepAlive(s)
}

func inFull(t *testing.T, s *state.State) string {
	t.Helper()
	text, err := s.DumpJSON()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
