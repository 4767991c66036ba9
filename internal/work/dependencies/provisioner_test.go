package dependencies_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// bench is a repository with a kit that prepares its trees.
type bench struct {
	t     *testing.T
	user  string
	trees *worktree.Store
	kit   *dependencies.WorktreeProvisioner
	told  []nexus.DependenciesInstalled
	mu    sync.Mutex // guards told
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, user: filepath.Join(dir, "user")}
	for name, text := range files {
		b.write(filepath.Join(b.user, name), text)
	}
	b.git("init", "-q")
	b.commit()
	repo, err := git.FindRepo(t.Context(), b.user)
	if err != nil {
		t.Fatal(err)
	}
	if b.trees, err = worktree.OpenStore(t.Context(), repo, filepath.Join(dir, "state")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.trees.Close() })
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	testenv.NeedMachine(t, "a sandbox", err)
	b.kit = &dependencies.WorktreeProvisioner{
		Store: &depcache.DependencySetStore{Dir: filepath.Join(dir, "state/environments"), Now: time.Now}, Box: box, Git: b.trees.PrivateRepo(), User: b.user, Timeout: 5 * time.Minute,
	}
	return b
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) git(args ...string) {
	b.t.Helper()
	gittest.RunGit(b.t, b.user, args...)
}

func (b *bench) commit() {
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "x")
}

// tree makes a worktree of what is committed.
func (b *bench) tree(id nexus.AttemptID) *worktree.AttemptTree {
	b.t.Helper()
	commit, err := b.trees.Fetch(b.t.Context(), "HEAD")
	if err != nil {
		b.t.Fatal(err)
	}
	t, err := b.trees.AddTree(b.t.Context(), "r1", id, commit)
	if err != nil {
		b.t.Fatal(err)
	}
	return t
}

func (b *bench) prepare(t *worktree.AttemptTree, fresh bool, gates ...gate.QualityGate) dependencies.ProvisionedEnvironment {
	b.t.Helper()
	r, err := b.try(t, fresh, gates...)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) try(t *worktree.AttemptTree, fresh bool, gates ...gate.QualityGate) (dependencies.ProvisionedEnvironment, error) {
	if gates == nil {
		gates = []gate.QualityGate{{Name: "test", Args: []string{"npm", "test"}, Format: "exit"}, {Name: "py", Args: []string{"pytest"}, Format: "exit"}}
	}
	_, hash, err := t.Snapshot(b.t.Context(), "x")
	if err != nil {
		return dependencies.ProvisionedEnvironment{}, err
	}
	return b.kit.PrepareTree(b.t.Context(), dependencies.ExactTreeDir{Dir: t.Dir, Hash: hash}, gates, fresh, func(f nexus.DependenciesInstalled) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.told = append(b.told, f)
		return nil
	})
}

// project is a package of npm that needs another, which lies in the project
// itself and is copied, so that nothing is fetched.
func project() map[string]string {
	return map[string]string{
		".gitignore":                      "node_modules\n.venv\n",
		"package.json":                    `{"name": "proj", "version": "1.0.0", "scripts": {"test": "fake-jest"}, "dependencies": {"fake-jest": "file:vendored/fake-jest"}}`,
		".npmrc":                          "install-links=true\n",
		"vendored/fake-jest/cli.js":       "#!/usr/bin/env node\nconsole.log('real')\n",
		"vendored/fake-jest/package.json": `{"name": "fake-jest", "version": "1.2.3", "bin": {"fake-jest": "cli.js"}, "scripts": {"postinstall": "node -e \"require('fs').writeFileSync('built', process.env.HOME)\""}}`,
	}
}

// npm makes the lock file as a person would, without a network.
func (b *bench) npm(args ...string) {
	b.t.Helper()
	c := exec.CommandContext(b.t.Context(), "npm", append(args, "--offline", "--no-audit", "--no-fund")...)
	c.Dir = b.user
	c.Env = append(os.Environ(), "npm_config_cache="+b.t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		b.t.Fatalf("npm %v: %v: %s", args, err, out)
	}
}

