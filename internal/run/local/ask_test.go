package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// desk keeps what is recorded and asked, and gives an answer.
type desk struct {
	facts  []nexus.Fact
	asked  []nexus.QuestionAsked
	answer string
}

func (d *desk) Record(_ context.Context, facts ...nexus.Fact) error {
	d.facts = append(d.facts, facts...)
	return nil
}

func (*desk) Reserve(context.Context, nexus.BudgetReserved, ...nexus.Fact) ([]state.Guidance, error) {
	return nil, nil
}

func (d *desk) Ask(_ context.Context, q nexus.QuestionAsked) (string, error) {
	d.asked = append(d.asked, q)
	return d.answer, nil
}

func (*desk) Known(context.Context, string, string) (nexus.GateEvidence, bool) {
	return nexus.GateEvidence{}, false
}

func (*desk) Spare(ctx context.Context, _ bool) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// TestUnplanned tells errors that say that there is no plan from those of the
// machinery, which end the run or are tried again.
func TestUnplanned(t *testing.T) {
	for err, want := range map[error]bool{
		errors.New("git broke"): false, &nexus.Error{Code: nexus.CodeBudget}: false, &nexus.Error{Code: nexus.CodeNoKey}: false,
		&nexus.Error{Code: nexus.CodeInvalidPlan}: true, fmt.Errorf("plan: %w", &nexus.Error{Code: nexus.CodeCycle}): true, &nexus.Error{Code: nexus.CodeNothingProposed}: true,
	} {
		if isPlanFailure(err) != want {
			t.Errorf("%v: unplanned is not %v", err, want)
		}
	}
}

// TestAPersonAgreesToPublish where the level of approval wants it: the question
// says what is published, where to, and which files decide much.
func TestAPersonAgreesToPublish(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	m := &LocalExecutor{Worker: s}
	plain, _ := workertest.CommitFiles(t, s, "T1.1", base, map[string]string{"one": "1\n"})
	critical, _ := workertest.CommitFiles(t, s, "T1.2", base, map[string]string{".github/workflows/ci.yml": "on: push\n"})
	v := state.WorkerView{Run: "r", Tip: plain, Landings: 3, Limits: nexus.Limits{Approval: nexus.ApproveCommits}, Goal: nexus.GoalAccepted{Base: base, Target: "main"}}
	for name, c := range map[string]struct {
		change func(*state.WorkerView)
		answer string
		why    string // it is held; empty: it is not
		says   []string
		never  string
	}{
		"nobody has to":     {func(v *state.WorkerView) { v.Limits.Approval = "" }, "no", "", nil, ""},
		"who asked for it":  {func(v *state.WorkerView) { v.TargetMerge.Asked = &nexus.TargetLandingRequested{} }, "no", "", nil, ""},
		"a yes":             {func(*state.WorkerView) {}, "yes", "", []string{"publish 3 commits that landed, up to ", plain[:12], "as the branch nexus/r?"}, "with changes of"},
		"and to move":       {func(v *state.WorkerView) { v.Goal.Land = true }, "yes", "", []string{"and move the branch main to it?"}, "with changes of"},
		"no branch to move": {func(v *state.WorkerView) { v.Goal.Land, v.Goal.Target = true, "" }, "yes", "", []string{"as the branch nexus/r?"}, "and move"},
		"critical files":    {func(v *state.WorkerView) { v.Tip = critical }, "yes", "", []string{", with changes of ", "ci.yml"}, ""},
		"one commit":        {func(v *state.WorkerView) { v.Landings = 1 }, "yes", "", []string{"publish the commit that landed, up to "}, "1 commit"},
		"a no":              {func(*state.WorkerView) {}, "not today", "a person said: not today", []string{"publish 3 commits"}, ""},
		"no answer":         {func(*state.WorkerView) {}, nexus.Unapproved, "a person must agree", []string{"publish 3 commits"}, ""},
	} {
		v, d := v, &desk{answer: c.answer}
		c.change(&v)
		why, err := m.publishHoldReason(t.Context(), v, "nexus/r", d)
		if err != nil || !strings.HasPrefix(why, c.why) || (why == "") != (c.why == "") || (len(d.asked) == 0) != (c.says == nil) {
			t.Errorf("%s: %q, %v, asked %+v", name, why, err, d.asked)
		}
		for _, q := range d.asked {
			for _, want := range c.says {
				if !strings.Contains(q.Text, want) {
					t.Errorf("%s: %q does not say %q", name, q.Text, want)
				}
			}
			if c.never != "" && strings.Contains(q.Text, c.never) {
				t.Errorf("%s: %q says %q", name, q.Text, c.never)
			}
		}
	}
	v.Tip = strings.Repeat("1", len(base))
	if why, err := m.publishHoldReason(t.Context(), v, "nexus/r", &desk{answer: "yes"}); err == nil {
		t.Errorf("of a commit that is not there: %q", why)
	}
}

