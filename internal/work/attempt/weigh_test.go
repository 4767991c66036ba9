package attempt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// facts returns the facts of a kind that are on record.
func facts[F nexus.Fact](j *job) (all []F) {
	for _, f := range j.desk.facts {
		if f, ok := f.(F); ok {
			all = append(all, f)
		}
	}
	return all
}

// TestWhatIsRedBeforeAnybodyWorks is seen once, told to the coder, and shows its
// criterion when it passes.
func TestWhatIsRedBeforeAnybodyWorks(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.view.Task.Criteria = []nexus.Criterion{{Text: "one is there", Check: "test -e one"}, {Text: "bad is better", Check: "test -e bad"}}
	c := j.plays(map[nexus.Role][]nextRole{nexus.Coder: {{files: one}, {to: "does not show what the task asks for"}}, nexus.Reviewer: {{handin: approved()}}})
	f := j.ended() // it is unknown whether bad is better
	seen := facts[nexus.BaseFailuresCompared](j)
	base, err := j.Trees.PrivateRepo().TreeID(t.Context(), j.base)
	if err != nil || len(seen) != 1 || seen[0].Attempt != "T1.1" || seen[0].Tree != base || !slices.Equal(seen[0].Meant, []string{"test -e one"}) || !slices.Equal(seen[0].Green, []string{"test -e bad"}) {
		t.Fatalf("%+v, %+v, %v", f, seen, err)
	}
	has(t, c.all(nexus.Coder)[0], []string{"This fails now and must pass when you are done:\n- test -e one", "it does not fail now", "- test -e bad"})
	w := last[nexus.CriteriaEvidenceRecorded](j)
	if len(w.Criteria) != 2 || w.Criteria[0].Number != 1 || w.Criteria[0].By != nexus.TurnedBearing || w.Criteria[1].Number != 2 || w.Criteria[1].By != "" {
		t.Errorf("%+v", w.Criteria)
	}

	// who goes on from there looks at nothing again
	j.view.Attempt.Rounds, j.view.Attempt.Snapshot, j.view.Attempt.Sessions = nil, nexus.TreeSnapshotted{}, nil
	j.desk.facts = nil
	c.turns = map[nexus.Role][]nextRole{nexus.Coder: {{files: one}, {to: "does not show what the task asks for"}}, nexus.Reviewer: {{handin: approved()}}}
	if f := j.ended(); len(facts[nexus.BaseFailuresCompared](j)) > 0 {
		t.Errorf("%+v, %+v", f, facts[nexus.BaseFailuresCompared](j))
	}
}

// TestWhatATaskQuotesIsLookedFor on the base by the gate that says it: a linter
// for its place or its words, the tests alone for the name of a test.
func TestWhatATaskQuotesIsLookedFor(t *testing.T) {
	for title, c := range map[string]struct{ linted, meant bool }{
		"Fix main.c:1":                     {true, true},
		"Fix `this name is bad` in main.c": {true, true},
		"Make TestNew pass":                {false, false},
		"Write one":                        {false, false},
	} {
		t.Run(title, func(t *testing.T) {
			j := newJob(t, map[string]string{"go.mod": "module m\n", "main.c": "int x;\n"}, lint("test ! -e main.c || { echo main.c:1:5: this name is bad; exit 1; }"), newTest())
			j.view.Task.Title = title
			j.view.Goal.Base = j.base + "x" // so that the base is not judged in any case, as that of a run is
			if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(facts) > 0 {
				t.Fatal(facts, err)
			}
			var meant []string
			for _, f := range facts[nexus.BaseFailuresCompared](j) {
				meant = append(meant, f.Meant...)
			}
			linted := slices.ContainsFunc(facts[nexus.GateJudged](j), func(f nexus.GateJudged) bool { return f.Evidence.Gate == "lint" })
			if linted != c.linted || (len(meant) > 0) != c.meant || c.meant && !strings.Contains(meant[0], "main.c:1") {
				t.Errorf("linted: %v, it fails: %q", linted, meant)
			}
		})
	}
}

