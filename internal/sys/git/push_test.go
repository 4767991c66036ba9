package git_test

import (
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestPush moves a branch of a server forward with a token, runs no hook, overwrites nothing, and lets the token go
// nowhere else.
func TestPush(t *testing.T) {
	testenv.NeedTool(t, "git")
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	work := filepath.Join(top, "work")
	sh := func(dir, line string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	sh(top, `git init -q --bare o/r.git; git init -q -b main work; cd work; git commit -q --allow-empty -m one
printf '#!/bin/sh\ntouch %s/hooked\n' "$PWD" >.git/hooks/pre-push; chmod +x .git/hooks/pre-push`)
	one := sh(work, "git rev-parse HEAD")
	sh(work, "git commit -q --allow-empty -m two")
	two := sh(work, "git rev-parse HEAD")
	sh(work, "git checkout -q --orphan other; git commit -q --allow-empty -m other")
	other := sh(work, "git rev-parse HEAD")
	backend := &cgi.Handler{
		Path: program, Args: []string{"http-backend"}, Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + top, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x"},
	}
	var elsewhere []string
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere = append(elsewhere, r.Header.Get("Authorization"))
	}))
	defer stranger.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token, _ := r.BasicAuth()
		switch {
		case strings.HasPrefix(r.URL.Path, "/away"):
			http.Redirect(w, r, stranger.URL+r.URL.Path, http.StatusFound)
		case token != "secret-token":
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	repo := git.Repo{Dir: filepath.Join(work, ".git"), Work: work}
	to := git.RemoteRepo{URL: server.URL + "/o/r.git", User: "x-access-token", Token: "secret-token"}
	at := func() string {
		return sh(filepath.Join(top, "o/r.git"), "git rev-parse -q --verify refs/heads/nexus/improve/todo || echo none")
	}
	for _, c := range []struct {
		to                  git.RemoteRepo
		commit, at, message string
	}{
		{git.RemoteRepo{URL: to.URL, User: "x", Token: "wrong-token"}, one, "none", "was not pushed"},
		{git.RemoteRepo{URL: server.URL + "/away/r.git", User: "x", Token: "secret-token"}, one, "none", "was not pushed"},
		{git.RemoteRepo{URL: "http://example.org/o/r.git", User: "x", Token: "secret-token"}, one, "none", "is no https address"},
		{git.RemoteRepo{URL: "http://127.0.0.1.example.org/o/r.git", User: "x", Token: "secret-token"}, one, "none", "is no https address"},
		{git.RemoteRepo{URL: "file://" + top + "/o/r.git"}, one, "none", "is no https address"},
		{to, one, one, ""},
		{to, two, two, ""},
		{to, two, two, ""},
		{to, other, two, "has other commits at"},
	} {
		err := repo.Push(t.Context(), c.to, "nexus/improve/todo", c.commit)
		e, told := errors.AsType[*nexus.Error](err)
		if at() != c.at || (err != nil) != (c.message != "") || told && (!strings.Contains(e.Message, c.message) || e.Hint == "") {
			t.Errorf("%s to %s: at %s, %v", c.commit, c.to.URL, at(), err)
		}
		if err != nil && strings.Contains(err.Error(), "-token") {
			t.Errorf("%v tells the token", err)
		}
	}
	if err := repo.Push(t.Context(), to, "a..b", two); err == nil {
		t.Error("what is no name is a branch")
	}
	if _, err := os.Lstat(filepath.Join(work, "hooked")); err == nil {
		t.Error("a hook ran")
	}
	for _, said := range elsewhere {
		if said != "" {
			t.Error("another server heard", said)
		}
	}
}
