package view

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// crew returns a run of as many tasks as it has letters, each under way as its
// letter says.
func crew(tasks string) []nexus.Fact {
	all := []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Greet"}, Base: "b0", Limits: nexus.DefaultLimits()},
		nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}},
		nexus.PlanProposed{Plan: "blob", Tasks: len(tasks)},
	}
	for i := range tasks {
		all = append(all, nexus.TaskPlanned{Task: nexus.Task{ID: nexus.TaskID("T" + string(rune('1'+i))), Title: "Say hello in language " + string(rune('1'+i))}})
	}
	all = append(all, nexus.PlanApproved{By: "policy"})
	for i, doing := range tasks {
		task := nexus.TaskID("T" + string(rune('1'+i)))
		a := nexus.AttemptID(task + ".1")
		coder := nexus.SessionID(a + "/coder.1")
		if doing == '-' {
			continue
		}
		all = append(all, nexus.AttemptStarted{Attempt: a, Task: task, Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: "b0"})
		if doing == 's' {
			continue
		}
		all = append(all, nexus.SessionStarted{Session: coder, Attempt: a, Role: nexus.Coder, Model: "p/small"},
			nexus.RoundStarted{Attempt: a, Round: 1, Role: nexus.Coder, Session: coder},
			nexus.BudgetReserved{ID: string(a), Task: task, Session: coder, Role: nexus.Coder, Model: "p/small", Money: nexus.Dollar / 100})
		spent := nexus.BudgetSettled{ID: string(a), Money: nexus.Dollar / 100}
		handed := nexus.SessionEnded{Session: coder, Outcome: nexus.Accepted}
		switch doing {
		case 't':
			all = append(all, spent, nexus.ModelTurnRecorded{Session: coder, Turn: 1, Stop: "tools"}, nexus.ToolCallStarted{Session: coder, Call: "c", Tool: "run_command", About: "go test ./..."})
		case 'g':
			all = append(all, spent, handed, nexus.GateStarted{Attempt: a, Gate: "build"},
				nexus.GateJudged{Attempt: a, Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: "t", Duration: time.Second}}, nexus.GateStarted{Attempt: a, Gate: "test"})
		case 'b':
			all = append(all, spent, handed, nexus.GateStarted{Attempt: a, Base: true, Gate: "test"})
		case 'm':
			all = append(all, spent, handed, nexus.GateStarted{Attempt: a, Gate: "mutation"})
		case 'q':
			all = append(all, spent, nexus.ModelCallDelayed{Session: coder, Model: "p/small", Try: 1, Wait: 30 * time.Second, Why: "failing", Said: "connection refused"})
		case 'p':
			all = append(all, spent, nexus.QuestionAsked{ID: "q1", Attempt: a, Text: "Which dialect?", Fallback: "any"})
		case 'l':
			all = append(all, spent, handed, nexus.AttemptEnded{Attempt: a, Outcome: nexus.Accepted, Commit: "c", Tree: "t"}, nexus.LandingQueued{Task: task, Attempt: a})
		case 'L':
			all = append(all, spent, handed, nexus.AttemptEnded{Attempt: a, Outcome: nexus.Accepted, Commit: "c", Tree: "t"}, nexus.LandingQueued{Task: task, Attempt: a},
				nexus.LandingStarted{Task: task, Attempt: a, Onto: "b0"}, nexus.LandingCompleted{Task: task, Attempt: a, Commit: "c" + string(task), Tree: "t", Parent: "b0"})
		}
	}
	return all
}

