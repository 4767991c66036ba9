// Package discover finds work that is worth doing. Strategies look at the last
// commit, at what its gates say, and at its history; each thing that they find has
// a check that fails now. A finding whose check passes, or cannot be tried, is none.
//
// What a strategy found is kept until something changes that it reads, so that a tree
// that did not change costs next to nothing. See docs/improve.md.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// most is how many findings are taken of one strategy, or one plugin.
const most = 50

// Cost is what a strategy costs.
type Cost string

// The costs, the cheapest first.
const (
	Cheap Cost = "cheap"   // it reads files and the history
	Tools Cost = "tools"   // it runs the project's own tools, in the sandbox
	Asks  Cost = "network" // it asks a server of others
	Model Cost = "model"   // it pays for a model
)

// Strategy is one way to find work.
type Strategy struct {
	Name  string
	Short string // what it looks for
	Cost  Cost
	Named bool // it looks only where it is named: it asks others, or costs money
	Reads CacheInputs
	Look  func(ctx context.Context, s *SourceTree) (StrategyResult, error)
}

// CacheInputs says what a strategy's findings depend on, so that it does not look again while
// that is the same. The zero Reads depends on nothing that can be compared: it always looks.
type CacheInputs struct {
	Files func(file string) bool // nil: no file of the tree
	Runs  bool                   // what runs recorded
	Base  bool                   // the commit that the tree is compared with
}

// keeps reports whether what was found can be kept.
func (r CacheInputs) keeps() bool { return r.Files != nil || r.Runs }

// StrategyResult is what a strategy found.
type StrategyResult struct {
	Findings []finding.Finding `json:"findings"`
	Notes    []string          `json:"notes,omitempty"`    // what it could not look at, and why
	Skipped  string            `json:"skipped,omitzero"`   // why it did not look at all
	Quick    bool              `json:"-"`                  // the checks only read files: they are tried together
	Sorted   bool              `json:"-"`                  // the first is the most worth; else their severities and counts say that
	Programs []string          `json:"programs,omitempty"` // it ran, whose version may change
	More     int               `json:"more,omitzero"`      // findings beyond the bound
}

// Options say where to look, and for what. Fields without a remark must be set.
type Options struct {
	Repo         git.Repo
	Commit, Tree string // the tree that is looked at, and a commit that has it
	State        string // directory for what is kept
	Now          time.Time
	Clock        func() time.Time // tells how long strategies take; nil: nobody asks

	Strategies []string      // empty: all that look without being named
	Only       string        // the ID of the one finding that is wanted: what others need is not tried; may be empty
	Fresh      bool          // runStrategy again, whatever is kept
	Keep       time.Duration // how long something is kept at most; 0: for ever
	Settings   string        // what of the settings changes what is found, in any form
	RunsMark   string        // changes with what runs recorded
	Path       string        // directories of programs, as in PATH

	// Open checks the tree out, with what runs its gates. It is called at most once, and
	// only if a strategy looks.
	Open func(ctx context.Context) (*Checkout, error)
	// OpenAt does that with another commit, as often as somebody needs one.
	OpenAt func(ctx context.Context, commit string) (*Checkout, error)
	// Say hears what is being done, and may be nil.
	Say func(text string)

	Seen    func(ctx context.Context) ([]flaky.FlakyTest, error) // tests that were seen flaky; nil: none
	Plugins func(ctx context.Context, open func(context.Context) (*Checkout, error)) ([]finding.Finding, error)
	Issues  func(ctx context.Context) ([]Issue, string, error)
	Ideas   func(ctx context.Context, b *Checkout) ([]finding.Finding, nexus.Money, error) // with what it cost, also where it failed
	Folder  Folder

	Past  func(ctx context.Context) (finding.PastWork, error) // what became of findings; nil: nothing is known
	Rules finding.Rules
}

// Checkout is the tree checked out, with what runs commands there.
type Checkout struct {
	Runner   gate.Runner
	Tree     gate.Tree
	Gates    []gate.Gate
	May      func(command string) bool // whether the policy lets a check run; nil: it lets all
	Harmless func(command string) bool // whether it lets a command run without asking anybody; nil: none
	Silent   func(gate string) bool    // whether a gate that ran is known to have asked no other machine; nil: nobody knows
	Close    func()
}

// State is what a strategy did.
type State string

// The states.
const (
	Ran     State = "ran"
	Cached  State = "cached"
	Skipped State = "skipped"
	Broke   State = "failed"
)

// StrategyReport is what one strategy did.
type StrategyReport struct {
	Strategy string        `json:"strategy"`
	State    State         `json:"state"`
	Why      string        `json:"why,omitzero"`
	Notes    []string      `json:"notes,omitempty"`
	Found    int           `json:"found"`
	More     int           `json:"more,omitzero"` // findings that were left out: there is a bound for each strategy
	Took     time.Duration `json:"took"`
}

// Result is what was found.
type Result struct {
	Commit string
	Tree   string
	Open   []finding.Ranked         // what is worth doing, in order
	Left   []finding.SkippedFinding // what nobody is to take up, and why
	Did    []StrategyReport
	Spent  nexus.Money // on models that were asked
	Green  []string    // items of the backlog whose finding is gone and whose check passes: they are done
}

// Find returns the finding with an ID, and why it is left out, if it is.
func (r Result) Find(id string) (f finding.Ranked, left *finding.SkippedFinding, ok bool) {
	for _, f := range r.Open {
		if f.ID == id {
			return f, nil, true
		}
	}
	for _, l := range r.Left {
		if l.ID == id {
			return l.Ranked, &l, true
		}
	}
	return f, nil, false
}

