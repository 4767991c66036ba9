package changemetrics_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

func meter(mode nexus.BoundMode) *changemetrics.ChangeMeasurer {
	m := &changemetrics.ChangeMeasurer{Rules: nexus.DefaultDefinitionOfDone()}
	m.Rules.Modes = map[string]nexus.BoundMode{nexus.CoverageBound: mode}
	return m
}

// row is a gate of tests in a directory whose stack says how it is measured.
func row(name, dir string) gate.QualityGate {
	return gate.QualityGate{Name: name, Dir: dir, Tests: true, Goes: stack.CoverageCommand{Name: "the tool of " + name, Args: []string{"measure", name}, Format: "lcov"}}
}

// TestMeasuredBy asks for one measurement of each gate of tests, which has not
// for ever where nobody asked for it, and of tasks for none then.
func TestMeasuredBy(t *testing.T) {
	long := row("test-web", "web")
	long.Timeout = time.Hour
	some := row("related", "")
	some.Of = "test"
	rows := []gate.QualityGate{{Name: "build"}, some, row("test", ""), {Name: "test-none", Tests: true}, long}
	for _, c := range []struct {
		mode nexus.BoundMode
		run  bool
		want string
	}{
		{nexus.BoundAuto, true, "coverage: test 2m0s, coverage: test-web 2m0s"},
		{nexus.BoundAuto, false, ""},
		{nexus.BoundWarn, false, "coverage: test 0s, coverage: test-web 1h0m0s"},
		{nexus.BoundOff, true, ""},
	} {
		var got []string
		for _, g := range meter(c.mode).AppendMeasuringGates(rows, rows, c.run)[len(rows):] {
			got = append(got, g.Name+" "+g.Timeout.String())
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s, a run: %v: %s", c.mode, c.run, s)
		}
	}
}

// measured is what a gate that measures says: a blob, which is its report.
func measured(of, report string) nexus.GateEvidence {
	return nexus.GateEvidence{Gate: "coverage: " + of, State: nexus.Pass, Why: "50.0% of 2 lines", Output: report}
}

// TestSeveralReports takes what several gates measured for one figure. Where one
// said nothing of the base, nobody knows what it was before, and where one said
// nothing at all, the others count.
func TestSeveralReports(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	write(t, dir, map[string]string{"a.js": "one()\ntwo()\n", "web/a.js": "one()\ntwo()\n", "web/a.test.js": "one()\n"})
	if err := git.CreateRepo(ctx, dir, git.CommitIdentity{}, "begin"); err != nil {
		t.Fatal(err)
	}
	r := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}
	base, _, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.TreeID(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	const (
		first  = "SF:a.js\nDA:1,1\nDA:2,0\nend_of_record\n"
		second = "SF:a.js\nDA:1,0\nDA:2,1\nend_of_record\n"
		none   = "SF:a.js\nDA:1,0\nDA:2,0\nend_of_record\n"
		tests  = "SF:a.test.js\nDA:1,1\nend_of_record\n"
	)
	red := nexus.GateEvidence{Gate: "coverage: test", State: nexus.Fail, Why: "50.0% of 2 lines"}
	lacks := nexus.GateEvidence{Gate: "coverage: test", State: nexus.Environmental, Why: "sh: c8: not there"}
	of := func(e ...nexus.GateEvidence) []nexus.GateEvidence { return e }
	for name, c := range map[string]struct {
		now, was []nexus.GateEvidence
		want     string
		state    nexus.GateState
	}{
		"of two directories": {of(measured("test", first), measured("test-web", first)), nil, "lines 50.0 %", nexus.Pass},
		"of one file twice":  {of(measured("test", first), measured("test-more", second)), nil, "lines 100.0 %", nexus.Pass},
		"and before":         {of(measured("test", first), measured("test-web", second)), of(measured("test", first), measured("test-web", none)), "lines 50.0 % (+25.0)", nexus.Pass},
		"before, of one":     {of(measured("test", first), measured("test-web", second)), of(measured("test-web", second)), "lines 50.0 %", nexus.Pass},
		"before, of another": {of(measured("test", first), measured("test-web", second)), of(measured("test", first)), "lines 50.0 %", nexus.Pass},
		"one lacks a tool":   {of(lacks, measured("test-web", first)), nil, "the coverage of gate test is unknown: c8: not there; lines 50.0 %", nexus.Unverifiable},
		"another lacks one":  {of(measured("test-web", first), lacks), nil, "the coverage of gate test is unknown: c8: not there; lines 50.0 %", nexus.Unverifiable},
		"one is red":         {of(red), nil, "the tool of test: fail", nexus.Unverifiable},
		"tests alone":        {of(measured("test-web", tests)), nil, "the coverage report names no file of the tree except tests: the tool of test-web", nexus.Unverifiable},
	} {
		m := meter(nexus.BoundBlock)
		m.Rules.Minimum, m.Rules.Target = 0, 0
		m.Get = func(report string) ([]byte, error) { return []byte(report), nil }
		var gates []gate.QualityGate
		for _, e := range c.now {
			test := strings.TrimPrefix(e.Gate, "coverage: ")
			where := map[string]string{"test-web": "web"}[test]
			gates = append(gates, m.AppendMeasuringGates(nil, []gate.QualityGate{row(test, where)}, true)...)
		}
		rest, taken := m.ExtractMeasurements(gates, append(of(nexus.GateEvidence{Gate: "build"}), c.now...), func(name string) (nexus.GateEvidence, bool) {
			i := slices.IndexFunc(c.was, func(e nexus.GateEvidence) bool { return e.Gate == name })
			return append(c.was, nexus.GateEvidence{})[max(i, 0)], i >= 0
		})
		all, _, err := m.JudgeChange(ctx, changemetrics.MeasureRequest{Repo: r, Base: base, Tree: tree, Run: true, Taken: taken})
		if err != nil || len(rest) != 1 || len(all) != 1 {
			t.Errorf("%s: %v %v %v", name, rest, all, err)
			continue
		}
		if e := all[0]; e.State != c.state || !strings.Contains(e.Why, c.want) || strings.Contains(e.Why, "(") != strings.Contains(c.want, "(") {
			t.Errorf("%s: %s", name, cmp.Diff(string(c.state)+" "+c.want, string(e.State)+" "+e.Why))
		}
	}
	m := meter(nexus.BoundBlock)
	m.Get = func(string) ([]byte, error) { return nil, errors.New("gone") }
	_, taken := m.ExtractMeasurements(m.AppendMeasuringGates(nil, []gate.QualityGate{row("test", "")}, true), of(measured("test", first)), nil)
	if _, _, err := m.JudgeChange(ctx, changemetrics.MeasureRequest{Repo: r, Base: base, Tree: tree, Run: true, Taken: taken}); err == nil {
		t.Error("a report that cannot be read is none")
	}
}

