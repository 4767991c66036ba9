package backlogcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/addcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/backlogrun"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/workaddition"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// StartOptions are the options of nexus backlog start.
type StartOptions struct {
	Console *console.Console
	Items   []string // the ID of each, a part of it that is unique, or the finding it was made of
	Queue   bool     // they wait in the run that is in progress until fewer items are active
	Command progress.RunCommandOptions
}

// NewStart returns the command that works on items. It calls run with the parsed options; nil runs
// the command.
func NewStart(c *console.Console, run func(context.Context, *StartOptions) error) *cobra.Command {
	o := &StartOptions{Console: c}
	if run == nil {
		run = startItems
	}
	const use, short = "start ID... [--queue] [flags]", "work on items now: in the run that is in progress, or in a new one"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		if err := o.Command.Check(); err != nil {
			return err
		}
		o.Items = args
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(1, -1)
	command.Flags().BoolVar(&o.Queue, "queue", false, "let it wait in the run that is in progress until fewer items are active")
	c.SettingFlags(command, "preset", "approval", "step", "parallel", "budget", "max-time", "model", "sandbox", "target", "land", "strict", "skip", "status-file")
	progress.StartFlags(command, &o.Command)
	progress.OrderFlags(c, command, &o.Command)
	return command
}

// startItems adds the items to the run that is in progress, or begins one that works on them.
func startItems(ctx context.Context, o *StartOptions) error {
	a := o.Console
	if done, err := progress.RunInChildProcess(a); done {
		return err
	}
	s, err := openBacklog(ctx, a, app.CreateAccess)
	if err != nil {
		return err
	}
	defer s.place.Close()
	items, err := s.waitingItems(o.Items)
	if err != nil {
		return err
	}
	r, running, err := s.place.ActiveRun(ctx)
	if err != nil {
		return err
	}
	if !running || !o.Queue {
		if o.Command.Items, err = backlogrun.FreeItemSlots(a, s.items, len(items)); err != nil {
			return err
		}
	}
	if running {
		return s.addToRun(ctx, a, r, items)
	}
	return backlogrun.RunItems(ctx, a, s.place, &o.Command, items)
}

// waitingItems returns the items that are to be started; they must be waiting.
func (s *repoBacklog) waitingItems(names []string) ([]backlogitem.BacklogItem, error) {
	var items []backlogitem.BacklogItem
	for _, name := range names {
		i, err := s.findItem(name)
		if err != nil {
			return nil, err
		}
		hint := "nexus backlog edit " + i.ID + " --again lets it wait again."
		switch i.State {
		case backlogitem.Waiting:
			items = append(items, i)
			continue
		case backlogitem.Active, backlogitem.Queued:
			hint = "nexus status " + string(i.Run) + " shows its state."
		case backlogitem.Done, backlogitem.Rejected:
		}
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is not waiting: it is %s", i.ID, i.State),
			Hint: hint,
		}
	}
	return items, nil
}

// addToRun adds items to a run that is in progress.
func (s *repoBacklog) addToRun(ctx context.Context, a *console.Console, r journal.RecordedRun, items []backlogitem.BacklogItem) error {
	var all []addcmd.AdditionResult
	for _, i := range items {
		one := []backlogitem.BacklogItem{i}
		if err := backlogrun.QueueItems(ctx, s.store, one, r.ID); err != nil {
			return err
		}
		w := workaddition.OfItem(i)
		got, err := addcmd.AddToRun(ctx, a, s.place, r, w.AddRequest(i.ID))
		if err != nil {
			return err
		}
		if got.IsRefused() {
			if err := backlogrun.ReleaseItems(ctx, s.store, one); err != nil {
				return err
			}
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s did not accept %s: %s", r.ID, i.ID, got.Why),
				Hint: "It waits again; start it when the run has ended.",
			}
		}
		all = append(all, got)
	}
	if _, _, err := s.store.SyncItems(ctx, s.place.Record()); err != nil {
		return err
	}
	return a.Answer(all, func(view.OutputStyle) string {
		var b strings.Builder
		for _, got := range all {
			b.WriteString(got.Item + " is " + got.String())
		}
		return b.String()
	})
}
