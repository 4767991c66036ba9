package toyworld

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/landingupdates"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// takeTurn asks for permission, calls the model, and records the answer with its cost.
func (x *SimulatedWorker) takeTurn(ctx context.Context, s *state.AgentSessionState) error {
	for try := 1; ; try++ {
		o := x.nextCall(s)
		r := nexus.BudgetReserved{
			ID: x.newID("R"), Task: x.View.Task.ID, Session: s.Session, Role: s.Role, Model: s.Model, Money: o.worst, Else: x.otherModels(s.Model),
		}
		done := x.done
		x.done = nil
		told, err := x.Desk.Reserve(ctx, r, done...)
		if err != nil {
			if err = x.switchModel(ctx, s, err); err != nil {
				return err
			}
			continue
		}
		if err := x.receiveGuidance(ctx, s, told); err != nil {
			return err
		}
		if x.worstCost(o) > o.worst { // the price rose during the wait
			x.done = append(x.done, nexus.BudgetSettled{ID: r.ID})
			continue
		}
		switch {
		case x.isOutOfQuota(x.Now(), s.Model):
			if err := x.settleRejectedCall(ctx, s, r); err != nil {
				return err
			}
			continue
		case x.drawChance(x.scenario.auth):
			err = &nexus.Error{Code: nexus.CodeAuth, Message: "the key is wrong"}
		case x.drawChance(x.scenario.provider):
			err = errors.New("the provider failed")
		default:
			return x.answerCall(ctx, s, r, o)
		}
		spent := nexus.BudgetSettled{ID: r.ID, Estimated: true}
		if auth := (&nexus.Error{}); errors.As(err, &auth) || try == 3 {
			if failed := x.recordFacts(ctx, spent); failed != nil {
				return failed
			}
			return err
		}
		if err := x.settleAndRetry(ctx, s, r, try); err != nil {
			return err
		}
	}
}

// receiveGuidance records the messages for the session: guidance of people, and updates about landed
// work.
func (x *SimulatedWorker) receiveGuidance(ctx context.Context, s *state.AgentSessionState, told []state.Guidance) error {
	for _, g := range told {
		_, why := landingupdates.UpdateMessage(g)
		if err := x.recordFacts(ctx, nexus.PromptSent{Session: s.Session, Message: "say " + g.Text, Why: why, Request: g.Seq}); err != nil {
			return err
		}
	}
	return nil
}

// settleAndRetry settles a call that failed in the middle of an answer, and waits.
func (x *SimulatedWorker) settleAndRetry(ctx context.Context, s *state.AgentSessionState, r nexus.BudgetReserved, try int) error {
	spent := nexus.BudgetSettled{ID: r.ID, Estimated: true, Money: x.chargeBrokenCall(r)}
	rest := time.Duration(1+x.drawIndex(300)) * time.Second
	err := x.recordFacts(ctx, spent, nexus.ModelCallDelayed{Session: s.Session, Model: s.Model, Try: try, Wait: rest, Why: "overload"})
	if err != nil {
		return err
	}
	ctx, stop := x.Desk.Spare(ctx, false)
	defer stop()
	return x.waitFor(ctx, rest)
}

// answerCall is a call that succeeds.
func (x *SimulatedWorker) answerCall(ctx context.Context, s *state.AgentSessionState, r nexus.BudgetReserved, o plannedModelCall) error {
	c := conversationTurnID{s.Session, s.Turns + 1}
	cost := x.actualCost(o, x.Now())
	x.beginCall(c, pendingCallCharge{r, cost})
	if err := x.waitFor(ctx, 20*time.Second); err != nil {
		x.abandonCall(c)
		return err
	}
	f := nexus.ModelTurnRecorded{Session: s.Session, Turn: c.turn, Message: fmt.Sprintf("turn %d tools", c.turn), Stop: "tools"}
	if x.drawIndex(3) > 0 && (c.turn > 1 || s.Role == nexus.Reviewer) && x.hasWritten(s) {
		f.Message, f.Stop = fmt.Sprintf("turn %d done", c.turn), "done"
	}
	err := x.recordFacts(ctx, nexus.BudgetSettled{ID: r.ID, Money: cost, Usage: nexus.Usage{Input: 10, Output: 1}}, f)
	if err != nil {
		x.abandonCall(c)
		return err
	}
	x.recordAnswer(c)
	return x.reportQuotaUse(ctx, s)
}
