package stack

import (
	"slices"
	"strings"
	"testing"
)

// TestMissingPaths as the tools of several languages name them.
func TestMissingPaths(t *testing.T) {
	for _, c := range []struct{ dir, file, says, want string }{
		{"", "", "cat: build/x.txt: No such file or directory", "build/x.txt"},
		{"web", "", "sh: 1: ./gen/run.sh: not found", "web/gen/run.sh"},
		{"", "pkg/a_test.go", "open testdata/out/x.json: no such file or directory", "pkg/testdata/out/x.json"},
		{"", "", "FileNotFoundError: [Errno 2] No such file or directory: 'build/x.txt'", "build/x.txt"},
		{"", "", "ModuleNotFoundError: No module named 'lib.config'", "lib/config.py lib/config/"},
		{"", "src/a.test.js", "Cannot find module '../lib/config' from 'src/a.test.js'", "lib/config.js lib/config/"},
		{"", "", "no required module provides package example.org/m/internal/build; to add it:", "m/internal/build/ internal/build/ build/"},
		{"", "main.go", "package m/dist is not in std (/usr/lib/go/src/m/dist)", "dist/"},
		{"", "", "fatal error: gen/a.h: No such file or directory", "gen/a.h"},
	} {
		got := MissingPaths(c.dir, c.file, c.says)
		for want := range strings.FieldsSeq(c.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%q: %q lacks %s", c.says, got, want)
			}
		}
	}
	for _, says := range []string{"", "a.go:3: wrong", "not found", "https://example.org/x.txt not found", "/etc/x.conf: no such file", "got 1.5 not 2.0"} {
		if got := MissingPaths("", "", says); len(got) > 0 {
			t.Errorf("%q: %q", says, got)
		}
	}
}

// FuzzMissingPaths never returns a path outside the root.
func FuzzMissingPaths(f *testing.F) {
	f.Add("a", "b/c.go", "open ../../../x: no such file")
	f.Add("", "", "No module named '....'")
	f.Add("", "../x", "cannot find ./y")
	f.Fuzz(func(t *testing.T, dir, file, says string) {
		for _, p := range MissingPaths(dir, file, says) {
			if p == "" || p == "." || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "../") || p == ".." {
				t.Errorf("%q", p)
			}
		}
	})
}
