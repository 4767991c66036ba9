package accept

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Work is what is known of a task's tree that its gates let through.
type Work struct {
	Task    nexus.Task
	Changed []string         // files that differ from the base
	Edited  []string         // of these, files that serve tests and were there before
	Gone    []string         // of these, files that are not there any more
	Touched []string         // names of what the changed lines are in: functions, classes
	Known   []string         // of [Subjects], those that are names in the code of the base
	Lost    []nexus.Finding  // what the change does to what judges it
	Base    []nexus.Evidence // what the gates said about the base, weighed against nothing
	Now     []nexus.Evidence // what they say about the tree
	// Ended returns how the tests that a gate named ended, by their names: pass,
	// fail, skip. Nil, and a nil map: the runner does not say which passed.
	Ended func(e nexus.Evidence) map[string]string
	// TextOf returns the text of a test that failed on the base, as it is there; empty
	// where nobody finds it. Nil: nobody looked.
	TextOf func(f nexus.Finding) string
	// Again is what gates said about the base when they ran once more: a test that
	// passed then did not need the change. Empty: nobody looked.
	Again []nexus.Evidence
	// Old is what gates say about the tree with the tests of the base in place of its
	// own, weighed against nothing. Nil: nobody looked.
	Old []nexus.Evidence
	// Without is what was seen of the change's tests where the rest of the change
	// is not there; nil: nobody looked.
	Without *nexus.TestsProved
	Hollow  bool // these could only not be loaded there, and look at nothing
	// Asserts says that a test of the change checks something that is not written down in
	// the check itself, and Tells which of [Work.Known] its tests have in them.
	Asserts bool
	Tells   []string
	// Renamed says that the change does nothing but rename what the task's title
	// says.
	Renamed bool
	Texts   bool // the change is of nothing but comments and documents
}

// WeighGateCriteria says about each criterion whose check is a gate what shows it. That a gate
// passes because nothing got worse lets a change land, and shows nothing: only
// what bears on the criterion does. See docs/acceptance.md for the rules.
func WeighGateCriteria(w Work) []nexus.CriterionShown {
	var all []nexus.CriterionShown
	for i, c := range w.Task.Criteria {
		gate, command := Gate(c)
		if gate == "" || command {
			continue
		}
		s := nexus.CriterionShown{Number: i + 1, Of: state.Fingerprint(w.Task, i+1), Gate: gate}
		w.show(&s, c)
		ended := w.ended(nexus.EvidenceOf(w.Now, gate))
		for _, test := range s.Tests {
			if ended[test] == "pass" {
				s.Seen = append(s.Seen, test)
			}
		}
		all = append(all, s)
	}
	return all
}

// BaseResults is what is known of the base of an attempt before anybody works.
type BaseResults struct {
	Said []nexus.Evidence // by the gates
	Own  []CommandResults // by the commands of the task's criteria
	// Aside reports whether people put a test aside. Nil: no test is.
	Aside func(gate, test string) bool
	// Ended returns how the tests that a gate named ended, as in [Work].
	Ended func(e nexus.Evidence) map[string]string
}

// FindRedOnBase holds what fails on the base of an attempt against what its task names.
func FindRedOnBase(t nexus.Task, b BaseResults) nexus.RedSeen {
	var s nexus.RedSeen
	wishes := ParseMentions(Texts(t)).ResolvePlaces(found(b.Said))
	for _, e := range b.Said {
		for _, f := range e.Findings {
			name := Label(f)
			switch {
			case f.Test != "" && (slices.ContainsFunc(wishes, func(w Mentioned) bool { return w.LeavesAlone(f) }) || b.Aside != nil && b.Aside(e.Gate, f.Test) && !wishes.MatchesByName(f)):
				s.Aside = appendUnique(s.Aside, name)
			case wishes.Matches(f):
				s.Meant = appendUnique(s.Meant, name)
			case f.Test != "":
				s.Others = appendUnique(s.Others, name)
			}
		}
	}
	for _, w := range wishes {
		for _, name := range w.Tests {
			if slices.ContainsFunc(b.Own, func(o CommandResults) bool {
				return !o.Base.Passed() && strings.Contains(t.Criteria[o.Number-1].Check, name)
			}) {
				continue // the command that runs it fails
			}
			if one := (Mentions{{Tests: []string{name}}}); !slices.ContainsFunc(b.Said, func(b nexus.Evidence) bool { return slices.ContainsFunc(b.Findings, one.Matches) }) {
				s.Green = appendUnique(s.Green, name)
			}
		}
	}
	s.Aside = append(s.Aside, b.skipped(wishes, s.Aside)...)
	for _, o := range b.Own {
		switch c := t.Criteria[o.Number-1]; {
		case !o.Base.Passed():
			s.Meant = appendUnique(s.Meant, c.Check)
		case c.Red || t.Kind != nexus.TestTask && mayPassBeforeReason(c) == "":
			s.Green = appendUnique(s.Green, c.Check)
		}
	}
	return s
}

