package checkcmd_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/syscalltest"
)

// TestMain lets the test binary be what confines commands.
func TestMain(m *testing.M) {
	if code, mine := syscalltest.RunCallFromArgs(os.Args, os.Stdout); mine {
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

func command(c *console.Console) *cobra.Command { return checkcmd.New(c, nil) }

// newUser returns a user in a repository of one commit, which has gates of a shell.
func newUser(t *testing.T, files map[string]string) *clitest.User {
	t.Helper()
	all := map[string]string{"nexus.toml": gates, "lint.sh": "grep -Hn bad *.txt | sed 's/^\\([^:]*:[0-9]*\\):.*/\\1:1: bad word/'; ! grep -q bad *.txt\n", ".gitignore": "ignored*\n"}
	maps.Copy(all, files)
	return clitest.NewUser(t, all)
}

// status is what git says of the working tree, ignored files included.
func status(t *testing.T, u *clitest.User) string {
	t.Helper()
	return gittest.RunGit(t, u.Dir, "status", "--short", "--ignored")
}

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, checkcmd.New, map[string]*checkcmd.Options{
		"":                                   {Format: "text"},
		"--gates build,type --stop --json":   {Gates: []string{"build", "type"}, Stop: true, Format: "json"},
		"--base main --explain so --rerun 3": {Base: "main", Explain: "so", Rerun: 3, Format: "text"},
		"--sarif --summary s.md --mutate":    {Format: "sarif", Summary: "s.md", Mutate: true},
		"--task T1 --run abc --gates test":   {Task: "T1", Run: "abc", Gates: []string{"test"}, Format: "text"},
		"--tree HEAD --list --format github": {Tree: "HEAD", List: true, Format: "github"},
		"--fix --related --coverage --junit": {Fix: true, Related: true, Coverage: true, Format: "junit"},
		"--explain so":                       nil,
		"--run abc":                          nil,
		"--tree HEAD --task T1":              nil,
		"--tree HEAD --stop":                 nil,
		"--task T1 --base main":              nil,
		"--format xml":                       nil,
		"--junit --sarif":                    nil,
		"--rerun -1":                         nil,
		"lint":                               nil,
	})
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
				u.Env["NEXUS_SANDBOX"] = "auto"
			}
			u.Write(c.files)
			before := status(t, u)
			u.Expect(c.code, c.says, command, c.args...)
			if after := status(t, u); after != before {
				t.Errorf("the working tree was %q and is %q", before, after)
			}
			for file, text := range c.files {
				if data, err := os.ReadFile(filepath.Join(u.Dir, file)); err != nil || string(data) != text {
					t.Errorf("%s is %q, %v", file, data, err)
				}
			}
			if left, err := filepath.Glob(filepath.Join(u.Home, ".cache/nexus/check/*/[bclmt]*-*")); err != nil || len(left) > 0 {
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
	u.Write(map[string]string{"one": "1\n", "run_test.sh": test, "b.txt": "good\n"})
	u.Expect(0, []string{"lint at HEAD: fail", "lint: pass", "test at HEAD: pass", "test at HEAD, with the current tests: fail", "passed"}, command, "--base", "HEAD", "--json", "--explain", "it is one now")
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
	if err := json.Unmarshal([]byte(u.Out), &v); err != nil {
		t.Fatal(err, u.Out)
	}
	gittest.RunGit(t, u.Dir, "add", ".")
	if want := strings.TrimSpace(gittest.RunGit(t, u.Dir, "write-tree")); v.Tree != want || v.State != "pass" || len(v.Gates) == 0 || v.Gates[0].Tree != want {
		t.Errorf("%+v of tree %s", v, want)
	}
	if len(v.Turned) != 1 || v.Turned[0].Gate != "test" || len(v.Turned[0].Tests) != 1 {
		t.Errorf("turned: %+v", v.Turned)
	}
	u.Write(map[string]string{"b.txt": "bad\n"})
	u.Expect(1, []string{"b.txt:1:1: error: bad word", "!a.txt:1:1: error"}, command, "--base", "HEAD", "--gates", "lint")
}

