package audit

import (
	"cmp"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// quotaAudit holds the times until which accounts accept no calls, or no new sessions.
type quotaAudit struct {
	parked map[string]time.Time // without quota
	held   map[string]time.Time // that begin no session
	nearly map[string]time.Time // with a window that is nearly used up
}

// recordQuota records the accounts that are out of quota, and nearly so.
func (b *FactAudit) recordQuota(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.AgentQuotaReported:
		if f.Used >= cmp.Or(b.limits.Quota, 95) {
			keepLater(&b.accounts.nearly, f.Agent, f.Until)
		}
	case nexus.QuotaExhausted:
		keepLater(&b.accounts.parked, f.Account, f.Until)
		if !b.accounts.held[f.Account].After(f.Until) {
			delete(b.accounts.held, f.Account)
		}
	case nexus.QuotaNearlyExhausted:
		if f.Used < cmp.Or(b.limits.Quota, 95) || b.accounts.nearly[f.Account].Before(f.Until) {
			b.wrong("%s is held until %s, and %d%% of its %s are used", f.Account, f.Until, f.Used, f.Window)
		}
		keepLater(&b.accounts.held, f.Account, f.Until)
	case nexus.QuotaReset:
		books := b.accounts.parked
		if f.Held {
			books = b.accounts.held
		}
		until, ok := books[f.Account]
		if !ok || b.now.Before(until) {
			b.wrong("the quota of %s is reset at %s, known %v, until %s", f.Account, b.now, ok, until)
		}
		delete(books, f.Account)
	default:
	}
}

// keepLater stores the later of two ends.
func keepLater(books *map[string]time.Time, account string, until time.Time) {
	if *books == nil {
		*books = map[string]time.Time{}
	}
	if until.After((*books)[account]) {
		(*books)[account] = until
	}
}

// checkAccountQuota checks that a call's account has quota, and enough of it to begin a session.
func (b *FactAudit) checkAccountQuota(f nexus.BudgetReserved) {
	account := state.AccountOfModel(f.Model)
	if until, ok := b.accounts.parked[account]; ok {
		b.wrong("%s is asked at %s, and is out of quota until %s", f.Model, b.now, until)
	}
	if until := b.accounts.nearly[account]; b.turns[f.Session] == 0 && until.After(b.now) {
		b.wrong("%s begins with %s at %s, and a window is nearly used up until %s", f.Session, f.Model, b.now, until)
	}
}

// OverdueAccount returns an account whose quota returned more than a minute ago, "" if there is none.
// A working process must have noticed it.
func (b *FactAudit) OverdueAccount(now time.Time) string {
	for _, books := range []map[string]time.Time{b.accounts.parked, b.accounts.held} {
		for account, until := range books {
			if now.Sub(until) > time.Minute {
				return account
			}
		}
	}
	return ""
}
