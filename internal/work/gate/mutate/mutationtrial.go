package mutate

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// MutantState is the result of a fault.
type MutantState string

// The states.
const (
	Killed     MutantState = "killed"       // a test noticed
	Survived   MutantState = "survived"     // no test noticed
	TimedOut   MutantState = "timeout"      // the tests did not end with it, which counts as noticed
	Uncompiled MutantState = "not-compiled" // it does not compile
	Unclear    MutantState = "unclear"      // the tests were inconclusive, or are red without it
)

// MutantResult is the result of one fault.
type MutantResult struct {
	Mutant
	State MutantState `json:"state"`
	By    string      `json:"by,omitzero"` // the test that noticed
	Why   string      `json:"why,omitzero"`
}

// MutationReport is the result of a trial.
type MutationReport struct {
	Seed     string         `json:"seed"`
	Possible int            `json:"possible"` // faults that could be inserted into the new lines
	Results  []MutantResult `json:"results"`
	Unseen   []Mutant       `json:"unseen,omitempty"` // drawn, and not tried
	Budget   time.Duration  `json:"budget,omitzero"`  // the time limit; 0: no limit
	Why      string         `json:"why,omitzero"`     // why fewer, or none, were tried
	Duration time.Duration  `json:"duration"`
}

// CountState returns the number of faults in a state.
func (r MutationReport) CountState(s MutantState) int {
	n := 0
	for _, x := range r.Results {
		if x.State == s {
			n++
		}
	}
	return n
}

// MutationTrialOptions describes where and how faults are tried: in a copy of the tree for exclusive use.
type MutationTrialOptions struct {
	Dir    string
	Runner gate.GateRunner    // runner for the copy; its Reset runs before each fault
	Gates  []gate.QualityGate // only those that run tests are used
	Seed   string             // the selection depends on it alone
	Sample int                // limit of faults
	Time   time.Duration      // time limit of all faults; 0: the result of [MutationTimeLimit]
	// Known returns a gate's known result on the tree without a fault. Nil: no result is known.
	Known func(gate string) (nexus.GateEvidence, bool)
	Now   func() time.Time
	Heard func(MutantResult) // receives each result; may be nil
}

// least is the shortest time limit for the tests of one fault.
const least = 10 * time.Second

// TryFaults tries faults in the new lines of files until enough were tried or the time is over. An
// error means that the machinery failed.
func (t MutationTrialOptions) TryFaults(ctx context.Context, files []MutableFile) (MutationReport, error) {
	start := t.Now()
	r := MutationReport{Seed: t.Seed, Results: []MutantResult{}}
	var all []Mutant
	for _, f := range files {
		all = append(all, FindMutants(f)...)
	}
	r.Possible = len(all)
	var tests []gate.QualityGate
	for _, g := range t.Gates {
		if g.Tests {
			tests = append(tests, g)
		}
	}
	switch {
	case len(all) == 0:
		r.Why = "no fault fits into the new lines"
		return r, nil
	case len(tests) == 0:
		r.Why = "no gate runs tests"
		return r, nil
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return r, fmt.Errorf("mutation: %w", err)
	}
	defer func() { _ = root.Close() }() // every write was checked
	w := &runningMutationTrial{MutationTrialOptions: t, root: root, tests: tests, plain: map[string]nexus.GateEvidence{}, start: start, files: files}
	drawn := SampleMutants(all, t.Seed, t.Sample)
	if w.Time == 0 {
		if w.Time, err = w.measureTimeBudget(ctx, drawn); err != nil {
			return r, err
		}
	}
	r.Budget = w.Time
	for i, m := range drawn {
		if w.remainingTime() <= 0 {
			r.Unseen = slices.Clone(drawn[i:])
			r.Why = fmt.Sprintf("stopped after %d of %d faults", i, len(drawn))
			break
		}
		res, err := w.tryMutant(ctx, m)
		if err != nil {
			return r, err
		}
		r.Results = append(r.Results, res)
		if t.Heard != nil {
			t.Heard(res)
		}
	}
	r.Duration = t.Now().Sub(start)
	return r, nil
}

