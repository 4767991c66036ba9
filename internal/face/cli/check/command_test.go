package check_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/check"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jailtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// user is somebody in a repository of one commit, which has gates of a shell.
type user struct {
	t         *testing.T
	dir, home string
	env       []string // beside what everybody has, which it wins over
	out, err  string   // of the last command
}

// TestMain lets the test binary be what confines commands.
func TestMain(m *testing.M) {
	if code, mine := jailtest.Main(os.Args, os.Stdout); mine {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == "gocache" {
		os.Exit(1) // what go builds with; these tests need nothing built
	}
	os.Exit(m.Run())
}

const gates = `[gates]
build = false
format = false
lint = "cat lint.sh >/dev/null; sh lint.sh"
`

func newUser(t *testing.T, files map[string]string) *user {
	t.Helper()
	u := &user{t: t, dir: t.TempDir(), home: t.TempDir()}
	all := map[string]string{"nexus.toml": gates, "lint.sh": "grep -Hn bad *.txt | sed 's/^\\([^:]*:[0-9]*\\):.*/\\1:1: bad word/'; ! grep -q bad *.txt\n", "a.txt": "good\n", ".gitignore": "ignored*\n"}
	for name, text := range files {
		all[name] = text
	}
	u.write(all)
	gittest.RunGit(t, u.dir, "init", "-q")
	gittest.RunGit(t, u.dir, "add", ".")
	gittest.RunGit(t, u.dir, "commit", "-q", "-m", "base")
	return u
}

func (u *user) write(files map[string]string) {
	u.t.Helper()
	gittest.WriteFiles(u.t, u.dir, files)
}

// app is what the user's commands are built of.
func (u *user) app() app.App {
	env := append(slices.Clone(u.env), "HOME="+u.home, "PATH="+os.Getenv("PATH"), "USER=somebody")
	if len(u.env) == 0 {
		env = append(env, "NEXUS_SANDBOX=off")
	}
	return app.App{
		Env: func(name string) string {
			for _, v := range env {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		},
		Environ: env, Now: time.Now, Mask: secret.New(nil), Dir: u.dir, Set: map[string]string{},
	}
}

// runs gives a command, and returns its exit code.
func (u *user) runs(args ...string) int {
	u.t.Helper()
	var out, errs bytes.Buffer
	a := console.New(strings.NewReader(""), &out, &errs, u.app())
	for _, c := range check.Commands(a) {
		if c.Name() != args[0] {
			continue
		}
		c.SetArgs(args[1:])
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		c.SilenceErrors, c.SilenceUsage = true, true
		err := c.ExecuteContext(u.t.Context())
		a.Fail(err)
		u.out, u.err = out.String(), errs.String()
		return console.ExitCode(u.t.Context(), err)
	}
	u.t.Fatalf("there is no command %s", args[0])
	return -1
}

// says fails unless a command ends with a code and says some things; what begins
// with ! it must not say.
func (u *user) says(code int, words []string, args ...string) {
	u.t.Helper()
	got := u.runs(args...)
	bad := got != code
	for _, w := range words {
		not, is := strings.CutPrefix(w, "!")
		if !is {
			not = w
		}
		bad = bad || strings.Contains(u.out+u.err, not) == is
	}
	if bad {
		u.t.Errorf("%q: exit %d, want %d and %q:\n%s%s", args, got, code, words, u.out, u.err)
	}
}

// status is what git says of the working tree, ignored files included.
func (u *user) status() string {
	u.t.Helper()
	return gittest.RunGit(u.t, u.dir, "status", "--short", "--ignored")
}

// TestCheck judges the working tree as it lies there, and leaves it so.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string // written after the commit
		code  int
		says  []string
		args  []string
	}{
		"as committed": {nil, 0, []string{"lint: pass", "passed"}, nil},
		"a new file is judged": {
			map[string]string{"b.txt": "good\nbad\n"}, 1, []string{"lint: fail", "b.txt:2:1: error: bad word"}, nil,
		},
		"what git ignores is judged, too": {
			map[string]string{"ignored.txt": "bad\n"}, 1, []string{"ignored.txt:1:1: error: bad word"}, nil,
		},
		"and against a base it is not there": {
			map[string]string{"ignored.txt": "bad\n"}, 0, []string{"lint: pass"}, []string{"--base", "HEAD"},
		},
		"what got worse since a base": {
			map[string]string{"a.txt": "bad\n"}, 1, []string{"a.txt:1:1: error: bad word", "lint at HEAD: pass"}, []string{"--base", "HEAD"},
		},
		"a gate that writes leaves no trace": {
			map[string]string{"lint.sh": "echo bad >a.txt; echo x >new; echo x >ignored; rm -f lint.sh; exit 0\n"}, 3, []string{"lint: unverifiable", "a.txt: warning: the gate changed this file", "lint.sh: warning", "!new: warning"}, nil,
		},
		"nor within walls": {
			map[string]string{"lint.sh": "test -e ignored.txt || exit 1; echo bad >a.txt; echo x >new; echo x >ignored; rm -f lint.sh; exit 0\n", "ignored.txt": "good\n"}, 3, []string{"lint: unverifiable", "a.txt: warning: the gate changed this file", "lint.sh: warning", "!new: warning", "!ignored: warning"}, nil,
		},
		"what a gate builds is there for the next, within walls": {
			map[string]string{"nexus.toml": "[gates]\nlint = \"test ! -e junk && echo x >ignored.out; echo x >junk; true\"\nformat = \"test -e ignored.out && test ! -e junk\"\ntest = false\nbuild = false\n"}, 0, []string{"lint: pass", "format: pass"}, nil,
		},
		"what got worse since a base, within walls": {
			map[string]string{"a.txt": "bad\n"}, 1, []string{"a.txt:1:1: error: bad word", "lint at HEAD: pass"}, []string{"--base", "HEAD"},
		},
		"against a base neither": {
			map[string]string{"lint.sh": "echo bad >a.txt; echo x >new; echo x >ignored; exit 0\n"}, 3, []string{"lint: unverifiable", "a.txt: warning: the gate changed this file", "!new: warning"}, []string{"--base", "HEAD", "--gates", "lint"},
		},
		"a base that is nowhere":  {nil, 2, []string{"nowhere"}, []string{"--base", "nowhere"}},
		"a reason without a base": {nil, 2, []string{"--explain needs --base"}, []string{"--explain", "so"}},
		"a shape that is none":    {nil, 2, []string{`unknown --format "xml"`}, []string{"--format", "xml"}},
		"a gate that is none":     {nil, 2, []string{`there is no gate "nowhere"`}, []string{"--gates", "nowhere"}},
		"a gate that is off": {
			map[string]string{"go.mod": "module m\n\ngo 1.24\n", "m.go": "package m\n"}, 2, []string{"The configuration turns it off"}, []string{"--gates", "build"},
		},
		"gates that are off, in the list": {
			map[string]string{"go.mod": "module m\n\ngo 1.24\n", "m.go": "package m\n"}, 0, []string{"build: off", "lint", "!format: off"}, []string{"--list"},
		},
		"the gates alone, in a list":    {map[string]string{"a.txt": "bad\n"}, 0, []string{"lint", "sh lint.sh", "!pass", "!fail"}, []string{"--list"}},
		"the gates of one tree":         {map[string]string{"a.txt": "bad\n"}, 0, []string{"lint: pass", "no run recorded a result for this tree"}, []string{"--tree", "HEAD", "--gates", "lint"}},
		"the gates of a tree, listed":   {map[string]string{"nexus.toml": gates + "tool = \"true\"\n"}, 0, []string{"lint", "!pass"}, []string{"--tree", "HEAD", "--list"}},
		"a tree that is nowhere":        {nil, 2, []string{"nowhere"}, []string{"--tree", "nowhere"}},
		"a file that cannot be written": {nil, 2, []string{"write the summary"}, []string{"--summary", "/nowhere/at/all.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, nil)
			if strings.Contains(name, "walls") {
				u.env = []string{"NEXUS_SANDBOX=auto"}
			}
			u.write(c.files)
			before := u.status()
			u.says(c.code, c.says, append([]string{"check"}, c.args...)...)
			if after := u.status(); after != before {
				t.Errorf("the working tree was %q and is %q", before, after)
			}
			for file, text := range c.files {
				if data, err := os.ReadFile(filepath.Join(u.dir, file)); err != nil || string(data) != text {
					t.Errorf("%s is %q, %v", file, data, err)
				}
			}
			if left, err := filepath.Glob(filepath.Join(u.home, ".cache/nexus/check/*/[bclmt]*-*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestCheckAgainstABase holds the tree to what was well there, with the tests of
// now beside the code of the base.
func TestCheckAgainstABase(t *testing.T) {
	t.Parallel()
	const test = `cat one 2>/dev/null | grep -q 1 && echo 'TAP version 13' && echo '1..1' && echo 'ok 1 - one' && exit 0; echo 'TAP version 13'; echo '1..1'; echo 'not ok 1 - one'; exit 1` + "\n"
	u := newUser(t, map[string]string{"a.txt": "bad\n", "nexus.toml": gates + "test = \"sh run_test.sh\"\n", "run_test.sh": "echo TAP version 13; echo 1..1; echo ok 1 - old\n"})
	u.write(map[string]string{"one": "1\n", "run_test.sh": test, "b.txt": "good\n"})
	u.says(0, []string{"lint at HEAD: fail", "lint: pass", "test at HEAD: pass", "test at HEAD, with the current tests: fail", "passed"}, "check", "--base", "HEAD", "--json", "--explain", "it is one now")
	var v struct {
		State string
		Tree  string
		Gates []struct {
			Gate, State, Tree string
		}
		Turned []struct {
			Gate  string
			Tests []any
		}
	}
	if err := json.Unmarshal([]byte(u.out), &v); err != nil {
		t.Fatal(err, u.out)
	}
	gittest.RunGit(t, u.dir, "add", ".")
	if want := strings.TrimSpace(gittest.RunGit(t, u.dir, "write-tree")); v.Tree != want || v.State != "pass" || len(v.Gates) == 0 || v.Gates[0].Tree != want {
		t.Errorf("%+v of tree %s", v, want)
	}
	if len(v.Turned) != 1 || v.Turned[0].Gate != "test" || len(v.Turned[0].Tests) != 1 {
		t.Errorf("turned: %+v", v.Turned)
	}
	u.write(map[string]string{"b.txt": "bad\n"})
	u.says(1, []string{"b.txt:1:1: error: bad word", "!a.txt:1:1: error"}, "check", "--base", "HEAD", "--gates", "lint")
}

// TestCheckStops at the first red gate where that is asked for, and says what it
// says in every shape.
func TestCheckStops(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"a.txt": "bad\n", "nexus.toml": gates + "tool = \"echo tool >>ran; true\"\n"})
	u.says(1, []string{"lint: fail", "tool: pass"}, "check")
	u.says(1, []string{"lint: fail", "!tool: pass"}, "check", "--stop")
	u.says(0, []string{"!lint: fail", "tool: pass"}, "check", "--gates", "tool", "--stop")
	summary := filepath.Join(u.home, "summary.md")
	for shape, want := range map[string]string{"junit": "<testsuite", "sarif": `"uri": "a.txt"`, "github": "::error file=a.txt,line=1", "json": `"state":`} {
		u.says(1, []string{want, "lint: fail"}, "check", "--"+shape, "--summary", summary)
		u.says(1, []string{want}, "check", "--format", shape)
	}
	if data, err := os.ReadFile(summary); err != nil || strings.Count(string(data), "| lint | fail |") != 4 {
		t.Errorf("%s, %v", data, err)
	}
}

// TestCheckFixes first what fixers can, in the working tree itself, and only in
// what changed.
func TestCheckFixes(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"go.mod": "module m\n\ngo 1.24\n", "m.go": "package m\n", "old.go": "package m\n\nvar  old = 1\n", "nexus.toml": "[gates]\nbuild = false\ntest = false\n"})
	u.write(map[string]string{"new.go": "package m\n\nvar  now = 1\n"})
	if u.runs("check", "--fix", "--gates", "lint"); !strings.Contains(u.err, "fixed: new.go by gofmt -w new.go") { // what go vet says then is another's
		t.Errorf("%s%s", u.out, u.err)
	}
	for file, want := range map[string]string{"new.go": "package m\n\nvar now = 1\n", "old.go": "package m\n\nvar  old = 1\n"} {
		if data, err := os.ReadFile(filepath.Join(u.dir, file)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}

// TestCheckPutsFaultsIn lines that are new, in a copy, and names those that no
// test notices.
func TestCheckPutsFaultsIn(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"big.py": "def old(n):\n    return n > 9\n", "nexus.toml": "[gates]\nbuild = false\nlint = false\nformat = false\ntest = \"sh gate.sh\"\n", "gate.sh": "sh run_test.sh\n", "run_test.sh": "true\n", "gone.txt": ""})
	if err := os.Remove(filepath.Join(u.dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	check := "grep -q 'n > 3' big.py || { echo TAP version 13; echo 1..1; echo not ok 1 - big; exit 1; }; echo TAP version 13; echo 1..1; echo ok 1 - big\n"
	u.write(map[string]string{"run_test.sh": check, "big.py": "def old(n):\n    return n > 9\n\n\ndef big(n):\n    return n > 3\n"})
	before := u.status()
	u.says(0, []string{"mutation: pass", "killed: big.py:6", "!big.py:2"}, "check", "--mutate", "--gates", "test")
	u.write(map[string]string{"run_test.sh": "echo TAP version 13; echo 1..1; echo ok 1 - big\n"})
	u.says(0, []string{"survived: big.py:6", "no test notices when", "!killed", "!big.py:2"}, "check", "--mutate", "--gates", "test")
	if u.status() != before {
		t.Errorf("%q, before %q", u.status(), before)
	}
	gittest.RunGit(t, u.dir, "commit", "-q", "-a", "-m", "more")
	u.says(0, []string{"no fault fits into the new lines"}, "check", "--mutate", "--gates", "test")
	u.says(0, []string{"survived: big.py:6"}, "check", "--mutate", "--gates", "test", "--base", "HEAD~1", "--explain", "so")
}

// TestCheckOutsideOfAnyRepository copies what lies there, but for what is lent.
func TestCheckOutsideOfAnyRepository(t *testing.T) {
	t.Parallel()
	u := &user{t: t, dir: t.TempDir(), home: t.TempDir()}
	u.write(map[string]string{"nexus.toml": gates, "sub/b.txt": "fine\n", "a.txt": "good\n", "node_modules/x/x.js": "", "lint.sh": "test -e sub/b.txt && test -e node_modules/x/x.js && echo bad >a.txt && rm sub/b.txt\n"})
	for range 2 {
		u.says(0, []string{"lint: pass"}, "check")
	}
	if _, err := os.Stat(filepath.Join(u.dir, "sub/b.txt")); err != nil {
		t.Error(err)
	}
	u.says(2, []string{"repository"}, "check", "--base", "HEAD")
}

// TestCheckOfATreeThatARunJudged says whether it is as the last of the runs
// recorded, of the gates and of what the run was asked for besides.
func TestCheckOfATreeThatARunJudged(t *testing.T) {
	t.Parallel()
	u := newUser(t, nil)
	a := u.app()
	p, err := a.OpenRepository(t.Context(), app.CreateAccess)
	if err != nil {
		t.Fatal(err)
	}
	tree := strings.TrimSpace(gittest.RunGit(t, u.dir, "rev-parse", "HEAD^{tree}"))
	record := func(run nexus.RunID, all ...nexus.Evidence) {
		t.Helper()
		l, err := p.Journal.Acquire(t.Context(), run, nexus.RunProcess{Host: "h", PID: 1}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if _, err := l.Append(t.Context(), nexus.GateJudged{Evidence: e}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lint := nexus.Evidence{Gate: "lint", Tree: tree, State: nexus.Pass, Command: "cat lint.sh >/dev/null; sh lint.sh"}
	red, elsewhere := lint, lint
	red.State, elsewhere.Tree, elsewhere.State = nexus.Fail, "another", nexus.Fail
	besides := nexus.Evidence{Gate: nexus.AcceptGate + "test -e a.txt", Tree: tree, State: nexus.Fail, Command: "test -e a.txt"}
	record("r1", red)
	record("r2", red, lint, elsewhere, besides)
	p.Close()
	u.says(1, []string{"lint: the same as run r2 recorded", "accept: test -e a.txt: not as run r2 recorded: state fail, now pass"}, "check", "--tree", "HEAD")
	u.says(0, []string{`"same": true`, `"run": "r2"`, "!accept"}, "check", "--tree", tree, "--gates", "lint", "--json")
	u.write(map[string]string{"a.txt": "bad\n"})
	u.says(0, []string{"lint: the same as run r2 recorded"}, "check", "--tree", "HEAD", "--gates", "lint")
	gittest.RunGit(t, u.dir, "commit", "-q", "-a", "-m", "worse")
	u.says(1, []string{"lint: fail", "lint: no run recorded a result for this tree"}, "check", "--tree", "HEAD")
}

// TestCheckBounds holds a change since a base to the definition of done, and
// nothing else: not the working tree as it is, nor where gates were asked for.
func TestCheckBounds(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"old.txt": "good\n"})
	gittest.RunGit(t, u.dir, "rm", "-q", "old.txt")
	u.write(map[string]string{"app.env": "TOKEN=x\n", "run.py": "import subprocess\n\n\nsubprocess.run(line, shell=True)\n"})
	u.says(1, []string{"done: env-files: fail", "done: sinks: pass", "old.txt", "lint: pass"}, "check", "--base", "HEAD")
	u.says(1, []string{"done: env-files: fail", "!lint: pass"}, "check", "--base", "HEAD", "--gates", "done")
	u.says(0, []string{"lint: pass", "!done: env-files"}, "check", "--base", "HEAD", "--gates", "lint")
	u.says(0, []string{"lint: pass", "!done: env-files"}, "check")
	u.says(0, []string{"lint: pass", "!done: env-files"}, "check", "--coverage")
	if err := os.Remove(filepath.Join(u.dir, "app.env")); err != nil {
		t.Fatal(err)
	}
	u.says(0, []string{"done: pass", "!done: env-files"}, "check", "--base", "HEAD", "--gates", "done")
}

// TestParse reads what a tool printed.
func TestParse(t *testing.T) {
	t.Parallel()
	u := &user{t: t, dir: t.TempDir(), home: t.TempDir()}
	u.write(map[string]string{"go.txt": "# m\n./a.go:3:2: undefined: x\n", "tap.txt": "1..2\nok 1 - a\nnot ok 2 - b\n", "err.txt": "./b.go:4:1: undefined: y\n"})
	path := func(name string) string { return filepath.Join(u.dir, name) }
	for _, c := range []struct {
		code int
		says []string
		args []string
	}{
		{0, []string{`"file": "a.go"`, `"line": 3`, `"state": "fail"`, `"severity": "major"`}, []string{"go-build", path("go.txt"), "--exit", "1"}},
		{0, []string{`"format": "tap"`, `"passed": 1`, `"failed": 1`, `"counted": true`, `"state": "fail"`}, []string{"auto", path("tap.txt")}},
		{0, []string{`"format": "tap"`}, []string{path("tap.txt")}},
		{2, []string{`there is no format "nothing"`}, []string{"nothing", path("tap.txt")}},
		{2, []string{`there is no format`}, []string{path("gone.txt")}},
		{2, []string{"read the output"}, []string{"tap", path("gone.txt")}},
		{2, []string{"unknown --format"}, []string{"tap", path("tap.txt"), "--format", "xml"}},
		{0, []string{`"file": "b.go"`}, []string{"go-build", path("go.txt"), "--exit", "1", "--stderr", path("err.txt")}},
		{0, []string{"tap", "whose output"}, []string{"--list"}},
		{0, []string{"::error"}, []string{"tap", path("tap.txt"), "--format", "github"}},
		{0, []string{`"state": "pass"`}, []string{"exit", "-", "--exit", "0"}},
		{0, []string{`"state": "fail"`}, []string{"exit", "-", "--exit", "1"}},
		{0, []string{`"state": "unverifiable"`}, []string{"tap", "-", "--exit", "0", "--tests"}},
	} {
		u.says(c.code, c.says, append([]string{"parse"}, c.args...)...)
	}
}

// TestReview lets a model read each change that somebody names, as it stands,
// and another where one could not be read.
func TestReview(t *testing.T) {
	t.Parallel()
	script, err := llmtest.Parse([]byte(`conversations:
  - match: review.1/reviewer.1
    turns:
      - expect: ["+bad", "Review the uncommitted changes"]
        calls:
          - tool: finish
            input: {approved: false, summary: It is bad., findings: [{severity: major, category: correctness, file: a.txt, line: 1, quote: bad, message: a bad word}, {severity: critical, file: gone.txt, line: 3, message: nobody sees it}]}
  - match: review.1/reviewer.1-tests
    turns:
      - expect: ["+bad", "The commits say of themselves", "- Worse"]
        say: I have nothing to say.
  - match: review.1/reviewer.2-tests
    turns:
      - expect: ["+bad"]
        calls: [{tool: finish, input: {approved: true, summary: Fine., findings: []}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	server, err := llmtest.New(script, llmtest.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	u := newUser(t, nil)
	u.env = []string{"NEXUS_SANDBOX=off", "ANTHROPIC_API_KEY=scripted", "ANTHROPIC_BASE_URL=" + web.URL}
	u.write(map[string]string{"a.txt": "bad\n"})
	u.says(1, []string{"review: fail", "a.txt:1: error: a bad word", "gone.txt:3: note: nobody sees it (not verified", "1 reader, 2 findings, $"}, "review")
	gittest.RunGit(t, u.dir, "commit", "-q", "-a", "-m", "Worse")
	u.write(map[string]string{"a.txt": "good\n"})
	u.says(0, []string{`"state": "pass"`, `"session": "review.1/reviewer.2-tests"`, `"approved": true`, "the reviewer could not be asked"}, "review", "HEAD~1..HEAD", "--persona", "tests", "--json")
	u.write(map[string]string{"a.txt": strings.Repeat("a line of a text that nobody reads\n", 80_000)})
	u.says(5, []string{"review: unverifiable", "not reviewed: the change has"}, "review", "HEAD")
}

// TestReviewOfNothing asks no model.
func TestReviewOfNothing(t *testing.T) {
	t.Parallel()
	u := newUser(t, nil)
	for _, args := range [][]string{nil, {"HEAD"}, {"HEAD..HEAD"}, {"--staged"}, {"--base", "HEAD"}} {
		u.says(2, []string{"nothing to review"}, append([]string{"review"}, args...)...)
	}
	u.says(2, []string{"give only one of"}, "review", "HEAD", "--staged")
	u.says(2, []string{"persona"}, "review", "--persona", "nobody")
	u.says(2, []string{"nowhere"}, "review", "nowhere")
}
