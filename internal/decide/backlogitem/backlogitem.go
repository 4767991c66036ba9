// Package backlogitem defines the items of a repository's backlog: work that waits until
// somebody starts it. An item is a Markdown file that people write and commit. Its result is
// read from the journal of the run that works on it.
package backlogitem

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Dir is the directory of the items, from the root of the repository.
const Dir = ".nexus/backlog"

// BacklogItemState is the state of an item.
type BacklogItemState string

// Values of State.
const (
	Waiting  BacklogItemState = "waiting"
	Queued   BacklogItemState = "queued" // it is in a run, after other items
	Active   BacklogItemState = "active" // a run is working on it, or is about to
	Done     BacklogItemState = "done"   // all its tasks landed
	Rejected BacklogItemState = "rejected"
)

// BacklogStates returns all states.
func BacklogStates() []BacklogItemState {
	return []BacklogItemState{Waiting, Queued, Active, Done, Rejected}
}

// BacklogItem is one piece of work in the backlog.
type BacklogItem struct {
	ID     string           `json:"id"` // the name of its file, which stays the same
	Title  string           `json:"title"`
	Text   string           `json:"text,omitzero"` // below the title
	State  BacklogItemState `json:"state"`
	Reason string           `json:"reason,omitzero"` // why it was rejected, or waits again

	Priority nexus.Priority `json:"priority,omitzero"` // zero means medium
	// position among items with the same priority; 0: after those with a position
	Order   int            `json:"order,omitzero"`
	Kind    nexus.TaskKind `json:"type,omitzero"`
	Files   []string       `json:"files,omitempty"` // files that it is about
	Check   string         `json:"check,omitzero"`  // gate or command that passes when it is done
	Added   string         `json:"added,omitzero"`  // day, as 2006-01-02
	By      string         `json:"by,omitzero"`
	Finding string         `json:"finding,omitzero"` // finding from which it was made; see decide/discoveredwork

	Run    nexus.RunID `json:"run,omitzero"`    // the last run that worked on it
	Commit string      `json:"commit,omitzero"` // commit of its landing
}

// GoalText returns the item as the text of a goal.
func (i BacklogItem) GoalText() string {
	if i.Text == "" {
		return i.Title
	}
	return i.Title + "\n\n" + i.Text
}

// SortItems sorts items by the order of work: by priority, by position, and those without a
// position by the day that they were added; ended ones come last.
func SortItems(all []BacklogItem) {
	over := func(i BacklogItem) int {
		switch i.State {
		case Active:
			return 0
		case Queued:
			return 1
		case Waiting:
			return 2
		case Done:
			return 3
		case Rejected:
			return 4
		}
		return 2
	}
	place := func(i BacklogItem) int {
		if i.Order == 0 {
			return math.MaxInt
		}
		return i.Order
	}
	slices.SortStableFunc(all, func(a, b BacklogItem) int {
		return cmp.Or(cmp.Compare(over(a), over(b)), cmp.Compare(b.Priority.NumericScore(), a.Priority.NumericScore()), cmp.Compare(place(a), place(b)),
			cmp.Compare(a.Added, b.Added), cmp.Compare(a.ID, b.ID))
	})
}

// MoveItem moves an item before or after another one, with its priority, and returns the items
// whose position or priority changes. The items are in the order of [SortItems].
func MoveItem(all []BacklogItem, id, other string, after bool) []BacklogItem {
	at := func(id string) int { return slices.IndexFunc(all, func(i BacklogItem) bool { return i.ID == id }) }
	if id == other || at(id) < 0 || at(other) < 0 {
		return nil
	}
	moved, to := all[at(id)], all[at(other)]
	moved.Priority = to.Priority
	var row []BacklogItem
	for _, i := range all {
		if i.ID == id || i.State != Waiting || i.Priority.NumericScore() != to.Priority.NumericScore() {
			continue
		}
		if i.ID == other && !after {
			row = append(row, moved)
		}
		row = append(row, i)
		if i.ID == other && after {
			row = append(row, moved)
		}
	}
	var changed []BacklogItem
	for n, i := range row {
		was := all[at(i.ID)]
		if i.Order = n + 1; i.Order != was.Order || i.Priority != was.Priority {
			changed = append(changed, i)
		}
	}
	return changed
}

// NewItemID returns the ID of a new item with a title: words of the title that are not yet used as
// a name.
func NewItemID(title string, taken func(string) bool) string {
	var words []string
	apart := func(r rune) bool { return r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, w := range strings.FieldsFunc(strings.ToLower(title), apart) {
		if words = append(words, w); len(strings.Join(words, "-")) > 40 {
			words = words[:max(1, len(words)-1)]
			break
		}
	}
	stem := strings.Join(words, "-")
	stem = stem[:min(len(stem), 40)]
	if stem == "" || stem == "readme" {
		stem = "item"
	}
	for n, name := 2, stem; ; n++ {
		if !taken(name) {
			return name
		}
		name = fmt.Sprintf("%s-%d", stem, n)
	}
}

// BacklogItemPath returns the path of an item's file, from the root of the repository.
func BacklogItemPath(id string) string { return path.Join(Dir, id+".md") }

// WithRunState returns an item with its state in the run that works or worked on it.
func (i BacklogItem) WithRunState(s *state.State) BacklogItem {
	a := s.BacklogAddition(i.ID)
	switch {
	case a == nil:
		return i.asWaiting("run " + string(s.Run) + " did not take it")
	case a.Why != "":
		return i.asWaiting(a.Why)
	}
	landed, left := "", ""
	made := s.TasksOfAddition(a)
	for _, t := range made {
		switch status := s.StatusOf(t); {
		case status == nexus.Landed && t.Landed != nil:
			landed = t.Landed.Commit
		case left == "" && status.HasEnded():
			left = fmt.Sprintf("%s is %s: %s", t.ID, status, cmp.Or(t.Why, "it did not land"))
		case left == "":
			left = fmt.Sprintf("%s is %s", t.ID, status)
		}
	}
	switch {
	case len(made) > 0 && left == "":
		i.State, i.Commit, i.Reason = Done, landed, ""
		return i
	case s.Status.HasEnded():
		return i.asWaiting(fmt.Sprintf("run %s ended as %s; %s", s.Run, s.Status, cmp.Or(left, "it was not begun")))
	}
	if i.State, i.Reason = Active, ""; a.Attempt == "" && len(a.Tasks) == 0 {
		i.State = Queued
	}
	return i
}

// asWaiting returns the item in the waiting state again.
func (i BacklogItem) asWaiting(why string) BacklogItem {
	i.State, i.Commit, i.Reason = Waiting, "", strings.Join(strings.Fields(why), " ")
	if len(i.Reason) > maxLine {
		i.Reason = strings.ToValidUTF8(i.Reason[:maxLine-3], "") + "..."
	}
	return i
}
