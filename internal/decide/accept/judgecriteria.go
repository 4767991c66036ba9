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

// GatePassedTree is the known information about a task's tree that passed its gates.
type GatePassedTree struct {
	Task    nexus.Task
	Changed []string             // files that differ from the base
	Edited  []string             // of these, existing files that serve tests
	Gone    []string             // of these, files that were deleted
	Touched []string             // names of the functions and classes around the changed lines
	Known   []string             // of [SubjectWords], those that are names in the code of the base
	Lost    []nexus.Finding      // the change's effects on its own tests and gates
	Base    []nexus.GateEvidence // the gates' results on the base, without comparison
	Now     []nexus.GateEvidence // the gates' results on the tree
	// Ended returns the results of the tests of a gate by name: pass, fail, skip. Nil, or a
	// nil map: the runner does not list passed tests.
	Ended func(e nexus.GateEvidence) map[string]string
	// TextOf returns the text on the base of a test that failed there, or "" if it is not
	// found. Nil: not available.
	TextOf func(f nexus.Finding) string
	// Again are the gates' results on the base of a second run: a test that passed then did
	// not need the change. Empty: not run.
	Again []nexus.GateEvidence
	// Old are the gates' results on the tree with the base's tests, without comparison. Nil:
	// not run.
	Old []nexus.GateEvidence
	// Without are the results of the change's tests without the rest of the change; nil: not
	// run.
	Without *nexus.TestsRunWithoutWork
	Hollow  bool // these tests could only fail to load there, and check nothing
	// Asserts means that a test of the change checks something that is not written in the
	// check itself. Tells are those of [GatePassedTree.Known] that its tests contain.
	Asserts bool
	Tells   []string
	// Renamed means that the change only makes the renames that the task's title asks for.
	Renamed bool
	Texts   bool // the change consists only of comments and documents
}

// JudgeGateCriteria decides, for each criterion whose check is a gate, which evidence shows
// it. A gate that passes because nothing got worse lets a change land, and shows nothing:
// only results about the criterion do. See docs/acceptance.md for the rules.
func JudgeGateCriteria(w GatePassedTree) []nexus.CriterionGateEvidence {
	var all []nexus.CriterionGateEvidence
	for i, c := range w.Task.Criteria {
		gate, command := GateOfCriterion(c)
		if gate == "" || command {
			continue
		}
		s := nexus.CriterionGateEvidence{Number: i + 1, Of: state.CriterionFingerprint(w.Task, i+1), Gate: gate}
		w.findCriterionEvidence(&s, c)
		ended := w.testEndStates(nexus.EvidenceOfGate(w.Now, gate))
		for _, test := range s.Tests {
			if ended[test] == "pass" {
				s.Seen = append(s.Seen, test)
			}
		}
		all = append(all, s)
	}
	return all
}

// BaseResults are the results on an attempt's base before the work.
type BaseResults struct {
	Said []nexus.GateEvidence   // of the gates
	Own  []CriterionBaseResults // of the commands of the task's criteria
	// Aside reports whether people excluded a test. Nil: no test is excluded.
	Aside func(gate, test string) bool
	// Ended returns the results of a gate's tests, as in [GatePassedTree].
	Ended func(e nexus.GateEvidence) map[string]string
}

