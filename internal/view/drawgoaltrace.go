package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/view/traceability"
)

// DrawGoalTrace draws the progress of each requirement: its tasks, evidence and commits, and below
// the table the gaps.
func DrawGoalTrace(s OutputStyle, t traceability.GoalTrace) string {
	rows := make([][]string, 0, len(t.Rows))
	for _, r := range t.Rows {
		stage := string(r.Stage)
		switch {
		case r.Later:
			stage = "later"
		case !r.Asks:
			stage = ""
		case r.Gap != "":
			stage = s.Warn(stage)
		default:
			stage = s.Good(stage)
		}
		tasks := make([]string, 0, len(r.Tasks))
		for _, one := range r.Tasks {
			tasks = append(tasks, fmt.Sprintf("%s %s", one.ID, one.Status))
		}
		var tests, commits []string
		for _, c := range r.Criteria {
			tests = append(tests, fmt.Sprintf("%s %s", c.ID, c.State))
		}
		for _, test := range r.Tests {
			tests = append(tests, EscapeForTerminal(test))
		}
		for _, c := range r.Commits {
			commits = append(commits, ShortHash(c))
		}
		row := []string{r.ID, stage, strings.Join(tasks, ", "), strings.Join(tests, ", "), strings.Join(commits, " "), EscapeForTerminal(r.Text)}
		rows = append(rows, row)
	}
	var b strings.Builder
	b.WriteString(DrawTable(s, []string{"requirement", "status", "tasks", "tests", "commits", "text"}, rows))
	for _, r := range t.Rows {
		if r.Note != "" {
			b.WriteString(s.Wrap(r.ID+": "+EscapeForTerminal(r.Note), "") + "\n")
		}
	}
	if t.Why != "" {
		b.WriteString(s.Wrap(s.Warn(t.Why), "") + "\n")
		return b.String()
	}
	if t.Gaps == 0 {
		b.WriteString(s.Good("no gaps") + "\n")
		return b.String()
	}
	b.WriteString(s.Warn(CountWithNoun(t.Gaps, "gap")) + "\n")
	for _, r := range t.Rows {
		if r.Gap != "" {
			b.WriteString(s.Wrap(r.ID+": "+EscapeForTerminal(r.Gap), "  ") + "\n")
		}
	}
	return b.String()
}
