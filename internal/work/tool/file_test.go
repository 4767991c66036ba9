package tool

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestFormsAreKept(t *testing.T) {
	b := newBench(t, nil)
	for name, c := range map[string]struct{ is, edited, written string }{
		"crlf":   {"one\r\ntwo\r\n", "one\r\n2\r\n3\r\n", "a\r\nb\r\n"},
		"bom":    {"\xef\xbb\xbfone\ntwo\n", "\xef\xbb\xbfone\n2\n3\n", "\xef\xbb\xbfa\nb\n"},
		"utf16":  {"\xff\xfeo\x00n\x00e\x00\n\x00t\x00w\x00o\x00\n\x00", "\xff\xfeo\x00n\x00e\x00\n\x002\x00\n\x003\x00\n\x00", "\xff\xfea\x00\n\x00b\x00\n\x00"},
		"latin1": {"on\xe9 one\ntwo\n", "on\xe9 one\n2\n3\n", "a\nb\n"},
		"noend":  {"one\r\ntwo", "one\r\n2\r\n3", "a\r\nb\r\n"},
		"mixed":  {"one\ntwo\n\r\n", "one\n2\n3\n\r\n", "a\nb\n"},
	} {
		b.write(t, name, c.is)
		if got := b.good(t, "read_file", m{"path": name}); !strings.Contains(got, "one\ntwo") {
			t.Errorf("%s reads %q", name, got)
		}
		b.good(t, "edit_file", m{"path": name, "edits": []m{{"old": "two", "new": "2\n3"}}})
		if got := b.read(t, name); got != c.edited {
			t.Errorf("%s edited: %q", name, got)
		}
		b.good(t, "write_file", m{"path": name, "content": "a\nb\n"})
		if got := b.read(t, name); got != c.written {
			t.Errorf("%s written: %q", name, got)
		}
	}
	b.write(t, "l1", "\xe9\n")
	b.bad(t, "edit_file", m{"path": "l1", "edits": []m{{"old": "\u00e9", "new": "\u20ac"}}}, "one byte for each character")
	b.good(t, "edit_file", m{"path": "l1", "edits": []m{{"old": "\u00e9", "new": "\u00e8"}}})
	if got := b.read(t, "l1"); got != "\xe8\n" {
		t.Errorf("%q", got)
	}
	b.write(t, "image", "\x89PNG\x00\x01")
	b.bad(t, "edit_file", m{"path": "image", "edits": []m{{"old": "PNG", "new": "GIF"}}}, "binary")
	b.bad(t, "write_file", m{"path": "nul", "content": "a\x00b"}, "NUL")
	b.write(t, "huge", strings.Repeat("x", 8<<20+1))
	b.bad(t, "edit_file", m{"path": "huge", "edits": []m{{"old": "x", "new": "y", "all": true}}}, "too many")
}

func TestStale(t *testing.T) {
	b := newBench(t, nil)
	text := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	edit := func(old, now string) m { return m{"path": "a", "edits": []m{{"old": old, "new": now}}} }
	b.write(t, "a", text)
	b.good(t, "read_file", m{"path": "a", "limit": 1})
	b.write(t, "a", strings.Replace(text, "2\n", "two\n", 1))
	// Far from the change it is made, and the agent is told.
	if got := b.good(t, "edit_file", edit("8", "eight")); !strings.Contains(got, "had changed since you read it:\nlines 2-2 changed:\ntwo\n]") {
		t.Errorf("got %q", got)
	}
	// Once told, it is known.
	if got := b.good(t, "edit_file", edit("9", "nine")); strings.Contains(got, "had changed") {
		t.Errorf("got %q", got)
	}
	// Next to it, it is not made, once.
	b.write(t, "a", strings.Replace(b.read(t, "a"), "3\n", "", 1))
	b.bad(t, "edit_file", edit("4", "four"), "after line 2, 1 lines are gone")
	b.good(t, "edit_file", edit("4", "four"))
	// Whoever quotes the change knows it.
	b.write(t, "a", strings.Replace(b.read(t, "a"), "four\n", "4\nnew\n", 1))
	b.good(t, "edit_file", edit("two\n4\nnew\n5", "x"))
	// Nothing is overwritten unseen.
	b.write(t, "a", "other\n")
	b.bad(t, "write_file", m{"path": "a", "content": "mine\n"}, "it changed since you read it")
	b.good(t, "write_file", m{"path": "a", "content": "mine\n"})
	// Not found, it says what changed.
	b.write(t, "a", "theirs\n")
	b.bad(t, "edit_file", edit("mine", "x"), "had changed since you read it")
}

func TestHardLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(outside, []byte("old\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil)
	for _, tool := range []string{"write_file", "edit_file"} {
		inside := filepath.Join(b.dir, tool)
		if err := os.Link(outside, inside); err != nil {
			testenv.NeedMachine(t, "a hard link", err)
		}
		input := m{"path": tool, "content": "new\n"}
		if tool == "edit_file" {
			input = m{"path": tool, "edits": []m{{"old": "old", "new": "new"}}}
		}
		b.good(t, tool, input)
		info, err := os.Stat(inside)
		if err != nil {
			t.Fatal(err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Nlink != 1 || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %+v", tool, info)
		}
		if data, _ := os.ReadFile(outside); string(data) != "old\n" || b.read(t, tool) != "new\n" {
			t.Errorf("%s wrote through a hard link", tool)
		}
	}
}

func TestSpecialFiles(t *testing.T) {
	b := newBench(t, nil)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(b.dir) // a socket's path is short
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "socket"}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	special := map[string]string{"socket": "socket"}
	if unix.Mknod(filepath.Join(b.dir, "zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) == nil {
		special["zero"] = "device"
	}
	for name, says := range special {
		b.bad(t, "read_file", m{"path": name}, says)
		b.bad(t, "write_file", m{"path": name, "content": "x"}, says)
		b.bad(t, "edit_file", m{"path": name, "edits": []m{{"old": "a", "new": "b"}}}, says)
		b.bad(t, "search_code", m{"path": name, "pattern": "x"}, says)
	}
}

// TestRacingLinks changes what a directory is while files in it are read and
// written: nothing comes from, and nothing goes to, where it must not.
func TestRacingLinks(t *testing.T) {
	outside := t.TempDir()
	b := newBench(t, nil)
	for _, dir := range []string{outside, filepath.Join(b.dir, ".git"), filepath.Join(b.dir, "real")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "x"), []byte("s3cret"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.write(t, "real/x", "fine")
	stop := make(chan struct{})
	var racing sync.WaitGroup
	racing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			tmp := filepath.Join(b.dir, "next")
			_ = os.Remove(tmp)
			_ = os.Symlink([]string{"real", ".git", outside}[i%3], tmp)
			_ = os.Rename(tmp, filepath.Join(b.dir, "way"))
		}
	})
	good := 0
	for i := range 3000 {
		if a := b.call(t, "read_file", m{"path": "way/x"}); strings.Contains(a.Result.Text, "s3cret") {
			t.Fatalf("read %q", a.Result.Text)
		}
		tool, input := "write_file", m{"path": "way/x", "content": "fine"}
		if i%2 == 0 {
			tool, input = "edit_file", m{"path": "way/x", "edits": []m{{"old": "s3cret", "new": "gone"}}}
		}
		if a := b.call(t, tool, input); !a.Result.Failed {
			good++
		}
	}
	close(stop)
	racing.Wait()
	for _, dir := range []string{outside, filepath.Join(b.dir, ".git")} {
		if data, _ := os.ReadFile(filepath.Join(dir, "x")); string(data) != "s3cret" {
			t.Errorf("%s holds %q", dir, data)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s holds %v", dir, left)
		}
	}
	t.Logf("%d of 3,000 writes landed where they may", good)
}
