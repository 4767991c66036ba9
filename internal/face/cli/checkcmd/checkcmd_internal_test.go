package checkcmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestEnds lets nothing but a pass end well.
func TestEnds(t *testing.T) {
	for state, want := range map[nexus.GateState]error{
		nexus.Pass: nil, nexus.Fail: console.ExitError(console.CodeFailed), nexus.Timeout: console.ExitError(console.CodeFailed),
		nexus.Flaky: console.ExitError(console.CodeFailed), nexus.MissingAsset: console.ExitError(console.CodeFailed),
		nexus.NotRun: console.ExitError(console.CodePartial), nexus.Environmental: console.ExitError(console.CodePartial), nexus.Unverifiable: console.ExitError(console.CodePartial),
		"unheard of": console.ExitError(console.CodePartial),
	} {
		if got := verdictExitError(state); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
}

// TestPickGates picks by name and by what a gate does, in the order of all, and
// knows of no others.
func TestPickGates(t *testing.T) {
	dir := t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{"go.mod": "module m\n\ngo 1.24\n", "m.go": "package m\n"})
	all, err := pickGates(dir, config.GateSettings{}, nil)
	if err != nil || len(all) < 2 {
		t.Fatal(all, err)
	}
	last := all[len(all)-1].Name
	got, err := pickGates(dir, config.GateSettings{}, []string{last, all[0].Name})
	if err != nil || len(got) != 2 || got[0].Name != all[0].Name || got[1].Name != last {
		t.Error(got, err)
	}
	if got, err := pickGates(dir, config.GateSettings{}, []string{last, "nothing"}); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) || len(got) > 0 {
		t.Error(got, err)
	}
	if _, alone, err := (Options{Gates: []string{"tamper"}}).selectGates(dir, config.GateSettings{}); !alone || err != nil {
		t.Error("the look at the judges is not asked for alone", err)
	}
	if got, alone, err := (Options{}).selectGates(dir, config.GateSettings{}); alone || err != nil || len(got) != len(all) {
		t.Error(got, alone, err)
	}
	if got, alone, err := (Options{Gates: []string{"tamper", last}}).selectGates(dir, config.GateSettings{}); alone || err != nil || len(got) != 1 || got[0].Name != last {
		t.Error(got, alone, err)
	}
}

// TestAsideOnlyWhatIsNotNamed keeps gates from judging what does not concern
// them, but for those that somebody asks for by name.
func TestAsideOnlyWhatIsNotNamed(t *testing.T) {
	g := gate.QualityGate{Name: "build-web", Dir: "web", Only: []string{"web/**"}}
	files := []string{"api/a.go"}
	why := gate.UnaffectedReason(g, files, nil)
	if why == "" {
		t.Fatal("the gate concerns everything; the test says nothing")
	}
	for _, c := range []struct {
		names []string
		want  string
	}{{nil, why}, {[]string{"lint"}, why}, {[]string{"build-web"}, ""}, {[]string{"lint", "build"}, ""}} {
		if got := unaffectedReasons(c.names, files, monorepo.AffectedPackages{})(g); got != c.want {
			t.Errorf("%v: %q, want %q", c.names, got, c.want)
		}
	}
}

