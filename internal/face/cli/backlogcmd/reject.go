package backlogcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/addcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RejectOptions are the options of nexus backlog reject.
type RejectOptions struct {
	Console *console.Console
	Item    string // its ID, a part of it that is unique, or a finding
	Reason  string
}

// NewReject returns the command that records that an item will not be done. It calls run with the
// parsed options; nil runs the command.
func NewReject(c *console.Console, run func(context.Context, *RejectOptions) error) *cobra.Command {
	o := &RejectOptions{Console: c}
	if run == nil {
		run = rejectItem
	}
	const use, short = "reject ID --why TEXT [--json]", "record that an item will not be done, and why"
	command := newItemCommand(c, use, short, &o.Item, func(ctx context.Context) error {
		if o.Reason = strings.Join(strings.Fields(o.Reason), " "); o.Reason == "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no reason was given",
				Hint: "Give the reason with --why: it keeps others from adding the same again.",
			}
		}
		return run(ctx, o)
	})
	command.Flags().StringVar(&o.Reason, "why", "", "the reason, as `TEXT`")
	return command
}

// rejectItem rejects the item. A run that has it queued is asked to return it.
func rejectItem(ctx context.Context, o *RejectOptions) error {
	if strings.Contains(o.Item, "/") {
		if err := keepFinding(ctx, o.Console, o.Item); err != nil {
			return err
		}
	}
	return changeItem(ctx, o.Console, o.Item, func(ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem) (backlogitem.BacklogItem, string, error) {
		switch {
		case item.State == backlogitem.Active:
			return item, "", &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s works on %s", item.Run, item.ID),
				Hint: "Skip its tasks with nexus stop --skip first; nexus status shows them.",
			}
		case item.State == backlogitem.Queued && s.place.Journal != nil:
			if err := addcmd.WithdrawItem(ctx, o.Console, s.place, item.Run, item.ID); err != nil {
				return item, "", err
			}
		}
		now, err := s.store.EditItem(ctx, item.ID, func(i *backlogitem.BacklogItem) error {
			i.State, i.Reason, i.Commit = backlogitem.Rejected, o.Reason, ""
			return nil
		})
		return now, "", err
	})
}

// keepFinding makes an item of a finding that has none, so that people's decisions about it are
// stored.
func keepFinding(ctx context.Context, a *console.Console, id string) error {
	s, err := openBacklog(ctx, a, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer s.place.Close()
	if _, ok := (discoveredwork.BacklogDecisions{Items: s.items}).BacklogItemOf(id); ok {
		return nil
	}
	f, err := checkcmd.RecheckFinding(ctx, a, id)
	if err != nil {
		return err
	}
	item := f.ToItem()
	item.Added, item.By = a.Now().Format(time.DateOnly), strings.Join(strings.Fields(a.UserName()), " ")
	_, err = s.store.AddItem(ctx, item)
	return err
}
