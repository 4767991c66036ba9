package dependencies_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// again is the kit that the next run has.
func (b *bench) again() *dependencies.WorktreeProvisioner {
	return &dependencies.WorktreeProvisioner{Store: b.kit.Store, Box: b.kit.Box, Git: b.kit.Git, User: b.user, Timeout: b.kit.Timeout}
}

// venv makes the user a virtual environment, and returns where its packages lie.
func (b *bench) venv() string {
	b.t.Helper()
	if out, err := exec.Command("python3", "-m", "venv", "--without-pip", filepath.Join(b.user, ".venv")).CombinedOutput(); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	sites, err := filepath.Glob(filepath.Join(b.user, ".venv/lib/python3*/site-packages"))
	if err != nil || len(sites) != 1 {
		b.t.Fatal(sites, err)
	}
	return sites[0]
}

// TestLent has no lock file, and a virtual environment in which the project is
// installed from where it lies. Each tree gets it as its own, so that tests
// import the code of the tree and not that of the checkout.
func TestLent(t *testing.T) {
	testenv.NeedTool(t, "python3")
	b := newBench(t, map[string]string{".gitignore": ".venv/\n", "pyproject.toml": "[project]\nname = 'm'\n", "src/m.py": "said = 'base'\n"})
	test := gate.QualityGate{Name: "test", Args: []string{"python3", "-m", "unittest"}, Format: "exit"}
	if r := b.prepare(b.tree("T1.1"), false, test); r.Key != "" || len(r.Failed) > 0 || len(b.told) > 0 {
		t.Fatalf("without an environment: %+v %+v", r, b.told)
	}

	site := b.venv()
	b.write(filepath.Join(site, "__editable__.m-1.pth"), filepath.Join(b.user, "src")+"\n")
	b.write(filepath.Join(site, "greet.py"), "def hello():\n    return 'hello'\n")
	b.write(filepath.Join(b.user, ".venv/bin/lint-it"), "#!/bin/sh\n")
	if dependencies.HasProgram(b.user, "lint-it") || !dependencies.HasProgram(b.user, "python3") || dependencies.HasProgram(b.user, "nothing") {
		t.Error("what the environment offers is not what it can run")
	}
	b.kit = b.again()
	one := b.tree("T2.1")
	b.write(filepath.Join(one.Dir, "src/m.py"), "said = 'the change'\n")
	r := b.prepare(one, false, test)
	if len(r.Failed) > 0 || len(b.told) != 1 || b.told[0].Source != "your checkout's .venv" {
		t.Fatalf("%+v %+v", r.Failed, b.told)
	}
	if out, exit := b.run(one, r, "python3", "-c", "import greet, m; print(greet.hello(), m.said)"); exit != 0 || out != "hello the change\n" {
		t.Error(exit, out)
	}
	if r := b.prepare(one, false, gate.QualityGate{Args: []string{"go", "test"}, Format: "go-test-json"}); len(r.Failed) > 0 || r.Key != "" {
		t.Errorf("a gate of Go: %+v", r)
	}

	// what the next run finds in it is another environment; this run keeps its own
	b.write(filepath.Join(site, "greet-2.dist-info/METADATA"), "Name: greet\n")
	b.prepare(b.tree("T2.2"), false, test)
	if len(b.told) != 1 {
		t.Errorf("within the run: %+v", b.told)
	}
	b.kit = b.again()
	b.prepare(b.tree("T3.1"), false, test)
	if len(b.told) != 2 {
		t.Errorf("the next run: %+v", b.told)
	}

	// one whose interpreter is gone is not lent
	if err := os.RemoveAll(filepath.Join(b.user, ".venv/bin")); err != nil {
		t.Fatal(err)
	}
	b.kit = b.again()
	if r := b.prepare(b.tree("T4.1"), false, test); r.Key != "" || len(r.Failed) > 0 {
		t.Errorf("a broken one: %+v", r)
	}
}

// TestPython gives each tree a virtual environment that knows where it is.
func TestPython(t *testing.T) {
	testenv.NeedToolchains(t)
	testenv.NeedTool(t, "python3")
	b := newBench(t, map[string]string{
		".gitignore": ".venv/\n", "requirements.txt": "./wheels/greet-1.0-py3-none-any.whl\n", "tests/test_a.py": "import greet\n",
	})
	wheel(t, filepath.Join(b.user, "wheels/greet-1.0-py3-none-any.whl"))
	b.commit()
	one, two := b.tree("T1.1"), b.tree("T2.1")
	for _, tree := range []*worktree.AttemptTree{one, two} {
		r := b.prepare(tree, false)
		if len(r.Failed) > 0 {
			t.Fatal(r.Failed[0].Error())
		}
		if out, exit := b.run(tree, r, "python3", "-c", "import greet, sys; print(greet.hello(), sys.prefix)"); exit != 0 || out != "hello "+tree.Dir+"/.venv\n" {
			t.Error(exit, out)
		}
		if out, exit := b.run(tree, r, "greet"); exit != 0 || out != "hello\n" { // a script that names its interpreter
			t.Error(exit, out)
		}
	}
	if len(b.told) != 1 {
		t.Error(b.told)
	}
}
