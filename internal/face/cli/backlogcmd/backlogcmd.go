// Package backlogcmd implements the commands "nexus backlog". The backlog is the work that waits to
// be started. See docs/plan-and-approve.md.
package backlogcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/backlog"
)

// Options are the options of nexus backlog.
type Options struct {
	Console *console.Console
	All     bool // also list items that are done or rejected
}

// New returns the command with its subcommands. It calls run with the parsed options; nil runs the
// command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	command := newListCommand(c, "backlog [--all] [--json]", run)
	command.AddCommand(NewList(c, nil), NewAdd(c, nil), NewShow(c, nil), NewEdit(c, nil), NewMove(c, nil), NewReject(c, nil), NewStart(c, nil))
	return command
}

// ListOptions are the options of nexus backlog list, which does the same as nexus backlog.
type ListOptions = Options

// NewList returns nexus backlog under a second name, for people who expect a list command. It calls
// run with the parsed options; nil runs the command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	command := newListCommand(c, "list [--all] [--json]", run)
	command.Hidden = true
	return command
}

func newListCommand(c *console.Console, use string, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = listItems
	}
	command := c.Command(use, "list the waiting work, and work on it", func(ctx context.Context, _ []string) error {
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Flags().BoolVar(&o.All, "all", false, "also list items that are done or rejected")
	c.JSONFlag(command)
	return command
}

// backlogList is the JSON output of nexus backlog.
type backlogList struct {
	Active   int                       `json:"active"` // items in progress
	Most     int                       `json:"most"`   // limit of Active
	Items    []backlogitem.BacklogItem `json:"items"`
	Problems []backlog.ItemProblem     `json:"problems"` // files that are not valid items
}

// repoBacklog is the backlog of a repository as opened by a command. The caller closes the repository.
type repoBacklog struct {
	place *app.Repository
	store backlog.ItemStore
	items []backlogitem.BacklogItem
	wrong []backlog.ItemProblem
}

func openBacklog(ctx context.Context, a *console.Console, want app.RepositoryAccessMode) (*repoBacklog, error) {
	p, err := a.OpenRepository(ctx, want)
	if err != nil {
		return nil, err
	}
	s := &repoBacklog{place: p, store: a.BacklogStore(p)}
	if s.items, s.wrong, err = s.store.SyncItems(ctx, p.Record()); err != nil {
		p.Close()
		return nil, err
	}
	return s, nil
}

// listItems lists the items. Files that are not valid items are failures.
func listItems(ctx context.Context, o *Options) error {
	settings, _, err := o.Console.LoadSettings()
	if err != nil {
		return err
	}
	s, err := openBacklog(ctx, o.Console, app.ReadAccess)
	if err != nil {
		return err
	}
	defer s.place.Close()
	l := backlogList{Most: settings.Limits.Items, Items: []backlogitem.BacklogItem{}, Problems: append([]backlog.ItemProblem{}, s.wrong...)}
	for _, i := range s.items {
		if i.State == backlogitem.Active {
			l.Active++
		}
		if over := i.State == backlogitem.Done || i.State == backlogitem.Rejected; !over || o.All {
			l.Items = append(l.Items, i)
		}
	}
	if err := o.Console.Answer(l, func(st view.OutputStyle) string { return drawBacklog(st, l) }); err != nil || len(l.Problems) == 0 {
		return err
	}
	return console.ExitError(console.CodeFailed)
}

func drawBacklog(s view.OutputStyle, l backlogList) string {
	var b strings.Builder
	if len(l.Items) == 0 {
		b.WriteString("nothing waits\n")
	} else {
		rows := make([][]string, len(l.Items))
		for n, i := range l.Items {
			rows[n] = []string{string(i.State), view.EscapeForTerminal(i.ID), string(i.Priority), view.EscapeForTerminal(i.Title), view.EscapeForTerminal(itemNote(i))}
		}
		b.WriteString(view.DrawTable(s, []string{"state", "id", "priority", "title", ""}, rows))
		fmt.Fprintf(&b, "%d of at most %d active\n", l.Active, l.Most)
	}
	for _, p := range l.Problems {
		fmt.Fprintf(&b, "%s %s: %s\n", s.Bad("not read:"), view.EscapeForTerminal(p.File), view.EscapeForTerminal(p.Why))
		if p.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", view.EscapeForTerminal(p.Hint))
		}
	}
	return b.String()
}

// itemNote returns further facts about an item.
func itemNote(i backlogitem.BacklogItem) string {
	switch {
	case i.State == backlogitem.Done && i.Commit != "":
		return "landed as " + view.ShortHash(i.Commit)
	case i.Reason != "":
		return i.Reason
	case i.State != backlogitem.Waiting && i.Run != "":
		return "run " + string(i.Run)
	default:
		return ""
	}
}

// ShowOptions are the options of nexus backlog show.
type ShowOptions struct {
	Console *console.Console
	Item    string // its ID, a part of it that is unique, or the finding it was made of
}

// NewShow returns the command that prints an item. It calls run with the parsed options; nil runs the
// command.
func NewShow(c *console.Console, run func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{Console: c}
	if run == nil {
		run = showItem
	}
	return newItemCommand(c, "show ID [--json]", "print an item", &o.Item, func(ctx context.Context) error { return run(ctx, o) })
}

// showItem prints the item.
func showItem(ctx context.Context, o *ShowOptions) error {
	s, err := openBacklog(ctx, o.Console, app.ReadAccess)
	if err != nil {
		return err
	}
	defer s.place.Close()
	item, err := s.findItem(o.Item)
	if err != nil {
		return err
	}
	return o.Console.Answer(item, func(view.OutputStyle) string { return view.EscapeLinesForTerminal(item.String()) })
}

// newItemCommand returns a command about one item.
func newItemCommand(c *console.Console, use, short string, item *string, run func(context.Context) error) *cobra.Command {
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		*item = args[0]
		return run(ctx)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	c.JSONFlag(command)
	return command
}

// findItem returns the item with that name, or the item made from the finding with that ID. If only
// an invalid file has the name, the error is about that file.
func (s *repoBacklog) findItem(name string) (backlogitem.BacklogItem, error) {
	if i, ok := (discoveredwork.BacklogDecisions{Items: s.items}).BacklogItemOf(name); ok {
		return i, nil
	}
	i, err := backlog.FindItem(s.items, name)
	if err == nil {
		return i, nil
	}
	for _, p := range s.wrong {
		if strings.Contains(p.File, name) {
			return i, &nexus.Error{Code: nexus.CodeInvalidConfig, Message: p.File + ": " + p.Why, Hint: p.Hint}
		}
	}
	if strings.Contains(name, "/") {
		err = &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no item of the finding %q in the backlog", name),
			Hint: "nexus discover " + name + " --add puts it there.",
		}
	}
	return i, err
}

// itemChange changes an item. It returns the new item, and a description of the result if the
// item's state does not show it.
type itemChange func(ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem) (now backlogitem.BacklogItem, what string, err error)

// changeItem changes the item with that name, and prints the result.
func changeItem(ctx context.Context, a *console.Console, name string, change itemChange) error {
	s, err := openBacklog(ctx, a, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer s.place.Close()
	item, err := s.findItem(name)
	if err != nil {
		return err
	}
	item, what, err := change(ctx, s, item)
	if err != nil {
		return err
	}
	return a.Answer(item, func(view.OutputStyle) string {
		return fmt.Sprintf("%s %s: %s\n", item.ID, cmp.Or(what, "is "+string(item.State)), backlogitem.BacklogItemPath(item.ID))
	})
}
