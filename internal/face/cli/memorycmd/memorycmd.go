// Package memorycmd implements the command "nexus memory": what was learned in a repository. It
// lists the entries that agents see, lets a person approve or forget them, and lists the lessons
// that new runs take from earlier ones.
package memorycmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Action is what the command does.
type Action string

// The actions.
const (
	List          Action = "list"           // entries and lessons
	ListEntries   Action = "list entries"   // only entries
	ListLessons   Action = "list lessons"   // only lessons
	Show          Action = "show"           // an entry
	Approve       Action = "approve"        // entries
	Forget        Action = "forget"         // entries
	RemoveUseless Action = "remove useless" // entries
	ShowUsed      Action = "show used"      // the lessons of a run
	Reset         Action = "reset"          // lessons
)

// Options are the options of the command and its subcommands.
type Options struct {
	Console     *console.Console
	Action      Action
	Entries     []string           // of Show, Approve and Forget: a part of the id that is unique
	Filter      EntryFilter        // of lists
	LessonKinds []nexus.LessonKind // of ListLessons, which takes one, and of Reset; empty: all
	Lasting     bool               // of Approve: also when the files of the entry change
	DryRun      bool               // of RemoveUseless: list it only
	Run         string             // of ShowUsed, as a person names it; empty: the run in progress, else the latest

	run func(context.Context, *Options) error
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := newOptions(c, run)
	var text filterText
	command := o.command("memory [flags]", "show what was learned here, and decide what agents see of it",
		func([]string) error { return o.parseFilter(List, text) })
	text.addFlags(command)
	command.Flags().Lookup("kind").Usage = "list only those of this `KIND`: " + kindNames(memoryentry.Kinds()) + "; or lessons: " + kindNames(nexus.LessonKinds())
	command.AddCommand(o.entriesCommand(), o.showCommand(), o.approveCommand(), o.forgetCommand(), o.gcCommand(),
		o.usedCommand("used"), o.resetCommand())
	return command
}

// NewLessons returns the earlier name of the commands about lessons.
func NewLessons(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := newOptions(c, run)
	list := o.command("list [KIND] [--json]", "list the lessons for a run that starts now", func(args []string) (err error) {
		o.Action = ListLessons
		o.LessonKinds, err = parseLessonKinds(args)
		return err
	})
	list.Args = console.ArgCount(0, 1)
	return c.ParentCommand("lessons", "show the lessons that new runs take from earlier ones", list, o.usedCommand("show"), o.resetCommand())
}

func newOptions(c *console.Console, run func(context.Context, *Options) error) *Options {
	if run == nil {
		run = runAction
	}
	return &Options{Console: c, run: run}
}

// command returns a command with --json that parses its arguments and runs.
func (o *Options) command(use, short string, parse func(args []string) error) *cobra.Command {
	c := o.Console.Command(use, short, func(ctx context.Context, args []string) error {
		if err := parse(args); err != nil {
			return err
		}
		return o.run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	o.Console.JSONFlag(c)
	return c
}

// filterText are the flags of a list, as written.
type filterText struct{ state, kind, file string }

func (t *filterText) addFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&t.state, "state", "",
		"list only episodes in this `STATE`: proposed, approved or forgotten; the default is all but forgotten ones")
	flags.StringVar(&t.kind, "kind", "", "list only those of this `KIND`: "+kindNames(memoryentry.Kinds()))
	flags.StringVar(&t.file, "file", "", "list only episodes about this `PATH` from the root of the repository, a file or a directory")
}

// parseFilter parses the flags of a list. A kind of lesson, or a filter of entries, makes a list of
// both a list of these.
func (o *Options) parseFilter(action Action, t filterText) error {
	o.Action, o.Filter = action, EntryFilter{State: memoryentry.ApprovalState(t.state), Kind: memoryentry.Kind(t.kind), File: t.file}
	if t.state != "" && !slices.Contains(memoryentry.ApprovalStates(), o.Filter.State) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no state %q", t.state),
			Hint: "The states are proposed, approved and forgotten.",
		}
	}
	switch lesson := nexus.LessonKind(t.kind); {
	case t.kind != "" && slices.Contains(memoryentry.Kinds(), o.Filter.Kind):
		o.Action = ListEntries
	case t.kind != "" && action == List && slices.Contains(nexus.LessonKinds(), lesson):
		if t.state != "" || t.file != "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: view.Quote(t.kind) + " is a kind of lesson; --state and --file select episodes",
				Hint: "Leave out --kind, or --state and --file.",
			}
		}
		o.Action, o.Filter, o.LessonKinds = ListLessons, EntryFilter{}, []nexus.LessonKind{lesson}
	case t.kind != "":
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no kind %q", t.kind),
			Hint: "The kinds are decision, pattern, gotcha, fix and review.",
		}
	case t.state != "" || t.file != "":
		o.Action = ListEntries
	}
	return nil
}

