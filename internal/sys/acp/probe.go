package acp

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// AgentInfo is what an agent says about itself.
type AgentInfo struct {
	Version string // empty: it does not say
	Resumes bool   // it continues conversations
	Models  []string
}

// Probe starts an agent, has it say what it can do, and, where open is set, opens a
// conversation in which nothing is asked: that is how it tells its models.
// An error means that it does not speak the protocol, or that ctx ended.
func Probe(ctx context.Context, l Launch, open bool) (AgentInfo, error) {
	a := New(l)
	if err := a.start(ctx); err != nil {
		return AgentInfo{}, err
	}
	defer a.link.close()
	if err := a.initialize(ctx, a.refuse); err != nil {
		return AgentInfo{}, err
	}
	can := a.able.Capabilities
	told := AgentInfo{Version: a.able.Info.Version, Resumes: can.Load || can.Session.Resume != nil}
	if !open {
		return told, nil
	}
	var o opened
	params := map[string]any{"cwd": l.Command.Dir, "mcpServers": []any{}}
	switch err := a.link.ask(ctx, "session/new", params, &o, a.refuse); {
	case err != nil && ctx.Err() != nil:
		return AgentInfo{}, err
	case err != nil:
		return told, nil // it tells no models, which many do without a network
	}
	told.Models = o.models()
	return told, nil
}

// refuse answers that nothing can be asked of us, so that the agent does not wait.
func (a *Agent) refuse(ctx context.Context, m message) error {
	if m.Method == "" || len(m.ID) == 0 {
		return nil
	}
	return a.link.answer(ctx, m.ID, nil, &rpcError{Code: codeUnknown, Message: "nothing is served here: " + m.Method})
}

// models returns the names of the models that a conversation can have.
func (o opened) models() []string {
	var all []string
	for _, m := range o.Models.All {
		all = append(all, m.ID)
	}
	for _, c := range o.Choices {
		if hasCategory(c, "model") {
			for _, one := range flattenOptions(c.Options) {
				all = append(all, one.Value)
			}
		}
	}
	return agentcli.NamesOf(all)
}