// CompareBaseFailures compares the failures on an attempt's base with the failures that its task
// names.
func CompareBaseFailures(t nexus.Task, b BaseResults) nexus.BaseFailuresCompared {
	var s nexus.BaseFailuresCompared
	wishes := ParseMentions(TaskTexts(t)).ResolvePlaces(collectFindings(b.Said))
	for _, e := range b.Said {
		for _, f := range e.Findings {
			name := FindingLabel(f)
			switch {
			case f.Test != "" && (slices.ContainsFunc(wishes, func(w MentionedNames) bool { return w.ExcludesFinding(f) }) || b.Aside != nil && b.Aside(e.Gate, f.Test) && !wishes.MatchesByName(f)):
				s.Aside = appendUnique(s.Aside, name)
			case wishes.MatchesFinding(f):
				s.Meant = appendUnique(s.Meant, name)
			case f.Test != "":
				s.Others = appendUnique(s.Others, name)
			}
		}
	}
	for _, w := range wishes {
		for _, name := range w.Tests {
			if slices.ContainsFunc(b.Own, func(o CriterionBaseResults) bool {
				return !o.Base.Passed() && strings.Contains(t.Criteria[o.Number-1].Check, name)
			}) {
				continue // the command that runs it fails
			}
			if one := (RequestedFailures{{Tests: []string{name}}}); !slices.ContainsFunc(b.Said, func(b nexus.GateEvidence) bool { return slices.ContainsFunc(b.Findings, one.MatchesFinding) }) {
				s.Green = appendUnique(s.Green, name)
			}
		}
	}
	s.Aside = append(s.Aside, b.skippedTests(wishes, s.Aside)...)
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

// skippedTests returns tests that the task names and that do not run because they are marked as
// skipped. A change elsewhere cannot make them pass.
func (b BaseResults) skippedTests(wishes RequestedFailures, known []string) []string {
	var all []string
	for _, e := range b.Said {
		var ended map[string]string
		if b.Ended != nil {
			ended = b.Ended(e)
		}
		if n := e.Counts.Skipped; n > 0 && len(ended) == 0 && slices.ContainsFunc(wishes, func(w MentionedNames) bool { return w.All }) {
			all = appendUnique(all, fmt.Sprintf("%d skipped by gate %s, which does not name them", n, e.Gate))
		}
		for _, name := range slices.Sorted(maps.Keys(ended)) {
			if ended[name] == "skip" && len(all) < maxWish && !slices.Contains(known, name) && wishes.MatchesFinding(nexus.Finding{Test: name}) {
				all = appendUnique(all, name+" (skipped)")
			}
		}
	}
	return all
}

// collectFindings returns the findings of all gates.
func collectFindings(said []nexus.GateEvidence) (all []nexus.Finding) {
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

// UnprovenCriteria returns, of the given criteria, the numbers of those that would not count
// as met on a tree whose gates passed, and why the first would not. Checks are the results of
// tests that were written for them; waived are those that a person waived.
func UnprovenCriteria(t nexus.Task, weighed []nexus.CriterionGateEvidence, checks []nexus.CriterionTest, waived []int) (open []int, why string) {
	for _, s := range weighed {
		if s.By != "" || s.Left || slices.Contains(waived, s.Number) || s.Number > len(t.Criteria) {
			continue
		}
		if c := t.Criteria[s.Number-1]; c.Check == "" && c.Kind == nexus.StaysCriterion {
			continue // a test of unchanged behavior also passes without the change
		}
		text := s.Why
		i := slices.IndexFunc(checks, func(c nexus.CriterionTest) bool { return c.Number == s.Number && c.Of == s.Of })
		if i >= 0 {
			c := checks[i]
			if c.Proved || c.Command == "" && c.Why != "" {
				continue // shown by its own command, or left to people for a reason
			}
			text += "; the check that was written for it does not count: " + c.Why
		}
		if open = append(open, s.Number); why == "" {
			why = fmt.Sprintf("%s is unknown: %s. Name a command that shows it (nexus revise %s TEXT --check COMMAND), or sign it (nexus approve %s --why TEXT)",
				CriterionID(t.ID, s.Number), text, CriterionID(t.ID, s.Number), CriterionID(t.ID, s.Number))
		}
	}
	return open, why
}

// asksOnlyForRename reports whether a criterion asks for the new name in a change that only renames: no
// test can fail without it for another reason.
func (w GatePassedTree) asksOnlyForRename(c nexus.Criterion) bool {
	r, is := repair.RenamesOf(w.Task)
	text := strings.ToLower(c.Text)
	about := regexp.MustCompile(`\b(?:re)?nam(?:e|es|ed|ing)\b|\bcalled\b`).MatchString(text) || strings.Contains(text, strings.ToLower(r.From))
	return w.Renamed && is && about && strings.Contains(text, strings.ToLower(r.To))
}

// namedRedTests returns the failures on the base that a criterion, or the task's title, names,
// and those of them that are not known to pass now.
func (w GatePassedTree) namedRedTests(c nexus.Criterion) (all, left []string) {
	wishes := ParseMentions(TaskTexts(nexus.Task{Title: w.Task.Title, Criteria: []nexus.Criterion{c}})).ResolvePlaces(collectFindings(w.Base))
	for _, b := range w.Base {
		for _, f := range b.Findings {
			if strings.HasPrefix(b.Gate, nexus.AcceptGate) || !w.failedAgain(b, f) || !wishes.MatchesFinding(f) || slices.Contains(all, FindingLabel(f)) || !wishes.MatchesByName(f) && w.isQuarantined(f) {
				continue
			}
			all = append(all, FindingLabel(f))
			if !w.isFindingFixed(b, f) || runsTests(b, b.Gate) && !w.passesWithOldTests(b, f) {
				left = append(left, FindingLabel(f))
			}
		}
	}
	return all, left
}

// isQuarantined reports whether people quarantined a test.
func (w GatePassedTree) isQuarantined(f nexus.Finding) bool {
	return slices.ContainsFunc(w.Now, func(e nexus.GateEvidence) bool {
		return slices.ContainsFunc(e.Flaky, func(x nexus.FlakyTestCount) bool { return x.Test == f.Test && x.Quarantine != "" })
	})
}

// TaskTexts returns the texts that name the tests of a task.
func TaskTexts(t nexus.Task) []string {
	texts := []string{t.Title}
	for _, c := range t.Criteria {
		texts = append(texts, c.Text, c.Check)
	}
	return texts
}

// GatesShowingByFailure returns the gates whose failures on the base show criteria now, if the failures
// are not random.
func (w GatePassedTree) GatesShowingByFailure(all []nexus.CriterionGateEvidence) []string {
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
func (w GatePassedTree) failedAgain(b nexus.GateEvidence, f nexus.Finding) bool {
	e := nexus.EvidenceOfGate(w.Again, b.Gate)
	switch e.State {
	case nexus.Pass:
		return false
	case nexus.Fail:
		return f.Test == "" || slices.ContainsFunc(e.Findings, func(o nexus.Finding) bool { return o.Test == f.Test }) ||
			// no test could be identified
			!slices.ContainsFunc(e.Findings, func(o nexus.Finding) bool { return o.Test != "" })
	default:
		return true
	}
}

// unstableTests returns the tests that failed on the base and passed there in a second run.
func (w GatePassedTree) unstableTests() []string {
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

// isFindingFixed reports whether a finding of the base is gone and a failing test now passes. A
// skipped or deleted test does not count as passing.
func (w GatePassedTree) isFindingFixed(b nexus.GateEvidence, f nexus.Finding) bool {
	for _, e := range w.Now {
		some := f.Test != "" && strings.HasPrefix(e.Gate, "related") && nexus.EvidenceOfGate(w.Now, b.Gate).Gate == ""
		if e.Gate != b.Gate && !some || !e.Passed() {
			continue
		}
		switch ended := w.testEndStates(e); {
		case slices.Contains(e.Old, FindingLabel(f)), slices.ContainsFunc(e.Flaky, func(x nexus.FlakyTestCount) bool { return x.Test == f.Test && f.Test != "" }):
			return false
		case f.Test == "":
			return true
		case ended[f.Test] != "", len(ended) > 0 && strings.Contains(f.Test, ".Test"): // Go names all
			return ended[f.Test] == "pass"
		case e.Gate != b.Gate: // some of its tests ran, and it is unknown which
		case b.Counts == nexus.TestCounts{} && e.Counts == nexus.TestCounts{}:
			return true
		default:
			// it may be a test that is skipped now
			return !w.weakensTests() && e.Counts.Passed > b.Counts.Passed && e.Counts.Skipped <= b.Counts.Skipped
		}
	}
	return false
}

func (w GatePassedTree) testEndStates(e nexus.GateEvidence) map[string]string {
	if w.Ended == nil {
		return nil
	}
	return w.Ended(e)
}

// passesCleanly reports whether a gate passes by itself, and not because its findings existed
// before.
func passesCleanly(e nexus.GateEvidence) bool {
	return e.Passed() && len(e.Old) == 0 && len(e.Flaky) == 0
}

// runsTests reports whether a gate runs tests.
func runsTests(e nexus.GateEvidence, gate string) bool {
	return gate == "test" || strings.HasPrefix(gate, "test-") || e.Counts != nexus.TestCounts{} || slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Test != "" })
}

func (w GatePassedTree) changedTestFiles() []string {
	return slices.DeleteFunc(slices.Clone(w.Changed), func(f string) bool { return !stack.ServesTests(f) })
}

// changesOnlyTests reports whether the change consists only of tests.
func (w GatePassedTree) changesOnlyTests() bool {
	return len(w.Changed) > 0 && len(w.changedTestFiles()) == len(w.Changed)
}

// moreTestsPass reports whether more tests pass than on the base, or the number is unknown.
func (w GatePassedTree) moreTestsPass() bool {
	counted := false
	for _, b := range w.Base {
		e := nexus.EvidenceOfGate(w.Now, b.Gate)
		if !runsTests(e, b.Gate) || !e.Passed() {
			continue
		}
		if counted = true; e.Counts.Passed > b.Counts.Passed || e.Counts == (nexus.TestCounts{}) {
			return true
		}
	}
	return !counted && slices.ContainsFunc(w.Now, func(e nexus.GateEvidence) bool { return runsTests(e, e.Gate) && e.Passed() })
}

// coverageOfChange returns the coverage of the changed lines, if it was measured and is at least half
// of them.
func (w GatePassedTree) coverageOfChange() *nexus.TestCoverage {
	for _, e := range w.Now {
		if k := e.Coverage; k != nil && k.New.Total > 0 && 2*k.New.Covered >= k.New.Total {
			return k
		}
	}
	return nil
}

// unshownReason returns why there is no evidence for a criterion.
func (v *criterionEvaluation) unshownReason(gate string) string {
	var passed, old int
	for _, e := range v.Now {
		if e.Passed() && (e.Gate == gate || runsTests(e, e.Gate)) && e.Counts.Passed > passed {
			passed, old = e.Counts.Passed, len(e.Old)
		}
	}
	said := fmt.Sprintf("gate %s passes, but that does not show this criterion", gate)
	if nexus.EvidenceOfGate(v.Now, gate).Gate == "" {
		said = fmt.Sprintf("gate %s did not run", gate)
	}
	if passed > 0 {
		said = fmt.Sprintf("%d tests passed, but none of them is related to this criterion", passed)
	}
	why := []string{"none failed before the work and passes now"}
	if len(v.green) > 0 {
		why[0] = v.says.unrelatedReason(v.green)
	}
	if v.Texts {
		why = append(why, "the change is of comments or documents alone")
	}
	switch p := v.Without; {
	case len(v.changedTestFiles()) == 0:
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
	if n := v.unstableTests(); len(n) > 0 {
		why = append(why, "without the change these are flaky: they fail, and pass when they run again: "+joinFirstNames(n))
	}
	if old > 0 {
		why = append(why, fmt.Sprintf("%d fail as they did before", old))
	}
	return said + ": " + strings.Join(why, "; ")
}

// hasOtherCriterion reports whether another criterion of the task is about more than gates:
// then a criterion that asks for a passing suite may mean exactly that.
func (w GatePassedTree) hasOtherCriterion(c nexus.Criterion) bool {
	return slices.ContainsFunc(w.Task.Criteria, func(o nexus.Criterion) bool {
		gate, command := GateOfCriterion(o)
		return o != c && (command || gate == "" || !asksOnlyForGate(o.Text, gate))
	})
}

// asksOnlyForGate reports whether a criterion requires only that a gate passes: "it builds",
// "the linter is silent", "all tests pass".
func asksOnlyForGate(text, gate string) bool {
	return saysOnlyThatPasses(text, append(gateResultWords(gate), strings.ToLower(gate)))
}

// gateResultWords returns words for the results of a gate without tests.
func gateResultWords(gate string) []string {
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

// joinFirstNames joins the first few of many names.
func joinFirstNames(all []string) string {
	const most = 5
	if len(all) <= most {
		return nexus.JoinWords(all)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}
