// Package flaky finds in the facts the tests that cannot be trusted: those
// that failed and passed on one and the same tree, how often, and in which
// runs. It also holds the quarantine: tests whose failure does not count for
// a while, which, why, since when and until when. People keep it, in a file
// of the repository; it judges agents, so they never write it.
//
// A day is a day of UTC, which callers bring along.
package flaky

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FlakyTest is a test that was seen flaky.
type FlakyTest struct {
	Test   string        `json:"test"`
	Gate   string        `json:"gate"`
	Times  int           `json:"times"`  // judgements in which it was
	Judged int           `json:"judged"` // of its gate, since it was first
	Failed int           `json:"failed"` // runs of the test, in all of these
	Runs   int           `json:"runs"`
	In     []nexus.RunID `json:"in"` // in their order
	First  time.Time     `json:"first"`
	Last   time.Time     `json:"last"`
}

// judgement is what one gate said once.
type judgement struct {
	gate string
	at   time.Time
	red  map[string]bool // tests that failed, whether that counted or not
}

// History is what runs saw of tests. The zero History saw nothing.
type History struct {
	seen   map[[2]string]*FlakyTest
	judged []judgement
}

// ReadHistory folds events, in their order. Judgements that were taken over from earlier
// ones are none.
func ReadHistory(events iter.Seq2[nexus.Event, error]) (History, error) {
	h := History{seen: map[[2]string]*FlakyTest{}}
	for ev, err := range events {
		if err != nil {
			return h, err
		}
		f, ok := ev.Fact.(nexus.GateJudged)
		if !ok || f.Cached || f.Evidence.Counts == (nexus.Counts{}) {
			continue
		}
		e := f.Evidence
		j := judgement{gate: e.Gate, at: ev.At, red: map[string]bool{}}
		for _, x := range e.Findings {
			if x.Test != "" {
				j.red[x.Test] = true
			}
		}
		for _, x := range e.Flaky {
			j.red[x.Test] = true
			h.add(x, e.Gate, ev)
		}
		h.judged = append(h.judged, j)
	}
	return h, nil
}

// add takes a test that was flaky. One in quarantine that merely failed was not
// seen to be.
func (h History) add(x nexus.Flake, gate string, ev nexus.Event) {
	if x.Quarantine != "" && x.Runs < 2 {
		return
	}
	k := [2]string{gate, x.Test}
	s := h.seen[k]
	if s == nil {
		s = &FlakyTest{Test: x.Test, Gate: gate, First: ev.At}
		h.seen[k] = s
	}
	s.Times, s.Failed, s.Runs, s.Last = s.Times+1, s.Failed+x.Failed, s.Runs+x.Runs, ev.At
	if !slices.Contains(s.In, ev.Run) {
		s.In = append(s.In, ev.Run)
	}
}

// Suggest returns the tests that were seen flaky and are not in quarantine, the
// most often seen first. It suggests, and nothing more: who fixes a test knows
// better.
func (h History) Suggest(r QuarantineOn) []FlakyTest {
	var all []FlakyTest
	for _, k := range slices.SortedStableFunc(maps.Keys(h.seen), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		s := *h.seen[k]
		if e, ok := r.List.Of(s.Gate, s.Test, r.Day); ok && e.Active(r.Day) {
			continue
		}
		for _, j := range h.judged {
			if j.gate == s.Gate && !j.at.Before(s.First) {
				s.Judged++
			}
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b FlakyTest) int { return cmp.Or(b.Times-a.Times, b.Last.Compare(a.Last)) })
	return all
}

// Enough is how many judgements without a failure say that a test is fixed.
const Enough = 10

// Since returns how often gates with tests judged since an entry began, and how
// often its test failed then.
func (h History) Since(e Entry) (judged, red int) {
	for _, j := range h.judged {
		if j.at.Before(e.Since.Time) || e.Gate != "" && j.gate != e.Gate || e.Gate == "" && j.gate != "test" && !strings.HasPrefix(j.gate, "test-") {
			continue
		}
		judged++
		for test := range j.red {
			if test == e.Test || strings.HasPrefix(test, e.Test+"/") {
				red++
				break
			}
		}
	}
	return judged, red
}
