package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

func gap(missing string) nexus.PlanCoverage {
	return nexus.PlanCoverage{State: nexus.CoverGaps, Statements: []nexus.StatementCoverage{{ID: "S2", Text: "Write them.", Missing: missing, Asks: true}}}
}

// What a second look finds missing goes back once. What is missing then is in the plan.
func TestDecomposeCovers(t *testing.T) {
	full := nexus.PlanCoverage{State: nexus.CoverFull}
	a, b := task("A", nil), task("B", nil)
	bad := task("B", map[string]any{"needs": []any{"Z"}})
	back := []string{`- S2, "Write them.": nothing writes`, "Cover all of this"}
	for _, c := range []struct {
		name   string
		turns  []llmtest.ScriptTurn
		covers []nexus.PlanCoverage
		looked []int
		tasks  int
		state  nexus.PlanCoverageState
	}{
		{"covered", []llmtest.ScriptTurn{hand(a)}, []nexus.PlanCoverage{full, full}, []int{1}, 1, nexus.CoverFull},
		{"unsure does not go back", []llmtest.ScriptTurn{hand(a)}, []nexus.PlanCoverage{{State: nexus.CoverUnsure}, full}, []int{1}, 1, nexus.CoverUnsure},
		{"covered then", []llmtest.ScriptTurn{hand(a), expecting(hand(a, b), back...)}, []nexus.PlanCoverage{gap("nothing writes"), full}, []int{1, 2}, 2, nexus.CoverFull},
		{"missing still", []llmtest.ScriptTurn{hand(a), expecting(hand(a), back...)}, []nexus.PlanCoverage{gap("nothing writes"), gap("still")}, []int{1, 1}, 1, nexus.CoverGaps},
		{
			"the next is wrong",
			[]llmtest.ScriptTurn{hand(a), expecting(hand(a, bad), back...), expecting(hand(a, b), `needs "Z"`)},
			[]nexus.PlanCoverage{gap("nothing writes"), full},
			[]int{1, 2},
			2, nexus.CoverFull,
		},
		{
			"the first is better than nothing",
			[]llmtest.ScriptTurn{hand(a), expecting(hand(bad), back...), hand(bad), hand(bad)},
			[]nexus.PlanCoverage{gap("nothing writes"), gap("still")},
			[]int{1, 1},
			1, nexus.CoverGaps,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlanner(t, c.turns...)
			p.covers = c.covers
			got, err := p.decompose(t, false)
			if err != nil || len(got.Tasks) != c.tasks || got.Cover == nil || got.Cover.State != c.state {
				t.Errorf("%+v, %v", got, err)
			}
			if diff := cmp.Diff(c.looked, p.looked); diff != "" {
				t.Error(diff)
			}
			if calls := p.server.PaidAnswers("plan.1/planner.1"); calls != len(c.turns) {
				t.Errorf("the planner was asked %d times", calls)
			}
		})
	}
}

// What tasks claim to cover is what the goal has.
func TestCovers(t *testing.T) {
	data := `{"tasks": [{"id": "A", "title": "A", "brief": "Do.", "files": ["a"], "criteria": [{"text": "x", "check": "true"}], "covers": [" s2 ", "S2", "REQ-1"]}]}`
	p, err := plan.Parse([]byte(data), "Read them. Write them.", nexus.TaskSizeLimits{})
	if err == nil || !strings.Contains(err.Error(), `A covers "REQ-1", which the goal does not have; it has S1, S2`) || len(p.Tasks[0].Covers) != 2 {
		t.Errorf("%v %+v", err, p)
	}
	md := "# Plan\nRead them. Write them.\n\n## A: Do\n\n- covers: S1, S3\n- files: a\n\nDo.\n\n### Done when\n\n- x\n  - check: true\n"
	if _, err := plan.LoadMarkdown([]byte(md), nexus.TaskSizeLimits{}); err == nil || !strings.Contains(err.Error(), `line 6: A covers "S3"`) {
		t.Error(err)
	}
	p, err = plan.LoadMarkdown([]byte(strings.Replace(md, "S3", "S2", 1)), nexus.TaskSizeLimits{})
	if again, bad := plan.LoadMarkdown(plan.FormatMarkdown(p), nexus.TaskSizeLimits{}); err != nil || bad != nil || !cmp.Equal(p, again) {
		t.Error(err, bad, cmp.Diff(p, again))
	}
	g := gap("it --> does not")
	p.Cover = &g
	text := plan.FormatMarkdown(p)
	if again, bad := plan.LoadMarkdown(text, nexus.TaskSizeLimits{}); bad != nil || !strings.Contains(string(text), "\n<!-- Not covered: S2, Write them.: it -> does not -->\n") || again.Goal != p.Goal {
		t.Errorf("%v\n%s", bad, text)
	}
}

func FuzzParseCover(f *testing.F) {
	f.Add([]byte(`{"statements": [{"id": "S1", "tasks": ["A"], "criteria": ["A/AC-1"]}, {"id": "s2", "missing": "x", "asks": false}]}`))
	f.Add([]byte(`{"statements": [{"id": "S1", "there": "a.go"}]}`))
	tasks := []nexus.Task{{ID: "A", Criteria: []nexus.Criterion{{Text: "x"}}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := plan.ParseCoverage(data, "Read them. Write them.", tasks, func(file string) bool { return file == "a.go" })
		switch {
		case c.State == nexus.CoverUnsure && c.Why == "", (c.State == nexus.CoverGaps) != (len(c.UncoveredStatements()) > 0), c.State == "":
			t.Errorf("%+v", c)
		}
		for _, s := range c.Statements {
			if c.State == nexus.CoverFull && s.Asks && len(s.Tasks) == 0 && s.There == "" {
				t.Errorf("nothing covers %+v", s)
			}
		}
	})
}
