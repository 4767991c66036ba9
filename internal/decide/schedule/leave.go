package schedule

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Leave is the answer to a worker that wants to call a model. The zero Leave
// lets it wait.
type Leave struct {
	Granted bool
	Stop    string               // not any more, and why
	Refused *nexus.BudgetRefused // no money
}

// MaySpend decides on one call of a model. A worker waits while the run is
// paused, while its role has no slot, and while money that others set aside
// may come back. What a call in flight asks for on top of its own reservation,
// for a try that failed, never waits: it would wait for itself, or for another
// that waits for it.
func MaySpend(s *state.State, r nexus.BudgetReserved) Leave {
	t := s.Task(r.Task)
	switch {
	case s.Drain != nil:
		return Leave{Stop: s.Drain.Why}
	case s.Status.Ended():
		return Leave{Stop: "the run has ended"}
	case t != nil && t.Status.Ended():
		return Leave{Stop: t.Why}
	case s.Status == nexus.StatusPaused || s.Status == nexus.StatusRecovering:
		return Leave{}
	}
	trying := s.Ledger.Calls(r.Session)
	if n := s.Limits.PerRole[r.Role]; n > 0 && !trying && s.Ledger.Of(r.Role) >= n {
		return Leave{}
	}
	refused, no := s.Ledger.Check(r)
	switch {
	case !no:
		return Leave{Granted: true}
	case !trying && s.Ledger.MayFit(r):
		return Leave{}
	}
	return Leave{Refused: &refused}
}
