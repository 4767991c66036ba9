package accept

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// SignOffItem is a criterion that waits for a person.
type SignOffItem struct {
	CriterionRow
	Title  string // title of its task
	Status nexus.TaskStatus
	Commit string // commit of its task's landing
}

// SignOffItems returns the landed criteria that are neither met nor waived nor approved, in
// the plan's order.
func SignOffItems(s *state.State, t CriteriaTable) []SignOffItem {
	var all []SignOffItem
	for _, r := range t.Rows {
		task := s.TaskByID(r.Task)
		if r.State == Met || r.Waived != nil || task == nil || task.Landed == nil {
			continue
		}
		all = append(all, SignOffItem{CriterionRow: r, Title: task.Title, Status: s.StatusOf(task), Commit: task.Landed.Commit})
	}
	return all
}

// CheckoutResultCommand returns the command that checks out a run's result next to the checkout, or ""
// if nothing landed.
func CheckoutResultCommand(run nexus.RunID, t CriteriaTable) string {
	if t.Commit == "" {
		return ""
	}
	return fmt.Sprintf("git worktree add ../try-%s %.12s", run, t.Commit)
}

// SignOffDecision is a person's decision about a criterion. The zero value is no decision.
type SignOffDecision string

// Values of SignOffDecision.
const (
	SignedOff SignOffDecision = "yes"
	Rejected  SignOffDecision = "no"
)

// SignOffAnswer is a person's decision about one criterion, and the reason.
type SignOffAnswer struct {
	ID    string          `json:"criterion"`
	Print string          `json:"-"` // fingerprint of the criterion that they saw
	Says  SignOffDecision `json:"says"`
	Words string          `json:"words,omitzero"`
}

// ToRequest returns the request that records it in the journal.
func (a SignOffAnswer) ToRequest(by string) nexus.Request {
	r := nexus.Request{Verb: nexus.VerbApprove, ID: a.ID, Text: ByHand, By: by}
	switch {
	case a.Says == Rejected:
		r.Verb, r.Text = nexus.VerbReject, a.Words
	case a.Words != "":
		r.Text += ": " + a.Words
	}
	return r
}

// Check returns the problem with an answer, or nil if it can be recorded.
func (a SignOffAnswer) Check(items []SignOffItem) error {
	i := slices.IndexFunc(items, func(i SignOffItem) bool { return i.ID == a.ID })
	switch {
	case i < 0:
		return fmt.Errorf("%s is not a criterion that waits for a person", a.ID)
	case a.Print != "" && a.Print != items[i].Fingerprint:
		return fmt.Errorf("%s has changed since the list was made", a.ID)
	case a.Says == Rejected && a.Words == "":
		return fmt.Errorf("%s is marked as wrong, but nothing says what is wrong", a.ID)
	}
	return nil
}

// Limits of the text that is copied into a task, including the text of its criterion.
const (
	longest  = 1_600
	shortest = 100
)

// SignOffPlan returns a plan that fixes the problems that people found, or false if they
// found none. Gates are the gates of the repository.
func SignOffPlan(run nexus.RunID, s *state.State, items []SignOffItem, answers []SignOffAnswer, gates []string) (nexus.Plan, bool) {
	p := nexus.Plan{Version: 1, Goal: fmt.Sprintf("Fix what people found wrong in what run %s landed", run)}
	for _, a := range answers {
		i := slices.IndexFunc(items, func(i SignOffItem) bool { return i.ID == a.ID })
		task := s.TaskByID(taskOfItem(a.ID))
		if a.Says != Rejected || i < 0 || task == nil {
			continue
		}
		c := nexus.Criterion{Text: items[i].Criterion, Check: items[i].Check}
		t := nexus.Task{
			ID: nexus.TaskID(fmt.Sprintf("MEND-%d", len(p.Tasks)+1)), Title: truncateText("Fix "+a.ID+": "+c.Text, 100), Kind: task.Kind, Group: task.Group,
			Files: slices.Clone(task.Files), Criteria: []nexus.Criterion{c}, Minutes: max(5, task.Minutes), Strategy: task.Strategy, Reason: task.Reason, Tags: slices.Clone(task.Tags),
			Brief: fmt.Sprintf("%s of run %s should have met this criterion. A person looked at what landed and says: %s", task.ID, run, truncateText(a.Words, max(shortest, longest-len(c.Text)))),
		}
		if c.Check == "" { // there must be a way to see when it is done
			if gate := strongestGate(gates); gate != "" {
				t.Criteria = append(t.Criteria, nexus.Criterion{Text: "The gate " + gate + " passes", Check: gate})
			}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p, len(p.Tasks) > 0
}

// strongestGate returns the gate that is the best check of working code.
func strongestGate(gates []string) string {
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

func taskOfItem(id string) nexus.TaskID {
	task, _, _ := ParseID(id)
	return task
}

func truncateText(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
