package gate_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestWhatAGateIsGiven is what it runs with: what it lacks keeps it from running,
// and so does whoever hears that it starts; its caches are its own and dropped
// after it; keys are gone from what it printed.
func TestWhatAGateIsGiven(t *testing.T) {
	tree := files(t, map[string]string{"a.txt": "a\n"})
	g := gate.QualityGate{Name: "own", Args: []string{"sh", "-c", `echo "$OWN $(cat a.txt) key-1"; exit 3`}, Format: outputparser.Exit}
	r, kept := runner(t, sandbox.ModeOff), blobs{}
	dropped, started := 0, 0
	r.Put, r.Environment = kept.Put, "venv abc"
	r.Mask = func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("key-1"), []byte("[key]")) }
	r.Own = func(g gate.QualityGate) (gate.ToolRequirements, func() error, error) {
		return gate.ToolRequirements{Env: append(slices.Clone(r.Env), "OWN="+g.Name)}, func() error { dropped++; return nil }, nil
	}
	r.Starts = func(gate.QualityGate) error { started++; return nil }
	e, err := r.RunGate(t.Context(), tree, g)
	if err != nil || e.State != nexus.Fail || e.Exit != 3 || string(kept[e.Output]) != "own a [key]\n" || dropped != 1 || started != 1 || !strings.HasSuffix(e.Toolchain, "environment venv abc") {
		t.Errorf("%+v, %q, dropped %d times, started %d times, %v", e, kept, dropped, started, err)
	}

	lacking := r
	lacking.Lacks = func(g gate.QualityGate) string { return "no " + g.Name }
	if e, err := lacking.RunGate(t.Context(), tree, g); err != nil || e.State != nexus.MissingAsset || e.Why != "no own" || started != 1 {
		t.Errorf("%+v, started %d times, %v", e, started, err)
	}
	lacking.Lacks = func(gate.QualityGate) string { return "" }
	if e, err := lacking.RunGate(t.Context(), tree, g); err != nil || e.State != nexus.Fail || started != 2 {
		t.Errorf("%+v, started %d times, %v", e, started, err)
	}

	broken := errors.New("no space")
	for name, change := range map[string]func(*gate.GateRunner){
		"it cannot start": func(r *gate.GateRunner) { r.Starts = func(gate.QualityGate) error { return broken } },
		"it has no caches": func(r *gate.GateRunner) {
			r.Own = func(gate.QualityGate) (gate.ToolRequirements, func() error, error) {
				return gate.ToolRequirements{}, nil, broken
			}
		},
		"it cannot be put back": func(r *gate.GateRunner) { r.Reset = func(context.Context, bool) error { return broken } },
		"nothing can be kept":   func(r *gate.GateRunner) { r.Put = func([]byte) (string, error) { return "", broken } },
		"nobody can hear it":    func(r *gate.GateRunner) { r.Judged = func(nexus.GateEvidence, bool) error { return broken } },
	} {
		r := r
		change(&r)
		if v, err := r.RunAll(t.Context(), tree, []gate.QualityGate{g}, nil); !errors.Is(err, broken) || v.Passed || len(v.Evidence) > 0 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestAGateThatIsToLook and changes a file says nothing about the tree, unless it
// is red anyway.
func TestAGateThatIsToLook(t *testing.T) {
	for name, c := range map[string]struct {
		exit  string
		wrote []string
		looks bool
		want  nexus.GateState
		finds int
		why   string
	}{
		"it changes a file":      {"0", []string{"a.c"}, true, nexus.Unverifiable, 1, "it changed 1 file while it ran"},
		"it changes two":         {"0", []string{"a.c", "b.c"}, true, nexus.Unverifiable, 2, "it changed 2 files while it ran"},
		"it changes none":        {"0", nil, true, nexus.Pass, 0, ""},
		"it may change them":     {"0", []string{"a.c"}, false, nexus.Pass, 0, ""},
		"it is red":              {"1", []string{"a.c"}, true, nexus.Fail, 1, ""},
		"it changes sixty files": {"0", slices.Repeat([]string{"a.c"}, 60), true, nexus.Unverifiable, 50, "it changed 60 files"},
	} {
		r := runner(t, sandbox.ModeOff)
		r.Wrote = func(context.Context) (gate.WrittenFiles, error) { return gate.WrittenFiles{Changed: c.wrote}, nil }
		e, err := r.RunGate(t.Context(), files(t, nil), gate.QualityGate{Name: "format", Args: []string{"sh", "-c", "exit " + c.exit}, Format: outputparser.Exit, Reads: c.looks})
		if err != nil || e.State != c.want || len(e.Findings) != c.finds || !strings.Contains(e.Why, c.why) {
			t.Errorf("%s: %s, %q, %+v, %v", name, e.State, e.Why, e.Findings, err)
		}
		if e.State == nexus.Unverifiable && (e.Findings[0].File != "a.c" || e.Findings[0].Gate != "format") {
			t.Errorf("%s: %+v", name, e.Findings[0])
		}
	}
	r := runner(t, sandbox.ModeOff)
	broken := errors.New("git is gone")
	r.Wrote = func(context.Context) (gate.WrittenFiles, error) { return gate.WrittenFiles{}, broken }
	if e, err := r.RunGate(t.Context(), files(t, nil), gate.QualityGate{Name: "format", Args: []string{"true"}, Format: outputparser.Exit, Reads: true}); !errors.Is(err, broken) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestAGateThatDidNotRun ends the pass, unless it did not run on the base either.
func TestAGateThatDidNotRun(t *testing.T) {
	says := map[string]nexus.GateEvidence{
		"it did not run there either":  {State: nexus.NotRun, Tree: "base"},
		"its tool was not there":       {State: nexus.Environmental, Tree: "base", Findings: []nexus.Finding{{Code: parserbase.CodeMissing}}},
		"something else was not there": {State: nexus.Environmental, Tree: "base", Findings: []nexus.Finding{{Code: "net"}}},
		"it ran there":                 {State: nexus.Pass, Tree: "base", Counts: nexus.TestCounts{Passed: 1}},
		"it failed there":              {State: nexus.Fail, Tree: "base"},
		"nobody knows about the base":  {State: nexus.NotRun},
		"the base was never looked at": {},
	}
	for name, base := range says {
		r := runner(t, sandbox.ModeOff)
		r.Base = func(gate string) (nexus.GateEvidence, bool) {
			e := base
			e.Gate = gate
			return e, gate == "test" && base.State != ""
		}
		v, err := r.RunAll(t.Context(), files(t, map[string]string{"a": ""}), []gate.QualityGate{
			{Name: "test", Args: []string{"sh", "-c", "echo 1..0"}, Format: "tap", Tests: true}, {Name: "build", Args: []string{"true"}, Format: outputparser.Exit},
		}, nil)
		if want := name == "it did not run there either" || name == "its tool was not there"; err != nil || v.Passed != want || v.Passed != (len(v.Evidence) == 2) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestPrograms are those that a gate begins with, where that is sure.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"go", "test", "./..."}, "go"},
		{[]string{"sh", "-c", "npm test | tee log"}, "npm"},
		{[]string{"./gradlew", "test"}, ""},
		{nil, ""},
		{[]string{"sh", "-c", ""}, ""},
		{[]string{"sh", "-c", "A=b make"}, ""},
		{[]string{"sh", "m.sh", "x"}, "sh"},
		{[]string{"python3.12", "-m", "pytest"}, "python3.12"},
	} {
		if got := (gate.QualityGate{Args: c.args}).ProgramName(); got != c.want {
			t.Errorf("%q begins with %q, want %q", c.args, got, c.want)
		}
	}
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := gate.MissingPrograms(t.Context(), box, []string{"sh", "no-such-tool", "cat", "nor-this"}); err != nil || !slices.Equal(got, []string{"no-such-tool", "nor-this"}) {
		t.Errorf("missing are %q, %v", got, err)
	}
	if got, err := gate.MissingPrograms(t.Context(), box, nil); err != nil || got != nil {
		t.Errorf("of nothing %q is missing, %v", got, err)
	}
}

