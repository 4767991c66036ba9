// Package cli is the command line: it parses the arguments, runs the command, and prints the
// result.
//
// Each kind of command has its own package, with one file per command; help texts are in
// console/help. Results go to standard output, everything else to standard error.
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
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkpointcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/democmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/discovercmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/docscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/historycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/improvecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/inspect"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/mcpcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/memorycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/milestonecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/notifycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/quarantine"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/startcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/watchcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/background"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// Main runs one command line and returns the process's exit code. The parent is the process that
// started this one in the background; nil if none did.
func Main(ctx context.Context, parent *background.Parent, args []string, in io.Reader, out, err io.Writer) int {
	a := console.New(in, out, err, app.App{
		Env: os.Getenv, Environ: os.Environ(), Set: map[string]string{},
		Mask: secret.New(os.Environ()),
		Now:  time.Now, //nolint:forbidigo // the wiring hands out the clock
	})
	switch {
	case parent.SharesTerminal():
		ctx, a.Host.Front = console.NewFront(ctx, parent)
	case parent != nil:
		a.Host = console.Host{Parent: parent, Began: func(id nexus.RunID) { parent.ReportReady(string(id)) }}
	}
	failure := execute(ctx, a, args)
	a.Fail(failure)
	return console.ExitCode(ctx, failure)
}

// execute runs one command line on a new console.
func execute(ctx context.Context, a *console.Console, args []string) error {
	c := root(a, console.First(args)) //nolint:contextcheck // cobra hands the context to the command that runs
	c.SetArgs(args)
	a.Args = args
	return cmp.Or(c.ExecuteContext(ctx), a.Lost)
}

// room makes the commands of one package, for a section of the help.
type room struct {
	section  string
	commands func() []*cobra.Command
}

func rooms(a *console.Console) []room {
	own := func(section string, commands func(*console.Console) []*cobra.Command) room {
		return room{section, func() []*cobra.Command { return commands(a) }}
	}
	hosted := func(section string, commands func(*console.Console, host.Execute) []*cobra.Command) room {
		return room{section, func() []*cobra.Command { return commands(a, execute) }}
	}
	return []room{ // the most frequently called first
		own("look", inspect.Commands),
		hosted("watch", runscmd.Commands), own("work", startcmd.Commands), own("work", check.Commands), hosted("watch", watchcmd.Commands),
		hosted("work", democmd.Commands), own("work", speccmd.Commands), own("work", milestonecmd.Commands), own("work", discovercmd.Commands),
		own("work", quarantine.Commands), own("work", memorycmd.Commands), own("work", backlogcmd.Commands), own("work", improvecmd.Commands),
		own("work", docscmd.Commands),
		own("watch", notifycmd.Commands), own("watch", historycmd.Commands), own("watch", checkpointcmd.Commands),
		hosted("look", mcpcmd.Commands), hosted("look", acpcmd.Commands), own("look", bench.Commands),
	}
}

// root returns the command tree with the packages up to the one that has the named command: a
// process runs only one command, and making all 70 takes longer than most of them run. The tree
// is complete if no package has the name, or if the command needs the others.
func root(a *console.Console, name string) *cobra.Command {
	root := a.Parent("nexus", "turn a goal into reviewed, tested commits")
	a.Watch = func(ctx context.Context, id nexus.RunID) error { return watchcmd.Show(ctx, a, execute, id) }
	a.Screen = func(ctx context.Context, id nexus.RunID) error { return watchcmd.Here(ctx, a, execute, id) }
	a.Show = func(ctx context.Context, a *console.Console, p *app.Repository) (web.Shown, error) {
		return runscmd.Show(ctx, a, execute, p)
	}
	a.Root(root)
	for _, section := range [][2]string{{"work", "Work:"}, {"watch", "Steer and watch:"}, {"look", "Look inside:"}} {
		root.AddGroup(&cobra.Group{ID: section[0], Title: section[1]})
	}
	for _, r := range rooms(a) {
		for _, c := range r.commands() {
			c.GroupID = r.section
			root.AddCommand(c)
		}
		if name != "completion" && slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }) {
			break
		}
	}
	help := inspect.Help(a)
	help.GroupID = "look"
	root.SetHelpCommand(help)
	return root
}
