package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/citoolstest"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// TestTools runs suites whose tests all pass, and which leave something open,
// with their real runners: none is called a pass, and what is open is named.
func TestTools(t *testing.T) {
	testenv.NeedToolchains(t)
	a, err := txtar.ParseFile("testdata/hanging.txtar")
	if err != nil {
		t.Fatal(err)
	}
	const runners = "/usr/local/lib/nexus-runners/node_modules"
	for _, tt := range []struct {
		name, tool string
		state      nexus.GateState
		want       string // file, line and words of the finding
	}{
		{"jest", runners + "/jest", nexus.Environmental, "a.test.js:3 a server that listens (TCPSERVERWRAP)"},
		{"mocha", citoolstest.JavaScript + "/mocha", nexus.Environmental, "test/a.js:5 a timer (Timeout)"},
		{"node", "node", nexus.Environmental, "a.test.js:5 a server that listens (TCPSERVERWRAP)"},
		{"script", "node", nexus.Environmental, "a.test.js:5 a server that listens (TCPSERVERWRAP)"},
		{"pytest", "pytest", nexus.Environmental, "tests/test_a.py:7 the thread worker"},
		{"unittest", "python3", nexus.Environmental, "test_a.py:8 the thread worker"},
		{"red", "pytest", nexus.Fail, "tests/test_a.py:7 the thread worker"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			testenv.NeedTool(t, tt.tool)
			dir := t.TempDir()
			for _, f := range a.Files {
				if name, ok := strings.CutPrefix(f.Name, tt.name+"/"); ok {
					path := filepath.Join(dir, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, f.Data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if modules := filepath.Dir(tt.tool); filepath.IsAbs(tt.tool) {
				if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
					t.Fatal(err)
				}
			}
			e := judged(t, dir)
			if e.State != tt.state || e.Counts.Passed != 1 {
				t.Fatalf("%+v", e)
			}
			var said []string
			for _, f := range e.Findings {
				if f.Code == parserbase.CodeHang && f.Advice != "" {
					said = append(said, strings.TrimSuffix(f.File, " ")+":"+string(rune('0'+f.Line))+" "+f.Message)
				}
			}
			if len(said) != 1 || !strings.HasPrefix(said[0], tt.want) {
				t.Errorf("%q, want %q", said, tt.want)
			}
		})
	}
}

// judged runs the only gate with tests on a tree, with little patience: it must
// lose it.
func judged(t *testing.T, dir string) nexus.GateEvidence {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	testenv.NeedMachine(t, "a sandbox", err)
	setup, err := gate.PrepareGoTools(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gates, err := detect.DetectGates(dir, config.GateSettings{Linger: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gates {
		if g.Tests {
			r := gate.GateRunner{Box: box, Env: append(setup.Env, "CI=true"), Readable: setup.Readable, Writable: setup.Writable, Timeout: 5 * time.Minute, Versions: &gate.ToolVersionCache{}}
			e, err := r.RunGate(t.Context(), gate.JudgedTreeDir{Dir: dir, Hash: "t"}, g)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
	}
	t.Fatal("no gate runs tests")
	return nexus.GateEvidence{}
}
