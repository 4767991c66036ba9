package gate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// suite is a package whose tests may be red, and may be told how often they ran
// before on its tree or its base: calls says so.
const suite = `package m

import (
	"fmt"
	"os"
	"testing"
)

func calls(name string) int {
	file := os.Getenv("COUNTS") + "/" + name
	b, _ := os.ReadFile(file)
	os.WriteFile(file, append(b, 'x'), 0o600)
	return len(b)
}
`

// doubted is a test of it that is red now, where that may or may not be the
// work's doing. n is how often it ran before.
type doubted struct {
	name    string
	was, is string // its body; is where that is another now
	counts  bool   // its runs on the base count
	// what comes of it: it is flaky, nobody can say, it counts for what it says, or
	// it was so before
	flaky  string
	unsure bool
	text   string
}

// body is the test.
func (d doubted) body(does string) string {
	return fmt.Sprintf("\nfunc %s(t *testing.T) {\n\tn := calls(%q)\n\t_ = fmt.Sprint(n)\n\t%s\n}\n", d.name, d.name, does)
}

// weighs returns a runner that weighs what a gate says against a base, where the gate
// ran before. Files in counts tell how often each test ran.
func weighs(t *testing.T, base gate.JudgedTreeDir, g gate.QualityGate, tests []doubted, wants, changed []string, counts string) gate.GateRunner {
	t.Helper()
	r := runner(t, sandbox.ModeOff)
	r.Env = append(r.Env, "COUNTS="+counts)
	before, err := r.RunGate(t.Context(), base, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range tests {
		if !d.counts {
			_ = os.Remove(filepath.Join(counts, d.name))
		}
	}
	weighing := r
	weighing.Base = func(string) (nexus.GateEvidence, bool) { return before, true }
	weighing.Wanted = wants
	weighing.Origin = &gate.OriginTree{Dir: base.Dir, Changed: changed, Use: func(_ context.Context, do func(gate.GateRunner, gate.JudgedTreeDir) error) error { return do(r, base) }}
	return weighing
}

// TestDoubt weighs red tests on trees where that may or may not be the work's
// doing.
func TestDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		tests []doubted
		wants []string
		state nexus.GateState
		why   string
	}{
		"they are forgiven": {state: nexus.Pass, why: "also on the base", tests: []doubted{
			{name: "TestNowAndThen", was: `if Broken && n%2 == 0 { t.Error("now and then") }`, flaky: "1 of 2"},
			{name: "TestTwiceOfThreeTimes", was: `if Broken && n < 2 { t.Error("now and then") }`, flaky: "2 of 3"},
			{name: "TestOnTheBase", was: `if Broken || n%2 == 1 { t.Error("now and then") }`, counts: true, flaky: "1 of 2"},
			{name: "TestBefore", was: `t.Error("same")`},
			{name: "TestNeverTheSame", was: `t.Errorf("got %c", 'a'+n)`, counts: true, unsure: true},
			{name: "TestGotFurther", was: "if !Broken { t.Fatal(\"one\") }; \n\tt.Error(\"two\")", unsure: true},
		}},
		"they count": {state: nexus.Fail, wants: []string{"TestWanted passes", "go test -run TestBeforeAndWanted ."}, tests: []doubted{
			{name: "TestBroken", was: `if Broken { t.Error("always") }`, text: "always"},
			{name: "TestRace", was: `if Broken && n%2 == 0 { fmt.Println("WARNING: DATA RACE"); t.Error("race detected during execution of test") }`, text: "race"},
			{name: "TestItsOwn", was: `if Broken && n%2 == 0 { t.Error("old") }`, is: `if Broken && n%2 == 0 { t.Error("new") }`, text: "new"},
			{name: "TestWanted", was: `if Broken && n%2 == 0 { t.Error("now and then") }`, text: "now and then"},
			{name: "TestBeforeAndWanted", was: `t.Error("same")`, text: "same"},
			{name: "TestMoreNow", was: `t.Error("same"); if Broken { t.Error("more") }`, text: "more"},
			{name: "TestSomethingElseNow", was: `if Broken { t.Error("two") } else { t.Error("one") }`, text: "two"},
			{name: "TestAnotherPart", was: `t.Run("a", func(t *testing.T) { t.Error("a") }); t.Run("b", func(t *testing.T) { if Broken { t.Error("the other") } })`, text: "the other"},
		}},
		"a race counts, though it shows once and nothing else is red": {state: nexus.Fail, tests: []doubted{
			{name: "TestRace", was: `if Broken && n%2 == 0 { fmt.Println("WARNING: DATA RACE"); t.Error("race detected during execution of test") }`, text: "race"},
			{name: "TestFine", was: `_ = fmt.Sprint()`},
		}},
		"it takes the others along": {state: nexus.Pass, tests: []doubted{
			{name: "TestPanics", was: `if Broken && n%2 == 0 { panic("x") }`, flaky: "1 of 2"},
			{name: "TestAfter", was: `if n > 9 { t.Error("it ran too often") }`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts, was, is := t.TempDir(), suite, suite
			for _, d := range c.tests {
				was, is = was+d.body(d.was), is+d.body(cmp.Or(d.is, d.was))
			}
			base := files(t, map[string]string{"go.mod": goMod, "m.go": "package m\n\nconst Broken = false\n", "old_test.go": was})
			tree := files(t, map[string]string{"go.mod": goMod, "m.go": "package m\n\nconst Broken = true\n", "old_test.go": is})
			base.Hash = "base"
			g := gatesOf(t, tree, config.GateSettings{})[2]
			weighing := weighs(t, base, g, c.tests, c.wants, []string{"m.go"}, counts)
			v, err := weighing.RunAll(t.Context(), tree, []gate.QualityGate{g}, nil)
			if err != nil {
				t.Fatal(err)
			}
			e := v.Evidence[0]
			if e.State != c.state || !strings.Contains(e.Why, c.why) {
				t.Errorf("%s %q, findings %v", e.State, e.Why, e.Findings)
			}
			for _, d := range c.tests {
				d.check(t, "example.org/m."+d.name, e)
			}
		})
	}
}