// entriesCommand returns the earlier name of a list of entries.
func (o *Options) entriesCommand() *cobra.Command {
	var text filterText
	c := o.command("list [flags]", "list the episodes", func([]string) error { return o.parseFilter(ListEntries, text) })
	text.addFlags(c)
	return o.Console.HiddenAlias(c, "nexus memory")
}

// parseEntries returns a parser of the names of entries.
func (o *Options) parseEntries(action Action) func([]string) error {
	return func(args []string) error {
		o.Action, o.Entries = action, args
		return nil
	}
}

func (o *Options) showCommand() *cobra.Command {
	c := o.command("show ID [--json]", "print an episode: its text, where it comes from, and whether its files changed", o.parseEntries(Show))
	c.Args = console.ArgCount(1, 1)
	return c
}

func (o *Options) approveCommand() *cobra.Command {
	c := o.command("approve ID... [--lasting] [--json]", "let agents see an episode: its file moves into the repository", o.parseEntries(Approve))
	c.Args = console.ArgCount(1, -1)
	c.Flags().BoolVar(&o.Lasting, "lasting", false, "keep it when its files change, as long as they exist")
	return c
}

func (o *Options) forgetCommand() *cobra.Command {
	c := o.command("forget ID... [--json]", "remove an episode, and do not propose it again here", o.parseEntries(Forget))
	c.Args = console.ArgCount(1, -1)
	return c
}

func (o *Options) gcCommand() *cobra.Command {
	c := o.command("gc [--dry-run] [--json]", "remove episodes about deleted files, and those that were not approved or needed for a long time",
		o.parseEntries(RemoveUseless))
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "only list what would be removed")
	return c
}

func (o *Options) usedCommand(name string) *cobra.Command {
	c := o.command(name+" [RUN] [--json]", "show the lessons that a run started with, and the tasks that they changed", func(args []string) error {
		o.Action, o.Run = ShowUsed, console.FirstArg(args)
		return nil
	})
	c.Args = console.ArgCount(0, 1)
	return c
}

func (o *Options) resetCommand() *cobra.Command {
	c := o.command("reset [KIND]... [--json]", "make new runs ignore the lessons of everything that ran before now", func(args []string) (err error) {
		o.Action = Reset
		o.LessonKinds, err = parseLessonKinds(args)
		return err
	})
	c.Args = console.ArgCount(0, len(nexus.LessonKinds()))
	return c
}

// runAction does what the options say.
func runAction(ctx context.Context, o *Options) error {
	switch o.Action {
	case Show:
		return showEntry(ctx, o)
	case Approve:
		return approveEntries(ctx, o)
	case Forget:
		return forgetEntries(ctx, o)
	case RemoveUseless:
		return removeUselessEntries(ctx, o)
	case ShowUsed:
		return showUsedLessons(ctx, o)
	case Reset:
		return resetLessons(ctx, o)
	case ListLessons:
		l, err := listLessons(ctx, o)
		if err != nil {
			return err
		}
		return o.Console.Answer(l, func(s view.Style) string { return drawLessons(s, l) })
	case ListEntries:
		l, err := listEntries(ctx, o)
		if err == nil {
			err = o.Console.Answer(l, func(s view.Style) string { return drawEpisodes(s, l) })
		}
		if err != nil {
			return err
		}
		return l.exitCode()
	case List:
	}
	return listAll(ctx, o)
}

// listAll lists entries and lessons.
func listAll(ctx context.Context, o *Options) error {
	entries, err := listEntries(ctx, o)
	if err != nil {
		return err
	}
	learned, err := listLessons(ctx, o)
	if err != nil {
		return err
	}
	both := struct {
		episodeList
		lessonList
	}{entries, learned}
	if err := o.Console.Answer(both, func(s view.Style) string { return drawEpisodes(s, entries) + "\n" + drawLessons(s, learned) }); err != nil {
		return err
	}
	return entries.exitCode()
}
