package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CallPermission is the answer to a worker that wants to call a model. The zero
// CallPermission means that it waits.
type CallPermission struct {
	Granted bool
	Stop    string               // reason why it must stop
	Refused *nexus.BudgetRefused // set if there is no money
	Instead string               // model that must be called instead
}

// MaySpend decides about one call of a model. A worker waits while the run is paused, while
// its role has no free slot, while the provider is out of quota (or, for a new session,
// nearly), and while money that others have reserved may be returned. A waiting worker has no
// reservation, because each try of a call makes its own, so there are no cycles of waiting.
// If its task is paused it stops, and others work in its place.
func MaySpend(s *state.State, r nexus.BudgetReserved) CallPermission {
	t := s.TaskByID(r.Task)
	switch {
	case s.Drain != nil:
		return CallPermission{Stop: s.Drain.Why}
	case s.Status.HasEnded():
		return CallPermission{Stop: "the run has ended"}
	case t != nil && t.Status.HasEnded():
		return CallPermission{Stop: t.Why}
	case t != nil && t.IsPaused():
		return CallPermission{Stop: fmt.Sprintf("%s was paused by %s", t.ID, t.Paused.By)}
	case isInterrupted(s, r.Session):
		return CallPermission{Stop: "a person interrupted it"}
	case s.Status == nexus.StatusPaused || s.Status == nexus.StatusRecovering:
		return CallPermission{}
	}
	if n := s.Limits.PerRole[r.Role]; n > 0 && s.Ledger.CallsInFlight(r.Role) >= n {
		return CallPermission{}
	}
	if p, parked := s.PausedAccountFor(r.Model); parked {
		return CallPermission{Instead: otherModel(s, r, p)}
	}
	if p, held := s.AccountClosedToNewSessions(r.Model); held && s.IsUnusedSession(r.Session) {
		return CallPermission{Instead: otherModel(s, r, p)}
	}
	if _, no := s.Ledger.Check(r); !no {
		return CallPermission{Granted: true}
	}
	refused, no := s.Ledger.CheckSettled(r)
	if !no {
		return CallPermission{}
	}
	return CallPermission{Refused: &refused}
}

// isInterrupted reports whether a person interrupted the agent of a session: it would pay for
// an answer that it does not receive.
func isInterrupted(s *state.State, session nexus.SessionID) bool {
	id, _, _ := strings.Cut(string(session), "/")
	a := s.AttemptByID(nexus.AttemptID(id))
	return a != nil && a.Leaves
}

// maxQuotaWait is the maximum wait of a call for its provider's quota if another provider
// could be used.
const maxQuotaWait = time.Minute

// otherModel returns the first alternative model of a call that is available while its own is
// not, or "" if it is better to wait.
func otherModel(s *state.State, r nexus.BudgetReserved, p state.PausedAccount) string {
	if p.Until.Sub(s.Updated) <= maxQuotaWait {
		return ""
	}
	for _, name := range r.Else {
		_, parked := s.PausedAccountFor(name)
		_, held := s.AccountClosedToNewSessions(name)
		if !parked && !held {
			return name
		}
	}
	return ""
}

// SwitchModelError tells a worker to call another model.
type SwitchModelError struct{ Model, Why string }

// Error implements error.
func (e *SwitchModelError) Error() string { return "ask " + e.Model + " instead: " + e.Why }
