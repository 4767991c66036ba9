package app

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// answerMoney limits the cost of all answers of a model for people in a run. One costs at most a cent, so that
// a run has twenty of them, more than people answer in a day.
const answerMoney = nexus.Dollar / 5

// newAutoAnswer returns the model that answers questions in the place of people, nil if that is
// off. Its earlier spending in the run counts.
func newAutoAnswer(ctx context.Context, p *Repository, c config.Config, o RunOptions) (*worker.QuestionAutoAnswerer, error) {
	if o.Headless || c.AutoAnswer == 0 {
		return nil, nil
	}
	s, err := p.Replay(ctx, o.Run)
	if err != nil {
		return nil, err
	}
	spent := s.Spending.By[budget.CostBreakdownKey{Way: budget.ByRole, Name: worker.AutoName}].Money
	d := &worker.QuestionAutoAnswerer{After: c.AutoAnswer, Left: answerMoney - spent}
	for _, id := range s.Ledger.UnsettledIDs() {
		if r, ok := s.Ledger.ReservationByID(id); ok && r.Role == worker.AutoName {
			d.Left -= r.Money
		}
	}
	d.Reply = func(ctx context.Context, question, answer, why string) error {
		_, err := p.Journal.Ask(ctx, o.Run, nexus.Request{Verb: nexus.VerbAnswer, ID: question, Text: answer, By: worker.AutoName, Why: why})
		return err
	}
	return d, nil
}
