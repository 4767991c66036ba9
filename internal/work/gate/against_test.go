package gate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// testMessages makes evidence of the gate "g" on a tree.
func testMessages(state nexus.GateState, findings ...nexus.Finding) nexus.GateEvidence {
	return nexus.GateEvidence{Gate: "g", State: state, Tree: "t", Findings: findings}
}

func TestAgainst(t *testing.T) {
	type finding = nexus.Finding
	unused := finding{Code: "unused", File: "a.go", Line: 3, Message: "x is unused"}
	moved := unused
	moved.Line = 30
	red := finding{Code: "test", Test: "m.TestA", File: "a_test.go", Message: "got 1 after 3.2ms"}
	redder := finding{Code: "test", Test: "m.TestA", File: "b_test.go", Message: "got 2"}
	slower := finding{Code: "test", Test: "m.TestA", File: "a_test.go", Line: 7, Message: "got 1 after 4.1s"}
	unsure := func(e nexus.GateEvidence) nexus.GateEvidence { e.Unsure = []string{"m.TestA"}; return e }
	flaky := func(e nexus.GateEvidence) nexus.GateEvidence {
		e.Flaky = []nexus.FlakyTestCount{{Test: "m.TestA", Failed: 1, Runs: 2}}
		return e
	}
	panics := finding{Code: "panic", Test: "m.TestA", Message: "panic: x"}
	compile := finding{Code: "compile", File: "a.go", Message: "undefined: x"}
	mine := finding{Code: "compile", File: "mine.test.js", Message: "SyntaxError: x"}
	mod := finding{Code: "environment", File: "go.mod", Message: "go: go.mod requires go >= 1.99"}
	hint := func(text string) finding { return finding{Code: "style", Message: text, Severity: nexus.Minor} }
	more := finding{Code: "more", Message: "and 3 more findings"}
	ran := func(e nexus.GateEvidence, passed, failed int) nexus.GateEvidence {
		e.Command, e.Counts = "go test", nexus.TestCounts{Passed: passed, Failed: failed}
		return e
	}
	for _, tt := range []struct {
		name      string
		base, now nexus.GateEvidence
		state     nexus.GateState
		findings  int
		why       string
	}{
		{"no base", nexus.GateEvidence{}, testMessages(nexus.Fail, unused), nexus.Fail, 1, ""},
		{"base of another gate", nexus.GateEvidence{Gate: "x", Tree: "t", State: nexus.Fail, Findings: []finding{unused}}, testMessages(nexus.Fail, unused), nexus.Fail, 1, ""},
		{"green base", testMessages(nexus.Pass), testMessages(nexus.Fail, unused), nexus.Fail, 1, ""},
		{"fewer tests", ran(testMessages(nexus.Pass), 3, 0), ran(testMessages(nexus.Pass), 2, 0), nexus.Pass, 1, ""},
		{"fewer tests, and none is red any more", ran(testMessages(nexus.Fail, red), 2, 1), ran(testMessages(nexus.Pass), 2, 0), nexus.Pass, 1, ""},
		{"as many tests", ran(testMessages(nexus.Fail, red), 2, 1), ran(testMessages(nexus.Pass), 3, 0), nexus.Pass, 0, ""},
		{"green now", testMessages(nexus.Fail, unused), testMessages(nexus.Pass), nexus.Pass, 0, ""},
		{"the same", testMessages(nexus.Fail, unused), testMessages(nexus.Fail, moved), nexus.Pass, 0, "1 finding that is also on the base: a.go: x is unused"},
		{"one more of the same", testMessages(nexus.Fail, unused), testMessages(nexus.Fail, unused, moved), nexus.Fail, 1, "1 more finding that is also on the base"},
		{"another", testMessages(nexus.Fail, unused), testMessages(nexus.Fail, unused, compile), nexus.Fail, 1, "1 more finding that is also on the base"},
		{"a failing test fails otherwise", ran(testMessages(nexus.Fail, red), 1, 1), ran(testMessages(nexus.Fail, redder), 1, 1), nexus.Fail, 1, ""},
		{"a failing test takes its time", ran(testMessages(nexus.Fail, red), 1, 1), ran(testMessages(nexus.Fail, slower), 1, 1), nexus.Pass, 0, "m.TestA"},
		{"it fails differently each time", ran(testMessages(nexus.Fail, red), 1, 1), unsure(ran(testMessages(nexus.Fail, redder), 1, 1)), nexus.Pass, 0, "m.TestA"},
		{"a runner of which nobody knows more", testMessages(nexus.Fail, red), testMessages(nexus.Fail, redder), nexus.Pass, 0, "m.TestA"},
		{"flaky on a green base", testMessages(nexus.Pass), flaky(ran(testMessages(nexus.Fail, red), 1, 1)), nexus.Pass, 0, "flaky: m.TestA failed in 1 of 2 runs"},
		{"flaky and broken", testMessages(nexus.Pass), flaky(ran(testMessages(nexus.Fail, red, compile), 1, 1)), nexus.Fail, 1, "flaky: m.TestA"},
		{"flaky without a base", nexus.GateEvidence{}, flaky(ran(testMessages(nexus.Fail, red), 1, 1)), nexus.Pass, 0, "flaky"},
		{"a failing test now panics", ran(testMessages(nexus.Fail, red), 1, 1), ran(testMessages(nexus.Fail, panics), 0, 1), nexus.Fail, 1, ""},
		{"nothing could be tested", ran(testMessages(nexus.Fail, compile), 0, 0), ran(testMessages(nexus.Fail, compile), 0, 0), nexus.Unverifiable, 0, "no test runs"},
		{"no test file can be read", ran(testMessages(nexus.Fail, compile), 0, 1), ran(testMessages(nexus.Fail, compile), 0, 1), nexus.Unverifiable, 0, "no test runs"},
		{"one test file cannot be read", ran(testMessages(nexus.Fail, compile), 3, 1), ran(testMessages(nexus.Fail, compile), 3, 1), nexus.Pass, 0, "also on the base"},
		{"all tests were red", ran(testMessages(nexus.Fail, red), 0, 1), ran(testMessages(nexus.Fail, red), 0, 1), nexus.Pass, 0, "also on the base"},
		{"too many to tell", testMessages(nexus.Fail, unused, more), testMessages(nexus.Fail, unused, more), nexus.Fail, 2, "too many"},
		{"red base does not excuse a timeout", testMessages(nexus.Fail, red), testMessages(nexus.Timeout, red), nexus.Timeout, 1, ""},
		{"the work broke the toolchain", testMessages(nexus.Pass), testMessages(nexus.Environmental, mod), nexus.Fail, 1, "it passes on the base"},
		{"the machine broke", testMessages(nexus.Pass), testMessages(nexus.Environmental), nexus.Environmental, 0, ""},
		{"ran and passed before", testMessages(nexus.Pass), testMessages(nexus.NotRun), nexus.Fail, 0, "it runs on the base"},
		{"ran and failed before", testMessages(nexus.Fail, red), testMessages(nexus.NotRun), nexus.Fail, 0, "it runs on the base"},
		{"tests do not load, as before", testMessages(nexus.NotRun, compile), testMessages(nexus.NotRun, compile), nexus.NotRun, 1, "also on the base"},
		{"tests do not load, as an earlier version said", testMessages(nexus.Fail, compile), testMessages(nexus.NotRun, compile), nexus.NotRun, 1, "also on the base"},
		{"other tests do not load", testMessages(nexus.NotRun, compile), testMessages(nexus.NotRun, compile, mine), nexus.Fail, 1, ""},
		{"the first tests do not load", testMessages(nexus.NotRun), testMessages(nexus.NotRun, mine), nexus.Fail, 1, ""},
		{"tests loaded before", testMessages(nexus.Pass), testMessages(nexus.NotRun, compile), nexus.Fail, 1, "it runs on the base"},
		{"some tests loaded before", ran(testMessages(nexus.Fail, compile), 3, 0), testMessages(nexus.NotRun, compile), nexus.Fail, 1, "it runs on the base"},
		{"was not run", testMessages(nexus.NotRun), testMessages(nexus.NotRun), nexus.NotRun, 0, ""},
		{"it names where it was built", testMessages(nexus.Fail, finding{Message: "goroutine 7: /tmp/b1/a.o is odd"}), testMessages(nexus.Fail, finding{Message: "goroutine 18: /tmp/b2/b.o is odd"}), nexus.Pass, 0, "also on the base"},
		{"a new warning where warnings fail", testMessages(nexus.Fail, hint("x")), testMessages(nexus.Fail, hint("x"), hint("y")), nexus.Fail, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := gate.CompareWithBase(tt.base, tt.now, nil)
			if e.State != tt.state || len(e.Findings) != tt.findings || !strings.Contains(e.Why, tt.why) {
				t.Errorf("%s %q %v, want %s %q and %d findings", e.State, e.Why, e.Findings, tt.state, tt.why, tt.findings)
			}
		})
	}
}

