package dependencies_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// inner makes a repository with a submodule of its own, whose configuration
// names a program for its files, and returns that program's mark.
func (b *bench) inner() (lib, mark string) {
	b.t.Helper()
	dir := filepath.Dir(b.user)
	lib, mark = filepath.Join(dir, "lib"), filepath.Join(dir, "ran")
	for name, files := range map[string]map[string]string{
		"deep": {"deep.h": "deep\n"},
		"lib":  {"lib.c": "one\n", "src/a.c": "a\n", ".gitignore": "*.o\n", ".gitattributes": "* filter=odd\n"},
	} {
		at := filepath.Join(dir, name)
		gittest.WriteFiles(b.t, dir, map[string]string{name + "/x": ""})
		gittest.WriteFiles(b.t, at, files)
		gittest.RunGit(b.t, at, "init", "-q")
		gittest.RunGit(b.t, at, "add", "-A")
		gittest.RunGit(b.t, at, "commit", "-qm", "x")
	}
	gittest.RunGit(b.t, lib, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(dir, "deep"), "deep")
	gittest.RunGit(b.t, lib, "commit", "-qm", "deep")
	b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
	gittest.RunGit(b.t, filepath.Join(b.user, "lib"), "config", "filter.odd.smudge", "sh -c 'touch "+mark+"; cat'")
	b.commit()
	return lib, mark
}

func content(t *worktree.AttemptTree, name string) string {
	data, err := os.ReadFile(filepath.Join(t.Dir, name))
	if err != nil {
		return "none"
	}
	return string(data)
}

// TestModules gives a tree the submodules that the user's repository has, as
// they are, whatever is done to them there.
func TestModules(t *testing.T) {
	for name, copies := range map[string]bool{"layers": false, "copies": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a.c": "a\n"})
			lib, mark := b.inner()
			b.kit.Store.Copy = copies
			none := gate.QualityGate{Name: "build", Args: []string{"make"}, Format: "exit"}
			tr := b.tree("T1")
			r := b.prepare(tr, true, none)
			if content(tr, "lib/lib.c") != "one\n" || content(tr, "lib/deep/deep.h") != "deep\n" || r.Key == "" {
				t.Fatalf("the tree has %q and %q, with key %q", content(tr, "lib/lib.c"), content(tr, "lib/deep/deep.h"), r.Key)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("a program that the user's configuration names was run")
			}
			m := b.kit.SubmoduleGuardOf(tr.Dir)
			if m == nil || m.CheckWrite("lib/lib.c") == nil || m.CheckWrite("lib.c") != nil || m.CheckWrite("library/a") != nil {
				t.Error("not exactly the submodule's files are refused")
			}

			_, was := tr.LastSnapshot()
			b.write(filepath.Join(tr.Dir, "lib/lib.c"), "two\n")
			b.write(filepath.Join(tr.Dir, "lib/made.o"), "o\n")
			b.write(filepath.Join(tr.Dir, "lib/deep/new.h"), "new\n")
			if err := os.RemoveAll(filepath.Join(tr.Dir, "lib/src")); err != nil {
				t.Fatal(err)
			}
			b.write(filepath.Join(tr.Dir, "lib/src"), "a file\n")
			files, err := m.RestoreChangedFiles(t.Context())
			if d := cmp.Diff([]string{"lib/lib.c", "lib/src/a.c"}, files); d != "" || err != nil {
				t.Error(d, err)
			}
			if content(tr, "lib/lib.c") != "one\n" || content(tr, "lib/src/a.c") != "a\n" || content(tr, "lib/made.o") != "o\n" {
				t.Error("not what was changed was taken back")
			}
			if note := m.NewFilesNote(t.Context()); !strings.Contains(note, "do not: lib/deep/new.h]") || m.NewFilesNote(t.Context()) != "" {
				t.Errorf("said %q", note)
			}
			if files, err := m.RestoreChangedFiles(t.Context()); len(files) > 0 || err != nil {
				t.Error(files, err)
			}
			if _, tree, err := tr.Snapshot(t.Context(), "x"); tree != was || err != nil {
				t.Error("what stands in a submodule became part of the tree", err)
			}
			if err := b.kit.ResetTree(t.Context(), tr.Dir); err != nil || content(tr, "lib/made.o") != "none" {
				t.Error("a gate sees what was left in a submodule", err)
			}

			// Another commit of it, and one that nobody has.
			gittest.WriteFiles(t, lib, map[string]string{"lib.c": "three\n"})
			gittest.RunGit(t, lib, "commit", "-qam", "three")
			gittest.RunGit(t, filepath.Join(b.user, "lib"), "pull", "-q", lib)
			b.commit()
			moved := b.tree("T2")
			b.prepare(moved, true, none)
			if err := tr.Restore(t.Context(), moved.Base); err != nil {
				t.Fatal(err)
			}
			b.prepare(tr, true, none)
			if content(moved, "lib/lib.c") != "three\n" || content(tr, "lib/lib.c") != "three\n" {
				t.Errorf("after a move there are %q and %q", content(moved, "lib/lib.c"), content(tr, "lib/lib.c"))
			}
			b.git("update-index", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",lib")
			b.git("commit", "-qm", "nowhere")
			far := b.tree("T3")
			if err := tr.Restore(t.Context(), far.Base); err != nil {
				t.Fatal(err)
			}
			b.prepare(tr, true, none)
			if _, tree, err := tr.Snapshot(t.Context(), "x"); content(tr, "lib/lib.c") != "none" || err != nil || tree != gittest.RunGit(t, b.user, "rev-parse", "HEAD^{tree}") {
				t.Error("a commit that nobody fetched is not just missing", content(tr, "lib/lib.c"), err)
			}
			if got := gittest.RunGit(t, filepath.Join(b.user, "lib"), "status", "--porcelain"); got != "" {
				t.Errorf("the user's own has %q", got)
			}
		})
	}
}

// TestModulesKept finds a submodule that is checked out nowhere where git keeps
// it, under a name that leads nowhere else.
func TestModulesKept(t *testing.T) {
	b := newBench(t, map[string]string{"a.c": "a\n"})
	b.inner()
	b.git("submodule", "--quiet", "deinit", "-f", "lib")
	none := gate.QualityGate{Name: "build", Args: []string{"make"}, Format: "exit"}
	tr := b.tree("T1")
	b.prepare(tr, true, none)
	if content(tr, "lib/lib.c") != "one\n" || content(tr, "lib/deep/deep.h") != "deep\n" {
		t.Errorf("the tree has %q and %q", content(tr, "lib/lib.c"), content(tr, "lib/deep/deep.h"))
	}
	b.git("config", "-f", ".gitmodules", "--rename-section", "submodule.lib", "submodule.../modules/lib")
	b.commit()
	other := b.tree("T2")
	b.prepare(other, true, none)
	if content(other, "lib/lib.c") != "none" {
		t.Error("a name that leads out of where submodules are kept was followed")
	}
	if m := (*dependencies.WorktreeProvisioner)(nil).SubmoduleGuardOf(other.Dir); m != nil {
		t.Error("nobody lends, and something is guarded")
	}
}