// check holds what evidence says about the test.
func (d doubted) check(t *testing.T, test string, e nexus.GateEvidence) {
	t.Helper()
	flaky := ""
	for _, f := range e.Flaky {
		if f.Test == test {
			flaky = fmt.Sprintf("%d of %d", f.Failed, f.Runs)
		}
	}
	if flaky != d.flaky || flaky != "" && !strings.Contains(e.Why, test+" failed in "+flaky+" runs") {
		t.Errorf("%s is flaky in %q runs, want %q: %s", d.name, flaky, d.flaky, e.Why)
	}
	if got := slices.Contains(e.Unsure, test); got != d.unsure {
		t.Errorf("%s: nobody can say: %v, want %v", d.name, got, d.unsure)
	}
	says := ""
	for _, f := range e.Findings {
		if f.Test == test || strings.HasPrefix(f.Test, test+"/") {
			says += f.Message
		}
	}
	if (says == "") != (d.text == "") || !strings.Contains(says, d.text) {
		t.Errorf("%s counts for %q, want %q", d.name, says, d.text)
	}
}

// TestWeighedEvidenceIsReused weighs a tree against a base, and again against
// that one and another, without running anything again; and against a base
// that was green, where the same is red.
func TestWeighedEvidenceIsReused(t *testing.T) {
	tree := files(t, map[string]string{"m.sh": "echo ran >> log\necho 'a.py:1:1: old'\nexit 1\n"})
	g := gate.QualityGate{Name: "own", Args: []string{"sh", "m.sh"}, Format: "exit"}
	r := runner(t, sandbox.ModeOff)
	kept := map[string][]byte{}
	r.Put = func(data []byte) (string, error) {
		name := fmt.Sprint(len(kept))
		kept[name] = slices.Clone(data)
		return name, nil
	}
	r.Get = func(name string) ([]byte, error) { return kept[name], nil }
	red := nexus.GateEvidence{Gate: "own", State: nexus.Fail, Tree: "b1", Findings: []nexus.Finding{{Gate: "own", File: "a.py", Line: 9, Message: "old"}}}
	other, green := red, nexus.GateEvidence{Gate: "own", State: nexus.Pass, Tree: "b3"}
	other.Tree = "b2"
	var last nexus.GateEvidence
	weigh := func(base nexus.GateEvidence, known *nexus.GateEvidence) nexus.GateEvidence {
		t.Helper()
		r.Base = func(string) (nexus.GateEvidence, bool) { return base, true }
		v, err := r.RunAll(t.Context(), tree, []gate.QualityGate{g}, func(string, string) (nexus.GateEvidence, bool) {
			if known == nil {
				return nexus.GateEvidence{}, false
			}
			return *known, true
		})
		if err != nil {
			t.Fatal(err)
		}
		return v.Evidence[0]
	}
	ran := func() int {
		log, _ := os.ReadFile(filepath.Join(tree.Dir, "log"))
		return strings.Count(string(log), "ran")
	}
	last = weigh(red, nil)
	if last.State != nexus.Pass || last.Base != "b1" || last.Raw == "" {
		t.Fatalf("%+v", last)
	}
	for _, base := range []nexus.GateEvidence{red, other} {
		if e := weigh(base, &last); e.State != nexus.Pass || e.Base != base.Tree || ran() != 1 {
			t.Errorf("against %s: %+v, ran %d times", base.Tree, e, ran())
		}
	}
	if e := weigh(green, &last); e.State != nexus.Fail || len(e.Findings) != 1 || ran() != 1 {
		t.Errorf("against a green base: %+v, ran %d times", e, ran())
	}
	for name, change := range map[string]func(*nexus.GateEvidence){
		"gone": func(e *nexus.GateEvidence) { e.Raw = "none" },
		"of another tree": func(e *nexus.GateEvidence) {
			e.Raw = put(t, kept, func(r *nexus.GateEvidence) { r.Tree = "x" }, last.Raw)
		},
		"of another gate": func(e *nexus.GateEvidence) {
			e.Raw = put(t, kept, func(r *nexus.GateEvidence) { r.Gate = "x" }, last.Raw)
		},
		"weighed twice": func(e *nexus.GateEvidence) {
			e.Raw = put(t, kept, func(r *nexus.GateEvidence) { r.Why = "x" }, last.Raw)
		},
	} {
		e, before := last, ran()
		change(&e)
		weigh(red, &e)
		if ran() != before+1 {
			t.Errorf("%s: taken over", name)
		}
	}
}