// TestAgainstForgivesNothingNew checks that a finding that the base does not
// have keeps the gate red, whatever else is there.
func TestAgainstForgivesNothingNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) nexus.Finding {
			return nexus.Finding{
				Code: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "code"), File: rapid.SampledFrom([]string{"x.go", "y.go"}).Draw(t, "file"),
				Line: rapid.IntRange(0, 9).Draw(t, "line"), Message: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "message"),
			}
		})
		base := rapid.SliceOfN(one, 0, 6).Draw(t, "base")
		now := rapid.SliceOfN(one, 1, 6).Draw(t, "now")
		e := gate.CompareWithBase(testMessages(nexus.Fail, base...), testMessages(nexus.Fail, now...), nil)
		grew := false
		for _, f := range now {
			like := func(g nexus.Finding) bool { return g.Code == f.Code && g.File == f.File && g.Message == f.Message }
			n := func(all []nexus.Finding) (n int) {
				for _, g := range all {
					if like(g) {
						n++
					}
				}
				return n
			}
			grew = grew || n(now) > n(base)
		}
		if (e.State == nexus.Pass) == grew {
			t.Fatalf("%s with base %v and now %v", e.State, base, now)
		}
		if e.Passed() && len(e.Findings) > 0 {
			t.Fatal("passed with findings")
		}
	})
}

