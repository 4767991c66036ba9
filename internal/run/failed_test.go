package run

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// failing is a journal whose n-th append from now fails, from 1.
type failing struct {
	*memory
	n      int
	failed bool
}

var errFull = &nexus.Error{Code: nexus.CodeDiskFull, Message: "full"}

func (f *failing) Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	if f.n--; f.n == 0 {
		f.failed = true
		return nil, errFull
	}
	return f.memory.Append(ctx, facts...)
}

// TestEachLostFactIsHeard: whatever cannot be recorded ends the call that was to record it with that
// very error, and no worker is told that it may go on.
func TestEachLostFactIsHeard(t *testing.T) {
	now, there := time.Unix(1, 0), func() bool { return false }
	story := func(n int) (total int, lost bool) {
		j := &failing{memory: planned(t, 1), n: n}
		ctx, told := t.Context(), []WaitingWorkerReply{}
		answer := func(a WaitingWorkerReply) { told = append(told, a) }
		var c *RunCore
		reserve := func(id, done string) func() error {
			return func() error {
				var facts []nexus.Fact
				if done != "" {
					facts = []nexus.Fact{nexus.QuestionAsked{ID: done, Text: "odd", Fallback: "no"}}
				}
				r := nexus.BudgetReserved{ID: id, Task: "T1", Session: "T1.1/coder.1", Role: nexus.Coder, Money: 1}
				return c.Reserve(ctx, r, facts, there, answer)
			}
		}
		pass := func() error { _, _, err := c.DecideUntilDone(ctx, now); return err }
		for step, do := range []func() error{
			func() (err error) {
				c, err = BeginRun(ctx, j, "r", StartOptions{Fence: 1, Stop: map[bool]string{true: "enough"}[n < 0]})
				return err
			},
			pass,
			func() error { return c.Record(ctx, opened(1)) },
			reserve("R1", ""),
			reserve("R2", "q7"), // and says more than what its session did
			func() error {
				return c.Ask(ctx, nexus.QuestionAsked{ID: "m1", Attempt: "T1.1", Text: "may I?", Fallback: "no"}, there, answer)
			},
			func() error { return c.Record(ctx, nexus.RunPaused{}) },
			reserve("R3", ""), // waits
			func() error { return c.Record(ctx, nexus.RunResumed{}) },
			pass, // and is let go on
			func() error {
				w := RecordedIntent{Key: "T1.1", Intent: nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"}}
				return c.FinishWork(ctx, w, []nexus.Fact{nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "c", Tree: "t"}}, nil)
			},
			pass,
			func() (err error) {
				c, err = BeginRun(ctx, j, "r", StartOptions{Fence: 2, Limits: &nexus.Limits{}, Stop: "enough"})
				return err
			},
			pass,
			func() (err error) { c, err = BeginRun(ctx, j, "r", StartOptions{Fence: 3, Reopen: true}); return err },
		} {
			before := len(told)
			err := do()
			switch {
			case j.failed && (!errors.Is(err, errFull) || len(told) > before && told[before].Err == nil && len(told) == before+1 && step != 5):
				t.Errorf("append %d is lost in step %d: %v, and told is %+v", n, step, err, told[before:])
				return 0, true
			case j.failed:
				return 0, true
			case err != nil:
				t.Fatalf("step %d: %v", step, err)
			}
		}
		for _, a := range told {
			if a.Err != nil {
				t.Errorf("told is %+v", told)
			}
		}
		if len(told) != 3 {
			t.Errorf("told are %d", len(told))
		}
		return -j.n, false
	}
	total, _ := story(0)
	if total < 12 {
		t.Fatalf("%d appends", total)
	}
	for n := range total {
		if _, lost := story(n + 1); !lost {
			t.Errorf("append %d of %d is not made", n+1, total)
		}
	}
}

// TestWhatMoreIsSaidIsRecordedFirst: leave to spend is asked after what a session said of others, and
// not together with it.
func TestWhatMoreIsSaidIsRecordedFirst(t *testing.T) {
	for done, want := range map[nexus.Fact]string{
		nexus.QuestionAsked{ID: "q7", Text: "odd", Fallback: "no"}: "[question.asked budget.reserved]",
		nexus.ToolCallEnded{Session: "T1.1/coder.1", Call: "c"}:    "[tool.answered budget.reserved]",
		nexus.BudgetSettled{ID: "R0", Money: 1}:                    "[budget.spent budget.reserved]",
	} {
		c, m := begun(t, 1)
		if err := c.Record(t.Context(), opened(1), nexus.BudgetReserved{ID: "R0", Model: "m", Money: 1}); err != nil {
			t.Fatal(err)
		}
		m.appends = nil
		granted := 0
		r := nexus.BudgetReserved{ID: "R1", Task: "T1", Session: "T1.1/coder.1", Money: 1}
		err := c.Reserve(t.Context(), r, []nexus.Fact{done}, func() bool { return false }, func(a WaitingWorkerReply) {
			if a.Err == nil {
				granted++
			}
		})
		if err != nil || granted != 1 {
			t.Errorf("%s: granted %d times, %v", nexus.FactKind(done), granted, err)
		}
		_, note := done.(nexus.ToolCallEnded)
		if got := fmt.Sprint(m.appends); got != want || (len(m.appends) == 1) != note {
			t.Errorf("%d appends, %s, want %s", len(m.appends), got, want)
		}
	}
}

// TestWhatIsReopened for a request to deliver: where nothing landed there is nothing to, and the run
// goes on with its tasks.
func TestWhatIsReopened(t *testing.T) {
	for landed, want := range map[bool]nexus.RunReopened{
		true: {Why: "the landed work is to be published", Deliver: true}, false: {Why: "resumed"},
	} {
		_, m := begun(t, 1)
		if landed {
			m.events = append(m.events, event(m, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "x"}))
			m.events = append(m.events, event(m, nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}))
			m.events = append(m.events, event(m, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b"}))
			m.events = append(m.events, event(m, nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Parent: "b"}))
		}
		m.events = append(m.events, event(m, nexus.RunEnded{Status: nexus.StatusFailed}))
		if _, err := BeginRun(t.Context(), m, "r", StartOptions{Fence: 2, Deliver: true}); err != nil || len(m.appends) > 0 {
			t.Errorf("nobody asked, and recorded are %q: %v", m.appends, err)
		}
		m.events = append(m.events, event(m, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbLand, ID: "main"}}))
		n := len(m.events)
		if _, err := BeginRun(t.Context(), m, "r", StartOptions{Fence: 2, Deliver: true}); err != nil || len(m.events) == n || m.events[n].Fact != nexus.Fact(want) {
			t.Errorf("landed %v: recorded are %q: %v", landed, m.appends, err)
		}
	}
}

func event(m *memory, f nexus.Fact) nexus.Event {
	return nexus.Event{Seq: int64(len(m.events) + 1), Run: "r", At: time.Unix(1, 0), Fact: f}
}
