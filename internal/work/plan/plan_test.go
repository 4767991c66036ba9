package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// TestDocsTellTheSchema holds docs/plan.md to the code: it shows the schema,
// every other JSON in it is a plan that can be loaded, and the sizes are
// said.
func TestDocsTellTheSchema(t *testing.T) {
	page, err := os.ReadFile("../../../docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, examples := false, 0
	for _, m := range regexp.MustCompile("(?s)\n```json\n(.*?)\n```").FindAllSubmatch(page, -1) {
		if string(m[1]) == strings.TrimSpace(string(plan.FileSchema())) {
			shown = true
			continue
		}
		examples++
		if p, err := plan.LoadPlan(m[1], nexus.TaskSizeLimits{}); err != nil || len(p.Tasks) < 2 {
			t.Errorf("an example of docs/plan.md: %+v, %v", p, err)
		}
	}
	if !shown || examples == 0 {
		t.Errorf("docs/plan.md shows the schema: %v, and %d examples", shown, examples)
	}
	words := strings.Join(strings.Fields(string(page)), " ")
	for _, size := range []string{"30 minutes", "5 files", "6 criteria", "2,000 characters"} {
		if !strings.Contains(words, size) {
			t.Errorf("docs/plan.md does not say %s", size)
		}
	}
}

func TestSchemasNameEveryField(t *testing.T) {
	full, err := json.Marshal(nexus.Plan{Version: 1, Goal: "g", Tasks: []nexus.Task{fullTask()}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.LoadPlan(full, nexus.TaskSizeLimits{}); err != nil {
		t.Errorf("%s: %v", full, err)
	}
	for _, raw := range []json.RawMessage{plan.FileSchema(), plan.SubmissionSchema()} {
		var s jsonschema.Schema
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Resolve(nil); err != nil {
			t.Error(err)
		}
	}
}

func fullTask() nexus.Task {
	return nexus.Task{
		ID: "T1", Title: "Do it", Brief: "b", Kind: nexus.CodeTask, Group: "g", Files: []string{"a.go"},
		Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}, Minutes: 5, Tier: nexus.Fast, Model: "p/m",
		Strategy: nexus.NoTest, Reason: "r", Depth: 1,
	}
}

const taskJSON = `{"title":"Do it","criteria":[{"text":"done","check":"test"}]%s}`

func file(tasks ...string) string {
	return `{"version":1,"goal":"g","tasks":[` + strings.Join(tasks, ",") + `]}`
}

func with(more string) string { return fmt.Sprintf(taskJSON, more) }

func TestLoadNormalises(t *testing.T) {
	p, err := plan.LoadPlan([]byte(file(
		`{"title":"  Do\n it ","brief":" b ","files":[" ./a//b.go ","a/b.go","","c/../d.go/"],"needs":[" T2 ","T2"],`+
			`"criteria":[{"text":" ","check":" test "},{"text":"","check":""}]}`,
		with(`,"id":" T2 "`), with(""),
	)), nexus.TaskSizeLimits{})
	want := nexus.Plan{Version: 1, Goal: "g", Tasks: []nexus.Task{
		{
			ID: "T1", Title: "Do it", Brief: "b", Files: []string{"a/b.go", "d.go"}, Needs: []nexus.TaskID{"T2"},
			Criteria: []nexus.Criterion{{Text: "test", Check: "test"}},
		},
		{ID: "T2", Title: "Do it", Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}},
		{ID: "T3", Title: "Do it", Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}},
	}}
	// c/../d.go leaves nothing, but says what nobody should have to read.
	if err == nil || !strings.Contains(err.Error(), `"c/../d.go/" leaves the repository`) {
		t.Fatalf("%v", err)
	}
	want.Tasks[0].Files[1] = "c/../d.go/"
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

// TestLinesAreSeen holds that line ends and tabs may be in a text.
func TestLinesAreSeen(t *testing.T) {
	_, err := plan.LoadPlan([]byte(`{"version":1,"goal":"a\n\tb\r\nc","tasks":[`+with(`,"brief":"a\n\tb\r\nc \ud83d\udc69\u200d\ud83d\udcbb"`)+`]}`), nexus.TaskSizeLimits{})
	if err != nil {
		t.Error(err)
	}
}

func TestBadPlansAreRefused(t *testing.T) {
	many := func(n int, s string) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	cases := []struct {
		name, in string
		code     nexus.ErrorCode
		want     string
	}{
		{"empty", "", nexus.CodeInvalidPlan, "it ends too early"},
		{"not JSON", "tasks:", nexus.CodeInvalidPlan, "line 1: invalid character"},
		{"unknown field", "{\"version\":1,\n\"task\":[]}", nexus.CodeInvalidPlan, `line 2: unknown field "task"; known there: assumptions, cover, estimate, foreseen, goal, import, risks, run, tasks, version`},
		{"deep unknown field", file(with(`,"criteriae":[]`)), nexus.CodeInvalidPlan, `unknown field "tasks[0].criteriae"`},
		{"no version", `{"tasks":[` + with("") + `]}`, nexus.CodeInvalidPlan, "version 0, this nexus reads version 1"},
		{"newer", `{"version":2,"tasks":[` + with("") + `]}`, nexus.CodeInvalidPlan, "version 2"},
		{"no tasks", file(), nexus.CodeInvalidPlan, "it has no tasks"},
		{"no title", file(`{"criteria":[{"text":"x","check":"test"}]}`), nexus.CodeInvalidPlan, "T1 has no title"},
		{"long title", file(`{"title":"` + strings.Repeat("x", 121) + `","criteria":[{"text":"x","check":"test"}]}`), nexus.CodeInvalidPlan, "more than 120"},
		{"title with an escape", file(`{"title":"a\u001b[2Jb","criteria":[{"text":"x","check":"test"}]}`), nexus.CodeInvalidPlan, "invisible character"},
		{"goal with an escape", `{"version":1,"goal":"a\u001b[2Jb","tasks":[` + with("") + `]}`, nexus.CodeInvalidPlan, "its goal has an invisible character"},
		{"brief with an escape", file(with(`,"brief":"a\n\tb\r\n\u001b[2Jb"`)), nexus.CodeInvalidPlan, "T1: the text of brief has an invisible character"},
		{"brief with a carriage return", file(with(`,"brief":"a\rb"`)), nexus.CodeInvalidPlan, "T1: the text of brief has an invisible character"},
		{"group with an escape", file(with(`,"group":"a\u009b2Jb"`)), nexus.CodeInvalidPlan, "T1: the text of group has an invisible character"},
		{"tag with an escape", file(with(`,"tags":["a\u202eb"]`)), nexus.CodeInvalidPlan, "T1: the text of tags has an invisible character"},
		{"model with an escape", file(with(`,"model":"a/\u001bb"`)), nexus.CodeInvalidPlan, "T1: the text of model has an invisible character"},
		{"criterion with an escape", file(`{"title":"x","criteria":[{"text":"a\u001b[2Jb","check":"test"}]}`), nexus.CodeInvalidPlan, "T1: criterion 1 has an invisible character"},
		{"no criteria", file(`{"title":"x"}`), nexus.CodeInvalidPlan, "T1 has no criteria"},
		{"no check", file(`{"title":"x","criteria":[{"text":"nice"}]}`), nexus.CodeInvalidPlan, "can be checked by a machine"},
		{"check of two lines", file(`{"title":"x","criteria":[{"text":"x","check":"a\nb"}]}`), nexus.CodeInvalidPlan, "not one line"},
		{"id", file(with(`,"id":"../x"`)), nexus.CodeInvalidPlan, `the id "../x" is not`},
		{"id of ours", file(with(`,"id":"Plan"`)), nexus.CodeInvalidPlan, "is reserved"},
		{"id twice", file(with(`,"id":"A"`), with(`,"id":"A"`)), nexus.CodeInvalidPlan, `"A" is used twice`},
		{"id by case", file(with(`,"id":"A"`), with(`,"id":"a"`)), nexus.CodeInvalidPlan, "differ only in case"},
		{"needs nobody", file(with(`,"needs":["T9"]`)), nexus.CodeInvalidPlan, `T1 needs "T9", which is not in the plan`},
		{"needs itself", file(with(`,"needs":["T1"]`)), nexus.CodeInvalidPlan, "T1 needs itself"},
		{"kind", file(with(`,"kind":"magic"`)), nexus.CodeInvalidPlan, "not one of code, test, docs"},
		{"tier", file(with(`,"tier":"best"`)), nexus.CodeInvalidPlan, "not one of fast, balanced, strong"},
		{"model", file(with(`,"model":"best"`)), nexus.CodeInvalidPlan, "is not provider/model"},
		{"strategy", file(with(`,"strategy":"yolo"`)), nexus.CodeInvalidPlan, "not one of three-session-tdd, tdd-lite, tdd-simple, test-after, no-test"},
		{"no reason", file(with(`,"strategy":"no-test"`)), nexus.CodeInvalidPlan, "needs a reason"},
		{"minutes", file(with(`,"minutes":-1`)), nexus.CodeInvalidPlan, "0 or more"},
		{"depth", file(with(`,"depth":4`)), nexus.CodeInvalidPlan, "depth must be from 0 to 3"},
		{"type", file(with(`,"minutes":"5"`)), nexus.CodeInvalidPlan, `"tasks.minutes" is a string`},
		{"long goal", `{"version":1,"goal":"` + strings.Repeat("x", 103_000) + `","tasks":[` + with("") + `]}`, nexus.CodeInvalidPlan, "its goal has 103000 bytes"},
		{"too many tasks", file(many(10_001, with(""))), nexus.CodeInvalidPlan, "10001 tasks"},
		{"large file", strings.Repeat(" ", 17<<20), nexus.CodeInvalidPlan, "the maximum is"},

		{"31 minutes", file(with(`,"minutes":31`)), nexus.CodeOversize, "T1 is too large: 31 minutes, the maximum is 30"},
		{"6 files", file(with(`,"files":["a","b","c","d","e","f"]`)), nexus.CodeOversize, "6 files, the maximum is 5"},
		{"7 criteria", file(`{"title":"x","criteria":[` + many(7, `{"text":"x","check":"test"}`) + `]}`), nexus.CodeOversize, "7 criteria, the maximum is 6"},
		{"long brief", file(with(`,"brief":"` + strings.Repeat("\u00e4", 1_997) + `"`)), nexus.CodeOversize, "2001 characters"},

		{"invalid before large", file(with(`,"minutes":31,"kind":"magic"`)), nexus.CodeInvalidPlan, "for 2 reasons:\n- T1: kind"},
	}
	for _, f := range []string{"/etc/passwd", "~/x", `C:\\x`, "C:/x", `a\\b`, "../x", "a/../b", ".", "./", ".git/config", "a/.GIT/x", "git~1/x", ".git. /x", `a\u0000b`, `a\u202eb`} {
		cases = append(cases, struct {
			name, in string
			code     nexus.ErrorCode
			want     string
		}{"file " + f, file(with(`,"files":["` + f + `"]`)), nexus.CodeInvalidPlan, "T1: the file "})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan.LoadPlan([]byte(c.in), nexus.TaskSizeLimits{})
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok || e.Code != c.code || !strings.Contains(e.Message, c.want) || e.Hint == "" {
				t.Errorf("%.300v (%+v), want %s %q", err, ok, c.code, c.want)
			}
			if len(e.Message) > 16_000 {
				t.Errorf("a message of %d bytes", len(e.Message))
			}
		})
	}
}