func TestPassWeighsAgainstTheBase(t *testing.T) {
	tree := files(t, map[string]string{"old.sh": "echo 'a.py:1:1: old'; exit 1", "none.sh": "exit 127"})
	r := runner(t, sandbox.ModeOff)
	gates := []gate.QualityGate{
		{Name: "old", Args: []string{"sh", "old.sh"}, Format: "exit"},
		{Name: "missing", Args: []string{"no-such-tool"}, Format: "exit"},
		{Name: "fine", Args: []string{"true"}, Format: "exit"},
	}
	base := map[string]nexus.GateEvidence{}
	for _, g := range gates {
		e, err := r.RunGate(t.Context(), gate.JudgedTreeDir{Dir: tree.Dir, Hash: "base"}, g)
		if err != nil {
			t.Fatal(err)
		}
		base[g.Name] = e
	}
	strict, err := r.RunAll(t.Context(), tree, gates, nil)
	if err != nil || strict.Passed || states(strict) != "old=fail" {
		t.Errorf("without a base: %s, %v", states(strict), err)
	}
	r.Base = func(name string) (nexus.GateEvidence, bool) { e, ok := base[name]; return e, ok }
	v, err := r.RunAll(t.Context(), tree, gates, nil)
	if err != nil || !v.Passed || states(v) != "old=pass missing=not-run fine=pass" {
		t.Errorf("with a base: %t %s, %v", v.Passed, states(v), err)
	}
	v, err = r.RunAll(t.Context(), tree, gates[1:2], nil)
	if err != nil || v.Passed || v.Why != "no gate could judge the tree" {
		t.Errorf("nothing that judges: %+v, %v", v, err)
	}
}

