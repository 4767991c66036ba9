// Package figures measures gates on a real repository: what they cost beyond
// their commands, what related tests and known evidence save.
package figures

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
)

// repository returns the checkout to measure, its Go gates and what runs them.
func repository(t *testing.T) (string, []gate.QualityGate, gate.GateRunner) {
	t.Helper()
	dir := os.Getenv("NEXUS_REPO")
	if dir == "" {
		t.Skip("NEXUS_REPO names no checkout of a Go repository")
	}
	all, err := detect.DetectGates(dir, config.GateSettings{})
	if err != nil {
		t.Fatal(err)
	}
	gates := slices.DeleteFunc(all, func(g gate.QualityGate) bool {
		return !slices.Contains([]string{"build", "lint", "test"}, g.Name)
	})
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(os.TempDir(), "nexus-figures")
	setup, err := gate.PrepareGoTools(dir, cache)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, sandbox %s, load %s", filepath.Base(dir), box.Name(), load())
	return dir, gates, gate.GateRunner{
		Box: box, Env: setup.Env, Readable: setup.Readable, Writable: setup.Writable, Timeout: 10 * time.Minute, Versions: &gate.ToolVersionCache{},
	}
}

func load() string {
	data, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(data), " ")
	return first
}

// TestOverhead runs each gate and its bare command in turn, with the same
// caches, and compares the shortest of their times: what others on the machine
// take makes them longer and never shorter.
func TestOverhead(t *testing.T) {
	dir, gates, r := repository(t)
	for _, g := range gates {
		var bare, judged []time.Duration
		rounds := 8
		if g.Tests {
			rounds = 3
		}
		for n := range rounds + 1 { // the first warms the caches
			cmd := exec.CommandContext(t.Context(), g.Args[0], g.Args[1:]...)
			cmd.Dir, cmd.Env = dir, r.Env
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", g.Command(), err, out)
			}
			took := time.Since(began)
			began = time.Now()
			e, err := r.JudgeAgainstBase(t.Context(), gate.JudgedTreeDir{Dir: dir, Hash: fmt.Sprint(n)}, g)
			if err != nil || !e.Passed() {
				t.Fatalf("%+v, %v", e, err)
			}
			if n > 0 {
				bare, judged = append(bare, took), append(judged, time.Since(began))
			}
		}
		b, j := slices.Min(bare), slices.Min(judged)
		t.Logf("%s: bare %d ms, gate %d ms: %.2f x, %d ms more", g.Command(), b.Milliseconds(), j.Milliseconds(), float64(j)/float64(b), (j - b).Milliseconds())
	}
}

