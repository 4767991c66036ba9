package toyworld

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// isOutOfQuota reports whether the account of a model has no quota: a window was used up before, or is
// now.
func (w *SimulatedWorld) isOutOfQuota(now time.Time, model string) bool {
	hit := w.drawChance(w.scenario.quota)
	w.mu.Lock()
	defer w.mu.Unlock()
	account := state.AccountOfModel(model)
	if !now.Before(w.windows[account]) && hit {
		if w.windows == nil {
			w.windows = map[string]time.Time{}
		}
		w.windows[account] = now.Add(time.Duration(1+w.dice.IntN(300)) * time.Minute)
	}
	return now.Before(w.windows[account])
}

// quotaReturnsAt returns when the account of a model has quota again.
func (w *SimulatedWorld) quotaReturnsAt(model string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.windows[state.AccountOfModel(model)]
}

// otherModels returns the models that may replace a model.
func (x *SimulatedWorker) otherModels(model string) []string {
	if !x.scenario.spare {
		return nil
	}
	account, name, _ := strings.Cut(model, "/")
	if account == "toy" {
		return []string{"spare/" + name}
	}
	return []string{"toy/" + name}
}

// settleRejectedCall settles a call that the provider rejected, and records until when.
func (x *SimulatedWorker) settleRejectedCall(ctx context.Context, s *state.AgentSessionState, r nexus.BudgetReserved) error {
	return x.recordFacts(ctx, nexus.BudgetSettled{ID: r.ID},
		nexus.QuotaExhausted{Account: state.AccountOfModel(s.Model), Until: x.quotaReturnsAt(s.Model), Why: "used up", Session: s.Session})
}

// reportQuotaUse reports at times how much of a window of the account is used, as agent programs do.
func (x *SimulatedWorker) reportQuotaUse(ctx context.Context, s *state.AgentSessionState) error {
	if !x.drawChance(x.scenario.windows) {
		return nil
	}
	return x.recordFacts(ctx, x.consumeQuota(x.Now(), s))
}

// consumeQuota uses up a part of an account's window. A window that has ended starts anew.
func (w *SimulatedWorld) consumeQuota(now time.Time, s *state.AgentSessionState) nexus.AgentQuotaReported {
	w.mu.Lock()
	defer w.mu.Unlock()
	account := state.AccountOfModel(s.Model)
	f := w.used[account]
	if !f.Until.After(now) {
		f = nexus.AgentQuotaReported{Agent: account, Window: "5h", Until: now.Add(time.Duration(1+w.dice.IntN(300)) * time.Minute)}
	}
	f.Session, f.Used = s.Session, min(100, f.Used+w.dice.IntN(40))
	if w.used == nil {
		w.used = map[string]nexus.AgentQuotaReported{}
	}
	w.used[account] = f
	return f
}

// switchModel lets the session continue with the replacement model.
func (x *SimulatedWorker) switchModel(ctx context.Context, s *state.AgentSessionState, err error) error {
	e, ok := errors.AsType[*schedule.SwitchModelError](err)
	if !ok {
		return err
	}
	return x.recordFacts(ctx, nexus.SessionModelSwitched{Session: s.Session, From: s.Model, To: e.Model, Why: e.Why})
}
