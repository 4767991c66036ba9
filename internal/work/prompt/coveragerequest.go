package prompt

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PlanCoverageRequest is the first message to a checker, who compares a plan with its goal.
type PlanCoverageRequest struct {
	Session    nexus.SessionID
	Goal       string
	Statements []spec.GoalStatement
	Tasks      []nexus.Task

	Assumptions []string // assumptions of the plan

	Limit int64 // most tokens; 0 means 24,000
}

// FirstMessage returns the first message of the checker's conversation.
func (c PlanCoverageRequest) FirstMessage() string {
	var said, tasks strings.Builder
	for _, s := range c.Statements {
		fmt.Fprintf(&said, "- %s: %s", s.ID, SingleLine(s.Text))
		if by := spec.TasksForStatement(s.ID, c.Tasks); len(by) > 0 {
			fmt.Fprintf(&said, " (the planner claims: %s)", nexus.JoinWords(by))
		}
		said.WriteString("\n")
	}
	for _, t := range c.Tasks {
		fmt.Fprintf(&tasks, "%s: %s\n%s\n", t.ID, SingleLine(t.Title), strings.TrimSpace(t.Brief))
		for i, k := range t.Criteria {
			fmt.Fprintf(&tasks, "- %s/AC-%d: %s\n", t.ID, i+1, SingleLine(k.Text))
		}
		tasks.WriteString("\n")
	}
	text, _ := FitSections([]PromptSection{
		{Body: conversationHeader(c.Session, "plan", "Say whether the plan covers the goal")},
		{Title: "Goal", Body: c.Goal, Rank: 1},
		{Title: "Statements", Body: said.String()},
		{Title: "The plan", Body: tasks.String()},
		{
			Title: "Assumptions of the plan", Body: bulletList(c.Assumptions), Rank: 2,
			Lead: "One that takes something away from a statement leaves that part of it uncovered.",
		},
	}, tokenLimitOrDefault(c.Limit))
	return text
}
