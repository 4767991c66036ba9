package plugin_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

const examples = "../../../examples/plugins"

// tsc is where make deps installs the compiler.
const tsc = "/usr/local/lib/nexus-tools/node_modules/.bin/tsc"

func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// inGo builds the example in Go.
func inGo(t *testing.T) plugin.DeclaredPlugin {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "todo-go")
	run(t, "go", "build", "-o", exe, examples+"/todo-go")
	return plugin.DeclaredPlugin{Name: "todo", Own: true, PluginSettings: config.PluginSettings{Command: exe, Kinds: []string{"router", "reviewer", "discovery"}}}
}

// inTypeScript returns the example in TypeScript as node runs it: as it is, or
// built where that node is too old to leave the types out.
func inTypeScript(t *testing.T) plugin.DeclaredPlugin {
	t.Helper()
	testenv.NeedTool(t, "node")
	file, err := filepath.Abs(examples + "/notes-ts/plugin.mts")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`^v(\d+)\.(\d+)`).FindStringSubmatch(run(t, "node", "--version"))
	if version == nil {
		t.Fatal("node has no version")
	}
	major, _ := strconv.Atoi(version[1])
	minor, _ := strconv.Atoi(version[2])
	if major < 22 || major == 22 && minor < 18 || major == 23 && minor < 6 {
		testenv.NeedTool(t, tsc)
		dir := t.TempDir()
		run(t, tsc, "--noCheck", "--target", "es2022", "--module", "nodenext", "--outDir", dir, file)
		file = filepath.Join(dir, "plugin.mjs")
	}
	return plugin.DeclaredPlugin{Name: "notes", Own: true, PluginSettings: config.PluginSettings{Command: "node", Args: []string{file}, Kinds: []string{"context", "reporter"}}}
}

// boxed runs plugins as a run does: in the sandbox, where there is one.
func boxed(t *testing.T) *usercmd.UserCommandRunner {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	if err != nil {
		testenv.NeedMachine(t, "a sandbox", err)
	}
	return &usercmd.UserCommandRunner{Box: box, Unboxed: box, Dir: t.TempDir(), State: t.TempDir(), Env: os.Getenv, Trust: trust.OpenStore(t.TempDir()), Mark: "test/plugin"}
}