func (b *bench) run(t *worktree.AttemptTree, r dependencies.ProvisionedEnvironment, args ...string) (string, int) {
	b.t.Helper()
	env := r.CommandVars(".", sandbox.AgentCommandEnv())
	res, err := b.kit.Box.Run(b.t.Context(), sandbox.Command{Args: args, Dir: t.Dir, Env: env, Timeout: 5 * time.Minute, Merge: true})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(res.Stdout), res.Exit
}

// TestNpm lets npm install what the lock file names, once for two trees, of
// which one poisons its own.
func TestNpm(t *testing.T) {
	testenv.NeedToolchains(t)
	testenv.NeedTool(t, "npm", "node")
	b := newBench(t, project())
	b.npm("install", "--package-lock-only")
	b.commit()
	one, two := b.tree("T1.1"), b.tree("T2.1")
	var wait sync.WaitGroup
	var r dependencies.ProvisionedEnvironment
	for _, tree := range []*worktree.AttemptTree{one, two} {
		wait.Go(func() {
			got, err := b.try(tree, false)
			if err != nil || len(got.Failed) > 0 || got.Key == "" {
				t.Error(err, got)
			}
			if tree == one {
				r = got
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	if len(b.told) != 1 || b.told[0].Source != "npm ci in the sandbox" || b.told[0].Bytes == 0 {
		t.Error(b.told)
	}
	if out, exit := b.run(one, r, "npm", "test", "--silent"); exit != 0 || out != "real\n" {
		t.Error(exit, out)
	}
	home, err := os.ReadFile(filepath.Join(one.Dir, "node_modules/fake-jest/built"))
	if err != nil || strings.HasPrefix(string(home), os.Getenv("HOME")+"/") || string(home) == os.Getenv("HOME") {
		t.Errorf("the package's own script ran with the home %q: %v", home, err)
	}

	// a fake is seen by nobody else
	if out, exit := b.run(one, r, "sh", "-c", "printf '#!/usr/bin/env node\nconsole.log(\"fake\")' > node_modules/fake-jest/cli.js && npm test --silent"); exit != 0 || out != "fake\n" {
		t.Error(exit, out)
	}
	if out, _ := b.run(two, r, "npm", "test", "--silent"); out != "real\n" {
		t.Error("the other tree sees", out)
	}
	commit, hash, err := one.Snapshot(t.Context(), "with a fake")
	if err != nil {
		t.Fatal(err)
	}
	if list := b.ls(commit); strings.Contains(list, "node_modules") {
		t.Error("kept what was lent:", list)
	}
	if err := one.ResetExactly(t.Context(), hash); err != nil {
		t.Fatal(err)
	}
	b.prepare(one, true)
	if out, _ := b.run(one, r, "npm", "test", "--silent"); out != "real\n" {
		t.Error("the gates see", out)
	}
	third := b.tree("T3.1")
	b.prepare(third, true)
	if out, _ := b.run(third, r, "npm", "test", "--silent"); out != "real\n" || len(b.told) != 1 {
		t.Error("the next tree sees", out, b.told)
	}
}

func (b *bench) ls(commit string) string {
	b.t.Helper()
	list, err := b.trees.PrivateRepo().Run(b.t.Context(), "ls-tree", "-r", "--name-only", commit)
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(list)
}

// TestLockChanged gives a tree with another lock file other packages, and one
// with another script the same.
func TestLockChanged(t *testing.T) {
	testenv.NeedToolchains(t)
	testenv.NeedTool(t, "npm", "node")
	b := newBench(t, project())
	b.npm("install", "--package-lock-only")
	b.commit()
	tree := b.tree("T1.1")
	first := b.prepare(tree, false)

	b.write(filepath.Join(tree.Dir, "package.json"), strings.Replace(project()["package.json"], `"scripts": {`, `"scripts": {"lint": "true", `, 1))
	if again := b.prepare(tree, true); again.Key != first.Key || len(b.told) != 1 {
		t.Error("a new script for people changed the key", again.Key, first.Key)
	}

	// as an agent adds a package
	if out, exit := b.run(tree, first, "sh", "-c", `mkdir -p vendored/more && echo '{"name": "more", "version": "1.0.0"}' > vendored/more/package.json && npm install --offline --no-audit --no-fund ./vendored/more`); exit != 0 {
		t.Fatal(out)
	}
	second := b.prepare(tree, true)
	if second.Key == first.Key || len(second.Failed) > 0 || len(b.told) != 2 {
		t.Fatal(second, b.told)
	}
	if out, exit := b.run(tree, second, "node", "-e", "require('more/package.json'); require('fake-jest/package.json')"); exit != 0 {
		t.Error(out)
	}
}

// TestFails says which command failed and what it printed, and keeps nothing.
func TestFails(t *testing.T) {
	testenv.NeedTool(t, "npm", "node")
	files := project()
	files["vendored/fake-jest/package.json"] = strings.Replace(files["vendored/fake-jest/package.json"], "node -e", "echo no compiler; exit 3; node -e", 1)
	b := newBench(t, files)
	b.npm("install", "--package-lock-only")
	b.commit()
	tree := b.tree("T1.1")
	r := b.prepare(tree, false)
	if len(r.Failed) != 1 || r.Failed[0].Away || r.Failed[0].Command != "npm ci" || !strings.Contains(r.Failed[0].Output, "no compiler") || !strings.Contains(r.Failed[0].Error().Hint, "npm ci") {
		t.Errorf("%+v", r.Failed)
	}
	if r.MissingDependencyReason(gate.QualityGate{Args: []string{"npm", "test"}}) == "" || r.MissingDependencyReason(gate.QualityGate{Args: []string{"go", "vet"}}) != "" {
		t.Error("says the wrong gates lack it")
	}
	if sets := b.kit.Store.ListSets(); len(sets) > 0 {
		t.Error(sets)
	}
	if _, err := os.Stat(filepath.Join(tree.Dir, "node_modules")); err == nil {
		t.Error("lent something")
	}
}

// TestRefused says what is wrong with a lock file that npm ci does not take, and
// how it is fixed, instead of npm's usage: also where npm cannot say it, as it
// would have to fetch what is missing.
func TestRefused(t *testing.T) {
	testenv.NeedToolchains(t)
	testenv.NeedTool(t, "npm", "node")
	for name, add := range map[string]string{
		"at hand":           `"more": "file:./vendored/more"`,
		"nowhere to be had": `"more": "^1.0.0"`,
	} {
		t.Run(name, func(t *testing.T) {
			files := project()
			files["vendored/more/package.json"] = `{"name": "more", "version": "1.0.0"}`
			b := newBench(t, files)
			b.npm("install", "--package-lock-only")
			b.write(filepath.Join(b.user, "package.json"), strings.Replace(project()["package.json"], `"dependencies": {`, `"dependencies": {`+add+", ", 1))
			b.commit()
			r := b.prepare(b.tree("T1.1"), false)
			if len(r.Failed) != 1 || r.Failed[0].Away {
				t.Fatalf("%+v", r.Failed)
			}
			e := r.Failed[0].Error()
			if said := e.Cause.Error(); !strings.Contains(said, "package-lock.json does not fit package.json: Missing: more") || strings.Contains(said, "Usage") || strings.Contains(said, "reaches no network") {
				t.Error(said)
			}
			if !strings.Contains(e.Hint, `Run "npm install" in your own checkout`) {
				t.Error(e.Hint)
			}
		})
	}
}

// TestAway is not the tree's fault: what the lock file names lies nowhere here.
func TestAway(t *testing.T) {
	testenv.NeedTool(t, "npm", "node")
	b := newBench(t, map[string]string{
		"package.json":      `{"name": "p", "version": "1.0.0", "dependencies": {"left-pad": "1.3.0"}}`,
		"package-lock.json": `{"name": "p", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "p", "version": "1.0.0", "dependencies": {"left-pad": "1.3.0"}}, "node_modules/left-pad": {"version": "1.3.0", "resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz", "integrity": "sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="}}}`,
	})
	r := b.prepare(b.tree("T1.1"), false)
	if len(r.Failed) != 1 || !r.Failed[0].Away || r.Failed[0].Need != dependencies.Sure {
		t.Errorf("%+v", r.Failed)
	}
}

// TestCheckout takes what the user has installed already, if it is what the
// lock file says, and never writes there.
func TestCheckout(t *testing.T) {
	testenv.NeedToolchains(t)
	testenv.NeedTool(t, "npm", "node")
	b := newBench(t, project())
	b.npm("install")
	b.commit()
	b.write(filepath.Join(b.user, "node_modules/fake-jest/mine"), "mine")
	one := b.tree("T1.1")
	r := b.prepare(one, false)
	if len(b.told) != 1 || b.told[0].Source != "your checkout's node_modules" {
		t.Fatal(b.told, r.Failed)
	}
	if out, exit := b.run(one, r, "sh", "-c", "cat node_modules/fake-jest/mine; echo evil > node_modules/fake-jest/mine; npm test --silent"); exit != 0 || out != "minereal\n" {
		t.Error(out)
	}
	if data, _ := os.ReadFile(filepath.Join(b.user, "node_modules/fake-jest/mine")); string(data) != "mine" {
		t.Error("the user's own file holds", string(data))
	}

	// with another version in it, it is not what the lock file says
	b.kit.Store.Dir += "2"
	b.write(filepath.Join(b.user, "node_modules/fake-jest/package.json"), `{"name": "fake-jest", "version": "6.6.6"}`)
	b.prepare(b.tree("T2.1"), false)
	if len(b.told) != 2 || b.told[1].Source != "npm ci in the sandbox" {
		t.Error(b.told)
	}
}

// TestBare has no lock file: what package.json asks for is installed as people
// do, or lent if the user has it installed, and that it cannot be had is no
// failure by itself.
func TestBare(t *testing.T) {
	testenv.NeedToolchains(t)
	testenv.NeedTool(t, "npm", "node")
	files := project()
	files["examples/a/package.json"] = `{"dependencies": {"nowhere": "^1.0.0"}}`
	b := newBench(t, files)
	one := b.tree("T1.1")
	if r := b.prepare(one, false); len(r.Failed) != 0 || len(b.told) != 1 || b.told[0].Locks[0] != "package.json" {
		t.Fatalf("%+v, %+v", r.Failed, b.told)
	}
	if _, err := os.Stat(filepath.Join(one.Dir, "package-lock.json")); err == nil {
		t.Error("a lock file was written")
	}
	b.npm("install", "--no-package-lock")
	b.kit.Store.Dir += "2"
	if b.prepare(b.tree("T2.1"), false); len(b.told) != 2 || b.told[1].Source != "your checkout's node_modules" {
		t.Errorf("%+v", b.told)
	}
	b.write(filepath.Join(b.user, "package.json"), `{"name": "p", "dependencies": {"nowhere": "^1.0.0"}}`)
	b.commit()
	if r := b.prepare(b.tree("T3.1"), false); len(r.Failed) != 1 || r.Failed[0].Need != dependencies.Maybe || r.MissingDependencyReason(gate.QualityGate{Args: []string{"npm", "test"}}) != "" {
		t.Errorf("%+v", r.Failed)
	}
}

// TestNested has a project of its own below the one that the gate is of. Its
// packages are not installed for that gate, but lent where the user has them,
// by a set of their own.
func TestNested(t *testing.T) {
	testenv.NeedToolchains(t)
	testenv.NeedTool(t, "npm", "node")
	files := project()
	files["docs/package.json"] = `{"name": "docs", "version": "1.0.0", "dependencies": {"theme": "file:theme"}}`
	files["docs/.npmrc"] = "install-links=true\n"
	files["docs/theme/package.json"] = `{"name": "theme", "version": "1.0.0", "scripts": {"postinstall": "test -e /nowhere"}}`
	b := newBench(t, files)
	b.npm("install", "--package-lock-only")
	b.npm("install", "--package-lock-only", "--prefix", "docs")
	b.commit()
	one := b.tree("T1.1")
	r := b.prepare(one, false)
	if len(r.Failed) != 0 || len(b.told) != 1 || b.told[0].Locks[0] != "package-lock.json" {
		t.Fatalf("%+v, %+v", r.Failed, b.told)
	}
	both := gate.QualityGate{Name: "docs", Args: []string{"sh", "-c", "cd docs && npm test"}, Format: "exit"}
	if r := b.prepare(b.tree("T1.2"), false, both); len(r.Failed) != 1 || r.Failed[0].File != "docs/package-lock.json" || r.MissingDependencyReason(both) == "" {
		t.Errorf("a gate that names the directory: %+v", r.Failed)
	}

	b.npm("install")
	b.npm("install", "--prefix", "docs", "--ignore-scripts")
	other := dependencies.WorktreeProvisioner{Store: b.kit.Store, Box: b.kit.Box, Git: b.kit.Git, User: b.user, Timeout: b.kit.Timeout} // as the next run has it
	other.Store.Dir += "2"
	b.kit, b.told = &other, nil
	for range 2 {
		r = b.prepare(one, true)
		b.write(filepath.Join(one.Dir, "docs/node_modules/theme/mine"), "an agent's")
		b.write(filepath.Join(one.Dir, "node_modules/fake-jest/mine"), "an agent's")
	}
	if len(r.Failed) != 0 || len(b.told) != 2 {
		t.Fatalf("%+v, %+v", r.Failed, b.told)
	}
	for i, want := range []string{"node_modules", "docs/node_modules"} {
		if strings.Join(b.told[i].Paths, " ") != want {
			t.Errorf("%+v", b.told[i])
		}
	}
}

// TestOnlyWhatIsNeeded does not look at a tree whose gates need nothing of it.
func TestOnlyWhatIsNeeded(t *testing.T) {
	b := newBench(t, map[string]string{"go.mod": "module m\n", "docs/package-lock.json": "{}", "docs/package.json": "{}"})
	b.kit.Store.Dir = "/nowhere/that/can/be/made\x00"
	r := b.prepare(b.tree("T1.1"), true, gate.QualityGate{Args: []string{"go", "test", "./..."}, Format: "go-test-json"}, gate.QualityGate{Args: []string{"golangci-lint", "run"}, Format: "golangci"})
	if r.Key != "" || len(r.Failed) > 0 {
		t.Error(r)
	}
}

// TestInit runs a script once everything is installed, as it was agreed to,
// and gives trees what it left that git ignores.
func TestInit(t *testing.T) {
	b := newBench(t, map[string]string{".gitignore": "/generated\n.env\n", "setup.sh": "echo evil > generated", "a.txt": "a"})
	b.write(filepath.Join(b.user, "models/m.bin"), "weights")
	b.write(filepath.Join(b.user, ".env"), "KEY=secret")
	b.kit.Settings = dependencies.InstallSettings{Init: "sh setup.sh", Scripts: []dependencies.ApprovedInstallScript{{Name: "setup.sh", Text: "mkdir generated && echo good > generated/x && echo k > .env && echo b >> a.txt && touch other"}}, Link: []string{"models", ".env"}}
	tree := b.tree("T1.1")
	r := b.prepare(tree, false, gate.QualityGate{Args: []string{"go", "test"}, Format: "go-test-json"})
	if len(r.Failed) > 0 {
		t.Fatal(r.Failed[0].Error())
	}
	for name, want := range map[string]string{"generated/x": "good\n", "models/m.bin": "weights", "a.txt": "a", ".env": "", "other": "", "setup.sh": "echo evil > generated"} {
		if got, _ := os.ReadFile(filepath.Join(tree.Dir, name)); string(got) != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	commit, _, err := tree.Snapshot(t.Context(), "x")
	if list := b.ls(commit); err != nil || list != ".gitignore\na.txt\nsetup.sh" {
		t.Error(list, err)
	}
}

// TestStopped leaves nothing of an installation that is cut off.
func TestStopped(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a"})
	b.kit.Settings = dependencies.InstallSettings{Install: "mkdir node_modules && touch node_modules/half && touch started && sleep 600"}
	tree := b.tree("T1.1")
	_, hash := tree.LastSnapshot()
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		for ctx.Err() == nil {
			if found, _ := filepath.Glob(filepath.Join(b.kit.Store.Dir, ".new-*/tree/started")); len(found) > 0 {
				stop(errors.New("stopped"))
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := b.kit.PrepareTree(ctx, dependencies.ExactTreeDir{Dir: tree.Dir, Hash: hash}, nil, false, nil); err == nil || ctx.Err() == nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.kit.Store.Dir, ".new-*")); len(left) > 0 || len(b.kit.Store.ListSets()) > 0 {
		t.Error(left)
	}
}