// TestAnAnswerThatWasKept saves a call: how hard the same tasks are is not asked
// again. Without one the model is asked, and that it cannot be is an answer, too.
func TestAnAnswerThatWasKept(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	asked := 0
	s.Sessions.Roles = map[nexus.Role]agent.RoleDefinition{nexus.Router: {Name: nexus.Router, Prompt: "How hard is it?"}}
	s.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		if asked++; asked%2 == 0 { // the first time is to know its name
			return worker.PricedModel{}, errors.New("nobody is there")
		}
		return worker.PricedModel{Name: "toy/model"}, nil
	}
	m := &LocalExecutor{Worker: s}
	v := state.WorkerView{Run: "r", Goal: nexus.GoalAccepted{Base: base}, Attempt: &state.AttemptState{ID: "route.1", Base: base}, Tasks: []nexus.Task{{ID: "T1", Title: "One"}}}
	f := nexus.ComplexityRatingStarted{Attempt: "route.1", Tasks: []nexus.TaskID{"T1"}}
	told := func() nexus.ComplexityRatingEnded {
		t.Helper()
		facts, err := m.chooseStartTiers(t.Context(), f, v, &desk{})
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		return facts[0].(nexus.ComplexityRatingEnded)
	}
	if got := told(); got.Attempt != "route.1" || len(got.Routes) > 0 || !strings.Contains(got.Why, "nobody is there") {
		t.Errorf("%+v", got)
	}
	asked = 0
	kept := m.ratingCachePath(v, f.Tasks)
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte(`{"routes":[{"task":"T1","complexity":"complex","why":"hard"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	asked = 0
	if got := told(); len(got.Routes) != 1 || got.Routes[0].Complexity != nexus.Complex || got.Why != "" || asked != 1 {
		t.Errorf("%+v after %d", got, asked)
	}
	s.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		return worker.PricedModel{}, errors.New("no")
	}
	if kept := m.ratingCachePath(v, f.Tasks); kept != "" {
		t.Errorf("kept in %s of a model that nobody knows", kept)
	}
}

// TestWhatEarlierRunsShowed is tried once, as far as it was asked for, and what is
// red is told the planner.
func TestWhatEarlierRunsShowed(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	tree, err := s.Trees.PrivateRepo().TreeID(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	past := func(context.Context) ([]accept.EarlierRunCheck, error) {
		return []accept.EarlierRunCheck{
			{Run: "old", ID: "T1/AC-1", Text: "bad is there", Check: "test -e bad", Commit: base, Tree: tree},
			{Run: "old", ID: "T1/AC-2", Text: "one is there", Check: "test -e one", Commit: base, Tree: tree},
		}, nil
	}
	v := state.WorkerView{Run: "r", Goal: nexus.GoalAccepted{Base: base}}
	for name, m := range map[string]*LocalExecutor{
		"nothing": {}, "no past": {Regression: EarlierCheckSettings{Sample: 3}}, "no sample": {Regression: EarlierCheckSettings{Past: past}},
	} {
		m.Worker = s
		if red, err := m.tryEarlierChecks(t.Context(), v, &desk{}); err != nil || len(red) > 0 {
			t.Errorf("%s: %q, %v", name, red, err)
		}
	}
	m, d := &LocalExecutor{Worker: s}, &desk{}
	m.Regression.Past, m.Regression.Sample = past, 3
	red, err := m.tryEarlierChecks(t.Context(), v, d)
	if err != nil || len(red) != 1 || !strings.HasPrefix(red[0], "T1/AC-2 of run old: `test -e one`: ") {
		t.Errorf("%q, %v", red, err)
	}
	if red, err := m.tryEarlierChecks(t.Context(), v, d); err != nil || len(red) > 0 {
		t.Errorf("again: %q, %v", red, err)
	}
}

// TestEachIntentIsActedOn by what does it: a model is asked for the role that the
// intent needs, and the branch is looked at for one that lands.
func TestEachIntentIsActedOn(t *testing.T) {
	for name, c := range map[string]struct {
		intent nexus.Fact
		merge  nexus.AttemptID
		role   nexus.Role // that is asked for; empty: none, and it is an error
		says   string
	}{
		"a plan":                    {nexus.PlanningStarted{Attempt: "T1.1"}, "", nexus.Planner, "no model for the planner"},
		"an attempt":                {nexus.AttemptStarted{Attempt: "T1.1"}, "", nexus.Coder, "no model for the coder"},
		"an attempt that continues": {nexus.AttemptResumed{Attempt: "T1.1"}, "", nexus.Coder, "no model for the coder"},
		"beside a merge":            {nexus.AttemptResumed{Attempt: "T1.1"}, "T1.1-merge", nexus.Coder, "no model for the coder"},
		"a merge that continues":    {nexus.AttemptResumed{Attempt: "T1.1-merge"}, "T1.1-merge", "", "is gone, with 2 commits on it"},
		"a landing":                 {nexus.LandingStarted{Attempt: "T1.1"}, "T1.1-merge", "", "is gone, with 2 commits on it"},
		"nothing that is known":     {nexus.RunPaused{}, "", "", "unknown intent run.paused"},
	} {
		s, base, _ := workertest.NewTestWorker(t)
		var asked nexus.Role
		s.Sessions.Roles = map[nexus.Role]agent.RoleDefinition{nexus.Planner: {}, nexus.Coder: {}}
		s.Sessions.Pick = func(role nexus.Role, _ nexus.Tier, _ string) (worker.PricedModel, error) {
			asked = role
			return worker.PricedModel{}, &nexus.Error{Code: nexus.CodeNoKey, Message: "no model for the " + string(role)}
		}
		a := &state.AttemptState{ID: "T1.1", Task: "T1", Base: base, Strategy: nexus.NoTest}
		v := state.WorkerView{
			Run: "r", Tip: base, Landings: 2, Goal: nexus.GoalAccepted{Goal: nexus.Goal{Text: "add one"}, Base: base}, Limits: nexus.Limits{Rounds: 3}, Attempt: a,
			Task: state.TaskState{Task: nexus.Task{ID: "T1", Title: "One", Kind: nexus.DocsTask}},
		}
		if c.merge != "" {
			v.Merge = &state.AttemptState{ID: c.merge, Base: base}
		}
		facts, err := (&LocalExecutor{Worker: s}).ExecuteIntent(t.Context(), c.intent, v, &desk{})
		if err == nil || !strings.Contains(err.Error(), c.says) || asked != c.role || len(facts) > 0 {
			t.Errorf("%s: %v, %v; asked is %q", name, facts, err, asked)
		}
	}
}
