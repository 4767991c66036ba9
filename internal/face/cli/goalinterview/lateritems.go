package goalinterview

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// AddLaterToBacklog puts the requirements that an interview postponed into the backlog as waiting items.
// It leaves existing items unchanged, also if an earlier call was killed halfway, or people
// changed an item since.
func AddLaterToBacklog(ctx context.Context, a *console.Console, p *app.Repository, s *state.State) error {
	later := s.Interview.LaterRequirements()
	if len(later) == 0 || s.Status != nexus.StatusDone {
		return nil
	}
	by := "the interview " + string(s.Run)
	store := a.BacklogStore(p)
	all, _, err := store.LoadItems()
	if err != nil {
		return err
	}
	var kept []string
	for _, r := range later {
		item := laterItem(r)
		if slices.ContainsFunc(all, func(o backlogitem.BacklogItem) bool {
			return o.By == by && o.Text == item.Text || o.Title == item.Title
		}) {
			continue
		}
		item.State, item.By, item.Added = backlogitem.Waiting, by, a.Now().Format(time.DateOnly)
		if item, err = store.AddItem(ctx, item); err != nil {
			return err
		}
		kept = append(kept, item.ID)
	}
	if len(kept) > 0 {
		a.Say("wanted later, and now in the backlog: %s", strings.Join(kept, ", "))
	}
	return nil
}

// maxItemTitle limits the title of an item made from a requirement.
const maxItemTitle = 100

// laterItem returns the item for a requirement: the text contains all of a requirement that is
// too long for a title, and the person's words.
func laterItem(r nexus.Requirement) backlogitem.BacklogItem {
	item := backlogitem.BacklogItem{Title: sanitize.TruncateText(view.EscapeForTerminal(r.Text), maxItemTitle), Priority: priorityOf(r.Priority)}
	var text []string
	if item.Title != view.EscapeForTerminal(r.Text) {
		text = append(text, view.EscapeForTerminal(r.Text))
	}
	if r.Quote != "" {
		text = append(text, "The person said: "+view.EscapeForTerminal(r.Quote))
	}
	item.Text = strings.Join(append(text, "It was "+r.ID+" of the interview, wanted later."), "\n\n")
	return item
}

// priorityOf returns the priority of an item made from a requirement.
func priorityOf(p nexus.RequirementPriority) nexus.Priority {
	switch p {
	case nexus.Must:
		return nexus.PriorityHigh
	case nexus.Could:
		return nexus.PriorityLow
	default:
		return ""
	}
}
