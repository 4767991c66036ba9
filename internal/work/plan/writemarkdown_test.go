package plan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

var update = flag.Bool("update", false, "write the plan in Markdown that is kept")

// everything is a plan that has all that a plan can have.
func everything() nexus.Plan {
	return nexus.Plan{Version: plan.Version, Goal: "units: sizes for people\n\n## not a task\n<!-- no comment -->", Tasks: []nexus.Task{
		{
			ID: "T1", Title: "Write sizes in binary units", Brief: "- Add Size: it writes bytes.\n\n## A title of the brief\n### done when\n\\## with a backslash",
			Files: []string{"size.go", "a, b.go"}, Minutes: 10, Tags: []string{"cli"}, Keep: []string{"go.mod"},
			Criteria: []nexus.Criterion{
				{Text: "Size(1536) is 1.5 KiB", Check: "test", Tried: "it passes already", Unfit: true},
				{Text: "[x] is no box\n- check: no check\n\n  - nor this", Check: "`echo true`", Red: true},
				{Text: "it is readable", Was: "test -e readable", Tried: "it passes\nalready"},
			},
		},
		{
			ID: "T2", Title: "Title: with a colon", Kind: nexus.DocsTask, Group: " \"odd\", ", Needs: []nexus.TaskID{"T1"}, Wants: []nexus.TaskID{"T3"}, Ties: nexus.DependencyReasons{"T1": nexus.TieAPI, "T3": nexus.TieFile}, Priority: nexus.PriorityHigh, Complexity: nexus.Simple, Tier: nexus.Fast, Model: "a/b",
			Strategy: nexus.NoTest, Reason: "words\nalone", Depth: 2, Criteria: []nexus.Criterion{{Text: "it says so"}},
		},
		{ID: "T3", Title: "No field", Brief: "- kind: of a list", Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}},
		{ID: "T4", Title: "Odd words", Group: "''a", Reason: "`b` c", Tags: []string{"'d'", "`e` f"}, Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}},
	}, Assumptions: []string{"- bytes are bytes", "<!-- 1 KiB is 1024"}, Foreseen: []nexus.PlanRisk{{Task: "T1", Text: "- task: callers may round", Mitigation: "look: at them"}}}
}

