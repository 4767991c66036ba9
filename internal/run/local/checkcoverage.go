package local

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// checkCoverage lets a checker compare the plan with the goal. Each of its two sessions runs once, even
// if another process continues after a crash. If a session fails, it is unknown whether the
// plan covers the goal, and the plan notes that.
func (p *planningSession) checkCoverage(ctx context.Context, made nexus.Plan, again bool) (*nexus.PlanCoverage, error) {
	statements := spec.StatementsOf(made.Goal)
	if !spec.NeedsCoverageCheck(p.view.Limits.SecondLook, statements) {
		return nil, nil //nolint:nilnil // nobody looks
	}
	if why := spec.TooLongReason(statements); why != "" {
		return &nexus.PlanCoverage{State: nexus.CoverUnsure, Why: why}, nil
	}
	n := 1
	if again {
		n = 2
	}
	id := nexus.SessionID(fmt.Sprintf("%s/%s.%d", p.a.ID, nexus.Checker, n))
	data, why, err := p.runChecker(ctx, id, prompt.PlanCoverageRequest{
		Session: id, Goal: made.Goal, Statements: statements, Tasks: made.Tasks, Assumptions: made.Assumptions,
	})
	if err != nil {
		return nil, err
	}
	if why != "" {
		return &nexus.PlanCoverage{State: nexus.CoverUnsure, Why: why}, nil
	}
	root, err := os.OpenRoot(p.tree.Dir) // so that no path leads out of it
	if err != nil {
		return nil, fmt.Errorf("open the tree that is planned for: %w", err)
	}
	defer func() { _ = root.Close() }()
	c := plan.ParseCoverage(data, made.Goal, made.Tasks, func(file string) bool {
		info, err := root.Stat(file)
		return err == nil && info.Mode().IsRegular()
	})
	if !slices.ContainsFunc(p.a.Looks, func(l nexus.PlanCoverageChecked) bool { return l.Session == id }) {
		err = p.recordFacts(ctx, nexus.PlanCoverageChecked{Attempt: p.a.ID, Session: id, Cover: c})
	}
	return &c, err
}

// runChecker runs the session of a checker, or reads its result, and returns why there is none.
func (p *planningSession) runChecker(ctx context.Context, id nexus.SessionID, c prompt.PlanCoverageRequest) (data []byte, why string, err error) {
	old := p.a.SessionByID(id)
	if old == nil || !old.Over {
		next, because := "", ""
		if old == nil || len(old.Messages) == 0 {
			next, because = c.FirstMessage(), "brief"
		}
		o, err := p.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
			Attempt: p.a, Session: id, Role: nexus.Checker, Tree: p.tree, Base: p.view.Goal.Base, Goal: p.view.Goal.Goal.Text,
			Next: next, Why: because, Handin: plan.CoverageSchema(), Limits: p.view.Limits, Record: p.recordFacts,
		}, p.desk)
		switch {
		case err != nil && (ctx.Err() != nil || endsPlanning(err)):
			return nil, "", err
		case err != nil:
			return nil, "the checker failed: " + err.Error(), nil //nolint:nilerr // the plan says that nobody could tell
		case o.Outcome != nexus.Accepted:
			return nil, fmt.Sprintf("the checker submitted nothing (%s): %s", o.Outcome, o.Why), nil
		}
		return o.Handin, "", nil
	}
	if old.Outcome != nexus.Accepted || old.Result == "" {
		return nil, fmt.Sprintf("the checker submitted nothing (%s)", old.Outcome), nil
	}
	if data, err = p.Worker.Site.Blobs.Get(old.Result); err != nil {
		return nil, "", err
	}
	return data, "", nil
}
