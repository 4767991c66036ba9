package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Leave is the answer to a worker that wants to call a model. The zero Leave
// lets it wait.
type Leave struct {
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
func MaySpend(s *state.State, r nexus.BudgetReserved) Leave {
	t := s.Task(r.Task)
	switch {
	case s.Drain != nil:
		return Leave{Stop: s.Drain.Why}
	case s.Status.Ended():
		return Leave{Stop: "the run has ended"}
	case t != nil && t.Status.Ended():
		return Leave{Stop: t.Why}
	case t != nil && t.Withheld():
		return Leave{Stop: fmt.Sprintf("%s was paused by %s", t.ID, t.Paused.By)}
	case leaves(s, r.Session):
		return Leave{Stop: "a person interrupted it"}
	case s.Status == nexus.StatusPaused || s.Status == nexus.StatusRecovering:
		return Leave{}
	}
	if n := s.Limits.PerRole[r.Role]; n > 0 && s.Ledger.Of(r.Role) >= n {
		return Leave{}
	}
	if p, parked := s.ParkedFor(r.Model); parked {
		return Leave{Instead: instead(s, r, p)}
	}
	if p, held := s.HeldFor(r.Model); held && s.Fresh(r.Session) {
		return Leave{Instead: instead(s, r, p)}
	}
	if _, no := s.Ledger.Check(r); !no {
		return Leave{Granted: true}
	}
	refused, no := s.Ledger.Never(r)
	if !no {
		return Leave{}
	}
	return Leave{Refused: &refused}
}

// leaves reports whether a person interrupted who has a session: it would pay for an answer
// that it does not hear.
func leaves(s *state.State, session nexus.SessionID) bool {
	id, _, _ := strings.Cut(string(session), "/")
	a := s.Attempt(nexus.AttemptID(id))
	return a != nil && a.Leaves
}

// patience is how long a call waits for the quota of its provider where
// another one could be asked.
const patience = time.Minute

// instead returns the first model of a call's others that can be asked while
// its own cannot; empty where it is better to wait.
func instead(s *state.State, r nexus.BudgetReserved, p state.Parked) string {
	if p.Until.Sub(s.Updated) <= patience {
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

// ElsewhereError tells a worker to ask another model.
type ElsewhereError struct{ Model, Why string }

// Error implements error.
func (e *ElsewhereError) Error() string { return "ask " + e.Model + " instead: " + e.Why }
