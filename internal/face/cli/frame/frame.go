// Package frame is what every command stands in: streams and how to draw on
// them, help, exit codes, settings, and the repository with its journal.
//
// Nothing is built before a command asks for it, so that the small commands
// answer at once.
package frame

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// App is what every command has at hand.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string
	Environ  []string // "NAME=value", for settings
	Now      func() time.Time
	Mask     *secret.Masker // takes keys out of everything that is shown or kept

	Dir     string            // where the command works; empty means the working directory
	Color   string            // auto, always, never
	Quiet   bool              // no messages
	Verbose bool              // also how a run decides
	JSON    bool              // one object instead of text
	Lost    error             // why there is no page for what help was asked of
	Flags   map[string]string // keys of the configuration that flags set
}

// Root makes a command the root: flags of every command, help, and what to
// say about a wrong command line.
func (a *App) Root(root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetIn(a.In)
	root.SetHelpFunc(a.help)
	root.SetFlagErrorFunc(unknownFlag)
	f := root.PersistentFlags()
	f.StringVarP(&a.Dir, "cd", "C", "", "work in `DIR` instead of the working directory")
	f.StringVar(&a.Color, "color", "auto", "`WHEN` to use colour: auto, always or never")
	f.BoolP("help", "h", false, "print what the command does, and how")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "print results and errors only")
	f.BoolVarP(&a.Verbose, "verbose", "v", false, "also print how a run decides: routes, what other runs used, requests that were granted")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := given(c); err != nil {
			return err
		}
		return a.check()
	}
}

// Command returns a command that runs f and can end with the exit codes.
func (a *App) Command(use, short string, f func(context.Context, []string) error, codes ...int) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: Takes(0, 0),
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		Annotations: map[string]string{codesKey: codeList(codes)},
	}
	if f != nil {
		c.RunE = func(c *cobra.Command, args []string) error { return f(c.Context(), args) }
	}
	return c
}

// Parent returns a command that only has commands of its own.
func (a *App) Parent(use, short string, children ...*cobra.Command) *cobra.Command {
	c := a.Command(use, short, nil, CodeOK, CodeUsage)
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

// JSONFlag gives a command --json.
func (a *App) JSONFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.JSON, "json", false, "print one JSON object")
}

func (a *App) check() error {
	switch a.Color {
	case "auto", "always", "never":
	default:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--color knows no " + view.Quote(a.Color),
			Hint: "Use auto, always or never.",
		}
	}
	if a.Dir == "" {
		return a.checkFlags()
	}
	if info, err := os.Stat(a.Dir); err != nil || !info.IsDir() {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no directory " + view.Quote(a.Dir), Hint: "Name an existing one with --cd.",
		}
	}
	return a.checkFlags()
}

// checkFlags checks flags that set something before anything else is looked
// at.
func (a *App) checkFlags() error {
	if len(a.Flags) == 0 {
		return nil
	}
	_, _, err := a.Settings()
	return err
}

// User returns the name of whoever gives the command, never empty: what people
// decide is recorded under it, also where a service or a container sets no USER.
func (a *App) User() string {
	if name := cmp.Or(a.Env("USER"), a.Env("LOGNAME")); name != "" {
		return name
	}
	id := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + id
}
