package files

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestSeenIsBounded(t *testing.T) {
	s := newReadHistory()
	long := strings.Repeat("x\n", maxSeen/4)
	for _, name := range []string{"a", "b", "c", "d", "e", "e", "f"} {
		s.rememberVersion(name, long)
	}
	if s.lines > maxSeen || len(s.files) != 4 || len(s.order) != 4 || s.files["f"].lines == nil {
		t.Errorf("%d lines of %d files", s.lines, len(s.files))
	}
	if s.changesSinceRead("a", "") != nil || s.changesSinceRead("f", long) != nil || len(s.changesSinceRead("f", long+"y\n")) != 1 {
		t.Error("wrong changes")
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a", "../a", "/tmp/tree/a", "/tmp/tree-evil/a", "a/../../b", "/tmp/tree/../x", ".git", "a/.GIT/b", "//a", "a\x00b", "\xff", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := NewAgentTree("/tmp/tree", nil).CleanPath(name, true)
		if err != nil {
			return
		}
		if got == "" || got[0] == '/' || got == ".." || strings.HasPrefix(got, "../") || strings.Contains(got, "/../") || strings.ContainsRune(got, 0) {
			t.Errorf("%q became %q", name, got)
		}
		for part := range strings.SplitSeq(got, "/") {
			if strings.EqualFold(part, ".git") {
				t.Errorf("%q became %q", name, got)
			}
		}
	})
}

// BenchmarkEdit replaces a line in the middle of files of several sizes, read,
// checked, written and shown as a diff.
func BenchmarkEdit(b *testing.B) {
	for _, lines := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(lines), func(b *testing.B) {
			dir := b.TempDir()
			root, err := os.OpenRoot(dir)
			if err != nil {
				b.Fatal(err)
			}
			defer root.Close()
			t := NewAgentTree(dir, root)
			t.Writes = true
			var text strings.Builder
			for i := range lines {
				fmt.Fprintf(&text, "\tline %d of a file, as long as they are\n", i)
			}
			if _, err := t.Write("a.go", text.String()); err != nil {
				b.Fatal(err)
			}
			old, now := fmt.Sprintf("line %d of", lines/2), fmt.Sprintf("LINE %d of", lines/2)
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := t.EditFile("a.go", []TextReplacement{{Old: old, New: now}}); err != nil {
					b.Fatal(err)
				}
				old, now = now, old
			}
		})
	}
}
