package gate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// files writes a tree and returns it under the hash "h".
func files(t *testing.T, content map[string]string) gate.JudgedTreeDir {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return gate.JudgedTreeDir{Dir: dir, Hash: "h"}
}

// runner has a real box and this machine's own build cache, so that the
// standard library is compiled once.
func runner(t *testing.T, m sandbox.ConfinementMode) gate.GateRunner {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	setup, err := gate.PrepareGoTools(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(string(out))
	return gate.GateRunner{
		Box: box, Env: append(setup.Env, "GOCACHE="+cache), Writable: append(setup.Writable, cache), Readable: setup.Readable,
		Timeout: 5 * time.Minute, Versions: &gate.ToolVersionCache{},
	}
}

const (
	goMod      = "module example.org/m\n\ngo 1.26\n"
	code       = "package m\n\nfunc Add(a, b int) int { return a + b }\n"
	countTests = "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"wrong sum\")\n\t}\n}\n"
)

func gatesOf(t *testing.T, tree gate.JudgedTreeDir, c config.GateSettings) []gate.QualityGate {
	t.Helper()
	gates, err := detect.DetectGates(tree.Dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return gates
}

func states(v nexus.GatesVerdict) string {
	var b strings.Builder
	for _, e := range v.Evidence {
		b.WriteString(e.Gate + "=" + string(e.State) + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestPassOnRealTrees(t *testing.T) {
	for _, tt := range []struct {
		name   string
		files  map[string]string
		passed bool
		states string
		finds  string // file:line of the first finding
	}{
		{"green", map[string]string{"m.go": code, "m_test.go": countTests}, true, "build=pass lint=pass test=pass", ""},
		{"does not compile", map[string]string{"m.go": code + "func f() { x }\n", "m_test.go": countTests}, false, "build=fail", "m.go:4"},
		{"vet", map[string]string{"m.go": code, "m_test.go": strings.Replace(countTests, `t.Fatal("wrong sum")`, `t.Fatalf("%d")`, 1)}, false, "build=pass lint=fail", "m_test.go:7"},
		{"test does not compile", map[string]string{"m.go": code, "m_test.go": countTests + "func f() { x }\n"}, false, "build=pass lint=fail", "m_test.go:10"},
		{"red test", map[string]string{"m.go": strings.Replace(code, "+", "-", 1), "m_test.go": countTests}, false, "build=pass lint=pass test=fail", "m_test.go:7"},
		{"panic", map[string]string{"m.go": strings.Replace(code, "return a + b", `panic("no")`, 1), "m_test.go": countTests}, false, "build=pass lint=pass test=fail", "m.go:3"},
		{"no tests", map[string]string{"m.go": code}, false, "build=pass lint=pass test=not-run", ""},
		{"no packages", map[string]string{}, false, "build=not-run", ""},
		{"leaves without a word", map[string]string{"m.go": code, "m_test.go": countTests + "func TestOut(t *testing.T) { syscall.Exit(0) }\n"}, false, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.files["go.mod"] = goMod
			if strings.Contains(tt.files["m_test.go"], "syscall") {
				tt.files["m_test.go"] = strings.Replace(tt.files["m_test.go"], `"testing"`, "(\n\t\"syscall\"\n\t\"testing\"\n)", 1)
				tt.states = "build=pass lint=pass test=fail"
			}
			tree := files(t, tt.files)
			v, err := runner(t, sandbox.ModeAuto).RunAll(t.Context(), tree, gatesOf(t, tree, config.GateSettings{}), nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Passed != tt.passed || states(v) != tt.states {
				t.Errorf("passed %t with %s, want %t with %s (%s; %v)", v.Passed, states(v), tt.passed, tt.states, v.Why, v.AllFindings())
			}
			if v.Passed == (v.Why != "") {
				t.Errorf("passed %t, why %q", v.Passed, v.Why)
			}
			if tt.finds == "" {
				return
			}
			all := v.AllFindings()
			if len(all) == 0 || fmt.Sprintf("%s:%d", all[0].File, all[0].Line) != tt.finds || all[0].Gate == "" {
				t.Errorf("findings %+v, want one at %s", all, tt.finds)
			}
		})
	}
}

func TestEvidenceIsComplete(t *testing.T) {
	tree := files(t, map[string]string{"go.mod": goMod, "m.go": code, "m_test.go": countTests})
	r := runner(t, sandbox.ModeOff)
	var kept []byte
	r.Put = func(data []byte) (string, error) { kept = data; return "blob", nil }
	var heard []string
	r.Judged = func(e nexus.GateEvidence, cached bool) error { heard = append(heard, e.Gate); return nil }
	resets := 0
	r.Reset = func(context.Context, bool) error { resets++; return nil }
	v, err := r.RunAll(t.Context(), tree, gatesOf(t, tree, config.GateSettings{}), nil)
	if err != nil || !v.Passed {
		t.Fatal(v, err)
	}
	e := v.Evidence[2]
	if e.Tree != "h" || e.Exit != 0 || e.Duration <= 0 || e.Output != "blob" || !strings.HasPrefix(e.Toolchain, "go1.") || e.Counts.Passed != 1 ||
		e.Command != "go test -json -count=1 ./..." {
		t.Errorf("evidence %+v", e)
	}
	if len(kept) == 0 || resets != 6 || !slices.Equal(heard, []string{"build", "lint", "test"}) {
		t.Errorf("kept %d bytes, %d resets, heard %v", len(kept), resets, heard)
	}
}

func TestKnownEvidenceIsTakenOver(t *testing.T) {
	tree := files(t, map[string]string{"m.sh": "echo ran >> log\nexit 3\n"})
	g := gate.QualityGate{Name: "own", Args: []string{"sh", "m.sh"}, Format: "exit"}
	r := runner(t, sandbox.ModeOff)
	first, err := r.RunGate(t.Context(), tree, g)
	if err != nil || first.State != nexus.Fail {
		t.Fatal(first, err)
	}
	known := false // as those are told who hear of it
	r.Judged = func(_ nexus.GateEvidence, cached bool) error { known = cached; return nil }
	count := func(e nexus.GateEvidence) int {
		t.Helper()
		if _, err := r.RunAll(t.Context(), tree, []gate.QualityGate{g}, func(string, string) (nexus.GateEvidence, bool) { return e, true }); err != nil {
			t.Fatal(err)
		}
		log, _ := os.ReadFile(filepath.Join(tree.Dir, "log"))
		return strings.Count(string(log), "ran")
	}
	if n := count(first); n != 1 || !known {
		t.Errorf("known evidence, yet it ran: %d, %v", n, known)
	}
	runs := 1
	for name, change := range map[string]func(*nexus.GateEvidence){
		"another tree":      func(e *nexus.GateEvidence) { e.Tree = "other" },
		"another command":   func(e *nexus.GateEvidence) { e.Command = "other" },
		"another toolchain": func(e *nexus.GateEvidence) { e.Toolchain = "other" },
		"timed out":         func(e *nexus.GateEvidence) { e.State = nexus.Timeout },
		"the machine":       func(e *nexus.GateEvidence) { e.State = nexus.Environmental },
		"weighed":           func(e *nexus.GateEvidence) { e.State, e.Why = nexus.Pass, "1 finding that is also on the base" },
	} {
		e := first
		change(&e)
		runs++
		if n := count(e); n != runs || known {
			t.Errorf("%s: taken over", name)
		}
	}
}

// TestWhatWasLeftIsMadeAgain knows what one command said, and runs it all the
// same before the one that needs what it leaves.
func TestWhatWasLeftIsMadeAgain(t *testing.T) {
	tree := files(t, map[string]string{"m.sh": "exit 0\n"})
	first := gate.QualityGate{Name: "install", Args: []string{"sh", "-c", "touch dep"}, Format: "exit"}
	second := gate.QualityGate{Name: "use", Args: []string{"test", "-e", "dep"}, Format: "exit"}
	r := runner(t, sandbox.ModeOff)
	e, err := r.RunGate(t.Context(), tree, first)
	if err != nil || os.Remove(filepath.Join(tree.Dir, "dep")) != nil {
		t.Fatal(e, err)
	}
	cached := map[string]bool{}
	r.Judged = func(e nexus.GateEvidence, known bool) error { cached[e.Gate] = known; return nil }
	v, err := r.RunAll(t.Context(), tree, []gate.QualityGate{first, second}, func(_, name string) (nexus.GateEvidence, bool) { return e, name == "install" })
	if err != nil || !v.Passed || !cached["install"] || cached["use"] {
		t.Errorf("%+v, %v, known was %v", v, err, cached)
	}
}

func TestStatesOfCommands(t *testing.T) {
	tree := files(t, map[string]string{"ok.txt": "x"})
	r := runner(t, sandbox.ModeAuto)
	for _, tt := range []struct {
		line  string
		limit time.Duration
		want  nexus.GateState
		why   string
	}{
		{"test -f ok.txt", 0, nexus.Pass, ""},
		{"test -f nope.txt", 0, nexus.Fail, ""},
		{"no-such-tool --x", 0, nexus.Environmental, "no-such-tool"},
		{"sleep 60", 200 * time.Millisecond, nexus.Timeout, "did not end within 200ms"},
		{"kill -9 $$", 0, nexus.Environmental, "killed"},
		{"true && go test ./...", 0, nexus.NotRun, "no test ran"},
	} {
		g, ok := detect.CriterionGate(nexus.Criterion{Check: tt.line})
		if !ok {
			t.Fatalf("%q is no command", tt.line)
		}
		g.Timeout = tt.limit
		e, err := r.RunGate(t.Context(), tree, g)
		if err != nil {
			t.Fatal(err)
		}
		if e.State != tt.want || !strings.Contains(e.Why, tt.why) {
			t.Errorf("%q: %s (%s), want %s (%s)", tt.line, e.State, e.Why, tt.want, tt.why)
		}
		if e.Passed() != (tt.want == nexus.Pass) {
			t.Errorf("%q passed: %t", tt.line, e.Passed())
		}
	}
	e, err := r.RunGate(t.Context(), tree, gate.QualityGate{Name: "direct", Args: []string{"no-such-tool"}, Format: "exit"})
	if err != nil || e.State != nexus.Environmental || !strings.Contains(e.Why, "no-such-tool") || !strings.Contains(e.Findings[0].Advice, "Install no-such-tool") {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestHangingTestIsNamed(t *testing.T) {
	tree := files(t, map[string]string{"go.mod": goMod, "m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestHang(t *testing.T) {\n\tselect {}\n}\n"})
	r := runner(t, sandbox.ModeOff)
	g := gatesOf(t, tree, config.GateSettings{})[2]
	if _, err := r.RunGate(t.Context(), tree, gate.QualityGate{Name: "compile", Args: []string{"go", "test", "-run=^$", "./..."}, Format: "exit"}); err != nil {
		t.Fatal(err) // so that the time below is the test's own
	}
	g.Args = append([]string{"go", "test", "-timeout=300ms"}, g.Args[2:]...)
	e, err := r.RunGate(t.Context(), tree, g)
	if err != nil {
		t.Fatal(err)
	}
	if e.State != nexus.Fail || len(e.Findings) != 1 || e.Findings[0].Code != "timeout" || e.Findings[0].Test != "example.org/m.TestHang" || e.Findings[0].File != "m_test.go" {
		t.Errorf("%s %+v", e.State, e.Findings)
	}
}

func TestAStoppedPassIsNoVerdict(t *testing.T) {
	tree := files(t, nil)
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("somebody asked")
	stop(cause)
	v, err := runner(t, sandbox.ModeOff).RunAll(ctx, tree, []gate.QualityGate{{Name: "x", Args: []string{"true"}, Format: "exit"}}, nil)
	if !errors.Is(err, cause) || v.Passed {
		t.Errorf("verdict %+v, error %v", v, err)
	}
}

func TestACriterionWithoutItsTestIsNotMet(t *testing.T) {
	tree := files(t, map[string]string{"go.mod": goMod, "m.go": code, "m_test.go": countTests})
	g, _ := detect.CriterionGate(nexus.Criterion{Check: "go test -run TestNotWritten ./..."})
	v, err := runner(t, sandbox.ModeOff).RunAll(t.Context(), tree, []gate.QualityGate{g}, nil)
	if err != nil || v.Passed || v.Evidence[0].State != nexus.NotRun {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestCutOutputIsStillJudged has few lines, as long ones are looked at the
// fastest.
func TestCutOutputIsStillJudged(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "it looks through much, alone")
	tree := files(t, map[string]string{"m.sh": "yes \"$(printf '%030000d' 0 | tr 0 x) a long line of nothing much\" | head -c 70000000\necho\necho 'x.py:3:1: bad'\nexit 1\n"})
	e, err := runner(t, sandbox.ModeOff).RunGate(t.Context(), tree, gate.QualityGate{Name: "own", Args: []string{"sh", "m.sh"}, Format: "exit"})
	if err != nil {
		t.Fatal(err)
	}
	if e.State != nexus.Fail || len(e.Findings) != 1 || e.Findings[0].File != "x.py" || !strings.Contains(e.Why, "cut") {
		t.Errorf("%s %q %+v", e.State, e.Why, e.Findings)
	}
}

// TestTheEvidenceNamesTheGatesCommand lets callers find known evidence by
// comparing commands, whatever the time limit adds to what is run.
func TestTheEvidenceNamesTheGatesCommand(t *testing.T) {
	tree := files(t, map[string]string{"go.mod": goMod})
	r := runner(t, sandbox.ModeOff)
	for _, g := range gatesOf(t, tree, config.GateSettings{}) {
		e, err := r.RunGate(t.Context(), tree, g)
		if err != nil || e.Command != g.Command() {
			t.Errorf("%q, want %q (%v)", e.Command, g.Command(), err)
		}
	}
}

// TestJudgedOnce runs tests that are known of a tree once more only for a
// command that fails without them, and takes over what was measured.
func TestJudgedOnce(t *testing.T) {
	tree := files(t, map[string]string{"a.txt": "a\n"})
	count := filepath.Join(t.TempDir(), "count")
	shell := func(name, line string) gate.QualityGate {
		return gate.QualityGate{Name: name, Args: []string{"sh", "-c", line}, Format: "exit"}
	}
	test := shell("test", fmt.Sprintf("echo test >>%s; echo made >left.txt; echo '  1 passing (1ms)'", count))
	test.Tests = true
	cover := shell("coverage: test", "echo cover >>"+count)
	cover.Again = "test"
	r := runner(t, sandbox.ModeOff)
	known := func(_, name string) (nexus.GateEvidence, bool) {
		e := nexus.GateEvidence{Gate: name, State: nexus.Pass, Tree: tree.Hash, Command: test.Command(), Exit: 0}
		if name == cover.Name {
			e.Command, e.Why = cover.Command(), "83.3% of 12 lines"
		}
		return e, name == test.Name || name == cover.Name
	}
	for _, c := range []struct{ name, command, ran string }{
		{"needs nothing", "true", ""},
		{"needs what tests leave", "test -f left.txt", "test\n"},
	} {
		_ = os.Remove(count)
		_ = os.Remove(filepath.Join(tree.Dir, "left.txt"))
		v, err := r.RunAll(t.Context(), tree, []gate.QualityGate{test, cover, shell("accept: x", c.command)}, known)
		ran, _ := os.ReadFile(count)
		if err != nil || !v.Passed || string(ran) != c.ran {
			t.Errorf("%s: %+v, %v; it ran %q, want %q", c.name, v, err, ran, c.ran)
		}
	}
}

// TestEachCriterionJudges lets criteria judge after one that is red where each
// is asked for, and makes what they need of a known gate once for all; a
// criterion that is known is not run for another.
func TestEachCriterionJudges(t *testing.T) {
	tree := files(t, map[string]string{"a.txt": "a\n"})
	count := filepath.Join(t.TempDir(), "count")
	shell := func(name, line string) gate.QualityGate {
		return gate.QualityGate{Name: name, Args: []string{"sh", "-c", "echo " + name + " >>" + count + "; " + line}, Format: "exit"}
	}
	gates := []gate.QualityGate{shell("build", "true"), shell(nexus.AcceptGate+"known", "true"), shell(nexus.AcceptGate+"red", "false"), shell(nexus.AcceptGate+"green", "true")}
	known := func(_, name string) (nexus.GateEvidence, bool) {
		i := slices.IndexFunc(gates[:2], func(g gate.QualityGate) bool { return g.Name == name })
		if i < 0 {
			return nexus.GateEvidence{}, false
		}
		return nexus.GateEvidence{Gate: name, State: nexus.Pass, Tree: tree.Hash, Command: gates[i].Command()}, true
	}
	r := runner(t, sandbox.ModeOff)
	for _, c := range []struct {
		each   bool
		judged int
		ran    string
	}{
		{false, 3, "build\naccept: red\n"},
		{true, 4, "build\naccept: red\naccept: green\n"},
	} {
		_ = os.Remove(count)
		r.Each = c.each
		v, err := r.RunAll(t.Context(), tree, gates, known)
		ran, _ := os.ReadFile(count)
		if err != nil || v.Passed || v.Why == "" || len(v.Evidence) != c.judged || string(ran) != c.ran {
			t.Errorf("each %v: %+v, %v; it ran %q, want %q", c.each, v, err, ran, c.ran)
		}
	}
}
