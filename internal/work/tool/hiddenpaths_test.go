package tool

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// TestCut leaves the changes of hidden files out of what git shows, in all the
// ways in which git names them, and keeps all others.
func TestCut(t *testing.T) {
	token := "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.yaml"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	l := newHiddenPaths(AgentToolEnvironment{Dir: dir, Root: root})
	for head, kept := range map[string]bool{
		"diff --git a/.env b/.env": false, "diff --git a/x/.env b/x/plain": false, "diff --git a/plain b/.env": false, `diff --git "a/d \303\274/.env" "b/d \303\274/.env"`: false, "diff --cc .env": false, "diff --git .env .env": false,
		"diff --git i/app.yaml w/app.yaml": false, "diff --git a/app.yaml b/app.yaml": false, "diff --git a/main.go b/main.go": true, "diff --git a/.env.example b/.env.example": true, "diff --git a/with space b/with space": true,
	} {
		text := "commit 0123456789\n\n    words\n\n" + head + "\nindex 1..2\n@@ -1 +1 @@\n-SECRET1\n+SECRET2\ncommit 1123456789\n\n    others\n\ndiff --git a/b.go b/b.go\n+kept\n"
		got := l.removeHiddenDiffs(text)
		if strings.Contains(got, "SECRET") != kept || !strings.Contains(got, "others") || !strings.Contains(got, "+kept") || !strings.Contains(got, "words") || kept != (got == text) {
			t.Errorf("%s:\n%s", head, got)
		}
	}
	drawn := "* commit 0123456789\n| \n|     words\n| \n| diff --git a/.env b/.env\n| @@ -1 +1 @@\n| -SECRET1\n|   \n* commit 1123456789\n  \n      others\n  \n  diff --git a/b.go b/b.go\n  +kept\n"
	if got := l.removeHiddenDiffs(drawn); strings.Contains(got, "SECRET") || !strings.Contains(got, "others") || !strings.Contains(got, "+kept") {
		t.Errorf("a graph: %s", got)
	}
	old := "diff --git a/old.yaml b/old.yaml\n+++ b/old.yaml\n+a: " + token + "\n"
	if got := l.removeHiddenDiffs(old); strings.Contains(got, token) || !strings.Contains(got, "line 3 holds") {
		t.Errorf("a file that is gone: %s", got)
	}
	for arg, want := range map[string]string{"HEAD:.env": ".env", "./x/../.env": ".env", "-L1,2:.env": ".env", "--stat": "", "HEAD:./a/.env": "a/.env"} {
		if got := namedGitPath(arg); got != want {
			t.Errorf("%s names %q", arg, got)
		}
	}
	if (files.HiddenPathRules{}).NameReason(".env") == "" {
		t.Error("no name is hidden")
	}
}