// skipped returns the tests that do not run though the task means them, each
// marked as skipped. Nothing that a change does to others makes them pass.
func (b BaseResults) skipped(wishes Mentions, known []string) []string {
	var all []string
	for _, e := range b.Said {
		var ended map[string]string
		if b.Ended != nil {
			ended = b.Ended(e)
		}
		if n := e.Counts.Skipped; n > 0 && len(ended) == 0 && slices.ContainsFunc(wishes, func(w Mentioned) bool { return w.All }) {
			all = appendUnique(all, fmt.Sprintf("%d skipped by gate %s, which does not name them", n, e.Gate))
		}
		for _, name := range slices.Sorted(maps.Keys(ended)) {
			if ended[name] == "skip" && len(all) < maxWish && !slices.Contains(known, name) && wishes.Matches(nexus.Finding{Test: name}) {
				all = appendUnique(all, name+" (skipped)")
			}
		}
	}
	return all
}

// found returns all that gates found.
func found(said []nexus.Evidence) (all []nexus.Finding) {
	for _, e := range said {
		all = append(all, e.Findings...)
	}
	return all
}

func appendUnique(all []string, s string) []string {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// UnshownCriteria returns the numbers of the criteria, of those that are given, that
// would not count as met on a tree whose gates passed, and why the first would
// not. Checks are what
// was tried of tests that somebody wrote for them; waived are those that a
// person does without.
func UnshownCriteria(t nexus.Task, weighed []nexus.CriterionShown, checks []nexus.CriterionCheck, waived []int) (open []int, why string) {
	for _, s := range weighed {
		if s.By != "" || s.Left || slices.Contains(waived, s.Number) || s.Number > len(t.Criteria) {
			continue
		}
		if c := t.Criteria[s.Number-1]; c.Check == "" && c.Kind == nexus.StaysCriterion {
			continue // a test of what is to stay as it was passes without the change, too
		}
		text := s.Why
		i := slices.IndexFunc(checks, func(c nexus.CriterionCheck) bool { return c.Number == s.Number && c.Of == s.Of })
		if i >= 0 {
			c := checks[i]
			if c.Proved || c.Command == "" && c.Why != "" {
				continue // withCurrentChecks by a command of its own, or left to people for a reason
			}
			text += "; the check that was written for it does not count: " + c.Why
		}
		if open = append(open, s.Number); why == "" {
			why = fmt.Sprintf("%s is unknown: %s. Name a command that shows it (nexus revise %s TEXT --check COMMAND), or sign it (nexus approve %s --why TEXT)",
				ID(t.ID, s.Number), text, ID(t.ID, s.Number), ID(t.ID, s.Number))
		}
	}
	return open, why
}

// renames reports whether a criterion asks for the new name of a change that
// does nothing but rename: no test can fail without it for another reason.
func (w Work) renames(c nexus.Criterion) bool {
	r, is := repair.RenamesOf(w.Task)
	text := strings.ToLower(c.Text)
	about := regexp.MustCompile(`\b(?:re)?nam(?:e|es|ed|ing)\b|\bcalled\b`).MatchString(text) || strings.Contains(text, strings.ToLower(r.From))
	return w.Renamed && is && about && strings.Contains(text, strings.ToLower(r.To))
}

// meantReds returns what was red on the base and that a criterion, or the task's
// title, names; and what of that is not seen to pass now.
func (w Work) meantReds(c nexus.Criterion) (all, left []string) {
	wishes := ParseMentions(Texts(nexus.Task{Title: w.Task.Title, Criteria: []nexus.Criterion{c}})).ResolvePlaces(found(w.Base))
	for _, b := range w.Base {
		for _, f := range b.Findings {
			if strings.HasPrefix(b.Gate, nexus.AcceptGate) || !w.failedAgain(b, f) || !wishes.Matches(f) || slices.Contains(all, Label(f)) || !wishes.MatchesByName(f) && w.isQuarantined(f) {
				continue
			}
			all = append(all, Label(f))
			if !w.passesNow(b, f) || runsTests(b, b.Gate) && !w.passesWithOldTests(b, f) {
				left = append(left, Label(f))
			}
		}
	}
	return all, left
}

// isQuarantined reports whether people let the failure of a test not count.
func (w Work) isQuarantined(f nexus.Finding) bool {
	return slices.ContainsFunc(w.Now, func(e nexus.Evidence) bool {
		return slices.ContainsFunc(e.Flaky, func(x nexus.Flake) bool { return x.Test == f.Test && x.Quarantine != "" })
	})
}

// Texts are what says which tests a task is about.
func Texts(t nexus.Task) []string {
	texts := []string{t.Title}
	for _, c := range t.Criteria {
		texts = append(texts, c.Text, c.Check)
	}
	return texts
}

// GatesOfReds returns the gates whose failures on the base show criteria now, if they
// are no accident.
func (w Work) GatesOfReds(all []nexus.CriterionShown) []string {
	var gates []string
	for _, s := range all {
		if s.By != nexus.NamedBearing && s.By != nexus.TurnedBearing {
			continue
		}
		for _, b := range w.Base {
			if b.State == nexus.Fail && runsTests(b, b.Gate) {
				gates = appendUnique(gates, b.Gate)
			}
		}
	}
	return gates
}

// failedAgain reports whether a test that failed on the base failed there again.
func (w Work) failedAgain(b nexus.Evidence, f nexus.Finding) bool {
	e := nexus.EvidenceOf(w.Again, b.Gate)
	switch e.State {
	case nexus.Pass:
		return false
	case nexus.Fail:
		return f.Test == "" || slices.ContainsFunc(e.Findings, func(o nexus.Finding) bool { return o.Test == f.Test }) ||
			!slices.ContainsFunc(e.Findings, func(o nexus.Finding) bool { return o.Test != "" }) // no test could be told
	default:
		return true
	}
}

// accidents returns the tests that failed on the base, and passed there when they
// ran again.
func (w Work) accidents() []string {
	var all []string
	for _, b := range w.Base {
		for _, f := range b.Findings {
			if f.Test != "" && !w.failedAgain(b, f) {
				all = appendUnique(all, f.Test)
			}
		}
	}
	return all
}

// passesNow reports whether a finding of the base is not there now, and a test that
// failed was seen to pass: one that was skipped or taken away does not.
func (w Work) passesNow(b nexus.Evidence, f nexus.Finding) bool {
	for _, e := range w.Now {
		some := f.Test != "" && strings.HasPrefix(e.Gate, "related") && nexus.EvidenceOf(w.Now, b.Gate).Gate == ""
		if e.Gate != b.Gate && !some || !e.Passed() {
			continue
		}
		switch ended := w.ended(e); {
		case slices.Contains(e.Old, Label(f)), slices.ContainsFunc(e.Flaky, func(x nexus.Flake) bool { return x.Test == f.Test && f.Test != "" }):
			return false
		case f.Test == "":
			return true
		case ended[f.Test] != "", len(ended) > 0 && strings.Contains(f.Test, ".Test"): // Go names all
			return ended[f.Test] == "pass"
		case e.Gate != b.Gate: // some of its tests ran, and nobody says which
		case b.Counts == nexus.Counts{} && e.Counts == nexus.Counts{}:
			return true
		default:
			// It may be one that is skipped now.
			return !w.weakensTests() && e.Counts.Passed > b.Counts.Passed && e.Counts.Skipped <= b.Counts.Skipped
		}
	}
	return false
}

func (w Work) ended(e nexus.Evidence) map[string]string {
	if w.Ended == nil {
		return nil
	}
	return w.Ended(e)
}

// isClean reports whether a gate passes by itself, and not because what it found
// was there before.
func isClean(e nexus.Evidence) bool { return e.Passed() && len(e.Old) == 0 && len(e.Flaky) == 0 }

// runsTests reports whether a gate runs tests.
func runsTests(e nexus.Evidence, gate string) bool {
	return gate == "test" || strings.HasPrefix(gate, "test-") || e.Counts != nexus.Counts{} || slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Test != "" })
}

