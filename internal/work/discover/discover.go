// Package discover finds work that is worth doing. Strategies examine the last commit, the
// results of its gates, and its history; each finding has a check that fails now. A finding
// whose check passes, or cannot be run, is dropped.
//
// A strategy's result is cached until one of its inputs changes, so that an unchanged tree
// costs next to nothing. See docs/improve.md.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// most limits the findings of one strategy, or one plugin.
const most = 50

// StrategyCost is what a strategy costs.
type StrategyCost string

// The costs, the cheapest first.
const (
	Cheap StrategyCost = "cheap"   // reads files and the history
	Tools StrategyCost = "tools"   // runs the project's own tools, in the sandbox
	Asks  StrategyCost = "network" // sends requests to external servers
	Model StrategyCost = "model"   // calls a paid model
)

// DiscoveryStrategy is one way to find work.
type DiscoveryStrategy struct {
	Name  string
	Short string // a short description of its findings
	Cost  StrategyCost
	Named bool // it runs only if it is named: it uses the network, or costs money
	Reads StrategyCacheInputs
	Look  func(ctx context.Context, s *SourceTree) (StrategyResult, error)
}

// StrategyCacheInputs describes the inputs of a strategy, so that it does not run again while they are
// the same. The zero value has no comparable inputs: the strategy always runs.
type StrategyCacheInputs struct {
	Files func(file string) bool // nil: no file of the tree
	Runs  bool                   // the records of runs
	Base  bool                   // the commit that the tree is compared with
}

// isCacheable reports whether the result can be cached.
func (r StrategyCacheInputs) isCacheable() bool { return r.Files != nil || r.Runs }

// StrategyResult is the result of a strategy.
type StrategyResult struct {
	Findings []discoveredwork.WorkFinding `json:"findings"`
	Notes    []string                     `json:"notes,omitempty"`  // places that it could not examine, and why
	Skipped  string                       `json:"skipped,omitzero"` // why it did not run at all
	// the checks only read files: they are run together
	Quick bool `json:"-"`
	// the findings are in order of value; otherwise their severities and counts decide
	Sorted bool `json:"-"`
	// programs that it ran, whose version may change
	Programs []string `json:"programs,omitempty"`
	More     int      `json:"more,omitzero"` // findings beyond the limit
}

// Options select where to search, and for what. Fields without a remark must be set.
type Options struct {
	Repo         git.Repo
	Commit, Tree string // the tree to search, and a commit that has it
	State        string // directory of the cache
	Now          time.Time
	Clock        func() time.Time // measures how long strategies take; nil: not measured

	Strategies []string // empty: all that run without being named
	// the ID of the only finding to check: checks of others are not run; may be empty
	Only     string
	Fresh    bool          // ignore the cache
	Keep     time.Duration // longest age of a cached result; 0: unlimited
	Settings string        // the settings that affect the result, in any form
	RunsMark string        // changes with the records of runs
	Path     string        // program directories, as in PATH

	// Open checks the tree out, with a runner for its gates. It is called at most once, and only
	// if a strategy runs.
	Open func(ctx context.Context) (*TreeCheckout, error)
	// OpenAt does that with another commit; it may be called several times.
	OpenAt func(ctx context.Context, commit string) (*TreeCheckout, error)
	// Say receives progress messages, and may be nil.
	Say func(text string)

	Seen    func(ctx context.Context) ([]flaky.FlakyTest, error) // tests that were flaky; nil: none
	Plugins func(ctx context.Context, open func(context.Context) (*TreeCheckout, error)) ([]discoveredwork.WorkFinding, error)
	Issues  func(ctx context.Context) ([]OpenForgeIssue, string, error)
	// findings of a model, with the cost, also on failure
	Ideas  func(ctx context.Context, b *TreeCheckout) ([]discoveredwork.WorkFinding, nexus.Money, error)
	Folder TaskFolder

	// the results of earlier findings; nil: none known
	Past  func(ctx context.Context) (discoveredwork.PastWorkRecord, error)
	Rules discoveredwork.BacklogDecisions
}

// TreeCheckout is the checked-out tree, with a runner for commands there.
type TreeCheckout struct {
	Runner gate.GateRunner
	Tree   gate.JudgedTreeDir
	Gates  []gate.QualityGate
	May    func(command string) bool // whether the policy lets a check run; nil: all checks
	// whether the policy lets a command run without asking a person; nil: none
	Harmless func(command string) bool
	// whether a gate that ran is known to have made no network requests; nil: unknown
	Silent func(gate string) bool
	Close  func()
}

// StrategyRunState is the state of a strategy's run.
type StrategyRunState string

