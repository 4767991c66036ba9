package audit

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// quota books which accounts are out of quota.
func (b *Audit) quota(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.QuotaHit:
		if b.parked == nil {
			b.parked = map[string]time.Time{}
		}
		if f.Until.After(b.parked[f.Account]) {
			b.parked[f.Account] = f.Until
		}
	case nexus.QuotaReset:
		until, ok := b.parked[f.Account]
		if !ok || b.now.Before(until) {
			b.wrong("the quota of %s is reset at %s, known %v, until %s", f.Account, b.now, ok, until)
		}
		delete(b.parked, f.Account)
	default:
	}
}

// rested checks that a model's account has quota.
func (b *Audit) rested(model string) {
	if until, ok := b.parked[state.Account(model)]; ok {
		b.wrong("%s is asked at %s, and is out of quota until %s", model, b.now, until)
	}
}

// Overdue returns an account whose quota came back more than a minute ago,
// empty where there is none. A process that works must have heard of it.
func (b *Audit) Overdue(now time.Time) string {
	for account, until := range b.parked {
		if now.Sub(until) > time.Minute {
			return account
		}
	}
	return ""
}
