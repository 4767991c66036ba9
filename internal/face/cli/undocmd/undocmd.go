// Package undocmd implements the command "nexus undo".
package undocmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string   // as a person names it; empty: the default run
	Names   []string // tasks, or one run; empty: all that the run landed
	DryRun  bool     // only show the effect
	Yes     bool     // do not ask
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = undo
	}
	const use, short = "undo [TASK...|RUN] [--dry-run|--yes] [--run RUN] [--json]", "revert landed work, as a new commit that passes the gates"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Names = args
		o.Yes = o.Yes || o.Run != "" || len(args) > 0 // the user named what to undo
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, mostUndone)
	command.Flags().BoolVarP(&o.Yes, "yes", "y", false, "revert all that the latest run landed, without asking")
	command.Flags().BoolVarP(&o.DryRun, "dry-run", "n", false, "print what would be reverted, without reverting it")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// undo reverts what the names mean.
func undo(ctx context.Context, o *Options) error {
	name := ""
	if len(o.Names) == 1 {
		name = o.Names[0]
	}
	return o.Console.ChangeSubject(ctx, o.Run, name, func(p *app.Repository, s app.RunSubject) error {
		tasks := o.Names
		if name != "" && s.Part() == "" {
			tasks = nil // the name is that of the run
		}
		return undoTasks(ctx, p, s, tasks, o)
	})
}

// mostUndone limits the tasks that one command can name.
const mostUndone = 1000

// undoResult is the JSON output of undo.
type undoResult struct {
	Run    nexus.RunID    `json:"run"`
	Tasks  []nexus.TaskID `json:"tasks"` // in the order in which they are reverted
	Dry    bool           `json:"dry_run,omitzero"`
	Commit string         `json:"commit,omitzero"`
	Branch string         `json:"branch,omitzero"`
	Target string         `json:"target,omitzero"` // the user's branch that moved along
	Stayed string         `json:"stayed,omitzero"` // why no user's branch moved
}

// undoTasks reverts the landed changes of tasks of a run, of all tasks if none is named.
func undoTasks(ctx context.Context, p *app.Repository, of app.RunSubject, names []string, o *Options) error {
	a, r, s := o.Console, of.RecordedRun, of.State
	refuse := func(why, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "nothing was undone: " + why, Hint: hint}
	}
	if err := console.RefuseLoop(s); err != nil {
		return err
	}
	switch {
	case r.Holder != nil:
		return &nexus.Error{
			Code: nexus.CodeRunHeld, Message: fmt.Sprintf("nothing was undone: run %s is in progress", r.ID),
			Hint: "Stop it first: nexus stop " + string(r.ID) + ".",
		}
	case !s.Status.HasEnded() && !s.IsDelivering():
		return refuse(fmt.Sprintf("run %s has not ended: it is %s", r.ID, console.RunStatus(r, s)),
			"Continue it with nexus resume, or end it with nexus stop "+string(r.ID)+".")
	}
	var before nexus.Fact
	if !s.Status.HasEnded() { // a process died while it published or reverted
		var err error
		if s, err = finishRequests(ctx, a, p, r.ID); err != nil {
			return err
		}
		before = s.Undo.Last
	}
	tasks, why := schedule.RevertibleTasks(s, names)
	if f, ok := before.(nexus.UndoLanded); ok && why != "" && isSameTasks(f.Tasks, names) {
		return printUndo(a, s, f)
	}
	if why != "" {
		return refuse(why, "nexus status shows the landed tasks.")
	}
	if o.DryRun {
		told := undoResult{Run: r.ID, Tasks: tasks, Dry: true}
		return a.Answer(told, func(view.OutputStyle) string {
			return fmt.Sprintf("would revert, in this order: %s\n", nexus.JoinWords(tasks))
		})
	}
	if !o.Yes {
		text := fmt.Sprintf("This reverts all that run %s landed, in this order: %s\n", r.ID, nexus.JoinWords(tasks))
		if agreed, err := a.AskConsent(ctx, text, "Revert it? [y/N]: "); err != nil || !agreed {
			return err
		}
	}
	e, err := p.Journal.Ask(ctx, r.ID, nexus.Request{Verb: nexus.VerbUndo, ID: strings.Join(names, ","), By: a.UserName()})
	if err != nil {
		return err
	}
	tries := s.Undo.Tries
	if s, err = finishRequests(ctx, a, p, r.ID); err != nil {
		return err
	}
	if s.Undo.Tries > tries {
		switch f := s.Undo.Last.(type) {
		case nexus.UndoLanded:
			if slices.Equal(f.Tasks, tasks) {
				return printUndo(a, s, f)
			}
		case nexus.UndoRefused:
			hint := "The branches are where they were."
			if len(f.Conflicts) > 0 {
				hint = "Also undo the later change to those lines, or revert it by hand."
			}
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s not undone: %s", nexus.JoinWords(f.Tasks), f.Why), Hint: hint}
		default: // it is still open
		}
	}
	return refuse(noResultReason(ctx, p, r.ID, e.Seq), "See nexus status, then run it again.")
}

// noResultReason returns the reason why a request had no effect.
func noResultReason(ctx context.Context, p *app.Repository, run nexus.RunID, seq int64) string {
	f, err := progress.AwaitRequestResult(ctx, p, run, seq)
	if err != nil || f == nil || f.Granted {
		return "the run ended before it was done"
	}
	return f.Why
}

// finishRequests continues a run until it has done its requests and published the landed changes.
func finishRequests(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID) (*state.State, error) {
	quiet := a.Copy()
	quiet.Quiet = true
	if _, err := progress.DeliverRun(ctx, quiet, p, id); err != nil {
		if errors.Is(err, context.Canceled) || ctx.Err() != nil {
			a.Say("interrupted; nothing is lost, run it again")
			return nil, console.ExitError(console.CodeInterrupted)
		}
		return nil, err
	}
	return p.Replay(ctx, id)
}

// isSameTasks reports whether tasks are the named ones; no names mean all tasks.
func isSameTasks(tasks []nexus.TaskID, names []string) bool {
	if len(names) == 0 {
		return true
	}
	return len(tasks) == len(names) && !slices.ContainsFunc(tasks, func(id nexus.TaskID) bool { return !slices.Contains(names, string(id)) })
}

// printUndo prints which changes were reverted, and where.
func printUndo(a *console.Console, s *state.State, f nexus.UndoLanded) error {
	told := undoResult{Run: s.Run, Tasks: f.Tasks, Commit: f.Commit}
	if pub := s.Published; pub != nil {
		told.Branch, told.Target, told.Stayed = pub.Branch, pub.Target, pub.Why
		told.Commit = cmp.Or(told.Commit, pub.Commit)
	}
	return a.Answer(told, func(view.OutputStyle) string {
		text := fmt.Sprintf("reverted %s as %s", nexus.JoinWords(told.Tasks), view.ShortHash(told.Commit))
		if told.Branch != "" {
			text += ", on " + told.Branch
		}
		if told.Target != "" {
			text += " and " + told.Target
		}
		if told.Stayed != "" {
			text += "; " + view.EscapeForTerminal(told.Stayed)
		}
		return text + "\n"
	})
}