// runningMutationTrial is a trial in progress.
type runningMutationTrial struct {
	MutationTrialOptions
	root  *os.Root
	tests []gate.QualityGate
	files []MutableFile
	plain map[string]nexus.GateEvidence // each command's result without a fault
	start time.Time
}

func (t *runningMutationTrial) remainingTime() time.Duration {
	if t.Time <= 0 {
		return longest // the budget is not known yet
	}
	return t.Time - t.Now().Sub(t.start)
}

// Limits of the time for all faults of a tree.
const (
	shortest = 30 * time.Second
	longest  = 20 * time.Minute
	compile  = 10 * time.Second // duration of one more build of the tests
)

// MutationTimeLimit returns the time limit for a number of faults, with tests that take suite without a
// fault: each fault may take twice that, and the tests run once more without a fault.
func MutationTimeLimit(suite time.Duration, faults int) time.Duration {
	return min(max(time.Duration(faults)*(2*suite+compile)+suite, shortest), longest)
}

// measureTimeBudget runs the tests without a fault, if their results are not known, and derives the time
// limit for all faults from their duration.
func (t *runningMutationTrial) measureTimeBudget(ctx context.Context, drawn []Mutant) (time.Duration, error) {
	slowest := time.Duration(0) // duration of the tests of one fault
	for _, m := range drawn {
		suite := time.Duration(0)
		for _, g := range t.tests {
			e, err := t.unmutatedEvidence(ctx, t.narrowGateToNearbyTests(g, m))
			if err != nil {
				return 0, err
			}
			suite += e.Duration
		}
		slowest = max(slowest, suite)
	}
	return t.Now().Sub(t.start) + MutationTimeLimit(slowest, len(drawn)), nil
}

// tryMutant runs the tests with one fault, one gate after the other until one
// notices.
func (t *runningMutationTrial) tryMutant(ctx context.Context, m Mutant) (MutantResult, error) {
	r := MutantResult{Mutant: m, State: Unclear, Why: "no gate ran"}
	for _, g := range t.tests {
		g = t.narrowGateToNearbyTests(g, m)
		base, err := t.unmutatedEvidence(ctx, g)
		if err != nil {
			return r, err
		}
		if !hasNoFailure(base) && len(base.Findings) == 0 {
			r.State, r.Why = Unclear, fmt.Sprintf("gate %s is %s without a fault", g.Name, base.State)
			continue
		}
		left := t.remainingTime()
		if left <= 0 {
			r.Why = "the time was up"
			return r, nil
		}
		g.Timeout = min(max(least, 3*base.Duration+least/2), max(left, time.Second))
		e, err := t.runGateWithMutant(ctx, g, &m)
		if err != nil {
			return r, err
		}
		r.State, r.By, r.Why = mutantState(base, e)
		if r.State == TimedOut && g.Timeout >= left {
			r.State, r.Why = Unclear, "the time was up"
		}
		if r.State == Killed || r.State == TimedOut || r.State == Uncompiled {
			return r, nil
		}
	}
	return r, nil
}

// unmutatedEvidence returns a gate's result on the tree as it is.
func (t *runningMutationTrial) unmutatedEvidence(ctx context.Context, g gate.QualityGate) (nexus.GateEvidence, error) {
	key := g.Dir + "\x00" + g.Command()
	if e, ok := t.plain[key]; ok {
		return e, nil
	}
	if t.Known != nil {
		if e, ok := t.Known(g.Name); ok && e.Command == g.Command() && hasNoFailure(e) && e.Duration > 0 {
			t.plain[key] = e
			return e, nil
		}
	}
	g.Timeout = max(t.remainingTime(), time.Second)
	e, err := t.runGateWithMutant(ctx, g, nil)
	if err == nil {
		t.plain[key] = e
	}
	return e, err
}

