package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// SessionModel is a model that a session may use, with its price: the session's own, or a
// replacement while that is unavailable.
type SessionModel struct {
	Model  llm.Model
	Name   string // provider/model
	Price  func(nexus.Usage, llm.BillingTerms) nexus.Money
	Worst  func(llm.Request) nexus.Money
	Tokens func(llm.Request) int64

	Context int64 // context window in tokens
}

// findModelIndex returns the index of a name, or -1.
func findModelIndex(all []SessionModel, name string) int {
	return slices.IndexFunc(all, func(c SessionModel) bool { return c.Name == name })
}

// replacementModelNames returns the names of a model's replacements, best first.
func replacementModelNames(all []SessionModel, name string) []string {
	var names []string
	for _, c := range all {
		if c.Name != name {
			names = append(names, c.Name)
		}
	}
	return names
}

// maxHops limits how often a failing call is passed to another model. After that it waits for
// the last.
const maxHops = 2

// nextReplacementModel returns the model that replaces a failing one, or "" if there is none, or the
// call was passed on maxHops times.
func nextReplacementModel(all []SessionModel, name string, hops int) string {
	if len(all) < 2 || hops >= min(maxHops, len(all)-1) {
		return ""
	}
	return all[(findModelIndex(all, name)+1)%len(all)].Name
}

// portableMessages returns messages in a form that another model than that of the first n can
// read: private data of the first model is removed.
func portableMessages(messages []llm.Message, n int) []llm.Message {
	if n == 0 {
		return messages
	}
	all := slices.Clone(messages)
	for i := range min(n, len(all)) {
		all[i].Parts = slices.DeleteFunc(slices.Clone(all[i].Parts), func(p llm.MessagePart) bool { return p.Raw != nil })
	}
	return slices.DeleteFunc(all, func(m llm.Message) bool { return len(m.Parts) == 0 })
}

// applyModelChoice continues the session with a choice.
func (c *sessionConversation) applyModelChoice(to SessionModel) {
	c.barren = 0
	c.model, c.Model, c.Price, c.Worst, c.Tokens, c.Context = to.Model, to.Name, to.Price, to.Worst, to.Tokens, to.Context
}

// resumeLastModel continues a session with the model that it used last. If that is no longer
// available, its messages count as another model's.
func (c *sessionConversation) resumeLastModel() {
	if c.Present == "" || c.Present == c.Model {
		return
	}
	if i := findModelIndex(c.Choices, c.Present); i >= 0 {
		c.applyModelChoice(c.Choices[i])
		return
	}
	c.facts = append(c.facts, nexus.SessionModelSwitched{Session: c.Session, From: c.Present, To: c.Model, Why: "it is no longer set"})
	c.Foreign, c.Compact.Row = len(c.messages), 0
}

// switchModel continues the session with another of its models, and records that.
func (c *sessionConversation) switchModel(ctx context.Context, name, why string) error {
	i := findModelIndex(c.Choices, name)
	if i < 0 {
		return fmt.Errorf("the model to continue with, %s, is not available", name)
	}
	c.facts = append(c.facts, nexus.SessionModelSwitched{Session: c.Session, From: c.Model, To: name, Why: why})
	c.releaseUnusedPermit() // the permit was for the previous model
	c.applyModelChoice(c.Choices[i])
	c.Foreign, c.waited = len(c.messages), 0
	c.Compact.Row = 0 // another model may have a smaller context, and counts tokens differently
	clear(c.failures)
	return c.recordFacts(ctx)
}
