package backlogcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// MoveOptions are the options of nexus backlog move.
type MoveOptions struct {
	Console *console.Console
	Item    string // its ID, a part of it that is unique, or the finding it was made of
	Before  string // the same of the item that comes after it; empty: Item is moved behind After
	After   string
}

// NewMove returns the command that changes the order of the items. It calls run with the parsed
// options; nil runs the command.
func NewMove(c *console.Console, run func(context.Context, *MoveOptions) error) *cobra.Command {
	o := &MoveOptions{Console: c}
	if run == nil {
		run = moveItem
	}
	const use, short = "move ID --before ID | --after ID [--json]", "change the order of the waiting items"
	command := newItemCommand(c, use, short, &o.Item, func(ctx context.Context) error {
		if o.Before == "" && o.After == "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no position was given",
				Hint: "Name another item with --before or --after.",
			}
		}
		return run(ctx, o)
	})
	command.Flags().StringVar(&o.Before, "before", "", "put it before the item `ID`, with its priority")
	command.Flags().StringVar(&o.After, "after", "", "put it after the item `ID`, with its priority")
	command.MarkFlagsMutuallyExclusive("before", "after")
	return command
}

// moveItem moves the item to its new place.
func moveItem(ctx context.Context, o *MoveOptions) error {
	return changeItem(ctx, o.Console, o.Item, func(ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem) (backlogitem.BacklogItem, string, error) {
		was, what := item.Priority, ""
		err := s.store.ChangeItems(ctx, func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
			to, err := s.findItem(cmp.Or(o.Before, o.After))
			if err != nil {
				return nil, err
			}
			if item.State != backlogitem.Waiting || to.State != backlogitem.Waiting {
				return nil, &nexus.Error{
					Code:    nexus.CodeInvalidInput,
					Message: fmt.Sprintf("%s is %s and %s is %s: only waiting items have a place in the order", item.ID, item.State, to.ID, to.State),
					Hint:    "nexus backlog lists the waiting items.",
				}
			}
			changed := backlogitem.MoveItem(all, item.ID, to.ID, o.After != "")
			if at := slices.IndexFunc(changed, func(i backlogitem.BacklogItem) bool { return i.ID == item.ID }); at >= 0 {
				item = changed[at]
			}
			what = queuePosition(all, changed, item)
			if item.Priority != was {
				what += fmt.Sprintf(", with priority %s", cmp.Or(item.Priority, nexus.PriorityMedium))
			}
			return changed, nil
		})
		return item, what, err
	})
}

// queuePosition describes an item's position among all waiting items, after some changed.
func queuePosition(all, changed []backlogitem.BacklogItem, item backlogitem.BacklogItem) string {
	now := slices.DeleteFunc(slices.Clone(all), func(i backlogitem.BacklogItem) bool {
		return i.State != backlogitem.Waiting || slices.ContainsFunc(changed, func(c backlogitem.BacklogItem) bool { return c.ID == i.ID })
	})
	now = append(now, changed...)
	backlogitem.SortItems(now)
	at := slices.IndexFunc(now, func(i backlogitem.BacklogItem) bool { return i.ID == item.ID })
	return fmt.Sprintf("is number %d of the %d that wait", at+1, len(now))
}
