package view

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// tape is a run in the middle: landed, at work, parked by a hostile reason,
// blocked, pending.
func tape() []nexus.Fact {
	finding := nexus.Finding{Gate: "build", File: "b.go", Line: 3, Message: "undefined: x\nsecond line"}
	return []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Say hello in every language that people speak, and in some that only machines do"}, Base: "b0", Target: "main", Limits: nexus.DefaultLimits()},
		nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}},
		nexus.PlanProposed{Plan: "blob", Tasks: 5},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Hello in French"}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Title: "Hello in German, with the right umlauts in every dialect", Tier: nexus.Balanced}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T3", Title: "Hello in \x1b[31mCOBOL\x1b[0m"}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T4", Title: "Docs", Needs: []nexus.TaskID{"T3"}}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T5", Title: "Site", Needs: []nexus.TaskID{"T2"}}},
		nexus.PlanApproved{By: "policy"},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Tier: nexus.Fast, Strategy: nexus.TestAfter, Base: "b0"},
		nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1", Role: nexus.Coder, Model: "p/small"},
		nexus.RoundStarted{Attempt: "T1.1", Round: 1, Role: nexus.Coder, Session: "T1.1/coder.1"},
		nexus.BudgetReserved{ID: "r1", Task: "T1", Session: "T1.1/coder.1", Role: nexus.Coder, Model: "p/small", Money: nexus.Dollar},
		nexus.BudgetSettled{ID: "r1", Money: nexus.Dollar / 4, Usage: nexus.Usage{Input: 12_345, Output: 678, CacheRead: 100_000}},
		nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted},
		nexus.GateJudged{Attempt: "T1.1", Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: "t1", Duration: time.Second}},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1c1c1c1c1c1", Tree: "t1"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
		nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1c1c1c1c1c1", Tree: "t1", Parent: "b0"},
		nexus.TaskParked{Task: "T3", Why: "the agent says:\r\n\x1b]0;owned\x07\u202eboo"},
		nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Tier: nexus.Balanced, Strategy: nexus.TestAfter, Base: "c1c1c1c1c1c1"},
		nexus.SessionStarted{Session: "T2.1/coder.1", Attempt: "T2.1", Role: nexus.Coder, Model: "p/large"},
		nexus.RoundStarted{Attempt: "T2.1", Round: 1, Role: nexus.Coder, Session: "T2.1/coder.1"},
		nexus.ToolCallStarted{Session: "T2.1/coder.1", Call: "c", Tool: "edit_file", About: "german.go"},
		nexus.GateJudged{Attempt: "T2.1", Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Fail, Tree: "t2", Duration: time.Second, Findings: []nexus.Finding{finding}}},
		nexus.QuestionAsked{ID: "q1", Attempt: "T2.1", Text: "Swiss, too?", Fallback: "no"},
	}
}

