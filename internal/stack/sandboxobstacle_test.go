package stack_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// TestObstacleIn reads what tools really printed.
func TestObstacleIn(t *testing.T) {
	for text, want := range map[string]string{
		"fatal: not a git repository (or any of the parent directories): .git\n":                                                                                     "no git repository",
		"x\nwarning: Not a git repository. Use --no-index to compare two paths outside a working tree\nusage: git diff":                                              "no git repository",
		"error obtaining VCS status: exit status 128\n\tUse -buildvcs=false to disable VCS stamping.":                                                                "no git repository",
		"main.go:4:2: github.com/spf13/cobra@v1.8.0: module lookup disabled by GOPROXY=off":                                                                          "modules that are not on this machine",
		"npm error code ENOTCACHED\nnpm error request to https://packages.example/left-pad failed: cache mode is 'only-if-cached' but no cached response available.": "packages that are not on this machine",
		"error: no matching package named `serde` found\nlocation searched: crates.io index":                                                                         "packages that are not on this machine",
		"curl: (6) Could not resolve host: example.org":                                                                                                              "no network",
		"Error: getaddrinfo EAI_AGAIN packages.example":                                                                                                              "no network",
		"OSError: [Errno 30] Read-only file system: '/usr/share/x'":                                                                                                  "a file system that is read only",
		"Error: EROFS: read-only file system, open '/etc/x'":                                                                                                         "a file system that is read only",
		"cat: /home/ada/.aws/credentials: Permission denied":                                                                                                         "a path that the sandbox hides",
		"PermissionError: [Errno 13] Permission denied: '/home/ada/.config/x'":                                                                                       "a path that the sandbox hides",
		"*** Please tell me who you are.\n\nRun":                                                                                                                     "no identity for commits",
		"fatal: empty ident name (for <root@box>) not allowed":                                                                                                       "no identity for commits",
		"_tkinter.TclError: no display name and no $DISPLAY environment variable":                                                                                    "no display",
		"qt.qpa.xcb: could not connect to display":                                                                                                                   "no display",

		"": "",
		"--- FAIL: TestX (0.00s)\n    x_test.go:4: got 1, want 2": "",
		"bash: ./run.sh: Permission denied":                       "", // a file of the tree that is not executable
		"ls: cannot open directory: No such file or directory":    "",
		"the display of prices is wrong":                          "",
	} {
		o, line, ok := stack.ObstacleIn(text)
		if o.Name != want || ok != (want != "") || ok && (line == "" || !strings.Contains(text, line) || o.Cure == "") {
			t.Errorf("%q: %q, %q, %t; want %q", text, o.Name, line, ok, want)
		}
	}
}

// FuzzObstacleIn names only lines that were printed.
func FuzzObstacleIn(f *testing.F) {
	f.Add("a\nfatal: not a git repository\n")
	f.Add("\x00\xff\nEROFS")
	f.Fuzz(func(t *testing.T, text string) {
		if o, line, ok := stack.ObstacleIn(text); ok != (o.Name != "") || !strings.Contains(text, line) || strings.Contains(line, "\n") {
			t.Errorf("%q: %+v, %q, %t", text, o, line, ok)
		}
	})
}
