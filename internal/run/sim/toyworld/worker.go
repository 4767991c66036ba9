package toyworld

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

// SimulatedWorker is a worker of the virtual world. It works like the real ones: it records before it
// continues, and continues from the record.
type SimulatedWorker struct {
	*SimulatedWorld
	Desk worker.AttemptFactRecorder
	Nap  func(context.Context, time.Duration) error
	Now  func() time.Time
	View state.WorkerView
	Open func(id nexus.AttemptID, rev string) // receives each worktree that is reset to a revision
	a    *state.AttemptState                  // owner of its sessions; a private copy
	done []nexus.Fact                         // recorded together with the next facts
	learningCoder
}

// ExecuteIntent executes an intent.
func (x *SimulatedWorker) ExecuteIntent(ctx context.Context, intent nexus.Fact) ([]nexus.Fact, error) {
	if err := x.waitFor(ctx, time.Second); err != nil {
		return nil, err
	}
	switch f := intent.(type) {
	case nexus.PlanningStarted:
		x.a = x.View.Attempt
		return x.makePlan(ctx)
	case nexus.ComplexityRatingStarted:
		x.a = x.View.Attempt
		return x.rateTasks(ctx, f)
	case nexus.FinalGatesStarted:
		return x.judgeFinalTree(ctx)
	case nexus.CriterionDiagnosisStarted:
		x.a = x.View.Attempt
		return x.diagnoseFaults(ctx, f)
	case nexus.TaskSplitStarted:
		x.a = x.View.Attempt
		return x.splitTask(ctx, f)
	case nexus.AdditionPlanningStarted:
		x.a = x.View.Attempt
		return x.makeAddedTasks(ctx, f)
	case nexus.ResultPublishingStarted:
		return x.publishBranch(f.Commit)
	case nexus.LandingStarted:
		x.a = x.View.Merge
		return x.landWork(ctx)
	case nexus.AttemptResumed:
		if m := x.View.Merge; m != nil && m.ID == f.Attempt {
			x.a = m
			return x.landWork(ctx)
		}
	default:
	}
	x.a = x.View.Attempt
	return x.makeAttempt(ctx)
}

// waitFor lets time pass; much of it when the world is slow.
func (x *SimulatedWorker) waitFor(ctx context.Context, d time.Duration) error {
	if x.drawChance(x.scenario.slow) {
		d *= time.Duration(2 + x.drawIndex(10))
	}
	if err := x.Nap(ctx, d/2+time.Duration(x.drawIndex(int(d)))); err != nil {
		return err
	}
	return x.injectFault()
}

// recordFacts records facts, after those that have gathered.
func (x *SimulatedWorker) recordFacts(ctx context.Context, facts ...nexus.Fact) error {
	all := append(x.done, facts...)
	x.done = nil
	if err := x.Desk.Record(ctx, all...); err != nil {
		return err
	}
	x.applyFacts(facts)
	return nil
}

func (x *SimulatedWorker) applyFacts(facts []nexus.Fact) {
	for _, f := range facts {
		x.a.Apply(f, x.Now())
	}
}

// makePlan makes the scenario's plan.
func (x *SimulatedWorker) makePlan(ctx context.Context) ([]nexus.Fact, error) {
	outcome, err := x.askRole(ctx, nexus.Planner)
	switch {
	case err != nil:
		return nil, err
	case outcome != nexus.Accepted:
		return []nexus.Fact{nexus.PlanningFailed{Why: "the planner did not finish", Outcome: outcome}}, nil
	case x.drawChance(x.scenario.noPlan):
		return []nexus.Fact{nexus.PlanningFailed{Why: "it makes no sense"}}, nil
	}
	if x.scenario.Consent.Wanted && len(x.View.Drafts)%2 == 0 {
		return PlanFacts(x.scenario.DraftPlan(len(x.View.Drafts))), nil
	}
	return PlanFacts(x.scenario.Tasks), nil
}

