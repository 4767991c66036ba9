package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CallPermission is the answer to a worker that wants to call a model. The zero Leave
// lets it wait.
type CallPermission struct {
	Granted bool
	Stop    string               // not any more, and why
	Refused *nexus.BudgetRefused // no money
	Instead string               // another model is to be asked
}

// MaySpend decides on one call of a model. A worker waits while the run is
// paused, while its role has no slot, while the provider is out of quota or, to
// begin a session, nearly so, and while money that others set aside may come back. Who waits has nothing set aside itself, since each try of a
// call reserves its own, so nobody ever waits for one who waits. Where its task is
// paused it lets go: others work in its place meanwhile.
func MaySpend(s *state.State, r nexus.BudgetReserved) CallPermission {
	t := s.Task(r.Task)
	switch {
	case s.Drain != nil:
		return CallPermission{Stop: s.Drain.Why}
	case s.Status.Ended():
		return CallPermission{Stop: "the run has ended"}
	case t != nil && t.Status.Ended():
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
	if p, parked := s.ParkedFor(r.Model); parked {
		return CallPermission{Instead: otherModel(s, r, p)}
	}
	if p, held := s.HeldFor(r.Model); held && s.IsUnusedSession(r.Session) {
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

// isInterrupted reports whether a person interrupted who has a session: it would pay for an answer
// that it does not hear.
func isInterrupted(s *state.State, session nexus.SessionID) bool {
	id, _, _ := strings.Cut(string(session), "/")
	a := s.Attempt(nexus.AttemptID(id))
	return a != nil && a.Leaves
}

// maxQuotaWait is how long a call waits for the quota of its provider where
// another one could be asked.
const maxQuotaWait = time.Minute

// otherModel returns the first model of a call's others that can be asked while
// its own cannot; empty where it is better to wait.
func otherModel(s *state.State, r nexus.BudgetReserved, p state.ParkedAccount) string {
	if p.Until.Sub(s.Updated) <= maxQuotaWait {
		return ""
	}
	for _, name := range r.Else {
		_, parked := s.ParkedFor(name)
		_, held := s.HeldFor(name)
		if !parked && !held {
			return name
		}
	}
	return ""
}

// OtherModelError tells a worker to ask another model.
type OtherModelError struct{ Model, Why string }

// Error implements error.
func (e *OtherModelError) Error() string { return "ask " + e.Model + " instead: " + e.Why }
