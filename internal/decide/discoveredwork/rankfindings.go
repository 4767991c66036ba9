package discoveredwork

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RankReason is one factor that raises or lowers a finding's score, in words.
type RankReason struct {
	Points int    `json:"points"`
	Why    string `json:"why"`
}

// RankedFinding is a finding with its score and place.
type RankedFinding struct {
	WorkFinding

	Score   int          `json:"score"`
	Reasons []RankReason `json:"reasons"` // their points add up to the score
}

// Weights of the score. Most values are those of the predecessor; decision 0080 gives the
// reasons for the others.
const (
	// minimum number of changes among the last commits for a file to count as hot; must be
	// exceeded.
	hotFile      = 5
	hotPoints    = 150
	testPoints   = 10 // doubled for each time that its untested lines, times the changes of their file, double
	blocksPoints = 100
	dayPoints    = 50 // for each day of waiting
	mostWaiting  = 150
	failPoints   = 100 // deducted for each failed try
	mostFailed   = 300
	areaFailures = 2 // failures in its directory within areaTime
	areaTime     = 24 * time.Hour
	areaPoints   = 100
	chancePoints = 200 // between the best and the worst success rate
	minSample    = 5   // pieces of work of a strategy from which its success rate counts
	costEach     = 3   // minutes for which one point is deducted
	mostCost     = 40
	dollarPoints = 40 // deducted for each dollar of the average cost of the strategy's landed work
	mostDollars  = 200
	checkPoints  = 50 // deducted if no check can show that it is done
)

// ManyRely is the number of dependent files from which a fault in a file has wide effects.
const ManyRely = 5

// RankFinding returns the score of a finding, with reasons.
func RankFinding(f WorkFinding, w RankingInput) RankedFinding {
	r := RankedFinding{WorkFinding: f}
	add := func(points int, format string, args ...any) {
		if points != 0 {
			r.Reasons = append(r.Reasons, RankReason{points, fmt.Sprintf(format, args...)})
			r.Score += points
		}
	}
	severity := cmp.Or(f.Severity, nexus.PriorityMedium)
	add(severity.NumericScore(), "its severity is %s", severity)
	if file, times := w.mostChangedFile(f); times > hotFile {
		add(hotPoints, "%s changed %d times in the last %d commits", file, times, HistoryCommits)
	}
	if f.Strategy == "test-coverage" {
		_, changes := w.mostChangedFile(f)
		add(testPoints*int(math.Log2(float64(max(f.Count, 1)*max(changes, 1)))), "%s without a test, times %s of the file",
			countText(f.Count, "line"), countText(changes, "change"))
	}
	if file, rely := w.mostReliedOnFile(f); rely >= ManyRely {
		add(blocksPoints, "%d files rely on %s", rely, file)
	} else if f.Strategy == "build-errors" {
		add(blocksPoints, "nothing can be tested while the build fails")
	}
	if first, ok := w.Since[f.ID]; ok && w.Now.After(first) {
		days := int(w.Now.Sub(first).Hours() / 24)
		add(min(days*dayPoints, mostWaiting), "it has been known for %s", countText(days, "day"))
	}
	past := w.Past.Findings[f.ID]
	add(-min(past.Failed*failPoints, mostFailed), "it was tried %s and did not land", timesText(past.Failed))
	for _, dir := range f.fileDirectories() {
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
			add(-min(int(each.Dollars()*dollarPoints), mostDollars), "findings of %s cost %s for each that landed", f.Strategy, each)
		}
	}
	add(-min(f.Minutes/costEach, mostCost), "it may take %s", countText(f.Minutes, "minute"))
	if f.Check == "" {
		add(-checkPoints, "no command says when it is done")
	}
	return r
}

// RankFindings sorts findings by the order in which they are worth doing: by score, then by time,
// then by number of places, and then by ID, so that the same findings always come in the same
// order.
func RankFindings(all []WorkFinding, w RankingInput) []RankedFinding {
	ranked := make([]RankedFinding, len(all))
	for i, f := range all {
		ranked[i] = RankFinding(f, w)
	}
	slices.SortStableFunc(ranked, func(a, b RankedFinding) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Minutes, b.Minutes), cmp.Compare(len(a.Places), len(b.Places)),
			cmp.Compare(a.ID, b.ID))
	})
	return ranked
}

// mostChangedFile returns the file of a finding that changed most often.
func (w RankingInput) mostChangedFile(f WorkFinding) (file string, times int) {
	for _, name := range f.FilePaths() {
		if t := w.Changes[name]; t.Times > times {
			file, times = name, t.Times
		}
	}
	return file, times
}

// mostReliedOnFile returns the file of a finding with the most dependent files.
func (w RankingInput) mostReliedOnFile(f WorkFinding) (file string, rely int) {
	for _, name := range f.FilePaths() {
		if n := w.Dependants[name]; n > rely {
			file, rely = name, n
		}
	}
	return file, rely
}

// fileDirectories returns the directories of its files, without repetition.
func (f WorkFinding) fileDirectories() []string {
	var all []string
	for _, name := range f.FilePaths() {
		if dir := directoryOf(name); !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

func countText(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func timesText(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
