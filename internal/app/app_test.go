package app_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

const script = `conversations:
  - match: T1.*/coder.1
    turns:
      - calls: [{tool: write_file, input: {path: README, content: "Goodbye.\n"}}]
      - calls: [{tool: finish, input: {status: done, summary: Says goodbye.}}]
  - match: T*/reviewer.*
    turns:
      - calls: [{tool: finish, input: {approved: true, summary: Good., findings: []}}]
`

// calls keeps what a watcher is called with.
type calls struct {
	did   []string
	again bool
	final *state.State
}

func (c *calls) Begin(_ context.Context, _ nexus.RunID, again bool) {
	c.did, c.again = append(c.did, "begin"), again
}
func (c *calls) Follow(_, work context.Context) { <-work.Done() }
func (c *calls) Finish(_ context.Context, final *state.State) {
	c.did, c.final = append(c.did, "finish"), final
}

// TestConductWithoutAConsole has a host that is no command: settings instead of
// flags, a watcher instead of a screen, and the state as the result.
func TestConductWithoutAConsole(t *testing.T) {
	parsed, err := llmtest.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	server, stop, err := llmtest.StartServer(t.Context(), parsed, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir, home := filepath.Join(t.TempDir(), "proj"), t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{"README": "Hello.\n", "nexus.toml": "[gates]\nbuild = \"test -f README\"\n"})
	gittest.RunGit(t, dir, "init", "-q")
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "begin")
	env := map[string]string{"HOME": home, "PATH": "/usr/bin:/bin", "ANTHROPIC_API_KEY": "scripted", "ANTHROPIC_BASE_URL": server.URL()}
	var told []app.AppNotice
	a := &app.App{
		Env: func(name string) string { return env[name] }, Now: time.Now, Mask: secret.NewMasker(nil), Dir: dir,
		Set: map[string]string{"sandbox": "off"}, Report: func(n app.AppNotice) { told = append(told, n) },
	}
	p, err := a.OpenRepository(t.Context(), app.CreateAccess)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	settings, _, err := a.LoadSettings()
	if err != nil {
		t.Fatal(err)
	}
	task := nexus.Task{ID: "T1", Title: "Say goodbye", Brief: "Say goodbye in the README.", Strategy: nexus.NoTest, Files: []string{"README"}, Criteria: []nexus.Criterion{{Text: "it says goodbye", Check: "grep -q Goodbye README"}}}
	o := app.RunOptions{Goal: nexus.Goal{Text: "Say goodbye", Mode: nexus.Evolution}, Plan: &nexus.Plan{Goal: "Say goodbye", Tasks: []nexus.Task{task}}, Headless: true}
	var w calls
	s, err := a.ConductRun(t.Context(), p, settings, &o, &w)
	if err != nil {
		t.Fatal(err, told)
	}
	if s.Status != nexus.StatusDone || len(s.Landings) != 1 || len(told) > 0 {
		t.Errorf("%s: %s, %d landings, told %v", s.Status, s.Why, len(s.Landings), told)
	}
	if !slices.Equal(w.did, []string{"begin", "finish"}) || w.again || w.final != s {
		t.Errorf("the watcher: %v, taken up: %v", w.did, w.again)
	}
	if got := gittest.RunGit(t, dir, "show", "nexus/"+string(s.Run)+":README"); got != "Goodbye." {
		t.Errorf("the branch has %q", got)
	}
	if r, err := p.FindRun(t.Context(), ""); err != nil || r.ID != s.Run || r.Holder != nil {
		t.Errorf("the latest run is %+v, %v", r, err)
	}
}

// TestOrderIsRefused records nothing of a run that something keeps from starting.
func TestOrderIsRefused(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{"README": "Hello.\n"})
	gittest.RunGit(t, dir, "init", "-q")
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "begin")
	env := map[string]string{"HOME": home, "PATH": "/usr/bin:/bin", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
	a := &app.App{
		Env: func(name string) string { return env[name] }, Now: time.Now, Mask: secret.NewMasker(nil), Dir: dir,
		Set: map[string]string{"sandbox": "off"},
	}
	p, err := a.OpenRepository(t.Context(), app.CreateAccess)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	settings, _, err := a.LoadSettings()
	if err != nil {
		t.Fatal(err)
	}
	no := &nexus.Error{Code: nexus.CodeInvalidConfig, Message: "no"}
	var w calls
	o := app.RunOptions{Goal: nexus.Goal{Text: "x", Mode: nexus.Evolution}, Headless: true, Refuse: func() error { return no }}
	if s, err := a.ConductRun(t.Context(), p, settings, &o, &w); s != nil || err == nil || len(w.did) > 0 {
		t.Errorf("refused: %v, %v, the watcher: %v", s == nil, err, w.did)
	}
	if runs, err := p.Runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("%v, %v", runs, err)
	}
}
