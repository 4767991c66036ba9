package startcmd

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// planDetails draws each task of a plan in full: what its agent is told, when it is
// done, and what shows that.
func planDetails(s view.Style, p nexus.Plan) string {
	var b strings.Builder
	for _, t := range p.Tasks {
		b.WriteString("\n" + s.Fit(s.Bold(string(t.ID)+"  "+view.Clean(t.Title))) + "\n")
		if figures := aboutTask(t); len(figures) > 0 {
			b.WriteString(s.Wrap(s.Dim(s.Join(figures...)), "  ") + "\n")
		}
		for line := range strings.SplitSeq(strings.TrimSpace(t.Brief), "\n") {
			if line != "" {
				b.WriteString(s.Wrap(view.Clean(line), "  ") + "\n")
			}
		}
		if len(t.Files) > 0 {
			b.WriteString(s.Wrap("files: "+view.Clean(strings.Join(t.Files, " ")), "  ") + "\n")
		}
		if len(t.Criteria) > 0 {
			b.WriteString("  done when:\n")
		}
		for i, c := range t.Criteria {
			check := "no check yet: one is written, or a person is asked"
			if c.Check != "" {
				check = "check: " + c.Check
			}
			b.WriteString(s.Wrap(fmt.Sprintf("%d. %s", i+1, view.Clean(c.Text)), "    ") + "\n" + s.Wrap(s.Dim(view.Clean(check)), "       ") + "\n")
		}
		if t.Strategy == nexus.NoTest && t.Reason != "" {
			b.WriteString(s.Wrap("no test: "+view.Clean(t.Reason), "  ") + "\n")
		}
	}
	return b.String() + "\n"
}

// aboutTask returns what is set for a task besides its words.
func aboutTask(t nexus.Task) []string {
	var all []string
	add := func(word, value string) {
		if value != "" {
			all = append(all, word+view.Clean(value))
		}
	}
	add("needs ", joinTasks(t.Needs))
	add("", minutes(t.Minutes))
	add("tier ", string(t.Tier))
	add("strategy ", string(t.Strategy))
	add("kind ", string(t.Kind))
	add("model ", t.Model)
	return all
}
