package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// planner is a planner's session on a real wire, with a scripted mind.
type planner struct {
	server *llmtest.Server
	model  llm.Model
	tools  *tool.ToolSet
	desk   *agenttest.FakeSessionRecorder
	store  *agenttest.InMemoryBlobStore
	limits nexus.Limits
	tries  func(nexus.Plan) accept.CommandTrials
	covers []nexus.PlanCoverage // what the second look finds, first and after the planner heard of it
	looked []int                // tasks of the plans that it looked at
}

func newPlanner(t *testing.T, turns ...llmtest.ScriptTurn) *planner {
	t.Helper()
	server, stop, err := llmtest.StartServer(t.Context(), llmtest.Script{
		Conversations: []llmtest.ScriptConversation{{Match: "plan.1/planner.1", Turns: turns}},
	}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	set, err := tool.NewToolSet(tool.AgentToolEnvironment{Dir: t.TempDir(), Handin: plan.SubmissionSchema()}, "read_file", "list_files", "finish")
	if err != nil {
		t.Fatal(err)
	}
	return &planner{
		server: server, tools: set, desk: &agenttest.FakeSessionRecorder{}, store: &agenttest.InMemoryBlobStore{},
		model: anthropic.NewProvider(anthropic.Config{Key: "key", BaseURL: server.URL()}),
	}
}

// try finds what the planner of a test says that it finds.
func (p *planner) try(_ context.Context, made nexus.Plan) (accept.CommandTrials, error) {
	if p.tries == nil {
		return nil, nil
	}
	return p.tries(made), nil
}

// talk continues from what is recorded.
func (p *planner) talk(ctx context.Context, message, why string) (agent.SessionStretchResult, error) {
	b := agent.SessionStretchOptions{
		Session: "plan.1/planner.1", Attempt: "plan.1", Model: "scripted/model", System: "You plan.",
		Role: agent.RoleDefinition{Name: nexus.Planner}, Next: message, Why: why, Schema: plan.SubmissionSchema(), Limits: p.limits,
	}
	if t, err := agenttest.ReplaySession(b.Session, p.desk.Events(), p.store); err == nil {
		b.Messages, b.Turn, b.Used = t.Messages, t.Turn, t.Used
	}
	return agent.RunSession(ctx, p.model, p.tools, b, p.desk, p.store, nil)
}

// look finds what is missing in what was told it.
func (p *planner) look(_ context.Context, made nexus.Plan, again bool) (*nexus.PlanCoverage, error) {
	if len(p.covers) == 0 {
		return nil, nil //nolint:nilnil // nobody looks
	}
	c := p.covers[0]
	if again {
		c = p.covers[1]
	}
	p.looked = append(p.looked, len(made.Tasks))
	return &c, nil
}

func (p *planner) decompose(t *testing.T, begun bool) (nexus.Plan, error) {
	t.Helper()
	g := prompt.PlanningRequest{Session: "plan.1/planner.1", Text: " Read and write durations. "}
	return plan.Decompose(t.Context(), g, begun, p.talk, p.try, p.look)
}

func task(id string, change map[string]any) map[string]any {
	m := map[string]any{
		"id": id, "title": "Do " + id, "brief": "Do it.", "files": []any{"a.go"},
		"criteria": []any{map[string]any{"text": "It works.", "check": "test"}},
	}
	for k, v := range change {
		m[k] = v
	}
	return m
}

func hand(tasks ...map[string]any) llmtest.ScriptTurn {
	list := []any{}
	for _, t := range tasks {
		list = append(list, t)
	}
	return llmtest.ScriptTurn{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: map[string]any{"tasks": list}}}}
}

func expecting(t llmtest.ScriptTurn, e ...string) llmtest.ScriptTurn {
	t.Expect = e
	return t
}

