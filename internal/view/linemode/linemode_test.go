package linemode

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

const hostile = "all is lost\r\n::error::owned\n  ::add-mask::x\n##[error]old 100%, \x1b[31mred\x1b[0m \u202eback"

// tape is a run in which one task lands, one fails hostilely, and one asks.
func tape() []nexus.Fact {
	found := []nexus.Finding{{Gate: "test", File: "b,1:2.go", Line: 3, Message: "::error::undefined\nsecond"}, {Gate: "test", File: "c.go", Message: hostile}}
	attempt := func(id nexus.AttemptID, task nexus.TaskID) []nexus.Fact {
		s := nexus.SessionID(id) + "/coder.1"
		return []nexus.Fact{
			nexus.AttemptStarted{Attempt: id, Task: task, Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: "b0"},
			nexus.SessionStarted{Session: s, Attempt: id, Role: nexus.Coder, Model: "p/small"},
			nexus.RoundStarted{Attempt: id, Round: 1, Role: nexus.Coder, Session: s},
			nexus.BudgetReserved{ID: "r" + string(id), Task: task, Session: s, Role: nexus.Coder, Model: "p/small", Money: nexus.Dollar},
			nexus.BudgetSettled{ID: "r" + string(id), Money: nexus.Dollar / 4},
		}
	}
	return slices.Concat(
		[]nexus.Fact{
			nexus.GoalAccepted{Goal: nexus.Goal{Text: "::error::a goal"}, Base: "b0", Target: "main", Limits: nexus.DefaultLimits()},
			nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}},
			nexus.PlanningStarted{Attempt: "plan.1"},
			nexus.SessionStarted{Session: "plan.1/planner.1", Attempt: "plan.1", Role: nexus.Planner, Model: "p/large"},
			nexus.BudgetReserved{ID: "p", Session: "plan.1/planner.1", Role: nexus.Planner, Model: "p/large", Money: nexus.Dollar},
			nexus.BudgetSettled{ID: "p", Money: nexus.Dollar / 50},
			nexus.SessionEnded{Session: "plan.1/planner.1", Outcome: nexus.Accepted},
			nexus.PlanProposed{Plan: "blob", Tasks: 3},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Hello"}},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Title: hostile}},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T3", Title: "Wait"}},
			nexus.PlanApproved{By: "policy"},
		},
		attempt("T1.1", "T1"),
		[]nexus.Fact{
			nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted},
			nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1c1c1c1c1c1", Tree: "t1"},
			nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
			nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"},
			nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1c1c1c1c1c1", Tree: "t1", Parent: "b0"},
		},
		attempt("T2.1", "T2"),
		[]nexus.Fact{
			nexus.GateJudged{Attempt: "T2.1", Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Fail, Tree: "t1", Duration: time.Second}},
			nexus.RoundStarted{Attempt: "T2.1", Round: 2, Role: nexus.Coder, Cause: "build", Session: "T2.1/coder.1"},
			nexus.GateStarted{Attempt: "T2.1", Gate: "test"},
			nexus.GateJudged{Attempt: "T2.1", Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Fail, Tree: "t2", Duration: time.Second, Findings: found}},
			nexus.AttemptEnded{Attempt: "T2.1", Outcome: nexus.Refused, Why: "no progress"},
			nexus.TaskParked{Task: "T2", Why: hostile, Failed: true},
		},
		attempt("T3.1", "T3"),
		[]nexus.Fact{nexus.QuestionAsked{ID: "q1", Attempt: "T3.1", Text: "Swiss, too?", Fallback: "no"}},
	)
}