// TestLoadNamesLines holds that what is wrong with a task of a plan file is named with its line.
func TestLoadNamesLines(t *testing.T) {
	const file = `{"version": 1, "goal": "g",
 "tasks": [
  {"id": "T1",
   "title": "Do it",
   "minutes": 10,
   "files": [
     "a.go"
   ],
   "needs": [],
   "criteria": [
     {"text": "one", "check": "test"},
     {"text": "two", "check": "test"}
   ]},
  {"id": "T2", "title": "Do more", "needs": ["T1"],
   "criteria": [{"text": "x", "check": "test"}]}
 ]}`
	for _, c := range []struct{ old, now, want string }{
		{`"minutes": 10`, `"minutes": -1`, "line 5: T1: minutes must be 0 or more"},
		{`"minutes": 10`, `"minutes": 99`, "line 5: T1 is too large: 99 minutes"},
		{`"minutes": 10`, `"depth": 9`, "line 5: T1: depth must be"},
		{`"minutes": 10`, `"kind": "magic"`, `line 5: T1: kind "magic" is not one of`},
		{`"minutes": 10`, `"tier": "best"`, `line 5: T1: tier "best"`},
		{`"a.go"`, `"../a.go"`, `T1: the file "../a.go" leaves the repository`},
		{`"needs": []`, `"needs": ["T9"]`, `line 9: T1 needs "T9", which is not in the plan`},
		{`"needs": []`, `"needs": ["T2"]`, "line 9: tasks need each other in a circle: T1 needs T2 needs T1"},
		{`{"text": "two", "check": "test"}`, `{"text": "two", "check": "if"}`, "line 12: T1: the check of criterion 2"},
		{`"id": "T2"`, `"id": "T1"`, `line 14: the id "T1" is used twice`},
		{`"title": "Do more", `, "", "line 14: T2 has no title"},
		{`"criteria": [{"text": "x", "check": "test"}]`, `"criteria": []`, "line 15: T2 has no criteria"},
	} {
		_, err := plan.LoadPlan([]byte(strings.Replace(file, c.old, c.now, 1)), nexus.TaskSizeLimits{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.now, err, c.want)
		}
	}
}

