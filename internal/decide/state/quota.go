package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ParkedAccount is an account of a provider that takes no calls until a time; of an
// agent program, one that takes no new sessions where it is held.
type ParkedAccount struct {
	Account string    `json:"account"`
	Until   time.Time `json:"until"`
	Why     string    `json:"why"`
	Held    bool      `json:"held,omitzero"` // nearly used up: sessions under way continue
}

// QuotaWindow is how much of a limit of an agent program's account is used, as far as
// the program said.
type QuotaWindow struct {
	Account string
	Name    string // 5h, 7d, or as the program names it
	Used    int    // percent
	Until   time.Time
}

const (
	// same is how much later the same window may be said to start anew: some
	// programs count the seconds that are left.
	same = 2 * time.Minute
	// farthest is how far off a window's start may be. What is farther is no
	// window that a program knows.
	farthest = 32 * 24 * time.Hour
)

// IsNewUsage reports whether a program says more than what is known of a window: one
// more percent of it, or another window. So a window is recorded a hundred times
// at most, however many messages tell of it.
func IsNewUsage(known []QuotaWindow, f nexus.AgentLimited, now time.Time) bool {
	if f.Used < 0 || !f.Until.After(now) || f.Until.Sub(now) > farthest {
		return false
	}
	i := findWindow(known, f)
	return i < 0 || f.Until.Sub(known[i].Until) > same || f.Until.Sub(known[i].Until) > -same && f.Used > known[i].Used
}

func findWindow(all []QuotaWindow, f nexus.AgentLimited) int {
	return slices.IndexFunc(all, func(w QuotaWindow) bool { return w.Account == f.Agent && w.Name == f.Window })
}

// UpdateWindows returns what is known of windows after a program told of one.
func UpdateWindows(known []QuotaWindow, f nexus.AgentLimited) []QuotaWindow {
	w := QuotaWindow{f.Agent, f.Window, f.Used, f.Until}
	known = slices.Clone(known)
	if i := findWindow(known, f); i >= 0 {
		known[i] = w
		return known
	}
	return append(known, w)
}

// AccountOf returns the account that calls of a provider/model count against.
func AccountOf(model string) string {
	account, _, _ := strings.Cut(model, "/")
	return account
}

// ParkedFor returns why a provider/model cannot be asked, and until when;
// false while it can.
func (s *State) ParkedFor(model string) (ParkedAccount, bool) { return s.parkedFor(model, false) }

// HeldFor returns why a session cannot begin with a provider/model, and until
// when; false while it can.
func (s *State) HeldFor(model string) (ParkedAccount, bool) { return s.parkedFor(model, true) }

func (s *State) parkedFor(model string, held bool) (ParkedAccount, bool) {
	i := slices.IndexFunc(s.Parked, func(p ParkedAccount) bool { return p.Account == AccountOf(model) && p.Held == held })
	if i < 0 {
		return ParkedAccount{}, false
	}
	return s.Parked[i], true
}

// IsUnusedSession reports whether nothing was done yet in a session.
func (s *State) IsUnusedSession(id nexus.SessionID) bool {
	c := s.session(id)
	return c == nil || c.Turns == 0
}

func (s *State) applyQuota(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.AgentLimited:
		s.Windows = UpdateWindows(s.Windows, f)
	case nexus.QuotaHit: // which says more than that it was nearly so
		s.Parked = slices.DeleteFunc(slices.Clone(s.Parked), func(p ParkedAccount) bool {
			return p.Account == f.Account && p.Held && !p.Until.After(f.Until)
		})
		s.park(ParkedAccount{f.Account, f.Until, f.Why, false}, at)
	case nexus.QuotaHeld:
		s.park(ParkedAccount{f.Account, f.Until, QuotaHoldReason(f), true}, at)
	case nexus.QuotaReset:
		s.Parked = slices.DeleteFunc(slices.Clone(s.Parked), func(p ParkedAccount) bool { return p.Account == f.Account && p.Held == f.Held })
	case nexus.ModelSwitched:
		if a := s.attempts[attemptOfSession(f.Session)]; a != nil {
			a.Apply(f, at)
		}
	default:
	}
}

// park keeps the later of two ends: calls that were under way together say
// each their own. Who works with the account rests until then; where it is held,
// who has not begun.
func (s *State) park(p ParkedAccount, at time.Time) {
	s.Parked = slices.Clone(s.Parked)
	i := slices.IndexFunc(s.Parked, func(old ParkedAccount) bool { return old.Account == p.Account && old.Held == p.Held })
	switch {
	case i < 0:
		s.Parked = append(s.Parked, p)
	case p.Until.After(s.Parked[i].Until):
		s.Parked[i] = p
	}
	for _, a := range s.Active() {
		if c := a.CurrentSession(); c != nil && AccountOf(c.Model) == p.Account && (!p.Held || c.Turns == 0) {
			a.rest(at, p.Until)
		}
	}
}

// waits lets the attempt of a session rest that begins with an account which
// takes none now.
func (s *State) waits(f nexus.SessionStarted, at time.Time) {
	for _, find := range []func(string) (ParkedAccount, bool){s.ParkedFor, s.HeldFor} {
		if p, ok := find(f.Model); ok && f.Role != nexus.Scout {
			s.attempts[f.Attempt].rest(at, p.Until)
		}
	}
}

// QuotaHoldReason says why an account is held.
func QuotaHoldReason(f nexus.QuotaHeld) string {
	return fmt.Sprintf("%d%% of its %s limit is used", f.Used, f.Window)
}
