package sim

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// willRewind reports whether a person will rewind the run before the next process begins, though
// the run is over.
func (s *runSimulator) willRewind() bool { return s.scenario.Rewinds > 0 && s.backs.IntN(2) == 0 }

// maybeRewind lets a person take the run back to some earlier point while it is not running.
// Recording that and moving the branch are two steps: the next process begins after both.
func (s *runSimulator) maybeRewind() {
	if s.scenario.Rewinds == 0 || len(s.journal.events) < 2 || s.backs.IntN(3) == 0 {
		return
	}
	st, err := state.ReplayRun("sim", s.journal.Events(context.Background(), 0))
	if err != nil {
		s.reportViolation("replay: %v", err)
		return
	}
	to := 1 + s.backs.Int64N(st.Seq)
	if points := st.ActiveCheckpoints(); len(points) > 0 && s.backs.IntN(2) == 0 {
		to = points[s.backs.IntN(len(points))].Seq
	}
	then, err := st.StateAt(to)
	if err != nil {
		s.reportViolation("the state at %d: %v", to, err)
		return
	}
	f := nexus.RunRewound{To: to, Tip: then.Tip, From: st.Tip, By: "ann"}
	if st.CheckFacts(f) != nil {
		return // it is in the middle of a step that must not be split
	}
	s.scenario.Rewinds--
	s.addTapeNote("somebody goes back to %d", to)
	spent, asks := st.Ledger.SpentMoney(), len(st.Questions)
	e := s.journal.appendForeign(f)[0]
	if err := st.Apply(e); err != nil {
		s.reportViolation("go back to %d: %v", to, err)
		return
	}
	var landed []string
	for _, l := range then.Landings {
		landed = append(landed, l.Commit)
	}
	s.world.ResetBranch(then.Tip, landed)
	s.checkRewind(st, then, spent, asks)
	s.before.landings, s.before.aged = 0, 0
}

// checkRewind checks the invariants of a rewound run: it is in the earlier state, no worker is active,
// and no spending and no question since then is forgotten.
func (s *runSimulator) checkRewind(st, then *state.State, spent nexus.Money, asks int) {
	if st.Tip != then.Tip || len(st.Landings) != len(then.Landings) || len(st.Tasks) != len(then.Tasks) || st.Status != then.Status {
		s.reportViolation("the run went back to %s with %d landings, %d tasks, %s; then it was at %s with %d, %d, %s",
			st.Tip, len(st.Landings), len(st.Tasks), st.Status, then.Tip, len(then.Landings), len(then.Tasks), then.Status)
	}
	if len(st.ActiveAttempts()) > 0 || st.CurrentLanding != nil || len(st.Queue) > 0 {
		s.reportViolation("the run went back, and %d attempts work", len(st.ActiveAttempts()))
	}
	if st.Ledger.SpentMoney() != spent || len(st.Questions) != asks {
		s.reportViolation("the run went back, and %s of %s is spent, %d of %d questions were asked", st.Ledger.SpentMoney(), spent, len(st.Questions), asks)
	}
	for _, t := range st.Tasks {
		if was := then.TaskByID(t.ID); (was.Status == nexus.Landed) != (t.Status == nexus.Landed) {
			s.reportViolation("the run went back, and %s is %s, and was %s", t.ID, t.Status, was.Status)
		}
	}
}
