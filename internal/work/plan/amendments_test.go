package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// amending submits what changes in the plan before.
func amending(t *testing.T, input string) llmtest.ScriptTurn {
	t.Helper()
	var in map[string]any
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		t.Fatal(err)
	}
	turn := hand()
	turn.Calls[0].Input = in
	return turn
}

// TestAmend changes a plan by what is submitted of it, and keeps the rest, over several rounds.
func TestAmend(t *testing.T) {
	a, b := task("A", map[string]any{"minutes": 5}), task("B", map[string]any{"needs": []any{"A"}, "covers": []any{"S1"}})
	first := hand(a, b)
	first.Calls[0].Input["assumptions"] = []any{"It is small."}
	first.Calls[0].Input["risks"] = []any{map[string]any{"task": "B", "text": "It may break."}}
	for name, c := range map[string]struct {
		turns []llmtest.ScriptTurn
		want  func(p *nexus.Plan)
	}{
		"a criterion more": {
			[]llmtest.ScriptTurn{amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"B","criteria":[{"text":"It stays fast.","check":"lint"}]}]}`)},
			func(p *nexus.Plan) {
				p.Tasks[1].Criteria = append(p.Tasks[1].Criteria, nexus.Criterion{Text: "It stays fast.", Check: "lint"})
			},
		},
		"another criterion, other words and no need": {
			[]llmtest.ScriptTurn{amending(t, `{"tasks":[],"amend":[{"task":"B","title":"Do more","needs":[],"files":["b.go"],"criteria":[{"number":1,"text":"x","check":"test"}]}],"assumptions":[]}`)},
			func(p *nexus.Plan) {
				b := &p.Tasks[1]
				b.Title, b.Needs, b.Files, b.Criteria = "Do more", nil, []string{"b.go"}, []nexus.Criterion{{Text: "x", Check: "test"}}
				p.Assumptions = nil
			},
		},
		"a task goes, and one comes": {
			[]llmtest.ScriptTurn{amending(t, `{"tasks":[{"id":"C","title":"Do C","brief":"Do it.","files":["a.go"],"needs":["A"],"criteria":[{"text":"It works.","check":"test"}]}],"keep":true,"amend":[{"task":"B","remove":true}],"risks":[{"text":"It is odd."}]}`)},
			func(p *nexus.Plan) {
				p.Tasks[1].ID, p.Tasks[1].Title, p.Tasks[1].Covers = "C", "Do C", nil
				p.Foreseen = []nexus.PlanRisk{{Text: "It is odd."}}
			},
		},
		"a need that goes takes its reason along": {
			[]llmtest.ScriptTurn{
				amending(t, `{"tasks":[{"id":"C","title":"Do C","brief":"Do it.","files":["c.go"],"needs":["A","B"],"ties":{"A":"file","B":"api"},"criteria":[{"text":"It works.","check":"test"}]}],"keep":true,"amend":[{"task":"C","needs":["A"]}]}`),
			},
			func(p *nexus.Plan) {
				p.Tasks = append(p.Tasks, nexus.Task{ID: "C", Title: "Do C", Brief: "Do it.", Files: []string{"c.go"}, Needs: []nexus.TaskID{"A"}, Ties: nexus.DependencyReasons{"A": nexus.TieFile}, Criteria: []nexus.Criterion{{Text: "It works.", Check: "test"}}})
			},
		},
		"a task that is none goes back": {
			[]llmtest.ScriptTurn{
				amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"Z","remove":true},{"task":"A","drop":[2]}]}`),
				expecting(amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"A","minutes":7,"drop":[1],"criteria":[{"text":"y","check":"test"}]}]}`), `"Z", which is not a task of the plan; there are A, B`, "there is no criterion A/AC-2"),
			},
			func(p *nexus.Plan) {
				p.Tasks[0].Minutes, p.Tasks[0].Criteria = 7, []nexus.Criterion{{Text: "y", Check: "test"}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(t, append([]llmtest.ScriptTurn{first}, c.turns...)...)
			p.covers = []nexus.PlanCoverage{gap("nothing writes"), {State: nexus.CoverFull}}
			got, err := p.decompose(t, false)
			if err != nil {
				t.Fatal(err)
			}
			want, err := plan.Parse(input(t, first), "Read and write durations.", nexus.TaskSizeLimits{})
			if err != nil {
				t.Fatal(err)
			}
			c.want(&want)
			want.Cover = &nexus.PlanCoverage{State: nexus.CoverFull}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func input(t *testing.T, turn llmtest.ScriptTurn) []byte {
	t.Helper()
	data, err := json.Marshal(turn.Calls[0].Input)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAmendRefused changes the plan that a person refused. What came of trying its checks is tried anew.
func TestAmendRefused(t *testing.T) {
	prior, err := plan.Parse(input(t, hand(task("A", nil), task("B", map[string]any{"needs": []any{"A"}}))), "Do.", nexus.TaskSizeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	prior.Tasks[0].Criteria[0].Tried, prior.Tasks[0].Criteria[0].Unfit = "it passes", true
	prior.Assumptions = []string{"It is small."}
	p := newPlanner(t, amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"A","criteria":[{"text":"docs say so","check":"lint"}]},{"task":"B","remove":true}]}`))
	got, err := plan.Decompose(t.Context(), prompt.PlanningRequest{Session: "plan.1/planner.1", Text: "Do.", Prior: prior}, false, p.talk, p.try, p.look)
	if err != nil || len(got.Tasks) != 1 || len(got.Tasks[0].Criteria) != 2 || got.Tasks[0].Criteria[0].Tried != "" || !cmp.Equal(got.Assumptions, prior.Assumptions) {
		t.Errorf("%+v, %v", got, err)
	}
	if prior.Tasks[0].Criteria[0].Tried == "" {
		t.Error("the plan that was refused is another now")
	}
}