// TestCheckStops at the first red gate where that is asked for, and says what it
// says in every shape.
func TestCheckStops(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"a.txt": "bad\n", "nexus.toml": gates + "tool = \"echo tool >>ran; true\"\n"})
	u.Expect(1, []string{"lint: fail", "tool: pass"}, command)
	u.Expect(1, []string{"lint: fail", "!tool: pass"}, command, "--stop")
	u.Expect(0, []string{"!lint: fail", "tool: pass"}, command, "--gates", "tool", "--stop")
	summary := filepath.Join(u.Home, "summary.md")
	for shape, want := range map[string]string{"junit": "<testsuite", "sarif": `"uri": "a.txt"`, "github": "::error file=a.txt,line=1", "json": `"state":`} {
		u.Expect(1, []string{want, "lint: fail"}, command, "--"+shape, "--summary", summary)
		u.Expect(1, []string{want}, command, "--format", shape)
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
	u.Write(map[string]string{"new.go": "package m\n\nvar  now = 1\n"})
	if u.Run(command, "--fix", "--gates", "lint"); !strings.Contains(u.Err, "fixed: new.go by gofmt -w new.go") { // what go vet says then is another's
		t.Errorf("%s%s", u.Out, u.Err)
	}
	for file, want := range map[string]string{"new.go": "package m\n\nvar now = 1\n", "old.go": "package m\n\nvar  old = 1\n"} {
		if data, err := os.ReadFile(filepath.Join(u.Dir, file)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}

// TestCheckPutsFaultsIn lines that are new, in a copy, and names those that no
// test notices.
func TestCheckPutsFaultsIn(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"big.py": "def old(n):\n    return n > 9\n", "nexus.toml": "[gates]\nbuild = false\nlint = false\nformat = false\ntest = \"sh gate.sh\"\n", "gate.sh": "sh run_test.sh\n", "run_test.sh": "true\n", "gone.txt": ""})
	if err := os.Remove(filepath.Join(u.Dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	check := "grep -q 'n > 3' big.py || { echo TAP version 13; echo 1..1; echo not ok 1 - big; exit 1; }; echo TAP version 13; echo 1..1; echo ok 1 - big\n"
	u.Write(map[string]string{"run_test.sh": check, "big.py": "def old(n):\n    return n > 9\n\n\ndef big(n):\n    return n > 3\n"})
	before := status(t, u)
	u.Expect(0, []string{"mutation: pass", "killed: big.py:6", "!big.py:2"}, command, "--mutate", "--gates", "test")
	u.Write(map[string]string{"run_test.sh": "echo TAP version 13; echo 1..1; echo ok 1 - big\n"})
	u.Expect(0, []string{"survived: big.py:6", "no test notices when", "!killed", "!big.py:2"}, command, "--mutate", "--gates", "test")
	if status(t, u) != before {
		t.Errorf("%q, before %q", status(t, u), before)
	}
	gittest.RunGit(t, u.Dir, "commit", "-q", "-a", "-m", "more")
	u.Expect(0, []string{"no fault fits into the new lines"}, command, "--mutate", "--gates", "test")
	u.Expect(0, []string{"survived: big.py:6"}, command, "--mutate", "--gates", "test", "--base", "HEAD~1", "--explain", "so")
}

// TestCheckOutsideOfAnyRepository copies what lies there, but for what is lent.
func TestCheckOutsideOfAnyRepository(t *testing.T) {
	t.Parallel()
	u := clitest.NewUser(t, nil)
	u.Dir = t.TempDir()
	u.Write(map[string]string{"nexus.toml": gates, "sub/b.txt": "fine\n", "a.txt": "good\n", "node_modules/x/x.js": "", "lint.sh": "test -e sub/b.txt && test -e node_modules/x/x.js && echo bad >a.txt && rm sub/b.txt\n"})
	for range 2 {
		u.Expect(0, []string{"lint: pass"}, command)
	}
	if _, err := os.Stat(filepath.Join(u.Dir, "sub/b.txt")); err != nil {
		t.Error(err)
	}
	u.Expect(2, []string{"repository"}, command, "--base", "HEAD")
}

// TestCheckOfATreeThatARunJudged says whether it is as the last of the runs
// recorded, of the gates and of what the run was asked for besides.
func TestCheckOfATreeThatARunJudged(t *testing.T) {
	t.Parallel()
	u := newUser(t, nil)
	tree := strings.TrimSpace(gittest.RunGit(t, u.Dir, "rev-parse", "HEAD^{tree}"))
	record := func(run nexus.RunID, all ...nexus.GateEvidence) {
		t.Helper()
		facts := make([]nexus.Fact, len(all))
		for i, e := range all {
			facts[i] = nexus.GateJudged{Evidence: e}
		}
		u.RecordFacts(run, facts...)
	}
	lint := nexus.GateEvidence{Gate: "lint", Tree: tree, State: nexus.Pass, Command: "cat lint.sh >/dev/null; sh lint.sh"}
	red, elsewhere := lint, lint
	red.State, elsewhere.Tree, elsewhere.State = nexus.Fail, "another", nexus.Fail
	besides := nexus.GateEvidence{Gate: nexus.AcceptGate + "test -e a.txt", Tree: tree, State: nexus.Fail, Command: "test -e a.txt"}
	record("r1", red)
	record("r2", red, lint, elsewhere, besides)
	u.Expect(1, []string{"lint: the same as run r2 recorded", "accept: test -e a.txt: not as run r2 recorded: state fail, now pass"}, command, "--tree", "HEAD")
	u.Expect(0, []string{`"same": true`, `"run": "r2"`, "!accept"}, command, "--tree", tree, "--gates", "lint", "--json")
	u.Write(map[string]string{"a.txt": "bad\n"})
	u.Expect(0, []string{"lint: the same as run r2 recorded"}, command, "--tree", "HEAD", "--gates", "lint")
	gittest.RunGit(t, u.Dir, "commit", "-q", "-a", "-m", "worse")
	u.Expect(1, []string{"lint: fail", "lint: no run recorded a result for this tree"}, command, "--tree", "HEAD")
}

// TestCheckBounds holds a change since a base to the definition of done, and
// nothing else: not the working tree as it is, nor where gates were asked for.
func TestCheckBounds(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"old.txt": "good\n"})
	gittest.RunGit(t, u.Dir, "rm", "-q", "old.txt")
	u.Write(map[string]string{"app.env": "TOKEN=x\n", "run.py": "import subprocess\n\n\nsubprocess.run(line, shell=True)\n"})
	u.Expect(1, []string{"done: env-files: fail", "done: sinks: pass", "old.txt", "lint: pass"}, command, "--base", "HEAD")
	u.Expect(1, []string{"done: env-files: fail", "!lint: pass"}, command, "--base", "HEAD", "--gates", "done")
	u.Expect(0, []string{"lint: pass", "!done: env-files"}, command, "--base", "HEAD", "--gates", "lint")
	u.Expect(0, []string{"lint: pass", "!done: env-files"}, command)
	u.Expect(0, []string{"lint: pass", "!done: env-files"}, command, "--coverage")
	if err := os.Remove(filepath.Join(u.Dir, "app.env")); err != nil {
		t.Fatal(err)
	}
	u.Expect(0, []string{"done: pass", "!done: env-files"}, command, "--base", "HEAD", "--gates", "done")
}