// TestACommandThatPassesOnTheBase shows its criterion where it failed before the
// run, or fails with the tests of the change alone.
func TestACommandThatPassesOnTheBase(t *testing.T) {
	for name, c := range map[string]struct {
		check string
		files map[string]string
		by    nexus.EvidenceReason
		own   bool
		gate  bool // a gate runs the very command, and knows what it says about the base
	}{
		"it failed before the run":        {"test -e landed", one, nexus.TurnedBearing, false, false},
		"its tests fail without the work": {"test ! -e new_test.sh || sh new_test.sh", map[string]string{"one": "1\n", "new_test.sh": "test -e one || { echo 'new_test.sh:1: no one'; exit 1; }\n"}, nexus.NewBearing, true, false},
		"the same, and a gate runs it":    {"test ! -e new_test.sh || sh new_test.sh", map[string]string{"one": "1\n", "new_test.sh": "test -e one || { echo 'new_test.sh:1: no one'; exit 1; }\n"}, nexus.NewBearing, true, true},
		"its tests pass without it, too":  {"test ! -e new_test.sh || sh new_test.sh", map[string]string{"one": "1\n", "new_test.sh": "true\n"}, "", false, false},
		"nothing else came with it":       {"test ! -e new_test.sh || sh new_test.sh", map[string]string{"new_test.sh": "true\n"}, "", false, false},
		"it always passes":                {"test -e bad", one, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			gates := []gate.QualityGate{lint("exit 0")}
			if c.gate {
				gates = append(gates, gate.QualityGate{Name: "own", Args: []string{"sh", "-c", c.check}, Format: "exit"})
			}
			j := newJob(t, nil, gates...)
			a := j.view.Attempt
			a.Base, _ = j.tree("landed", j.base, map[string]string{"landed": "x\n"})
			j.view.Limits.Rounds = 1
			j.view.Task.Criteria = []nexus.Criterion{{Text: "it works better", Check: c.check}}
			commit, hash := j.tree("T1.1", a.Base, c.files)
			j.over(nexus.Coder, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
			a.Rounds = []*state.AttemptRound{{RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 1, Role: nexus.Coder, Session: "T1.1/coder.1"}, Base: a.Base, From: a.Base, Commit: commit, Prompted: true}}
			a.Snapshot = nexus.TreeSnapshotted{Attempt: a.ID, Commit: commit, Tree: hash}
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			if _, err := j.work(); err != nil {
				t.Fatal(err)
			}
			w := last[nexus.CriteriaEvidenceRecorded](j)
			if len(w.Criteria) != 1 || w.Criteria[0].By != c.by || w.Criteria[0].Own != c.own || w.Tree != hash {
				t.Errorf("%+v", w)
			}
			if v := last[nexus.GatesVerdictGiven](j); v.Tree != hash {
				t.Errorf("%s was judged, and the work is %s", v.Tree, hash)
			}
		})
	}
}

// TestCriteriaAreWeighedInTheirOrder, whatever shows them.
func TestCriteriaAreWeighedInTheirOrder(t *testing.T) {
	j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
	j.view.Task.Criteria = []nexus.Criterion{{Text: "one is there", Check: "test -e one"}, {Text: "it adds numbers", Check: "test"}, {Text: "two is there", Check: "test -e two"}}
	j.written(1, map[string]string{"one": "1\n", "two": "2\n", "new_test.go": "package m\n"})
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	if f := j.ended(); f.Outcome != nexus.Accepted {
		t.Errorf("%+v", f)
	}
	var got []string
	for _, s := range last[nexus.CriteriaEvidenceRecorded](j).Criteria {
		got = append(got, fmt.Sprint(s.Number, " ", s.By))
	}
	if want := []string{"1 turned", "2 new", "3 turned"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatFailedByAccidentShowsNothing: it is run on the base once more.
func TestWhatFailedByAccidentShowsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		again string // what the base says when it is asked again
		by    nexus.EvidenceReason
	}{"red again": {"false", nexus.TurnedBearing}, "green then": {"true", ""}} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			line := "if test ! -e one; then echo ran >>" + log + "; if test $(grep -c ran " + log + ") -eq 1 || ! " + c.again + "; then echo 1..1; echo not ok 1 - adds numbers; exit 1; fi; fi; echo 1..1; echo ok 1 - adds numbers"
			j := newJob(t, map[string]string{"old_test.sh": "exit\n"}, gate.QualityGate{Name: "test", Format: "tap", Tests: true, Args: []string{"sh", "-c", line}})
			j.view.Task.Criteria = []nexus.Criterion{{Text: "it adds numbers", Check: "test"}}
			j.view.Limits.Rounds = 1
			j.written(1, one)
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			if _, err := j.work(); err != nil {
				t.Fatal(err)
			}
			w := last[nexus.CriteriaEvidenceRecorded](j)
			if len(w.Criteria) != 1 || w.Criteria[0].By != c.by {
				t.Errorf("%+v", w.Criteria)
			}
			text, err := os.ReadFile(log)
			if n := strings.Count(string(text), "ran"); err != nil || n != 2 {
				t.Errorf("the base was judged %d times, %v", n, err)
			}
		})
	}
}