// TestAmendNothing refuses to amend where there is no plan.
func TestAmendNothing(t *testing.T) {
	for _, data := range []string{`{"tasks":[],"keep":true}`, `{"tasks":[],"amend":[{"task":"A"}]}`} {
		if _, err := plan.Parse([]byte(data), "Do.", nexus.TaskSizeLimits{}); err == nil || !strings.Contains(err.Error(), "no plan before") {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// TestAmendDraft amends a plan that the tool refused: the planner writes only what was
// wrong with it. What is left of it has to fit, too.
func TestAmendDraft(t *testing.T) {
	long := strings.Repeat("x", 121)
	broken := hand(task("A", nil), task("B", map[string]any{"title": long, "needs": []any{"A"}}))
	broken.Calls[0].Input["assumptions"] = []any{"It is small."}
	broken.Calls[0].Input["risks"] = []any{"It may break."}
	p := newPlanner(t, broken,
		expecting(amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"A","minutes":7}]}`), "maxLength", "Submit only what changes, with keep"),
		expecting(amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"B","title":"Do B again"}]}`), "more than 120"))
	got, err := p.decompose(t, false)
	if err != nil || len(got.Tasks) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got.Tasks[0].Minutes != 7 || got.Tasks[1].Title != "Do B again" || !cmp.Equal(got.Tasks[1].Needs, []nexus.TaskID{"A"}) || !cmp.Equal(got.Assumptions, []string{"It is small."}) ||
		!cmp.Equal(got.Foreseen, []nexus.PlanRisk{{Text: "It may break."}}) {
		t.Errorf("%+v", got)
	}
}

// TestAmendRefusedAmendment does not take what a refused amendment changed: it is submitted again.
func TestAmendRefusedAmendment(t *testing.T) {
	p := newPlanner(t, hand(task("A", nil)),
		amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"A","minutes":"soon","criteria":[{"text":"y","check":"test"}]}]}`),
		expecting(amending(t, `{"tasks":[],"keep":true,"amend":[{"task":"A","minutes":7,"criteria":[{"text":"y","check":"test"}]}]}`), "minutes"))
	p.covers = []nexus.PlanCoverage{gap("nothing writes"), {State: nexus.CoverFull}}
	got, err := p.decompose(t, false)
	if err != nil || len(got.Tasks) != 1 || len(got.Tasks[0].Criteria) != 2 || got.Tasks[0].Minutes != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTextForObject takes a text where the schema wants an object with a text.
func TestTextForObject(t *testing.T) {
	p, err := plan.Parse([]byte(`{"tasks":[{"id":"A","title":"Do A","brief":"Do it.","files":["a"],"criteria":["It works.",{"text":"b","check":"test"}]}],"risks":["It may break."]}`), "Do.", nexus.TaskSizeLimits{})
	if err != nil || p.Tasks[0].Criteria[0].Text != "It works." || p.Foreseen[0].Text != "It may break." {
		t.Errorf("%+v, %v", p, err)
	}
}