// TestAsideBuildsWhatIsNeeded lets a package be built, and not be tested, that one
// which changed needs.
func TestAsideBuildsWhatIsNeeded(t *testing.T) {
	of := monorepo.ReadPackageGraph(fstest.MapFS{
		"a/package.json": {Data: []byte(`{"name":"a"}`)}, "b/package.json": {Data: []byte(`{"name":"b","dependencies":{"a":"*"}}`)}, "c/package.json": {Data: []byte(`{"name":"c"}`)},
	})
	files := []string{"b/x.js"}
	spares := unaffectedReasons(nil, files, of.AffectedBy(files))
	for name, want := range map[string]bool{"build-a": false, "test-a": true, "build-b": false, "test-b": false, "build-c": true} {
		_, dir, _ := strings.Cut(name, "-")
		if why := spares(gate.QualityGate{Name: name, Dir: dir}); (why != "") != want {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestOutsideOf keeps what is made to judge a tree out of it.
func TestOutsideOf(t *testing.T) {
	for cache, want := range map[string]string{
		"/home/u/.cache/nexus/x": "/home/u/.cache/nexus/x", "/src/.cache/x": filepath.Join(os.TempDir(), "nexus-x"), "/src2/x": "/src2/x",
	} {
		if got := scratchParent("/src", cache); got != want {
			t.Errorf("%s: %s, want %s", cache, got, want)
		}
	}
}

// TestDress puts the tests of now beside the code of the base, and keeps those
// that stood there.
func TestDress(t *testing.T) {
	b := &baseTree{at: t.TempDir(), tree: t.TempDir(), now: t.TempDir(), tests: []string{"p/a_test.go", "p/gone_test.go", "new/n_test.go", "p/never_test.go"}}
	gittest.WriteFiles(t, b.tree, map[string]string{"p/a.go": "old", "p/a_test.go": "old", "p/gone_test.go": "old", "p/help_test.go": "old"})
	gittest.WriteFiles(t, b.now, map[string]string{"p/a.go": "now", "p/a_test.go": "now", "p/help_test.go": "now", "new/n_test.go": "now"})
	if got := b.originalTestDir(); got != b.tree {
		t.Errorf("before: %s", got)
	}
	for range 2 { // the second time is for nothing
		if err := b.overlayTests(); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, b.now, map[string]string{"p/a_test.go": "later"})
	}
	read := func(dir string, names ...string) map[string]string {
		got := map[string]string{}
		for _, name := range names {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				got[name] = string(data)
			}
		}
		return got
	}
	names := []string{"p/a.go", "p/a_test.go", "p/gone_test.go", "p/help_test.go", "new/n_test.go", "p/never_test.go"}
	if d := cmp.Diff(map[string]string{"p/a.go": "old", "p/a_test.go": "now", "p/help_test.go": "old", "new/n_test.go": "now"}, read(b.tree, names...)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{"p/a_test.go": "old", "p/gone_test.go": "old", "p/help_test.go": "old"}, read(b.originalTestDir(), names...)); d != "" {
		t.Error(d)
	}
}

// TestTurns asks for no second run of tests that do not end, or that say nothing
// of this change.
func TestTurns(t *testing.T) {
	b := &baseTree{known: map[string]nexus.GateEvidence{"hung": {State: nexus.Timeout}, "test": {State: nexus.Fail}}}
	test := gate.QualityGate{Name: "test", Tests: true}
	for _, c := range []struct {
		name string
		b    *baseTree
		g    gate.QualityGate
		now  nexus.GateEvidence
		want bool
	}{
		{"tests", b, test, nexus.GateEvidence{State: nexus.Pass}, true},
		{"no base", nil, test, nexus.GateEvidence{State: nexus.Pass}, false},
		{"no tests", b, gate.QualityGate{Name: "test"}, nexus.GateEvidence{State: nexus.Pass}, false},
		{"some tests", b, gate.QualityGate{Name: "test", Tests: true, Of: "all"}, nexus.GateEvidence{State: nexus.Pass}, false},
		{"apart", b, test, nexus.GateEvidence{State: nexus.NotRun, Apart: true}, false},
		{"hung now", b, test, nexus.GateEvidence{State: nexus.Timeout}, false},
		{"hung before", b, gate.QualityGate{Name: "hung", Tests: true}, nexus.GateEvidence{State: nexus.Pass}, false},
	} {
		if got := c.b.needsFixedTestCheck(c.g, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestUnweighed returns what a gate said before it was compared with a base, if
// that is of the same gate.
func TestUnweighed(t *testing.T) {
	m := gateOutputs{}
	name, err := m.Put([]byte(`{"gate":"test","state":"fail"}`))
	if err != nil {
		t.Fatal(err)
	}
	e := nexus.GateEvidence{Gate: "test", State: nexus.Pass, Raw: name, Output: name, All: name}
	if got := m.uncomparedEvidence(e); got.State != nexus.Fail {
		t.Errorf("%+v", got)
	}
	for _, other := range []nexus.GateEvidence{{Gate: "lint", State: nexus.Pass, Raw: name}, {Gate: "test", State: nexus.Pass}, {Gate: "test", State: nexus.Pass, Raw: "nothing"}} {
		if got := m.uncomparedEvidence(other); got.State != nexus.Pass || got.Gate != other.Gate {
			t.Errorf("%+v", got)
		}
	}
	if got := plainOutput([]nexus.GateEvidence{e})[0]; got.Raw+got.Output+got.All != "" || got.State != nexus.Pass {
		t.Errorf("%+v", got)
	}
	if _, err := m.Get("nothing"); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		t.Error(err)
	}
}

// TestUnion lets what judged the base continue judging, but for packages that are
// gone and gates that nobody asks for.
func TestUnion(t *testing.T) {
	b := &baseTree{tree: t.TempDir(), now: t.TempDir()}
	gittest.WriteFiles(t, b.tree, map[string]string{"go.mod": "module m\n\ngo 1.24\n", "m.go": "package m\n"})
	had, err := pickGates(b.tree, config.GateSettings{}, nil)
	if err != nil || len(had) < 2 {
		t.Fatal(had, err)
	}
	names := func(all []gate.QualityGate) (names []string) {
		for _, g := range all {
			names = append(names, g.Name)
		}
		return names
	}
	own := gate.QualityGate{Name: had[0].Name, Args: []string{"own"}}
	got, err := b.addBaseGates(config.GateSettings{}, nil, []gate.QualityGate{own})
	if d := cmp.Diff(names(had), names(got)); d != "" || err != nil || got[0].Args[0] != "own" {
		t.Error(d, err)
	}
	if got, err := b.addBaseGates(config.GateSettings{}, []string{had[1].Name}, nil); err != nil || len(got) != 1 || got[0].Name != had[1].Name {
		t.Error(names(got), err)
	}
	b.now = filepath.Join(b.now, "gone")
	if got, err := b.addBaseGates(config.GateSettings{}, nil, []gate.QualityGate{own}); err != nil || len(got) != 1 {
		t.Error(names(got), err)
	}
}

// TestSuspect says last what a change takes away from its judges, which nobody
// but a person can say is right.
func TestSuspect(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	test := "package m\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Error() }\n"
	gittest.WriteFiles(t, dir, map[string]string{"m_test.go": test, "m.go": "package m\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
	ran := []nexus.GateEvidence{{Gate: "lint", State: nexus.Pass}}
	look := func(f Options, all []nexus.GateEvidence, alone bool) []nexus.GateEvidence {
		t.Helper()
		got, err := addTamperFindings(t.Context(), &console.Console{}, f, dir, slices.Clip(all), alone)
		if err != nil {
			t.Fatal(err)
		}
		return got[len(all):]
	}
	gittest.WriteFiles(t, dir, map[string]string{"m.go": "package m\n\nvar x = 1\n"})
	if got := look(Options{Base: "HEAD"}, ran, false); len(got) != 1 || got[0].State != nexus.Pass || got[0].Why != "" {
		t.Errorf("code: %+v", got)
	}
	if got := look(Options{Base: "HEAD"}, nil, false); len(got) > 0 {
		t.Errorf("nothing ran: %+v", got)
	}
	if got := look(Options{Base: "HEAD"}, nil, true); len(got) != 1 {
		t.Errorf("asked for alone: %+v", got)
	}
	gittest.WriteFiles(t, dir, map[string]string{"m_test.go": "package m\n"})
	if got := look(Options{Base: "HEAD"}, ran, false); len(got) != 1 || got[0].State != nexus.Unverifiable || len(got[0].Findings) == 0 || got[0].Tree != workingTree {
		t.Errorf("a test is gone: %+v", got)
	}
	if got := look(Options{Base: "HEAD"}, nil, false); len(got) != 1 || got[0].State != nexus.Unverifiable {
		t.Errorf("a test is gone and nothing ran: %+v", got)
	}
	for name, f := range map[string]Options{"no base": {}, "others are asked for": {Base: "HEAD", Gates: []string{"lint"}}} {
		if got := look(f, ran, false); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
