package local

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// planTries is how often a planner may hand in: the first plan, and two more
// after it was told what was wrong with the last one.
const planTries = 3

// unfit begins the message that hands a plan back.
const unfit = "The plan does not fit:\n"

// planning is one planning under way.
type planning struct {
	*attempt.Shop
	view    state.View
	a       *state.Attempt // our own copy
	desk    run.Desk
	tree    *worktree.Tree
	session nexus.SessionID
}

// plan lets the planner turn the goal into tasks, and hands back to it what
// does not fit.
func (w *World) plan(ctx context.Context, v state.View, d run.Desk) ([]nexus.Fact, error) {
	p := &planning{Shop: w.Shop, view: v, a: v.Attempt, desk: d}
	p.session = nexus.SessionID(fmt.Sprintf("%s/%s.1", p.a.ID, nexus.Planner))
	var err error
	if p.tree, err = w.Shop.Trees.Add(ctx, v.Run, p.a.ID, p.a.Base); err != nil {
		return nil, fmt.Errorf("make a worktree to plan in: %w", err)
	}
	facts, err := p.make(ctx)
	if err != nil {
		return nil, err
	}
	return facts, p.tree.Remove(ctx)
}

func (p *planning) make(ctx context.Context) ([]nexus.Fact, error) {
	next, err := p.brief()
	if err != nil {
		return nil, err
	}
	for {
		if err := p.converse(ctx, next); err != nil {
			return nil, err
		}
		s := p.a.Session(p.session)
		if s.Outcome != nexus.Accepted {
			return []nexus.Fact{nexus.PlanFailed{Why: "the planner did not hand in: " + s.Why, Outcome: s.Outcome}}, nil
		}
		data, err := p.Blobs.Get(s.Result)
		if err != nil {
			return nil, err
		}
		made, problem := plan.Parse(data)
		if problem == nil {
			return p.propose(made)
		}
		tries, err := p.tries(s)
		if err != nil {
			return nil, err
		}
		if tries >= planTries {
			return []nexus.Fact{nexus.PlanFailed{Why: problem.Error()}}, nil
		}
		next = unfit + "\n" + problem.Error() + "\n\nSplit what is too large, mend the rest, and hand the whole plan in again.\n"
	}
}

// brief returns what opens the conversation, empty when it is open.
func (p *planning) brief() (string, error) {
	if s := p.a.Session(p.session); s != nil && len(s.Messages) > 0 {
		return "", nil
	}
	gates, err := p.Gates(p.tree.Dir)
	if err != nil {
		return "", err
	}
	g := prompt.Goal{Session: p.session, Text: p.view.Goal.Goal.Text, Rules: p.Rules}
	for _, gate := range gates {
		g.Gates = append(g.Gates, gate.Name+": "+gate.Command())
	}
	return g.Message(), nil
}

// converse goes on with the conversation, unless what it waits for is there.
func (p *planning) converse(ctx context.Context, next string) error {
	s := p.a.Session(p.session)
	if next == "" && s != nil && s.Over && s.Outcome != nexus.Refused && s.Outcome != nexus.Stopped {
		return nil
	}
	why := "brief"
	if strings.HasPrefix(next, unfit) {
		why = "repair"
	}
	o, err := p.Converse(ctx, attempt.Talk{
		Attempt: p.a, Session: p.session, Role: nexus.Planner, Tree: p.tree, Next: next, Why: why,
		Handin: plan.Schema(), Limits: p.view.Limits, Record: p.record,
	}, p.desk)
	if err == nil && o.Outcome == nexus.Refused {
		err = attempt.NoMoney(o.Why)
	}
	return err
}

func (p *planning) record(ctx context.Context, facts ...nexus.Fact) error {
	if err := p.desk.Record(ctx, facts...); err != nil {
		return err
	}
	for _, f := range facts {
		p.a.Apply(f, p.Now())
	}
	return nil
}

// tries counts the plans that were handed in.
func (p *planning) tries(s *state.Session) (int, error) {
	n := 1
	for _, hash := range s.Messages {
		data, err := p.Blobs.Get(hash)
		if err != nil {
			return 0, err
		}
		var m llm.Message
		if err := json.Unmarshal(data, &m); err != nil {
			return 0, fmt.Errorf("read message %s: %w", hash, err)
		}
		if m.From == llm.User && strings.HasPrefix(m.Text(), unfit) {
			n++
		}
	}
	return n, nil
}

// propose keeps the plan and returns the facts that offer it.
func (p *planning) propose(made nexus.Plan) ([]nexus.Fact, error) {
	made.Goal = p.view.Goal.Goal.Text
	data, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	hash, err := p.Blobs.Put(data)
	if err != nil {
		return nil, err
	}
	facts := []nexus.Fact{nexus.PlanProposed{Plan: hash, Tasks: len(made.Tasks)}}
	for _, t := range made.Tasks {
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	return facts, nil
}
