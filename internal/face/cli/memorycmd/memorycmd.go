// Package memorycmd implements the command "nexus memory": what was learned in a repository. It
// lists the entries that agents see, lets a person approve or forget them, and lists the lessons
// that new runs take from earlier ones.
package memorycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// New returns the command "nexus memory" with those below it. It calls run with the parsed options;
// nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = list
	}
	command := newCommand(c, "memory [flags]", "show what was learned here, and decide what agents see of it", o, run, func([]string) error { return o.check(true) })
	o.addFlags(command)
	command.Flags().Lookup("kind").Usage += "; or lessons: " + kindNames(nexus.LessonKinds())
	command.AddCommand(c.HiddenAlias(newEntryList(c, nil), "nexus memory"), NewShow(c, nil), NewApprove(c, nil), NewForget(c, nil), NewGc(c, nil),
		NewUsed(c, nil), NewReset(c, nil))
	return command
}

// newEntryList returns the earlier name of a list of entries.
func newEntryList(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, NoLessons: true}
	if run == nil {
		run = list
	}
	command := newCommand(c, "list [flags]", "list the episodes", o, run, func([]string) error { return o.check(false) })
	o.addFlags(command)
	return command
}

// NewLessons returns the earlier name of the commands about lessons.
func NewLessons(c *console.Console) *cobra.Command {
	used := NewUsed(c, nil)
	used.Use = "show [RUN] [--json]"
	return c.HiddenAlias(c.ParentCommand("lessons", "show the lessons that new runs take from earlier ones", newLessonList(c, nil), used, NewReset(c, nil)),
		"nexus memory")
}

// newLessonList returns the earlier name of a list of lessons.
func newLessonList(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, NoEntries: true}
	if run == nil {
		run = list
	}
	command := newCommand(c, "list [KIND] [--json]", "list the lessons for a run that starts now", o, run, func(args []string) (err error) {
		o.LessonKinds, err = parseLessonKinds(args)
		return err
	})
	command.Args = console.ArgCount(0, 1)
	return command
}

// newCommand returns a command with --json that parses its arguments and runs.
func newCommand[O any](c *console.Console, use, short string, o *O, run func(context.Context, *O) error, parse func(args []string) error) *cobra.Command {
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		if err := parse(args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// Options are the options of nexus memory.
type Options struct {
	Console     *console.Console
	State       memoryentry.EntryApprovalState // list only entries in it; empty: all but forgotten ones
	Kind        memoryentry.EntryKind          // list only entries of it
	File        string                         // list only entries about it: a path from the root of the repository
	LessonKinds []nexus.LessonKind             // list only lessons of them; empty: all
	NoEntries   bool                           // list no entries
	NoLessons   bool                           // list no lessons
}

func (o *Options) addFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar((*string)(&o.State), "state", "",
		"list only episodes in this `STATE`: proposed, approved or forgotten; the default is all but forgotten ones")
	flags.StringVar((*string)(&o.Kind), "kind", "", "list only those of this `KIND`: "+kindNames(memoryentry.EntryKinds()))
	flags.StringVar(&o.File, "file", "", "list only episodes about this `PATH` from the root of the repository, a file or a directory")
}

// check checks the flags of a list. A kind of lesson, where the list has them, lists only lessons;
// another filter only entries.
func (o *Options) check(lessons bool) error {
	if o.State != "" && !slices.Contains(memoryentry.ApprovalStates(), o.State) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no state %q", o.State),
			Hint: "The states are proposed, approved and forgotten.",
		}
	}
	lesson := nexus.LessonKind(o.Kind)
	switch {
	case o.Kind == "", slices.Contains(memoryentry.EntryKinds(), o.Kind):
	case !lessons || !slices.Contains(nexus.LessonKinds(), lesson):
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no kind %q", o.Kind),
			Hint: "The kinds are decision, pattern, gotcha, fix and review.",
		}
	case o.State != "" || o.File != "":
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(string(lesson)) + " is a kind of lesson; --state and --file select episodes",
			Hint: "Leave out --kind, or --state and --file.",
		}
	default:
		o.Kind, o.LessonKinds, o.NoEntries = "", []nexus.LessonKind{lesson}, true
		return nil
	}
	o.NoLessons = o.NoLessons || o.State != "" || o.Kind != "" || o.File != ""
	return nil
}

// list lists entries and lessons, as far as they are wanted.
func list(ctx context.Context, o *Options) (err error) {
	var entries *memoryEntryList
	var learned *lessonList
	if !o.NoEntries {
		if entries, err = listEntries(ctx, o); err != nil {
			return err
		}
	}
	if !o.NoLessons {
		if learned, err = listLessons(ctx, o); err != nil {
			return err
		}
	}
	answer := struct {
		*memoryEntryList
		*lessonList
	}{entries, learned}
	if err := o.Console.Answer(answer, func(s view.OutputStyle) string {
		var parts []string
		if entries != nil {
			parts = append(parts, drawEntries(s, *entries))
		}
		if learned != nil {
			parts = append(parts, drawLessons(s, *learned))
		}
		return strings.Join(parts, "\n")
	}); err != nil {
		return err
	}
	if entries != nil && len(entries.Problems) > 0 {
		return console.ExitError(console.CodeFailed) // files that are not valid entries
	}
	return nil
}