// TestUnsureAgainstAnotherBase: that a failure cannot be told from one of a base
// says nothing of another base, on which another test is red.
func TestUnsureAgainstAnotherBase(t *testing.T) {
	tree := files(t, map[string]string{"m.sh": "echo ran >> log\nexit 1\n"})
	g := gate.QualityGate{Name: "own", Args: []string{"sh", "m.sh"}, Format: "exit"}
	r := runner(t, sandbox.ModeOff)
	kept := map[string][]byte{"raw": nil}
	r.Put = func(data []byte) (string, error) { kept["new"] = slices.Clone(data); return "new", nil }
	r.Get = func(name string) ([]byte, error) { return kept[name], nil }
	raw, err := r.RunGate(t.Context(), tree, g)
	if err != nil {
		t.Fatal(err)
	}
	raw.State, raw.Why, raw.Output, raw.Unsure = nexus.Fail, "", "", []string{"p.TestA"}
	raw.Findings = []nexus.Finding{{Gate: "own", Test: "p.TestA", Message: "got 1, want 2"}}
	if kept["raw"], err = json.Marshal(raw); err != nil {
		t.Fatal(err)
	}
	known := raw
	known.State, known.Findings, known.Base, known.Raw = nexus.Pass, nil, "b1", "raw"
	red := nexus.GateEvidence{Gate: "own", State: nexus.Fail, Tree: "b1", Findings: []nexus.Finding{{Gate: "own", Test: "p.TestA", Message: "got 7, want 2"}}}
	other := nexus.GateEvidence{Gate: "own", State: nexus.Fail, Tree: "b2", Findings: []nexus.Finding{{Gate: "own", Test: "p.TestB", Message: "got 7, want 2"}}}
	for base, c := range map[string]struct {
		base nexus.GateEvidence
		want nexus.GateState
	}{
		"b1": {red, nexus.Pass},
		"b2": {other, nexus.Fail},
	} {
		r.Base = func(string) (nexus.GateEvidence, bool) { return c.base, true }
		before, _ := os.ReadFile(filepath.Join(tree.Dir, "log"))
		v, err := r.RunAll(t.Context(), tree, []gate.QualityGate{g}, func(string, string) (nexus.GateEvidence, bool) { return known, true })
		if err != nil {
			t.Fatal(err)
		}
		after, _ := os.ReadFile(filepath.Join(tree.Dir, "log"))
		if e := v.Evidence[0]; e.State != c.want || len(after) != len(before) {
			t.Errorf("against %s: %+v, run again: %v", base, e, len(after) != len(before))
		}
	}
}