// draw returns what is written of the tape: lines, a heartbeat and the summary.
func draw(t *testing.T, l *EventLogDrawer) string {
	t.Helper()
	l.Zone = time.UTC
	var b strings.Builder
	s := state.NewState("r")
	for i, f := range tape() {
		e := nexus.Event{Seq: int64(i + 1), Run: "r", At: start.Add(time.Duration(i) * 7 * time.Second), Fact: f}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
		if text := l.DrawEvent(s, e); text != "" {
			b.WriteString(text + "\n")
		}
	}
	r := projection.BuildRunView(s, projection.RunFactsOutsideJournal{}, start.Add(5*time.Minute))
	b.WriteString(l.HeartbeatLine(r, start.Add(5*time.Minute)) + "\n")
	b.WriteString(l.EndTable(r))
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, l := range map[string]*EventLogDrawer{
		"pipe":    {Style: view.OutputStyle{Plain: true}},
		"actions": {Style: view.OutputStyle{Plain: true}, Actions: true},
	} {
		got, file := draw(t, l), filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a golden file
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// taken reads a line as the runner of GitHub Actions does, and returns the name,
// the properties and the message of a command; no name for no command.
func taken(line string) (name, with, text string) {
	if strings.Contains(line, "##[") {
		return "old command", "", line
	}
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::")
	if !ok {
		return "", "", ""
	}
	head, text, ok := strings.Cut(rest, "::")
	if !ok {
		return "", "", ""
	}
	name, with, _ = strings.Cut(head, " ")
	undo := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	return name, with, undo.Replace(text)
}

func TestNoTextFromOutsideIsACommand(t *testing.T) {
	counts := map[string]int{}
	for line := range strings.Lines(draw(t, &EventLogDrawer{Style: view.OutputStyle{Plain: true}, Actions: true})) {
		name, with, text := taken(strings.TrimSuffix(line, "\n"))
		counts[name]++
		if name == "error" && (!strings.Contains(with, "title=T2 failed") || !strings.Contains(with, "file=b%2C1%3A2.go,line=3") || !strings.Contains(text, "::add-mask::x\n")) {
			t.Errorf("the annotation is %q with %q", text, with)
		}
	}
	delete(counts, "")
	if diff := cmp.Diff(map[string]int{"group": 2, "endgroup": 2, "error": 1, "warning": 1}, counts); diff != "" {
		t.Error(diff)
	}
}

func FuzzActions(f *testing.F) {
	for _, text := range []string{hostile, "", "::", "\u00a0::error::x", "\v ::set-env name=A::b", "#", "##", "##[", "%0A::error::x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.SplitSeq(strings.ReplaceAll(GuardActionsOutput(text), "\r", "\n"), "\n") {
			if name, _, _ := taken(line); name != "" {
				t.Fatalf("%q is taken for the command %q", line, name)
			}
		}
		line := workflowCommand("error", nexus.Finding{File: text, Line: 1}, text, text)
		name, with, said := taken(line)
		if strings.ContainsAny(line, "\r\n") || name != "error" || strings.Count(with, ",") != 2 && text != "" {
			t.Fatalf("%q is read as %q with %q", line, name, with)
		}
		want := strings.ReplaceAll(view.EscapeLinesForTerminal(strings.ReplaceAll(text, "\r\n", "\n")), "##[", "## [")
		if said != want && !strings.Contains(text, "%") { // TestPercent has those
			t.Fatalf("%q is read as %q", want, said)
		}
	})
}

func TestPercent(t *testing.T) {
	_, with, text := taken(workflowCommand("error", nexus.Finding{File: "a%2C"}, "5%0A", "100%0A%25"))
	if text != "100%0A%25" || with != "file=a%252C,title=5%250A" {
		t.Errorf("it is read as %q with %q", text, with)
	}
}

func TestBeatsEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute+time.Second)
		defer stop()
		begin, n := time.Now(), 0
		RunHeartbeat(ctx, func(now time.Time) {
			if n++; now.Sub(begin) != time.Duration(n)*time.Minute {
				t.Errorf("beat %d came after %s", n, now.Sub(begin))
			}
		})
		if n != 5 {
			t.Errorf("it beat %d times in five minutes", n)
		}
	})
}
