package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestTwice holds when a command of a plan runs once more, and what that shows.
func TestTwice(t *testing.T) {
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	const red = "echo 1..1; echo 'not ok 1 - a'; exit 1"
	for name, c := range map[string]struct {
		line, format string
		want         nexus.GateState
		runs         int
	}{
		"passes":              {"echo 1..1; echo 'ok 1 - a'", "tap", nexus.Pass, 1},
		"a test, always":      {red, "tap", nexus.Fail, 2},
		"a test, at first":    {"test $(grep -c ran log) -eq 1 || { echo 1..1; echo 'ok 1 - a'; exit; }; " + red, "tap", nexus.Flaky, 2},
		"what is no test":     {"test $(grep -c ran log) -eq 1 || exit 0; echo 'a.py:1:1: bad'; exit 1", "exit", nexus.Fail, 1},
		"nothing but a code":  {"test $(grep -c ran log) -eq 1 || exit 0; exit 1", "exit", nexus.Fail, 1},
		"a test, and a crash": {"test $(grep -c ran log) -eq 1 || exit 127; " + red, "tap", nexus.Fail, 2},
	} {
		tree := gate.JudgedTreeDir{Dir: t.TempDir(), Hash: "t"}
		r := gate.GateRunner{Box: box, Env: []string{"PATH=" + os.Getenv("PATH")}, Timeout: time.Minute, Versions: &gate.ToolVersionCache{}}
		e, err := runWithRetry(t.Context(), r, tree, gate.QualityGate{Name: "accept: x", Args: []string{"sh", "-c", "echo ran >> log; " + c.line}, Format: c.format, Tests: c.format == "tap"})
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(tree.Dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		if runs := strings.Count(string(log), "ran"); e.State != c.want || runs != c.runs {
			t.Errorf("%s: %s after %d runs, want %s after %d: %q %+v", name, e.State, runs, c.want, c.runs, e.Why, e.Findings)
		}
		if e.State == nexus.Flaky && e.Why == "" {
			t.Errorf("%s: nothing says why", name)
		}
	}
}