// TestCheckFindsSecrets holds that a secret in a change is found, wherever the change is: not staged, staged,
// committed, or on a branch; and that what was there before is not the change.
func TestCheckFindsSecrets(t *testing.T) {
	key := "ghp_" + "x7Qm2LkVt9RbWc4NzYp8JdHs6FgTe1AuXoK3" // made up
	found := []string{"secrets: fail", "key.txt:2", "looks like a secret: ", "!" + key}
	none := []string{"!secrets", "lint: pass"}
	write := func(u *clitest.User) { u.Write(map[string]string{"key.txt": "token:\n" + key + "\n"}) }
	commit := func(u *clitest.User, args ...string) {
		gittest.RunGit(t, u.Dir, "add", "--all")
		gittest.RunGit(t, u.Dir, append([]string{"commit", "--quiet", "--allow-empty", "--message", "change"}, args...)...)
	}
	for name, c := range map[string]struct {
		prepare func(u *clitest.User)
		code    int
		says    []string
		args    []string
	}{
		"new file":             {write, 1, found, nil},
		"staged":               {func(u *clitest.User) { write(u); gittest.RunGit(t, u.Dir, "add", "--all") }, 1, found, nil},
		"committed":            {func(u *clitest.User) { write(u); commit(u) }, 1, found, nil},
		"in the first commit":  {func(u *clitest.User) { write(u); commit(u, "--amend") }, 1, found, nil},
		"in its own directory": {func(u *clitest.User) { u.Write(map[string]string{"a/b/.env": "TOKEN=" + key + "\n"}) }, 1, []string{"secrets: fail", "a/b/.env:1"}, nil},
		"on a branch, with commits since": {func(u *clitest.User) {
			gittest.RunGit(t, u.Dir, "switch", "--quiet", "--create", "topic")
			write(u)
			commit(u)
			commit(u)
		}, 1, found, nil},
		"on the default branch, long ago": {func(u *clitest.User) { write(u); commit(u); commit(u) }, 0, none, nil},
		"since a base":                    {func(u *clitest.User) { write(u); commit(u); commit(u) }, 1, found, []string{"--base", "HEAD~2"}},
		"before a base":                   {func(u *clitest.User) { write(u); commit(u); commit(u) }, 0, none, []string{"--base", "HEAD~1"}},
		"alone":                           {write, 1, append([]string{"!lint"}, found...), []string{"--gates", "secrets"}},
		"alone, and there is none":        {func(*clitest.User) {}, 0, []string{"secrets: pass", "!lint"}, []string{"--gates", "secrets"}},
		"another gate alone":              {write, 0, none, []string{"--gates", "lint"}},
		"turned off":                      {func(u *clitest.User) { write(u); u.Write(map[string]string{"nexus.toml": gates + "secrets = false\n"}) }, 0, none, nil},
		"turned off, and named":           {func(u *clitest.User) { write(u); u.Write(map[string]string{"nexus.toml": gates + "secrets = false\n"}) }, 2, []string{"The configuration turns it off"}, []string{"--gates", "secrets"}},
		"a command of the project's own": {func(u *clitest.User) {
			write(u)
			u.Write(map[string]string{"nexus.toml": gates + "secrets = \"true\"\n"})
		}, 1, append([]string{"secrets: pass", "lint: pass"}, found...), nil},
		"no repository": {func(u *clitest.User) { write(u); _ = os.RemoveAll(filepath.Join(u.Dir, ".git")) }, 3, []string{"secrets: not-run", "git repository"}, []string{"--gates", "secrets"}},
		"in the list":   {write, 0, []string{"secrets", "look for secrets", "!fail"}, []string{"--list"}},
		"a shallow clone": {func(u *clitest.User) {
			write(u)
			commit(u)
			gittest.RunGit(t, u.Dir, "clone", "--quiet", "--depth=1", "file://"+u.Dir, "ignored-clone")
			u.Dir = filepath.Join(u.Dir, "ignored-clone")
		}, 0, none, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, nil)
			c.prepare(u)
			u.Expect(c.code, c.says, command, c.args...)
		})
	}
}
