package toy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/updates"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// turn asks for permission, calls the model, and records the answer with its cost.
func (x *Actor) turn(ctx context.Context, s *state.Session) error {
	for try := 1; ; try++ {
		o := x.order(s)
		r := nexus.BudgetReserved{
			ID: x.id("R"), Task: x.View.Task.ID, Session: s.Session, Role: s.Role, Model: s.Model, Money: o.worst, Else: x.others(s.Model),
		}
		done := x.done
		x.done = nil
		told, err := x.Desk.Reserve(ctx, r, done...)
		if err != nil {
			if err = x.elsewhere(ctx, s, err); err != nil {
				return err
			}
			continue
		}
		if err := x.hears(ctx, s, told); err != nil {
			return err
		}
		if x.worst(o) > o.worst { // the price rose during the wait
			x.done = append(x.done, nexus.BudgetSpent{ID: r.ID})
			continue
		}
		switch {
		case x.empty(x.Now(), s.Model):
			if err := x.park(ctx, s, r); err != nil {
				return err
			}
			continue
		case x.roll(x.scenario.auth):
			err = &nexus.Error{Code: nexus.CodeAuth, Message: "the key is wrong"}
		case x.roll(x.scenario.provider):
			err = errors.New("the provider failed")
		default:
			return x.answer(ctx, s, r, o)
		}
		spent := nexus.BudgetSpent{ID: r.ID, Estimated: true}
		if auth := (&nexus.Error{}); errors.As(err, &auth) || try == 3 {
			if failed := x.record(ctx, spent); failed != nil {
				return failed
			}
			return err
		}
		if err := x.again(ctx, s, r, try); err != nil {
			return err
		}
	}
}

// hears records the messages for the session: guidance of people, and updates about landed
// work.
func (x *Actor) hears(ctx context.Context, s *state.Session, told []state.Guidance) error {
	for _, g := range told {
		_, why := updates.UpdateMessage(g)
		if err := x.record(ctx, nexus.PromptSent{Session: s.Session, Message: "say " + g.Text, Why: why, Request: g.Seq}); err != nil {
			return err
		}
	}
	return nil
}

// again settles a call that failed in the middle of an answer, and waits.
func (x *Actor) again(ctx context.Context, s *state.Session, r nexus.BudgetReserved, try int) error {
	spent := nexus.BudgetSpent{ID: r.ID, Estimated: true, Money: x.broke(r)}
	rest := time.Duration(1+x.pick(300)) * time.Second
	err := x.record(ctx, spent, nexus.CallDelayed{Session: s.Session, Model: s.Model, Try: try, Wait: rest, Why: "overload"})
	if err != nil {
		return err
	}
	ctx, stop := x.Desk.Spare(ctx, false)
	defer stop()
	return x.wait(ctx, rest)
}

// answer is a call that succeeds.
func (x *Actor) answer(ctx context.Context, s *state.Session, r nexus.BudgetReserved, o order) error {
	c := call{s.Session, s.Turns + 1}
	cost := x.cost(o, x.Now())
	x.begin(c, bill{r, cost})
	if err := x.wait(ctx, 20*time.Second); err != nil {
		x.lose(c)
		return err
	}
	f := nexus.TurnTaken{Session: s.Session, Turn: c.turn, Message: fmt.Sprintf("turn %d tools", c.turn), Stop: "tools"}
	if x.pick(3) > 0 && (c.turn > 1 || s.Role == nexus.Reviewer) && x.wrote(s) {
		f.Message, f.Stop = fmt.Sprintf("turn %d done", c.turn), "done"
	}
	err := x.record(ctx, nexus.BudgetSpent{ID: r.ID, Money: cost, Usage: nexus.Usage{Input: 10, Output: 1}}, f)
	if err != nil {
		x.lose(c)
		return err
	}
	x.heard(c)
	return x.tell(ctx, s)
}