// Done reports whether what a finding asks for is done: its check passes, or its strategy looked at
// everything and did not find it. One whose strategy could not look, or whose check says nothing, is not.
func (r Result) Done(id, strategy string) bool {
	if f, left, found := r.Find(id); found {
		return left != nil && left.Rule == finding.NoFinding && f.State == nexus.Pass
	}
	return slices.ContainsFunc(r.Did, func(d StrategyReport) bool { return d.Strategy == strategy && d.sawAll() })
}

// sawAll reports whether a strategy looked at everything that there is for it, now or before.
func (d StrategyReport) sawAll() bool { return (d.State == Ran || d.State == Cached) && d.More == 0 }

// RunStrategies lets strategies look at a tree, and returns what they found, ranked, with what
// each did. A strategy that breaks is reported and the others go on.
func RunStrategies(ctx context.Context, o Options) (Result, error) {
	r := Result{Commit: o.Commit, Tree: o.Tree}
	chosen, err := SelectStrategies(o.Strategies)
	if err != nil {
		return r, err
	}
	s, err := newSite(ctx, o)
	if err != nil {
		return r, err
	}
	defer s.close()
	var all []finding.Finding
	for _, one := range chosen {
		found, did, err := s.runStrategy(ctx, one)
		if err != nil {
			return r, err
		}
		r.Did = append(r.Did, did)
		all = append(all, found...)
	}
	all = uniqueFindings(all)
	if r.Green, err = s.green(ctx, all, r.Did); err != nil {
		return r, err
	}
	r.Spent = s.spent
	w, err := s.loadKnown(ctx, all, chosen)
	if err != nil {
		return r, err
	}
	r.Open, r.Left = finding.Partition(finding.Rank(all, w), o.Rules, w)
	return r, nil
}

// uniqueFindings returns findings without those whose ID another has.
func uniqueFindings(all []finding.Finding) []finding.Finding {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(f finding.Finding) bool {
		was := seen[f.ID]
		seen[f.ID] = true
		return was
	})
}

// Paid reports whether a strategy pays for a model.
func Paid(strategy string) bool {
	return slices.ContainsFunc(Strategies(), func(s Strategy) bool { return s.Name == strategy && s.Cost == Model })
}

// Free returns the names of the strategies that these names mean, without those that pay for a model.
func Free(names []string) ([]string, error) {
	chosen, err := SelectStrategies(names)
	var all []string
	for _, s := range chosen {
		if s.Cost != Model {
			all = append(all, s.Name)
		}
	}
	return all, err
}

// SelectStrategies returns the strategies with these names in the order in which they look: what
// is cheap comes first. A cost names all strategies that have it. No name means all that
// look without being named, and one that begins with a minus leaves its strategies out; leaving
// out all is an error.
func SelectStrategies(names []string) ([]Strategy, error) {
	all := Strategies()
	want := map[string]bool{}
	for _, name := range names {
		plain := strings.TrimPrefix(name, "-")
		of := false
		for _, s := range all {
			if string(s.Cost) == plain {
				want[strings.TrimSuffix(name, plain)+s.Name], of = true, true
			}
		}
		if of {
			continue
		}
		if !slices.ContainsFunc(all, func(s Strategy) bool { return s.Name == plain }) {
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
	chosen := slices.DeleteFunc(all, func(s Strategy) bool {
		if want["-"+s.Name] {
			return true
		}
		return positive && !want[s.Name] || !positive && s.Named
	})
	if len(chosen) == 0 {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no strategy is left that looks for work", Hint: "nexus discover --all names them.",
		}
	}
	return chosen, nil
}

// runStrategy returns what a strategy found, now or when it last looked at the same.
func (s *SourceTree) runStrategy(ctx context.Context, one Strategy) ([]finding.Finding, StrategyReport, error) {
	begun := s.clock()
	did := StrategyReport{Strategy: one.Name, State: Ran}
	entry, key := s.readCache(ctx, one)
	if entry == nil {
		s.say("looking for " + one.Short)
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
			did.State, did.Why = Broke, brief(err)
			did.Took = s.clock().Sub(begun)
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
		if f.Open() {
			did.Found++
		}
	}
	did.Took = s.clock().Sub(begun)
	return entry.Findings, did, nil
}

// finishFindings puts the findings of a strategy in order, leaves out those beyond the bound, and
// tries the checks of the rest that were not tried.
func (s *SourceTree) finishFindings(ctx context.Context, one Strategy, found StrategyResult) (StrategyResult, error) {
	found.Findings = uniqueFindings(found.Findings)
	if only := s.o.Only; only != "" && !one.Reads.keeps() {
		found.Findings = slices.DeleteFunc(found.Findings, func(f finding.Finding) bool { return f.ID != only })
	}
	if !found.Sorted {
		slices.SortStableFunc(found.Findings, func(a, b finding.Finding) int {
			return cmp.Or(cmp.Compare(b.Severity.Score(), a.Severity.Score()), cmp.Compare(b.Count, a.Count))
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

// isFatal reports whether an error ends the search: one that people are to see as it is.
func isFatal(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code != nexus.CodeProvider
}

// brief says an error in a line.
func brief(err error) string {
	if failed, ok := errors.AsType[*plugin.Error](err); ok {
		return fmt.Sprintf("plugin %s does not answer (%s): %s", failed.Plugin, failed.State, failed.Why)
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