func (w Work) tests() []string {
	return slices.DeleteFunc(slices.Clone(w.Changed), func(f string) bool { return !stack.ServesTests(f) })
}

// changesOnlyTests reports whether the change is of nothing but tests.
func (w Work) changesOnlyTests() bool { return len(w.Changed) > 0 && len(w.tests()) == len(w.Changed) }

// moreTestsPass reports whether more tests pass than on the base, or nobody counts them.
func (w Work) moreTestsPass() bool {
	counted := false
	for _, b := range w.Base {
		e := nexus.EvidenceOf(w.Now, b.Gate)
		if !runsTests(e, b.Gate) || !e.Passed() {
			continue
		}
		if counted = true; e.Counts.Passed > b.Counts.Passed || e.Counts == (nexus.Counts{}) {
			return true
		}
	}
	return !counted && slices.ContainsFunc(w.Now, func(e nexus.Evidence) bool { return runsTests(e, e.Gate) && e.Passed() })
}

// covered returns what tests run of the lines that the change made,
// where somebody measured it and that is at least half of them.
func (w Work) covered() *nexus.Coverage {
	for _, e := range w.Now {
		if k := e.Coverage; k != nil && k.New.Total > 0 && 2*k.New.Covered >= k.New.Total {
			return k
		}
	}
	return nil
}

