package schedule

import (
	"cmp"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// usualQuota is the default percentage of a quota window from which no session begins.
const usualQuota = 95

// decideQuota holds accounts with a nearly used-up window, and releases those whose window started
// again.
func decideQuota(s *state.State, now time.Time) []nexus.Fact {
	for _, p := range s.Parked {
		if !now.Before(p.Until) {
			return factList(nexus.QuotaReset{Account: p.Account, Held: p.Held})
		}
	}
	for _, w := range s.Windows {
		if w.Used < cmp.Or(s.Limits.Quota, usualQuota) || !w.Until.After(now) {
			continue
		}
		p, held := s.AccountClosedToNewSessions(w.Account)
		q, parked := s.PausedAccountFor(w.Account)
		if (!held || w.Until.After(p.Until)) && (!parked || w.Until.After(q.Until)) {
			return factList(nexus.QuotaNearlyExhausted{Account: w.Account, Window: w.Name, Used: w.Used, Until: w.Until})
		}
	}
	return nil
}

// OtherModelReason returns why a call is made with another model or agent.
func OtherModelReason(s *state.State, r nexus.BudgetReserved) string {
	account := state.AccountOfModel(r.Model)
	if p, held := s.AccountClosedToNewSessions(r.Model); held {
		if _, parked := s.PausedAccountFor(r.Model); !parked {
			return account + " starts no session: " + p.Why
		}
	}
	return account + " is out of quota"
}
