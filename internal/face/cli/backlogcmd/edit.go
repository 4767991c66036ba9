package backlogcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/workaddition"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// EditOptions are the options of nexus backlog edit.
type EditOptions struct {
	Console  *console.Console
	Item     string   // its ID, a part of it that is unique, or the finding it was made of
	Changed  []string // fields to change: title, text, priority, type, check, files
	Title    string
	Addition workaddition.Addition // the other fields
	Again    bool                  // an item that was rejected or is done waits again
}

// NewEdit returns the command that changes an item. It calls run with the parsed options; nil runs
// the command.
func NewEdit(c *console.Console, run func(context.Context, *EditOptions) error) *cobra.Command {
	o := &EditOptions{Console: c}
	if run == nil {
		run = editItem
	}
	var command *cobra.Command
	const use, short = "edit ID [--title TEXT] [--text TEXT] [flags]", "change an item, or reopen one"
	command = newItemCommand(c, use, short, &o.Item, func(ctx context.Context) error {
		for _, field := range []string{"title", "text", "priority", "type", "check", "files"} {
			if command.Flags().Changed(field) {
				o.Changed = append(o.Changed, field)
			}
		}
		if !o.Again && len(o.Changed) == 0 {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no change was given",
				Hint: "Give --title, --text or another flag, or edit the file of the item; nexus backlog show prints it.",
			}
		}
		return run(ctx, o)
	})
	f := command.Flags()
	f.StringVar(&o.Title, "title", "", "new title, as `TEXT`")
	f.StringVar(&o.Addition.Text, "text", "", "new `TEXT` below the title")
	f.BoolVar(&o.Again, "again", false, "reopen an item that was rejected or is done")
	o.Addition.AddFlags(f)
	return command
}

// editItem changes the item, unless a run works with its text.
func editItem(ctx context.Context, o *EditOptions) error {
	return changeItem(ctx, o.Console, o.Item, func(ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem) (backlogitem.BacklogItem, string, error) {
		if item.State == backlogitem.Active || item.State == backlogitem.Queued {
			return item, "", &nexus.Error{
				Code:    nexus.CodeInvalidInput,
				Message: fmt.Sprintf("%s is %s in run %s, which works with the text that it was started with", item.ID, item.State, item.Run),
				Hint:    "Message its agent with nexus tell, or edit it when the run has ended.",
			}
		}
		next, err := o.edited(ctx, item)
		if err != nil {
			return item, "", err
		}
		now, err := s.store.EditItem(ctx, item.ID, func(i *backlogitem.BacklogItem) error { *i = next; return nil })
		return now, editSummary(item, now), err
	})
}

// edited returns the item with the changes.
func (o *EditOptions) edited(ctx context.Context, item backlogitem.BacklogItem) (backlogitem.BacklogItem, error) {
	changed := func(field string) bool { return slices.Contains(o.Changed, field) }
	if changed("title") {
		item.Title = strings.Join(strings.Fields(o.Title), " ")
	}
	if changed("text") {
		item.Text = strings.TrimSpace(o.Addition.Text)
	}
	whole := workaddition.OfItem(item)
	if changed("priority") {
		whole.Priority = o.Addition.Priority
	}
	if changed("type") {
		whole.Kind = o.Addition.Kind
	}
	if changed("check") {
		whole.Check = o.Addition.Check
	}
	if changed("files") {
		whole.Files = o.Addition.Files
	}
	if err := whole.Read(ctx, o.Console, "", nil); err != nil {
		return item, err
	}
	item.Priority, item.Kind, item.Check, item.Files = nexus.Priority(whole.Priority), nexus.TaskKind(whole.Kind), whole.Check, whole.Files
	if o.Again {
		item.State, item.Reason, item.Run, item.Commit = backlogitem.Waiting, "", "", ""
	}
	return item, nil
}

// editSummary describes the changes of an edit.
func editSummary(was, now backlogitem.BacklogItem) string {
	var what []string
	for _, one := range []struct {
		name    string
		differs bool
	}{
		{"title", was.Title != now.Title},
		{"text", was.Text != now.Text},
		{"priority", was.Priority != now.Priority},
		{"type", was.Kind != now.Kind},
		{"check", was.Check != now.Check},
		{"files", !slices.Equal(was.Files, now.Files)},
	} {
		if one.differs {
			what = append(what, one.name)
		}
	}
	says := ""
	if was.State != now.State {
		says = "waits again"
	}
	switch {
	case len(what) > 0 && says != "":
		says += ", and "
		fallthrough
	case len(what) > 0:
		says += "has another " + strings.Join(what, ", ")
	case says == "":
		says = "is as it was"
	}
	return says
}
