package export_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/export"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// file is what another tool would call a plan of a format.
func file(f foreign.PlanFormat, data []byte) foreign.PlanSource {
	name := "plan.json"
	if f == foreign.SpecKit || f == foreign.Stories {
		name = "plan.md"
	}
	return foreign.NewFileSource(name, data)
}

// shape says which plans a format holds without loss.
type shape struct {
	id     func(i int) string
	deep   bool // needs as they are; else each task needs all those of the wave before
	wide   bool // more than one task may need the same
	fields string
	goal   bool
}

func shapes() map[foreign.PlanFormat]shape {
	number := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, i+1) } }
	return map[foreign.PlanFormat]shape{
		foreign.Nax:        {number("US-%03d"), true, true, "files complexity tier strategy tags", true},
		foreign.Ralph:      {number("US-%03d"), false, true, "", true},
		foreign.TaskMaster: {number("T%d"), true, true, "priority", true},
		foreign.Polka:      {number("task-%d"), true, true, "kind files minutes complexity priority", true},
		foreign.SpecKit:    {number("T%03d"), false, true, "files group", true},
		foreign.Stories:    {number("US-%d"), true, true, "kind group files minutes complexity tags priority wants", true},
	}
}

func words(most int) *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"Print", "sizes", "of", "files", "quickly", "1.5 KiB", "größer", "(all)", "`x`", "a-b",
		"[P]", "50%", "\"quoted\"", "C:", "and",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return "Do " + strings.Join(rapid.SliceOfN(word, 1, most).Draw(t, "words"), " ")
	})
}

func anyTask(t *rapid.T, fields string) nexus.Task {
	has := func(name string) bool { return strings.Contains(fields, name) && rapid.Bool().Draw(t, name) }
	k := nexus.Task{Title: words(6).Draw(t, "title"), Brief: strings.Join(rapid.SliceOfN(words(9), 0, 3).Draw(t, "brief"), "\n\n")}
	for i, text := range rapid.SliceOfNDistinct(words(6), 1, 5, rapid.ID).Draw(t, "criteria") {
		c := nexus.Criterion{Text: text}
		if i == 0 || rapid.Bool().Draw(t, "checked") {
			c.Check = rapid.SampledFrom([]string{"test", "go test ./...", "grep -q 'x (y)' a.txt", "test \"`id -u`\" = 0"}).Draw(t, "check")
		}
		k.Criteria = append(k.Criteria, c)
	}
	if has("files") {
		k.Files = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.go", "b/c.go", "d_test.go", "docs/e.md"}), 1, 3,
			rapid.ID).Draw(t, "paths")
	}
	if has("minutes") {
		k.Minutes = rapid.IntRange(1, 30).Draw(t, "n")
	}
	if has("kind") {
		k.Kind = rapid.SampledFrom([]nexus.TaskKind{nexus.TestTask, nexus.DocsTask}).Draw(t, "k")
	}
	if has("complexity") {
		k.Complexity = rapid.SampledFrom([]nexus.Complexity{nexus.Simple, nexus.Medium, nexus.Complex}).Draw(t, "c")
	}
	if has("priority") {
		k.Priority = rapid.SampledFrom([]nexus.Priority{nexus.PriorityCritical, nexus.PriorityHigh, nexus.PriorityLow}).Draw(t, "p")
	}
	if has("tier") {
		k.Tier = rapid.SampledFrom([]nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong}).Draw(t, "t")
	}
	if has("tags") {
		k.Tags = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ui", "cli", "layout"}), 1, 3, rapid.ID).Draw(t, "names")
	}
	if has("strategy") {
		if k.Strategy = rapid.SampledFrom(nexus.Strategies()).Draw(t, "s"); k.Strategy == nexus.NoTest {
			k.Reason = "only words"
		}
	}
	return k
}