// runGateWithMutant runs a gate on the copy, with a fault in it or without.
func (t *runningMutationTrial) runGateWithMutant(ctx context.Context, g gate.QualityGate, m *Mutant) (nexus.GateEvidence, error) {
	r := t.Runner
	reset := r.Reset
	r.Reset = func(ctx context.Context, bare bool) error {
		if reset != nil {
			if err := reset(ctx, bare); err != nil {
				return err
			}
		}
		return t.writeMutatedFiles(m)
	}
	r.Put = nil // their output is not used
	if err := r.Reset(ctx, false); err != nil {
		return nexus.GateEvidence{}, fmt.Errorf("mutation: %w", err)
	}
	e, err := r.RunGate(ctx, gate.JudgedTreeDir{Dir: t.Dir, Hash: t.Seed}, g)
	if m != nil {
		err = cmp.Or(err, t.writeMutatedFiles(nil))
	}
	return e, err
}

// writeMutatedFiles writes the original files of the change, with one fault.
func (t *runningMutationTrial) writeMutatedFiles(m *Mutant) error {
	for _, f := range t.files {
		text := []byte(f.Text)
		if m != nil && m.File == f.Path {
			text = m.Apply(text)
		}
		mode := fs.FileMode(0o644)
		if info, err := t.root.Lstat(f.Path); err == nil {
			if !info.Mode().IsRegular() {
				continue // not a file of the change
			}
			mode = info.Mode().Perm()
		}
		if old, err := t.root.ReadFile(f.Path); err == nil && string(old) == string(text) {
			continue
		}
		if err := t.root.WriteFile(f.Path, text, mode); err != nil {
			return fmt.Errorf("mutation: %w", err)
		}
	}
	return nil
}

// narrowGateToNearbyTests restricts a gate to the tests that are near a fault: those of its package and
// of packages whose tests the change touched.
func (t *runningMutationTrial) narrowGateToNearbyTests(g gate.QualityGate, m Mutant) gate.QualityGate {
	c, ok := gosource.ParseGoTestCommand(g.Args)
	if !ok || path.Ext(m.File) != ".go" {
		return g
	}
	dirs := []string{path.Dir(m.File)}
	for _, f := range t.files {
		if strings.HasSuffix(f.Path, "_test.go") && !slices.Contains(dirs, path.Dir(f.Path)) {
			dirs = append(dirs, path.Dir(f.Path))
		}
	}
	slices.Sort(dirs)
	for i, d := range dirs {
		dirs[i] = "./" + strings.TrimPrefix(d, "./")
	}
	g.Args = c.CommandFor(dirs, nil, "-failfast")
	return g
}

// hasNoFailure reports whether a gate has no finding on a tree: it passed, or there was
// nothing to run, or its only finding is its exit code.
func hasNoFailure(e nexus.GateEvidence) bool {
	return e.State == nexus.Pass || e.State == nexus.NotRun && len(e.Findings) == 0 || e.State == nexus.Unverifiable && e.Exit == 0
}

// mutantState returns the result of the tests with a fault, compared with their result without
// it.
func mutantState(base, now nexus.GateEvidence) (s MutantState, by, why string) {
	if hasNoFailure(now) {
		return Survived, "", ""
	}
	if now.State == nexus.Timeout {
		return TimedOut, "", now.Why
	}
	if now.State != nexus.Fail {
		return Unclear, "", cmp.Or(now.Why, string(now.State))
	}
	red := map[string]bool{}
	for _, f := range base.Findings {
		red[f.Test] = true
	}
	tests := 0
	for _, f := range now.Findings {
		if f.Test == "" {
			continue
		}
		tests++
		if !red[f.Test] {
			return Killed, f.Test, ""
		}
	}
	switch {
	case tests > 0 && base.Counts.Passed == 0:
		return Unclear, "", "every test fails without the fault, too"
	case tests > 0:
		return Survived, "", "" // only tests that were red without it
	case len(now.Findings) > 0 && slices.ContainsFunc(now.Findings, func(f nexus.Finding) bool { return f.File != "" }):
		return Uncompiled, "", now.Findings[0].Message
	case hasNoFailure(base):
		return Killed, now.Gate, ""
	default:
		return Unclear, "", "the tests fail without the fault, too"
	}
}
