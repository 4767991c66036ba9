package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexus-ai-builder/nexus/internal/sys/forge/forgetest"
)

// forgeServer starts a server of GitHub and GitLab at $FORGE_URL, whose issue o/r#7 has the title and text: forge TITLE TEXT.
// What follows is said about it: a name with a + may write to the project, and a text.
func forgeServer(ts *testscript.TestScript, _ bool, args []string) {
	s := forgetest.Start()
	s.Title, s.Body = args[0], args[1]
	for i := 2; i+1 < len(args); i += 2 {
		name, writes := strings.CutSuffix(args[i], "+")
		s.Say(forgetest.Said{Author: name, Body: args[i+1], Writer: writes})
	}
	ts.Defer(s.Close)
	playOf(ts).forge = s
	ts.Setenv("FORGE_URL", s.URL())
	for _, name := range []string{"GITHUB_SERVER_URL", "GITHUB_API_URL", "CI_SERVER_URL"} {
		ts.Setenv(name, s.Env(name))
	}
}

// commented waits until one comment of the issue, and no more, begins with Nexus's mark and says all that follows. With
// -each N, N comments do.
func commented(ts *testscript.TestScript, neg bool, args []string) {
	s, n := playOf(ts).forge, 1
	if args[0] == "-each" {
		var err error
		n, err = strconv.Atoi(args[1])
		ts.Check(err)
		args = args[2:]
	}
	var found []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		found = nil
		for _, c := range s.Comments() {
			if strings.HasPrefix(c.Body, "<!-- nexus:") {
				found = append(found, c.Body)
			}
		}
		all := len(found) == n
		for _, want := range args {
			for _, text := range found {
				all = all && strings.Contains(text, want)
			}
		}
		if all != neg {
			return
		}
		if neg {
			break
		}
	}
	ts.Fatalf("the comments are %q", found)
}
