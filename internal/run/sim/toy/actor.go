package toy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// Actor is a worker of the virtual world. It works like the real ones: it records before it
// continues, and continues from the record.
type Actor struct {
	*Environment
	Desk worker.Desk
	Nap  func(context.Context, time.Duration) error
	Now  func() time.Time
	View state.View
	Open func(id nexus.AttemptID, rev string) // receives each worktree that is reset to a revision
	a    *state.Attempt                       // owner of its sessions; a private copy
	done []nexus.Fact                         // recorded together with the next facts
	learner
}

// Act executes an intent.
func (x *Actor) Act(ctx context.Context, intent nexus.Fact) ([]nexus.Fact, error) {
	if err := x.wait(ctx, time.Second); err != nil {
		return nil, err
	}
	switch f := intent.(type) {
	case nexus.PlanSought:
		x.a = x.View.Attempt
		return x.plan(ctx)
	case nexus.RoutesSought:
		x.a = x.View.Attempt
		return x.route(ctx, f)
	case nexus.ResultReviewed:
		return x.result(ctx)
	case nexus.FaultsSought:
		x.a = x.View.Attempt
		return x.diagnose(ctx, f)
	case nexus.SplitSought:
		x.a = x.View.Attempt
		return x.split(ctx, f)
	case nexus.AdditionSought:
		x.a = x.View.Attempt
		return x.add(ctx, f)
	case nexus.ResultOffered:
		return x.publish(f.Commit)
	case nexus.TrainDeparted:
		x.a = x.View.Merge
		return x.land(ctx)
	case nexus.AttemptResumed:
		if m := x.View.Merge; m != nil && m.ID == f.Attempt {
			x.a = m
			return x.land(ctx)
		}
	default:
	}
	x.a = x.View.Attempt
	return x.work(ctx)
}

// wait lets time pass; much of it when the world is slow.
func (x *Actor) wait(ctx context.Context, d time.Duration) error {
	if x.roll(x.scenario.slow) {
		d *= time.Duration(2 + x.pick(10))
	}
	if err := x.Nap(ctx, d/2+time.Duration(x.pick(int(d)))); err != nil {
		return err
	}
	return x.fault()
}

// record records facts, after those that have gathered.
func (x *Actor) record(ctx context.Context, facts ...nexus.Fact) error {
	all := append(x.done, facts...)
	x.done = nil
	if err := x.Desk.Record(ctx, all...); err != nil {
		return err
	}
	x.apply(facts)
	return nil
}

func (x *Actor) apply(facts []nexus.Fact) {
	for _, f := range facts {
		x.a.Apply(f, x.Now())
	}
}

// plan makes the scenario's plan.
func (x *Actor) plan(ctx context.Context) ([]nexus.Fact, error) {
	outcome, err := x.consult(ctx, nexus.Planner)
	switch {
	case err != nil:
		return nil, err
	case outcome != nexus.Accepted:
		return []nexus.Fact{nexus.PlanFailed{Why: "the planner did not finish", Outcome: outcome}}, nil
	case x.roll(x.scenario.noPlan):
		return []nexus.Fact{nexus.PlanFailed{Why: "it makes no sense"}}, nil
	}
	if x.scenario.Consent.Wanted && len(x.View.Drafts)%2 == 0 {
		return Planned(x.scenario.Draft(len(x.View.Drafts))), nil
	}
	return Planned(x.scenario.Tasks), nil
}

// route rates the difficulty of tasks, of some of them at least.
func (x *Actor) route(ctx context.Context, f nexus.RoutesSought) ([]nexus.Fact, error) {
	outcome, err := x.consult(ctx, nexus.Router)
	switch {
	case err != nil:
		return nil, err
	case outcome != nexus.Accepted:
		return []nexus.Fact{nexus.RoutesTold{Attempt: x.a.ID, Why: "it did not answer"}}, nil
	}
	told := nexus.RoutesTold{Attempt: x.a.ID}
	for _, id := range f.Tasks {
		if c := []nexus.Complexity{nexus.Simple, nexus.Medium, nexus.Complex, nexus.Expert, "odd"}[x.pick(5)]; x.pick(3) > 0 {
			told.Routes = append(told.Routes, nexus.Route{Task: id, Complexity: c, Why: "it looks so"})
		}
	}
	return []nexus.Fact{told}, nil
}

