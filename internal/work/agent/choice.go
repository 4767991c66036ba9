package agent

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/chain"
)

// use lets the session go on with a choice.
func (c *conversation) use(to chain.Choice) {
	c.barren = 0
	c.model, c.Model, c.Price, c.Worst, c.Tokens, c.Context = to.Model, to.Name, to.Price, to.Worst, to.Tokens, to.Context
}

// takeUp lets a session that goes on do so with the model that it had last. If
// that is there no more, the messages are another model's for the one that is.
func (c *conversation) takeUp() {
	if c.Present == "" || c.Present == c.Model {
		return
	}
	if i := chain.Find(c.Choices, c.Present); i >= 0 {
		c.use(c.Choices[i])
		return
	}
	c.facts = append(c.facts, nexus.ModelSwitched{Session: c.Session, From: c.Present, To: c.Model, Why: "it is not set any more"})
	c.Foreign, c.Compact.Row = len(c.messages), 0
}

// turnTo lets the session go on with another of its models, and records that.
func (c *conversation) turnTo(ctx context.Context, name, why string) error {
	i := chain.Find(c.Choices, name)
	if i < 0 {
		return fmt.Errorf("there is no model %s to go on with", name)
	}
	c.facts = append(c.facts, nexus.ModelSwitched{Session: c.Session, From: c.Model, To: name, Why: why})
	c.drop() // it was for the other model
	c.use(c.Choices[i])
	c.Foreign, c.waited = len(c.messages), 0
	c.Compact.Row = 0 // another model may hold less, and has another measure
	clear(c.failures)
	return c.record(ctx)
}
