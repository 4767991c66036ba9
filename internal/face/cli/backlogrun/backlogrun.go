// Package backlogrun begins runs that work on items of the backlog, and records the results in them.
package backlogrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/precheck"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/trustcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/workaddition"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/backlog"
)

// RunAll works on all waiting items, in their order.
func RunAll(ctx context.Context, a *console.Console, o *progress.RunCommandOptions) error {
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, wrong, err := a.BacklogStore(p).SyncItems(ctx, p.Record())
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: wrong[0].File + ": " + wrong[0].Why, Hint: wrong[0].Hint}
	}
	if o.Items, err = FreeItemSlots(a, all, 1); err != nil {
		return err
	}
	waits := slices.DeleteFunc(all, func(i backlogitem.BacklogItem) bool { return i.State != backlogitem.Waiting })
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
func FreeItemSlots(a *console.Console, all []backlogitem.BacklogItem, wanted int) (int, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return 0, err
	}
	var active []string
	for _, i := range all {
		if i.State == backlogitem.Active {
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
func RunItems(ctx context.Context, a *console.Console, p *app.Repository, o *progress.RunCommandOptions, items []backlogitem.BacklogItem) error {
	titles := make([]string, len(items))
	for n, i := range items {
		w := workaddition.OfItem(i)
		if err := w.Validate(a); err != nil {
			return fmt.Errorf("item %s: %w", i.ID, err)
		}
		r := w.AddRequest(i.ID)
		r.By = a.UserName()
		r.Plan.Tasks[0].SetStartTier(o.Goal.Tier, o.Goal.Strategy, false)
		o.Added, titles[n] = append(o.Added, r), i.Title
	}
	o.Goal.Mode, o.Goal.Text = nexus.Backlog, "Work on the backlog: "+sanitize.TruncateText(strings.Join(titles, "; "), 400)
	if !o.Headless {
		if err := trustcmd.AskTrust(ctx, a); err != nil {
			return err
		}
	}
	if err := precheck.Check(ctx, a, p, &o.RunOptions); err != nil {
		return err
	}
	if err := planconsent.Set(a, p, o, a.HasPerson()); err != nil {
		return err
	}
	store, begun := a.BacklogStore(p), nexus.RunID("")
	if err := QueueItems(ctx, store, items, ""); err != nil {
		return err
	}
	told := a.Host.Began
	a.Host.Began = func(id nexus.RunID) {
		if begun = id; told != nil {
			told(id)
		}
		if err := assignItemsToRun(ctx, store, items, id); err != nil {
			a.ReportError(err) // the journal has it, and the next command records it
		}
	}
	err := progress.RunAndShow(ctx, a, p, *o)
	done := context.WithoutCancel(ctx)
	if begun == "" {
		a.ReportError(ReleaseItems(done, store, items))
	} else if _, _, lost := store.SyncItems(done, p.Record()); lost != nil {
		a.ReportError(lost)
	}
	return err
}

// QueueItems assigns waiting items to a run that is about to begin; the run is empty if it has no
// ID yet. An item that no longer waits is refused.
func QueueItems(ctx context.Context, store backlog.ItemStore, items []backlogitem.BacklogItem, run nexus.RunID) error {
	return store.ChangeItems(ctx, func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
		return changeItems(all, items, func(i *backlogitem.BacklogItem) error {
			if i.State != backlogitem.Waiting {
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is no longer waiting: it is %s", i.ID, i.State),
					Hint: "nexus backlog shows its state.",
				}
			}
			i.State, i.Run, i.Reason = backlogitem.Queued, run, ""
			return nil
		})
	})
}

// assignItemsToRun records which run works on items.
func assignItemsToRun(ctx context.Context, store backlog.ItemStore, items []backlogitem.BacklogItem, run nexus.RunID) error {
	return store.ChangeItems(ctx, func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
		return changeItems(all, items, func(i *backlogitem.BacklogItem) error { i.Run = run; return nil })
	})
}

// ReleaseItems returns items to waiting if no run was begun for them.
func ReleaseItems(ctx context.Context, store backlog.ItemStore, items []backlogitem.BacklogItem) error {
	return store.ChangeItems(ctx, func(all []backlogitem.BacklogItem) ([]backlogitem.BacklogItem, error) {
		return changeItems(all, items, func(i *backlogitem.BacklogItem) error { i.State, i.Run = backlogitem.Waiting, ""; return nil })
	})
}

// changeItems changes the given items among all.
func changeItems(all, items []backlogitem.BacklogItem, change func(*backlogitem.BacklogItem) error) ([]backlogitem.BacklogItem, error) {
	var changed []backlogitem.BacklogItem
	for _, i := range all {
		if !slices.ContainsFunc(items, func(o backlogitem.BacklogItem) bool { return o.ID == i.ID }) {
			continue
		}
		if err := change(&i); err != nil {
			return nil, err
		}
		changed = append(changed, i)
	}
	return changed, nil
}
