package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestCheckoutGuard holds, in each kind of sandbox, that no command changes the configuration of agents
// and editors in a person's own checkout, that what it wrote is set aside, and that all else stays.
func TestCheckoutGuard(t *testing.T) {
	testenv.NeedTool(t, "python3")
	for _, mode := range []sandbox.ConfinementMode{sandbox.ModeNative, sandbox.ModeBwrap, sandbox.ModeLandlock} {
		t.Run(string(mode), func(t *testing.T) {
			testCheckoutGuard(t, boxOfMode(t, mode))
		})
	}
}

func testCheckoutGuard(t *testing.T, b *sandbox.Box) {
	t.Helper()
	dir := t.TempDir()
	before := map[string]string{
		".gitignore": ".claude/settings.local.json\nbuild/\n", "nexus.toml": "\n", ".claude/settings.json": "{}\n", ".claude/settings.local.json": "{}\n",
		".claude/commands/fix.md": "Fix it.\n", "web/.vscode/tasks.json": "{}\n", "main.go": "package main\n",
	}
	gittest.WriteFiles(t, dir, before)
	guard, err := NewCheckoutGuard(dir, b.HidesHost())
	if err != nil {
		t.Fatal(err)
	}
	bench := newBench(t, func(e *AgentToolEnvironment) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() })
		e.Root, e.Dir, e.Box, e.Vars, e.Rule, e.Undo = root, dir, b, sandbox.AgentCommandEnv(), ProtectedFileReason, guard.Undo
		if b.HidesHost() {
			e.Readable = guard.ReadOnlyPaths()
		} else {
			e.Tmp = t.TempDir()
		}
	})
	for _, command := range []string{
		`python3 -c "open('nexus.toml','w').write('x')"`,
		`python3 -c "open('.claude/settings.local.json','w').write('x')"`,
		`python3 -c "open('.claude/commands/new.md','w').write('x')"`,
		`python3 -c "import os; os.remove('.claude/settings.json')"`,
		`python3 -c "import os; os.rename('web/.vscode','web/v')"`,
		`python3 -c "import os; os.rename('web','w'); os.mkdir('web')"`,
		`python3 -c "import shutil; shutil.rmtree('.claude', ignore_errors=True)"`,
		`python3 -c "import os; os.mkdir('.cursor'); open('.cursor/mcp.json','w').write('x')"`,
		`python3 -c "open('.mcp.json','w').write('x')"`,
		`python3 -c "import os; os.chmod('nexus.toml', 0o777)"`,
		`python3 -c "import os; os.symlink('main.go','AGENTS.md') or os.symlink('/etc','.vscode')"`,
	} {
		a := bench.call(t, "shell", m{"command": command})
		if a.Judged.Refused {
			t.Fatalf("%s: %s", command, a.Result.Text)
		}
		for name, text := range before {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != text {
				t.Errorf("%s: %s is %q, %v; the command: %s", command, name, data, err, a.Result.Text)
			}
		}
		for _, name := range []string{".claude/commands/new.md", ".cursor", ".mcp.json", ".vscode"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s: %s is there: %s", command, name, a.Result.Text)
			}
		}
		if info, err := os.Stat(filepath.Join(dir, "nexus.toml")); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: nexus.toml is %v, %v", command, info, err)
		}
	}
	a := bench.call(t, "shell", m{"command": `python3 -c "open('.mcp.json','w').write('evil')"; echo y > main.go`})
	if !strings.Contains(a.Result.Text, "[undone, because this role may not write them: .mcp.json]") {
		t.Error(a.Result.Text)
	}
	for name, want := range map[string]string{".mcp.json.2" + RefusedSuffix: "evil", "main.go": "y\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if a := bench.call(t, "shell", m{"command": "mkdir -p build && echo x > build/made.txt && ls"}); strings.Contains(a.Result.Text, "undone") {
		t.Error(a.Result.Text)
	}
	if files, err := guard.Undo(t.Context()); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
}

// TestCheckoutGuardKeepsThePersonsWork holds that what the person changes beside the agent stays, where no command
// can have changed it, and that nothing that was set aside is lost.
func TestCheckoutGuardKeepsThePersonsWork(t *testing.T) {
	dir := t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{".claude/settings.json": "{}\n", "nexus.toml": "\n", "web/.vscode/tasks.json": "{}\n"})
	guard, err := NewCheckoutGuard(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one\n", "two\n"} {
		own := map[string]string{".claude/settings.json": text, ".claude/commands/new.md": text, "nexus.toml": text}
		gittest.WriteFiles(t, dir, own)
		gittest.WriteFiles(t, dir, map[string]string{"web/.vscode/tasks.json": text, ".mcp.json": text})
		files, err := guard.Undo(t.Context())
		if err != nil || !slices.Equal(files, []string{".mcp.json", "web/.vscode/tasks.json"}) {
			t.Error(files, err)
		}
		for name, want := range own {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
	}
	for name, want := range map[string]string{".mcp.json.refused": "one\n", ".mcp.json.2.refused": "two\n", "web/.vscode/tasks.json": "{}\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// TestCheckoutGuardLimits holds that large files and trees beside configuration cost no session.
func TestCheckoutGuardLimits(t *testing.T) {
	dir := t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{".claude/cache.bin": strings.Repeat("x", maxProtectedFile+1), ".claude/settings.json": "{}\n"})
	guard, err := NewCheckoutGuard(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	gittest.WriteFiles(t, dir, map[string]string{".claude/cache.bin": "y", ".claude/settings.json": "x"})
	if files, err := guard.Undo(t.Context()); err != nil || !slices.Equal(files, []string{".claude/settings.json"}) {
		t.Error(files, err)
	}
}
