// Package forbiddenphrases refuses goals and plans that contain a phrase that the settings forbid.
package forbiddenphrases

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Check refuses a goal, or a user's plan, that contains a phrase that the settings forbid.
func Check(a *console.Console, goal string, p *nexus.Plan) error {
	settings, origins, err := a.LoadSettings()
	if err != nil || len(settings.Forbidden) == 0 {
		return err
	}
	texts := []struct{ where, text string }{{"the goal", goal}}
	if p != nil {
		texts = append(texts, struct{ where, text string }{"the goal of the plan", p.Goal})
		for _, t := range p.Tasks {
			for _, text := range taskTexts(t) {
				texts = append(texts, struct{ where, text string }{"task " + string(t.ID), text})
			}
		}
	}
	for _, t := range texts {
		if phrase := findPhrase(t.text, settings.Forbidden); phrase != "" {
			return &nexus.Error{
				Code: nexus.CodeForbidden, Message: fmt.Sprintf("%s contains %s, which goals.deny forbids (%s)", t.where,
					view.QuoteForTerminal(phrase), origins.OriginOf("goals.deny").Where),
				Hint: "Rephrase it without these words if you mean something else, or ask the person who set the rule.",
			}
		}
	}
	return nil
}

// taskTexts returns all texts of a task that its agent receives. Parts that follow each other in
// a prompt are one text.
func taskTexts(t nexus.Task) []string {
	all := []string{string(t.ID), t.Title + ".\n" + t.Brief, t.Group, t.Reason, strings.Join(t.Tags, " "), strings.Join(t.Files, "\n"), strings.Join(t.Keep, "\n")}
	var criteria []string
	for _, c := range t.Criteria {
		criteria = append(criteria, c.Text)
		all = append(all, c.Check, c.Was)
	}
	return append(all, strings.Join(criteria, "\n"))
}
