// Package flaky finds unreliable tests in the facts: tests that failed and passed on the same
// tree, with the frequency and the runs. It also contains the quarantine: a list of tests
// whose failures do not count for a while, each with a reason and two dates. People maintain
// it in a file of the repository. It judges agents, so they never write it.
//
// Days are in UTC and are passed in by callers.
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

// FlakyTest is a test that was found flaky.
type FlakyTest struct {
	Test   string        `json:"test"`
	Gate   string        `json:"gate"`
	Times  int           `json:"times"`  // judgements in which it was flaky
	Judged int           `json:"judged"` // judgements of its gate since its first one
	Failed int           `json:"failed"` // runs of the test, in all of these
	Runs   int           `json:"runs"`
	In     []nexus.RunID `json:"in"` // the runs, in order
	First  time.Time     `json:"first"`
	Last   time.Time     `json:"last"`
}

// judgedGateRun is one result of one gate.
type judgedGateRun struct {
	gate string
	at   time.Time
	red  map[string]bool // tests that failed, whether the failure counted or not
}

// TestResultHistory is the record of tests over several runs. The zero value is empty.
type TestResultHistory struct {
	seen   map[[2]string]*FlakyTest
	judged []judgedGateRun
}

// ReadTestHistory folds events, in order. Cached judgements are skipped.
func ReadTestHistory(events iter.Seq2[nexus.Event, error]) (TestResultHistory, error) {
	h := TestResultHistory{seen: map[[2]string]*FlakyTest{}}
	for ev, err := range events {
		if err != nil {
			return h, err
		}
		f, ok := ev.Fact.(nexus.GateJudged)
		if !ok || f.Cached || f.Evidence.Counts == (nexus.TestCounts{}) {
			continue
		}
		e := f.Evidence
		j := judgedGateRun{gate: e.Gate, at: ev.At, red: map[string]bool{}}
		for _, x := range e.Findings {
			if x.Test != "" {
				j.red[x.Test] = true
			}
		}
		for _, x := range e.Flaky {
			j.red[x.Test] = true
			h.addFlakyTest(x, e.Gate, ev)
		}
		h.judged = append(h.judged, j)
	}
	return h, nil
}

// addFlakyTest records a flaky test. A quarantined test that only failed was not seen flaky.
func (h TestResultHistory) addFlakyTest(x nexus.FlakyTestCount, gate string, ev nexus.Event) {
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

// SuggestQuarantine returns flaky tests that are not in quarantine, the most frequent first. It is only
// a suggestion: a person may prefer to fix the test.
func (h TestResultHistory) SuggestQuarantine(r DatedQuarantine) []FlakyTest {
	var all []FlakyTest
	for _, k := range slices.SortedStableFunc(maps.Keys(h.seen), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		s := *h.seen[k]
		if e, ok := r.List.EntryFor(s.Gate, s.Test, r.Day); ok && e.IsActive(r.Day) {
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

// Enough is the number of judgements without a failure after which a test counts as fixed.
const Enough = 10

// CountJudgedSince returns how often gates with tests judged since the start of an entry, and how often
// its test failed.
func (h TestResultHistory) CountJudgedSince(e QuarantineEntry) (judged, red int) {
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
