package gate_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// TestTwin runs the command of a criterion only where no gate ran the very same
// before it, and finds the same.
func TestTwin(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	for name, c := range map[string]struct {
		command string // of the criterion
		ends    string // how the suite ends
		ran     int
		state   nexus.GateState
	}{
		"the same":              {"sh suite.sh", "echo 1..1", 1, nexus.Pass},
		"the same, and old red": {"sh suite.sh", "echo 'not ok 2 - old'; echo 1..2; exit 1", 1, nexus.Fail},
		"another one":           {"sh suite.sh -v", "echo 1..1", 2, nexus.Pass},
		"nothing to go by":      {"sh suite.sh", "exit 1", 1, nexus.Fail},
	} {
		tree := files(t, map[string]string{"suite.sh": "echo run >>'" + count + name + "'\necho ok 1 - fine\n" + c.ends, "nexus.toml": ""})
		all, err := detect.DetectGates(tree.Dir, config.GateSettings{Commands: map[string]string{"test": "sh suite.sh"}})
		if err != nil {
			t.Fatal(err)
		}
		own, _ := detect.CriterionGate(nexus.Criterion{Check: c.command})
		kept := blobs{}
		r := runner(t, sandbox.ModeOff)
		r.Put, r.Get, r.Each = kept.Put, kept.Get, true
		base, err := r.RunGate(t.Context(), tree, all[0])
		if err != nil {
			t.Fatal(err)
		}
		r.Base = func(name string) (nexus.GateEvidence, bool) { return base, name == "test" }
		v, err := r.RunAll(t.Context(), tree, append(all, own), func(_, name string) (nexus.GateEvidence, bool) { return base, name == "test" })
		if err != nil {
			t.Fatal(err)
		}
		e := v.Evidence[len(v.Evidence)-1]
		said, err := os.ReadFile(count + name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(said, []byte("\n")); n != c.ran || len(v.Evidence) != 2 || e.Gate != own.Name || e.State != c.state {
			t.Errorf("%s: it ran %d times, %d gates judged, %s is %s: %s", name, n, len(v.Evidence), e.Gate, e.State, e.Why)
		}
		if slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Gate != own.Name }) {
			t.Errorf("%s: %+v", name, e.Findings)
		}
	}
}

// TestTwinOfGo knows that go test is the same for both.
func TestTwinOfGo(t *testing.T) {
	tree := files(t, map[string]string{"go.mod": "module m\n", "m_test.go": "package m\n"})
	all, err := detect.DetectGates(tree.Dir, config.GateSettings{})
	if err != nil {
		t.Fatal(err)
	}
	own, _ := detect.CriterionGate(nexus.Criterion{Check: "go test ./..."})
	said := []nexus.GateEvidence{{Gate: "test", State: nexus.Pass, Tree: "t"}}
	if e, ok := gate.GateEvidenceForCriterion(all, said, own, nil); !ok || e.Gate != own.Name {
		t.Error(e, ok)
	}
	some, _ := detect.CriterionGate(nexus.Criterion{Check: "go test -run=TestA ./..."})
	said[0].Flaky = []nexus.FlakyTestCount{{Test: "A"}}
	for _, g := range []gate.QualityGate{own, some} {
		if e, ok := gate.GateEvidenceForCriterion(all, said, g, nil); ok {
			t.Error(e)
		}
	}
}