// The states.
const (
	Ran     StrategyRunState = "ran"
	Cached  StrategyRunState = "cached"
	Skipped StrategyRunState = "skipped"
	Broke   StrategyRunState = "failed"
)

// StrategyRunReport describes the run of one strategy.
type StrategyRunReport struct {
	Strategy string           `json:"strategy"`
	State    StrategyRunState `json:"state"`
	Why      string           `json:"why,omitzero"`
	Notes    []string         `json:"notes,omitempty"`
	Found    int              `json:"found"`
	More     int              `json:"more,omitzero"` // findings beyond the limit of the strategy
	Took     time.Duration    `json:"took"`
}

// Result is the result of a search.
type Result struct {
	Commit string
	Tree   string
	Open   []discoveredwork.RankedFinding  // findings worth doing, in order
	Left   []discoveredwork.SkippedFinding // findings that must not be taken up, and why
	Did    []StrategyRunReport
	Spent  nexus.Money // cost of model calls
	Green  []string    // items of the backlog whose finding is gone and whose check passes: they are done
}

// Find returns the finding with an ID, and why it is skipped, if it is.
func (r Result) Find(id string) (f discoveredwork.RankedFinding, left *discoveredwork.SkippedFinding, ok bool) {
	for _, f := range r.Open {
		if f.ID == id {
			return f, nil, true
		}
	}
	for _, l := range r.Left {
		if l.ID == id {
			return l.RankedFinding, &l, true
		}
	}
	return f, nil, false
}

// IsFindingDone reports whether the work of a finding is done: its check passes, or its strategy ran
// completely and did not find it. If the strategy could not run, or the check is inconclusive,
// it is not.
func (r Result) IsFindingDone(id, strategy string) bool {
	if f, left, found := r.Find(id); found {
		return left != nil && left.Rule == discoveredwork.NoFinding && f.State == nexus.Pass
	}
	return slices.ContainsFunc(r.Did, func(d StrategyRunReport) bool { return d.Strategy == strategy && d.isComplete() })
}

// isComplete reports whether a strategy examined everything, now or in a cached run.
func (d StrategyRunReport) isComplete() bool {
	return (d.State == Ran || d.State == Cached) && d.More == 0
}

// RunStrategies runs strategies on a tree, and returns their findings, ranked, with a report
// for each. If a strategy fails, that is reported and the others go on.
func RunStrategies(ctx context.Context, o Options) (Result, error) {
	r := Result{Commit: o.Commit, Tree: o.Tree}
	chosen, err := SelectStrategies(o.Strategies)
	if err != nil {
		return r, err
	}
	s, err := newSourceTree(ctx, o)
	if err != nil {
		return r, err
	}
	defer s.closeCheckout()
	var all []discoveredwork.WorkFinding
	for _, one := range chosen {
		found, did, err := s.runStrategy(ctx, one)
		if err != nil {
			return r, err
		}
		r.Did = append(r.Did, did)
		all = append(all, found...)
	}
	all = uniqueFindings(all)
	if r.Green, err = s.alreadyDoneItems(ctx, all, r.Did); err != nil {
		return r, err
	}
	r.Spent = s.spent
	w, err := s.loadRankingInput(ctx, all, chosen)
	if err != nil {
		return r, err
	}
	r.Open, r.Left = discoveredwork.PartitionFindings(discoveredwork.RankFindings(all, w), o.Rules, w)
	return r, nil
}

// uniqueFindings returns findings without duplicates of an ID.
func uniqueFindings(all []discoveredwork.WorkFinding) []discoveredwork.WorkFinding {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(f discoveredwork.WorkFinding) bool {
		was := seen[f.ID]
		seen[f.ID] = true
		return was
	})
}

// IsPaidStrategy reports whether a strategy calls a paid model.
func IsPaidStrategy(strategy string) bool {
	return slices.ContainsFunc(AllStrategies(), func(s DiscoveryStrategy) bool { return s.Name == strategy && s.Cost == Model })
}

// FreeStrategies returns the names of the strategies selected by names, without those that call a paid
// model.
func FreeStrategies(names []string) ([]string, error) {
	chosen, err := SelectStrategies(names)
	var all []string
	for _, s := range chosen {
		if s.Cost != Model {
			all = append(all, s.Name)
		}
	}
	return all, err
}

// removedStrategies returns the names of earlier strategies that judged code by patterns of our own. Settings
// that still name one, and another strategy, work without it.
func removedStrategies() []string {
	return []string{"duplicates", "dead-code", "refactoring", "performance"}
}

