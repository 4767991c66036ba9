package accept

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriterionKindOf returns a criterion's kind: the one set by the planner or a person, or else the one
// derived from its task. Unchanged behavior is never derived from words: "X still fails" is
// how people report bugs.
func (w GatePassedTree) CriterionKindOf(c nexus.Criterion) nexus.CriterionKind {
	gate, command := GateOfCriterion(c)
	switch {
	case c.Kind != "":
		return c.Kind
	case c.IsRegressionOnly():
		return nexus.StaysCriterion
	case command && saysOnlyThatPasses(c.Text, strings.FieldsFunc(strings.ToLower(c.Check), isSeparator)), !command && asksOnlyForGate(c.Text, gate), command && asksOnlyForGate(c.Text, "test"):
		return nexus.GateCriterion
	case w.asksOnlyForRename(c):
		return nexus.RenameCriterion
	case w.Task.Kind == nexus.TestTask || asksForTests(w.Task, c):
		return nexus.TestsCriterion
	case w.Task.Kind == nexus.DocsTask || asksForText(w.Task, c):
		return nexus.DocsCriterion
	}
	return ""
}

// asksForTests reports whether a task asks for tests.
func asksForTests(t nexus.Task, c nexus.Criterion) bool {
	const asks lazyPattern = `(?i)\b(?:add|write|cover|extend|more|missing|new|there (?:is|are))\b[^.;\n]{0,60}\btests?\b|\b(?:is|are) (?:tested|covered)\b`
	return asks.compile().MatchString(t.Title) || asks.compile().MatchString(c.Text)
}

// asksForText reports whether a task asks for a comment or a document and for no behavior: it
// begins with a verb for that, or describes the text.
func asksForText(t nexus.Task, c nexus.Criterion) bool {
	const asks lazyPattern = `(?i)^(?:please )?(?:(?:describe|document|explain|comment|clarify|reword|mention)\b[^.;\n]*` +
		`|(?:add|write|fix|correct|update|improve|extend|remove|translate|complete)\b[^.;\n]{0,60}\b` +
		`(?:comments?|docstrings?|docs|documentation|readme(?:\.\w+)?|changelog(?:\.\w+)?|typos?|spelling|wording|(?:java|js|go)doc)(?:$|[.,:]| (?:in|of|on|for|about|above|at|to|that|with)\b)[^.;\n]*)`
	const behavior lazyPattern = `(?i)\b(?:should|must|fails?|wrong|crash\w*|panics?|raises?|throws?|returns?|is not|does not|doesn't|are not|instead|rejects?|accepts?|parses?|ignores?|dropped|lost)\b`
	return (asks.compile().MatchString(strings.TrimSpace(c.Text)) || asks.compile().MatchString(strings.TrimSpace(t.Title))) &&
		!behavior.compile().MatchString(c.Text) && !behavior.compile().MatchString(t.Title)
}
