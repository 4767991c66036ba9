package agent

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/chain"
)

// use lets the session go on with a choice.
func (c *conversation) use(to chain.Choice) {
	c.model, c.Model, c.Price, c.Worst, c.Tokens, c.Context = to.Model, to.Name, to.Price, to.Worst, to.Tokens, to.Context
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
	clear(c.failures)
	return c.record(ctx)
}