// TestWhole finds all findings where only some are shown, and says where they are
// lost.
func TestWhole(t *testing.T) {
	kept := blobs{"all": []byte(`[{"message":"one"},{"message":"two"}]`), "no": []byte("nonsense")}
	gone := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	for name, c := range map[string]struct {
		all   string
		get   func(string) ([]byte, error)
		known bool
		n     int
	}{
		"all are shown": {"", nil, true, 1}, "they are kept": {"all", kept.Get, true, 2}, "nothing is kept": {"all", nil, false, 1},
		"they are gone": {"all", gone, false, 1}, "they cannot be read": {"no", kept.Get, false, 1},
	} {
		e, ok := gate.WithAllFindings(nexus.GateEvidence{All: c.all, Findings: []nexus.Finding{{Message: "some"}}}, c.get)
		if ok != c.known || len(e.Findings) != c.n || ok && e.All != "" {
			t.Errorf("%s: %+v, %v", name, e, ok)
		}
	}
}

// TestCaches gives a gate that runs code of the tree caches that are gone with
// it, and builds and linters caches that stay; none is another's.
func TestCaches(t *testing.T) {
	state, user := t.TempDir(), t.TempDir()
	tree := files(t, map[string]string{"go.mod": goMod})
	dir := filepath.Join(t.TempDir(), "attempt", "caches")
	c := gate.GateCaches{Exe: "/bin/nexus", State: state, Shared: []string{user, filepath.Join(user, "none")}}
	caches := map[string]string{}
	for format, stays := range map[string]bool{outputparser.GoBuild: true, outputparser.GoVet: true, outputparser.GolangCI: true, outputparser.GoTestJSON: false, outputparser.Exit: false} {
		s, done, err := c.CachesForGate(tree.Dir, dir, gate.QualityGate{Name: "x", Format: format, Args: []string{"true"}})
		if err != nil {
			t.Fatal(format, err)
		}
		i := slices.IndexFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "GOCACHEPROG=") })
		if i < 0 || !strings.Contains(s.Env[i], user) || !strings.Contains(s.Env[i], filepath.Join(state, "gocache")) {
			t.Fatalf("%s: %q", format, s.Env)
		}
		if !slices.Contains(s.Readable, user) || !slices.Contains(s.Readable, c.Exe) || slices.Contains(s.Readable, filepath.Join(user, "none")) || slices.Contains(s.Writable, user) {
			t.Errorf("%s may read %q and write %q", format, s.Readable, s.Writable)
		}
		caches[format] = s.Writable[0]
		for _, at := range s.Writable {
			if !strings.HasPrefix(at, filepath.Dir(dir)) {
				t.Errorf("%s writes to %s", format, at)
			}
		}
		if err := done(); err != nil {
			t.Error(format, err)
		}
		if _, err := os.Stat(s.Writable[0]); (err == nil) != stays {
			t.Errorf("what %s wrote is there afterwards: %v", format, err == nil)
		}
	}
	if caches[outputparser.GoBuild] != caches[outputparser.GoVet] || caches[outputparser.GolangCI] == caches[outputparser.GoBuild] || caches[outputparser.GoTestJSON] == caches[outputparser.Exit] || caches[outputparser.GoTestJSON] == caches[outputparser.GoBuild] {
		t.Errorf("%q", caches)
	}
	s, err := c.CachesForShell(tree.Dir, dir, []string{"go"})
	if err != nil || !slices.Contains(s.Readable, user) || !slices.Contains(s.Writable, dir) {
		t.Errorf("%+v, %v", s, err)
	}
	c.Exe = "" // nothing serves a cache then
	if s, err := c.PrepareGoCaches(tree.Dir, dir, filepath.Join(dir, "own")); err != nil || slices.ContainsFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "GOCACHEPROG=") }) {
		t.Errorf("%+v, %v", s, err)
	}
}
