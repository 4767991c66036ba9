// Package cli is the command line: it reads what a person or a program asks
// for, builds what the command needs, and says how it went.
//
// It has a room for each kind of command, with one file a command; help texts
// are in console/help. Results go to standard output, everything else to
// standard error.
package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/acpcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/backlogcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/bench"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/check"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/democmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/discovercmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/docscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/historycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/improvecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/inspect"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/mcpcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/memorycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/milestonecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/notifycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/pointcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/quarantine"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/startcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/watchcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/background"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// Main runs one command line and returns the process's exit code.
func Main(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int {
	a := console.New(in, out, err, app.App{
		Env: os.Getenv, Environ: os.Environ(), Set: map[string]string{},
		Mask: secret.New(os.Environ()),
		Now:  time.Now, //nolint:forbidigo // the wiring hands out the clock
	})
	if parent := background.Started(); parent != nil {
		a.Host = console.Host{Parent: parent, Began: func(id nexus.RunID) { parent.Say(string(id)) }}
	}
	failure := execute(ctx, a, args)
	a.Complain(failure)
	return console.ExitCode(ctx, failure)
}

// execute runs one command line on a console that no other has used.
func execute(ctx context.Context, a *console.Console, args []string) error {
	c := root(a) //nolint:contextcheck // cobra hands the context to the command that runs
	c.SetArgs(args)
	a.Args = args
	return cmp.Or(c.ExecuteContext(ctx), a.Lost)
}

func root(a *console.Console) *cobra.Command {
	root := a.Parent("nexus", "turn a goal into reviewed, tested commits")
	a.Watch = func(ctx context.Context, id nexus.RunID) error { return watchcmd.Show(ctx, a, execute, id) }
	a.Screen = func(ctx context.Context, id nexus.RunID) error { return watchcmd.Here(ctx, a, execute, id) }
	a.Root(root)
	group := func(id, title string, commands []*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	group("work", "Work:", slices.Concat(
		democmd.Commands(a, execute),
		startcmd.Commands(a), speccmd.Commands(a), milestonecmd.Commands(a), check.Commands(a), discovercmd.Commands(a), quarantine.Commands(a),
		memorycmd.Commands(a), backlogcmd.Commands(a), improvecmd.Commands(a), docscmd.Commands(a),
	))
	watching := slices.Concat(watchcmd.Commands(a, execute), notifycmd.Commands(a))
	group("watch", "Steer and watch:", slices.Concat(runscmd.Commands(a, execute), watching, historycmd.Commands(a), pointcmd.Commands(a)))
	servers := slices.Concat(mcpcmd.Commands(a, execute), acpcmd.Commands(a, execute))
	group("look", "Look inside:", slices.Concat(inspect.Commands(a), servers, bench.Commands(a)))
	help := inspect.Help(a)
	help.GroupID = "look"
	root.SetHelpCommand(help)
	return root
}
