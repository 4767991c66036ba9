package view

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const markdown = "# Run r: done\n\nSay \\*hello\\* in every language that people speak, and in some that only machines do\n\n" +
	"| figure | value |\n|---|--:|\n| tasks | 3 |\n| rounds | 11 |\n\n## Gates\n\n| gate | judged | why |\n|---|--:|---|\n| a\\|b | 3 | it \\_is\\_ red because of \x1b[31mthat, and of nothing else that anybody could name |\n\n" +
	"## To look at\n\n- b.go:3: undefined: x, which is rather long to be said in a list on a narrow terminal\n- c.go\n"

// TestMarkdown draws a report for a terminal.
func TestMarkdown(t *testing.T) {
	for kind, style := range map[string]OutputStyle{"60": {Width: 60}, "100": {Width: 100}, "160": {Width: 160}, "ascii": {Width: 80, ASCII: true}} {
		text := DrawMarkdown(style, markdown)
		compare(t, filepath.Join("testdata", "markdown."+kind+".txt"), text)
		harmless(t, "markdown", text)
		for line := range strings.Lines(text) {
			if ansi.StringWidth(line) > style.Width {
				t.Errorf("%s: %d columns: %s", kind, ansi.StringWidth(line), line)
			}
		}
	}
}

// FuzzMarkdown holds that whatever a report quotes does no harm.
func FuzzMarkdown(f *testing.F) {
	f.Add(markdown)
	f.Add("|")
	f.Add("| a | b |\n|--:\n| 1 |\n|||||\n#\n- \n")
	f.Fuzz(func(t *testing.T, text string) { harmless(t, "markdown", DrawMarkdown(OutputStyle{Width: 60}, text)) })
}

// TestRepaired lists what sent work back.
func TestRepaired(t *testing.T) {
	const a = nexus.AttemptID("T1.1")
	red := nexus.GateJudged{Attempt: a, Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Fail, Tree: "t0", Findings: []nexus.Finding{{File: "b.go", Line: 3, Message: "undefined: x"}}}}
	round := func(n int, cause string) nexus.RoundStarted {
		return nexus.RoundStarted{Attempt: a, Round: n, Role: nexus.Coder, Cause: cause}
	}
	s := fold(t, append(crew("-"),
		nexus.AttemptStarted{Attempt: a, Task: "T1", Base: "b0"}, round(1, ""), red, round(2, "build"),
		nexus.ReviewerVerdictGiven{Attempt: a, Tree: "t1", Reviewed: true, Summary: "An error is\nswallowed."}, round(3, "review"),
		nexus.AttemptEnded{Attempt: a, Outcome: nexus.Accepted, Commit: "c", Tree: "t2"}, nexus.LandingQueued{Task: "T1", Attempt: a},
		nexus.LandingStarted{Task: "T1", Attempt: a, Onto: "b0"}, nexus.LandingCompleted{Task: "T1", Attempt: a, Commit: "c1", Parent: "b0", Resolved: true},
	))
	want := `T1: build failed: b.go:3: undefined: x; repaired in round 2
T1: review rejected it: An error is swallowed.; repaired in round 3
T1: its merge conflicted with what had landed; the merger resolved it, and the gates judged the result`
	if got := strings.Join(RepairLines(s), "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := RepairLines(fold(t, crew("L"))); got != nil {
		t.Errorf("of a run in which nothing went wrong: %q", got)
	}
}
