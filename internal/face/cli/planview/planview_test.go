package planview

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

var update = flag.Bool("update", false, "write the golden files")

func sample() nexus.Plan {
	return nexus.Plan{Goal: "g", Tasks: []nexus.Task{
		{ID: "T2", Title: "Second \"quoted\"", Needs: []nexus.TaskID{"T1"}, Minutes: 20},
		{ID: "T1", Title: "First", Minutes: 10, Files: []string{"a.go", "b.go"}},
		{ID: "T3", Title: "Apart", Tier: nexus.Strong},
	}}
}

// full is a plan whose tasks say all that one can.
func full() nexus.Plan {
	return nexus.Plan{Goal: "g", Tasks: []nexus.Task{
		{
			ID: "T1", Title: "Write sizes", Minutes: 10, Files: []string{"size.go", "size_test.go"}, Tier: nexus.Balanced, Strategy: nexus.TestAfter,
			Brief:    "Write a function that writes a number of bytes as people do.\n\n    func Size(n int64) string // 1.5 KiB\n\nIt knows binary units only, and rounds to one digit after the point.",
			Criteria: []nexus.Criterion{{Text: "Size(1536) is 1.5 KiB", Check: "go test -run TestSize ./..."}, {Text: "The text reads \x1b[31mwell"}},
		},
		{ID: "T2", Title: "Describe it", Needs: []nexus.TaskID{"T1"}, Strategy: nexus.NoTest, Reason: "it is text", Kind: nexus.DocsTask, Group: "Texts", Tags: []string{"docs", "sizes"}, Keep: []string{"go.mod"}, Depth: 1, Complexity: nexus.Simple},
	}}
}

func TestDraw(t *testing.T) {
	p := sample()
	p.Estimate = &nexus.PlanEstimate{
		Work: 45, Minutes: 30, Money: 3 * nexus.Dollar / 2, Most: 5 * nexus.Dollar, Samples: 12, Thumb: 1,
		Low: nexus.PlanEstimateBound{Minutes: 10, Money: nexus.Dollar / 2}, High: nexus.PlanEstimateBound{Minutes: 90, Money: 9 * nexus.Dollar / 2},
	}
	for kind, style := range map[string]view.OutputStyle{
		"narrow": {Width: 60, Height: 24}, "wide": {Width: 120, Height: 40}, "ascii": {ASCII: true, Width: 80}, "piped": {Plain: true},
	} {
		for name, form := range map[string]string{"plan": "", "dot": "dot", "details": ""} {
			path := filepath.Join("testdata", name+"."+kind+".txt")
			got := Draw(style, p, form)
			if name == "details" {
				got = DrawDetails(style, "Write sizes.\n\nDelete \x1b[31mold.go.", full())
			}
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s (-want +got):\n%s", path, d)
			}
		}
	}
}

// TestOffer holds that a person sees the goal before agreeing to a plan, and how much
// of it is not shown: its words excuse what agents delete.
func TestOffer(t *testing.T) {
	p := sample()
	of := func(goal string) nexus.Plan { return nexus.Plan{Goal: goal, Tasks: p.Tasks, Estimate: p.Estimate} }
	for _, s := range []view.OutputStyle{{Width: 60, Height: 24}, {Plain: true}} {
		got := DrawOffer(s, of("Tidy up.\n\n\nDelete \x1b[31mold.go and \u202eall of it."))
		if want := "goal\n  Tidy up.\n  Delete \\x1b[31mold.go and \\u202eall of it.\n\n" + Draw(s, p, ""); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		long := strings.Repeat("Tidy up.\n", 40) + "Delete old.go."
		got, _, _ = strings.Cut(DrawOffer(s, of(long)), "\n\n")
		if n := strings.Count(got, "Tidy up."); n != maxGoalLines || !strings.HasSuffix(got, "  (29 more lines of the goal: d shows all)") {
			t.Errorf("%d lines of a long goal:\n%s", n, got)
		}
		if all := DrawDetails(s, long, p); !strings.Contains(all, "  Delete old.go.\n") {
			t.Errorf("the details leave out a part of the goal:\n%s", all)
		}
		one, _, _ := strings.Cut(DrawOffer(s, of(strings.Repeat("Tidy up. ", 1000))), "\n\n")
		if strings.Count(one, "\n") != maxGoalLines+1 {
			t.Errorf("a long line is not cut:\n%s", one)
		}
	}
}

// TestTerminal holds that a terminal obeys nothing of a goal that is printed as a file,
// and that the file itself is as it is.
func TestTerminal(t *testing.T) {
	p := full()
	p.Goal, p.Tasks[0].Criteria = "Tidy\x1b[2J up.", p.Tasks[0].Criteria[:1]
	if got := Draw(view.OutputStyle{Width: 80}, p, "markdown"); !strings.Contains(got, `Tidy\x1b[2J up.`) || !strings.HasSuffix(got, "\n") || strings.HasSuffix(got, "\n\n") {
		t.Errorf("%q", got)
	}
	if got := Draw(view.OutputStyle{Plain: true}, p, "markdown"); got != string(plan.FormatMarkdown(p)) {
		t.Errorf("%q", got)
	}
}

// TestCriteriaBelowTheTable holds that a person sees what shows each task done, by its name, and which
// tasks decide how long it takes; of a very large plan how much is not shown.
func TestCriteriaBelowTheTable(t *testing.T) {
	p := full()
	got := Draw(view.OutputStyle{Width: 120}, p, "")
	want := "done when:\n  T1/AC-1: Size(1536) is 1.5 KiB\n    check: go test -run TestSize ./...\n" +
		"  T1/AC-2: The text reads \\x1b[31mwell\n    no check yet: one is written, or a person is asked\ncritical path: T1, T2\n"
	if !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	for range maxDone {
		p.Tasks[1].Criteria = append(p.Tasks[1].Criteria, nexus.Criterion{Text: "More"})
	}
	if got := Draw(view.OutputStyle{Width: 120}, p, ""); strings.Count(got, "T2/AC-") != maxDone-2 || !strings.Contains(got, "  and 2 more: nexus plan --markdown shows all\n") {
		t.Errorf("of %d criteria:\n%s", maxDone+2, got)
	}
}

// TestDrawKept says once that what works keeps working, however many tasks have that criterion.
func TestDrawKept(t *testing.T) {
	kept := nexus.Criterion{Text: nexus.KeptText, Check: "test"}
	p := nexus.Plan{Goal: "g", Tasks: []nexus.Task{
		{ID: "T1", Title: "First of two tasks that have a long title each", Files: []string{"internal/first/first.go", "internal/first/first_test.go", "docs/first.md"}, Criteria: []nexus.Criterion{{Text: "It is", Check: "build"}, kept}},
		{ID: "T2", Title: "Second", Criteria: []nexus.Criterion{kept}},
	}}
	got := Draw(view.OutputStyle{Width: 100, Height: 40}, p, "")
	want := "  T1/AC-1: It is\n    check: build\n  T1/AC-2, T2/AC-1: " + nexus.KeptText + "\n    check: test\n"
	if !strings.Contains(got, want) || strings.Count(got, nexus.KeptText) != 1 || !strings.Contains(got, p.Tasks[0].Title) {
		t.Errorf("got\n%s", got)
	}
}
