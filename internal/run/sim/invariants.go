package sim

import (
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
)

// monotonicCounters are values that only grow.
type monotonicCounters struct {
	seq, requested                int64
	starts, tries, landings, aged int
	spent                         nexus.Money
	usage                         int64
}

func countMonotonic(s *state.State) monotonicCounters {
	c := monotonicCounters{
		seq: s.Seq, requested: s.Requested, starts: s.Starts, tries: s.PlanTries + s.Fixes.Rounds + s.Splits.Sought, landings: len(s.Landings),
		spent: s.Ledger.SpentMoney(), usage: s.Spending.Total().Usage.TotalTokens(),
	}
	for _, t := range s.Tasks {
		if !s.Planned {
			break // those of a refused plan are gone
		}
		c.aged += t.Rounds + t.Retried + len(t.Attempts)
		for _, a := range t.Attempts {
			c.aged += a.Losses + a.Refusals + len(a.Rounds) + len(a.Sessions)
		}
	}
	return c
}

// checkInvariants checks the invariants of the state whenever the process waits.
func (s *runSimulator) checkInvariants() {
	st := s.core.State
	now, was := countMonotonic(st), s.before
	if now.seq < was.seq || now.requested < was.requested || now.starts < was.starts || now.tries < was.tries ||
		now.landings < was.landings || now.aged < was.aged || now.spent < was.spent || now.usage < was.usage {
		s.reportViolation("a counter shrank: %+v, then %+v", was, now)
	}
	s.before = now
	for _, a := range st.ActiveAttempts() {
		if s.workers[run.WorkKey(a.ID)] == nil {
			s.reportViolation("%s has no worker", a.ID)
		}
	}
	if b := st.CurrentLanding; b != nil && b.Merge.Stage == state.Working && s.workers[run.WorkKey(b.Merge.ID)] == nil {
		s.reportViolation("%s has no worker", b.Merge.ID)
	}
	for _, p := range []*state.AttemptState{st.Planning, st.Judging, st.Mending} {
		if p != nil && p.Stage == state.Working && s.workers[run.WorkKey(p.ID)] == nil {
			s.reportViolation("%s has no worker", p.ID)
		}
	}
	for _, e := range st.Splits.All {
		if st.IsSplitting(e.Task) && s.workers[run.WorkKey(e.Attempt)] == nil {
			s.reportViolation("%s has no worker", e.Attempt)
		}
	}
	for _, t := range st.Tasks {
		if (t.Status == nexus.Parked || t.Status == nexus.Failed || t.Status == nexus.Skipped) && t.Why == "" {
			s.reportViolation("%s is %s and does not say why", t.ID, t.Status)
		}
	}
	if account := s.audit.OverdueAccount(s.now); account != "" && !s.interrupted && !st.Status.HasEnded() {
		s.reportViolation("%s has quota again, and the run does not go on", account)
	}
	if s.dice.IntN(1500) == 0 {
		s.checkReplay()
	}
}

// checkFinishedRun checks the invariants of a run that is over.
func (s *runSimulator) checkFinishedRun() {
	st := s.core.State
	if n := len(s.scenario.Tasks) + s.audit.CountDrafts() + s.audit.CountFixes() + s.audit.CountParts() + s.audit.CountAddedTasks(); len(st.Tasks) != n && st.Planned {
		s.reportViolation("%d tasks were planned and %d are there", n, len(st.Tasks))
	}
	if len(st.Requests) > 0 {
		s.reportViolation("the run ended with request %d unanswered", st.Requests[0].Seq)
	}
	unconfirmed := 0
	if st.CurrentLanding != nil {
		unconfirmed = 1
	}
	if n := len(s.world.Snapshot().Landed) - len(st.Landings); n < 0 || n > unconfirmed {
		s.reportViolation("%d commits are on the branch and %d are on record", len(s.world.Snapshot().Landed), len(st.Landings))
	}
	c := st.CountTasksByStatus()
	if c[nexus.Landed]+c[nexus.Split] == len(st.Tasks) && st.Status == nexus.StatusPartial && st.Drain == nil && st.Result != nil && st.Result.Verdict.Passed &&
		st.Published != nil && st.Published.Branch != "" && !slices.ContainsFunc(st.Additions, func(a *state.RunAddition) bool { return a.Why != "" }) {
		s.reportViolation("all is there and published, and the run is partial: %s", st.Why)
	}
	for _, t := range st.Tasks {
		if st.Status != nexus.StatusPartial && st.Status != nexus.StatusFailed || t.Status == nexus.Landed || t.Status == nexus.Split || st.Drain != nil {
			continue
		}
		if status := st.StatusOf(t); status == nexus.Pending || !strings.Contains(st.Why, string(t.ID)+" is ") {
			s.reportViolation("the run is %s and does not account for %s, which is %s: %s", st.Status, t.ID, status, st.Why)
		}
	}
}

// checkReplay checks that the journal alone yields the state of the process. It omits requests that
// have not reached the process yet.
func (s *runSimulator) checkReplay() {
	live := s.core.State
	replayed, err := state.ReplayRun("sim", s.eventsUpTo(live.Seq, live.Requested))
	if err != nil {
		s.reportViolation("replay: %v", err)
		return
	}
	if reflect.DeepEqual(live, replayed) { // then so are the dumps, which take far longer
		return
	}
	a, err := live.DumpJSON()
	if err != nil {
		s.reportViolation("dump: %v", err)
	}
	b, _ := replayed.DumpJSON()
	if a != b {
		s.reportViolation("the replayed state differs:\n%s", firstDifference(a, b))
	}
}

func (s *runSimulator) eventsUpTo(seq, requested int64) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range s.journal.events {
			if _, request := e.Fact.(nexus.RequestMade); e.Seq > seq || request && e.Seq > requested {
				continue
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.SplitAfter(a, ","), strings.SplitAfter(b, ",")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			from := max(0, i-3)
			return strings.Join(x[from:i+1], "") + "\nreplayed:\n" + strings.Join(y[from:i+1], "")
		}
	}
	return "one is longer"
}
