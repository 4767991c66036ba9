package startcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/workitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/inspect"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/backlog"
)

// emptyBacklog works on all waiting items, in their order.
func emptyBacklog(ctx context.Context, a *console.Console, o *progress.Order, args []string) error {
	if len(args) > 0 || o.Plan != nil {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and --backlog were given", Hint: "Give one of them."}
	}
	p, err := a.Open(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, wrong, err := a.Backlog(p).Sync(ctx, p.Record())
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: wrong[0].File + ": " + wrong[0].Why, Hint: wrong[0].Hint}
	}
	if o.Items, err = FreeItemSlots(a, all, 1); err != nil {
		return err
	}
	waits := slices.DeleteFunc(all, func(i workitem.Item) bool { return i.State != workitem.Waiting })
	if len(waits) == 0 {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: "no item of the backlog waits",
			Hint: `Add one with nexus backlog add "...".`,
		}
	}
	return RunItems(ctx, a, p, o, waits)
}

// FreeItemSlots returns how many more items may be active, 0 for no limit. If fewer than wanted
// may be, the error names the active ones.
func FreeItemSlots(a *console.Console, all []workitem.Item, wanted int) (int, error) {
	settings, _, err := a.Settings()
	if err != nil {
		return 0, err
	}
	var active []string
	for _, i := range all {
		if i.State == workitem.Active {
			active = append(active, fmt.Sprintf("%s (run %s)", i.ID, i.Run))
		}
	}
	most := settings.Limits.Items
	if free := most - len(active); most == 0 || wanted <= free {
		return max(free, 0), nil
	}
	text := fmt.Sprintf("%d items are active, and backlog.active allows no more: %s", len(active), strings.Join(active, ", "))
	switch {
	case len(active) == 0:
		text = fmt.Sprintf("backlog.active allows %d items at once, and %d were named", most, wanted)
	case len(active) < most:
		text = fmt.Sprintf("%d of at most %d items are active, and %d more were named: %s", len(active), most, wanted, strings.Join(active, ", "))
	}
	return 0, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: text,
		Hint: "Wait until one has ended, let it wait in the run that is in progress with nexus backlog start --queue, or raise backlog.active.",
	}
}

// RunItems begins a run that works on items of the backlog, in their order, and records the
// results in them.
func RunItems(ctx context.Context, a *console.Console, p *app.Repository, o *progress.Order, items []workitem.Item) error {
	titles := make([]string, len(items))
	for n, i := range items {
		w := AdditionOf(i)
		if err := w.check(a); err != nil {
			return fmt.Errorf("item %s: %w", i.ID, err)
		}
		r := w.Request(i.ID)
		r.By = a.User()
		r.Plan.Tasks[0].Prefer(o.Goal.Tier, o.Goal.Strategy, false)
		o.Added, titles[n] = append(o.Added, r), i.Title
	}
	o.Goal.Mode, o.Goal.Text = nexus.Backlog, "Work on the backlog: "+sanitize.Cut(strings.Join(titles, "; "), 400)
	if !o.Headless {
		if err := inspect.AskTrust(ctx, a); err != nil {
			return err
		}
	}
	if err := precheck(ctx, a, p, o); err != nil {
		return err
	}
	if err := setPlanConsent(a, p, o, a.Person()); err != nil {
		return err
	}
	store, begun := a.Backlog(p), nexus.RunID("")
	if err := QueueItems(ctx, store, items, ""); err != nil {
		return err
	}
	told := a.Host.Began
	a.Host.Began = func(id nexus.RunID) {
		if begun = id; told != nil {
			told(id)
		}
		if err := own(ctx, store, items, id); err != nil {
			a.Complain(err) // the journal has it, and the next command records it
		}
	}
	err := progress.RunAndShow(ctx, a, p, *o)
	done := context.WithoutCancel(ctx)
	if begun == "" {
		a.Complain(Release(done, store, items))
	} else if _, _, lost := store.Sync(done, p.Record()); lost != nil {
		a.Complain(lost)
	}
	return err
}

// QueueItems assigns waiting items to a run that is about to begin; the run is empty if it has no
// ID yet. An item that no longer waits is refused.
func QueueItems(ctx context.Context, store backlog.Store, items []workitem.Item, run nexus.RunID) error {
	return store.Change(ctx, func(all []workitem.Item) ([]workitem.Item, error) {
		return pick(all, items, func(i *workitem.Item) error {
			if i.State != workitem.Waiting {
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is no longer waiting: it is %s", i.ID, i.State),
					Hint: "nexus backlog shows its state.",
				}
			}
			i.State, i.Run, i.Reason = workitem.Queued, run, ""
			return nil
		})
	})
}

// own records which run works on items.
func own(ctx context.Context, store backlog.Store, items []workitem.Item, run nexus.RunID) error {
	return store.Change(ctx, func(all []workitem.Item) ([]workitem.Item, error) {
		return pick(all, items, func(i *workitem.Item) error { i.Run = run; return nil })
	})
}

// Release returns items to waiting if no run was begun for them.
func Release(ctx context.Context, store backlog.Store, items []workitem.Item) error {
	return store.Change(ctx, func(all []workitem.Item) ([]workitem.Item, error) {
		return pick(all, items, func(i *workitem.Item) error { i.State, i.Run = workitem.Waiting, ""; return nil })
	})
}

// pick changes the given items among all.
func pick(all, items []workitem.Item, change func(*workitem.Item) error) ([]workitem.Item, error) {
	var changed []workitem.Item
	for _, i := range all {
		if !slices.ContainsFunc(items, func(o workitem.Item) bool { return o.ID == i.ID }) {
			continue
		}
		if err := change(&i); err != nil {
			return nil, err
		}
		changed = append(changed, i)
	}
	return changed, nil
}
