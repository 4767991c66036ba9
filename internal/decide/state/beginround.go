package state

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// beginRound begins a round.
func (a *AttemptState) beginRound(f nexus.RoundStarted) {
	from := cmp.Or(a.Snapshot.Commit, a.Start, a.Base)
	a.Rounds = append(a.Rounds, &AttemptRound{RoundStarted: f, Base: a.Base, From: from, Commit: a.Snapshot.Commit, Handed: a.Handed, HandedWhy: a.HandedWhy})
	a.Handed, a.HandedWhy = nil, ""
	switch f.Cause {
	case nexus.PersonCause:
		a.Sent = nil
	case nexus.AnswerCause:
		a.Reminded = append(clipCapacity(a.Reminded), a.UnansweredComments()...)
	}
	if s := a.SessionByID(f.Session); s != nil {
		s.Over, s.Outcome = false, ""
	}
}
