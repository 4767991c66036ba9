package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/bench"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acptest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestMain lets twice as many stories be played at once as there are
// processors, if nobody says otherwise: they wait half of their time.
//
// It plays the scripted agent, too, where the environment says so.
func TestMain(m *testing.M) {
	if acptest.RunIfAgentProcess() {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"nexus": storyMain, "nexus-bench": benchMain, "mcpclient": mcpClient, "acpclient": acpClient})
}

func benchMain() {
	os.Exit(bench.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// TestScripts tells what users do, one story a file. Each has a home, a state
// directory and an identity of its own, and no provider; where it has a file
// model.yaml, a model plays that. What tests run is measured only where
// a story sets NEXUS_DONE_COVERAGE to nothing: it runs them twice more.
func TestScripts(t *testing.T) {
	warm(t)
	t.Parallel()
	tell(t, stories(t))
}

// TestToolchains tells the stories whose subject are real toolchains, Go's among
// them, tests that hang, and what takes very many builds: make
// toolchains plays them.
func TestToolchains(t *testing.T) {
	testenv.NeedToolchains(t)
	files, err := filepath.Glob("testdata/toolchain/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	warm(t)
	t.Parallel()
	tell(t, files)
}

// TestBrowser tells the stories of the web pages that a browser plays: make browser plays them.
func TestBrowser(t *testing.T) {
	testenv.NeedBrowser(t)
	files, err := filepath.Glob("testdata/browser/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	warm(t)
	t.Parallel()
	tell(t, files)
}

// tell plays stories, with more variables, as NAME=value.
func tell(t *testing.T, files []string, vars ...string) {
	t.Helper()
	prepare := setup(t)
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, vars...)
			return prepare(e)
		},
		Cmds:      commands(),
		Condition: condition,
	})
}

// TestSoak leaves a loop that improves a repository alone with people who commit to it, and
// kills it now and then: for 20 minutes at night, or for NEXUS_SOAK seconds.
func TestSoak(t *testing.T) {
	seconds := os.Getenv("NEXUS_SOAK")
	if seconds == "" && testenv.RunsNightly() {
		seconds = "1200"
	}
	if seconds == "" {
		t.Skip("it takes 20 minutes; NEXUS_SOAK=60 lets it take one")
	}
	testenv.SkipUnderRaceDetector(t, "it measures the memory of the program as it is")
	t.Parallel()
	tell(t, []string{"testdata/soak/improve.txtar"}, "SOAK="+seconds)
}

// warm puts what gates build of the standard library into the user's build
// cache, once. Each run has a cache of its own that only reads the user's, so
// that without it each story would build the same again.
func warm(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/warm\n\ngo 1.25\n",
		"m.go": `package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() { fmt.Println(io.EOF, errors.New(strings.ToUpper(os.Args[0])), time.Second) }
`,
		"m_test.go": "package main\n\nimport \"testing\"\n\nfunc TestMain(m *testing.M) { m.Run() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"build", "-o", os.DevNull, "."}, {"vet", "."}, {"test", "."}, {"test", "-coverprofile=" + os.DevNull, "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off", "CGO_ENABLED=") // as gates have it
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
}

// stories returns the scripts to play. Under the race detector some are played
// of those in which many do something at once in one process, or somebody
// interrupts it, and at night all of these; without it, all are.
func stories(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) < 100 {
		t.Fatalf("%d stories, %v", len(all), err)
	}
	if !testenv.IsRaceEnabled() {
		return all
	}
	crowded := []string{"acp-steer", "agent-jobs", "mcp-run", "mcp-steer", "run-budget-shared", "run-conflict", "steer-interrupt"}
	if testenv.RunsNightly() {
		crowded = append(crowded, "channels", "network-run", "record-parallel", "run", "run-land", "run-personas", "run-scouts", "run-split", "steer-pause-resume")
	}
	played := slices.DeleteFunc(slices.Clone(all), func(file string) bool {
		return !slices.Contains(crowded, strings.TrimSuffix(filepath.Base(file), ".txtar"))
	})
	if len(played) != len(crowded) {
		t.Fatalf("%d of %d stories are there", len(played), len(crowded))
	}
	return played
}

func setup(t *testing.T) func(*testscript.Env) error {
	t.Helper()
	modules, caches := os.Getenv("GOMODCACHE"), os.Getenv("GOCACHE")
	if home, err := os.UserCacheDir(); err == nil && caches == "" {
		caches = filepath.Join(home, "go-build")
	}
	return func(e *testscript.Env) error {
		if err := stageSetup(t, e); err != nil {
			return err
		}
		home := filepath.Join(e.WorkDir, "home")
		agent, err := os.Executable() // plays a scripted agent, see acptest
		if err != nil {
			return err
		}
		if real, err := os.UserHomeDir(); err == nil { // the toolchains of Rust lie there
			e.Vars = append(e.Vars, "RUSTUP_HOME="+cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(real, ".rustup")))
		}
		e.Vars = append(e.Vars,
			"XDG_CACHE_HOME="+e.WorkDir+"-cache", // a cache within the tree would be judged with it
			"HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
			"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
			"GIT_CONFIG_NOSYSTEM=1", "LANG=C.UTF-8", "USER=ada", "GOGC=400", "GOMODCACHE="+modules, "GOCACHE="+caches, "GOFLAGS=",
			"NEXUS_DONE_COVERAGE=off", "NEXUS_UI_WATCH=never", "ACP_AGENT="+agent,
			"NEXUS_ACCEPTANCE_INDEPENDENT=off", // who scripts a model scripts each of its conversations
		)
		if err := os.MkdirAll(home, 0o700); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(e.WorkDir, "model.yaml"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		script, err := llmtest.ParseScript(data)
		if err != nil {
			return err
		}
		server, stop, err := llmtest.StartServer(t.Context(), script, llmtest.Options{Now: time.Now})
		if err != nil {
			return err
		}
		e.Defer(stop)
		e.Vars = append(e.Vars, "ANTHROPIC_API_KEY=scripted", "ANTHROPIC_BASE_URL="+server.URL())
		return nil
	}
}

// await waits until a file holds what the pattern says.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE PATTERN")
	}
	want := regexp.MustCompile(args[1])
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && want.Match(data) {
			return
		}
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Fatalf("%s never held %s: %s (%v)", args[0], args[1], bytes.TrimSpace(data), err)
}

// repository makes the directory a repository with everything committed.
func repository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repository DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(ts.Exec("git", "init", "--quiet", "--initial-branch=main", dir))
	ts.Check(ts.Exec("git", "-C", dir, "add", "--all"))
	ts.Check(ts.Exec("git", "-C", dir, "commit", "--quiet", "--allow-empty", "--message", "begin"))
}
