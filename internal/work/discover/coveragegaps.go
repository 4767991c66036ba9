package discover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/toolreport"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// fewLines is the least number of uncovered lines that are worth a task, in a file that
// changed as often as oftenChanged.
const (
	fewLines     = 5
	oftenChanged = 2
)

// findUncoveredCode finds lines that no test runs and that changed recently, or on which many files
// depend.
func findUncoveredCode(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Sorted: true}
	gates, err := s.gatesForSteps(ctx, "test")
	if err != nil {
		return found, err
	}
	if why, err := s.redBuildReason(ctx); err != nil || why != "" {
		found.Skipped = why
		return found, err
	}
	measured := false
	for _, g := range gates {
		if len(g.Goes.Args) == 0 || coverageCheckCommand(g, toolreport.FileCoverageTarget{File: "a", Percent: 1}) == "" {
			continue
		}
		measured = true
		if e, known := s.judged[g.Name+"\x00"+g.Command()]; known && len(inconclusiveReasons(e)) > 0 {
			// the same tests would report the same again
			found.Notes = append(found.Notes, inconclusiveReasons(e)...)
			continue
		}
		cover := gate.QualityGate{Name: "coverage: " + g.Name, Dir: g.Dir, Args: g.Goes.Args, Format: g.Goes.Format, Timeout: g.Timeout}
		e, printed, err := s.runGate(ctx, cover)
		if err != nil {
			return found, err
		}
		if e.State != nexus.Pass {
			why := fmt.Sprintf("%s, %s", e.State, cmp.Or(e.Why, "no reason is known"))
			if e.State == nexus.Fail {
				why = "its tests fail"
			}
			found.Notes = append(found.Notes, fmt.Sprintf("the coverage of gate %s is not known: %s", g.Name, why))
			continue
		}
		all, err := s.coverageGapFindings(ctx, g, printed)
		if err != nil {
			return found, err
		}
		found.Findings = append(found.Findings, all...)
	}
	if !measured {
		found.Skipped = "no tests here whose coverage a command can be asked for: docs/improve.md names those that can be"
	}
	return found, nil
}

// uncoveredFile is a file with its uncovered lines.
type uncoveredFile struct {
	file    string
	lines   []string
	hits    map[int]int
	missed  []int // numbers of lines
	changes int   // number of recent changes of the file
	rely    int   // files that depend on it
}

// gapValue returns the value of closing the gap: its lines, times the changes of its file.
func (p uncoveredFile) gapValue() int { return len(p.missed) * max(p.changes, 1) }

// coverageGapFindings makes a finding of each file of a coverage report with uncovered lines, the most
// valuable first.
func (s *SourceTree) coverageGapFindings(ctx context.Context, g gate.QualityGate, printed string) ([]discoveredwork.WorkFinding, error) {
	churn, err := s.recentFileChanges(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range s.files {
		names = append(names, f.path)
	}
	covered := changemetrics.ReadCoverageReport(g.Goes.Format, toolreport.CutReport(g.Goes.Format, printed)).WithDirectory(g.Dir)
	placed := changemetrics.PlaceCoverage(covered, names, gosource.GoModules(s.root.FS()))
	var open []uncoveredFile
	for _, name := range names {
		if !placed.CoversFileKind(name) || isAuxiliaryFile(name) || !isSafeInCheck(name) {
			continue
		}
		p := uncoveredFile{file: name, hits: placed.LineHits(name), changes: churn[name].Times}
		if p.lines, err = s.readTextLines(ctx, name); err != nil {
			return nil, err
		}
		if p.missed = changemetrics.UncoveredLines(p.lines, p.hits); len(p.missed) >= fewLines {
			open = append(open, p)
		}
	}
	heaviest := func(a, b uncoveredFile) int {
		return cmp.Or(cmp.Compare(b.gapValue(), a.gapValue()), cmp.Compare(a.file, b.file))
	}
	slices.SortStableFunc(open, heaviest)
	open = open[:min(len(open), mostAsked)]
	if err := s.countGapDependents(ctx, open); err != nil {
		return nil, err
	}
	var left []uncoveredFile
	for _, p := range open {
		if p.rely < discoveredwork.ManyRely { // in a file with many dependents, all lines count
			if p.missed, err = s.recentUncoveredLines(ctx, p); err != nil {
				return nil, err
			}
		}
		if len(p.missed) >= fewLines {
			left = append(left, p)
		}
	}
	slices.SortStableFunc(left, heaviest)
	var all []discoveredwork.WorkFinding
	for _, p := range left {
		if f, ok := p.coverageFinding(g); ok {
			all = append(all, f)
		}
	}
	return all, nil
}

// countGapDependents counts the dependents of the files.
func (s *SourceTree) countGapDependents(ctx context.Context, all []uncoveredFile) error {
	rely, files := map[string]int{}, make([]string, len(all))
	for i, p := range all {
		files[i] = p.file
	}
	if err := s.countDependents(ctx, files, rely); err != nil {
		return err
	}
	for i, p := range all {
		all[i].rely = rely[p.file]
	}
	return nil
}

// recentUncoveredLines returns the uncovered lines that one of the last commits wrote, in a file that they
// changed more than once: a file that was written once and never changed has no churn.
func (s *SourceTree) recentUncoveredLines(ctx context.Context, p uncoveredFile) ([]int, error) {
	if p.changes < oftenChanged {
		return nil, nil
	}
	var ranges []string
	for _, run := range changemetrics.ConsecutiveLines(p.missed) {
		ranges = append(ranges, "-L", fmt.Sprintf("%d,%d", run[0], run[len(run)-1]))
	}
	written, err := s.o.Repo.Blame(ctx, s.o.Commit, p.file, ranges)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(p.missed), func(n int) bool { return !s.late[written.Lines[n]] }), nil
}