// TestTestsOfOneSessionAreProvedWithoutItsCode, which goes back where they pass
// there.
func TestTestsOfOneSessionAreProvedWithoutItsCode(t *testing.T) {
	for _, red := range []bool{true, false} {
		j := newJob(t, map[string]string{"go.mod": "module m\n"}, lint("exit 0"), newTest())
		a := j.view.Attempt
		a.Strategy, j.view.Task.Kind = nexus.TDDSimple, ""
		j.view.Task.Criteria = []nexus.Criterion{{Text: "it adds numbers", Check: "test"}}
		files := map[string]string{"one": "1\n", "new_test.go": "package m\n"}
		if !red { // it needs nothing of the work
			files = map[string]string{"two": "1\n", "new_test.go": "package m\n"}
			j.Judge.Gates = func(string) ([]gate.QualityGate, error) {
				g := newTest()
				g.Args[2] = strings.ReplaceAll(g.Args[2], "test -e one &&", "true &&")
				return []gate.QualityGate{g}, nil
			}
		}
		j.written(1, files)
		j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
		facts, err := j.work()
		p := last[nexus.TestsRunWithoutWork](j)
		if !slices.Equal(p.Files, []string{"new_test.go"}) || j.files(p.Tree) != "bad go.mod new_test.go" || len(p.Evidence) != 1 || p.Evidence[0].Tree != p.Tree || p.Attempt != "T1.1" {
			t.Errorf("%+v on %s", p, j.files(p.Tree))
		}
		if red != (p.Proof == nexus.ProofRed) || red != (err == nil) || !red && !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
			t.Errorf("red %v: %+v, %v: %s", red, facts, err, j.desk.told())
		}
		if !red {
			if r := last[nexus.RoundStarted](j); r.Cause != "proof" || r.Role != nexus.Coder {
				t.Errorf("%+v", r)
			}
			continue
		}
		if w := last[nexus.CriteriaEvidenceRecorded](j); len(w.Criteria) != 1 || w.Criteria[0].By != nexus.NewBearing || w.Tree != a.Snapshot.Tree {
			t.Errorf("%+v", w)
		}
		if facts[0].(nexus.AttemptEnded).Tree != a.Snapshot.Tree {
			t.Errorf("%+v", facts)
		}
	}
}

// TestWorkWithoutTestsIsPutAside where tests come first, and so is work whose
// tests do not need it.
func TestWorkWithoutTestsIsPutAside(t *testing.T) {
	for name, files := range map[string]map[string]string{"no tests": {"one": "1\n"}, "tests of nothing": {"two": "2\n", "old_test.go": "package m\n"}} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
			a := j.view.Attempt
			a.Strategy, j.view.Task.Kind, a.From, a.FromRound = nexus.TDDStrict, "", "T1.0", 1
			a.Start, _ = j.tree("T1.0", j.base, files)
			c := j.plays(map[nexus.Role][]nextRole{nexus.Tester: {{files: map[string]string{"new_test.go": "package m\n"}}}})
			if facts, err := j.work(); err == nil || !strings.Contains(err.Error(), "the coder has no turn") {
				t.Fatal(facts, err)
			}
			if f := last[nexus.StartingTreeRejected](j); f.Attempt != "T1.1" || f.Why == "" {
				t.Errorf("%+v", f)
			}
			p := last[nexus.TestsRunWithoutWork](j)
			if p.Proof != nexus.ProofRed || j.files(p.Tree) != "bad go.mod new_test.go" || len(p.Beside) > 0 {
				t.Errorf("%+v on %s", p, j.files(p.Tree))
			}
			told := c.all(nexus.Tester)
			has(t, told[0], []string{"Your worktree holds nothing from earlier attempts", "The tests come first"}, "round 1 of T1.0")
			has(t, c.all(nexus.Coder)[0], []string{"The tests are written, and fail", "new_test.go", "Done by the tester."})
		})
	}
}

