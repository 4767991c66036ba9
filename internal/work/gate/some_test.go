package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestSomeTestsFirst lets a gate run some of another's tests: red ends it,
// green is not enough unless the other may wait, and what did not run is left
// to the other.
func TestSomeTestsFirst(t *testing.T) {
	const (
		green = "1..1\nok 1 - a\n"
		red   = "1..1\nnot ok 1 - a\n"
		no    = "1..0\n"
	)
	for name, tt := range map[string]struct {
		some, all string
		later     bool
		base      nexus.GateEvidence
		passed    bool
		states    string
	}{
		"red ends it":                      {some: red, all: red, states: "related=fail"},
		"red ends it, though all may wait": {some: red, all: red, later: true, states: "related=fail"},
		"green, and all are":               {some: green, all: green, passed: true, states: "related=pass test=pass"},
		"green, and another is red":        {some: green, all: red, states: "related=pass test=fail"},
		"green, and the others wait":       {some: green, all: red, later: true, passed: true, states: "related=pass"},
		"none ran":                         {some: no, all: green, passed: true, states: "related=not-run test=pass"},
		"none ran, and none waits":         {some: no, all: red, later: true, states: "related=not-run test=fail"},
		"nobody understands it":            {some: "hello\n", all: green, later: true, passed: true, states: "related=not-run test=pass"},
		"none ran of those that the base had": {
			some: no, all: green, passed: true, states: "related=not-run test=pass",
			base: nexus.GateEvidence{Gate: "test", Tree: "b", State: nexus.Pass, Counts: nexus.TestCounts{Passed: 3}},
		},
		"fewer than the base had, as it should": {
			some: green, all: "1..2\nok 1 - a\nok 2 - b\n", passed: true, states: "related=pass test=pass",
			base: nexus.GateEvidence{Gate: "test", Tree: "b", State: nexus.Pass, Counts: nexus.TestCounts{Passed: 2}},
		},
		"red before the work began": {
			some: red, all: red, passed: true, states: "related=pass test=pass",
			base: nexus.GateEvidence{Gate: "test", Tree: "b", State: nexus.Fail, Findings: []nexus.Finding{{Gate: "test", Code: "test", Test: "a", Message: "a"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files(t, map[string]string{"some": tt.some, "all": tt.all})
			run := func(name, file, of string) gate.QualityGate {
				return gate.QualityGate{Name: name, Of: of, Args: []string{"sh", "-c", "cat " + file + "; ! grep -q not " + file}, Format: "tap", Tests: true}
			}
			r := runner(t, sandbox.ModeOff)
			r.Later = tt.later
			if tt.base.Tree != "" {
				r.Base = func(name string) (nexus.GateEvidence, bool) { return tt.base, name == "test" }
			}
			if len(tt.base.Findings) > 0 { // what the tool says about it, to the letter
				e, err := r.RunGate(t.Context(), tree, run("test", "all", ""))
				if err != nil {
					t.Fatal(err)
				}
				tt.base.Findings = e.Findings
			}
			v, err := r.RunAll(t.Context(), tree, []gate.QualityGate{run("related", "some", "test"), run("test", "all", "")}, nil)
			if len(v.Evidence) > 0 && v.Evidence[0].Passed() && len(v.Evidence[0].Findings) > 0 {
				t.Errorf("remarks on what passed: %+v", v.Evidence[0].Findings)
			}
			if err != nil || v.Passed != tt.passed || states(v) != tt.states {
				t.Errorf("passed %t with %s, want %t with %s (%v, %v)", v.Passed, states(v), tt.passed, tt.states, err, v.Why)
			}
		})
	}
}

// TestModulesBelowTheRootAreJudged gives each Go module of a tree gates, which
// see its files where they are.
func TestModulesBelowTheRootAreJudged(t *testing.T) {
	tree := files(t, map[string]string{
		"api/go.mod": strings.Replace(goMod, "/m", "/api", 1), "api/sub/m.go": strings.Replace(code, "a + b", "a - b", 1), "api/sub/m_test.go": countTests,
		"lib/go.mod": strings.Replace(goMod, "/m", "/lib", 1), "lib/m.go": code,
		"tools/go.mod": strings.Replace(goMod, "/m", "/tools", 1), "tools/tools.go": "//go:build tools\n\npackage tools\n", "testdata/x/go.mod": goMod, "testdata/x/m.go": code,
	})
	gates := gatesOf(t, tree, config.GateSettings{})
	var names []string
	for _, g := range gates {
		names = append(names, g.Name)
	}
	if got := strings.Join(names, " "); got != "build-api build-lib lint-api lint-lib test-api" {
		t.Fatal(got)
	}
	v, err := runner(t, sandbox.ModeAuto).RunAll(t.Context(), tree, gates, nil)
	if err != nil || v.Passed || states(v) != "build-api=pass build-lib=pass lint-api=pass lint-lib=pass test-api=fail" {
		t.Fatalf("%s, %v", states(v), err)
	}
	i := slices.IndexFunc(v.AllFindings(), func(f nexus.Finding) bool { return f.Test == "example.org/api/sub.TestAdd" })
	if i < 0 || v.AllFindings()[i].File != "api/sub/m_test.go" || v.AllFindings()[i].Line != 7 {
		t.Errorf("%+v", v.AllFindings())
	}
	bad := files(t, map[string]string{"go.mod": goMod, "m.go": code, "m_test.go": countTests, "api/go.mod": strings.Replace(goMod, "/m", "/api", 1), "api/sub/m.go": "package sub\n\nvar x int = \"\"\n"})
	v, err = runner(t, sandbox.ModeAuto).RunAll(t.Context(), bad, gatesOf(t, bad, config.GateSettings{}), nil)
	if err != nil || states(v) != "build=pass build-api=fail" || len(v.AllFindings()) != 1 || v.AllFindings()[0].File != "api/sub/m.go" || v.AllFindings()[0].Line != 3 {
		t.Errorf("%s, %+v, %v", states(v), v.AllFindings(), err)
	}
	work := files(t, map[string]string{"go.work": "go 1.26\n\nuse ./api\n", "api/go.mod": goMod, "api/m.go": code, "lib/go.mod": goMod, "lib/m.go": code})
	if got := gatesOf(t, work, config.GateSettings{}); len(got) != 3 || got[0].Command() != "go build ./api/..." {
		t.Errorf("%+v", got)
	}
}

// TestTypesBeforeTheBuild asks the cheaper one first, where it needs nothing
// that the other makes.
func TestTypesBeforeTheBuild(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		c     config.GateSettings
		want  string
	}{
		"tsc alone":           {map[string]string{"package.json": `{"scripts":{"build":"vite build"}}`, "tsconfig.json": "{}"}, config.GateSettings{}, "type build"},
		"a script of tsc":     {map[string]string{"package.json": `{"scripts":{"build":"vite build","typecheck":"tsc --noEmit"}}`}, config.GateSettings{}, "type build"},
		"another script":      {map[string]string{"package.json": `{"scripts":{"build":"vite build","typecheck":"make types"}}`}, config.GateSettings{}, "build type"},
		"references":          {map[string]string{"package.json": `{"scripts":{"build":"tsc -b"}}`, "tsconfig.json": `{"references":[]}`}, config.GateSettings{}, "build type"},
		"a workspace":         {map[string]string{"package.json": `{"workspaces":["a"],"scripts":{"build":"x"}}`, "tsconfig.json": "{}"}, config.GateSettings{}, "build type"},
		"code is generated":   {map[string]string{"package.json": `{"scripts":{"build":"prisma generate && x"}}`, "tsconfig.json": "{}"}, config.GateSettings{}, "build type"},
		"a member":            {map[string]string{"package.json": "{}", "a/package.json": `{"scripts":{"build":"x"}}`, "a/tsconfig.json": "{}"}, config.GateSettings{}, "build-a type-a"},
		"beside another":      {map[string]string{"go.mod": goMod, "m.go": code, "web/package.json": `{"scripts":{"build":"x"}}`, "web/tsconfig.json": "{}"}, config.GateSettings{}, "type-web build build-web lint test"},
		"the project says so": {map[string]string{"package.json": `{"scripts":{"build":"x"}}`, "tsconfig.json": "{}"}, config.GateSettings{Order: []string{"build", "type"}}, "build type"},
		"its own command":     {map[string]string{"package.json": `{"scripts":{"build":"x"}}`, "tsconfig.json": "{}"}, config.GateSettings{Commands: map[string]string{"type": "make types"}}, "build type"},
	} {
		var names []string
		for _, g := range gatesOf(t, files(t, tt.files), tt.c) {
			names = append(names, g.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
