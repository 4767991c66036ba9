// Package console provides the parts that every command uses: streams and drawing, help, exit
// codes, settings, and the repository with its journal.
//
// Nothing is built before a command needs it, so that small commands answer at once.
package console

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundprocess"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// Console is an [app.App] with the streams of one command and the way to draw on them.
type Console struct {
	app.App

	In       io.Reader
	Out, Err io.Writer
	Args     []string // the command line, without the program's name

	Color   string // auto, always, never
	Quiet   bool   // no messages
	Verbose bool   // also how a run decides
	JSON    bool   // one object instead of text
	Lost    error  // why the requested help page does not exist
	Host    HostProgram

	Watch func(context.Context, nexus.RunID) error // shows another process's run on the whole screen; nil: no
	// Show returns a repository for the pages of a server.
	Show func(context.Context, *Console, *app.Repository) (web.ServedRepository, error)

	Screen func(context.Context, nexus.RunID) error // shows this process's run on the whole screen; nil: not available

	held *heldMessages   // messages that wait until the screen is free; copies share it
	keys *KeyboardReader // nil until the first read
}

// HostProgram is a program that runs commands in its own process. It receives the facts that are not in
// their output; a nil function receives nothing.
type HostProgram struct {
	Began   func(nexus.RunID)                // receives the run that the command conducts, once it has the lease
	Drawn   func(string)                     // receives the result as text, if the command prints it as JSON
	Watched bool                             // a person watches the run through the host and answers its questions
	Person  bool                             // a person reads the text; else a program does
	Served  bool                             // a client of a server sent the command line
	Leaves  bool                             // it starts runs in the background, which continue when it ends
	Parent  *backgroundprocess.ParentProcess // started this process in the background; nil: it has its own terminal, or none
	Front   *TerminalProcess                 // the process in the foreground of the shared terminal; nil: this one
}

// New returns a console that prints notices as messages for people.
func New(in io.Reader, out, err io.Writer, at app.App) *Console {
	at.Warned = &sync.Map{}
	a := &Console{App: at, In: in, Out: out, Err: err, held: &heldMessages{}}
	a.Report = a.showNotice
	return a
}

// NewForProcess returns a console with the environment and the clock of this process.
func NewForProcess(in io.Reader, out, err io.Writer) *Console {
	return New(in, out, err, app.App{
		Env: os.Getenv, Environ: os.Environ(), Set: map[string]string{},
		Mask: secret.NewMasker(os.Environ()),
		Now:  time.Now, //nolint:forbidigo // the wiring hands out the clock
	})
}

// Copy returns a copy of the console that prints its own notices.
func (a *Console) Copy() *Console {
	c := *a
	c.Report = c.showNotice
	return &c
}

// showNotice prints a notice for people.
func (a *Console) showNotice(n app.AppNotice) {
	if n.Err != nil {
		a.ReportError(n.Err)
		return
	}
	a.Say("%s", view.EscapeLinesForTerminal(n.Text))
}

// SetUpRoot makes a command the root: it adds the flags of every command, help, and the messages about
// wrong command lines.
func (a *Console) SetUpRoot(root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetIn(a.In)
	root.SetHelpFunc(a.printHelp)
	root.SetFlagErrorFunc(unknownFlag)
	f := root.PersistentFlags()
	f.StringVarP(&a.Dir, "cd", "C", a.Dir, "work in `DIR` instead of the working directory")
	f.StringVar(&a.Color, "color", "auto", "`WHEN` to use colour: auto, always or never")
	f.BoolP("help", "h", false, "print help for the command")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "print results and errors only")
	f.BoolVarP(&a.Verbose, "verbose", "v", false, "also print how a run decides: routing, spending of other runs, accepted requests")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := checkFlagValues(c); err != nil {
			return err
		}
		return a.checkColor()
	}
}

// Command returns a command that runs f and can end with the exit codes.
func (a *Console) Command(use, short string, f func(context.Context, []string) error, codes ...int) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: ArgCount(0, 0),
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		Annotations: map[string]string{codesKey: codeList(codes)},
	}
	if f != nil {
		c.RunE = func(c *cobra.Command, args []string) error { return f(c.Context(), args) }
	}
	return c
}

// ParentCommand returns a command that only groups its subcommands.
func (a *Console) ParentCommand(use, short string, children ...*cobra.Command) *cobra.Command {
	c := a.Command(use, short, nil, CodeOK, CodeUsage)
	c.Annotations[parentKey] = "true"
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return c.Help()
	}
	c.AddCommand(children...)
	return c
}

// parentKey is the annotation of a command that only groups its subcommands.
const parentKey = "nexus-parent"

// IsParentCommand reports whether a command only groups its subcommands.
func IsParentCommand(c *cobra.Command) bool { return c.Annotations[parentKey] != "" }

// JSONFlag gives a command --json.
func (a *Console) JSONFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.JSON, "json", false, "print one JSON object")
}

func (a *Console) checkColor() error {
	switch a.Color {
	case "auto", "always", "never":
	default:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown --color " + view.QuoteForTerminal(a.Color),
			Hint: "Use auto, always or never.",
		}
	}
	if a.Dir == "" {
		return a.checkFlags()
	}
	if info, err := os.Stat(a.Dir); err != nil || !info.IsDir() {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "directory " + view.QuoteForTerminal(a.Dir) + " does not exist", Hint: "Give an existing one with --cd.",
		}
	}
	return a.checkFlags()
}

// checkFlags validates the values of setting flags before anything else.
func (a *Console) checkFlags() error {
	if len(a.Set) == 0 {
		return nil
	}
	_, _, err := a.LoadSettings()
	return err
}

// RunView returns the view of a run.
func (a *Console) RunView(r journal.RecordedRun, s *state.State) view.RunView {
	return projection.BuildRunView(s, RunContextOf(r), a.Now())
}

// RunStatus returns the status of a run as it is shown: an unfinished run without a conductor is
// interrupted.
func RunStatus(r journal.RecordedRun, s *state.State) nexus.RunStatus {
	return projection.RunStatus(s, RunContextOf(r))
}

// RunContextOf returns the journal's facts about a run beside its events.
func RunContextOf(r journal.RecordedRun) projection.RunFactsOutsideJournal {
	return projection.RunFactsOutsideJournal{Held: r.Holder, Known: true, Earlier: r.Later}
}

// FirstArg returns the first argument, or "".
func FirstArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