// ShowOptions are the options of nexus memory show.
type ShowOptions struct {
	Console *console.Console
	Entry   string // a part of its id that is unique
}

// NewShow returns the command that prints an entry. It calls run with the parsed options; nil runs the
// command.
func NewShow(c *console.Console, run func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{Console: c}
	if run == nil {
		run = showEntry
	}
	command := newCommand(c, "show ID [--json]", "print an episode, its origin, and whether its files changed", o, run, func(args []string) error {
		o.Entry = args[0]
		return nil
	})
	command.Args = console.ArgCount(1, 1)
	return command
}

// ApproveOptions are the options of nexus memory approve.
type ApproveOptions struct {
	Console *console.Console
	Entries []string // parts of their ids that are unique
	Lasting bool     // also when files of an entry change
}

// NewApprove returns the command that lets agents see entries. It calls run with the parsed options;
// nil runs the command.
func NewApprove(c *console.Console, run func(context.Context, *ApproveOptions) error) *cobra.Command {
	o := &ApproveOptions{Console: c}
	if run == nil {
		run = approveEntries
	}
	command := newCommand(c, "approve ID... [--lasting] [--json]", "let agents see an episode: its file moves into the repository", o, run, func(args []string) error {
		o.Entries = args
		return nil
	})
	command.Args = console.ArgCount(1, -1)
	command.Flags().BoolVar(&o.Lasting, "lasting", false, "keep it when its files change, as long as they exist")
	return command
}

// ForgetOptions are the options of nexus memory forget.
type ForgetOptions struct {
	Console *console.Console
	Entries []string // parts of their ids that are unique
}

// NewForget returns the command that removes entries for good. It calls run with the parsed options;
// nil runs the command.
func NewForget(c *console.Console, run func(context.Context, *ForgetOptions) error) *cobra.Command {
	o := &ForgetOptions{Console: c}
	if run == nil {
		run = forgetEntries
	}
	command := newCommand(c, "forget ID... [--json]", "remove an episode, and do not propose it again here", o, run, func(args []string) error {
		o.Entries = args
		return nil
	})
	command.Args = console.ArgCount(1, -1)
	return command
}

// GcOptions are the options of nexus memory gc.
type GcOptions struct {
	Console *console.Console
	DryRun  bool // only list what would be removed
}

// NewGc returns the command that removes entries that are no longer useful. It calls run with the
// parsed options; nil runs the command.
func NewGc(c *console.Console, run func(context.Context, *GcOptions) error) *cobra.Command {
	o := &GcOptions{Console: c}
	if run == nil {
		run = removeUselessEntries
	}
	const short = "remove episodes about deleted files, and those that nobody needs"
	command := newCommand(c, "gc [--dry-run] [--json]", short, o, run, func([]string) error { return nil })
	command.Flags().BoolVar(&o.DryRun, "dry-run", false, "only list what would be removed")
	return command
}

// UsedOptions are the options of nexus memory used.
type UsedOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the run in progress, else the latest
}

// NewUsed returns the command that shows the lessons of a run. It calls run with the parsed options;
// nil runs the command.
func NewUsed(c *console.Console, run func(context.Context, *UsedOptions) error) *cobra.Command {
	o := &UsedOptions{Console: c}
	if run == nil {
		run = showUsedLessons
	}
	command := newCommand(c, "used [RUN] [--run RUN] [--json]", "show the lessons of a run, and the tasks that they changed", o, run, func(args []string) (err error) {
		o.Run, err = console.NamedRun(o.Run, args)
		return err
	})
	c.RunFlag(command, &o.Run)
	command.Args = console.ArgCount(0, 1)
	return command
}

// ResetOptions are the options of nexus memory reset.
type ResetOptions struct {
	Console *console.Console
	Kinds   []nexus.LessonKind // empty: all
}

// NewReset returns the command that makes new runs ignore earlier ones. It calls run with the parsed
// options; nil runs the command.
func NewReset(c *console.Console, run func(context.Context, *ResetOptions) error) *cobra.Command {
	o := &ResetOptions{Console: c}
	if run == nil {
		run = resetLessons
	}
	const short = "make new runs ignore the lessons of everything that ran before now"
	command := newCommand(c, "reset [KIND]... [--json]", short, o, run, func(args []string) (err error) {
		o.Kinds, err = parseLessonKinds(args)
		return err
	})
	command.Args = console.ArgCount(0, len(nexus.LessonKinds()))
	return command
}