// TestMovedFilesStayHidden moves the directory of a hidden file between two
// commands.
func TestMovedFilesStayHidden(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "config"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config", "credentials.json"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	l := newHiddenPaths(AgentToolEnvironment{Dir: dir, Root: root})
	if got := l.currentPaths(); len(got) != 1 || got[0] != filepath.Join(dir, "config", "credentials.json") {
		t.Fatalf("got %q", got)
	}
	if err := os.Rename(filepath.Join(dir, "config"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	if got := l.currentPaths(); len(got) != 1 || got[0] != filepath.Join(dir, "other", "credentials.json") {
		t.Errorf("got %q", got)
	}
}

// TestTooMuchToHide runs no command where some of what is to be hidden could be
// opened, and covers directories before it comes to that.
func TestTooMuchToHide(t *testing.T) {
	for _, all := range []bool{true, false} {
		b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
		if !b.env.Box.HidesHost() {
			testenv.NeedMachine(t, "a sandbox that hides files", errors.New("this one hides none"))
		}
		b.write(t, ".nexusignore", "*.x\n")
		for i := range maxHiddenPaths + 1 {
			b.write(t, fmt.Sprintf("all/%d.x", i), "")
		}
		if all {
			b.good(t, "shell", m{"command": "echo works"})
			continue
		}
		b.write(t, "all/shown", "")
		b.bad(t, "shell", m{"command": "echo works"}, "(path.hidden)")
	}
}

// TestMovedOutFromUnderAPattern moves the directory of a file that .nexusignore names by its
// place, by a command and by a job that runs on: the file is back where it was before the
// next command starts, and nothing could be read meanwhile.
func TestMovedOutFromUnderAPattern(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box, e.Writes = box(t), true })
	if !b.env.Box.HidesHost() {
		testenv.NeedMachine(t, "a sandbox that hides files", errors.New("this one hides none"))
	}
	b.write(t, ".nexusignore", "/conf/rates.txt\n")
	b.write(t, "conf/rates.txt", "CANARY\n")
	b.write(t, "conf/plain.txt", "plain\n")
	b.write(t, ".git", "gitdir: elsewhere\n")
	said := func(command, want string) {
		t.Helper()
		got := b.call(t, "shell", m{"command": command}).Result.Text
		if !strings.Contains(got, want) || strings.Contains(got, "CANARY") {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for _, to := range []string{"public", "deep/er"} {
		said("mkdir -p deep; mv conf "+to+"; cat "+to+"/rates.txt", "[put back, because .nexusignore hides it from agents, where it is: conf/rates.txt]")
		said("cat "+to+"/rates.txt conf/rates.txt", "denied")
		b.good(t, "shell", m{"command": "mv " + to + "/plain.txt conf/"})
	}
	if err := os.Rename(filepath.Join(b.dir, "conf"), filepath.Join(b.dir, "open")); err != nil { // as a job does
		t.Fatal(err)
	}
	said("cat open/rates.txt conf/rates.txt", "denied")
}

// TestPutBackTakesNothingElse deletes what .nexusignore names and makes other files, one of which gets
// the number that was free then: it stays where it is. What was moved and touched is put back all the same.
func TestPutBackTakesNothingElse(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".nexusignore", "/rates.txt\n")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	reused := false
	for range 20 {
		write("rates.txt", "secret\n")
		old, err := os.Lstat(filepath.Join(dir, "rates.txt"))
		if err != nil {
			t.Fatal(err)
		}
		put := FindHiddenPathRestore(AgentToolEnvironment{Dir: dir, Root: root, Writes: true})
		for begun := filewrite.BirthTime(filepath.Join(dir, "rates.txt")); ; { // the clock of the file system is coarse
			write("later", "")
			if !filewrite.BirthTime(filepath.Join(dir, "later")).Equal(begun) || begun.IsZero() {
				break
			}
			if err := os.Remove(filepath.Join(dir, "later")); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(filepath.Join(dir, "rates.txt")); err != nil {
			t.Fatal(err)
		}
		write("work.txt", "work that took an hour\n")
		is, err := os.Lstat(filepath.Join(dir, "work.txt"))
		if err != nil {
			t.Fatal(err)
		}
		reused = reused || os.SameFile(old, is)
		if back := put(); len(back) > 0 {
			t.Fatalf("%q was put back", back)
		}
		for _, name := range []string{"work.txt", "later"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	if !reused {
		t.Log("no number was used twice on this file system")
	}
	write("rates.txt", "secret\n")
	put := FindHiddenPathRestore(AgentToolEnvironment{Dir: dir, Root: root, Writes: true})
	if err := os.Rename(filepath.Join(dir, "rates.txt"), filepath.Join(dir, "open.txt")); err != nil {
		t.Fatal(err)
	}
	known := !filewrite.BirthTime(filepath.Join(dir, "open.txt")).IsZero()
	if err := os.Chtimes(filepath.Join(dir, "open.txt"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if back := put(); known && (len(back) != 1 || back[0] != "rates.txt") {
		t.Errorf("%q was put back", back)
	}
}

// TestNothingIsInTheWay moves what .nexusignore names away and puts something else in its place, or in that of its
// directory: it is back all the same, and can be read neither by a command nor by a tool.
func TestNothingIsInTheWay(t *testing.T) {
	for _, trick := range []string{
		"mv conf/rates.txt open.txt; mkdir -p conf/rates.txt/in",
		"mv conf d; mv d/rates.txt open.txt; echo file >conf",
		"mv conf d; mv d/rates.txt r; mv r conf",
		"mv conf d; ln -s d conf",
	} {
		dir := t.TempDir()
		sh := func(line string) string {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v: %s", line, err, out)
			}
			return string(out)
		}
		sh("mkdir conf; echo CANARY >conf/rates.txt; echo /conf/rates.txt >.nexusignore")
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		put := FindHiddenPathRestore(AgentToolEnvironment{Dir: dir, Root: root, Writes: true})
		sh(trick)
		back := put()
		if got := sh("grep -rl CANARY . || true"); got != "./conf/rates.txt\n" || len(back) != 1 {
			t.Errorf("%s: it is in %q, and %q is back", trick, got, back)
		}
		if got := sh("test -L conf && echo linked || true"); got != "" {
			t.Errorf("%s: the directory is a link", trick)
		}
	}
}
