package eventtapetest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// facts are hard to write: quotes, blanks, numbers that are strings, nested
// and empty values.
func facts() []nexus.Fact {
	return []nexus.Fact{
		nexus.RunResumed{},
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "say \"hi\" = #1, [now]\nand then"}, Base: "c0", Limits: nexus.DefaultLimits()},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Needs: []nexus.TaskID{"1", "T0"}, Files: []string{"a b.go", "c.go"}}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "true", Needs: []nexus.TaskID{"T0", "T2"}}},
		nexus.AttemptLost{Attempt: "T1.1", Why: "its process died", Counted: true},
		nexus.QuestionAsked{ID: "Q1", Text: "ok?", Deadline: eventtapetest.TapeStartTime().Add(time.Hour)},
		nexus.ReviewerVerdictGiven{Attempt: "T1.1", Findings: []nexus.Finding{{Message: "no, \\ not so"}, {File: "x.go", Line: 3}}},
	}
}

func TestReadsWhatItWrites(t *testing.T) {
	for i, f := range facts() {
		at := eventtapetest.TapeStartTime().Add(time.Duration(i) * 1500 * time.Millisecond)
		want := []nexus.Event{{Seq: 1, Run: "r", At: at, Fact: f}}
		line := eventtapetest.FormatEvent(want[0])
		got, err := eventtapetest.ReadTape("r", "# a comment\n\n"+line+"\n")
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestLine(t *testing.T) {
	e := nexus.Event{At: eventtapetest.TapeStartTime().Add(90 * time.Second), Fact: nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Tier: nexus.Fast}}
	if got, want := eventtapetest.FormatEvent(e), "@1m30s attempt.started attempt=T1.1 task=T1 tier=fast"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNamesTheBadLine(t *testing.T) {
	for text, want := range map[string]string{
		"run.resumed\nrun.melted":       "line 2: unknown fact \"run.melted\"",
		"run.paused why":                "line 1: \"why\" has no value",
		"run.paused why=\"so":           "line 1: \"run.paused why=\\\"so\" is not a fact",
		"@soon run.resumed":             "line 1: time: invalid duration \"soon\"",
		"goal.accepted goal=1 goal.x=2": "line 1: goal.x: goal has a value of its own",
	} {
		if _, err := eventtapetest.ReadTape("r", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, x := range facts() {
		f.Add(eventtapetest.FormatFact(x))
	}
	f.Fuzz(func(t *testing.T, line string) {
		x, err := eventtapetest.ParseFact(line)
		if err != nil {
			return
		}
		y, err := eventtapetest.ParseFact(eventtapetest.FormatFact(x))
		if err != nil {
			t.Fatalf("%q was read and cannot be read again: %v", line, err)
		}
		if eventtapetest.FormatFact(x) != eventtapetest.FormatFact(y) {
			t.Errorf("%q became %q, then %q", line, eventtapetest.FormatFact(x), eventtapetest.FormatFact(y))
		}
	})
}
