package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// printedPlan is what nexus plan prints where a program reads it.
const printedPlan = "critical path: T1, T2, 25 min\n" +
	"wave\ttask\ttitle\tneeds\ttime\tcriteria\tfiles\tpriority\tgroup\n" +
	"1\tT1\tWrite sizes in binary units, with one decimal\t\t10 min\t1\tsize.go size_test.go\t\t\n" +
	"2\tT2\tAdd the size command\tT1\t15 min\t2\tcmd/units/size.go cmd/units/size_test.go\t\t\n" +
	"a line that is much longer than the pane and so is wrapped, to its end\n"

// TestColumns holds that a table has a line for each row however narrow it is drawn:
// it loses its empty columns, then the last ones, and then the ends of long cells.
func TestColumns(t *testing.T) {
	for _, c := range []struct {
		width       int
		ascii       bool
		head, first string
	}{
		{100, false, "wave  task  title", "1     T1    Write sizes in binary units, \u2026         10 min  1         size.go size_test.go"},
		{43, false, "wave  task  title             needs  time \u2026", "1     T1    Write sizes in \u2026         10 min"},
		{43, true, "wave  task  title             needs  time ~", "1     T1    Write sizes in ~         10 min"},
		{20, false, "wave  task \u2026", "1     T1"},
	} {
		b := stylePainter{view.OutputStyle{ASCII: c.ascii}}
		lines := b.formatOutput(printedPlan, c.width, true)
		at := -1
		for i, l := range lines {
			if w := ansi.StringWidth(l); w > c.width || strings.Contains(l, "\t") {
				t.Errorf("%d columns: %q has %d", c.width, l, w)
			}
			if at < 0 && strings.HasPrefix(l, "wave") {
				at = i
			}
		}
		text := strings.Join(lines, "\n")
		if at < 0 || !strings.HasPrefix(lines[at], c.head) || !strings.HasPrefix(lines[at+1], c.first) || !strings.HasPrefix(lines[at+2], "2     T2") {
			t.Errorf("%d columns:\n%s", c.width, text)
		}
		if strings.Contains(text, "priority") || !strings.HasSuffix(text, "end") {
			t.Errorf("%d columns: an empty column is shown, or the end is lost:\n%s", c.width, text)
		}
	}
}

// TestQuestionOfTheTask holds that what waits for a person stays above each tab of its
// task, among the tasks as in the inbox.
func TestQuestionOfTheTask(t *testing.T) {
	for _, open := range []string{"1", "2"} {
		for tab := LogTab; tab <= CostTab; tab++ {
			p := begin(t, &stage{p: recorded(t)}, view.OutputStyle{}, 120, 40)
			p.keys(open + "g" + strings.Repeat("]", int(tab)))
			text := strings.Join(p.check(t), "\n")
			if !strings.Contains(text, "question q1") || !strings.Contains(text, "Are days written, too?") {
				t.Errorf("%s, %s:\n%s", open, tabNames()[tab], text)
			}
		}
	}
	p := begin(t, &stage{p: recorded(t)}, view.OutputStyle{}, 120, 40)
	p.keys("2gj]")
	if text := strings.Join(p.check(t), "\n"); strings.Contains(text, "question q1") {
		t.Errorf("another task has the question:\n%s", text)
	}
}