func fold(t *testing.T, facts []nexus.Fact) *state.State {
	t.Helper()
	s := state.NewState("261121-100000-abc")
	for i, f := range facts {
		if err := s.Apply(event(i, f)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// latest is what there is to tell about the latest run.
func latest(s *state.State, now time.Time) RunView {
	return NewRunView(s, humaninput.WaitingInRun(s, true), now)
}

func event(i int, f nexus.Fact) nexus.Event {
	return nexus.Event{Seq: int64(i) + 1, Run: "261121-100000-abc", At: start.Add(time.Duration(i) * time.Second), Fact: f}
}

// TestDrawn compares everything that people read with golden files, narrow,
// wide and piped. go test ./internal/view -update rewrites them.
func TestDrawn(t *testing.T) {
	s := fold(t, tape())
	now := start.Add(90 * time.Second)
	r := latest(s, now)
	r.Held = &nexus.RunProcess{PID: 7, Host: "h"}
	ended := latest(fold(t, append(tape()[:21],
		nexus.TaskSkipped{Task: "T2", By: "ada"}, nexus.TaskSkipped{Task: "T5", By: "ada"}, nexus.FinalGatesStarted{},
		nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Passed: true, Tree: "t1"}}, nexus.ResultPublishingStarted{Commit: "c1c1c1c1c1c1"},
		nexus.ResultPublished{Branch: "nexus/261121-100000-abc", Commit: "c1c1c1c1c1c1"}, nexus.RunEnded{Status: nexus.StatusPartial, Why: "1 of 5 landed"},
	)), now)
	lines := func(draw func(OutputStyle, nexus.Event) string) func(OutputStyle) string {
		return func(s OutputStyle) string {
			var b strings.Builder
			for i, f := range tape() {
				if line := draw(s, event(i, f)); line != "" {
					b.WriteString(line + "\n")
				}
			}
			return b.String()
		}
	}
	for name, draw := range map[string]func(OutputStyle) string{
		"status": func(s OutputStyle) string { return DrawStatus(s, r) },
		"live":   func(s OutputStyle) string { return DrawLiveStatus(s, r) },
		"report": func(s OutputStyle) string { return DrawReport(s, ended, true) },
		"runs":   func(s OutputStyle) string { return DrawRunOverview(s, []RunView{ended}) },
		"log":    lines(DrawEvent),
		"follow": func(s OutputStyle) string { return lines((&EventLineDrawer{}).Draw)(s) },
	} {
		for kind, style := range map[string]OutputStyle{
			"narrow": {Width: 60, Height: 24}, "wide": {Width: 120, Height: 40}, "vast": {Width: 160, Height: 40}, "ascii": {ASCII: true, Width: 80}, "piped": {Plain: true},
		} {
			if name == "log" && kind != "piped" || kind == "vast" && name != "live" {
				continue // the times of a log are local
			}
			text := draw(style)
			compare(t, filepath.Join("testdata", name+"."+kind+".txt"), text)
			harmless(t, name, text)
			if kind == "ascii" && strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
				t.Errorf("%s in ASCII has more than ASCII", name)
			}
			for line := range strings.Lines(text) {
				if style.Width > 0 && name != "report" && lipgloss.Width(line) > style.Width {
					t.Errorf("%s %s: a line has %d columns: %s", name, kind, lipgloss.Width(line), line)
				}
			}
			colored := style
			colored.Color = true
			if plain := draw(colored); kind == "wide" && !strings.Contains(plain, "\x1b[") {
				t.Errorf("%s has no colour", name)
			}
		}
	}
}