// Planned proposes a plan of these tasks.
func Planned(tasks []nexus.Task) []nexus.Fact {
	facts := []nexus.Fact{nexus.PlanProposed{Plan: "blob", Tasks: len(tasks)}}
	for _, t := range tasks {
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	return facts
}

// work makes an attempt, from its start or from the point at which another process stopped.
func (x *Actor) work(ctx context.Context) ([]nexus.Fact, error) {
	if ended, err := x.start(ctx); err != nil || ended != nil {
		return ended, err
	}
	for range 1000 {
		step, err := x.reconsider(ctx, repair.Next(&x.View.Task, x.a, x.View.Limits, repair.Facts{Tested: x.tested()}))
		if err != nil {
			return nil, err
		}
		switch step.Move {
		case repair.Write:
			err = x.write(ctx, step)
		case repair.Judge:
			err = x.judged(ctx)
		case repair.Afresh:
			err = x.afresh(ctx, step.Why)
		case repair.Prove:
			err = x.prove(ctx)
		case repair.Verify:
			err = x.verify(ctx)
		case repair.Review:
			err = x.review(ctx)
		case repair.End:
			return x.end(step)
		default:
			x.wrong("no step follows in attempt %s", x.a.ID)
			return nil, ErrDead
		}
		if err != nil {
			return nil, err
		}
	}
	x.wrong("attempt %s takes a thousand steps", x.a.ID)
	return nil, ErrDead
}

// restore resets the worktree to the attempt's last snapshot, or to its start.
func (x *Actor) restore(start string) {
	if x.a.Snapshot.Commit != "" {
		start = x.a.Snapshot.Commit
	}
	x.Open(x.a.ID, start)
	x.put(x.at(start))
}

func (x *Actor) put(t tree) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.trees[x.a.ID] = t
}

func (x *Actor) tree() tree {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.trees[x.a.ID]
}

// end closes the attempt.
func (x *Actor) end(step repair.Step) ([]nexus.Fact, error) {
	if err := x.fault(); err != nil {
		return nil, err
	}
	t := x.tree()
	f := nexus.AttemptEnded{Attempt: x.a.ID, Outcome: step.Outcome, Category: step.Category, Why: step.Why, Tree: string(t)}
	if f.Category == nexus.IsolationViolation {
		f.Commit = x.commit(t, x.a.Base, "")
	}
	if f.Outcome == nexus.Accepted {
		if judged := x.a.LastRound().Verdict.Tree; judged != f.Tree {
			x.wrong("%s is accepted with tree %q, and %q was judged", x.a.ID, f.Tree, judged)
		}
		f.Commit = x.commit(t, x.a.Base, "")
	}
	return []nexus.Fact{f}, nil
}

// write lets a role write, in a new round or in the present one.
func (x *Actor) write(ctx context.Context, step repair.Step) error {
	id := nexus.SessionID(fmt.Sprintf("%s/%s.1", x.a.ID, step.Role))
	if !step.Resume {
		f := nexus.RoundStarted{Attempt: x.a.ID, Round: len(x.a.Rounds) + 1, Role: step.Role, Cause: step.Cause, Session: id}
		if err := x.record(ctx, f); err != nil {
			return err
		}
	}
	why := ""
	if !x.a.LastRound().Prompted {
		why = "brief"
		if step.Cause != "" {
			why = "repair"
			if len(step.Findings) == 0 && step.Why == "" {
				x.wrong("%s is told to repair and not what: %s", x.a.ID, step.Cause)
			}
		}
	}
	if _, err := x.converse(ctx, step.Role, id, why); err != nil {
		return err
	}
	return x.isolate(ctx, step.Role)
}