func TestATreeWithoutANameNeverPasses(t *testing.T) {
	tree := files(t, nil)
	tree.Hash = ""
	v, err := runner(t, sandbox.ModeOff).RunAll(t.Context(), tree, []gate.QualityGate{{Name: "x", Args: []string{"true"}, Format: "exit"}}, nil)
	if err != nil || v.Passed {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestVendoredTreesUseTheirVendorDirectory(t *testing.T) {
	tree := files(t, map[string]string{"vendor/modules.txt": "# x\n"})
	s, err := gate.PrepareGoTools(tree.Dir, t.TempDir())
	if err != nil || !slices.Contains(s.Env, "GOFLAGS=-mod=vendor -buildvcs=false") {
		t.Errorf("%v, %v", s.Env, err)
	}
}

// TestWarmRunsNothing compiles a tree whose code would leave a trace. With
// NEXUS_NIGHTLY the cache is empty at first, so that the standard library is
// compiled too.
func TestWarmRunsNothing(t *testing.T) {
	nightly := os.Getenv("NEXUS_NIGHTLY") != ""
	trace := filepath.Join(t.TempDir(), "trace")
	leaves := fmt.Sprintf("package m\n\nimport \"os\"\nimport \"testing\"\n\nfunc init() { _ = os.WriteFile(%q, nil, 0o600) }\n\nfunc TestA(t *testing.T) {}\n", trace)
	tree := files(t, map[string]string{"go.mod": goMod, "m_test.go": leaves})
	cache := t.TempDir()
	shared := runner(t, sandbox.ModeOff)
	warm := func(cache string) gate.GateRunner {
		t.Helper()
		if !nightly {
			return shared
		}
		s, err := gate.PrepareGoTools(tree.Dir, cache)
		if err != nil {
			t.Fatal(err)
		}
		return gate.GateRunner{Box: shared.Box, Env: s.Env, Writable: s.Writable, Timeout: 5 * time.Minute}
	}
	began := time.Now()
	if warmed, err := warm(cache).WarmBuildCache(t.Context(), tree); err != nil || !warmed {
		t.Fatal(err)
	}
	cold := time.Since(began)
	if _, err := os.Stat(trace); err == nil {
		t.Error("code of the tree ran")
	}
	began = time.Now()
	v, err := warm(cache).RunAll(t.Context(), tree, gatesOf(t, tree, config.GateSettings{}), nil)
	if err != nil || !v.Passed {
		t.Fatalf("%+v, %v", v, err)
	}
	t.Logf("warm %s, gates %s", cold, time.Since(began))
}

// TestAgainstHang checks that a runner which does not exit counts against work
// that brought that, and that it is no pass where it was so before.
func TestAgainstHang(t *testing.T) {
	hangs := nexus.GateEvidence{Gate: "test", State: nexus.Environmental, Tree: "now", Why: "it did not exit", Findings: []nexus.Finding{{Gate: "test", Code: parserbase.CodeHang, Message: "something is open"}}}
	well, before := nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "base"}, hangs
	before.Tree = "base"
	if e := gate.CompareWithBase(well, hangs, nil); e.State != nexus.Fail || !strings.Contains(e.Why, "it passes on the base") {
		t.Errorf("it came with the work: %s, %s", e.State, e.Why)
	}
	if e := gate.CompareWithBase(before, hangs, nil); e.State != nexus.Environmental || !e.Hangs || e.Passed() {
		t.Errorf("it was there before: %+v", e)
	}
	slow := nexus.GateEvidence{Gate: "test", State: nexus.Timeout, Tree: "now", Why: "did not end", Findings: []nexus.Finding{{Gate: "test", Code: parserbase.CodeTimeout, Test: "example.org/m.TestOld"}}}
	late, opened := slow, hangs
	late.Tree = "base"
	opened.Findings = []nexus.Finding{{Gate: "test", Code: parserbase.CodeHang, File: "a_test.go", Line: 7, Message: "a server listens"}, hangs.Findings[0]}
	for name, tt := range map[string]struct {
		base, now nexus.GateEvidence
		wants     []string
		state     nexus.GateState
		hangs     bool
		findings  int
	}{
		"out of time, as before":                     {late, slow, nil, nexus.Timeout, true, 1},
		"out of time, and it ended before":           {well, slow, nil, nexus.Timeout, false, 1},
		"out of time, and before the tests ended":    {before, slow, nil, nexus.Timeout, false, 1},
		"out of time in a test that is wanted":       {late, slow, []string{"TestOld must pass"}, nexus.Timeout, false, 1},
		"its tests end now, and they did not before": {late, opened, nil, nexus.Environmental, true, 2},
		"more is open than before":                   {before, opened, nil, nexus.Fail, false, 1},
		"nobody knows what was before":               {nexus.GateEvidence{}, slow, nil, nexus.Timeout, false, 1},
	} {
		if e := gate.CompareWithBase(tt.base, tt.now, tt.wants); e.State != tt.state || e.Hangs != tt.hangs || len(e.Findings) != tt.findings || e.Passed() {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