// earlier is a history in which tasks took two to ten minutes, and tests one.
func earlier(t *testing.T) *route.PastRunStatistics {
	t.Helper()
	var h route.PastRunStatistics
	for _, d := range []int{2, 4, 6, 8, 10} {
		s := fold(t, append(crew("L"), nexus.RunEnded{Status: nexus.StatusDone}))
		s.Tasks[0].Worked = time.Duration(d) * time.Minute
		h.AddRun(s)
	}
	for range 3 {
		s := fold(t, crew("-"))
		for _, f := range []nexus.Event{
			{Seq: 100, At: start, Fact: nexus.GateStarted{Base: true, Gate: "test"}},
			{Seq: 101, At: start.Add(time.Minute), Fact: nexus.GateJudged{Base: true, Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t", Duration: time.Second}}},
		} {
			if err := s.Apply(f); err != nil {
				t.Fatal(err)
			}
		}
		h.AddRun(s)
	}
	return &h
}

// TestNow draws a run in which each task waits for something else.
func TestNow(t *testing.T) {
	s := fold(t, crew("tgmqpbsl-"))
	now := start.Add(90 * time.Second)
	for name, h := range map[string]*route.PastRunStatistics{"now": earlier(t), "now-first": nil} {
		r := latest(s, now)
		r.AddForecast(s, h, now)
		for kind, style := range map[string]OutputStyle{"60": {Width: 60, Height: 24}, "100": {Width: 100, Height: 24}, "160": {Width: 160, Height: 24}, "ascii": {Width: 100, ASCII: true}} {
			text := DrawLiveStatus(style, r)
			compare(t, filepath.Join("testdata", name+"."+kind+".txt"), text)
			for line := range strings.Lines(text) {
				if ansi.StringWidth(line) > style.Width {
					t.Errorf("%s: %d columns: %s", kind, ansi.StringWidth(line), line)
				}
			}
		}
	}
}

// TestNothingNow draws what no longer continues as over: a run that ended, or is
// paused, waits for nothing.
func TestNothingNow(t *testing.T) {
	for _, f := range []nexus.Fact{nexus.RunPaused{}, nexus.RunEnded{Status: nexus.StatusFailed}} {
		s := fold(t, append(crew("tgb"), f))
		r := latest(s, start.Add(time.Hour))
		r.AddForecast(s, earlier(t), start.Add(time.Hour))
		for _, task := range r.Tasks {
			if task.Now != nil {
				t.Errorf("%s: %s waits for %+v", nexus.FactKind(f), task.ID, *task.Now)
			}
		}
		if r.Now != nil || r.Left != nil {
			t.Errorf("%s: now %v, left %v", nexus.FactKind(f), r.Now, r.Left)
		}
	}
}

// TestLeft says a range as far as it is known.
func TestLeft(t *testing.T) {
	for want, l := range map[string]SecondsRange{"2-9 min": {130, 500}, "up to 2 min": {20, 95}, "10-45 s": {12, 44}, "about 5 min": {300, 300}, "at least 15m": {900, 3449880}, "1-4 h": {3700, 14000}, "50-240 min": {3000, 14400}} {
		if got := (OutputStyle{ASCII: true}).FormatRange(l); got != want {
			t.Errorf("%v: %q, want %q", l, got, want)
		}
	}
}

// TestVerbose keeps how a run decides for those who ask.
func TestVerbose(t *testing.T) {
	for _, f := range []nexus.Fact{
		nexus.StartTierChosen{Task: "T1", Tier: nexus.Fast},
		nexus.ReviewModelChosen{Role: nexus.Reviewer},
		nexus.OtherRunsSpendingRecorded{Day: "2026-11-21"},
		nexus.RequestSettled{Seq: 1, Granted: true},
		nexus.ComplexityRatingEnded{},
		nexus.ComplexityRatingStarted{},
	} {
		e := nexus.Event{Fact: f}
		if text := (&EventLineDrawer{}).Draw(OutputStyle{}, e); text != "" {
			t.Errorf("%s: %s", nexus.FactKind(f), text)
		}
		if (&EventLineDrawer{Verbose: true}).Draw(OutputStyle{}, e) == "" {
			t.Errorf("%s: nothing with -v", nexus.FactKind(f))
		}
	}
	if (&EventLineDrawer{}).Draw(OutputStyle{}, nexus.Event{Fact: nexus.RequestSettled{Seq: 1}}) == "" {
		t.Error("a request that was refused is not told")
	}
}