// TestWhatAnEarlierAttemptLeftCannotBeFound is an error that says so.
func TestWhatAnEarlierAttemptLeftCannotBeFound(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	a := j.view.Attempt
	a.Since, a.From, a.Start = strings.Repeat("0", 40), "T1.0", j.base
	if facts, err := j.work(); err == nil || !strings.Contains(err.Error(), "merge what T1.1 starts from") || len(facts)+len(j.desk.facts) > 0 {
		t.Error(facts, err, j.desk.told())
	}
}

// TestWhatCannotBePutAsideStopsTheAttempt, which then starts from it again.
func TestWhatCannotBePutAsideStopsTheAttempt(t *testing.T) {
	j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
	a := j.view.Attempt
	a.Strategy, j.view.Task.Kind, a.From, a.FromRound = nexus.TDDStrict, "", "T1.0", 1
	a.Start, _ = j.tree("T1.0", j.base, one)
	broken, told := errors.New("no space"), false
	j.desk.fails = func(f nexus.Fact) error {
		if _, ok := f.(nexus.StartingTreeRejected); ok && !told {
			told = true
			return broken
		}
		return nil
	}
	if facts, err := j.work(); !errors.Is(err, broken) || len(facts) > 0 {
		t.Errorf("%+v, %v", facts, err)
	}
}

// story is work that is done from its beginning to its end.
type story struct {
	name string
	make func(*testing.T) *job
}

func whole() []story {
	return []story{
		{"work, from its brief to its end", func(t *testing.T) *job {
			t.Helper()
			j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
			j.view.Attempt.Strategy, j.view.Task.Kind = nexus.TDDSimple, ""
			j.view.Task.Criteria = []nexus.Criterion{{Text: "it adds numbers", Check: "test"}, {Text: "one is there", Check: "test -e one"}}
			j.plays(map[nexus.Role][]nextRole{nexus.Coder: {{files: map[string]string{"one": "1\n", "new_test.go": "package m\n"}}}, nexus.Reviewer: {{handin: approved()}}})
			return j
		}},
		{"a check that a tester named", func(t *testing.T) *job {
			t.Helper()
			return tested(t, "test -e one\n", "add_test.sh", nil)
		}},
		{"what a tester did is taken back", func(t *testing.T) *job {
			t.Helper()
			j := tested(t, "test -e one\n", "add_test.sh", map[string]string{"bad": "better\n"})
			j.view.Limits.Rounds = 2 // nobody is asked for another test
			return j
		}},
		{"work that is put right, tried with faults, held to a check that cannot tell, and verified", func(t *testing.T) *job {
			t.Helper()
			g := newTest()
			g.Fix = []stack.FixCommand{{Args: []string{"sh", "-c", `for f; do case $f in new) echo better >$f; esac; done`, "sh", "{files}"}}}
			j := newJob(t, map[string]string{"go.mod": "module m\n", "old_test.sh": "test -e one\n"}, g)
			j.Judge.Autofix, j.Judge.Faults = true, mutate.MutationCheckSettings{Mode: "warn", Sample: 1, Time: time.Minute}
			j.view.Task.Kind = ""
			j.view.Task.Criteria = []nexus.Criterion{{Text: "it adds numbers", Check: "test"}, {Text: "it is tested", Check: "true || pytest tests"}}
			j.written(1, map[string]string{"one": "1\n", "new": "good\n", "new_test.go": "package m\n", "old_test.sh": "true\n", "add.go": "package m\n\nfunc Add(a, b int) int { return a + b }\n"})
			j.over(nexus.Verifier, 1, nexus.Accepted, agrees("old_test.sh", 1, 2))
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			return j
		}},
		reviewed(),
		{"work on what an earlier attempt left, merged with what landed, that renames", func(t *testing.T) *job {
			t.Helper()
			j := newJob(t, nil, lint("exit 0"))
			a := j.view.Attempt
			a.Since, a.From, a.FromRound = j.base, "T1.0", 1
			a.Start, _ = j.tree("T1.0", j.base, map[string]string{"bad": "worse\n"})
			a.Base, _ = j.tree("landed", j.base, map[string]string{"landed": "1\n"})
			j.view.Task.Title, j.view.Task.Kind = "Rename bad to worse", ""
			j.view.Task.Criteria = []nexus.Criterion{{Text: "it is worse", Check: "grep -q worse bad"}, {Text: "it is tested", Check: "test ! -e new_test.sh || sh new_test.sh"}}
			j.plays(map[nexus.Role][]nextRole{
				nexus.Coder:    {{files: map[string]string{"one": "1\n", "new_test.sh": "test -e one || { echo 'new_test.sh:1: no one'; exit 1; }\n"}}},
				nexus.Reviewer: {{handin: approved()}},
			})
			return j
		}},
	}
}

