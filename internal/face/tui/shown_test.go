package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// proposed is a run whose plan waits for a person, and which has spent money for it.
func proposed(tb testing.TB) *projection.RunProjection {
	tb.Helper()
	p := projection.NewProjection("261126-1500-abc", projection.Options{})
	for i, f := range []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Teach units"}, Limits: nexus.Limits{RunMoney: 5 * nexus.Dollar}},
		nexus.RunStarted{},
		nexus.BudgetReserved{ID: "r1", Role: nexus.Planner, Model: "m/x", Money: nexus.Dollar},
		nexus.BudgetSettled{ID: "r1", Money: nexus.Dollar / 4},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Write sizes"}},
		nexus.QuestionAsked{ID: "q1", Trigger: nexus.PlanTrigger, Text: strings.Repeat("may this plan start? ", 12) + "the end"},
	} {
		if err := p.Apply(nexus.Event{Seq: int64(i + 1), Run: "261126-1500-abc", At: begun, Fact: f}); err != nil {
			tb.Fatalf("%T: %v", f, err)
		}
	}
	return p
}

// TestTabsOfTheRun holds what the tabs show of what waits for a person and is about no
// task: what they say they do, and what is asked in full above it.
func TestTabsOfTheRun(t *testing.T) {
	for tab, want := range map[DetailTab]string{
		LogTab: "reserved $1.00 for m/x", DiffTab: "about no task", ChecksTab: "No gate has judged", PlanTab: "asked: plan --run 261126-1500-abc", CostTab: "$0.25 of $5.00",
	} {
		for _, open := range []string{"1", "2"} {
			p := begin(t, &stage{p: proposed(t)}, view.OutputStyle{}, 120, 40)
			p.keys(open + strings.Repeat("]", int(tab)))
			text := strings.Join(p.check(t), "\n")
			if !strings.Contains(text, want) || !strings.Contains(text, "the end") || !strings.Contains(text, "approval q1") {
				t.Errorf("%s, %s:\n%s", open, tabNames()[tab], text)
			}
			if tab == CostTab && !strings.Contains(strings.Join(begun6(t), "\n"), want) {
				t.Error("view 6 says something else")
			}
		}
	}
}

// begun6 is the view of the cost.
func begun6(t *testing.T) []string {
	t.Helper()
	p := begin(t, &stage{p: proposed(t)}, view.OutputStyle{}, 120, 40)
	p.keys("6")
	return p.check(t)
}