func TestDecompose(t *testing.T) {
	fine, large := task("A", nil), task("B", map[string]any{"minutes": 45})
	lost := task("B", map[string]any{"needs": []any{"Z"}})
	split := "Split each task that is too large"
	cases := []struct {
		name  string
		turns []llmtest.ScriptTurn
		code  nexus.ErrorCode
		want  string // in the error
		tasks int
	}{
		{name: "at once", turns: []llmtest.ScriptTurn{{Calls: []llmtest.ScriptCall{{Tool: "list_files"}}}, hand(fine)}, tasks: 1},
		{name: "mended twice", turns: []llmtest.ScriptTurn{
			hand(fine, lost), expecting(hand(fine, lost), `B needs "Z"`, "whole plan again"), expecting(hand(fine), `B needs "Z"`),
		}, tasks: 1},
		{name: "never mended", turns: []llmtest.ScriptTurn{hand(fine, lost), hand(lost), hand(lost, lost)}, code: nexus.CodeInvalidPlan, want: "for 3 reasons"},
		{name: "split", turns: []llmtest.ScriptTurn{hand(fine, large), expecting(hand(fine, task("B", nil), task("C", nil)), "45 minutes", split)}, tasks: 3},
		{name: "split is asked once", turns: []llmtest.ScriptTurn{hand(large), expecting(hand(fine, large), split)}, code: nexus.CodeOversize, want: "B is too large: 45 minutes"},
		{name: "mended, then split", turns: []llmtest.ScriptTurn{hand(lost), hand(large), expecting(hand(fine), split)}, tasks: 1},
		{name: "not after the schema", turns: []llmtest.ScriptTurn{
			{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: map[string]any{"plan": "do it"}}}},
			expecting(hand(fine), "not valid"),
		}, tasks: 1},
		{
			name: "nothing to do", code: nexus.CodeNothingProposed, want: "no task: it is there already",
			turns: []llmtest.ScriptTurn{{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: map[string]any{"tasks": []any{}, "reason": "it is there already"}}}}},
		},
		{name: "only words", turns: []llmtest.ScriptTurn{{Say: "a"}, {Say: "b"}, {Say: "c"}}, code: nexus.CodeNothingProposed, want: "nothing was submitted"},
		{name: "refuses", turns: []llmtest.ScriptTurn{{Fault: llmtest.Refuse}}, code: nexus.CodeNothingProposed, want: "no plan: I cannot"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPlanner(t, c.turns...)
			got, err := p.decompose(t, false)
			if c.code == "" {
				if err != nil || len(got.Tasks) != c.tasks || got.Goal != "Read and write durations." || got.Version != 1 {
					t.Errorf("%+v, %v", got, err)
				}
			} else if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != c.code || !strings.Contains(e.Message, c.want) || e.Hint == "" {
				t.Errorf("%v, want %s %q", err, c.code, c.want)
			}
			if n := len(p.server.Requests()); n != len(c.turns) {
				t.Errorf("%d requests for %d turns", n, len(c.turns))
			}
		})
	}
}

