package git_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

func notesRepo(t *testing.T, init ...string) (dir string, r git.Repo, head string) {
	t.Helper()
	dir = t.TempDir()
	gittest.RunGit(t, dir, append([]string{"init", "-q", "-b", "main"}, init...)...)
	gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "base")
	r, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r, gittest.RunGit(t, dir, "rev-parse", "HEAD")
}

// add appends a line unless it is there.
func add(line string) git.NoteEditFunc {
	return func(old []byte) ([]byte, error) {
		if bytes.Contains(old, []byte(line)) {
			return old, nil
		}
		return append(bytes.Clone(old), line+"\n"...), nil
	}
}

func writeNotesOnce(t *testing.T, r git.Repo, object, line string) {
	t.Helper()
	home := t.TempDir()
	if err := git.WriteNotes(t.Context(), r, home, map[string]git.NoteEditFunc{object: add(line)}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestWrite adds to what a person noted, in either kind of repository, runs no
// hook, and does nothing where nothing changes.
func TestWrite(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir, r, head := notesRepo(t, "--object-format="+format)
		hook := filepath.Join(dir, ".git", "hooks", "reference-transaction")
		if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
			t.Fatal(err)
		}
		gittest.RunGit(t, dir, "notes", "--ref", "nexus", "add", "-m", "Mine", head)
		testenv.WriteProgram(t, hook, "#!/bin/sh\ntouch "+filepath.Join(dir, "ran")+"\n")
		writeNotesOnce(t, r, head, "ours")
		was := gittest.RunGit(t, dir, "rev-parse", git.NotesRef)
		writeNotesOnce(t, r, head, "ours")
		if now := gittest.RunGit(t, dir, "rev-parse", git.NotesRef); now != was {
			t.Errorf("%s: the same again made another commit", format)
		}
		if got := gittest.RunGit(t, dir, "notes", "--ref", "nexus", "show", head); got != "Mine\nours" {
			t.Errorf("%s: the note is %q", format, got)
		}
		if out := gittest.RunGit(t, dir, "status", "--porcelain"); out != "" {
			t.Errorf("%s: the checkout or a hook was touched: %s", format, out)
		}
	}
}

// TestFanout finds and puts notes where git does once there are many, and
// keeps what is no note.
func TestFanout(t *testing.T) {
	dir, r, head := notesRepo(t)
	index := filepath.Join(t.TempDir(), "index")
	inside := r
	inside.Index = index
	blob := strings.TrimSpace(mustRun(inside.RunWithInput(t.Context(), strings.NewReader("Mine\n"), "hash-object", "-w", "--stdin")))
	entries := "100644 " + blob + "\t" + head[:2] + "/" + head[2:] + "\n100644 " + blob + "\tREADME\n"
	mustRun(inside.RunWithInput(t.Context(), strings.NewReader(entries), "update-index", "--index-info"))
	tree := strings.TrimSpace(mustRun(inside.Run(t.Context(), "write-tree")))
	gittest.RunGit(t, dir, "update-ref", git.NotesRef, gittest.RunGit(t, dir, "commit-tree", "-m", "notes", tree))
	gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "next")
	next := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	writeNotesOnce(t, r, head, "ours")
	writeNotesOnce(t, r, next, "new")
	if got := gittest.RunGit(t, dir, "notes", "--ref", "nexus", "show", head); got != "Mine\nours" {
		t.Errorf("the note is %q", got)
	}
	if got := gittest.RunGit(t, dir, "notes", "--ref", "nexus", "show", next); got != "new" {
		t.Errorf("the new note is %q", got)
	}
	want := []string{"README", head[:2] + "/" + head[2:], next[:2] + "/" + next[2:]}
	names := gittest.RunGit(t, dir, "ls-tree", "-r", "--name-only", git.NotesRef)
	for _, name := range want {
		if !strings.Contains(names, name) {
			t.Errorf("%s is not in %q", name, names)
		}
	}
	if text, err := git.ReadNote(t.Context(), r, next); err != nil || string(text) != "new\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func mustRun(out string, err error) string {
	if err != nil {
		panic(err)
	}
	return out
}

// TestOthers moves the ref while notes are written: nothing of either is lost.
func TestOthers(t *testing.T) {
	dir, r, head := notesRepo(t)
	meanwhile := 0
	edit := func(old []byte) ([]byte, error) {
		if meanwhile++; meanwhile == 1 {
			gittest.RunGit(t, dir, "notes", "--ref", "nexus", "append", "-m", "Mine", head)
		}
		return append(bytes.Clone(old), "ours\n"...), nil
	}
	if err := git.WriteNotes(t.Context(), r, t.TempDir(), map[string]git.NoteEditFunc{head: edit}); err != nil {
		t.Fatal(err)
	}
	if got := gittest.RunGit(t, dir, "notes", "--ref", "nexus", "show", head); got != "Mine\nours" {
		t.Errorf("the note is %q", got)
	}
}

// TestRefused leaves alone a ref that is not ours to write, and a note that is
// too large.
func TestRefused(t *testing.T) {
	for name, spoil := range map[string]func(dir, head string){
		"points at": func(dir, _ string) { gittest.RunGit(t, dir, "symbolic-ref", git.NotesRef, "refs/heads/main") },
		"move refs": func(dir, head string) { gittest.RunGit(t, dir, "update-ref", git.NotesRef+"/sub", head) },
		"has more than": func(dir, head string) {
			file := filepath.Join(t.TempDir(), "large")
			if err := os.WriteFile(file, bytes.Repeat([]byte("x\n"), 1<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			gittest.RunGit(t, dir, "notes", "--ref", "nexus", "add", "-F", file, head)
		},
	} {
		dir, r, head := notesRepo(t)
		spoil(dir, head)
		was := gittest.RunGit(t, dir, "for-each-ref")
		err := git.WriteNotes(context.WithoutCancel(t.Context()), r, t.TempDir(), map[string]git.NoteEditFunc{head: add("ours")})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if now := gittest.RunGit(t, dir, "for-each-ref"); now != was {
			t.Errorf("%s: refs were %s, and are %s", name, was, now)
		}
	}
}
