package state

import (
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Parked is an account of a provider that takes no calls until a time.
type Parked struct {
	Account string    `json:"account"`
	Until   time.Time `json:"until"`
	Why     string    `json:"why"`
}

// Account returns the account that calls of a provider/model count against.
func Account(model string) string {
	account, _, _ := strings.Cut(model, "/")
	return account
}

// ParkedFor returns why a provider/model cannot be asked, and until when;
// false while it can.
func (s *State) ParkedFor(model string) (Parked, bool) {
	i := slices.IndexFunc(s.Parked, func(p Parked) bool { return p.Account == Account(model) })
	if i < 0 {
		return Parked{}, false
	}
	return s.Parked[i], true
}

func (s *State) applyQuota(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.QuotaHit:
		s.park(Parked{f.Account, f.Until, f.Why}, at)
	case nexus.QuotaReset:
		s.Parked = slices.DeleteFunc(slices.Clone(s.Parked), func(p Parked) bool { return p.Account == f.Account })
	case nexus.ModelSwitched:
		if a := s.attempts[attemptOfSession(f.Session)]; a != nil {
			a.Apply(f, at)
		}
	default:
	}
}

// park keeps the later of two ends: calls that were under way together say
// each their own. Who works with the account rests until then.
func (s *State) park(p Parked, at time.Time) {
	s.Parked = slices.Clone(s.Parked)
	i := slices.IndexFunc(s.Parked, func(old Parked) bool { return old.Account == p.Account })
	switch {
	case i < 0:
		s.Parked = append(s.Parked, p)
	case p.Until.After(s.Parked[i].Until):
		s.Parked[i] = p
	}
	for _, a := range s.Active() {
		if c := a.Present(); c != nil && Account(c.Model) == p.Account {
			a.rest(at, p.Until)
		}
	}
}