func TestDocsTasksNeedNoCheck(t *testing.T) {
	if _, err := plan.LoadPlan([]byte(file(`{"title":"x","kind":"docs","criteria":[{"text":"it reads well"}]}`)), nexus.TaskSizeLimits{}); err != nil {
		t.Error(err)
	}
}

func TestLargestTaskFits(t *testing.T) {
	in := file(`{"title":"x","minutes":30,"files":["a","b","c","d","e"],"brief":"` + strings.Repeat("x", 1_994) +
		`","criteria":[{"text":"x","check":"c"},{"text":"x"},{"text":"x"},{"text":"x"},{"text":"x"},{"text":"x"}]}`)
	if _, err := plan.LoadPlan([]byte(in), nexus.TaskSizeLimits{}); err != nil {
		t.Error(err)
	}
}

func TestCyclesAreNamed(t *testing.T) {
	_, err := plan.LoadPlan([]byte(file(with(`,"id":"A","needs":["C"]`), with(`,"id":"B","needs":["A"]`), with(`,"id":"C","needs":["B"]`), with(`,"id":"D","needs":["A"]`))), nexus.TaskSizeLimits{})
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeCycle}) {
		t.Fatalf("%v", err)
	}
	for _, id := range []string{"A", "B", "C"} {
		if !strings.Contains(err.Error(), id) {
			t.Errorf("%v does not name %s", err, id)
		}
	}
}

