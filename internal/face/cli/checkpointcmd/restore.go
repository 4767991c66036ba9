package checkpointcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// RestoreOptions are the options of nexus checkpoint restore.
type RestoreOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Point   string // name of a checkpoint, or number of an event
	Yes     bool   // go back without asking
}

// addPointFlag adds the flag with which rewind and fork named the point until the last release; the
// argument was the run.
func addPointFlag(c *cobra.Command, name string, old *string) {
	c.Flags().StringVar(old, name, "", "the `POINT`")
	_ = c.Flags().MarkHidden(name) // it exists
}

// parsePoint returns the point and the run of the argument, --run and the old flag.
func parsePoint(arg, run, old string) (point, of string, err error) {
	if old == "" {
		return arg, run, nil
	}
	of, err = console.NamedRun(run, []string{arg})
	return old, of, err
}

// NewRestore returns the command that goes back to a point. It calls run with the parsed options;
// nil runs the command.
func NewRestore(c *console.Console, run func(context.Context, *RestoreOptions) error) *cobra.Command {
	o, old := &RestoreOptions{Console: c}, ""
	if run == nil {
		run = restorePoint
	}
	const use, about = "restore NAME|EVENT [--yes] [--run RUN] [--json]", "take a run back to a checkpoint or an event, to continue from there"
	command := c.Command(use, about, func(ctx context.Context, args []string) (err error) {
		if o.Point, o.Run, err = parsePoint(console.FirstArg(args), o.Run, old); err != nil {
			return err
		}
		if o.Point == "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no point to go back to was given",
				Hint: "Give the name of a checkpoint or the number of an event; nexus checkpoint list and nexus logs show them.",
			}
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson, console.CodeHeld)
	command.Args = console.ArgCount(0, 1)
	addPointFlag(command, "to", &old)
	command.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do it without asking; a run that is in progress is stopped")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// restorePoint takes the run back to the point.
func restorePoint(ctx context.Context, o *RestoreOptions) error {
	return o.Console.ChangeRun(ctx, o.Run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
		return rewindTo(ctx, o.Console, p, r, s, o.Point, o.Yes)
	})
}

// rewindResult is the JSON output of nexus checkpoint restore.
type rewindResult struct {
	Run        nexus.RunID     `json:"run"`
	To         int64           `json:"to"`
	Checkpoint string          `json:"checkpoint,omitzero"`
	Seq        int64           `json:"seq"` // of the fact that records it
	Status     nexus.RunStatus `json:"status"`
	Tip        string          `json:"tip"`
	From       string          `json:"from"`
}

// rewindTo takes a run back to a point, once a person agreed to the consequences.
func rewindTo(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, s *state.State, name string, yes bool) error {
	to, err := app.ParseRunPoint(s, name)
	if err != nil {
		return err
	}
	if to.Seq < 1 || to.Seq > s.Seq {
		return app.NotFoundError("event", name, fmt.Sprintf("The run is at event %d; nexus checkpoint list names points.", s.Seq))
	}
	if err := s.CheckFacts(nexus.RunRewound{To: to.Seq}); err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s cannot go back to %s: %v", r.ID, name, err),
			Hint: "nexus checkpoint list names points; nexus checkpoint fork starts another run from one.",
		}
	}
	if err := p.CheckCommitsAt(ctx, s, to); err != nil {
		return err
	}
	if !yes {
		text, err := rewindPreview(s, to, r.Holder != nil)
		if err != nil {
			return err
		}
		if agreed, err := a.AskConsent(ctx, text, "Go back? [y/N]: "); err != nil || !agreed {
			return err
		}
	}
	if r.Holder != nil {
		if err := stopAndWait(ctx, a, p, r.ID); err != nil {
			return err
		}
	}
	if s, err = a.Rewind(ctx, p, r.ID, to, a.UserName()); err != nil {
		return err
	}
	last := s.Rewinds[len(s.Rewinds)-1]
	told := rewindResult{Run: r.ID, To: to.Seq, Checkpoint: to.CheckpointName(), Seq: last.Seq, Status: projection.RunStatus(s, projection.RunFactsOutsideJournal{Known: true}), Tip: s.Tip, From: last.From}
	return a.Answer(told, func(view.OutputStyle) string {
		return fmt.Sprintf("run %s is back at event %d: its branch is at %s, and was at %s\nContinue from there: nexus resume %s\n",
			told.Run, told.To, view.ShortHash(told.Tip), view.ShortHash(told.From), told.Run)
	})
}

// rewindPreview describes what going back would remove, and what would remain.
func rewindPreview(s *state.State, to app.RunHistoryPoint, live bool) (string, error) {
	a, err := view.EventsSince(s, to.Seq)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	point := fmt.Sprintf("event %d", to.Seq)
	if name := to.CheckpointName(); name != "" {
		point = fmt.Sprintf("checkpoint %s, event %d", name, to.Seq)
	}
	fmt.Fprintf(&b, "Run %s would go back to %s: %s, branch at %s.\n", s.Run, point, a.Then.Status, view.ShortHash(a.Then.Tip))
	if live {
		b.WriteString("- it is in progress: its agents would be stopped\n")
	}
	fmt.Fprintf(&b, "- %s since then would no longer count; they stay in the journal\n", view.CountWithNoun(a.Events, "event"))
	for _, l := range a.Landings {
		fmt.Fprintf(&b, "- %s would not have landed; its commit %s stays in the private clone\n", l.Task, view.ShortHash(l.Commit))
	}
	if len(a.Tasks) > 0 {
		fmt.Fprintf(&b, "- not planned then: %s\n", nexus.JoinWords(a.Tasks))
	}
	if ids := append(append([]nexus.AttemptID{}, a.Ended...), a.Attempts...); len(ids) > 0 {
		fmt.Fprintf(&b, "- over, with another attempt after it: %s\n", nexus.JoinWords(ids))
	}
	for _, q := range a.Requests {
		what := string(q.Verb)
		if about := strings.TrimSpace(string(q.Task) + " " + view.EscapeForTerminal(q.ID)); about != "" {
			what += " of " + about
		}
		fmt.Fprintf(&b, "- would no longer count: the %s by %s\n", what, view.EscapeForTerminal(q.By))
	}
	if f := a.Published; f != nil {
		where := f.Branch
		if f.Target != "" {
			where += " and " + f.Target
		}
		fmt.Fprintf(&b, "- published, and stays where it is: %s; nexus undo reverts it there\n", where)
	}
	fmt.Fprintf(&b, "- stays spent: %s, and %s before\n", a.Money, a.Then.Ledger.SpentMoney())
	return b.String(), nil
}
