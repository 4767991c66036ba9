package local

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// planner submits plans, one after the other, and remembers what it was told.
type planner struct {
	plans []string
	told  []string
}

func (p *planner) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	p.told = append(p.told, r.Messages[len(r.Messages)-1].Text())
	if len(p.plans) == 0 {
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Cause: errors.New("no plan is left")}
	}
	handin := p.plans[0]
	p.plans = p.plans[1:]
	return llm.Response{
		Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "c1", Tool: "finish", Input: json.RawMessage(handin)}}}},
		Stop:    llm.StopTools, Usage: nexus.Usage{Input: 1},
	}, nil
}

// planned returns a machine with a planner, and what is to be planned.
func planned(t *testing.T, plans ...string) (*LocalExecutor, *planner, state.WorkerView) {
	t.Helper()
	s, base, _ := workertest.NewTestWorker(t)
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &planner{plans: plans}
	s.Sessions.Roles = roles
	s.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		return worker.PricedModel{
			Model: p, Name: "toy/model",
			Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
		}, nil
	}
	v := state.WorkerView{
		Run: "r", Tip: base, Goal: nexus.GoalAccepted{Goal: nexus.Goal{Text: "add one"}, Base: base}, Limits: nexus.DefaultLimits(),
		Attempt: &state.AttemptState{ID: "plan.1", Base: base},
	}
	return &LocalExecutor{Worker: s}, p, v
}

const twoTasks = `{"tasks": [
	{"id": "T1", "title": "Write one", "brief": "Write the file one.", "files": ["one"], "criteria": [{"text": "one is there", "check": "test -e one"}]},
	{"id": "T2", "title": "Write two", "brief": "Write the file two.", "files": ["two"], "needs": ["T1"], "criteria": [{"text": "two is there", "check": "test -e two"}]}
]}`

// TestAPlanIsProposed with its tasks, once the commands of its criteria were tried
// on the tree that it is made for.
func TestAPlanIsProposed(t *testing.T) {
	m, p, v := planned(t, twoTasks)
	d := &desk{}
	facts, err := m.ExecuteIntent(t.Context(), nexus.PlanningStarted{Attempt: "plan.1"}, v, d)
	if err != nil || len(facts) != 3 {
		t.Fatalf("%+v, %v: %q", facts, err, p.told)
	}
	if f, ok := facts[0].(nexus.PlanProposed); !ok || f.Tasks != 2 || f.Plan == "" {
		t.Errorf("%+v", facts[0])
	}
	for i, want := range []nexus.TaskID{"T1", "T2"} {
		if f, ok := facts[i+1].(nexus.TaskPlanned); !ok || f.Task.ID != want || f.Task.Criteria[0].Tried == "" {
			t.Errorf("%+v", facts[i+1])
		}
	}
	var tried []string
	for _, f := range d.facts {
		if f, ok := f.(nexus.CriterionCommandTried); ok {
			tried = append(tried, f.Evidence.Command+" "+string(f.Evidence.State))
		}
	}
	if slices.Sort(tried); !slices.Equal(tried, []string{"test -e one fail", "test -e two fail"}) {
		t.Errorf("tried are %q", tried)
	}
	if len(p.told) == 0 || !strings.Contains(p.told[0], "add one") {
		t.Errorf("it is told %q", p.told)
	}
}

// TestAnotherPlanIsProposed once people refused one: the planner has that plan, and
// what they said of all, in full. What its checks gave is known.
func TestAnotherPlanIsProposed(t *testing.T) {
	m, p, v := planned(t, twoTasks)
	long := strings.Repeat("Begin with two. ", 300)
	v.Attempt.ID = "plan.2"
	v.Attempt.Tried = []nexus.GateEvidence{{Command: "test -e one", State: nexus.Fail, Exit: 1}}
	v.Drafts = []state.UnapprovedPlan{
		{Tasks: []nexus.Task{{ID: "T9", Title: "Write nine"}}, By: "ada", Why: "nine is no number"},
		{Tasks: []nexus.Task{{ID: "T1", Title: "Write one and two"}}, By: "bob"},
		{Goal: "add one", Tasks: []nexus.Task{{ID: "T1", Title: "Write two, then one"}}, By: "ada", Why: long},
	}
	d := &desk{}
	if facts, err := m.ExecuteIntent(t.Context(), nexus.PlanningStarted{Attempt: "plan.2"}, v, d); err != nil || len(facts) != 3 {
		t.Fatalf("%+v, %v", facts, err)
	}
	for _, want := range []string{"plan.2/planner.1", "1. nine is no number", "2. " + strings.TrimSpace(long), "## T1: Write two, then one"} {
		if !strings.Contains(p.told[0], want) {
			t.Errorf("it is not told %q:\n%s", want, p.told[0])
		}
	}
	if strings.Contains(p.told[0], "Write nine") || strings.Contains(p.told[0], "Write one and two") {
		t.Errorf("it is told more than the last plan:\n%s", p.told[0])
	}
	for _, f := range d.facts {
		if f, ok := f.(nexus.CriterionCommandTried); ok && f.Evidence.Command == "test -e one" {
			t.Error("a command is tried again")
		}
	}
}

// TestATaskIsSplit into the parts that the planner names, who hears why it is
// stuck and what was done so far.
func TestATaskIsSplit(t *testing.T) {
	m, p, v := planned(t, twoTasks)
	work, _ := workertest.CommitFiles(t, m.Worker, "T1.1", v.Tip, map[string]string{"half": "done\n"})
	v.Attempt = &state.AttemptState{ID: "split.1", Base: v.Tip}
	v.Task = state.TaskState{Task: nexus.Task{ID: "T1", Title: "Write both", Brief: "Write one and two."}}
	v.Tasks = []nexus.Task{v.Task.Task}
	v.Past = []*state.AttemptState{{ID: "T1.1", Stage: state.Over, Why: "the same failure again"}}
	f := nexus.TaskSplitStarted{Attempt: "split.1", Task: "T1", Why: "nothing helped", Work: work}
	facts, err := m.ExecuteIntent(t.Context(), f, v, &desk{})
	if err != nil || len(facts) != 3 {
		t.Fatalf("%+v, %v: %q", facts, err, p.told)
	}
	split, ok := facts[2].(nexus.TaskSplitCompleted)
	if !ok || split.Task != "T1" || split.Attempt != "split.1" || len(split.Parts) != 2 || slices.Contains(split.Parts, "T1") {
		t.Errorf("%+v", facts[2])
	}
	for i, id := range split.Parts {
		if f, ok := facts[i].(nexus.TaskPlanned); !ok || f.Task.ID != id {
			t.Errorf("%+v", facts[i])
		}
	}
	for _, want := range []string{"nothing helped", "the same failure again", "half", "Write both"} {
		if !strings.Contains(p.told[0], want) {
			t.Errorf("it is not told %q: %s", want, p.told[0])
		}
	}
	f.Work = strings.Repeat("1", len(work))
	if facts, err := m.ExecuteIntent(t.Context(), f, v, &desk{}); err == nil {
		t.Errorf("of work that is not there: %+v", facts)
	}
}
