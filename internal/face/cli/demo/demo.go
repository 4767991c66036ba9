// Package demo shows the whole way on a small program: a scripted model plays
// every role over real HTTP, everything else is what a run does anywhere.
package demo

import (
	"bytes"
	"context"
	_ "embed" // the sample and the script are files
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/wire"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

//go:embed sample.txtar
var sample []byte

//go:embed script.yaml
var script []byte

// goal is what the demo's run is for.
const goal = "units: write sizes, Roman numerals and durations for people, with commands for the first two"

// pace is the pause before each piece of an answer, for people who watch.
const pace = 120 * time.Millisecond

// Command returns the command.
func Command(a *frame.App) *cobra.Command {
	var keep, slow bool
	c := a.Command("demo [--keep] [--slow] [--json]", "show the whole way, offline, on a sample", func(ctx context.Context, _ []string) error {
		dir, err := os.MkdirTemp("", "nexus-demo-")
		if err != nil {
			return &nexus.Error{Code: nexus.CodeStorage, Message: "make a directory for the demo", Cause: err, Hint: "Set TMPDIR to one that can be written."}
		}
		err = show(ctx, a, dir, slow, keep)
		if keep {
			a.Say("kept: cd %s; XDG_STATE_HOME=%s nexus status", filepath.Join(dir, "units"), filepath.Join(dir, "state"))
			return err
		}
		return errors.Join(err, remove(dir))
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage, frame.CodePartial, frame.CodeInterrupted)
	c.Flags().BoolVar(&keep, "keep", false, "keep the repository and the run's state, to look around")
	c.Flags().BoolVar(&slow, "slow", false, "let the model speak slowly, to read along")
	a.JSONFlag(c)
	a.Knobs(c, "parallel", "sandbox", "status-file")
	return c
}

// show makes the sample, lets a run work on it, and shows what landed.
func show(ctx context.Context, a *frame.App, dir string, slow, keep bool) error {
	work := filepath.Join(dir, "units")
	repo, err := plant(ctx, work)
	if err != nil {
		return err
	}
	said, err := llmtest.Parse(script)
	if err != nil {
		return err
	}
	o := llmtest.Options{}
	if slow {
		o.Pace = pace
	}
	server, stop, err := llmtest.Start(ctx, said, o)
	if err != nil {
		return err
	}
	defer stop()
	isolate(a, dir, work, server.URL())
	p, err := a.Open(ctx, false)
	if err != nil {
		return err
	}
	defer p.Close()
	a.Say("demo: a sample program in %s, a scripted model at %s; everything else is real\n", work, server.URL())
	err = wire.Carry(ctx, a, p, wire.Order{Goal: nexus.Goal{Text: goal, Mode: nexus.Evolution}, Headless: true, Once: !keep})
	if a.JSON {
		return err
	}
	return errors.Join(err, history(ctx, a, repo))
}

// plant makes the sample's repository.
func plant(ctx context.Context, dir string) (git.Repo, error) {
	for _, f := range txtar.Parse(sample).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if err != nil {
			return git.Repo{}, &nexus.Error{Code: nexus.CodeStorage, Message: "write the sample", Cause: err, Hint: "Set TMPDIR to a directory with room."}
		}
	}
	repo := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir, Env: git.Identity{Name: "Demo", Email: "demo@example.com"}.Env()}
	_, err := git.Repo{}.Run(ctx, "init", "--quiet", "--initial-branch=main", dir)
	for _, args := range [][]string{{"add", "--all"}, {"commit", "--quiet", "--message", "Begin units"}} {
		if err == nil {
			_, err = repo.Run(ctx, args...)
		}
	}
	return repo, err
}

// isolate keeps the demo away from the user's settings, state and providers.
func isolate(a *frame.App, dir, work, url string) {
	own := map[string]string{
		"XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"),
		"ANTHROPIC_API_KEY": "demo", "ANTHROPIC_BASE_URL": url, "OPENAI_API_KEY": "",
	}
	env := a.Env
	a.Env = func(name string) string {
		if v, ok := own[name]; ok {
			return v
		}
		return env(name)
	}
	a.Environ, a.Dir = nil, work
}

// history shows the sample's history as git tells it.
func history(ctx context.Context, a *frame.App, repo git.Repo) error {
	text, err := repo.Run(ctx, "log", "--branches", "--format=%h %s", "--shortstat", "--reverse")
	if err != nil {
		return err
	}
	s := a.Style(a.Out)
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s\n", s.Bold("git log"))
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, " ") {
			line = s.Dim("       " + line)
		}
		if line != "" {
			b.WriteString("  " + view.CleanText(line) + "\n")
		}
	}
	return a.Print(b.String())
}

// remove deletes the demo's directory; module caches in it are read-only.
func remove(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what cannot be changed fails below
		}
		return nil
	})
	return os.RemoveAll(dir)
}
