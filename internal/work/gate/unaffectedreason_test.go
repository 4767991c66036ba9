package gate_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

func TestApart(t *testing.T) {
	ui := stack.UIFilePatterns()
	for name, tt := range map[string]struct {
		only    []string
		changed string
		wanted  string
		apart   bool
	}{
		"no patterns":             {nil, "server.go", "", false},
		"nothing changed":         {ui, "", "", true},
		"the server":              {ui, "server.go internal/db/db.go README.md", "", true},
		"a name":                  {ui, "server.go web/src/App.tsx", "", false},
		"a directory":             {ui, "app/views/users/show.txt", "", false},
		"a directory at the root": {ui, "public/logo.png", "", false},
		"a name like a directory": {ui, "internal/public.go", "", true},
		"a library":               {ui, "web/package.json", "", false},
		"a criterion names it":    {ui, "server.go", "e2e", false},
		"another criterion":       {ui, "server.go", "test", true},
		"a path":                  {[]string{"web/*.js"}, "web/a.js", "", false},
		"a path below":            {[]string{"web/*.js"}, "web/b/a.js", "", true},
		"any depth":               {[]string{"web/**/*.js"}, "web/a/b/c.js", "", false},
		"any depth, none":         {[]string{"web/**/*.js"}, "web/c.js", "", false},
		"all below":               {[]string{"web/**"}, "web/c/d", "", false},
		"elsewhere":               {[]string{"web/**"}, "x/web/c", "", true},
		"a bad pattern":           {[]string{"[", "a/["}, "a/[", "", true},
	} {
		why := gate.UnaffectedReason(gate.QualityGate{Name: "e2e", Only: tt.only}, strings.Fields(tt.changed), []nexus.Criterion{{Text: "e2e", Check: tt.wanted}})
		if (why != "") != tt.apart {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestOnlyInterfaces lets gates that drive a user interface judge that alone, of
// whatever package they are.
func TestOnlyInterfaces(t *testing.T) {
	pkg := `{"scripts": {"test": "node --test"}, "devDependencies": {"@playwright/test": "1"}}`
	tree := files(t, map[string]string{"Makefile": "test:\n\ttrue\n", "web/package.json": pkg, "web/playwright.config.js": ""})
	gates, err := detect.DetectGates(tree.Dir, config.GateSettings{})
	if err != nil {
		t.Fatal(err)
	}
	var driven []string
	for _, g := range gates {
		if len(g.Only) > 0 {
			driven = append(driven, g.Name)
		}
	}
	if got := strings.Join(driven, " "); got != "e2e-web" {
		t.Errorf("%s of %v", got, gates)
	}
}

// TestNearestKeepsBuilds puts the tests of what changed first, and leaves the builds
// in their order: what changed may need the build of what is further away.
func TestNearestKeepsBuilds(t *testing.T) {
	var gates []gate.QualityGate
	for _, name := range []string{"build", "build-a", "build-b", "test-a", "test-b", "test-c"} {
		_, dir, _ := strings.Cut(name, "-")
		gates = append(gates, gate.QualityGate{Name: name, Dir: dir})
	}
	steps := map[string]int{"a": 2, "b": 0, "c": 1}
	var got []string
	for _, g := range gate.SortByDistance(gates, func(dir string) int { return steps[dir] }) {
		got = append(got, g.Name)
	}
	if want := "build build-a build-b test-b test-c test-a"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestPassLeavesOutWhatIsApart does not run a gate that the change does not
// concern, whatever it said about the base; alone it is no pass.
func TestPassLeavesOutWhatIsApart(t *testing.T) {
	tree := files(t, nil)
	r := runner(t, sandbox.ModeOff)
	gates := []gate.QualityGate{
		{Name: "e2e", Args: []string{"false"}, Format: "exit", Only: []string{"*.html"}},
		{Name: "fine", Args: []string{"true"}, Format: "exit"},
	}
	r.Base = func(name string) (nexus.GateEvidence, bool) {
		return nexus.GateEvidence{Gate: name, State: nexus.Pass, Tree: "base"}, true
	}
	r.Apart = func(g gate.QualityGate) string { return gate.UnaffectedReason(g, []string{"a.go"}, nil) }
	v, err := r.RunAll(t.Context(), tree, gates, nil)
	if err != nil || !v.Passed || states(v) != "e2e=not-run fine=pass" || !v.Evidence[0].Apart {
		t.Errorf("%t %s, %v", v.Passed, states(v), err)
	}
	if v, err := r.RunAll(t.Context(), tree, gates[:1], nil); err != nil || v.Passed {
		t.Errorf("alone: %+v, %v", v, err)
	}
	r.Apart = func(g gate.QualityGate) string { return gate.UnaffectedReason(g, []string{"a.html"}, nil) }
	if v, err := r.RunAll(t.Context(), tree, gates, nil); err != nil || v.Passed || states(v) != "e2e=fail" {
		t.Errorf("%t %s, %v", v.Passed, states(v), err)
	}
}
