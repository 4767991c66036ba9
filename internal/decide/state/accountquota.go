package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PausedAccount is a provider's account that accepts no calls until a time. An agent
// program's account that is held accepts no new sessions.
type PausedAccount struct {
	Account string    `json:"account"`
	Until   time.Time `json:"until"`
	Why     string    `json:"why"`
	Held    bool      `json:"held,omitzero"` // nearly used up: running sessions continue
}

// AccountQuotaWindow is the used share of a limit of an agent program's account, as the program
// reported it.
type AccountQuotaWindow struct {
	Account string
	Name    string // 5h, 7d, or the program's name for it
	Used    int    // percent
	Until   time.Time
}

const (
	// same is the maximum difference between two reported reset times of the same window:
	// some programs report the remaining seconds.
	same = 2 * time.Minute
	// farthest is the maximum distance of a window's reset time. A later one is not a window
	// that any program has.
	farthest = 32 * 24 * time.Hour
)

// IsNewUsage reports whether a program reported more than the known state of a window: at
// least one percent more, or another window. So a window is recorded at most a hundred times,
// however many messages report it.
func IsNewUsage(known []AccountQuotaWindow, f nexus.AgentQuotaReported, now time.Time) bool {
	if f.Used < 0 || !f.Until.After(now) || f.Until.Sub(now) > farthest {
		return false
	}
	i := findWindow(known, f)
	return i < 0 || f.Until.Sub(known[i].Until) > same || f.Until.Sub(known[i].Until) > -same && f.Used > known[i].Used
}

func findWindow(all []AccountQuotaWindow, f nexus.AgentQuotaReported) int {
	return slices.IndexFunc(all, func(w AccountQuotaWindow) bool { return w.Account == f.Agent && w.Name == f.Window })
}

// UpdateWindows returns the known windows after a program's report.
func UpdateWindows(known []AccountQuotaWindow, f nexus.AgentQuotaReported) []AccountQuotaWindow {
	w := AccountQuotaWindow{f.Agent, f.Window, f.Used, f.Until}
	known = slices.Clone(known)
	if i := findWindow(known, f); i >= 0 {
		known[i] = w
		return known
	}
	return append(known, w)
}

// AccountOfModel returns the account to which calls of a provider/model are charged.
func AccountOfModel(model string) string {
	account, _, _ := strings.Cut(model, "/")
	return account
}

// PausedAccountFor returns the account that prevents calls to a provider/model, and until when, or
// false if calls are possible.
func (s *State) PausedAccountFor(model string) (PausedAccount, bool) {
	return s.pausedAccountFor(model, false)
}

// AccountClosedToNewSessions returns the account that prevents new sessions with a provider/model, and until
// when, or false if they are possible.
func (s *State) AccountClosedToNewSessions(model string) (PausedAccount, bool) {
	return s.pausedAccountFor(model, true)
}

func (s *State) pausedAccountFor(model string, held bool) (PausedAccount, bool) {
	i := slices.IndexFunc(s.Parked, func(p PausedAccount) bool { return p.Account == AccountOfModel(model) && p.Held == held })
	if i < 0 {
		return PausedAccount{}, false
	}
	return s.Parked[i], true
}

// IsUnusedSession reports whether a session has done nothing yet.
func (s *State) IsUnusedSession(id nexus.SessionID) bool {
	c := s.sessionByID(id)
	return c == nil || c.Turns == 0
}

func (s *State) applyQuota(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.AgentQuotaReported:
		s.Windows = UpdateWindows(s.Windows, f)
	case nexus.QuotaExhausted: // a stronger statement than nearly used up
		s.Parked = slices.DeleteFunc(slices.Clone(s.Parked), func(p PausedAccount) bool {
			return p.Account == f.Account && p.Held && !p.Until.After(f.Until)
		})
		s.pauseAccount(PausedAccount{f.Account, f.Until, f.Why, false}, at)
	case nexus.QuotaNearlyExhausted:
		s.pauseAccount(PausedAccount{f.Account, f.Until, QuotaHoldReason(f), true}, at)
	case nexus.QuotaReset:
		s.Parked = slices.DeleteFunc(slices.Clone(s.Parked), func(p PausedAccount) bool { return p.Account == f.Account && p.Held == f.Held })
	case nexus.SessionModelSwitched:
		if a := s.attempts[attemptOfSession(f.Session)]; a != nil {
			a.Apply(f, at)
		}
	default:
	}
}

// pauseAccount keeps the later of two ends: calls that ran together each report their own. Attempts
// that work with the account wait until then. If it is held, only attempts that have not
// begun wait.
func (s *State) pauseAccount(p PausedAccount, at time.Time) {
	s.Parked = slices.Clone(s.Parked)
	i := slices.IndexFunc(s.Parked, func(old PausedAccount) bool { return old.Account == p.Account && old.Held == p.Held })
	switch {
	case i < 0:
		s.Parked = append(s.Parked, p)
	case p.Until.After(s.Parked[i].Until):
		s.Parked[i] = p
	}
	for _, a := range s.ActiveAttempts() {
		if c := a.CurrentSession(); c != nil && AccountOfModel(c.Model) == p.Account && (!p.Held || c.Turns == 0) {
			a.excludeQuotaWait(at, p.Until)
		}
	}
}

// waitForPausedAccount makes the attempt of a new session wait if its account accepts none now.
func (s *State) waitForPausedAccount(f nexus.SessionStarted, at time.Time) {
	for _, find := range []func(string) (PausedAccount, bool){s.PausedAccountFor, s.AccountClosedToNewSessions} {
		if p, ok := find(f.Model); ok && f.Role != nexus.Scout {
			s.attempts[f.Attempt].excludeQuotaWait(at, p.Until)
		}
	}
}

// QuotaHoldReason returns why an account is held.
func QuotaHoldReason(f nexus.QuotaNearlyExhausted) string {
	return fmt.Sprintf("%d%% of its %s limit is used", f.Used, f.Window)
}
