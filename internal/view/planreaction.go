package view

import (
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
)

// PlanReactionView is the reaction of people to the plan of a run.
type PlanReactionView struct {
	By     string                `json:"approved_by,omitzero"` // empty before approval
	Drafts []ReplacedPlanVersion `json:"drafts,omitempty"`     // refused or edited plans, oldest first
}

// ReplacedPlanVersion is a plan that people refused or edited.
type ReplacedPlanVersion struct {
	By      string                `json:"by"`
	Why     string                `json:"why,omitzero"` // why it was refused; empty if it was edited
	At      time.Time             `json:"at"`
	Tasks   int                   `json:"tasks"`
	Goal    string                `json:"goal,omitzero"`     // of the draft, if it was edited
	Changes []plandiff.TaskChange `json:"changes,omitempty"` // changes in the next plan; none if there is none
}

// PlanReactionOf returns the reaction of people to the plan; nil if there was none.
func PlanReactionOf(s *state.State) *PlanReactionView {
	c := s.Consent
	if len(c.Drafts) == 0 && (c.By == "" || c.By == "policy") {
		return nil
	}
	said := &PlanReactionView{By: c.By}
	for i, d := range c.Drafts {
		draft := ReplacedPlanVersion{By: d.By, Why: d.Why, At: d.At, Tasks: len(d.Tasks)}
		if after := s.PlanVersion(i + 1); len(after) > 0 {
			draft.Changes = plandiff.DiffTasks(d.Tasks, after)
		}
		after := s.Goal.Goal.Text
		if i+1 < len(c.Drafts) {
			after = c.Drafts[i+1].Goal
		}
		if d.Goal != after {
			draft.Goal = d.Goal
		}
		said.Drafts = append(said.Drafts, draft)
	}
	return said
}

// DrawPlanReaction draws the plans that people refused or edited, each with the changes of the next
// one; empty if there were none.
func DrawPlanReaction(s OutputStyle, c *PlanReactionView) string {
	if c == nil || len(c.Drafts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + s.Bold("plan") + "\n")
	for _, d := range c.Drafts {
		text := "edited by " + d.By
		if d.Why != "" {
			text = "refused by " + d.By + ": " + d.Why
		}
		b.WriteString(s.Wrap(EscapeForTerminal(text), "  ") + "\n")
		if d.Goal != "" {
			b.WriteString(s.Wrap("the goal was: "+EscapeForTerminal(d.Goal), "    ") + "\n")
		}
		b.WriteString(DrawPlanChanges(s, d.Changes, "    "))
	}
	if c.By != "" {
		b.WriteString(s.Wrap("approved by "+EscapeForTerminal(c.By), "  ") + "\n")
	}
	return b.String()
}

// DrawPlanChanges draws the differences of a plan, a line for each task.
func DrawPlanChanges(s OutputStyle, all []plandiff.TaskChange, indent string) string {
	var b strings.Builder
	for _, c := range all {
		text := s.Wrap(EscapeForTerminal(c.String()), indent)
		switch c.Kind {
		case plandiff.Added:
			text = s.Good(text)
		case plandiff.Removed:
			text = s.Bad(text)
		default:
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
