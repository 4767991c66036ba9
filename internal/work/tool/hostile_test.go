package tool

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

const (
	plantedSecret = "planted-4be1-of-the-host"
	hiddenSecret  = "planted-77d0-of-the-tree"
)

// hostileCommands returns the commands of the policy's test data that must take no effect.
func hostileCommands(t *testing.T) (all []string) {
	t.Helper()
	read := func(name, prefix string) {
		data, err := os.ReadFile(filepath.Join("..", "..", "decide", "policy", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix); ok && command != "" && !strings.HasPrefix(command, "# ") {
				all = append(all, strings.ReplaceAll(command, "<NL>", "\n"))
			}
		}
	}
	read("hostile.txt", "")
	for i := 1; i <= 6; i++ {
		read(fmt.Sprintf("rounds/%d.txt", i), "hostile | ")
	}
	return all
}

// hostileScene is an agent's tree, with the guard of what no agent may write, beside things that no
// sandboxedCommand may see or change.
type hostileScene struct {
	bench
	tree    *worktree.AttemptTree
	base    string // the commit that it began with
	start   string // the hash of its tree
	outside string
	user    string // the user's repository
	reached atomic.Int64
}

func newHostileScene(t *testing.T, b *sandbox.Box) *hostileScene {
	t.Helper()
	s := &hostileScene{outside: t.TempDir()}
	gittest.WriteFiles(t, s.outside, map[string]string{"secret": plantedSecret, "home/.ssh/id_rsa": plantedSecret, "home/.netrc": plantedSecret, "other/.env": plantedSecret, "state/journal.db": plantedSecret})
	t.Setenv("PLANTED_API_KEY", plantedSecret)
	s.user = t.TempDir()
	gittest.RunGit(t, s.user, "init", "-q", "-b", "main")
	gittest.WriteFiles(t, s.user, map[string]string{
		"main.go": "package main\n\nfunc main() {}\n", "go.mod": "module x\n\ngo 1.21\n", "package.json": `{"name":"x","scripts":{"test":"true"}}`, "Makefile": "test:\n\ttrue\n", "src/a.txt": "a\n",
		".gitignore": ".env\ncredentials.json\n", ".claude/settings.json": "{}\n", "nexus.toml": "\n", ".vscode/tasks.json": "{}\n",
	})
	gittest.RunGit(t, s.user, "add", "-A")
	gittest.RunGit(t, s.user, "commit", "-qm", "first")
	repo, err := git.FindRepo(t.Context(), s.user)
	if err != nil {
		t.Fatal(err)
	}
	store, err := worktree.OpenStore(t.Context(), repo, filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	base := gittest.RunGit(t, s.user, "rev-parse", "HEAD")
	s.base = base
	if s.tree, err = store.AddTree(t.Context(), "r", nexus.AttemptID("T1.1"), base); err != nil {
		t.Fatal(err)
	}
	s.addHiddenFiles(t)
	s.start = gittest.RunGit(t, s.user, "rev-parse", "HEAD^{tree}")
	guard := CommandWriteGuard{
		Tree: s.tree, Box: b, Git: store.PrivateRepo(), Base: func() string { return base }, Rule: ProtectedFileReason, Now: time.Now, Undone: func([]string) {},
	}
	undo, err := guard.WatchProtected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.bench = newBench(t, func(e *AgentToolEnvironment) {
		root, err := os.OpenRoot(s.tree.Dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() })
		e.Root, e.Dir, e.Box, e.Writable, e.Vars = root, s.tree.Dir, b, []string{s.tree.Git}, sandbox.AgentCommandEnv()
		e.Readable, e.Rule, e.Undo = s.tree.ReadablePaths(), ProtectedFileReason, undo
	})
	s.listen(t)
	return s
}

// addHiddenFiles adds files with secrets that git does not track. What a commit holds is not hidden.
func (s *hostileScene) addHiddenFiles(t *testing.T) {
	t.Helper()
	gittest.WriteFiles(t, s.tree.Dir, map[string]string{".env": "KEY=" + hiddenSecret + "\n", "config/credentials.json": `{"key":"` + hiddenSecret + `"}`})
}

// listen counts what comes to a port of the host.
func (s *hostileScene) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.reached.Add(1)
			_ = c.Close()
		}
	}()
	gittest.WriteFiles(t, s.outside, map[string]string{"port": l.Addr().String()})
}