// kit gives trees what they depend on.
func (j *job) kit(wish dependencies.InstallSettings) {
	j.Judge.Kit = &dependencies.WorktreeProvisioner{Store: &depcache.DependencySetStore{Dir: filepath.Join(j.Site.State, "environments"), Now: j.Site.Now}, Box: j.Site.Box, Git: j.Trees.PrivateRepo(), Settings: wish}
}

// TestWhatCannotBeInstalledStopsWhoBegins; who goes on learns it when the gates
// judge.
func TestWhatCannotBeInstalledStopsWhoBegins(t *testing.T) {
	for _, begins := range []bool{true, false} {
		j := newJob(t, nil, lint("exit 0"))
		j.kit(dependencies.InstallSettings{Install: "exit 1"})
		if !begins {
			j.written(1, one)
		}
		facts, err := j.work()
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeEnvironment}) || begins == strings.HasPrefix(err.Error(), "judge the base: ") || len(facts) > 0 {
			t.Errorf("begins %v: %+v, %v: %s", begins, facts, err, j.desk.told())
		}
	}
}

// way returns the functions of this package, with their lines, that lead to where
// it is called.
func way() string {
	pcs, text := make([]uintptr, 100), ""
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		f, more := frames.Next()
		if _, name, ok := strings.Cut(f.Function, "/attempt."); ok {
			text += fmt.Sprintf("%s:%d ", name, f.Line)
		}
		if !more {
			return text
		}
	}
}

// TestNothingHappensThatIsNotOnRecord: whatever cannot be recorded, and whenever
// the gates cannot be found, the attempt stops there and does not end. Each fails
// once only: what is done after it would not fail, and so cannot hide it.
func TestNothingHappensThatIsNotOnRecord(t *testing.T) {
	broken := errors.New("no space")
	var own []string // kinds of facts that are not the attempt's: sessions are its worker's to record
	for _, f := range []nexus.Fact{
		nexus.SessionStarted{},
		nexus.PromptSent{},
		nexus.ModelTurnRecorded{},
		nexus.SessionEnded{},
		nexus.NetworkRequestsRecorded{},
		nexus.BudgetSettled{},
		nexus.ToolCallStarted{},
		nexus.ToolCallEnded{},
		nexus.ToolResultsSent{},
	} {
		own = append(own, fmt.Sprintf("%T", f))
	}
	ways := map[string]bool{} // to a look at the gates, and to the record of a kind of fact: each is enough once
	for _, c := range whole() {
		t.Run(c.name, func(t *testing.T) {
			whole := c.make(t)
			whole.kit(dependencies.InstallSettings{})
			looks, list := []string{}, whole.Judge.Gates
			whole.Judge.Gates = func(dir string) ([]gate.QualityGate, error) { looks = append(looks, way()); return list(dir) }
			var records []string
			whole.desk.fails = func(f nexus.Fact) error { records = append(records, fmt.Sprintf("%T %s", f, way())); return nil }
			if f := whole.ended(); f.Outcome != nexus.Accepted && f.Outcome != nexus.Unverified {
				t.Fatalf("%+v: %s", f, whole.desk.told())
			}
			for n, way := range records {
				if kind, _, _ := strings.Cut(way, " "); ways[way] || slices.Contains(own, kind) {
					continue
				}
				ways[way] = true
				j := c.make(t)
				seen := 0
				j.desk.fails = func(nexus.Fact) error {
					if seen++; seen == n+1 {
						return broken
					}
					return nil
				}
				if facts, err := j.work(); !errors.Is(err, broken) || len(facts) > 0 {
					t.Errorf("without %s: %+v, %v", way, facts, err)
				}
			}
			for n, way := range looks {
				if ways[way] {
					continue
				}
				ways[way] = true
				j := c.make(t)
				j.kit(dependencies.InstallSettings{})
				seen, list := 0, j.Judge.Gates
				j.Judge.Gates = func(dir string) ([]gate.QualityGate, error) {
					if seen++; seen == n+1 {
						return nil, broken
					}
					return list(dir)
				}
				if facts, err := j.work(); !errors.Is(err, broken) || len(facts) > 0 {
					t.Errorf("without the gates at the look %d, from %s: %+v, %v", n+1, way, facts, err)
				}
			}
		})
	}
}