func anyPlan(t *rapid.T, s shape) nexus.Plan {
	p := nexus.Plan{Version: plan.Version, Goal: words(4).Draw(t, "goal")}
	n := rapid.IntRange(1, 6).Draw(t, "tasks")
	var before, wave []nexus.TaskID
	group := ""
	for i := range n {
		k := anyTask(t, strings.ReplaceAll(s.fields, "group", ""))
		k.ID = nexus.TaskID(s.id(i))
		switch {
		case s.deep:
			for _, o := range p.Tasks {
				if rapid.Bool().Draw(t, "needs") {
					k.Needs = append(k.Needs, o.ID)
				} else if strings.Contains(s.fields, "wants") && rapid.Bool().Draw(t, "wants") {
					k.Wants = append(k.Wants, o.ID)
				}
			}
		case i > 0 && (!s.wide || rapid.Bool().Draw(t, "next")):
			before, wave, group = wave, nil, ""
		}
		if !s.deep {
			k.Needs = append(k.Needs, before...)
			wave = append(wave, k.ID)
		}
		if strings.Contains(s.fields, "group") {
			if group == "" || s.deep {
				group = rapid.SampledFrom([]string{"Setup", "Setup / Tables", "Print sizes"}).Draw(t, "group")
			}
			k.Group = group
		}
		p.Tasks = append(p.Tasks, k)
	}
	return p
}

// TestRoundTrip writes plans that a format can hold, and reads them back: they
// are the same.
func TestRoundTrip(t *testing.T) {
	for f, s := range shapes() {
		t.Run(string(f), rapid.MakeCheck(func(t *rapid.T) {
			p := anyPlan(t, s)
			data, remarks, err := export.WritePlan(p, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range remarks {
				if r.Kind == foreign.Lost && (s.goal || r.What != "the goal") {
					t.Errorf("%+v", r)
				}
			}
			read, err := foreign.ReadPlan(t.Context(), file(f, data), f, "", nexus.TaskSizeLimits{})
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			if !s.goal {
				read.Plan.Goal = p.Goal
				for i := range read.Plan.Tasks {
					read.Plan.Tasks[i].Group = ""
				}
			}
			if d := cmp.Diff(p, read.Plan, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s\n%s", d, data)
			}
			if got, _, err := foreign.RecogniseFormat(file(f, data)); got != f {
				t.Errorf("it looks like %q, %v\n%s", got, err, data)
			}
		}))
	}
}

// TestWriteAny writes any plan in each format. What is read back is written the
// same again, is fit to be worked on, and what the format has no place for was said.
func TestWriteAny(t *testing.T) {
	full := shape{
		func(i int) string { return fmt.Sprintf("Task_%d", i) }, true, true,
		"files complexity tier strategy tags kind minutes group", true,
	}
	for f, s := range shapes() {
		t.Run(string(f), rapid.MakeCheck(func(t *rapid.T) {
			p := anyPlan(t, full)
			data, remarks, err := export.WritePlan(p, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range p.Tasks {
				if k.Tier != "" && !strings.Contains(s.fields, "tier") && !strings.Contains(fmt.Sprint(remarks), "tier") {
					t.Errorf("the tier is lost unsaid: %v", remarks)
				}
			}
			read, err := foreign.ReadPlan(t.Context(), file(f, data), f, "", nexus.TaskSizeLimits{})
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			if err := read.Check(nexus.TaskSizeLimits{}); err != nil || len(read.Plan.Tasks) != len(p.Tasks) {
				t.Fatalf("%v\n%s", err, data)
			}
			if !s.goal {
				return
			}
			again, _, err := export.WritePlan(read.Plan, f)
			if d := cmp.Diff(string(data), string(again)); d != "" || err != nil {
				t.Error(d, err)
			}
		}))
	}
}

func TestWriteRefuses(t *testing.T) {
	k := nexus.Task{ID: "T1", Title: "x", Needs: []nexus.TaskID{"T1"}}
	if _, _, err := export.WritePlan(nexus.Plan{Tasks: []nexus.Task{k}}, foreign.Ralph); err == nil {
		t.Error("a plan with a circle was written")
	}
	if _, _, err := export.WritePlan(nexus.Plan{}, "gsd"); err == nil {
		t.Error("an unknown format was written")
	}
}
