package gate_test

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// TestSomeTestsOfAGate need not run twice: what is read from the gate that ran them all is what
// the command itself says. Where that cannot be known, nothing is read.
func TestSomeTestsOfAGate(t *testing.T) {
	tests := "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tt.Run(\"small\", func(t *testing.T) {})\n\tt.Run(\"big\", func(t *testing.T) { t.Error(\"no\") })\n}\n\nfunc TestMul(t *testing.T) {}\n\nfunc TestSkip(t *testing.T) { t.Skip() }\n"
	broken := "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) { Add() }\n"
	for name, c := range map[string]struct {
		files map[string]string
		read  []string // commands whose evidence is read
		run   []string // commands that have to run
	}{
		"tests": {
			map[string]string{"go.mod": "module m\n", "m_test.go": tests},
			[]string{"go test -run '^TestAdd$' ./...", "go test -run ^TestMul$ ./...", "go test -run '^TestAdd$/^big$' ./...", "go test -run ^TestNone$ ./..."},
			[]string{"go test -run '^TestAdd$/^small$' .", "go test -run '^TestAdd$/^small$' ./...", "go test -run ^TestSkip$ ./...", "go test -run ^TestMul$ ./... && true", "go test -race -run ^TestMul$ ./..."},
		},
		"a parent fails itself": {
			map[string]string{"go.mod": "module m\n", "m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tt.Run(\"small\", func(t *testing.T) {})\n\tt.Error(\"no\")\n}\n"},
			[]string{"go test -run '^TestAdd$' ./..."},
			[]string{"go test -run '^TestAdd$/^small$' ./..."},
		},
		"a panic": {
			map[string]string{"go.mod": "module m\n", "m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) { panic(1) }\n\nfunc TestC(t *testing.T) { t.Error(1) }\n"},
			nil,
			[]string{"go test -run '^Test[AC]$' ./...", "go test -run '^TestC$' ./..."},
		},
		"nothing compiles": {
			map[string]string{"go.mod": "module m\n", "m_test.go": broken},
			[]string{"go test -run '^TestAdd$' ./...", "go test -run ^TestNone$ ./..."},
			[]string{"go test -run '^TestAdd$' ./sub"},
		},
		"some do not compile": {
			map[string]string{"go.mod": "module m\n", "m_test.go": broken, "sub/s_test.go": "package sub\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {}\n"},
			nil,
			[]string{"go test -run ^TestSub$ ./..."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree, kept := files(t, c.files), blobs{}
			all, err := detect.DetectGates(tree.Dir, config.GateSettings{})
			if err != nil {
				t.Fatal(err)
			}
			test := all[slices.IndexFunc(all, func(g gate.QualityGate) bool { return g.Tests })]
			r := runner(t, sandbox.ModeOff)
			r.Put, r.Get = kept.Put, kept.Get
			said, err := r.RunGate(t.Context(), tree, test)
			if err != nil {
				t.Fatal(err)
			}
			for _, command := range slices.Concat(c.read, c.run) {
				g, _ := detect.CriterionGate(nexus.Criterion{Check: command})
				got, ok := gate.GateEvidenceForCriterion(all, []nexus.GateEvidence{said}, g, kept.Get)
				if want := slices.Contains(c.read, command); ok != want {
					t.Errorf("%s: %v, want %v: %+v", command, ok, want, got)
				}
				if !ok {
					continue
				}
				real, err := r.RunGate(t.Context(), tree, g)
				if err != nil {
					t.Fatal(err)
				}
				if got.State != real.State || got.Why != real.Why || got.Gate != real.Gate || got.Command != real.Command || got.Exit != real.Exit || (len(got.Findings) == 0) != (len(real.Findings) == 0) {
					t.Errorf("%s: read as %+v, and is %+v", command, got, real)
				}
				for _, s := range []func(*nexus.GateEvidence){func(e *nexus.GateEvidence) { e.Flaky = []nexus.FlakyTestCount{{Test: "x"}} }, func(e *nexus.GateEvidence) { e.Unsure = []string{"x"} }, func(e *nexus.GateEvidence) { e.State = nexus.Timeout }} {
					other := said
					if s(&other); other.State != said.State || len(other.Flaky)+len(other.Unsure) > 0 {
						if e, ok := gate.GateEvidenceForCriterion(all, []nexus.GateEvidence{other}, g, kept.Get); ok {
							t.Errorf("%s: read from what may be different next time: %+v", command, e)
						}
					}
				}
			}
		})
	}
}