// judged runs the gates on the tree and records their results.
func (x *Actor) judged(ctx context.Context) error {
	evidence, facts, err := x.gates(ctx, x.tree(), false, x.View.Task.Criteria, func(f nexus.GateJudged) nexus.GateJudged { f.Attempt = x.a.ID; return f })
	if err != nil {
		return err
	}
	if x.tested() && x.tree().Of("shared") != x.at(x.a.Base).Of("shared") {
		facts = append(facts, nexus.TamperSuspected{Attempt: x.a.ID, Tree: string(x.tree()), Findings: []nexus.Finding{{Message: "a test is gone"}}})
	}
	sum := repair.SumVerdict(x.a.ID, x.View.Task.Task, string(x.tree()), evidence)
	sum.Own = x.own(sum)
	return x.record(ctx, append(facts, sum)...)
}

// gates runs the gates on a tree and stops at the first red one.
func (x *Actor) gates(ctx context.Context, t tree, paid bool, criteria []nexus.Criterion, mark func(nexus.GateJudged) nexus.GateJudged) ([]nexus.Evidence, []nexus.Fact, error) {
	ctx, stop := x.Desk.Spare(ctx, paid)
	defer stop()
	var all []nexus.Evidence
	var facts []nexus.Fact
	for _, gate := range judges(criteria) {
		e, cached := x.Desk.Known(ctx, string(t), gate)
		if !cached {
			of := mark(nexus.GateJudged{})
			if err := x.Desk.Record(ctx, nexus.GateStarted{Attempt: of.Attempt, Task: of.Task, Gate: gate}); err != nil {
				return nil, nil, err
			}
			if err := x.wait(ctx, time.Minute); err != nil {
				return nil, nil, err
			}
			e = x.judge(t, gate)
		}
		all = append(all, e)
		facts = append(facts, mark(nexus.GateJudged{Evidence: e, Cached: cached}))
		if e.State == nexus.Fail || e.State == nexus.Timeout || e.State == nexus.Environmental {
			break
		}
	}
	return all, facts, nil
}

// review lets a reviewer read, in a conversation of its own.
func (x *Actor) review(ctx context.Context) error {
	done := 0
	for _, r := range x.a.Rounds {
		done += len(r.Reviews)
	}
	id := nexus.SessionID(fmt.Sprintf("%s/%s.%d", x.a.ID, nexus.Reviewer, done+1))
	outcome := nexus.Outcome("")
	if old := x.a.Session(id); old == nil || !old.Over {
		why := ""
		if old == nil || len(old.Messages) == 0 {
			why = "brief"
		}
		var err error
		if outcome, err = x.converse(ctx, nexus.Reviewer, id, why); err != nil {
			return err
		}
	} else {
		outcome = old.Outcome
	}
	f := nexus.ReviewGiven{Attempt: x.a.ID, Tree: string(x.tree()), Summary: "as reviewed"}
	f.Reviewed = outcome == nexus.Accepted && !x.roll(x.scenario.blind)
	f.Approved = f.Reviewed && !x.roll(x.scenario.reject)
	if f.Reviewed && !f.Approved {
		for range x.pick(4) {
			f.Findings = append(f.Findings, nexus.Finding{Message: x.id("not so "), Severity: nexus.Major})
		}
	} else if f.Reviewed && x.roll(x.scenario.reject) {
		for range x.pick(3) { // approved with remarks
			f.Findings = append(f.Findings, nexus.Finding{Message: x.id("perhaps not "), Severity: nexus.Major})
		}
	}
	return x.record(ctx, f)
}

