package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Reason is one thing that moves a finding up or down, in words.
type Reason struct {
	Points int    `json:"points"`
	Why    string `json:"why"`
}

// Ranked is a finding with its place.
type Ranked struct {
	Finding

	Score   int      `json:"score"`
	Reasons []Reason `json:"reasons"` // whose points are the score together
}

// What moves a finding. Most figures are those of the predecessor; where it
// gives others, decision 0080 says why.
const (
	hotFile      = 5 // more changes than this among the last commits
	hotPoints    = 150
	testPoints   = 10 // each time that its untested lines, times the changes of their file, double
	blocksPoints = 100
	dayPoints    = 50 // for each day that it waits
	mostWaiting  = 150
	failPoints   = 100 // taken off for each time that it was tried and failed
	mostFailed   = 300
	areaFailures = 2 // pieces of work in its directory that failed within areaTime
	areaTime     = 24 * time.Hour
	areaPoints   = 100
	chancePoints = 200 // between the best and the worst chance
	minSample    = 5   // pieces of work of a strategy from which its chance is known
	costEach     = 3   // minutes that take off a point
	mostCost     = 40
	dollarPoints = 40 // taken off for each dollar that what landed of its strategy cost
	mostDollars  = 200
	checkPoints  = 50 // taken off where nothing can say that it is done
)

// ManyRely is on how many files' account a fault in one is felt widely.
const ManyRely = 5

// Weigh returns the place of a finding, and why.
func Weigh(f Finding, w RankFacts) Ranked {
	r := Ranked{Finding: f}
	add := func(points int, format string, args ...any) {
		if points != 0 {
			r.Reasons = append(r.Reasons, Reason{points, fmt.Sprintf(format, args...)})
			r.Score += points
		}
	}
	severity := cmp.Or(f.Severity, nexus.PriorityMedium)
	add(severity.Score(), "its severity is %s", severity)
	if file, times := w.hottest(f); times > hotFile {
		add(hotPoints, "%s changed %d times in the last %d commits", file, times, HistoryCommits)
	}
	if f.Strategy == "test-coverage" {
		_, changes := w.hottest(f)
		add(testPoints*int(math.Log2(float64(max(f.Count, 1)*max(changes, 1)))), "%s without a test, times %s of the file",
			count(f.Count, "line"), count(changes, "change"))
	}
	if file, rely := w.reliedOn(f); rely >= ManyRely {
		add(blocksPoints, "%d files rely on %s", rely, file)
	} else if f.Strategy == "build-errors" {
		add(blocksPoints, "nothing can be tested while the build fails")
	}
	if first, ok := w.Since[f.ID]; ok && w.Now.After(first) {
		days := int(w.Now.Sub(first).Hours() / 24)
		add(min(days*dayPoints, mostWaiting), "it has been known for %s", count(days, "day"))
	}
	past := w.Past.Findings[f.ID]
	add(-min(past.Failed*failPoints, mostFailed), "it was tried %s and did not land", times(past.Failed))
	for _, dir := range f.areas() {
		if n := w.Past.failedIn(dir, w.Now.Add(-areaTime)); n >= areaFailures {
			add(-areaPoints, "%d pieces of work in %s failed in the last 24 hours", n, dir)
			break
		}
	}
	if s := w.Past.Strategies[f.Strategy]; s.Landed+s.Failed >= minSample {
		share := float64(s.Landed) / float64(s.Landed+s.Failed)
		add(int((share-0.5)*chancePoints), "%d of %d findings of %s that were tried have landed", s.Landed, s.Landed+s.Failed, f.Strategy)
		if s.Landed > 0 {
			each := s.Spent / nexus.Money(s.Landed)
			add(-min(int(each.Float()*dollarPoints), mostDollars), "findings of %s cost %s for each that landed", f.Strategy, each)
		}
	}
	add(-min(f.Minutes/costEach, mostCost), "it may take %s", count(f.Minutes, "minute"))
	if f.Check == "" {
		add(-checkPoints, "no command says when it is done")
	}
	return r
}

// Rank puts findings in the order in which they are worth doing: by their score, then
// the quicker, then the one with the fewer places, and then by their IDs, so that the
// same findings always come in the same order.
func Rank(all []Finding, w RankFacts) []Ranked {
	ranked := make([]Ranked, len(all))
	for i, f := range all {
		ranked[i] = Weigh(f, w)
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Minutes, b.Minutes), cmp.Compare(len(a.Places), len(b.Places)),
			cmp.Compare(a.ID, b.ID))
	})
	return ranked
}

// hottest returns the file of a finding that changed most often.
func (w RankFacts) hottest(f Finding) (file string, times int) {
	for _, name := range f.Files() {
		if t := w.Changes[name]; t.Times > times {
			file, times = name, t.Times
		}
	}
	return file, times
}

// reliedOn returns the file of a finding on which most others rely.
func (w RankFacts) reliedOn(f Finding) (file string, rely int) {
	for _, name := range f.Files() {
		if n := w.Dependants[name]; n > rely {
			file, rely = name, n
		}
	}
	return file, rely
}

// areas returns the directories of its files, each once.
func (f Finding) areas() []string {
	var all []string
	for _, name := range f.Files() {
		if dir := area(name); !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
