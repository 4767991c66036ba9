// Package workitem defines the items of a repository's backlog: work that waits until
// somebody starts it. An item is a Markdown file that people write and commit; what came of
// it is read from the journal of the run that works on it.
package workitem

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

// Dir is where the items are, from the root of the repository.
const Dir = ".nexus/backlog"

// State is where an item stands.
type State string

// The states.
const (
	Waiting  State = "waiting"
	Queued   State = "queued" // a run has it, and other items come first
	Active   State = "active" // a run works on it, or is about to
	Done     State = "done"   // all that was made of it landed
	Rejected State = "rejected"
)

// States lists the states.
func States() []State { return []State{Waiting, Queued, Active, Done, Rejected} }

// Item is one piece of work that waits, or did.
type Item struct {
	ID     string `json:"id"` // the name of its file, which stays
	Title  string `json:"title"`
	Text   string `json:"text,omitzero"` // below the title
	State  State  `json:"state"`
	Reason string `json:"reason,omitzero"` // why it was rejected, or waits again

	Priority nexus.Priority `json:"priority,omitzero"` // zero means medium
	Order    int            `json:"order,omitzero"`    // among those of its priority; 0: after those that have one
	Kind     nexus.TaskKind `json:"type,omitzero"`
	Files    []string       `json:"files,omitempty"` // that it is about
	Check    string         `json:"check,omitzero"`  // gate or command that passes when it is done
	Added    string         `json:"added,omitzero"`  // day, as 2006-01-02
	By       string         `json:"by,omitzero"`
	Finding  string         `json:"finding,omitzero"` // that it was made of; see decide/finding

	Run    nexus.RunID `json:"run,omitzero"`    // that works on it, or did last
	Commit string      `json:"commit,omitzero"` // that it landed with
}

// Goal is what the item asks for, as a text.
func (i Item) Goal() string {
	if i.Text == "" {
		return i.Title
	}
	return i.Title + "\n\n" + i.Text
}

// Sort puts items in the order in which they are worked on: by priority, by place, and
// those without one by the day that they were added; what is over comes last.
func Sort(all []Item) {
	over := func(i Item) int {
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
	place := func(i Item) int {
		if i.Order == 0 {
			return math.MaxInt
		}
		return i.Order
	}
	slices.SortStableFunc(all, func(a, b Item) int {
		return cmp.Or(cmp.Compare(over(a), over(b)), cmp.Compare(b.Priority.Score(), a.Priority.Score()), cmp.Compare(place(a), place(b)),
			cmp.Compare(a.Added, b.Added), cmp.Compare(a.ID, b.ID))
	})
}

// Move puts an item before or after another one, with its priority, and returns the items
// whose place or priority changes. All are in the order of [Sort].
func Move(all []Item, id, other string, after bool) []Item {
	at := func(id string) int { return slices.IndexFunc(all, func(i Item) bool { return i.ID == id }) }
	if id == other || at(id) < 0 || at(other) < 0 {
		return nil
	}
	moved, to := all[at(id)], all[at(other)]
	moved.Priority = to.Priority
	var row []Item
	for _, i := range all {
		if i.ID == id || i.State != Waiting || i.Priority.Score() != to.Priority.Score() {
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
	var changed []Item
	for n, i := range row {
		was := all[at(i.ID)]
		if i.Order = n + 1; i.Order != was.Order || i.Priority != was.Priority {
			changed = append(changed, i)
		}
	}
	return changed
}

// Name returns the ID of a new item with a title: words of it that no other item has as
// its name.
func Name(title string, taken func(string) bool) string {
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

// Path returns where the file of an item is, from the root of the repository.
func Path(id string) string { return path.Join(Dir, id+".md") }

// WithRunState returns an item as the run tells it that works on it, or did.
func (i Item) WithRunState(s *state.State) Item {
	a := s.Item(i.ID)
	switch {
	case a == nil:
		return i.waits("run " + string(s.Run) + " did not take it")
	case a.Why != "":
		return i.waits(a.Why)
	}
	landed, left := "", ""
	made := s.TasksOfAddition(a)
	for _, t := range made {
		switch status := s.StatusOf(t); {
		case status == nexus.Landed && t.Landed != nil:
			landed = t.Landed.Commit
		case left == "" && status.Ended():
			left = fmt.Sprintf("%s is %s: %s", t.ID, status, cmp.Or(t.Why, "it did not land"))
		case left == "":
			left = fmt.Sprintf("%s is %s", t.ID, status)
		}
	}
	switch {
	case len(made) > 0 && left == "":
		i.State, i.Commit, i.Reason = Done, landed, ""
		return i
	case s.Status.Ended():
		return i.waits(fmt.Sprintf("run %s ended as %s; %s", s.Run, s.Status, cmp.Or(left, "it was not begun")))
	}
	if i.State, i.Reason = Active, ""; a.Attempt == "" && len(a.Tasks) == 0 {
		i.State = Queued
	}
	return i
}

// waits returns the item as one that waits again.
func (i Item) waits(why string) Item {
	i.State, i.Commit, i.Reason = Waiting, "", strings.Join(strings.Fields(why), " ")
	if len(i.Reason) > maxLine {
		i.Reason = strings.ToValidUTF8(i.Reason[:maxLine-3], "") + "..."
	}
	return i
}