// TestDecomposeTries sends checks that do not fit back twice, beside what else is
// wrong with a plan, and then takes the plan with what came of them.
func TestDecomposeTries(t *testing.T) {
	checked := func(check string) map[string]any {
		return task("A", map[string]any{"criteria": []any{map[string]any{"text": "it says one", "check": check}}})
	}
	again := []string{"- A/AC-1 `sh bad.sh`: it cannot tell. Now: fails. Write: `sh good.sh`", "Fix these checks"}
	for name, c := range map[string]struct {
		turns []llmtest.ScriptTurn
		want  nexus.Criterion
	}{
		"at once":       {[]llmtest.ScriptTurn{hand(checked("sh good.sh"))}, nexus.Criterion{Check: "sh good.sh", Tried: "fails"}},
		"the next time": {[]llmtest.ScriptTurn{hand(checked("sh bad.sh")), expecting(hand(checked("sh good.sh")), again...)}, nexus.Criterion{Check: "sh good.sh", Tried: "fails"}},
		"it insists": {
			[]llmtest.ScriptTurn{hand(checked("sh bad.sh")), expecting(hand(checked("sh bad.sh")), again...), expecting(hand(checked("sh bad.sh")), again...)},
			nexus.Criterion{Was: "sh bad.sh", Tried: "it cannot tell", Unfit: true},
		},
		"beside what else is wrong": {[]llmtest.ScriptTurn{
			hand(checked("sh bad.sh")), hand(task("B", map[string]any{"needs": []any{"Z"}})), hand(checked("sh bad.sh")),
			hand(task("B", map[string]any{"needs": []any{"Z"}})), hand(checked("sh good.sh")),
		}, nexus.Criterion{Check: "sh good.sh", Tried: "fails"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(t, c.turns...)
			p.tries = func(made nexus.Plan) accept.CommandTrials {
				r := accept.CommandTrial{Task: "A", Number: 1, Check: made.Tasks[0].Criteria[0].Check, Said: "fails"}
				if r.Check == "sh bad.sh" {
					r.Wrong, r.Form, r.Vain = "it cannot tell", "`sh good.sh`", true
				}
				return accept.CommandTrials{r}
			}
			got, err := p.decompose(t, false)
			if c.want.Text = "it says one"; err != nil || got.Tasks[0].Criteria[0] != c.want {
				t.Errorf("%+v, %v", got, err)
			}
			if n := len(p.server.Requests()); n != len(c.turns) {
				t.Errorf("%d requests for %d turns", n, len(c.turns))
			}
			if err := plan.CheckPlan(got, nexus.TaskSizeLimits{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDecomposeGoesOn stops after every append and continues with the tries and
// the one split request that there were.
func TestDecomposeGoesOn(t *testing.T) {
	large := task("B", map[string]any{"minutes": 45})
	turns := []llmtest.ScriptTurn{hand(large), hand(task("A", nil), large)}
	for n := 1; ; n++ {
		p := newPlanner(t, turns...)
		left := n
		p.desk.Refuse = func([]nexus.Fact) error {
			if left--; left == 0 {
				return errors.New("crash")
			}
			return nil
		}
		_, err := p.decompose(t, false)
		if left > 0 {
			break
		}
		if err == nil || !strings.Contains(err.Error(), "crash") {
			t.Fatalf("append %d: %v", n, err)
		}
		_, err = p.decompose(t, len(p.desk.RecordedFacts()) > 0)
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeOversize}) {
			t.Errorf("append %d: %v", n, err)
		}
		if paid := p.server.PaidAnswers("plan.1/planner.1"); paid > len(turns)+1 {
			t.Errorf("append %d: %d calls paid", n, paid)
		}
	}
}

func TestDecomposeStops(t *testing.T) {
	p := newPlanner(t, hand(task("A", nil)))
	p.desk.Leave = func(int) error { return &nexus.Error{Code: nexus.CodeBudget, Message: "spent"} }
	if _, err := p.decompose(t, false); !errors.Is(err, &nexus.Error{Code: nexus.CodeBudget}) {
		t.Error(err)
	}
	p = newPlanner(t, llmtest.ScriptTurn{Calls: []llmtest.ScriptCall{{Tool: "list_files"}}})
	p.limits.Turns = 1
	if _, err := p.decompose(t, false); !errors.Is(err, &nexus.Error{Code: nexus.CodeLimit}) {
		t.Error(err)
	}
	p = newPlanner(t)
	_, err := plan.Decompose(t.Context(), prompt.PlanningRequest{Text: strings.Repeat("x", 10<<20)}, false, p.talk, p.try, p.look)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) || len(p.server.Requests()) > 0 {
		t.Error(err)
	}
}

// TestHandinSchemaIsPartOfTheFile keeps the planner's schema to what a plan
// file may hold.
func TestHandinSchemaIsPartOfTheFile(t *testing.T) {
	type schema struct {
		Properties map[string]struct {
			Items struct {
				Properties map[string]any `json:"properties"`
			} `json:"items"`
		} `json:"properties"`
	}
	var file, handin schema
	if err := errors.Join(json.Unmarshal(plan.FileSchema(), &file), json.Unmarshal(plan.SubmissionSchema(), &handin)); err != nil {
		t.Fatal(err)
	}
	criteria, _ := file.Properties["tasks"].Items.Properties["criteria"].(map[string]any)
	one, _ := criteria["items"].(map[string]any)
	fields, _ := one["properties"].(map[string]any)
	for _, name := range []string{"tried", "unfit", "was", "red"} { // which a planner does not know
		if fields[name] == nil {
			t.Errorf("a plan file may not hold %s", name)
		}
		delete(fields, name)
	}
	for name, p := range handin.Properties["tasks"].Items.Properties {
		if diff := cmp.Diff(file.Properties["tasks"].Items.Properties[name], p); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
