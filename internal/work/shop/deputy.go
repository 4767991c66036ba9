package shop

import (
	"context"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/deputy"
)

// respite is how long a question of a run without people waits for the deputy
// to answer.
const respite = 3 * time.Minute

// stand asks people, with the deputy in their place where nobody answers. The
// first answer counts. The attempt's clock stands still meanwhile.
func (s *Shop) stand(ctx context.Context, t Talk, d Desk, q nexus.QuestionAsked) (string, error) {
	if s.Alone && s.Deputy.Takes(q.Trigger) {
		q.Deadline = s.Now().Add(s.Deputy.After + respite)
	}
	leave := s.Deputy.Stand(ctx, q, t.Task, standIn{d}, s.Alone)
	defer leave()
	t.Attempt.Ask(q.ID, s.Now())
	defer func() { t.Attempt.Answered(q.ID, s.Now()) }()
	return d.Ask(ctx, q)
}

// standIn is the desk as the deputy sees it.
type standIn struct{ Desk }

// Reserve implements [deputy.Desk]. What people left for the agent to know is
// left for it.
func (d standIn) Reserve(ctx context.Context, r nexus.BudgetReserved) error {
	_, err := d.Desk.Reserve(ctx, r)
	return err
}

// Stands makes the deputy ask a model of this shop: the one of the tier fast.
func (s *Shop) Stands(d *deputy.Deputy) {
	d.Pick = func() (deputy.Model, error) {
		m, err := s.Pick(nexus.Router, nexus.Fast, "")
		return deputy.Model{Model: m.Model, Name: m.Name, Wire: m.Wire, Price: m.Price, Worst: m.Worst}, err
	}
	d.Mark = func(question string) string { return agent.Mark(s.Draw, question) }
	s.Deputy = d
}
