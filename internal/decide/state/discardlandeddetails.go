package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DiscardLandedDetails makes the state discard, once a task has landed, the data that only
// the run's conductor needs: the messages of its sessions and the evidence that may be
// reused. The rest of its attempts is stored in a compact form: see [AttemptByID.UnpackedCopy]. It
// returns the state. A run can be displayed from such a state, but not continued.
func (s *State) DiscardLandedDetails() *State {
	s.shelf = newAttemptPacker()
	return s
}

// discardAfterLanding discards the data that is no longer needed after a fact.
func (s *State) discardAfterLanding(f nexus.Fact) {
	landed, ok := f.(nexus.LandingCompleted)
	if !ok || s.shelf == nil {
		return
	}
	if m := s.attempts[MergerAttemptID(landed.Attempt)]; m != nil && len(m.Sessions) == 0 {
		delete(s.attempts, m.ID)
	}
	t := s.tasks[landed.Task]
	if n := len(s.Landings); n > 1 && s.Landings[n-2].Commit == t.Landed.Parent {
		t.Landed.Parent = s.Landings[n-2].Commit // shares one copy of the text
	}
	for _, a := range t.Attempts {
		s.Alerts.forgetAttempt(a)
		for _, r := range a.Rounds {
			for _, e := range r.Evidence {
				delete(s.evidence, evidenceKey{e.Tree, e.Gate})
			}
			r.Reviews = slices.Clip(r.Reviews)
		}
		for _, c := range a.Sessions {
			c.Messages, c.Looked, c.Memory, c.Compact, c.Before, c.Unheard, c.Tally = nil, nil, nil, nexus.SessionCompacted{}, 0, 0, ToolCallTally{}
			delete(s.sessions, c.Session)
		}
		shareEqualTexts(t, a)
		s.shelf.packAttempt(a)
	}
}

// shareEqualTexts stores each text once that several facts about an attempt contain.
func shareEqualTexts(t *TaskState, a *AttemptState) {
	texts := map[string]string{}
	one := func(s string) string {
		if known, ok := texts[s]; ok {
			return known
		}
		texts[s] = s
		return s
	}
	for _, id := range []string{string(t.ID), string(a.ID)} {
		one(id)
	}
	a.Task, a.Base, a.Commit, a.Tree = t.ID, one(a.Base), one(a.Commit), one(a.Tree)
	a.Snapshot.Attempt, a.Snapshot.Commit, a.Snapshot.Tree = a.ID, one(a.Snapshot.Commit), one(a.Snapshot.Tree)
	for _, c := range a.Sessions {
		one(string(c.Session))
	}
	for _, r := range a.Rounds {
		r.Session, r.Base, r.From, r.Commit = nexus.SessionID(one(string(r.Session))), one(r.Base), one(r.From), one(r.Commit)
		if v := r.Verdict; v != nil {
			v.Attempt, v.Tree = a.ID, one(v.Tree)
		}
		for i := range r.Evidence {
			r.Evidence[i].Tree = one(r.Evidence[i].Tree)
		}
	}
	if l := t.Landed; l != nil {
		l.Task, l.Attempt, l.Tree, l.Commit = t.ID, nexus.AttemptID(one(string(l.Attempt))), one(l.Tree), one(l.Commit)
	}
}