// BenchmarkOverhead runs a command bare, in the box and as a gate, in turn, in
// a module of two files, and shows the middle of the times and what box and
// gate take beyond the bare command.
func BenchmarkOverhead(b *testing.B) {
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.org/m\n\ngo 1.26\n", "m.go": "package m\n", "m_test.go": "package m\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	box, err := sandbox.FindSandbox(b.Context(), sandbox.ModeAuto)
	if err != nil {
		b.Fatal(err)
	}
	setup, err := gate.PrepareGoTools(dir, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r := gate.GateRunner{Box: box, Env: setup.Env, Readable: setup.Readable, Writable: setup.Writable, Versions: &gate.ToolVersionCache{}}
	for name, g := range map[string]gate.QualityGate{
		"true":  {Name: "build", Args: []string{"true"}, Format: outputparser.Exit},
		"build": {Name: "build", Args: []string{"go", "build", "./..."}, Format: outputparser.GoBuild},
	} {
		b.Run(name, func(b *testing.B) {
			bare := func() error {
				cmd := exec.CommandContext(b.Context(), g.Args[0], g.Args[1:]...)
				cmd.Dir, cmd.Env = dir, r.Env
				return cmd.Run()
			}
			boxed := func() error {
				_, err := box.Run(b.Context(), sandbox.Command{Args: g.Args, Dir: dir, Env: r.Env, Readable: r.Readable, Writable: r.Writable})
				return err
			}
			judged := func() error {
				_, err := r.JudgeAgainstBase(b.Context(), gate.JudgedTreeDir{Dir: dir, Hash: "t"}, g)
				return err
			}
			took := map[string][]float64{}
			for b.Loop() {
				for way, run := range map[string]func() error{"bare": bare, "boxed": boxed, "gate": judged} {
					began := time.Now()
					if err := run(); err != nil {
						b.Fatal(err)
					}
					took[way] = append(took[way], float64(time.Since(began).Microseconds())/1000)
				}
			}
			for way, all := range took {
				slices.Sort(all)
				b.ReportMetric(all[len(all)/2], way+"-ms")
			}
			middle := func(way string) float64 { return took[way][len(took[way])/2] }
			b.ReportMetric(middle("boxed")/middle("bare"), "boxed-x")
			b.ReportMetric(middle("gate")/middle("bare"), "gate-x")
			b.ReportMetric(middle("gate")-middle("boxed"), "gate-over-boxed-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestRelated changes each file of code in turn, on paper, and runs the tests
// that some of these changes concern.
func TestRelated(t *testing.T) {
	dir, gates, r := repository(t)
	test := gates[len(gates)-1]
	sizes := map[string]int{}
	some := map[string]gate.QualityGate{}
	whole := len(packages(t, r, dir))
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return err
		}
		for _, c := range testselection.ChooseRelatedTests(dir, []string{rel}, []gate.QualityGate{test}) {
			switch at := filepath.Dir(rel); {
			case c.None:
			case c.Some:
				sizes[at], some[at] = len(c.Tests), c.Gate
			default:
				sizes[at] = whole
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	dirs := slices.SortedFunc(maps.Keys(some), func(a, b string) int { return sizes[a] - sizes[b] })
	for _, at := range slices.Sorted(maps.Keys(sizes)) {
		t.Logf("a change in %s concerns %d of %d packages", at, sizes[at], whole)
	}
	for _, at := range []string{dirs[0], dirs[len(dirs)-1]} {
		var part, all []time.Duration
		for range 2 {
			for g, times := range map[*gate.QualityGate]*[]time.Duration{new(some[at]): &part, &test: &all} {
				began := time.Now()
				if e, err := r.JudgeAgainstBase(t.Context(), gate.JudgedTreeDir{Dir: dir, Hash: "t"}, *g); err != nil || !e.Passed() {
					t.Fatalf("%+v, %v", e, err)
				}
				*times = append(*times, time.Since(began))
			}
		}
		p, a := slices.Min(part), slices.Min(all)
		t.Logf("after a change in %s: related %d ms, all %d ms: %.2f of it", at, p.Milliseconds(), a.Milliseconds(), float64(p)/float64(a))
	}
}

func packages(t *testing.T, r gate.GateRunner, dir string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "./...")
	cmd.Dir, cmd.Env = dir, r.Env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// TestKnown judges an unchanged tree twice: what was known of it is not run.
func TestKnown(t *testing.T) {
	dir, gates, r := repository(t)
	book := map[string]nexus.GateEvidence{}
	known := func(tree, gate string) (nexus.GateEvidence, bool) {
		e, ok := book[tree+" "+gate]
		return e, ok
	}
	ran := 0
	r.Judged = func(e nexus.GateEvidence, cached bool) error {
		if !cached {
			ran++
		}
		book[e.Tree+" "+e.Gate] = e
		return nil
	}
	pass := func(hash string) (int, time.Duration) {
		ran = 0
		began := time.Now()
		if v, err := r.RunAll(t.Context(), gate.JudgedTreeDir{Dir: dir, Hash: hash}, gates, known); err != nil || !v.Passed {
			t.Fatalf("%+v, %v", v, err)
		}
		return ran, time.Since(began)
	}
	pass("warm")
	first, slow := pass("t1")
	again, fast := pass("t1")
	other, _ := pass("t2")
	t.Logf("first %d of %d gates in %d ms; the same tree again %d gates in %d ms: 1/%d; another tree %d gates",
		first, len(gates), slow.Milliseconds(), again, fast.Milliseconds(), slow/max(fast, 1), other)
	if first != len(gates) || again != 0 || other != len(gates) {
		t.Errorf("%d, %d and %d gates ran", first, again, other)
	}
}
