package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexus-ai-builder/nexus/internal/sys/forge/forgetest"
)

// forgeServer starts a server of GitHub and GitLab at $FORGE_URL, whose issue o/r#7 has the title and text: forge TITLE TEXT.
// What follows is said about it: a name with a + may write to the project, and a text.
func forgeServer(ts *testscript.TestScript, _ bool, args []string) {
	s := forgetest.StartServer()
	s.Title, s.Body = args[0], args[1]
	for i := 2; i+1 < len(args); i += 2 {
		name, writes := strings.CutSuffix(args[i], "+")
		s.AddComments(forgetest.ServedComment{Author: name, Body: args[i+1], Writer: writes})
	}
	ts.Defer(s.Close)
	playOf(ts).forge = s
	ts.Setenv("FORGE_URL", s.URL())
	ts.Setenv("FORGE_TOKEN", forgetest.Token)
	for _, name := range []string{"GITHUB_SERVER_URL", "GITHUB_API_URL", "CI_SERVER_URL"} {
		ts.Setenv(name, s.LookupEnv(name))
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

// forgeGit lets the forge serve the project's repository to git, at $FORGE_URL/o/r.git: forgegit.
func forgeGit(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 0 {
		ts.Fatalf("usage: forgegit")
	}
	program, err := exec.LookPath("git")
	ts.Check(err)
	dir := ts.MkAbs("../served")
	ts.Check(ts.Exec("git", "init", "-q", "--bare", "-b", "main", filepath.Join(dir, "o", "r.git")))
	playOf(ts).forge.ServeGit(program, dir)
	ts.Setenv("FORGE_GIT", filepath.Join(dir, "o", "r.git"))
}

// pullRequest holds what a pull request of the forge says, or lets a person end it: pull N open|merged|closed BRANCH
// TEXT..., pull N end merged|closed, pull N none. Or it leaves who opens the next one without an answer, and waits until
// somebody is: pull stall before|after, pull stalled.
func pullRequest(ts *testscript.TestScript, _ bool, args []string) {
	s := playOf(ts).forge
	switch args[0] {
	case "stall":
		playOf(ts).stalled = s.StallNextPull(args[1])
		return
	case "stalled":
		select {
		case <-playOf(ts).stalled:
		case <-time.After(patience):
			ts.Fatalf("nobody opens a pull request")
		}
		return
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := s.PullRequests()
	switch {
	case args[1] == "none" && len(all) < n:
		return
	case len(all) < n || args[1] == "none":
		ts.Fatalf("there are %d pull requests: %+v", len(all), all)
	case args[1] == "end":
		s.EndPull(n, args[2])
		return
	}
	p := all[n-1]
	good := p.State == args[1] && p.Branch == args[2] && p.Base == "main"
	for _, text := range args[3:] {
		good = good && strings.Contains(p.Title+"\n"+p.Body, text)
	}
	if !good {
		ts.Fatalf("pull request %d is %+v", n, p)
	}
}

// registry starts a registry of npm at $REGISTRY that has a package in some versions, the newest last: registry NAME
// VERSION...
func registry(ts *testscript.TestScript, _ bool, args []string) {
	versions := map[string]any{}
	for _, v := range args[1:] {
		versions[v] = map[string]any{"name": args[0], "version": v, "dist": map[string]any{"tarball": "http://127.0.0.1:1/x.tgz"}}
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/"+args[0] {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{ // who hung up hears nothing
			"name": args[0], "versions": versions, "dist-tags": map[string]any{"latest": args[len(args)-1]},
		})
	}))
	ts.Defer(web.Close)
	ts.Setenv("REGISTRY", web.URL+"/")
}
