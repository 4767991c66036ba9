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

// counters are values that only grow.
type counters struct {
	seq, requested                int64
	starts, tries, landings, aged int
	spent                         nexus.Money
	usage                         int64
}

func count(s *state.State) counters {
	c := counters{
		seq: s.Seq, requested: s.Requested, starts: s.Starts, tries: s.PlanTries + s.Fixes.Rounds + s.Splits.Sought, landings: len(s.Landings),
		spent: s.Ledger.Spent(), usage: s.Usage.Total(),
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

// inspect checks the invariants of the state whenever the process waits.
func (s *sim) inspect() {
	st := s.core.State
	now, was := count(st), s.before
	if now.seq < was.seq || now.requested < was.requested || now.starts < was.starts || now.tries < was.tries ||
		now.landings < was.landings || now.aged < was.aged || now.spent < was.spent || now.usage < was.usage {
		s.wrong("a counter shrank: %+v, then %+v", was, now)
	}
	s.before = now
	for _, a := range st.Active() {
		if s.workers[run.WorkKey(a.ID)] == nil {
			s.wrong("%s has no worker", a.ID)
		}
	}
	if b := st.CurrentLanding; b != nil && b.Merge.Stage == state.Working && s.workers[run.WorkKey(b.Merge.ID)] == nil {
		s.wrong("%s has no worker", b.Merge.ID)
	}
	for _, p := range []*state.Attempt{st.Planning, st.Judging, st.Mending} {
		if p != nil && p.Stage == state.Working && s.workers[run.WorkKey(p.ID)] == nil {
			s.wrong("%s has no worker", p.ID)
		}
	}
	for _, e := range st.Splits.All {
		if st.Splitting(e.Task) && s.workers[run.WorkKey(e.Attempt)] == nil {
			s.wrong("%s has no worker", e.Attempt)
		}
	}
	for _, t := range st.Tasks {
		if (t.Status == nexus.Parked || t.Status == nexus.Failed || t.Status == nexus.Skipped) && t.Why == "" {
			s.wrong("%s is %s and does not say why", t.ID, t.Status)
		}
	}
	if account := s.audit.Overdue(s.now); account != "" && !s.interrupted && !st.Status.Ended() {
		s.wrong("%s has quota again, and the run does not go on", account)
	}
	if s.dice.IntN(1500) == 0 {
		s.same()
	}
}

// finish checks the invariants of a run that is over.
func (s *sim) finish() {
	st := s.core.State
	if n := len(s.scenario.Tasks) + s.audit.Drafts() + s.audit.Fixes() + s.audit.Parts() + s.audit.Added(); len(st.Tasks) != n && st.Planned {
		s.wrong("%d tasks were planned and %d are there", n, len(st.Tasks))
	}
	if len(st.Requests) > 0 {
		s.wrong("the run ended with request %d unanswered", st.Requests[0].Seq)
	}
	unconfirmed := 0
	if st.CurrentLanding != nil {
		unconfirmed = 1
	}
	if n := len(s.world.Books().Landed) - len(st.Landings); n < 0 || n > unconfirmed {
		s.wrong("%d commits are on the branch and %d are on record", len(s.world.Books().Landed), len(st.Landings))
	}
	c := st.Counts()
	if c[nexus.Landed]+c[nexus.Split] == len(st.Tasks) && st.Status == nexus.StatusPartial && st.Drain == nil && st.Result != nil && st.Result.Verdict.Passed &&
		st.Published != nil && st.Published.Branch != "" && !slices.ContainsFunc(st.Additions, func(a *state.Addition) bool { return a.Why != "" }) {
		s.wrong("all is there and published, and the run is partial: %s", st.Why)
	}
	for _, t := range st.Tasks {
		if st.Status != nexus.StatusPartial && st.Status != nexus.StatusFailed || t.Status == nexus.Landed || t.Status == nexus.Split || st.Drain != nil {
			continue
		}
		if status := st.StatusOf(t); status == nexus.Pending || !strings.Contains(st.Why, string(t.ID)+" is ") {
			s.wrong("the run is %s and does not account for %s, which is %s: %s", st.Status, t.ID, status, st.Why)
		}
	}
}

// same checks that the journal alone yields the state of the process. It omits requests that
// have not reached the process yet.
func (s *sim) same() {
	live := s.core.State
	replayed, err := state.Replay("sim", s.upTo(live.Seq, live.Requested))
	if err != nil {
		s.wrong("replay: %v", err)
		return
	}
	if reflect.DeepEqual(live, replayed) { // then so are the dumps, which take far longer
		return
	}
	a, err := live.Dump()
	if err != nil {
		s.wrong("dump: %v", err)
	}
	b, _ := replayed.Dump()
	if a != b {
		s.wrong("the replayed state differs:\n%s", firstDifference(a, b))
	}
}

func (s *sim) upTo(seq, requested int64) iter.Seq2[nexus.Event, error] {
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
