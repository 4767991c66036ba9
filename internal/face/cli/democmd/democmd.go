// Package democmd demonstrates Nexus on a sample project, offline and without a key: in lines, in
// the terminal interface, and in the browser.
package democmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// pace is the delay of the slow demo before each part of an answer.
const pace = 150 * time.Millisecond

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Execute host.ExecuteFunc // runs the user's actions from the interfaces
	Genesis bool             // begin with an empty directory and a sentence
	Watch   bool             // show it in the terminal interface
	Serve   bool             // show it in the browser
	Ask     bool             // three items wait for the person
	Keep    bool             // keep the sample's directory
	Slow    bool             // run at a pace that is easy to watch
	Dir     string           // of the sample; empty: a temporary one
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, execute host.ExecuteFunc, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, Execute: execute}
	if run == nil {
		run = playDemo
	}
	var remove bool
	command := c.Command("demo [genesis] [flags]", "try Nexus on a sample project, offline and without a key", func(ctx context.Context, args []string) error {
		if o.Genesis = len(args) > 0; o.Genesis && args[0] != "genesis" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "there is no demo " + view.QuoteForTerminal(args[0]),
				Hint: "Use nexus demo, or nexus demo genesis for a project that starts from a sentence.",
			}
		}
		if o.Genesis && o.Ask {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "in the demo of a new project the answers are typed for you",
				Hint: "Leave out --ask, or leave out genesis.",
			}
		}
		o.Keep = o.Keep && !remove
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodePerson, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 1)
	f := command.Flags()
	f.BoolVarP(&o.Watch, "watch", "w", false, "show it in the terminal interface; it continues in the background when you leave")
	f.BoolVar(&o.Serve, "serve", false, "show it in the browser, until you press Ctrl-C")
	f.BoolVar(&o.Ask, "ask", false, "ask you three things: the plan, a question, and whether to publish what landed")
	f.BoolVar(&o.Keep, "keep", true, "keep the sample's directory")
	f.BoolVar(&remove, "rm", false, "remove the sample's directory at the end")
	f.BoolVar(&o.Slow, "slow", false, "run at a pace that is easy to watch, as --watch and --serve do")
	f.StringVar(&o.Dir, "dir", "", "create the sample in `DIR`, or continue a demo that was interrupted there")
	c.JSONFlag(command)
	for _, others := range [][]string{{"keep", "rm"}, {"watch", "serve"}, {"watch", "rm"}, {"watch", "json"}, {"serve", "json"}} {
		command.MarkFlagsMutuallyExclusive(others...)
	}
	return command
}

// playDemo plays the sample run, or the start of a new project.
func playDemo(ctx context.Context, o *Options) error {
	d := demoStage{app: o.Console, execute: o.Execute, keep: o.Keep, genesis: o.Genesis, watched: o.Watch, served: o.Serve, asks: o.Ask}
	if o.Slow || o.Watch || o.Serve {
		d.pace = pace
	}
	return d.playDemo(ctx, o.Dir)
}

// demoStage is the environment of the demo.
type demoStage struct {
	app     *console.Console
	execute host.ExecuteFunc

	pace    time.Duration
	keep    bool
	genesis bool   // it begins with an empty directory
	watched bool   // in the terminal interface
	served  bool   // in the browser
	asks    bool   // three items wait for a person
	home    string // contains the sample, and the state that would be in the user's home
}

func (d *demoStage) playDemo(ctx context.Context, dir string) (err error) {
	if err := d.checkTerminal(); err != nil {
		return err
	}
	if err := d.prepareDir(dir); err != nil {
		return err
	}
	if !d.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(d.home)) }()
	}
	if d.watched {
		return d.showFullScreen(ctx)
	}
	script, err := llmtest.ParseScript(d.modelScript())
	if err == nil {
		err = addSteeringReplies(&script)
	}
	if err != nil {
		return err
	}
	if d.asks {
		addCoderQuestion(&script)
	}
	server, stop, err := llmtest.StartServer(ctx, script, llmtest.Options{Pace: d.pace})
	if err != nil {
		return err
	}
	defer stop()
	inner := d.innerConsole(server.URL())
	if _, err := sandbox.FindSandbox(ctx, sandbox.ModeAuto); err != nil {
		inner.Say("no sandbox works here, so the demo runs its own harmless script without one; nexus doctor shows how to get one")
		inner.Set["sandbox"] = "off"
	}
	switch {
	case d.served:
		err = d.serveDemo(ctx, inner)
	case d.genesis:
		err = d.playNewProject(ctx, inner)
	default:
		err = d.playSampleRun(ctx, inner)
	}
	if d.keep {
		d.sayWhereSampleIs(ctx, inner)
	}
	return err
}

// modelScript returns the answers of the model.
func (d *demoStage) modelScript() []byte {
	if d.genesis {
		return genesisScript
	}
	return ModelScript()
}

// prepareDir creates the directory of the demo, or finds the directory of an interrupted one.
func (d *demoStage) prepareDir(dir string) error {
	var err error
	if dir == "" {
		d.home, err = os.MkdirTemp("", "nexus-demo-")
	} else if d.home, err = filepath.Abs(dir); err == nil {
		err = os.Mkdir(d.home, 0o755)
		if errors.Is(err, fs.ErrExist) && d.isUsableDir() {
			err = nil
		}
	}
	if err == nil && d.asks {
		err = d.requireApproval()
	}
	if err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "make a directory for the sample", Cause: err,
			Hint: "Give one that does not exist, in a writable directory, or that of a demo that was interrupted.",
		}
	}
	d.asks = pathExists(d.settingsFile())
	return nil
}

// isUsableDir reports whether the directory is empty, or contains only a demo that can continue. The
// demo of a new project cannot continue once its project exists.
func (d *demoStage) isUsableDir() bool {
	all, err := os.ReadDir(d.home)
	known := []string{"state", "config", "report.html"}
	if !d.genesis {
		known = append(known, "units")
	}
	return err == nil && !slices.ContainsFunc(all, func(e os.DirEntry) bool {
		return !slices.Contains(known, e.Name())
	})
}

// settingsFile is the path of the configuration that makes items wait for a person in the demo.
func (d *demoStage) settingsFile() string {
	return filepath.Join(d.home, "config", "nexus", "config.toml")
}

// requireApproval makes publishing wait for a person, too, without a time limit.
func (d *demoStage) requireApproval() error {
	if err := os.MkdirAll(filepath.Dir(d.settingsFile()), 0o755); err != nil {
		return err
	}
	return os.WriteFile(d.settingsFile(), []byte("approval = \"commits\"\n\n[questions]\ntimeout = \"0s\"\n"), 0o600)
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// innerConsole returns the app within the demo: with its own home, and the scripted model's address in
// place of the providers.
func (d *demoStage) innerConsole(url string) *console.Console {
	a := d.app.Copy()
	a.Dir = filepath.Join(d.home, "units")
	a.Set = map[string]string{}
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
	a.Environ = slices.DeleteFunc(slices.Clone(d.app.Environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, ours := own[name]
		return ours || strings.HasPrefix(name, "NEXUS_") // the user's own settings do not apply to the sample
	})
	for name, value := range own {
		a.Environ = append(a.Environ, name+"="+value)
	}
	return a
}
