package draft_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/draft"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "write the golden files")

func sample() nexus.Plan {
	return nexus.Plan{Goal: "g", Tasks: []nexus.Task{
		{ID: "T2", Title: "Second \"quoted\"", Needs: []nexus.TaskID{"T1"}, Minutes: 20},
		{ID: "T1", Title: "First", Minutes: 10, Files: []string{"a.go", "b.go"}},
		{ID: "T3", Title: "Apart", Tier: nexus.Strong},
	}}
}

// cents charges a cent for a thousand tokens of an answer, and ten at the
// strong tier.
func cents(_ nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool) {
	m := nexus.Money(u.Output) * nexus.Dollar / 100_000
	if t.Tier == nexus.Strong {
		m *= 10
	}
	return m, true
}

func TestDraw(t *testing.T) {
	p := sample()
	e := draft.Estimate(p, 4, 5*nexus.Dollar, cents)
	p.Estimate = &e
	for kind, style := range map[string]view.Style{
		"narrow": {Width: 60, Height: 24}, "wide": {Width: 120, Height: 40}, "ascii": {ASCII: true, Width: 80}, "piped": {Plain: true},
	} {
		for name, form := range map[string]string{"plan": "", "dot": "dot"} {
			path := filepath.Join("testdata", name+"."+kind+".txt")
			got := draft.Draw(style, p, form)
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

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		parallel, minutes int
	}{{1, 45}, {2, 30}, {8, 30}} { // 20 after 10, and 15 apart
		e := draft.Estimate(sample(), c.parallel, nexus.Dollar, cents)
		if e.Work != 45 || e.Minutes != c.minutes || e.Most != nexus.Dollar {
			t.Errorf("%d at once: %+v", c.parallel, e)
		}
		if want := (26*500 + 4*500 + 16*500 + 4*500 + 10*(21*500+4*500)) * nexus.Dollar / 100_000; e.Money != want {
			t.Errorf("%s, want %s", e.Money, want)
		}
	}
	unknown := func(_ nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool) { return 1, t.ID != "T1" }
	if e := draft.Estimate(sample(), 1, nexus.Dollar, unknown); e.Money != 0 {
		t.Errorf("a price is not known, and the plan costs %s", e.Money)
	}
}
