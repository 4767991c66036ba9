package gate_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/citoolstest"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// project is a small project of a stack.
type project struct {
	name, tool  string // tool: what must be installed
	state       string // the file that the work changes
	is, becomes string // in it
	suite       string // the file of the odd test
	files       map[string]string
}

// runners has the tools of JavaScript that the others would get in the way of.
const runners = "/usr/local/lib/nexus-runners/node_modules"

// managers has what is no module of a project, but a program.
const managers = "/usr/local/lib/nexus-managers/node_modules/.bin"

func projects(t *testing.T) []project {
	t.Helper()
	a, err := txtar.ParseFile("testdata/stacks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := []project{
		{name: "pytest", tool: "pytest", state: "state.py", is: "False", becomes: "True", suite: "tests/test_state.py"},
		{name: "unittest", tool: "python3", state: "state.py", is: "False", becomes: "True", suite: "tests/test_state.py"},
		{name: "node", tool: "node", state: "state.js", is: "false", becomes: "true", suite: "state.test.js"},
		{name: "mocha", tool: citoolstest.JavaScript + "/mocha", state: "state.js", is: "false", becomes: "true", suite: "test/state.js"},
		{name: "vitest", tool: citoolstest.JavaScript + "/vitest", state: "state.js", is: "false", becomes: "true", suite: "src/state.test.js"},
		{name: "rust", tool: "cargo", state: "src/lib.rs", is: "false", becomes: "true", suite: "tests/state.rs"},
		{name: "cmake", tool: "ctest", state: "state.h", is: "0", becomes: "1", suite: "odd.c"},
		{name: "jest", tool: runners + "/jest", state: "state.js", is: "false", becomes: "true", suite: "state.test.js"},
		{name: "bun", tool: managers + "/bun", state: "state.ts", is: "false", becomes: "true", suite: "state.test.ts"},
		{name: "minitest", tool: "ruby", state: "lib/state.rb", is: "false", becomes: "true", suite: "test/test_state.rb"},
		{name: "ruby", tool: "rspec", state: "lib/state.rb", is: "false", becomes: "true", suite: "spec/state_spec.rb"},
		{name: "php", tool: "phpunit", state: "state.php", is: "false", becomes: "true", suite: "tests/StateTest.php"},
	}
	for i := range all {
		all[i].files = map[string]string{}
		for _, f := range a.Files {
			if name, ok := strings.CutPrefix(f.Name, all[i].name+"/"); ok {
				all[i].files[name] = string(f.Data)
			}
		}
	}
	return all
}

func (p project) able(t *testing.T) {
	t.Helper()
	testenv.NeedTool(t, p.tool)
}

// tree writes the project, whose odd test fails always or once, and knows by a
// file outside of it.
func (p project) tree(t *testing.T, count string, always, broken bool) gate.JudgedTreeDir {
	t.Helper()
	word := map[bool]string{true: p.becomes, false: p.is}[always]
	files := maps.Clone(p.files)
	if broken {
		files[p.state] = strings.Replace(files[p.state], p.is, p.becomes, 1)
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text = strings.NewReplacer("COUNT", count, "ALWAYS", word).Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	switch modules := filepath.Join(dir, "node_modules"); {
	case strings.HasPrefix(p.tool, runners):
		if err := os.Symlink(runners, modules); err != nil {
			t.Fatal(err)
		}
	case strings.HasPrefix(p.tool, "/") && !strings.HasPrefix(p.tool, managers):
		citoolstest.LinkJavaScriptTools(t, modules)
	}
	return gate.JudgedTreeDir{Dir: dir, Hash: filepath.Base(dir)}
}

// judge holds the broken tree against the project, by its test gate.
func (p project) judge(t *testing.T, always bool, changed, wants []string) nexus.GateEvidence {
	t.Helper()
	count := filepath.Join(t.TempDir(), "count")
	base, tree := p.tree(t, count, always, false), p.tree(t, count, always, true)
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	setup, err := gate.PrepareGoTools(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lend := gate.GateRunner{Box: box, Env: append(setup.Env, "CI=true", "PATH="+managers+":"+os.Getenv("PATH")), Timeout: 10 * time.Minute, Versions: &gate.ToolVersionCache{}}
	gates, err := detect.DetectGates(tree.Dir, config.GateSettings{})
	if err != nil {
		t.Fatal(err)
	}
	gates = slices.DeleteFunc(gates, func(g gate.QualityGate) bool { return !g.Tests })
	if len(gates) != 1 || len(gates[0].Lone.Args) == 0 {
		t.Fatalf("%+v", gates)
	}
	was, err := lend.RunGate(t.Context(), base, gates[0])
	if err != nil || was.State != nexus.Pass {
		t.Fatalf("the base: %+v, %v", was, err)
	}
	r := lend
	r.Base = func(string) (nexus.GateEvidence, bool) { return was, true }
	r.Wanted = wants
	r.Origin = &gate.OriginTree{Dir: base.Dir, Changed: append(changed, p.state), Use: func(_ context.Context, do func(gate.GateRunner, gate.JudgedTreeDir) error) error {
		return do(lend, base)
	}}
	e, err := r.JudgeAgainstBase(t.Context(), tree, gates[0])
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestStacks judges, with the real tools, a test that fails once and one that
// fails each time, and one that fails once but is the work's own or wanted: the
// first by day, all at night.
func TestStacks(t *testing.T) {
	testenv.NeedToolchains(t)
	for _, p := range projects(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.able(t)
			e := p.judge(t, false, nil, nil)
			if e.State != nexus.Pass || len(e.Flaky) != 1 || e.Flaky[0].Failed != 1 || e.Flaky[0].Runs != 3 || !strings.Contains(e.Why, "failed in 1 of 3 runs") {
				t.Fatalf("once: %s %q, flaky %v: %v", e.State, e.Why, e.Flaky, e.Findings)
			}
			if !testenv.RunsNightly() {
				return
			}
			odd := e.Flaky[0].Test
			for name, e := range map[string]nexus.GateEvidence{
				"each time": p.judge(t, true, nil, nil),
				"its own":   p.judge(t, false, []string{p.suite}, nil),
				"wanted":    p.judge(t, false, nil, []string{"the test " + odd + " passes"}),
			} {
				if e.State != nexus.Fail || len(e.Flaky) > 0 || len(e.Findings) == 0 || e.Findings[0].Test != odd {
					t.Errorf("%s: %s %q, flaky %v: %v", name, e.State, e.Why, e.Flaky, e.Findings)
				}
			}
		})
	}
}

// TestAmongOthers breaks a test by what another leaves behind: it passes alone,
// and is not flaky.
func TestAmongOthers(t *testing.T) {
	all := projects(t)
	p := all[slices.IndexFunc(all, func(p project) bool { return p.name == "pytest" })]
	p.able(t)
	p.files = map[string]string{
		"pytest.ini":          "[pytest]\npythonpath = .\n",
		"state.py":            "broken = False\nseen = []\n\n\ndef see():\n    seen.append(1)\n    return broken and len(seen) > 1\n",
		"tests/test_state.py": "import state\n\n\ndef test_one():\n    assert not state.see()\n\n\ndef test_two():\n    assert not state.see()\n",
	}
	if e := p.judge(t, true, nil, nil); e.State != nexus.Fail || len(e.Flaky) > 0 {
		t.Errorf("%s %q, flaky %v: %v", e.State, e.Why, e.Flaky, e.Findings)
	}
}
