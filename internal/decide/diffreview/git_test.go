package diffreview_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestPatchesOfGit holds that no file and no line of a real patch is lost or changed, whatever its
// author called the files and wrote into them: the patch leads from the files before to those after.
func TestPatchesOfGit(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	name := rapid.StringMatching(`[ab "\\\t\nä+@-]{0,3}[ab"\\+@-](/[ab "\\\nä-]{0,2}[bc\\"])?( b/a)?`)
	text := rapid.StringMatching(`((diff --git a/a b/a|@@ -1 \+1 @@|--- a/a|\\ No|rename to b|x|y|é|\r|\xff|)\n){0,6}(z|-- a)?`)
	rapid.Check(t, func(r *rapid.T) {
		old := rapid.MapOfN(name, text, 0, 4).Draw(r, "old")
		now := maps.Clone(old)
		for _, n := range slices.Sorted(maps.Keys(old)) {
			switch rapid.IntRange(0, 3).Draw(r, "change") {
			case 0:
				delete(now, n)
			case 1:
				now[n] = text.Draw(r, "text")
			}
		}
		maps.Copy(now, rapid.MapOfN(name, text, 0, 2).Draw(r, "new"))
		was, is := writeTree(t, r, dir, old), writeTree(t, r, dir, now)
		for _, how := range [][]string{{"-U0", "--no-renames"}, {"-U3", "-M"}} {
			out := filepath.Join(dir, "patch")
			gittest.RunGit(t, dir, append([]string{"diff-tree", "-r", "-p", "--text", "--output=" + out, was, is}, how...)...)
			patch, err := os.ReadFile(out)
			if err != nil {
				r.Fatal(err)
			}
			got := maps.Clone(old)
			for _, f := range diffreview.ParseWholeDiff(string(patch)) {
				from := f.Path
				if f.Status == "renamed" {
					from = f.Old
				}
				before := old[from]
				delete(got, from)
				if f.Status != "deleted" {
					got[f.Path] = applyHunks(before, f.Hunks)
				}
			}
			if d := cmp.Diff(now, got); d != "" {
				r.Fatalf("%s\n%s", d, patch)
			}
		}
	})
}

// writeTree writes the files as a tree of a repository, and leaves out those that cannot be beside
// others.
func writeTree(t *testing.T, r *rapid.T, dir string, files map[string]string) string {
	t.Helper()
	index := filepath.Join(dir, ".git", "index")
	if err := os.Remove(index); err != nil && !os.IsNotExist(err) {
		r.Fatal(err)
	}
	for _, n := range slices.Sorted(maps.Keys(files)) {
		top, below, _ := strings.Cut(n, "/")
		if _, file := files[top]; below != "" && file {
			delete(files, n)
			continue
		}
		blob := filepath.Join(dir, "blob")
		if err := os.WriteFile(blob, []byte(files[n]), 0o600); err != nil {
			r.Fatal(err)
		}
		id := gittest.RunGit(t, dir, "hash-object", "-w", "--no-filters", "blob")
		gittest.RunGit(t, dir, "update-index", "--add", "--cacheinfo", "100644,"+id+","+n)
	}
	return gittest.RunGit(t, dir, "write-tree")
}

// applyHunks returns a text with hunks applied.
func applyHunks(text string, hunks []diffreview.DiffHunk) string {
	lines := slices.Collect(strings.Lines(text))
	var out strings.Builder
	at := 0 // index into lines
	for _, h := range hunks {
		begin := h.Old - 1
		if h.OldLen == 0 {
			begin = h.Old
		}
		out.WriteString(strings.Join(lines[at:begin], ""))
		for _, l := range h.Lines {
			if l.Kind == "-" {
				continue
			}
			out.WriteString(l.Text)
			if !l.Bare {
				out.WriteString("\n")
			}
		}
		at = begin + h.OldLen
	}
	return out.String() + strings.Join(lines[at:], "")
}