// TestExamplesConform holds the examples to all that Nexus relies on.
func TestExamplesConform(t *testing.T) {
	for _, make := range []func(*testing.T) plugin.DeclaredPlugin{inGo, inTypeScript} {
		p := make(t)
		all, err := p.CheckConformance(t.Context(), boxed(t), time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
		if err != nil || len(all) != 4+len(p.Kinds) {
			t.Fatal(err, all)
		}
		for _, c := range all {
			if !c.OK {
				t.Errorf("%s: %s: %s", p.Name, c.Name, c.Detail)
			}
		}
	}
}

// TestConformFindsFaults says what a plugin does wrong.
func TestConformFindsFaults(t *testing.T) {
	r := runner(t)
	const loop = `id=0; while read -r l; do id=$((id+1)); `
	for name, c := range map[string]struct{ script, fails, why string }{
		"no hello":       {`exit 3`, "says hello", "ended"},
		"no answer":      {hello + `read -r l; exit 0`, "answers as a router", "ended"},
		"later fields":   {hello + loop + `case $l in *a_later_field*) exit 4 ;; esac; echo '{"type":"answer","id":'$id',"output":{}}'; done`, "ignores fields that it does not know", "exit code 4"},
		"empty question": {hello + loop + `case $l in *'"input":{}'*) exit 5 ;; esac; echo '{"type":"answer","id":'$id',"output":{}}'; done`, "survives a question with nothing in it", "exit code 5"},
		"no such file": {
			strings.Replace(hello, `"router"`, `"reviewer"`, 1) + loop +
				`t=$(expr "$l" : '.*"tree":"\([^"]*\)"'); grep -q "A text" "$t/a.txt" || exit 7; echo '{"type":"answer","id":'$id',"output":{"findings":[{}]}}'; done`,
			"answers as a reviewer", "finding 1",
		},
		"a bad finding": {
			strings.Replace(hello, `"router"`, `"discovery"`, 1) + loop + `echo '{"type":"answer","id":'$id',"output":{"findings":[{"id":"_a","title":"A","reason":"B","check":"false"}]}}'; done`,
			"answers as a discovery", `finding 1: its ID "_a"`,
		},
		"a bad end": {hello + loop + `echo '{"type":"answer","id":'$id',"output":{}}'; done; exit 6`, "ends when its input does", "exit code 6"},
	} {
		p := script(c.script)
		if of, ok := strings.CutPrefix(c.fails, "answers as a "); ok {
			p.Kinds = []string{of}
		}
		all, err := p.CheckConformance(t.Context(), r, time.Time{})
		if err != nil {
			t.Fatal(name, err)
		}
		first := slices.IndexFunc(all, func(c plugin.ConformanceResult) bool { return !c.OK })
		if first < 0 || all[first].Name != c.fails || !strings.Contains(all[first].Detail, c.why) {
			t.Errorf("%s: %+v", name, all)
		}
	}
	if left, err := filepath.Glob(filepath.Join(r.State, "plugins", ".sample-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestExamplesWork asks the examples about files that have something to say.
func TestExamplesWork(t *testing.T) {
	r := boxed(t)
	for name, text := range map[string]string{"a/b.go": "package a\n\n// TODO: write b\n", "a/NOTES.md": "Use tabs.\n", "c.txt": "no comment\n"} {
		file := filepath.Join(r.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(p plugin.DeclaredPlugin, k nexus.PluginKind, input any, output plugin.PluginOutput, want string) {
		t.Helper()
		s, err := p.StartSession(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Ask(t.Context(), k, "r1", input, output); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(output)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(data)); want != "" && d != "" {
			t.Error(d)
		}
	}
	todo := inGo(t)
	ask(todo, nexus.PluginDiscovery, plugin.DiscoveryInput{Tree: r.Dir, Most: 10}, &plugin.DiscoveryOutput{},
		`{"findings":[{"id":"todo-a-b.go-65b61042","title":"Resolve the TODO comment in a/b.go","reason":"// TODO: write b","minutes":15,"files":["a/b.go"],"check":"! grep -qE '(//|#)[[:space:]]*TODO' a/b.go"}]}`)
	for name, text := range map[string]string{ // as repositories have them, and worse
		"d/_config.yml": "# TODO \u200bwrite\tit\u3164 \xff\x1b[1m\r\n", "d/a/b-c.go": "// TODO\n", "d/a-b/c.go": "// TODO\n",
	} {
		file := filepath.Join(r.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	odd := &plugin.DiscoveryOutput{}
	ask(todo, nexus.PluginDiscovery, plugin.DiscoveryInput{Tree: filepath.Join(r.Dir, "d"), Most: 10}, odd, "")
	if len(odd.Findings) != 3 || len(odd.Bad) > 0 || odd.Findings[0].Reason != "# TODO write it [1m" {
		t.Errorf("%+v", odd)
	}
	const diff = "diff --git a/b.go b/b.go\n--- a/b.go\n+++ b/b.go\n@@ -3,2 +3,3 @@ func b() {\n \tx()\n-\told() // TODO: old\n+\tnew() // TODO: new\n+\ty()\n"
	ask(todo, nexus.PluginReviewer, plugin.ReviewerInput{Diff: diff}, &plugin.ReviewerOutput{},
		`{"summary":"TODO comments that were added: 1","findings":[{"file":"b.go","line":4,"quote":"// TODO: new","severity":"minor","category":"todo","message":"The change adds a TODO comment.","advice":"Do it, or leave it out."}]}`)
	ask(todo, nexus.PluginRouter, plugin.RouterInput{Task: plugin.PluginTask{Title: "Do the TODO"}}, &plugin.RouterOutput{}, `{"complexity":"simple","tier":"","strategy":"","why":"it is about a TODO comment"}`)
	notes := inTypeScript(t)
	ask(notes, nexus.PluginContext, plugin.ContextInput{Tree: r.Dir, Task: plugin.PluginTask{Files: []string{"a/b.go", "c.txt"}}}, &plugin.ContextOutput{},
		`{"title":"Notes next to the files of the task","text":"a/NOTES.md:\nUse tabs.\n"}`)
	reporter := &plugin.EventReporter{Plugin: notes, Runner: r}
	defer reporter.Close()
	for _, p := range []nexus.HookPoint{nexus.HookTaskDone, nexus.HookGate, nexus.HookRunEnd} {
		if why, err := reporter.SendEvent(t.Context(), hookcmd.SampleEvent(p, time.Time{})); err != nil || why != "" {
			t.Error(why, err)
		}
	}
	told, err := os.ReadFile(filepath.Join(r.CommandDataDir("plugins", "notes"), "log.txt"))
	if err != nil || string(told) != "task.done T1\nrun.end\n" {
		t.Errorf("%q, %v", told, err)
	}
}
