// Package backlogcmd implements the backlog commands. The backlog is the work that waits to be
// started. See docs/plan-and-approve.md.
package backlogcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/addcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/workaddition"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/backlog"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	c, list := listCommand(a, "backlog [--all] [--json]"), listCommand(a, "list [--all] [--json]")
	list.Hidden = true // an alias for people who expect a list command
	c.AddCommand(list, addCommand(a), showCommand(a), editCommand(a), moveCommand(a), rejectCommand(a), startCommand(a))
	return []*cobra.Command{c}
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

func listCommand(a *console.Console, use string) *cobra.Command {
	var all bool
	c := a.Command(use, "list the waiting work, and work on it", func(ctx context.Context, _ []string) error {
		settings, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		s, err := openBacklog(ctx, a, app.ReadAccess)
		if err != nil {
			return err
		}
		defer s.place.Close()
		l := backlogList{Most: settings.Limits.Items, Items: []backlogitem.BacklogItem{}, Problems: append([]backlog.ItemProblem{}, s.wrong...)}
		for _, i := range s.items {
			if i.State == backlogitem.Active {
				l.Active++
			}
			if over := i.State == backlogitem.Done || i.State == backlogitem.Rejected; !over || all {
				l.Items = append(l.Items, i)
			}
		}
		if err := a.Answer(l, func(st view.OutputStyle) string { return drawBacklog(st, l) }); err != nil || len(l.Problems) == 0 {
			return err
		}
		return console.ExitError(console.CodeFailed)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Flags().BoolVar(&all, "all", false, "also list items that are done or rejected")
	a.JSONFlag(c)
	return c
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

func addCommand(a *console.Console) *cobra.Command {
	var w workaddition.Addition
	var file string
	c := a.Command("add TEXT | -f FILE [flags]", "add an item to the backlog", func(ctx context.Context, args []string) error {
		if err := w.Read(ctx, a, file, args); err != nil {
			return err
		}
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		item, err := a.BacklogStore(p).AddItem(ctx, w.BacklogItem(a.UserName(), a.Now()))
		if err != nil {
			return err
		}
		return a.Answer(item, func(view.OutputStyle) string {
			return fmt.Sprintf("%s waits: %s\n", item.ID, backlogitem.BacklogItemPath(item.ID))
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, -1)
	c.Flags().StringVarP(&file, "file", "f", "", "read the text from `FILE`; - is standard input")
	w.AddFlags(c.Flags())
	a.JSONFlag(c)
	return c
}

func showCommand(a *console.Console) *cobra.Command {
	c := a.Command("show ID [--json]", "print an item", func(ctx context.Context, args []string) error {
		s, err := openBacklog(ctx, a, app.ReadAccess)
		if err != nil {
			return err
		}
		defer s.place.Close()
		item, err := s.findItem(args[0])
		if err != nil {
			return s.unreadableFileError(args[0], err)
		}
		return a.Answer(item, func(view.OutputStyle) string { return view.EscapeLinesForTerminal(item.String()) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	return c
}

// unreadableFileError replaces an error with one that names the invalid file of that item.
func (s *repoBacklog) unreadableFileError(name string, err error) error {
	for _, p := range s.wrong {
		if strings.Contains(p.File, name) {
			return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: p.File + ": " + p.Why, Hint: p.Hint}
		}
	}
	return err
}

// findItem returns the item with that name, or the item made from the finding with that ID.
func (s *repoBacklog) findItem(name string) (backlogitem.BacklogItem, error) {
	if i, ok := (discoveredwork.BacklogDecisions{Items: s.items}).BacklogItemOf(name); ok {
		return i, nil
	}
	if strings.Contains(name, "/") {
		return backlogitem.BacklogItem{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no item of the finding %q in the backlog", name),
			Hint: "nexus discover " + name + " --add puts it there.",
		}
	}
	return backlog.FindItem(s.items, name)
}

// itemChange changes an item. It returns the new item, and a description of the result if the
// item's state does not show it.
type itemChange func(ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem) (now backlogitem.BacklogItem, what string, err error)

// itemCommand returns a command that changes one item.
func itemCommand(a *console.Console, use, short string, do itemChange) *cobra.Command {
	c := a.Command(use, short, func(ctx context.Context, args []string) error {
		s, err := openBacklog(ctx, a, app.ChangeAccess)
		if err != nil {
			return err
		}
		defer s.place.Close()
		item, err := s.findItem(args[0])
		if err != nil {
			return s.unreadableFileError(args[0], err)
		}
		item, what, err := do(ctx, s, item)
		if err != nil {
			return err
		}
		return a.Answer(item, func(view.OutputStyle) string {
			return fmt.Sprintf("%s %s: %s\n", item.ID, cmp.Or(what, "is "+string(item.State)), backlogitem.BacklogItemPath(item.ID))
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	return c
}

func editCommand(a *console.Console) *cobra.Command {
	var w workaddition.Addition
	var title string
	var again bool
	var c *cobra.Command
	const use = "edit ID [--title TEXT] [--text TEXT] [flags]"
	c = itemCommand(a, use, "change an item, or reopen one", func(
		ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem,
	) (backlogitem.BacklogItem, string, error) {
		changed := c.Flags().Changed
		if !again && !slices.ContainsFunc([]string{"title", "text", "priority", "type", "check", "files"}, changed) {
			return item, "", &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no change was given",
				Hint: "Give --title, --text or another flag, or edit " + backlogitem.BacklogItemPath(item.ID) + ".",
			}
		}
		if item.State == backlogitem.Active || item.State == backlogitem.Queued {
			return item, "", &nexus.Error{
				Code:    nexus.CodeInvalidInput,
				Message: fmt.Sprintf("%s is %s in run %s, which works with the text that it was started with", item.ID, item.State, item.Run),
				Hint:    "Message its agent with nexus tell, or edit it when the run has ended.",
			}
		}
		next := item
		if changed("title") {
			next.Title = strings.Join(strings.Fields(title), " ")
		}
		if changed("text") {
			next.Text = strings.TrimSpace(w.Text)
		}
		whole := workaddition.OfItem(next)
		if changed("priority") {
			whole.Priority = w.Priority
		}
		if changed("type") {
			whole.Kind = w.Kind
		}
		if changed("check") {
			whole.Check = w.Check
		}
		if changed("files") {
			whole.Files = w.Files
		}
		if err := whole.Read(ctx, a, "", nil); err != nil {
			return item, "", err
		}
		next.Priority, next.Kind, next.Check, next.Files = nexus.Priority(whole.Priority), nexus.TaskKind(whole.Kind), whole.Check, whole.Files
		if again {
			next.State, next.Reason, next.Run, next.Commit = backlogitem.Waiting, "", "", ""
		}
		edited, err := s.store.EditItem(ctx, item.ID, func(i *backlogitem.BacklogItem) error { *i = next; return nil })
		return edited, editSummary(item, edited), err
	})
	f := c.Flags()
	f.StringVar(&title, "title", "", "new title, as `TEXT`")
	f.StringVar(&w.Text, "text", "", "new `TEXT` below the title")
	f.BoolVar(&again, "again", false, "reopen an item that was rejected or is done")
	w.AddFlags(f)
	return c
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

func moveCommand(a *console.Console) *cobra.Command {
	var before, after string
	const use = "move ID --before ID | --after ID [--json]"
	c := itemCommand(a, use, "change the order of the waiting items", func(
		ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem,
	) (backlogitem.BacklogItem, string, error) {
		if before == "" && after == "" {
			return item, "", &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no position was given",
				Hint: "Name another item with --before or --after.",
			}
		}
		was, what := item.Priority, ""
		err := s.store.ChangeItems(ctx, func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
			to, err := s.findItem(before + after)
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
			changed := backlogitem.MoveItem(all, item.ID, to.ID, after != "")
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
	c.Flags().StringVar(&before, "before", "", "put it before the item `ID`, with its priority")
	c.Flags().StringVar(&after, "after", "", "put it after the item `ID`, with its priority")
	c.MarkFlagsMutuallyExclusive("before", "after")
	return c
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

func rejectCommand(a *console.Console) *cobra.Command {
	var why string
	const use = "reject ID --why TEXT [--json]"
	c := itemCommand(a, use, "record that an item will not be done, and why", func(
		ctx context.Context, s *repoBacklog, item backlogitem.BacklogItem,
	) (backlogitem.BacklogItem, string, error) {
		reason := strings.Join(strings.Fields(why), " ")
		switch {
		case reason == "":
			return item, "", &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no reason was given",
				Hint: "Give the reason with --why: it keeps others from adding the same again.",
			}
		case item.State == backlogitem.Active:
			return item, "", &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s works on %s", item.Run, item.ID),
				Hint: "Skip its tasks with nexus stop --skip first; nexus status shows them.",
			}
		case item.State == backlogitem.Queued && s.place.Journal != nil:
			if err := addcmd.WithdrawItem(ctx, a, s.place, item.Run, item.ID); err != nil {
				return item, "", err
			}
		}
		now, err := s.store.EditItem(ctx, item.ID, func(i *backlogitem.BacklogItem) error {
			i.State, i.Reason, i.Commit = backlogitem.Rejected, reason, ""
			return nil
		})
		return now, "", err
	})
	c.Flags().StringVar(&why, "why", "", "the reason, as `TEXT`")
	item := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && strings.Contains(args[0], "/") && strings.TrimSpace(why) != "" {
			if err := keepFinding(c.Context(), a, args[0]); err != nil {
				return err
			}
		}
		return item(c, args)
	}
	return c
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