// TestFindingIsSaidOnce holds that a finding is one line that says nothing twice, and all.
func TestFindingIsSaidOnce(t *testing.T) {
	for _, c := range []struct {
		finding nexus.Finding
		want    string
	}{
		{nexus.Finding{File: "size.go", Line: 6, Message: "undefined: fmt"}, "size.go:6: undefined: fmt"},
		{nexus.Finding{Message: "it fails\n  want 1\n  got 2"}, "it fails want 1 got 2"},
		{nexus.Finding{File: "size.go", Message: "too long"}, "size.go: too long"},
	} {
		if got := strings.Join(strings.Fields(findingLine(c.finding)), " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestMoreBelow holds that what has more below says how much, and that its end fills
// the screen.
func TestMoreBelow(t *testing.T) {
	for _, keys := range []string{"?", "<ctrl+p>", "2"} {
		p := begin(t, &stage{p: crowded(t)}, view.OutputStyle{}, 80, 24)
		p.keys(keys)
		lines := p.check(t)
		last := lines[len(lines)-3]
		more := 0
		if _, err := fmt.Sscanf(strings.TrimSpace(last), "\u2026 %d more", &more); err != nil || more < 5 {
			t.Errorf("%s: %q", keys, last)
		}
	}
	p := begin(t, &stage{p: crowded(t)}, view.OutputStyle{}, 80, 24)
	p.keys("?G")
	lines := p.check(t)
	if text := strings.Join(lines, "\n"); strings.Contains(text, " more") || !strings.Contains(lines[len(lines)-3], "a second one leaves") || lines[4] == "" {
		t.Error(text)
	}
	p.keys("k")
	if lines := p.check(t); !strings.Contains(lines[len(lines)-3], "\u2026 2 more") {
		t.Errorf("it does not scroll back at once: %q", lines[len(lines)-3])
	}
	p.keys("<esc>2G")
	if text := strings.Join(p.check(t), "\n"); !strings.Contains(text, "> \u25c7 T60") {
		t.Errorf("the last task is not in sight:\n%s", text)
	}
}

// crowded is a run of many tasks.
func crowded(tb testing.TB) *projection.RunProjection {
	tb.Helper()
	p := projection.NewProjection("261126-1500-abc", projection.Options{})
	facts := []nexus.Fact{nexus.GoalAccepted{Goal: nexus.Goal{Text: "Teach units"}}, nexus.RunStarted{}}
	for i := range 60 {
		facts = append(facts, nexus.TaskPlanned{Task: nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Title: "Write"}})
	}
	for i, f := range facts {
		if err := p.Apply(nexus.Event{Seq: int64(i + 1), Run: "261126-1500-abc", At: begun, Fact: f}); err != nil {
			tb.Fatalf("%T: %v", f, err)
		}
	}
	return p
}

// TestNothingUnseenIsApproved holds that keys decide only what is selected and on the screen.
func TestNothingUnseenIsApproved(t *testing.T) {
	for _, c := range []struct {
		keys          string
		width, height int
		want          int
	}{
		{"1a", 120, 40, 1},
		{"2a", 120, 40, 1},
		{"1/zzz<enter>a", 120, 40, 0},
		{"2/zzz<enter>a", 120, 40, 0},
		{"6a", 120, 40, 0},
		{"7a", 120, 40, 0},
		{"8a", 120, 40, 0},
		{"1a", 59, 40, 0},
		{"1a", 120, 14, 0},
		{"Sy", 59, 40, 0},
	} {
		s := &stage{p: proposed(t)}
		p := begin(t, s, view.OutputStyle{}, c.width, c.height)
		p.keys(c.keys)
		did := 0
		for _, args := range s.did {
			if args[0] != "memory" {
				did++
			}
		}
		if did != c.want {
			t.Errorf("%s at %dx%d: %q; the screen says %q", c.keys, c.width, c.height, s.did, p.notice)
		}
		if c.want == 0 && c.width == 120 && c.height == 40 && !strings.Contains(p.notice, "1 shows what needs you") {
			t.Errorf("%s: the screen says %q", c.keys, p.notice)
		}
	}
	p := begin(t, &stage{p: proposed(t)}, view.OutputStyle{}, 59, 14)
	if _, cmd := p.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil {
		t.Error("a small screen cannot be left")
	}
}

// TestFooter holds that hints are there as a whole or not at all, that help and leaving
// always are, and that e is where it does something.
func TestFooter(t *testing.T) {
	for width := leastWidth; width < 180; width++ {
		for _, keys := range []string{"1", "2", "2jd", "6"} {
			p := begin(t, &stage{p: recorded(t)}, view.OutputStyle{}, width, 20)
			p.keys(keys)
			lines := p.check(t)
			last := lines[len(lines)-1]
			if cut := strings.Contains(last, "\u2026"); cut || !strings.Contains(last, "? help  q leave") {
				t.Errorf("%s at %d columns: %q", keys, width, last)
			}
		}
	}
	for _, c := range []struct {
		p     *projection.RunProjection
		width int
		keys  string
		want  string
	}{
		{proposed(t), 160, "1", "x reject  e edit the plan  P pause"},
		{proposed(t), 60, "1", "x reject  e edit the plan  ? help"},
		{recorded(t), 160, "2", "e edit a criterion"},
		{crowded(t), 160, "2", ""},
	} {
		p := begin(t, &stage{p: c.p}, view.OutputStyle{}, c.width, 20)
		p.keys(c.keys)
		footer := ansi.Strip(p.keyHintLine())
		if !strings.Contains(footer, c.want) || strings.Contains(footer, "e edit") != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.keys, footer, c.want)
		}
	}
}

// TestGraphSaysWhatIsAnEstimate holds that what a task took is told from what it is
// expected to take.
func TestGraphSaysWhatIsAnEstimate(t *testing.T) {
	p := begin(t, &stage{p: recorded(t)}, view.OutputStyle{}, 120, 40)
	for lane, want := range map[projection.BoardLane]string{projection.LaneDone: "  36s", projection.LaneReady: "  ~36s", projection.LaneRunning: "  ~36s"} {
		if got := p.graphNodeLine(projection.PlanGraphNode{ID: "T9", Title: "Do", Lane: lane, Seconds: 36}); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", lane, got)
		}
	}
	p.keys("3")
	if text := strings.Join(p.check(t), "\n"); !strings.Contains(text, "\u2501 longest path  \u2500 others  ~ estimate") {
		t.Error(text)
	}
}

// TestRedStays holds that a run says what was red before and is red still, where nothing is selected.
func TestRedStays(t *testing.T) {
	m := &Model{}
	m.snap.Run = view.RunView{ID: "r", Status: nexus.StatusDone, Red: []string{"gate test: failed before the work, and fails now: m.TestA"}}
	if text := strings.Join(m.runLines(200), "\n"); !strings.Contains(text, "look at: gate test: failed before the work, and fails now: m.TestA") {
		t.Error(text)
	}
}
