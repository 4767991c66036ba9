package toyworld

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func taskOf(id nexus.AttemptID) nexus.TaskID {
	task, _, _ := strings.Cut(string(id), ".")
	return nexus.TaskID(task)
}

// landWork puts the accepted work on the branch, or returns why not. It first checks whether a dead
// process did so already.
func (x *SimulatedWorker) landWork(ctx context.Context) ([]nexus.Fact, error) {
	a, onto := x.View.Attempt, x.View.Tip
	x.mu.Lock()
	tip := x.tip
	there := x.commits[tip]
	x.mu.Unlock()
	if tip != onto {
		if there.parent != onto || there.attempt != a.ID {
			x.wrong("%s is to land on %s, and the branch is at %s of %s", a.ID, onto, tip, there.attempt)
			return nil, ErrDead
		}
		return []nexus.Fact{x.landedFact(tip, there)}, nil
	}
	merged, conflicts := MergeToyTrees(x.treeAt(a.Base), x.treeAt(onto), toyTree(a.Tree))
	refused := nexus.LandingRejected{Task: a.Task, Attempt: a.ID, Onto: onto}
	if len(conflicts) > 0 {
		resolved, err := x.resolveConflict(ctx, merged)
		if err != nil {
			return nil, err
		}
		if merged = resolved; strings.Contains(string(merged), "|") {
			refused.Conflict, refused.Why = true, "the merger left it"
			return []nexus.Fact{refused}, nil
		}
	}
	if string(merged) != a.Tree {
		sum, evidence, err := x.judgeMergedTree(ctx, merged)
		if err != nil {
			return nil, err
		}
		if sum.State != nexus.Pass {
			refused.Conflict, refused.Why, refused.Tree = len(conflicts) > 0, "red once merged", string(merged)
			for _, e := range evidence {
				refused.Findings = append(refused.Findings, e.Findings...)
			}
			return []nexus.Fact{refused}, nil
		}
	}
	if len(conflicts) > 0 {
		ok, err := x.reviewMergedTree(ctx, merged)
		if err != nil {
			return nil, err
		}
		if !ok {
			refused.Conflict, refused.Why = true, "the reviewer rejects it"
			return []nexus.Fact{refused}, nil
		}
	}
	return x.moveBranch(merged)
}

// reviewMergedTree lets a reviewer read the merger's result, once.
func (x *SimulatedWorker) reviewMergedTree(ctx context.Context, merged toyTree) (bool, error) {
	id := nexus.SessionID(x.a.ID + "/reviewer.1")
	old := x.a.SessionByID(id)
	if old == nil || !old.Over {
		why := ""
		if old == nil || len(old.Messages) == 0 {
			why = "brief"
		}
		if _, err := x.haveConversation(ctx, nexus.Reviewer, id, why); err != nil {
			return false, err
		}
		old = x.a.SessionByID(id)
	}
	f := nexus.ReviewerVerdictGiven{Attempt: x.a.ID, Tree: string(merged), Reviewed: old.Outcome == nexus.Accepted, Summary: "as reviewed"}
	if f.Approved = f.Reviewed && !x.drawChance(x.scenario.reject); f.Reviewed && !f.Approved {
		f.Findings = []nexus.Finding{{Message: "one side is lost", Severity: nexus.Major}}
	}
	return f.Reviewed && !repair.IsRejection(f, x.View.Limits.MajorsBlock), x.recordFacts(ctx, f)
}

// moveBranch moves the branch. The process may die, or the machinery fail, before and after.
func (x *SimulatedWorker) moveBranch(merged toyTree) ([]nexus.Fact, error) {
	if err := x.injectFault(); err != nil {
		return nil, err
	}
	id := x.makeCommit(merged, x.View.Tip, x.View.Attempt.ID)
	if err := x.landCommit(id, x.View.Tip); err != nil {
		return nil, err
	}
	if err := x.injectFault(); err != nil {
		return nil, err
	}
	return []nexus.Fact{x.landedFact(id, toyCommit{tree: merged, parent: x.View.Tip})}, nil
}

func (x *SimulatedWorker) landedFact(id string, c toyCommit) nexus.Fact {
	a := x.View.Attempt
	return nexus.LandingCompleted{
		Task: a.Task, Attempt: a.ID, Commit: id, Tree: string(c.tree), Parent: c.parent, Resolved: len(x.a.Sessions) > 0,
	}
}

// resolveConflict lets the merger work on the conflicted tree.
func (x *SimulatedWorker) resolveConflict(ctx context.Context, conflicted toyTree) (toyTree, error) {
	x.restoreTree(string(conflicted))
	id := nexus.SessionID(x.a.ID + "/merger.1")
	if s := x.a.SessionByID(id); s == nil || !s.Over {
		why := ""
		if s == nil || len(s.Messages) == 0 {
			why = "brief"
		}
		if _, err := x.haveConversation(ctx, nexus.Merger, id, why); err != nil {
			return "", err
		}
	}
	return x.currentTree(), nil
}

func (x *SimulatedWorker) judgeMergedTree(ctx context.Context, t toyTree) (nexus.GatesVerdictGiven, []nexus.GateEvidence, error) {
	a := x.View.Attempt
	evidence, facts, err := x.judgeTree(ctx, t, true, x.View.Task.Criteria, func(f nexus.GateJudged) nexus.GateJudged { f.Task = a.Task; return f })
	if err != nil {
		return nexus.GatesVerdictGiven{}, nil, err
	}
	if err := x.Desk.Record(ctx, facts...); err != nil {
		return nexus.GatesVerdictGiven{}, nil, err
	}
	return repair.CombineVerdict(a.ID, x.View.Task.Task, string(t), evidence), evidence, nil
}

// judgeFinalTree checks the run's last tree.
func (x *SimulatedWorker) judgeFinalTree(ctx context.Context) ([]nexus.Fact, error) {
	t := x.treeAt(x.View.Tip)
	var criteria []nexus.Criterion
	for _, task := range x.View.Landed {
		criteria = append(criteria, task.Criteria...)
	}
	evidence, _, err := x.judgeTree(ctx, t, true, criteria, func(f nexus.GateJudged) nexus.GateJudged { return f })
	if err != nil {
		return nil, err
	}
	v := nexus.GatesVerdict{Tree: string(t), Evidence: evidence, Passed: true}
	for _, e := range evidence {
		if !e.Passed() {
			v.Passed, v.Why = false, fmt.Sprintf("gate %s: %s", e.Gate, e.State)
		}
	}
	return []nexus.Fact{nexus.FinalGatesJudged{Verdict: v}}, nil
}

// publishBranch publishes the branch, and moves the target to it if the goal asks for that. It can be
// repeated.
func (x *SimulatedWorker) publishBranch(to string) ([]nexus.Fact, error) {
	if err := x.injectFault(); err != nil {
		return nil, err
	}
	x.mu.Lock()
	x.published = to
	x.mu.Unlock()
	if err := x.injectFault(); err != nil {
		return nil, err
	}
	if to == "" {
		return nil, errors.New("nothing to publish")
	}
	f := nexus.ResultPublished{Branch: "nexus/run", Commit: to}
	if !x.View.Goal.Land || !x.View.Passed {
		return []nexus.Fact{f}, nil
	}
	x.mu.Lock()
	x.target = to
	x.mu.Unlock()
	f.Target = x.View.Goal.Target
	return []nexus.Fact{f}, x.injectFault()
}
