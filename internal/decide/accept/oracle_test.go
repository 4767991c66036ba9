package accept_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// example is a generated case: red tests of a base, a change, what came of it, and a goal in words.
type example struct {
	reds    []exampleTest
	goal    []string
	touched []string
	tests   bool // the change is of files of tests, too
	fresh   bool // its tests fail without the rest of it
	kind    nexus.CriterionKind
}

type exampleTest struct {
	name, text []string // words in them; no text: nobody found it
	file       string
	now        string // pass, fail or skip
	old        string // with the tests of the base
	accident   bool   // it passed on the base when it ran once more
}

func (e exampleTest) label() string {
	name := "Test"
	for _, w := range e.name {
		name += strings.ToUpper(w[:1]) + w[1:]
	}
	return "m." + name
}

func drawExample(t *rapid.T) example {
	words := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"alpha", "bravo", "tango", "lima", "kilo"}), 0, 3, rapid.ID[string])
	e := example{
		goal: words.Draw(t, "goal"), touched: words.Draw(t, "touched"), tests: rapid.Bool().Draw(t, "tests"), fresh: rapid.Bool().Draw(t, "fresh"),
		kind: rapid.SampledFrom([]nexus.CriterionKind{"", "", "", nexus.StaysCriterion}).Draw(t, "kind"),
	}
	states := rapid.SampledFrom([]string{"pass", "fail", "skip"})
	for range rapid.IntRange(0, 4).Draw(t, "reds") {
		x := exampleTest{
			name: words.Draw(t, "name"), text: words.Draw(t, "text"), file: rapid.SampledFrom([]string{"a_test.go", "b_test.go"}).Draw(t, "file"),
			now: states.Draw(t, "now"), old: states.Draw(t, "old"), accident: rapid.IntRange(0, 4).Draw(t, "accident") == 0,
		}
		if !slices.ContainsFunc(e.reds, func(o exampleTest) bool { return o.label() == x.label() }) {
			e.reds = append(e.reds, x)
		}
	}
	return e
}

// work is what is known of an example.
func (e example) work() accept.GatePassedTree {
	c := nexus.Criterion{Text: "so " + strings.Join(e.goal, " "), Check: "test", Kind: e.kind}
	w := accept.GatePassedTree{Task: nexus.Task{ID: "T1", Title: "Do it", Criteria: []nexus.Criterion{c}}, Changed: []string{"x.go"}, Touched: e.touched}
	var failed, again []string
	now, old := map[string]string{}, map[string]string{}
	texts := map[string]string{}
	for _, x := range e.reds {
		failed = append(failed, x.label())
		if !x.accident {
			again = append(again, x.label())
		}
		now[x.label()], old[x.label()], texts[x.label()] = x.now, x.old, strings.Join(x.text, " ")
	}
	base, kept := verifierVerdict(3, failed...), verifierVerdict(3)
	for i, x := range e.reds {
		base.Findings[i].File = x.file
		if x.now == "fail" {
			kept.Old = append(kept.Old, x.label())
		}
	}
	w.Base, w.Now, w.Again = []nexus.GateEvidence{base}, []nexus.GateEvidence{kept}, []nexus.GateEvidence{verifierVerdict(3, again...)}
	if e.tests {
		w.Changed = append(w.Changed, "c_test.go")
		before := verifierVerdict(3)
		before.Tree = "old"
		for _, x := range e.reds {
			if x.old == "fail" {
				before.State = nexus.Fail
				before.Findings = append(before.Findings, nexus.Finding{Test: x.label()})
			}
		}
		w.Old = []nexus.GateEvidence{before}
	}
	w.Ended = func(v nexus.GateEvidence) map[string]string {
		if v.Tree == "old" {
			return old
		}
		return now
	}
	w.TextOf = func(f nexus.Finding) string { return texts[f.Test] }
	if e.fresh {
		w.Without = &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Tests: []string{"m.TestNew"}}
	}
	return w
}

// want says the same as docs/acceptance.md, in the plainest way.
func (e example) want() nexus.EvidenceReason {
	share := func(a, b []string) bool {
		for _, x := range a {
			for _, y := range b {
				if x == y {
					return true
				}
			}
		}
		return false
	}
	within := func(a, b []string) bool {
		n := 0
		for _, x := range a {
			if share([]string{x}, b) {
				n++
			}
		}
		return len(a) > 1 && n == len(a)
	}
	weigh := func(x exampleTest) (n int) {
		for _, g := range e.goal {
			if share([]string{g}, x.name) {
				n += 3
			} else if share([]string{g}, x.text) {
				n++
			}
		}
		return n
	}
	if e.kind == nexus.StaysCriterion {
		return nexus.KeptBearing // all that passed passes, and no test was edited
	}
	var green, left []exampleTest
	for _, x := range e.reds {
		if x.accident {
			continue
		}
		if x.now == "pass" && (!e.tests || x.old == "pass") {
			green = append(green, x)
		} else {
			left = append(left, x)
		}
	}
	best := 0
	for _, x := range green {
		best = max(best, weigh(x))
	}
	if !share(e.goal, e.touched) && best < min(2, len(e.goal)) { // one word in a text is chance, unless there is no other
		green, best = nil, 0
	}
	for _, x := range left {
		same := share(x.text, e.touched)
		for _, g := range green {
			if g.file == x.file && (len(x.text) == 0 || weigh(x) > 0 || same) {
				return ""
			}
		}
		for _, g := range green {
			if within(x.name, g.name) || within(g.name, x.name) {
				return ""
			}
		}
		if len(green) > 0 && weigh(x) > 0 && weigh(x) >= best {
			return ""
		}
		if len(green) == 0 && (share(e.goal, x.name) || weigh(x) > 0 && same) {
			return ""
		}
	}
	switch {
	case len(green) > 0:
		return nexus.TurnedBearing
	case e.fresh:
		return nexus.NewBearing
	}
	return ""
}

// TestWhatShowsACriterion holds the table against a second, slower reading of its rules.
func TestWhatShowsACriterion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExample(t)
		all := accept.JudgeGateCriteria(e.work())
		if len(all) != 1 || all[0].By != e.want() {
			t.Fatalf("want %q, got %+v", e.want(), all)
		}
		if all[0].By == "" && all[0].Why == "" {
			t.Fatal("nothing says why it is unknown")
		}
	})
}

// TestSourcesAreDocumented holds that docs/acceptance.md has the table of the code, row by row.
func TestSourcesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/acceptance.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range accept.EvidenceSources() {
		kinds := make([]string, len(s.Kinds))
		for i, k := range s.Kinds {
			if kinds[i] = string(k); k == "" {
				kinds[i] = "behavior"
			}
		}
		want = append(want, fmt.Sprintf("| %s | %s | %s | %s |", s.By, strings.Join(kinds, ", "), s.Shows, s.Never))
	}
	if table := strings.Join(want, "\n") + "\n"; !strings.Contains(string(text), "|---|---|---|---|\n"+table) {
		t.Errorf("docs/acceptance.md does not have this table:\n%s", table)
	}
}