// TestPartly measures the tests of one gate alone: of new lines that lie with
// the tests of others nothing is told, and where it has none, that is.
func TestPartly(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	write(t, dir, map[string]string{"a.js": "one()\n", "web/a.js": "one()\n"})
	if err := git.CreateRepo(ctx, dir, git.CommitIdentity{}, "begin"); err != nil {
		t.Fatal(err)
	}
	r := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}
	base := strings.TrimSpace(gittest.RunGit(t, dir, "rev-parse", "HEAD"))
	write(t, dir, map[string]string{"b.js": "two()\n", "web/b.js": "two()\n", "web/in/b.js": "two()\n"})
	gittest.RunGit(t, dir, "add", ".")
	tree := strings.TrimSpace(gittest.RunGit(t, dir, "write-tree"))
	rows := []gate.QualityGate{{Name: "build-in", Dir: "web/in"}, row("test-in", "web/in"), row("test", ""), row("test-web", "web")}
	for name, want := range map[string]string{"test": "b.js", "test-web": "web/b.js", "test-in": "web/in/b.js", "build-in": ""} {
		m := meter(nexus.BoundWarn)
		m.Get = func(report string) ([]byte, error) { return []byte(report), nil }
		asked := func(g gate.QualityGate) bool { return g.Name == name }
		only := slices.DeleteFunc(slices.Clone(rows), func(g gate.QualityGate) bool { return !asked(g) })
		_, taken := m.ExtractMeasurements(m.AppendMeasuringGates(nil, only, false), []nexus.GateEvidence{measured(name, "SF:a.js\nDA:1,1\nend_of_record\nSF:/x/web/a.js\nDA:1,1\nend_of_record\n")}, nil)
		c := changemetrics.MeasureRequest{Repo: r, Base: base, Tree: tree, Taken: taken}
		c.LimitToMeasured(rows, asked)
		all, _, err := m.JudgeChange(ctx, c)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %v %v", name, all, err)
		}
		var got []string
		for _, f := range all[0].Findings {
			if f.File != "" {
				got = append(got, f.File)
			}
		}
		if s := strings.Join(got, " "); s != want || (all[0].State == nexus.Unverifiable) != (want == "") {
			t.Errorf("%s: %q, %s, %s", name, s, all[0].State, all[0].Why)
		}
	}
}