// rateTasks rates the difficulty of tasks, of some of them at least.
func (x *SimulatedWorker) rateTasks(ctx context.Context, f nexus.ComplexityRatingStarted) ([]nexus.Fact, error) {
	outcome, err := x.askRole(ctx, nexus.Router)
	switch {
	case err != nil:
		return nil, err
	case outcome != nexus.Accepted:
		return []nexus.Fact{nexus.ComplexityRatingEnded{Attempt: x.a.ID, Why: "it did not answer"}}, nil
	}
	told := nexus.ComplexityRatingEnded{Attempt: x.a.ID}
	for _, id := range f.Tasks {
		if c := []nexus.Complexity{nexus.Simple, nexus.Medium, nexus.Complex, nexus.Expert, "odd"}[x.drawIndex(5)]; x.drawIndex(3) > 0 {
			told.Routes = append(told.Routes, nexus.ComplexityRating{Task: id, Complexity: c, Why: "it looks so"})
		}
	}
	return []nexus.Fact{told}, nil
}

// PlanFacts proposes a plan of these tasks.
func PlanFacts(tasks []nexus.Task) []nexus.Fact {
	facts := []nexus.Fact{nexus.PlanProposed{Plan: "blob", Tasks: len(tasks)}}
	for _, t := range tasks {
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	return facts
}

// makeAttempt makes an attempt, from its start or from the point at which another process stopped.
func (x *SimulatedWorker) makeAttempt(ctx context.Context) ([]nexus.Fact, error) {
	if ended, err := x.prepareWorktree(ctx); err != nil || ended != nil {
		return ended, err
	}
	for range 1000 {
		step, err := x.decideReplan(ctx, repair.NextRepairStep(&x.View.Task, x.a, x.View.Limits, repair.AttemptTreeFacts{Tested: x.hasOwnTest()}))
		if err != nil {
			return nil, err
		}
		switch step.Move {
		case repair.Write:
			err = x.writeRound(ctx, step)
		case repair.Judge:
			err = x.recordGates(ctx)
		case repair.Afresh:
			err = x.discardStartingTree(ctx, step.Why)
		case repair.Prove:
			err = x.proveTests(ctx)
		case repair.Verify:
			err = x.verifyWork(ctx)
		case repair.Review:
			err = x.reviewWork(ctx)
		case repair.End:
			return x.endAttempt(step)
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

// restoreTree resets the worktree to the attempt's last snapshot, or to its start.
func (x *SimulatedWorker) restoreTree(start string) {
	if x.a.Snapshot.Commit != "" {
		start = x.a.Snapshot.Commit
	}
	x.Open(x.a.ID, start)
	x.setTree(x.treeAt(start))
}

func (x *SimulatedWorker) setTree(t toyTree) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.trees[x.a.ID] = t
}

func (x *SimulatedWorker) currentTree() toyTree {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.trees[x.a.ID]
}

// endAttempt closes the attempt.
func (x *SimulatedWorker) endAttempt(step repair.RepairStep) ([]nexus.Fact, error) {
	if err := x.injectFault(); err != nil {
		return nil, err
	}
	t := x.currentTree()
	f := nexus.AttemptEnded{Attempt: x.a.ID, Outcome: step.Outcome, Category: step.Category, Why: step.Why, Tree: string(t)}
	if f.Category == nexus.IsolationViolation {
		f.Commit = x.makeCommit(t, x.a.Base, "")
	}
	if f.Outcome == nexus.Accepted {
		if judged := x.a.LastRound().Verdict.Tree; judged != f.Tree {
			x.wrong("%s is accepted with tree %q, and %q was judged", x.a.ID, f.Tree, judged)
		}
		f.Commit = x.makeCommit(t, x.a.Base, "")
	}
	return []nexus.Fact{f}, nil
}

// writeRound lets a role write, in a new round or in the present one.
func (x *SimulatedWorker) writeRound(ctx context.Context, step repair.RepairStep) error {
	id := nexus.SessionID(fmt.Sprintf("%s/%s.1", x.a.ID, step.Role))
	if !step.Resume {
		f := nexus.RoundStarted{Attempt: x.a.ID, Round: len(x.a.Rounds) + 1, Role: step.Role, Cause: step.Cause, Session: id}
		if err := x.recordFacts(ctx, f); err != nil {
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
	if _, err := x.haveConversation(ctx, step.Role, id, why); err != nil {
		return err
	}
	return x.reportIsolationBreach(ctx, step.Role)
}

// recordGates runs the gates on the tree and records their results.
func (x *SimulatedWorker) recordGates(ctx context.Context) error {
	evidence, facts, err := x.judgeTree(ctx, x.currentTree(), false, x.View.Task.Criteria, func(f nexus.GateJudged) nexus.GateJudged { f.Attempt = x.a.ID; return f })
	if err != nil {
		return err
	}
	if x.hasOwnTest() && x.currentTree().ContentOf("shared") != x.treeAt(x.a.Base).ContentOf("shared") {
		facts = append(facts, nexus.TamperSuspected{Attempt: x.a.ID, Tree: string(x.currentTree()), Findings: []nexus.Finding{{Message: "a test is gone"}}})
	}
	sum := repair.CombineVerdict(x.a.ID, x.View.Task.Task, string(x.currentTree()), evidence)
	sum.Own = x.isOwnFailure(sum)
	return x.recordFacts(ctx, append(facts, sum)...)
}

// judgeTree runs the gates on a tree and stops at the first red one.
func (x *SimulatedWorker) judgeTree(ctx context.Context, t toyTree, paid bool, criteria []nexus.Criterion, mark func(nexus.GateJudged) nexus.GateJudged) ([]nexus.GateEvidence, []nexus.Fact, error) {
	ctx, stop := x.Desk.Spare(ctx, paid)
	defer stop()
	var all []nexus.GateEvidence
	var facts []nexus.Fact
	for _, gate := range judgingGates(criteria) {
		e, cached := x.Desk.Known(ctx, string(t), gate)
		if !cached {
			of := mark(nexus.GateJudged{})
			if err := x.Desk.Record(ctx, nexus.GateStarted{Attempt: of.Attempt, Task: of.Task, Gate: gate}); err != nil {
				return nil, nil, err
			}
			if err := x.waitFor(ctx, time.Minute); err != nil {
				return nil, nil, err
			}
			e = x.judgeGate(t, gate)
		}
		all = append(all, e)
		facts = append(facts, mark(nexus.GateJudged{Evidence: e, Cached: cached}))
		if e.State == nexus.Fail || e.State == nexus.Timeout || e.State == nexus.Environmental {
			break
		}
	}
	return all, facts, nil
}

// reviewWork lets a reviewer read, in a conversation of its own.
func (x *SimulatedWorker) reviewWork(ctx context.Context) error {
	done := 0
	for _, r := range x.a.Rounds {
		done += len(r.Reviews)
	}
	id := nexus.SessionID(fmt.Sprintf("%s/%s.%d", x.a.ID, nexus.Reviewer, done+1))
	outcome := nexus.Outcome("")
	if old := x.a.SessionByID(id); old == nil || !old.Over {
		why := ""
		if old == nil || len(old.Messages) == 0 {
			why = "brief"
		}
		var err error
		if outcome, err = x.haveConversation(ctx, nexus.Reviewer, id, why); err != nil {
			return err
		}
	} else {
		outcome = old.Outcome
	}
	f := nexus.ReviewerVerdictGiven{Attempt: x.a.ID, Tree: string(x.currentTree()), Summary: "as reviewed"}
	f.Reviewed = outcome == nexus.Accepted && !x.drawChance(x.scenario.blind)
	f.Approved = f.Reviewed && !x.drawChance(x.scenario.reject)
	if f.Reviewed && !f.Approved {
		for range x.drawIndex(4) {
			f.Findings = append(f.Findings, nexus.Finding{Message: x.newID("not so "), Severity: nexus.Major})
		}
	} else if f.Reviewed && x.drawChance(x.scenario.reject) {
		for range x.drawIndex(3) { // approved with remarks
			f.Findings = append(f.Findings, nexus.Finding{Message: x.newID("perhaps not "), Severity: nexus.Major})
		}
	}
	return x.recordFacts(ctx, f)
}

// haveConversation continues a conversation until its role submits. If why is not empty it is the first
// message.
func (x *SimulatedWorker) haveConversation(ctx context.Context, role nexus.Role, id nexus.SessionID, why string) (nexus.Outcome, error) {
	var facts []nexus.Fact
	if x.a.SessionByID(id) == nil {
		facts = append(facts, nexus.SessionStarted{Session: id, Attempt: x.a.ID, Role: role, Model: "toy/" + string(role), Prompt: "blob"})
	}
	if why != "" {
		facts = append(facts, nexus.PromptSent{Session: id, Message: "say " + why, Why: why})
	}
	if err := x.recordFacts(ctx, facts...); err != nil {
		return "", err
	}
	s := x.a.SessionByID(id)
	if s.Pending {
		if err := x.runTools(ctx, s); err != nil {
			return "", err
		}
	}
	for {
		switch n := len(s.Messages); {
		case strings.HasSuffix(s.Messages[n-1], " done"):
			return x.submitWork(ctx, s, nexus.Accepted)
		case x.View.Limits.Turns > 0 && s.Turns >= x.View.Limits.Turns:
			return x.submitWork(ctx, s, nexus.Exhausted)
		}
		if err := x.takeTurn(ctx, s); err != nil {
			return "", err
		}
		if s.Pending {
			if err := x.runTools(ctx, s); err != nil {
				return "", err
			}
		}
	}
}

func (x *SimulatedWorker) submitWork(ctx context.Context, s *state.AgentSessionState, o nexus.Outcome) (nexus.Outcome, error) {
	if o == nexus.Accepted && x.drawChance(x.scenario.giveUp) {
		o = nexus.GaveUp
	}
	f := nexus.SessionEnded{Session: s.Session, Outcome: o}
	if o != nexus.Accepted {
		f.Why = "it is " + string(o)
	}
	return o, x.recordFacts(ctx, f)
}

// runTools runs the model's tool calls on the last snapshot of the tree, and gathers the results.
func (x *SimulatedWorker) runTools(ctx context.Context, s *state.AgentSessionState) error {
	if x.drawChance(x.scenario.ask) {
		q := nexus.QuestionAsked{
			ID: x.newID("Q"), Attempt: x.a.ID, Text: fmt.Sprintf("in %s after turn %d?", s.Session, s.Turns), Fallback: "no",
		}
		if x.drawIndex(2) == 0 {
			q.Deadline = x.Now().Add(time.Hour)
		}
		if _, err := x.Desk.Ask(ctx, q); err != nil {
			return err
		}
	}
	if err := x.waitFor(ctx, 5*time.Second); err != nil {
		return err
	}
	facts := []nexus.Fact{nexus.ToolResultsSent{Session: s.Session, Message: "results"}}
	writes := s.Role == nexus.Coder || s.Role == nexus.Tester || s.Role == nexus.Merger
	if writes && !x.drawChance(x.scenario.same) {
		x.setTree(x.editTree(s.Role))
		if err := x.injectFault(); err != nil {
			return err
		}
		t := x.currentTree()
		facts = append(facts, nexus.TreeSnapshotted{Attempt: x.a.ID, Commit: x.makeCommit(t, x.a.Base, ""), Tree: string(t)})
	}
	x.applyFacts(facts)
	x.done = facts // recorded with the next reservation, as the agent does
	return nil
}

// editTree makes the changes of the role.
func (x *SimulatedWorker) editTree(role nexus.Role) toyTree {
	if x.scenario.know != nil && role == nexus.Coder {
		return x.writeKnownFacts()
	}
	t, task := x.currentTree(), x.View.Task
	content := x.newID(string(x.a.ID) + ":")
	if x.scenario.stubborn[task.ID] || x.drawChance(x.scenario.bad) {
		content += "-"
	}
	if role == nexus.Merger {
		for f := range t.EachFile() {
			if strings.Contains(f.Content, "|") {
				t = t.WithFile(f.Name, content)
			}
		}
		return t
	}
	if role == nexus.Tester || x.drawIndex(3) == 0 {
		t = t.WithFile(string(task.ID)+"_test", content)
	}
	if role == nexus.Coder {
		t = t.WithFile(task.Files[x.drawIndex(len(task.Files))], content)
	}
	if x.drawChance(x.scenario.stray) {
		t = t.WithFile("shared", content)
	}
	return t
}