// coverageFinding makes a finding of a gap: it is done when tests cover its lines.
func (p uncoveredFile) coverageFinding(g gate.QualityGate) (discoveredwork.WorkFinding, bool) {
	f := discoveredwork.WorkFinding{
		ID: discoveredwork.FindingID("test-coverage", p.file), Strategy: "test-coverage", Kind: discoveredwork.Test, Severity: nexus.PriorityMedium,
		Count: len(p.missed), Minutes: discoveredwork.EstimateMinutes("test-coverage", len(p.missed)/10),
	}
	var where, shown []string
	for _, run := range changemetrics.ConsecutiveLines(p.missed) {
		f.Places = append(f.Places, discoveredwork.FindingPlace{File: p.file, Line: run[0]})
		at := fmt.Sprint(run[0])
		if len(run) > 1 {
			at = fmt.Sprintf("%d-%d", run[0], run[len(run)-1])
		}
		where = append(where, at)
		shown = append(shown, fmt.Sprintf("%d: %s", run[0], truncateRunes(strings.TrimSpace(p.lines[run[0]-1]), 80)))
	}
	f.Places = f.Places[:min(len(f.Places), 20)]
	f.Evidence = strings.Join(shown[:min(len(shown), 5)], "\n")
	what := "changed line"
	f.Why = fmt.Sprintf("no test runs lines %s; the file changed %s in the last %d commits",
		joinSome(where, 10), pluralCount(p.changes, "time"), discoveredwork.HistoryCommits)
	if p.rely >= discoveredwork.ManyRely {
		what = "line"
		f.Why += fmt.Sprintf(", and %d files rely on it", p.rely)
	}
	f.Title = fmt.Sprintf("Test %s of %s that no test runs", pluralCount(len(p.missed), what), p.file)
	f.Check = p.coverageCheck(g)
	return f, f.Check != ""
}

// coverageCheck returns a command that fails as long as a line of the gap is not tested. It identifies
// lines by their texts, so that they may move: one line of each row, of the longest rows
// first, as many as fit. If no text of them is unique, the command checks the coverage of the
// file in percent instead.
func (p uncoveredFile) coverageCheck(g gate.QualityGate) string {
	rows := changemetrics.ConsecutiveLines(p.missed)
	slices.SortStableFunc(rows, func(a, b []int) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0], b[0])) })
	best, texts := "", []string(nil)
	for _, row := range rows {
		text := changemetrics.UniqueLineText(p.lines, row)
		if text == "" {
			continue
		}
		check := coverageCheckCommand(g, toolreport.FileCoverageTarget{File: p.file, Texts: append(slices.Clone(texts), text)})
		if check != "" {
			best, texts = check, append(texts, text)
		}
	}
	if best != "" {
		return best
	}
	tested := len(p.missed)
	for _, times := range p.hits {
		if times > 0 {
			tested++
		}
	}
	return coverageCheckCommand(g, toolreport.FileCoverageTarget{File: p.file, Percent: 100 * tested / max(len(p.hits), 1)})
}
