// Package sign lists the criteria of a run that a person must look at, writes
// them as a checklist, reads an edited one, and makes a plan from what people
// found wrong.
package sign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Item is a criterion that waits for a person.
type Item struct {
	accept.Row
	Title  string // of its task
	Status nexus.TaskStatus
	Commit string // that its task landed as
}

// Open returns the criteria of what landed that are not met, and that nobody
// waived or signed off, in the order of the plan.
func Open(s *state.State, t accept.Table) []Item {
	var all []Item
	for _, r := range t.Rows {
		task := s.Task(r.Task)
		if r.State == accept.Met || r.Waived != nil || task == nil || task.Landed == nil {
			continue
		}
		all = append(all, Item{Row: r, Title: task.Title, Status: s.StatusOf(task), Commit: task.Landed.Commit})
	}
	return all
}

// Try says how to look at what a run landed, beside the checkout; empty where
// nothing did.
func Try(run nexus.RunID, t accept.Table) string {
	if t.Commit == "" {
		return ""
	}
	return fmt.Sprintf("git worktree add ../try-%s %.12s", run, t.Commit)
}

// Says is what a person says of a criterion. The zero Says is nothing.
type Says string

// What people say.
const (
	Yes Says = "yes"
	No  Says = "no"
)

// Answer is what a person says of one criterion, and why.
type Answer struct {
	ID    string `json:"criterion"`
	Print string `json:"-"` // the criterion's fingerprint, as they had it before them
	Says  Says   `json:"says"`
	Words string `json:"words,omitzero"`
}

// Request returns what goes into the journal for it.
func (a Answer) Request(by string) nexus.Request {
	r := nexus.Request{Verb: nexus.VerbApprove, ID: a.ID, Text: accept.ByHand, By: by}
	switch {
	case a.Says == No:
		r.Verb, r.Text = nexus.VerbReject, a.Words
	case a.Words != "":
		r.Text += ": " + a.Words
	}
	return r
}

// Check says what is wrong with an answer, nil for one that can be recorded.
func (a Answer) Check(items []Item) error {
	i := slices.IndexFunc(items, func(i Item) bool { return i.ID == a.ID })
	switch {
	case i < 0:
		return fmt.Errorf("%s is no criterion that waits for a person", a.ID)
	case a.Print != "" && a.Print != items[i].Fingerprint:
		return fmt.Errorf("%s is another criterion than it was when the list was made", a.ID)
	case a.Says == No && a.Words == "":
		return fmt.Errorf("%s is marked as wrong, and nothing says what is", a.ID)
	}
	return nil
}

// Bounds of what is taken over of words into a task, with what its criterion
// needs.
const (
	longest  = 1_600
	shortest = 100
)

// Plan returns a plan that mends what people found wrong, and false where they
// found nothing. Gates are those that judge the repository.
func Plan(run nexus.RunID, s *state.State, items []Item, answers []Answer, gates []string) (nexus.Plan, bool) {
	p := nexus.Plan{Version: 1, Goal: fmt.Sprintf("Put right what people found wrong in what run %s landed", run)}
	for _, a := range answers {
		i := slices.IndexFunc(items, func(i Item) bool { return i.ID == a.ID })
		task := s.Task(taskOf(a.ID))
		if a.Says != No || i < 0 || task == nil {
			continue
		}
		c := nexus.Criterion{Text: items[i].Criterion, Check: items[i].Check}
		t := nexus.Task{
			ID: nexus.TaskID(fmt.Sprintf("MEND-%d", len(p.Tasks)+1)), Title: cut("Mend "+a.ID+": "+c.Text, 100), Kind: task.Kind, Group: task.Group,
			Files: slices.Clone(task.Files), Criteria: []nexus.Criterion{c}, Minutes: max(5, task.Minutes), Strategy: task.Strategy, Reason: task.Reason, Tags: slices.Clone(task.Tags),
			Brief: fmt.Sprintf("%s of run %s was to make its criterion true. A person looked at what landed and says: %s", task.ID, run, cut(a.Words, max(shortest, longest-len(c.Text)))),
		}
		if c.Check == "" { // somebody must be able to tell when it is done
			if gate := judge(gates); gate != "" {
				t.Criteria = append(t.Criteria, nexus.Criterion{Text: "The gate " + gate + " is green", Check: gate})
			}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p, len(p.Tasks) > 0
}

// judge returns the gate that says most of whether code works.
func judge(gates []string) string {
	for _, want := range []string{"test", "build"} {
		if slices.Contains(gates, want) {
			return want
		}
	}
	if len(gates) > 0 {
		return gates[0]
	}
	return ""
}

func taskOf(id string) nexus.TaskID {
	task, _, _ := accept.ParseID(id)
	return task
}

func cut(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