// unshownReason says in words why nothing bears on a criterion.
func (v *weighing) unshownReason(gate string) string {
	var passed, old int
	for _, e := range v.Now {
		if e.Passed() && (e.Gate == gate || runsTests(e, e.Gate)) && e.Counts.Passed > passed {
			passed, old = e.Counts.Passed, len(e.Old)
		}
	}
	said := fmt.Sprintf("gate %s passes, but that does not show this criterion", gate)
	if nexus.EvidenceOf(v.Now, gate).Gate == "" {
		said = fmt.Sprintf("gate %s did not run", gate)
	}
	if passed > 0 {
		said = fmt.Sprintf("%d tests passed, but none of them is related to this criterion", passed)
	}
	why := []string{"none failed before the work and passes now"}
	if len(v.green) > 0 {
		why[0] = v.says.unrelated(v.green)
	}
	if v.Texts {
		why = append(why, "the change is of comments or documents alone")
	}
	switch p := v.Without; {
	case len(v.tests()) == 0:
		why = append(why, "the change has no test")
	case p == nil:
		why = append(why, "the change has no test that was seen to fail without the rest of it")
	case v.Hollow:
		why = append(why, "the tests of the change prove nothing: without the rest of it they did not even build")
	case p.Proof == nexus.ProofGreen:
		why = append(why, "the tests of the change pass without the rest of it, too")
	default:
		why = append(why, "the tests of the change show nothing: "+p.Why)
	}
	if n := v.accidents(); len(n) > 0 {
		why = append(why, "without the change these are flaky: they fail, and pass when they run again: "+joinFew(n))
	}
	if old > 0 {
		why = append(why, fmt.Sprintf("%d fail as they did before", old))
	}
	return said + ": " + strings.Join(why, "; ")
}

// hasOtherCriterion reports whether another criterion of the task is about more than
// gates: then one that asks for a green suite may mean just that.
func (w Work) hasOtherCriterion(c nexus.Criterion) bool {
	return slices.ContainsFunc(w.Task.Criteria, func(o nexus.Criterion) bool {
		gate, command := Gate(o)
		return o != c && (command || gate == "" || !asksOnlyForGate(o.Text, gate))
	})
}

// asksOnlyForGate reports whether a criterion says nothing but that a gate passes: "it
// builds", "the linter is silent", "all tests pass".
func asksOnlyForGate(text, gate string) bool {
	return saysOnly(text, append(vocabulary(gate), strings.ToLower(gate)))
}

// vocabulary are the words for what a gate does that is no test.
func vocabulary(gate string) []string {
	for _, family := range [][]string{
		{"test", "tests", "suite", "tested", "existing"},
		{"build", "builds", "built", "compile", "compiles", "compiled", "compilation"},
		{"lint", "lints", "linter", "linters", "linted", "linting", "vet", "silent", "golangci-lint", "eslint", "ruff", "clippy", "biome"},
		{"type", "types", "check", "checks", "typecheck", "typechecks", "type-checks", "tsc", "mypy", "pyright"},
		{"format", "formatted", "formatter", "fmt", "gofmt", "gofumpt", "prettier"},
	} {
		if strings.HasPrefix(gate, family[0]) {
			return family
		}
	}
	return nil
}

// joinFew names some things of many.
func joinFew(all []string) string {
	const most = 5
	if len(all) <= most {
		return nexus.Join(all)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}
