package acp

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// AgentInfo is the information that an agent reports about itself.
type AgentInfo struct {
	Version string // empty: not reported
	Resumes bool   // it can continue conversations
	Models  []string
}

// ProbeAgent starts an agent and returns its information. If open is set, Probe also opens a
// conversation without a prompt, because agents list their models only then. It returns an error
// if the program does not speak the protocol, or if ctx ended.
func ProbeAgent(ctx context.Context, l AgentLaunchOptions, open bool) (AgentInfo, error) {
	a := NewAgent(l)
	if err := a.startProgram(ctx); err != nil {
		return AgentInfo{}, err
	}
	defer a.connection.close()
	if err := a.negotiateCapabilities(ctx, a.refuseRequest); err != nil {
		return AgentInfo{}, err
	}
	can := a.able.Capabilities
	told := AgentInfo{Version: a.able.Info.Version, Resumes: can.Load || can.Session.Resume != nil}
	if !open {
		return told, nil
	}
	var o openSessionResponse
	params := map[string]any{"cwd": l.Command.Dir, "mcpServers": []any{}}
	switch err := a.connection.callAgent(ctx, "session/new", params, &o, a.refuseRequest); {
	case err != nil && ctx.Err() != nil:
		return AgentInfo{}, err
	case err != nil:
		return told, nil // no list of models, which is common without a network
	}
	told.Models = o.modelNames()
	return told, nil
}

// refuseRequest answers every request of the agent with an error, so that the agent does not wait.
func (a *Agent) refuseRequest(ctx context.Context, m rpcMessage) error {
	if m.Method == "" || len(m.ID) == 0 {
		return nil
	}
	return a.connection.sendAnswer(ctx, m.ID, nil, &rpcError{Code: codeUnknown, Message: "nothing is served here: " + m.Method})
}

// modelNames returns the names of the models that a conversation can use.
func (o openSessionResponse) modelNames() []string {
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
	return agentcli.ExtractModelNames(all)
}
