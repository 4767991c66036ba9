package startcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// pace is how long the slow demo waits before each piece of an answer.
const pace = 150 * time.Millisecond

func demoCommand(a *console.Console) *cobra.Command {
	var keep, drop, slow bool
	var dir string
	c := a.Command("demo [genesis] [flags]", "try Nexus on a sample project, offline and without a key", func(ctx context.Context, args []string) error {
		d := stage{app: a, keep: !drop, genesis: len(args) > 0}
		if d.genesis && args[0] != "genesis" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "there is no demo " + view.Quote(args[0]),
				Hint: "Use nexus demo, or nexus demo genesis for a project that begins with a sentence.",
			}
		}
		if slow {
			d.pace = pace
		}
		return d.play(ctx, dir)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeInterrupted)
	c.Args = console.Takes(0, 1)
	f := c.Flags()
	f.BoolVar(&keep, "keep", true, "keep the sample's directory")
	f.BoolVar(&drop, "rm", false, "remove the sample's directory at the end")
	f.BoolVar(&slow, "slow", false, "run at a pace that is easy to watch")
	f.StringVar(&dir, "dir", "", "create the sample in `DIR`, which must not exist")
	c.MarkFlagsMutuallyExclusive("keep", "rm")
	a.JSONFlag(c)
	return c
}

// stage is where the demo plays.
type stage struct {
	app     *console.Console
	pace    time.Duration
	keep    bool
	genesis bool   // it begins with an empty directory
	home    string // holds the sample, and the state that would be in the user's home
}

func (d *stage) play(ctx context.Context, dir string) (err error) {
	if err := d.room(dir); err != nil {
		return err
	}
	if !d.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(d.home)) }()
	}
	text := DemoScript()
	if d.genesis {
		text = genesisScript
	}
	script, err := llmtest.Parse(text)
	if err != nil {
		return err
	}
	server, stop, err := llmtest.Start(ctx, script, llmtest.Options{Pace: d.pace})
	if err != nil {
		return err
	}
	defer stop()
	inner := d.inside(server.URL())
	if _, err := sandbox.Find(ctx, sandbox.Auto); err != nil {
		inner.Say("no sandbox works here, so the demo runs its own harmless script without one; nexus doctor shows how to get one")
		inner.Set["sandbox"] = "off"
	}
	fixed := "T4" // a task that shows most
	if d.genesis {
		fixed, err = "T1", d.begin(ctx, inner)
	} else {
		err = d.work(ctx, inner)
	}
	if d.keep {
		d.app.Say("the sample and its journal are kept; look around:\n  cd %s; export XDG_STATE_HOME=%s\n  nexus show %s             # what was tried, found and fixed\n  nexus logs                # everything that happened\n  nexus report              # how well it went\n  nexus watch               # the run on the whole screen\n  nexus serve               # the run in the browser: open the address that it prints\n  git log --stat --branches # what landed\nremove them with: rm -rf %s", inner.Dir, filepath.Join(d.home, "state"), fixed, d.home)
	}
	return err
}

// work plays how a goal is reached in the sample repository.
func (d *stage) work(ctx context.Context, inner *console.Console) error {
	units := inner.Dir
	if err := WriteDemo(units); err != nil {
		return err
	}
	if err := git.Create(ctx, units, git.Identity{Name: "Ada", Email: "ada@example.com"}, "Begin with a help command"); err != nil {
		return err
	}
	p, err := inner.Open(ctx, app.Makes)
	if err != nil {
		return err
	}
	defer p.Close()
	err = progress.Carry(ctx, inner, p, progress.Order{Order: app.Order{
		Goal:     nexus.Goal{Text: DemoGoal, Mode: nexus.Evolution},
		Headless: true,
		Consent:  nexus.Consent{Given: inner.User()},
	}, Once: !d.keep})
	if inner.JSON {
		return err
	}
	return errors.Join(err, costs(ctx, inner), history(ctx, inner), repaired(ctx, inner))
}

// room makes the directory that the demo plays in.
func (d *stage) room(dir string) error {
	var err error
	if dir == "" {
		d.home, err = os.MkdirTemp("", "nexus-demo-")
	} else if d.home, err = filepath.Abs(dir); err == nil {
		err = os.Mkdir(d.home, 0o755)
	}
	if err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "make a directory for the sample", Cause: err,
			Hint: "Give one that does not exist, in a writable directory.",
		}
	}
	return nil
}

// inside returns the app as it is within the demo: its own home, and the
// scripted model in place of the providers.
func (d *stage) inside(url string) *console.Console {
	a := d.app.Copy()
	a.Dir = filepath.Join(d.home, "units")
	a.Environ, a.Set = nil, map[string]string{}
	own := map[string]string{
		"XDG_STATE_HOME": filepath.Join(d.home, "state"), "XDG_CONFIG_HOME": filepath.Join(d.home, "config"),
		"ANTHROPIC_API_KEY": "scripted", "ANTHROPIC_BASE_URL": url, "OPENAI_API_KEY": "scripted", "OPENAI_BASE_URL": url + "/v1",
	}
	a.Env = func(name string) string {
		if v, ok := own[name]; ok {
			return v
		}
		return d.app.Env(name)
	}
	return a
}

// costs says what the run's input came from: the scripted model knows as much
// of caches as providers do.
func costs(ctx context.Context, a *console.Console) error {
	return a.Look(ctx, "", func(_ *app.Place, _ journal.Run, s *state.State) error {
		style := a.Style(a.Out)
		return a.Print("\n" + style.Bold("cache") + "\n  " + strings.Join(view.BillOf(s).Cache(), "\n  ") + "\n")
	})
}

// repaired says what went wrong on the way, and was repaired.
func repaired(ctx context.Context, a *console.Console) error {
	return a.Look(ctx, "", func(_ *app.Place, _ journal.Run, s *state.State) error {
		all := view.Repaired(s)
		if len(all) == 0 {
			return nil
		}
		style := a.Style(a.Out)
		text := "\n" + style.Bold("what went wrong on the way, and was fixed") + "\n"
		for _, line := range all {
			text += "  - " + strings.TrimPrefix(style.Wrap(line, "    "), "    ") + "\n"
		}
		return a.Print(text)
	})
}

// history shows the sample's history as git tells it.
func history(ctx context.Context, a *console.Console) error {
	repo, err := git.Find(ctx, a.Dir)
	if err != nil {
		return err
	}
	text, err := repo.Run(ctx, "log", "--branches", "--format=%h %s", "--shortstat", "--reverse")
	if err != nil {
		return err
	}
	s := a.Style(a.Out)
	var b strings.Builder
	b.WriteString("\n" + s.Bold("git log") + "\n")
	for line := range strings.Lines(text) {
		line = view.CleanText(line)
		if strings.HasPrefix(line, " ") {
			line = s.Dim("       " + line)
		}
		if line != "" {
			b.WriteString("  " + line + "\n")
		}
	}
	return a.Print(b.String())
}