// put keeps a changed copy of kept evidence and returns its name.
func put(t *testing.T, kept map[string][]byte, change func(*nexus.GateEvidence), name string) string {
	t.Helper()
	var e nexus.GateEvidence
	if err := json.Unmarshal(kept[name], &e); err != nil {
		t.Fatal(err)
	}
	change(&e)
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	kept["changed"+fmt.Sprint(len(kept))] = data
	return "changed" + fmt.Sprint(len(kept)-1)
}

// BenchmarkGate compares a gate with its bare command.
func BenchmarkGate(b *testing.B) {
	box, err := sandbox.FindSandbox(b.Context(), sandbox.ModeAuto)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": goMod, "m.go": code, "m_test.go": countTests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	setup, err := gate.PrepareGoTools(dir, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(cache, "go-build")
		setup.Env, setup.Writable = append(setup.Env, "GOCACHE="+cache), append(setup.Writable, cache)
	}
	gates, err := detect.DetectGates(dir, config.GateSettings{})
	if err != nil {
		b.Fatal(err)
	}
	r := gate.GateRunner{Box: box, Env: setup.Env, Readable: setup.Readable, Writable: setup.Writable, Versions: &gate.ToolVersionCache{}}
	r.Base = func(name string) (nexus.GateEvidence, bool) {
		return nexus.GateEvidence{Gate: name, State: nexus.Pass, Tree: "base"}, true
	}
	r.Origin = &gate.OriginTree{Dir: dir, Changed: []string{"m.go", "m_test.go"}}
	g := gates[2]
	var gated, bare, n float64
	for b.Loop() { // one of each, so that what else runs here slows both
		began := b.Elapsed()
		v, err := r.RunAll(b.Context(), gate.JudgedTreeDir{Dir: dir, Hash: "h"}, []gate.QualityGate{g}, nil)
		if err != nil || !v.Passed {
			b.Fatal(v, err)
		}
		half := b.Elapsed()
		if _, err := box.Run(b.Context(), sandbox.Command{Args: g.Args, Dir: dir, Env: r.Env, Readable: r.Readable, Writable: r.Writable}); err != nil {
			b.Fatal(err)
		}
		gated, bare, n = gated+(half-began).Seconds(), bare+(b.Elapsed()-half).Seconds(), n+1
	}
	b.ReportMetric(gated/bare, "gate/bare")
	b.ReportMetric((gated-bare)/n*1000, "ms-more")
}
