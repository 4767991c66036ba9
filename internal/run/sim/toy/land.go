package toy

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

// land puts the accepted work on the branch, or returns why not. It first checks whether a dead
// process did so already.
func (x *Actor) land(ctx context.Context) ([]nexus.Fact, error) {
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
		return []nexus.Fact{x.arrived(tip, there)}, nil
	}
	merged, conflicts := Merge(x.at(a.Base), x.at(onto), tree(a.Tree))
	refused := nexus.TrainRefused{Task: a.Task, Attempt: a.ID, Onto: onto}
	if len(conflicts) > 0 {
		resolved, err := x.resolve(ctx, merged)
		if err != nil {
			return nil, err
		}
		if merged = resolved; strings.Contains(string(merged), "|") {
			refused.Conflict, refused.Why = true, "the merger left it"
			return []nexus.Fact{refused}, nil
		}
	}
	if string(merged) != a.Tree {
		sum, evidence, err := x.judgeMerged(ctx, merged)
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
		ok, err := x.reviewMerged(ctx, merged)
		if err != nil {
			return nil, err
		}
		if !ok {
			refused.Conflict, refused.Why = true, "the reviewer rejects it"
			return []nexus.Fact{refused}, nil
		}
	}
	return x.advance(merged)
}

// reviewMerged lets a reviewer read the merger's result, once.
func (x *Actor) reviewMerged(ctx context.Context, merged tree) (bool, error) {
	id := nexus.SessionID(x.a.ID + "/reviewer.1")
	old := x.a.Session(id)
	if old == nil || !old.Over {
		why := ""
		if old == nil || len(old.Messages) == 0 {
			why = "brief"
		}
		if _, err := x.converse(ctx, nexus.Reviewer, id, why); err != nil {
			return false, err
		}
		old = x.a.Session(id)
	}
	f := nexus.ReviewGiven{Attempt: x.a.ID, Tree: string(merged), Reviewed: old.Outcome == nexus.Accepted, Summary: "as reviewed"}
	if f.Approved = f.Reviewed && !x.roll(x.scenario.reject); f.Reviewed && !f.Approved {
		f.Findings = []nexus.Finding{{Message: "one side is lost", Severity: nexus.Major}}
	}
	return f.Reviewed && !repair.Rejects(f, x.View.Limits.MajorsBlock), x.record(ctx, f)
}

// advance moves the branch. The process may die, or the machinery fail, before and after.
func (x *Actor) advance(merged tree) ([]nexus.Fact, error) {
	if err := x.fault(); err != nil {
		return nil, err
	}
	id := x.commit(merged, x.View.Tip, x.View.Attempt.ID)
	if err := x.move(id, x.View.Tip); err != nil {
		return nil, err
	}
	if err := x.fault(); err != nil {
		return nil, err
	}
	return []nexus.Fact{x.arrived(id, commit{tree: merged, parent: x.View.Tip})}, nil
}

func (x *Actor) arrived(id string, c commit) nexus.Fact {
	a := x.View.Attempt
	return nexus.TrainLanded{
		Task: a.Task, Attempt: a.ID, Commit: id, Tree: string(c.tree), Parent: c.parent, Resolved: len(x.a.Sessions) > 0,
	}
}

// resolve lets the merger work on the conflicted tree.
func (x *Actor) resolve(ctx context.Context, conflicted tree) (tree, error) {
	x.restore(string(conflicted))
	id := nexus.SessionID(x.a.ID + "/merger.1")
	if s := x.a.Session(id); s == nil || !s.Over {
		why := ""
		if s == nil || len(s.Messages) == 0 {
			why = "brief"
		}
		if _, err := x.converse(ctx, nexus.Merger, id, why); err != nil {
			return "", err
		}
	}
	return x.tree(), nil
}

func (x *Actor) judgeMerged(ctx context.Context, t tree) (nexus.VerdictGiven, []nexus.Evidence, error) {
	a := x.View.Attempt
	evidence, facts, err := x.gates(ctx, t, true, x.View.Task.Criteria, func(f nexus.GateJudged) nexus.GateJudged { f.Task = a.Task; return f })
	if err != nil {
		return nexus.VerdictGiven{}, nil, err
	}
	if err := x.Desk.Record(ctx, facts...); err != nil {
		return nexus.VerdictGiven{}, nil, err
	}
	return repair.SumVerdict(a.ID, x.View.Task.Task, string(t), evidence), evidence, nil
}

// result checks the run's last tree.
func (x *Actor) result(ctx context.Context) ([]nexus.Fact, error) {
	t := x.at(x.View.Tip)
	var criteria []nexus.Criterion
	for _, task := range x.View.Landed {
		criteria = append(criteria, task.Criteria...)
	}
	evidence, _, err := x.gates(ctx, t, true, criteria, func(f nexus.GateJudged) nexus.GateJudged { return f })
	if err != nil {
		return nil, err
	}
	v := nexus.Verdict{Tree: string(t), Evidence: evidence, Passed: true}
	for _, e := range evidence {
		if !e.Passed() {
			v.Passed, v.Why = false, fmt.Sprintf("gate %s: %s", e.Gate, e.State)
		}
	}
	return []nexus.Fact{nexus.ResultGated{Verdict: v}}, nil
}

// publish publishes the branch, and moves the target to it if the goal asks for that. It can be
// repeated.
func (x *Actor) publish(to string) ([]nexus.Fact, error) {
	if err := x.fault(); err != nil {
		return nil, err
	}
	x.mu.Lock()
	x.published = to
	x.mu.Unlock()
	if err := x.fault(); err != nil {
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
	return []nexus.Fact{f}, x.fault()
}
