package files

import (
	"strings"
	"testing"
)

func TestSeenIsBounded(t *testing.T) {
	s := newSeen()
	long := strings.Repeat("x\n", maxSeen/4)
	for _, name := range []string{"a", "b", "c", "d", "e", "e", "f"} {
		s.keep(name, long)
	}
	if s.lines > maxSeen || len(s.files) != 4 || len(s.order) != 4 || s.files["f"] == nil {
		t.Errorf("%d lines of %d files", s.lines, len(s.files))
	}
	if s.changes("a", "") != nil || s.changes("f", long) != nil || len(s.changes("f", long+"y\n")) != 1 {
		t.Error("wrong changes")
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a", "../a", "/tmp/tree/a", "/tmp/tree-evil/a", "a/../../b", "/tmp/tree/../x", ".git", "a/.GIT/b", "//a", "a\x00b", "\xff", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := New("/tmp/tree", nil).Clean(name, true)
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