// effects returns what of a command took effect beyond the files that an agent may write.
func (s *hostileScene) effects(t *testing.T, output string, b *sandbox.Box) (all []string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(s.outside, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "port" {
			return err
		}
		n++
		if data, err := os.ReadFile(path); err != nil || string(data) != plantedSecret {
			all = append(all, path+" is changed")
		}
		return nil
	})
	if err != nil || n != 5 {
		all = append(all, fmt.Sprintf("%d files are outside: %v", n, err))
	}
	if s.reached.Load() > 0 {
		all = append(all, "it reached the host")
	}
	if strings.Contains(output, plantedSecret) || b.HidesHost() && strings.Contains(output, hiddenSecret) {
		all = append(all, "it shows a secret")
	}
	for name, text := range map[string]string{".claude/settings.json": "{}\n", "nexus.toml": "\n", ".vscode/tasks.json": "{}\n"} {
		if data, err := os.ReadFile(filepath.Join(s.tree.Dir, filepath.FromSlash(name))); err != nil || string(data) != text {
			all = append(all, name+" is changed: "+string(data))
		}
	}
	if tip, err := os.ReadFile(filepath.Join(s.user, ".git", "refs", "heads", "main")); err != nil || strings.TrimSpace(string(tip)) != s.base {
		all = append(all, "the user's branch is moved")
	}
	if _, err := os.Lstat(filepath.Join(s.tree.Dir, ".mcp.json")); err == nil {
		all = append(all, ".mcp.json is made")
	}
	return all
}

// wildCommand matches commands that only load the machine: the tests of limits are about those.
var wildCommand = regexp.MustCompile(`/dev/(zero|u?random|full)|\byes\b|fallocate|truncate|fork|:\(\)|while|until|seq \d{5,}|stress|\{1\.\.\d{4,}|for \(\(|-P ?0|\bdd\b|mkfs|kill`)

// TestHostileCommandsTakeNoEffect runs what the policy does not refuse of the hostile commands in each kind
// of sandbox, with the guard of protected files: together they let nothing take effect. By day a few of them
// are tried, and at night all.
func TestHostileCommandsTakeNoEffect(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "what is tried here is the kernel, by programs of others")
	modes := []sandbox.ConfinementMode{sandbox.ModeNative, sandbox.ModeBwrap, sandbox.ModeLandlock}
	for n, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			step := 1
			if !testenv.RunsNightly() {
				step = 40 * len(modes)
			}
			tryHostileCommands(t, boxOfMode(t, mode), n*40, step)
		})
	}
}

// tryHostileCommands tries every command whose number is start plus a multiple of step.
func tryHostileCommands(t *testing.T, b *sandbox.Box, start, step int) {
	t.Helper()
	s := newHostileScene(t, b)
	refused, tried, wild := 0, 0, 0
	all := hostileCommands(t)
	for i, command := range all {
		if d := policy.JudgeCommand(command, policy.CommandPolicyContext{Dir: s.tree.Dir, Snapshots: true}); !d.IsAllowed() {
			refused++
			continue
		}
		if wildCommand.MatchString(command) {
			wild++
			continue
		}
		if i%step != start%step {
			continue
		}
		tried++
		a := s.call(t, "shell", m{"command": command, "timeout_seconds": 3})
		if found := s.effects(t, a.Result.Text, b); len(found) > 0 {
			t.Errorf("%s: %s", command, strings.Join(found, "; "))
			s = newHostileScene(t, b)
		}
		if err := s.tree.Restore(t.Context(), s.start); err != nil {
			t.Logf("%s: a new tree, since %v", command, err)
			s = newHostileScene(t, b)
		}
		s.addHiddenFiles(t)
	}
	t.Logf("%d commands: %d refused, %d tried, %d would only load the machine", len(all), refused, tried, wild)
	if len(all) < 5000 || tried < (len(all)-refused-wild)/step/2 || tried == 0 {
		t.Errorf("only %d of %d are tried", tried, len(all))
	}
}

// TestProtectedFilesAreGuarded undoes what programs write to files that no agent may write, and nothing
// else.
func TestProtectedFilesAreGuarded(t *testing.T) {
	testenv.NeedTool(t, "python3")
	b := box(t)
	s := newHostileScene(t, b)
	for _, command := range []string{
		`python3 -c "open('.claude/settings.json','w').write('x')"`,
		`python3 -c "import os; os.remove('nexus.toml')"`,
		`python3 -c "import os; os.rename('.vscode','v')"`,
		`python3 -c "open('.mcp.json','w').write('x')"`,
		`python3 -c "import os,shutil; shutil.rmtree('.claude'); os.symlink('src','.claude')"`,
		`D=.claude; echo x > $D/settings.json; echo y > main.go`,
	} {
		a := s.call(t, "shell", m{"command": command})
		if a.Judged.Refused || !strings.Contains(a.Result.Text, "[undone, because this role may not write them: ") || !strings.Contains(a.Result.Text, "(path.agent-config)") {
			t.Errorf("%s: %s", command, a.Result.Text)
		}
		if found := s.effects(t, a.Result.Text, b); len(found) > 0 {
			t.Errorf("%s: %v", command, found)
		}
	}
	if data, err := os.ReadFile(filepath.Join(s.tree.Dir, "main.go")); err != nil || string(data) != "y\n" {
		t.Errorf("what it may write is gone: %q, %v", data, err)
	}
	if a := s.call(t, "shell", m{"command": "echo x > made.txt; mkdir -p vscode; ls"}); strings.Contains(a.Result.Text, "undone") {
		t.Error(a.Result.Text)
	}
}
