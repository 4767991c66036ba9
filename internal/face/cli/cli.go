// Package cli is the command line: it parses the arguments, runs the command, and prints the
// result.
//
// Each command has its own package, of the shape of costcmd. Help texts are in console/help. Results go to
// standard output, everything else to standard error.
package cli

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/acpcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/addcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/agentcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/agentscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/answercmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/approvecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/attachcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/backlogcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkpointcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/cleancmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/completioncmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/configcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/costcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/democmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/diagnosecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/diffcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/discovercmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/docscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/doctorcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/exportcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/generatecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/gocachecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/helpcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/hookscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/importcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/improvecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/initcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/interviewcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/journalcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/landcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/logscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/mapcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/mcpcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/memorycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/modelscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/newcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/notifycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/parsecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/plancmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/pluginscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/policycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/promptcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/quarantinecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/quickcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/rejectcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/resumecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/retrycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/reviewcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/revisecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/rulescmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/sandboxcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/servecmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/statuscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/stopcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/tellcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/toolcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/trustcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/undocmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/verifycmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/versioncmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/watchcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundprocess"
)

// Main runs one command line and returns the process's exit code. The parent is the process that
// started this one in the background; nil if none did.
func Main(ctx context.Context, parent *backgroundprocess.ParentProcess, args []string, in io.Reader, out, err io.Writer) int {
	a := console.NewForProcess(in, out, err)
	switch {
	case parent.SharesTerminal():
		ctx, a.Host.Front = console.NewTerminalProcess(ctx, parent)
	case parent != nil:
		a.Host = console.HostProgram{Parent: parent, Began: func(id nexus.RunID) { parent.ReportReady(string(id)) }}
	}
	failure := executeCommand(ctx, a, args)
	a.Fail(failure)
	return console.ExitCode(ctx, failure)
}

// executeCommand runs one command line on a new console.
func executeCommand(ctx context.Context, a *console.Console, args []string) error {
	c := newRoot(a) //nolint:contextcheck // cobra hands the context to the command that runs
	c.SetArgs(args)
	a.Args = args
	return cmp.Or(c.ExecuteContext(ctx), a.Lost)
}

// section is a group of commands in the list of all.
type section struct {
	id, title string
	commands  []*cobra.Command
}

func sections(a *console.Console) []section {
	return []section{
		{"work", "Work:", []*cobra.Command{
			initcmd.New(a, nil), newcmd.New(a, nil), plancmd.New(a, nil), promptcmd.New(a, nil), interviewcmd.New(a, nil), runcmd.New(a, nil),
			quickcmd.New(a, nil), agentcmd.New(a, nil), checkcmd.New(a, nil), parsecmd.New(a, nil), reviewcmd.New(a, nil),
			democmd.New(a, executeCommand, nil), doctorcmd.New(a, nil), speccmd.New(a, nil), newMilestone(a), discovercmd.New(a, nil),
			quarantinecmd.New(a), memorycmd.New(a, nil), memorycmd.NewLessons(a), backlogcmd.New(a, nil), improvecmd.New(a, nil), docscmd.New(a),
		}},
		{"watch", "Steer and watch:", slices.Concat(
			[]*cobra.Command{
				statuscmd.New(a, nil), runscmd.New(a, nil), watchcmd.New(a, executeCommand, nil), logscmd.New(a, nil), diffcmd.New(a, nil),
				costcmd.New(a, nil), attachcmd.New(a, nil), diagnosecmd.New(a, nil), verifycmd.New(a, nil),
				stopcmd.New(a, nil), resumecmd.New(a, nil), retrycmd.New(a, nil), tellcmd.New(a, nil), addcmd.New(a, nil), answercmd.New(a, nil),
				approvecmd.New(a, nil), rejectcmd.New(a, nil), revisecmd.New(a, nil), landcmd.New(a, nil), undocmd.New(a, nil), checkpointcmd.New(a, nil),
				servecmd.New(a, executeCommand, nil), notifycmd.New(a), cleancmd.New(a, nil),
			}, hiddenCommands(a),
		)},
		{"look", "Look inside:", slices.Concat(
			[]*cobra.Command{
				configcmd.New(a, nil), modelscmd.New(a, nil), agentscmd.New(a, nil), toolcmd.New(a), policycmd.New(a), sandboxcmd.New(a), trustcmd.New(a, nil),
				hookscmd.New(a), pluginscmd.New(a), rulescmd.New(a, nil), mapcmd.New(a, nil), generatecmd.New(a, nil), journalcmd.New(a), exportcmd.New(a, nil),
				importcmd.New(a, nil), completioncmd.New(a, nil), versioncmd.New(a, nil), gocachecmd.New(a, nil),
			},
			[]*cobra.Command{mcpcmd.New(a, executeCommand, nil), acpcmd.New(a, executeCommand, nil)},
		)},
	}
}

// newRoot returns the command that has all others.
func newRoot(a *console.Console) *cobra.Command {
	root := a.ParentCommand("nexus", "turn a goal into reviewed, tested commits")
	a.Watch = func(ctx context.Context, id nexus.RunID) error { return watchcmd.ShowRun(ctx, a, executeCommand, id) }
	a.Screen = func(ctx context.Context, id nexus.RunID) error {
		return watchcmd.ShowOwnRun(ctx, a, executeCommand, id)
	}
	a.Show = func(ctx context.Context, a *console.Console, p *app.Repository) (web.ServedRepository, error) {
		return servecmd.NewWebContent(ctx, a, executeCommand, p)
	}
	a.SetUpRoot(root)
	for _, s := range sections(a) {
		root.AddGroup(&cobra.Group{ID: s.id, Title: s.title})
		for _, c := range s.commands {
			c.GroupID = s.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommand(helpcmd.New(a, nil))
	return root
}
