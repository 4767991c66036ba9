package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/cli"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/bench"
	"github.com/nexus-ai-builder/nexus/internal/run/sim"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundprocess"
)

// TestMain lets this binary be nexus and nexus-bench, because those are what the
// benchmark starts.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "agent" && slices.Contains(os.Args, "--loop"):
		os.Exit(bench.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) > 1 && slices.Contains([]string{"agent", "version"}, os.Args[1]):
		os.Exit(cli.Main(context.Background(), backgroundprocess.FindParent(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// figures runs a command line and decodes what it prints.
func figures[T any](t *testing.T, args ...string) T {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var out, err bytes.Buffer
	if code := bench.Main(t.Context(), append(args, "--json"), strings.NewReader(""), &out, &err); code != 0 {
		t.Fatalf("%v ended with code %d: %s%s", args, code, &out, &err)
	}
	var v T
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	return v
}

func TestChaos(t *testing.T) {
	r := figures[sim.ChaosTestReport](t, "chaos", "--seed", "7", "--n", "40")
	if r.First != 7 || r.Seeds != 40 || r.Violations != 0 || r.Events == 0 {
		t.Errorf("%+v", r)
	}
}

func TestSchedule(t *testing.T) {
	p := figures[sim.WorkerUtilization](t, "schedule", "--n", "100", "-j", "8")
	if p.Landed != 100 || p.Parallel != 8 || p.Efficiency < 0.9 || p.Efficiency > 1 {
		t.Errorf("%+v", p)
	}
}

// TestAgent holds the counts, which do not depend on the machine: what is
// sent, and that a whole attempt costs no more than a multiple of its
// allocations today; a compressor for each object would be 3.6 MB.
func TestAgent(t *testing.T) {
	f := figures[bench.AgentFigures](t, "agent", "--n", "3", "--rounds", "1", "--files", "200", "--nexus", os.Args[0])
	if f.Sent.Beyond != 0 || f.Sent.Kept != 1 || f.Sent.Standing < 1000 || f.Sent.Standing > 6<<10 {
		t.Errorf("sent %+v", f.Sent)
	}
	if len(f.Loops) < 4 || f.Large.Files != 200 || f.Large.Gap <= 0 || f.Large.CPU <= 0 || f.Memory.One == 0 || f.Start.Request == 0 {
		t.Fatalf("%+v", f)
	}
	for _, l := range f.Loops {
		if l.Gap <= 0 || l.CPU <= 0 || l.Allocs == 0 || l.Allocs > 8000 || l.Bytes > 2<<20 {
			t.Errorf("%+v", l)
		}
	}
}

func TestWrongNumbers(t *testing.T) {
	for _, args := range [][]string{{"chaos", "--n", "0"}, {"schedule", "--n", "-1"}, {"agent", "--n", "2"}, {"agent", "--n", "9999"}, {"agent", "--n", "3", "--nexus", "no-such-program"}} {
		var out, err bytes.Buffer
		if code := bench.Main(t.Context(), args, strings.NewReader(""), &out, &err); code != 2 {
			t.Errorf("%v ended with code %d: %s", args, code, &err)
		}
	}
}