// harmless finds control characters that came from outside.
func harmless(t *testing.T, name, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	}); i >= 0 {
		t.Errorf("%s lets %q through", name, text[i:i+1])
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestJSON pins the object of `nexus status --json`: its fields only grow.
func TestJSON(t *testing.T) {
	data, err := json.MarshalIndent(latest(fold(t, tape()), start.Add(90*time.Second)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, filepath.Join("testdata", "status.json"), string(data)+"\n")
}

// TestLiveFits draws a run with more tasks than the terminal has lines.
func TestLiveFits(t *testing.T) {
	r := RunView{Status: nexus.StatusExecuting}
	for range 50 {
		r.Tasks = append(r.Tasks, TaskView{ID: "T", Title: "landed", Status: nexus.Landed})
	}
	r.Tasks = append(r.Tasks, TaskView{ID: "T51", Title: "at work", Status: nexus.Running})
	for height := 5; height < 30; height++ {
		text := DrawLiveStatus(OutputStyle{Width: 80, Height: height}, r)
		if n := strings.Count(text, "\n"); n >= height {
			t.Errorf("%d lines on a terminal of %d", n, height)
		}
		if !strings.Contains(text, "at work") {
			t.Errorf("what moves is not shown at height %d", height)
		}
	}
}

// TestDescribes holds every fact to a line of words.
func TestDescribes(t *testing.T) {
	for _, kind := range nexus.FactKinds() {
		f, err := nexus.DecodeFact(kind, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if about, text := DescribeFact(f); about+text == "" && kind != "run.ended" && kind != "attempt.ended" {
			t.Errorf("%s is not described", kind)
		}
		if _, err := EventStreamLineOf(nexus.Event{Fact: f}); err != nil {
			t.Error(err)
		}
	}
}

// TestDescribesAWarmUp says beside the first gate of a base what compiling for
// it took, and nothing where it is not known.
func TestDescribesAWarmUp(t *testing.T) {
	f := nexus.GateJudged{Base: true, Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Pass, Tree: "t", Duration: 1234 * time.Millisecond}}
	for warm, want := range map[time.Duration]string{0: "build: pass (1.2s)", 42 * time.Second: "build: pass (1.2s, after compiling for 42s)"} {
		f.WarmUp = warm
		if about, text := DescribeFact(f); about != "base" || text != want {
			t.Errorf("%s: %s, want %s", about, text, want)
		}
	}
}

func TestFigures(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 1234 * time.Millisecond: "1.2s", 42 * time.Second: "42s", time.Minute: "1m", 61 * time.Second: "1m1s",
		20 * time.Minute: "20m", 59*time.Minute + 59600*time.Millisecond: "1h00m", 3*time.Hour + 5*time.Minute: "3h05m", -time.Second: "0.0s",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("Duration(%v) = %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := FormatNumber(n); got != want {
			t.Errorf("Number(%d) = %s, want %s", n, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[2J\x9b31m\u202e\ufeff\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, clean := range []string{EscapeForTerminal(text), EscapeLinesForTerminal(text), QuoteForTerminal(text), FirstLine(text)} {
			harmless(t, "text", clean)
		}
		if clean := EscapeForTerminal(text); strings.ContainsAny(clean, "\n\r\t") {
			t.Errorf("%q has more than one line", clean)
		}
	})
}

// TestAFailureIsToldOnce plays a review that fails twice and what follows from
// it: the reason is in one line, and what follows is in a line each.
func TestAFailureIsToldOnce(t *testing.T) {
	const why = "the reviewer did not finish: 3 answers without a call"
	var l EventLineDrawer
	var got []string
	for _, f := range []nexus.Fact{
		nexus.ReviewerVerdictGiven{Attempt: "T1.1", Summary: why},
		nexus.ReviewerVerdictGiven{Attempt: "T1.1", Summary: why},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Unverified, Why: "not reviewed: " + why},
		nexus.TaskParked{Task: "T1", Why: "not reviewed: " + why},
		nexus.AttemptEnded{Attempt: "T2.1", Outcome: nexus.NoProgress, Why: "the same build failure 2 times"},
		nexus.TaskParked{Task: "T2", Why: "the same build failure 2 times", Failed: true},
		nexus.AttemptStarted{Attempt: "T1.2", Task: "T1", Tier: nexus.Fast, Strategy: nexus.TestAfter},
		nexus.AttemptEnded{Attempt: "T1.2", Outcome: nexus.Unverified, Why: "not reviewed: " + why},
		nexus.TaskParked{Task: "T1", Why: "not reviewed: " + why},
		nexus.TaskParked{Task: "T3", Why: "another reason"},
		nexus.RunEnded{Status: nexus.StatusPartial, Why: "1 of 4 tasks landed; T1 is parked: not reviewed: " + why},
	} {
		if line := l.Draw(OutputStyle{}, nexus.Event{Fact: f}); line != "" {
			got = append(got, line)
		}
	}
	want := []string{
		"T1.1: not reviewed: " + why, "T1.1: unverified", "T1: parked",
		"T2.1: no-progress: the same build failure 2 times", "T2: failed",
		"T1.2: started, fast, test-after", "T1.2: unverified: not reviewed: " + why, "T1: parked", "T3: parked: another reason",
		"partial: 1 of 4 tasks landed; T1 is parked",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestDescribesAReview says what follows from a review, not only what the
// reviewer called it.
func TestDescribesAReview(t *testing.T) {
	with := func(s nexus.Severity) []nexus.Finding { return []nexus.Finding{{Severity: s, Message: "m"}} }
	for want, f := range map[string]nexus.ReviewerVerdictGiven{
		"review: approved":                                     {Reviewed: true, Approved: true},
		"not reviewed":                                         {},
		"review: rejected, 1 finding":                          {Reviewed: true, SendsBack: true, Findings: with(nexus.Major)},
		"review: rejected, 0 findings":                         {Reviewed: true, SendsBack: true},
		"review: sent back, 1 finding (the reviewer approved)": {Reviewed: true, Approved: true, SendsBack: true, Findings: with(nexus.Critical)},
		"review: nothing blocks landing, 1 finding (the reviewer did not approve)": {Reviewed: true, Findings: with(nexus.Minor)},
	} {
		if _, text := DescribeFact(f); text != want {
			t.Errorf("%+v: %q, want %q", f, text, want)
		}
	}
}