// TestMarkdown writes a plan for people, and reads it back.
func TestMarkdown(t *testing.T) {
	p := everything()
	data := plan.FormatMarkdown(p)
	const file = "testdata/plan.md"
	if *update {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(file); err != nil || !bytes.Equal(was, data) {
		t.Errorf("%v, %s; -update writes it", err, cmp.Diff(string(was), string(data)))
	}
	got, err := plan.LoadMarkdown(data, nexus.TaskSizeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	plan.CopyTrialResults(&got, p)
	want, err := plan.LoadPlan(mustJSON(t, p), nexus.TaskSizeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	crlf := []byte("\uFEFF" + strings.ReplaceAll(string(data), "\n", "\r\n"))
	if again, err := plan.LoadMarkdown(crlf, nexus.TaskSizeLimits{}); err != nil || len(again.Tasks) != 4 || again.Tasks[0].Brief != want.Tasks[0].Brief {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestMarkdownKeepsTexts whatever they hold.
func TestMarkdownKeepsTexts(t *testing.T) {
	line := rapid.StringOfN(rapid.RuneFrom([]rune("ab#-:,`<>![]x \\\"'\t")), 0, 12, -1)
	mark := rapid.SampledFrom([]string{"## a", "##", "- b", "  - c", "    - d", "### Done when", " ### DONE WHEN ", "<!-- x -->", "   <!-- x", "<!-- run: 2-1-x made this plan -->", "[ ] y", "\\## z", "\\\\- e", "- check: f", ""})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(line, mark), 1, 5).Draw(t, "lines"), "\n")
	})
	word := rapid.StringMatching(`[a-z]{1,5}(, [a-z"` + "`" + `]{0,3})?`)
	run := rapid.SampledFrom([]string{"", "261126-101010-abc"})
	rapid.Check(t, func(t *rapid.T) {
		task := nexus.Task{
			ID: "T1", Title: "a " + line.Draw(t, "title"), Brief: text.Draw(t, "brief"), Group: word.Draw(t, "group"), Reason: text.Draw(t, "reason"), Minutes: rapid.IntRange(0, 30).Draw(t, "minutes"),
			Files: rapid.SliceOfN(word, 0, 3).Draw(t, "files"), Tags: rapid.SliceOfNDistinct(word, 0, 3, rapid.ID).Draw(t, "tags"),
		}
		for range rapid.IntRange(1, 3).Draw(t, "criteria") {
			task.Criteria = append(task.Criteria, nexus.Criterion{Text: "a" + text.Draw(t, "text"), Check: rapid.SampledFrom([]string{"test", "`true`", "echo `date`"}).Draw(t, "check"), Red: rapid.Bool().Draw(t, "red"), Kind: rapid.SampledFrom([]nexus.CriterionKind{"", nexus.StaysCriterion, nexus.GateCriterion}).Draw(t, "kind")})
		}
		p := nexus.Plan{Version: plan.Version, Goal: text.Draw(t, "goal"), Run: nexus.RunID(run.Draw(t, "run")), Tasks: []nexus.Task{task}}
		p.Assumptions = rapid.SliceOfN(line, 0, 3).Draw(t, "assumptions")
		for range rapid.IntRange(0, 2).Draw(t, "risks") {
			p.Foreseen = append(p.Foreseen, nexus.PlanRisk{Text: text.Draw(t, "risk"), Task: nexus.TaskID(rapid.SampledFrom([]string{"T1", "T9", ""}).Draw(t, "of")), Mitigation: text.Draw(t, "so")})
		}
		want, wrong := plan.LoadPlan(mustJSON(t, p), nexus.TaskSizeLimits{})
		got, err := plan.LoadMarkdown(plan.FormatMarkdown(want), nexus.TaskSizeLimits{})
		if (wrong == nil) != (err == nil) {
			t.Fatalf("%v, then %v of\n%s", wrong, err, plan.FormatMarkdown(want))
		}
		if diff := cmp.Diff(want, got); diff != "" && err == nil {
			t.Fatalf("%s of\n%s", diff, plan.FormatMarkdown(want))
		}
	})
}

// TestMarkdownMistakes are named with their lines.
func TestMarkdownMistakes(t *testing.T) {
	data := string(plan.FormatMarkdown(everything()))
	for name, c := range map[string]struct {
		old, now string
		want     []string
	}{
		"no title":                    {"# Plan\n", "", []string{`line 1: a plan starts with "# Plan"`}},
		"another title":               {"# Plan\n", "# The plan\n", []string{`line 1: a plan starts with "# Plan"`}},
		"an unknown field":            {"- minutes: 10", "- minuts: 10", []string{`line 25: "- minuts: 10" is not a field of a task`, "kind, group, priority, needs"}},
		"no field":                    {"- minutes: 10", "ten minutes", []string{`line 25: "ten minutes" is not a field`, "Text comes after an empty line"}},
		"no number":                   {"- minutes: 10", "- minutes: ten", []string{`line 25: minutes is a number, not "ten"`}},
		"too long":                    {"- minutes: 10", "- minutes: 100", []string{"line 25: T1 is too large: 100 minutes"}},
		"twice":                       {"- minutes: 10", "- minutes: 10\n- minutes: 9", []string{"line 26: minutes is in this task twice"}},
		"a bad file":                  {"- files: size.go", "- files: ../size.go", []string{`line 24: T1: the file "../size.go" leaves the repository`}},
		"a bad list":                  {`"a, b.go"`, `"a, b.go" c`, []string{`line 24: "c" follows a quoted value`}},
		"a need of nobody":            {"- needs: T1 (api)", "- needs: T9", []string{`T2 needs "T9", which is not in the plan`, "line 54"}},
		"a want of nobody":            {"- wants: T3 (file)", "- wants: T9", []string{`T2 wants "T9", which is not in the plan`, "line 55"}},
		"a reason that is none":       {"- needs: T1 (api)", "- needs: T1 (apis)", []string{`line 54: the reason of needs "apis" is not one of blocks, file, schema, api`}},
		"no priority":                 {"- priority: high", "- priority: urgent", []string{`line 53: T2: priority "urgent" is not one of critical, high, medium, low, trivial`}},
		"an id twice":                 {"## T3: No", "## T1: No", []string{`the id "T1" is used twice`, "line 67"}},
		"a task without a name":       {"## T3: No field", "##", []string{"has no title", "line 67"}},
		"a check that sh cannot read": {"- check: ``echo true``", "- check: if", []string{"cannot be read by sh"}},
		"two checks":                  {"  - check: test\n", "  - check: test\n  - check: lint\n", []string{"line 39: a criterion has one check"}},
		"no such kind":                {"  - check: test\n", "  - check: test\n  - kind: docs\n", []string{`"docs" is not a kind of criterion`}},
		"no such field":               {"  - check: test\n", "  - chek: test\n", []string{`line 38: "chek: test" is not a field of a criterion`}},
		"no criterion":                {"- Size(1536) is 1.5 KiB", "Size(1536) is 1.5 KiB", []string{`line 37: "Size(1536) is 1.5 KiB" is not a criterion`}},
		"an empty criterion":          {"- Size(1536) is 1.5 KiB", "- [ ] ", []string{"line 37: a criterion has a text"}},
		"a comment that does not end": {"<!-- tried: it passes already -->", "<!-- tried: it", []string{"line 39: a comment ends in its own line"}},
		"no assumption":               {"- - bytes are bytes", "bytes", []string{`line 13: "bytes" is among the assumptions`}},
		"an empty risk":               {"- - task: callers may round", "- ", []string{"line 18: this is empty"}},
		"a need of itself":            {"- needs: T1 (api)", "- needs: T2", []string{"line 54: T2 needs itself"}},
		"a circle":                    {"- minutes: 10", "- minutes: 10\n- needs: T2", []string{"line 26: tasks need each other in a circle: T1 needs T2 needs T1"}},
		"minutes below zero":          {"- minutes: 10", "- minutes: -3", []string{"line 25: T1: minutes must be 0 or more"}},
		"a unit":                      {"- minutes: 10", "- minutes: 10 min", []string{`line 25: minutes is a number, not "10 min"`}},
		"too deep":                    {"- depth: 2", "- depth: 9", []string{"line 61: T2: depth must be from 0 to 3"}},
		"another bullet":              {"- minutes: 10", "* minutes: 10", []string{`line 25: "* minutes: 10" is not a field of a task`}},
		"a kind that is none":         {"- kind: docs", "- kind: feature", []string{`line 51: T2: kind "feature" is not one of code, test, docs`}},
		"a tier that is none":         {"- tier: fast", "- tier: best", []string{`line 57: T2: tier "best" is not one of fast, balanced, strong`}},
		"a model without a provider":  {"- model: a/b", "- model: b", []string{`line 58: T2: model "b" is not provider/model`}},
		"a strategy that is none":     {"- strategy: no-test", "- strategy: none", []string{`line 59: T2: strategy "none" is not one of`}},
		"a complexity that is none":   {"- complexity: simple", "- complexity: hard", []string{`line 56: T2: complexity "hard" is not one of simple, medium, complex, expert`}},
		"files in two lines":          {"- minutes: 10", "- files: b.go", []string{"line 25: files is in this task twice; put all in one line"}},
		"another title of criteria":   {"### Done when", "### Acceptance criteria", []string{`line 35: "### Acceptance criteria" does not begin the criteria of a task; write "### Done when"`}},
		"a title with a colon":        {"### Done when", "### Done when:", []string{`line 35: "### Done when:" does not begin the criteria of a task; write "### Done when"`}},
		"a title of another level":    {"### Done when", "#### Done when", []string{`line 35: "#### Done when" does not begin the criteria of a task`}},
		"a title too high":            {"### Done when", "## Done when", []string{`line 37: "- Size(1536) is 1.5 KiB" is not a field of a task`}},
		"a task of another level":     {"## T1:", "# T1:", []string{`line 22: "# T1: Write sizes in binary units" starts neither a part of the plan nor a task; a task starts with a line such as "## T1: Title"`}},
		"a task without a blank":      {"## T1:", "##T1:", []string{`line 22: "##T1: Write sizes in binary units" starts neither a part of the plan nor a task`}},
		"not UTF-8":                   {"No field", "No \xff field", []string{"line 67", "it is not UTF-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			edited := strings.Replace(data, c.old, c.now, 1)
			_, err := plan.LoadMarkdown([]byte(edited), nexus.TaskSizeLimits{})
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidPlan}) && !errors.Is(err, &nexus.Error{Code: nexus.CodeCycle}) && !errors.Is(err, &nexus.Error{Code: nexus.CodeOversize}) {
				t.Fatalf("%v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
}

// TestMarkdownTaskInTheGoal is a task whose title is none any more: it is no part of the goal.
func TestMarkdownTaskInTheGoal(t *testing.T) {
	for _, title := range []string{"# T1: Write a", "T1: Write a", "##T1: Write a"} {
		_, err := plan.LoadMarkdown([]byte("# Plan\n\nWrite texts.\n\n"+title+"\n\nDo it.\n\n### Done when\n\n- a is there\n  - check: test -e a\n\n## T2: Write b\n\n### Done when\n\n- b is there\n  - check: test -e b\n"), nexus.TaskSizeLimits{})
		if err == nil || !strings.Contains(err.Error(), `line 9: "### Done when" is in no task; start a task above it with a line such as "## T1: Title"`) {
			t.Errorf("%q: %v", title, err)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(plan.FormatMarkdown(everything()))
	f.Add([]byte("# Plan\n\nGo.\n\n## Do it\n\nNow.\n\n### Done when\n\n- [ ] it is\n    - check: `test`\n"))
	f.Add([]byte("# Plan\n\nGo.\n\n## Risks\n- a\n  b\n  - task: T1\n## Assumptions\n- c\n  - d\n## T1: e\n\n### Done when\n\n- f\n  - check: test\n## Assumptions\n- g\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.LoadMarkdown(data, nexus.TaskSizeLimits{})
		if err != nil {
			return
		}
		again, err := plan.LoadMarkdown(plan.FormatMarkdown(p), nexus.TaskSizeLimits{})
		if diff := cmp.Diff(p, again); diff != "" || err != nil {
			t.Errorf("%v: %s", err, diff)
		}
	})
}

func mustJSON(t interface{ Fatal(...any) }, p nexus.Plan) []byte {
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
