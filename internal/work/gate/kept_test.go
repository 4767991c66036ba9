package gate_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestOutputIsKept keeps what a gate prints, on whichever of its two outputs, also where
// both have as much.
func TestOutputIsKept(t *testing.T) {
	for name, one := range map[string]struct{ script, want string }{
		"both":    {"echo out; echo err >&2", "out\nerr\n"},
		"output":  {"echo out", "out\n"},
		"error":   {"echo err >&2", "err\n"},
		"neither": {"true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree, kept := files(t, map[string]string{"g.sh": one.script}), blobs{}
			r := runner(t, sandbox.ModeOff)
			r.Put = kept.Put
			e, err := r.RunGate(t.Context(), tree, gate.QualityGate{Name: "g", Args: []string{"sh", "g.sh"}, Format: outputparser.Exit})
			if err != nil || string(kept[e.Output]) != one.want || (e.Output == "") != (one.want == "") {
				t.Errorf("%q, %v, want %q", kept[e.Output], err, one.want)
			}
		})
	}
}

// TestWarningsBesideErrors: of a tool that lets warnings pass, a new one does not count
// against a tree that has old errors; where warnings alone make it red, it counts.
func TestWarningsBesideErrors(t *testing.T) {
	const compiler = `cat said; exit 1`
	for name, one := range map[string]struct {
		old, now string
		state    nexus.GateState
	}{
		"beside an error": {"a.c:1:1: error: bad\n", "a.c:1:1: error: bad\na.c:9:1: warning: odd\n", nexus.Pass},
		"another error":   {"a.c:1:1: error: bad\n", "a.c:1:1: error: bad\na.c:9:1: error: odd\n", nexus.Fail},
		"alone":           {"a.c:1:1: warning: bad\n", "a.c:1:1: warning: bad\na.c:9:1: warning: odd\n", nexus.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			r, g := runner(t, sandbox.ModeOff), gate.QualityGate{Name: "build", Args: []string{"sh", "cc.sh"}, Format: "gcc"}
			base := files(t, map[string]string{"cc.sh": compiler, "said": one.old, "a.c": "int a;\n"})
			was, err := r.RunGate(t.Context(), base, g)
			if err != nil || was.State != nexus.Fail {
				t.Fatal(was.State, err)
			}
			r.Base = func(string) (nexus.GateEvidence, bool) { return was, true }
			v, err := r.RunAll(t.Context(), files(t, map[string]string{"cc.sh": compiler, "said": one.now, "a.c": "int a;\n"}), []gate.QualityGate{g}, nil)
			if err != nil || len(v.Evidence) != 1 || v.Evidence[0].State != one.state {
				t.Errorf("%+v, %v", v.Evidence, err)
			}
		})
	}
}

// TestNamesAreKept lists the tests that ran and how each ended, where there are any, and
// something keeps them.
func TestNamesAreKept(t *testing.T) {
	suite := `echo '{"Action":"run","Package":"m","Test":"TestA"}'; echo '{"Action":"pass","Package":"m","Test":"TestA"}'
echo '{"Action":"run","Package":"m","Test":"TestB"}'; echo '{"Action":"skip","Package":"m","Test":"TestB"}'; echo '{"Action":"pass","Package":"m"}'`
	for script, want := range map[string]string{suite: "run" + gate.TestNameSeparator + "m.TestA\nskip" + gate.TestNameSeparator + "m.TestB\n", "true": ""} {
		tree, kept := files(t, map[string]string{"g.sh": script}), blobs{}
		g := gate.QualityGate{Name: "test", Args: []string{"sh", "g.sh", "-timeout=1m"}, Format: outputparser.GoTestJSON, Tests: true}
		r := runner(t, sandbox.ModeOff)
		if e, err := r.RunGate(t.Context(), tree, g); err != nil || e.Named != "" {
			t.Errorf("nobody keeps names, and they are in %q, %v", e.Named, err)
		}
		r.Put = kept.Put
		e, err := r.RunGate(t.Context(), tree, g)
		if err != nil || string(kept[e.Named]) != want || (e.Named == "") != (want == "") {
			t.Errorf("%q, %v, want %q", kept[e.Named], err, want)
		}
	}
}

// TestGateInADirectory runs where the gate says: in the tree, or in a directory of it,
// whatever that is called.
func TestGateInADirectory(t *testing.T) {
	for dir, want := range map[string]string{"": "top\n", ".": "top\n", "web": "web\n", "-odd dir": "odd\n"} {
		tree, kept := files(t, map[string]string{"name": "top", "web/name": "web", "-odd dir/name": "odd"}), blobs{}
		r := runner(t, sandbox.ModeOff)
		r.Put = kept.Put
		e, err := r.RunGate(t.Context(), tree, gate.QualityGate{Name: "g", Dir: dir, Args: []string{"sh", "-c", `echo "$(cat name)$1"`}, Format: outputparser.Exit})
		if err != nil || e.State != nexus.Pass || string(kept[e.Output]) != want {
			t.Errorf("%q: %s, %q, %v", dir, e.State, kept[e.Output], err)
		}
	}
}