// SelectStrategies returns the strategies with these names in the order in which they run:
// cheap ones first. A cost selects all strategies of that cost. No name selects all that run
// without being named, and a name with a leading minus excludes its strategies; excluding all
// is an error.
func SelectStrategies(names []string) ([]DiscoveryStrategy, error) {
	all := AllStrategies()
	want := map[string]bool{}
	gone := 0
	for _, name := range names {
		plain := strings.TrimPrefix(name, "-")
		if slices.Contains(removedStrategies(), plain) {
			gone++
			continue
		}
		of := false
		for _, s := range all {
			if string(s.Cost) == plain {
				want[strings.TrimSuffix(name, plain)+s.Name], of = true, true
			}
		}
		if of {
			continue
		}
		if !slices.ContainsFunc(all, func(s DiscoveryStrategy) bool { return s.Name == plain }) {
			var known []string
			for _, s := range all {
				known = append(known, s.Name)
			}
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no strategy %q", plain),
				Hint: "Use some of " + strings.Join(known, ", ") + ", or a cost: cheap, tools, network, model; one with - in front is left out.",
			}
		}
		want[name] = true
	}
	positive := slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, "-") })
	chosen := slices.DeleteFunc(all, func(s DiscoveryStrategy) bool {
		if want["-"+s.Name] {
			return true
		}
		return positive && !want[s.Name] || !positive && s.Named
	})
	if len(chosen) == 0 && gone > 0 {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no strategy is left that looks for work: " + strings.Join(names, ", "),
			Hint: "The project's own linters find such code, as it configured them: use lint-issues. " + strings.Join(removedStrategies(), ", ") + " are no strategies any more.",
		}
	}
	if len(chosen) == 0 {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no strategy is left that looks for work", Hint: "nexus discover --all names them.",
		}
	}
	return chosen, nil
}

// runStrategy returns a strategy's findings, from a run or the cache.
func (s *SourceTree) runStrategy(ctx context.Context, one DiscoveryStrategy) ([]discoveredwork.WorkFinding, StrategyRunReport, error) {
	begun := s.currentTime()
	did := StrategyRunReport{Strategy: one.Name, State: Ran}
	entry, key := s.readCache(ctx, one)
	if entry == nil {
		s.reportProgress("looking for " + one.Short)
		s.programs = map[string]bool{}
		found, err := one.Look(ctx, s)
		switch {
		case ctx.Err() != nil:
			return nil, did, context.Cause(ctx)
		case s.closed != nil:
			return nil, did, s.closed
		case isFatal(err):
			return nil, did, err
		case err != nil:
			did.State, did.Why = Broke, errorLine(err)
			did.Took = s.currentTime().Sub(begun)
			return nil, did, nil
		}
		if found, err = s.finishFindings(ctx, one, found); err != nil {
			return nil, did, err
		}
		if entry, err = s.writeCache(one, key, found); err != nil {
			return nil, did, err
		}
	} else {
		did.State = Cached
	}
	if entry.Skipped != "" {
		did.State, did.Why = Skipped, entry.Skipped
	}
	did.Notes, did.More = entry.Notes, entry.More
	for _, f := range entry.Findings {
		if f.IsOpen() {
			did.Found++
		}
	}
	did.Took = s.currentTime().Sub(begun)
	return entry.Findings, did, nil
}

// finishFindings sorts the findings of a strategy, removes those beyond the limit, and runs
// the remaining checks that were not run.
func (s *SourceTree) finishFindings(ctx context.Context, one DiscoveryStrategy, found StrategyResult) (StrategyResult, error) {
	found.Findings = uniqueFindings(found.Findings)
	if only := s.o.Only; only != "" && !one.Reads.isCacheable() {
		found.Findings = slices.DeleteFunc(found.Findings, func(f discoveredwork.WorkFinding) bool { return f.ID != only })
	}
	if !found.Sorted {
		slices.SortStableFunc(found.Findings, func(a, b discoveredwork.WorkFinding) int {
			return cmp.Or(cmp.Compare(b.Severity.NumericScore(), a.Severity.NumericScore()), cmp.Compare(b.Count, a.Count))
		})
	}
	if n := len(found.Findings); n > most {
		found.More, found.Findings = n-most, found.Findings[:most]
	}
	var err error
	if found, err = s.redactSecrets(ctx, found); err != nil {
		return found, err
	}
	found.Findings, err = s.tryChecks(ctx, found)
	for name := range s.programs {
		found.Programs = append(found.Programs, name)
	}
	slices.Sort(found.Programs)
	return found, err
}

// isFatal reports whether an error ends the search: one that people must see as it is.
func isFatal(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code != nexus.CodeProvider
}

// errorLine returns an error as one line.
func errorLine(err error) string {
	if failed, ok := errors.AsType[*plugin.Error](err); ok {
		return fmt.Sprintf("plugin %s does not answer (%s): %s", failed.Plugin, failed.State, failed.Why)
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