// converse continues a conversation until its role submits. If why is not empty it is the first
// message.
func (x *Actor) converse(ctx context.Context, role nexus.Role, id nexus.SessionID, why string) (nexus.Outcome, error) {
	var facts []nexus.Fact
	if x.a.Session(id) == nil {
		facts = append(facts, nexus.SessionStarted{Session: id, Attempt: x.a.ID, Role: role, Model: "toy/" + string(role), Prompt: "blob"})
	}
	if why != "" {
		facts = append(facts, nexus.PromptSent{Session: id, Message: "say " + why, Why: why})
	}
	if err := x.record(ctx, facts...); err != nil {
		return "", err
	}
	s := x.a.Session(id)
	if s.Pending {
		if err := x.tools(ctx, s); err != nil {
			return "", err
		}
	}
	for {
		switch n := len(s.Messages); {
		case strings.HasSuffix(s.Messages[n-1], " done"):
			return x.handIn(ctx, s, nexus.Accepted)
		case x.View.Limits.Turns > 0 && s.Turns >= x.View.Limits.Turns:
			return x.handIn(ctx, s, nexus.Exhausted)
		}
		if err := x.turn(ctx, s); err != nil {
			return "", err
		}
		if s.Pending {
			if err := x.tools(ctx, s); err != nil {
				return "", err
			}
		}
	}
}

func (x *Actor) handIn(ctx context.Context, s *state.Session, o nexus.Outcome) (nexus.Outcome, error) {
	if o == nexus.Accepted && x.roll(x.scenario.giveUp) {
		o = nexus.GaveUp
	}
	f := nexus.SessionEnded{Session: s.Session, Outcome: o}
	if o != nexus.Accepted {
		f.Why = "it is " + string(o)
	}
	return o, x.record(ctx, f)
}

// tools runs the model's tool calls on the last snapshot of the tree, and gathers the results.
func (x *Actor) tools(ctx context.Context, s *state.Session) error {
	if x.roll(x.scenario.ask) {
		q := nexus.QuestionAsked{
			ID: x.id("Q"), Attempt: x.a.ID, Text: fmt.Sprintf("in %s after turn %d?", s.Session, s.Turns), Fallback: "no",
		}
		if x.pick(2) == 0 {
			q.Deadline = x.Now().Add(time.Hour)
		}
		if _, err := x.Desk.Ask(ctx, q); err != nil {
			return err
		}
	}
	if err := x.wait(ctx, 5*time.Second); err != nil {
		return err
	}
	facts := []nexus.Fact{nexus.ToolsAnswered{Session: s.Session, Message: "results"}}
	writes := s.Role == nexus.Coder || s.Role == nexus.Tester || s.Role == nexus.Merger
	if writes && !x.roll(x.scenario.same) {
		x.put(x.edit(s.Role))
		if err := x.fault(); err != nil {
			return err
		}
		t := x.tree()
		facts = append(facts, nexus.TreeSnapshotted{Attempt: x.a.ID, Commit: x.commit(t, x.a.Base, ""), Tree: string(t)})
	}
	x.apply(facts)
	x.done = facts // recorded with the next reservation, as the agent does
	return nil
}

// edit makes the changes of the role.
func (x *Actor) edit(role nexus.Role) tree {
	if x.scenario.know != nil && role == nexus.Coder {
		return x.learn()
	}
	t, task := x.tree(), x.View.Task
	content := x.id(string(x.a.ID) + ":")
	if x.scenario.stubborn[task.ID] || x.roll(x.scenario.bad) {
		content += "-"
	}
	if role == nexus.Merger {
		for f := range t.Files() {
			if strings.Contains(f.Content, "|") {
				t = t.With(f.Name, content)
			}
		}
		return t
	}
	if role == nexus.Tester || x.pick(3) == 0 {
		t = t.With(string(task.ID)+"_test", content)
	}
	if role == nexus.Coder {
		t = t.With(task.Files[x.pick(len(task.Files))], content)
	}
	if x.roll(x.scenario.stray) {
		t = t.With("shared", content)
	}
	return t
}