func TestGoals(t *testing.T) {
	if err := plan.CheckGoal("Do it."); err != nil {
		t.Error(err)
	}
	for _, g := range []string{"", " \n", "-", "?!", strings.Repeat("x", 10<<20)} {
		err := plan.CheckGoal(g)
		e, ok := errors.AsType[*nexus.Error](err)
		if !ok || e.Code != nexus.CodeInvalidInput || e.Hint == "" || len(e.Message) > 100 {
			t.Errorf("%v", err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(file(with(""), with(`,"id":"A","needs":["T1"],"files":["a/b.go"]`))))
	f.Add([]byte(file(with(`,"files":["..//.","a/./b"]`))))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.LoadPlan(data, nexus.TaskSizeLimits{})
		if err != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		same, err := plan.LoadPlan(again, nexus.TaskSizeLimits{})
		if diff := cmp.Diff(p, same); diff != "" || err != nil {
			t.Errorf("%s: %v %s", again, err, diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"tasks":[` + with(`,"id":"A","brief":"b","files":["a"]`) + `]}`))
	f.Add([]byte(`{"tasks":[],"reason":"nothing to do"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := plan.Parse(data, "", nexus.TaskSizeLimits{}); err == nil && (len(p.Tasks) == 0 || plan.CheckPlan(p, nexus.TaskSizeLimits{}) != nil) {
			t.Errorf("%+v", p)
		}
	})
}

// TestSize holds tasks against the size that is allowed, and the planner is told
// of one that is not the usual.
func TestSize(t *testing.T) {
	task := nexus.Task{
		ID: "T1", Title: "Do it", Brief: strings.Repeat("b", 90), Minutes: 40, Files: []string{"a", "b", "c", "d", "e", "f"},
		Criteria: []nexus.Criterion{{Text: "it builds", Check: "build"}},
	}
	p := nexus.Plan{Version: plan.Version, Goal: "Do it", Tasks: []nexus.Task{task}}
	for _, tt := range []struct {
		most nexus.TaskSizeLimits
		want string // each unit that is too large
	}{
		{nexus.TaskSizeLimits{}, "40 minutes, the maximum is 30; 6 files, the maximum is 5"},
		{nexus.TaskSizeLimits{Minutes: 40}, "6 files, the maximum is 5"},
		{nexus.TaskSizeLimits{Minutes: 40, Files: 6, Criteria: 1, Characters: 99}, ""},
		{nexus.TaskSizeLimits{Minutes: 39, Files: 6, Characters: 98}, "40 minutes, the maximum is 39; 99 characters of brief and criteria, the maximum is 98"},
	} {
		var got []string
		for _, f := range plan.FindProblems(p, tt.most) {
			got = append(got, strings.TrimPrefix(f.Text, "T1 is too large: "))
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%+v: %q, want %q", tt.most, got, tt.want)
		}
	}
	for most, want := range map[nexus.TaskSizeLimits]string{{}: "", {Minutes: 60}: "In this project a task takes at most 60 minutes, 5 files, 6 criteria and 2000 characters."} {
		for _, said := range []string{prompt.PlanningRequest{Text: "x", Size: most}.FirstMessage(), prompt.SplitRequest{Task: task, Size: most}.FirstMessage()} {
			if strings.Contains(said, "In this project a task takes") != (want != "") || !strings.Contains(said, want) {
				t.Errorf("%+v: %s", most, said)
			}
		}
	}
}

// TestRecall keeps what came of checks that are as they were, and of no other.
func TestRecall(t *testing.T) {
	tried := func(text, check string) nexus.Criterion {
		return nexus.Criterion{Text: text, Check: check, Tried: "it passes already", Unfit: true}
	}
	from := nexus.Plan{Tasks: []nexus.Task{{Criteria: []nexus.Criterion{tried("a", "sh a.sh"), tried("b", "sh b.sh")}}}}
	p := nexus.Plan{Tasks: []nexus.Task{{Criteria: []nexus.Criterion{{Text: "a", Check: "sh a.sh"}, {Text: "b", Check: "sh better.sh"}, {Text: "c", Check: "build"}}}}}
	plan.CopyTrialResults(&p, from)
	want := []nexus.Criterion{tried("a", "sh a.sh"), {Text: "b", Check: "sh better.sh"}, {Text: "c", Check: "build"}}
	if got := p.Tasks[0].Criteria; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestNeedsByTitle finds tasks by their titles, and tells what is wrong with needs, wants and ties.
func TestNeedsByTitle(t *testing.T) {
	task := func(id, title string) nexus.Task {
		return nexus.Task{ID: nexus.TaskID(id), Title: title, Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}}
	}
	a, b, c, d := task("A", "Parse sizes"), task("B", "Print sizes"), task("C", "Twice"), task("D", "twice")
	b.Needs, b.Wants = []nexus.TaskID{"parse  SIZES", "A"}, []nexus.TaskID{"Parse sizes", "D"}
	b.Ties = nexus.DependencyReasons{"Parse Sizes": nexus.TieAPI, "D": nexus.TieBlocks}
	b.Priority = nexus.PriorityMedium
	tasks := plan.NormaliseTasks([]nexus.Task{a, b, c, d})
	got := tasks[1]
	if !slices.Equal(got.Needs, []nexus.TaskID{"A"}) || !slices.Equal(got.Wants, []nexus.TaskID{"D"}) || got.Ties["A"] != nexus.TieAPI || len(got.Ties) != 1 || got.Priority != "" {
		t.Errorf("%+v", got)
	}
	if err := plan.CheckPlan(nexus.Plan{Version: plan.Version, Tasks: tasks}, nexus.TaskSizeLimits{}); err != nil {
		t.Error(err)
	}
	bad := slices.Clone(tasks)
	bad[0].Needs, bad[0].Wants = []nexus.TaskID{"Twice"}, []nexus.TaskID{"A", "Z"}
	bad[1].Ties = nexus.DependencyReasons{"C": nexus.TieAPI, "A": "odd"}
	bad[2].Priority = "urgent"
	err := plan.CheckPlan(nexus.Plan{Version: plan.Version, Tasks: bad}, nexus.TaskSizeLimits{})
	for _, want := range []string{
		`A needs "Twice", which is not in the plan`, "A wants itself", `A wants "Z", which is not in the plan`, `B has a tie to "C", which it neither needs nor wants`,
		`B: the tie "odd" is not one of blocks, file, schema, api`, `C: priority "urgent" is not one of critical, high, medium, low, trivial`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}
