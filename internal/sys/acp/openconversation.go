package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// protocolVersion is the protocol version.
const protocolVersion = 1

// agentCapabilities are the capabilities that an agent reports.
type agentCapabilities struct {
	Version      int `json:"protocolVersion"`
	Capabilities struct {
		Load    bool `json:"loadSession"`
		Session struct {
			List   *struct{} `json:"list"`
			Resume *struct{} `json:"resume"`
			Close  *struct{} `json:"close"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Logins []struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Vars []struct {
			Name string `json:"name"`
		} `json:"vars"`
	} `json:"authMethods"`
	Info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
}

func (a agentCapabilities) canCloseSession() bool { return a.Capabilities.Session.Close != nil }

// agentConfigOption is a setting of the agent that we may change.
type agentConfigOption struct {
	ID       string              `json:"id"`
	Category string              `json:"category"`
	Type     string              `json:"type"`
	Current  any                 `json:"currentValue"`
	Options  []configOptionValue `json:"options"`
}

// configOptionValue is a value of a choice, or a group of values.
type configOptionValue struct {
	Value   string              `json:"value"`
	Name    string              `json:"name"`
	Options []configOptionValue `json:"options"`
}

// openSessionResponse is the agent's response to a request that opens a conversation.
type openSessionResponse struct {
	ID      string              `json:"sessionId"`
	Choices []agentConfigOption `json:"configOptions"`
	Modes   struct {
		Current string `json:"currentModeId"`
		All     []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current string `json:"currentModelId"`
		All     []struct {
			ID   string `json:"modelId"`
			Name string `json:"name"`
		} `json:"availableModels"`
	} `json:"models"`
}

// ensureConversation opens the conversation of a prompt if the process does not have it open.
func (t *runningPromptTurn) ensureConversation(ctx context.Context) error {
	a := t.agent
	if a.able.Version == 0 {
		if err := a.negotiateCapabilities(ctx, t.handleMessage); err != nil {
			return err
		}
	}
	if t.Resume && a.id == t.ID {
		return nil
	}
	o, err := t.openConversation(ctx)
	if rpc, ok := errors.AsType[*rpcError](err); ok && rpc.Code == codeLogin {
		if err := a.logIn(ctx, t.handleMessage); err != nil {
			return err
		}
		o, err = t.openConversation(ctx)
	}
	if err != nil {
		return t.explainFault(ctx, err)
	}
	if o.ID == "" {
		return newPromptFault(nexus.FaultGarbage, "it opened a conversation without an identifier")
	}
	a.id = o.ID
	model, err := t.chooseModelAndMode(ctx, o)
	if err != nil {
		return err
	}
	return t.emitEvents(ctx, []stream.AgentEvent{{Kind: stream.ConversationOpened, ID: a.id, Model: model, Version: a.able.Info.Version}})
}

// negotiateCapabilities negotiates the protocol version and the capabilities.
func (a *Agent) negotiateCapabilities(ctx context.Context, handle agentMessageHandler) error {
	var able agentCapabilities
	err := a.connection.callAgent(ctx, "initialize", map[string]any{
		"protocolVersion": protocolVersion,
		"clientCapabilities": map[string]any{
			"fs": map[string]any{"readTextFile": true, "writeTextFile": a.launch.Writes}, "terminal": true,
			"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}},
		},
		"clientInfo": map[string]any{"name": "nexus", "title": "Nexus", "version": "1"},
	}, &able, handle)
	if rpc, ok := errors.AsType[*rpcError](err); ok {
		return newPromptFault(nexus.FaultSetup, "it does not start a connection: %v", rpc)
	}
	if err != nil {
		return err
	}
	if able.Version != protocolVersion {
		return newPromptFault(nexus.FaultSetup, "it speaks version %d of the Agent Client Protocol, and Nexus version %d", able.Version, protocolVersion)
	}
	a.able = able
	return nil
}

// logIn has the agent log in without a person: with a variable from its environment, or with the
// login in its home. Nobody is there to open a web page.
func (a *Agent) logIn(ctx context.Context, handle agentMessageHandler) error {
	id := ""
	for _, l := range a.able.Logins {
		given := len(l.Vars) > 0
		for _, v := range l.Vars {
			given = given && slices.ContainsFunc(a.launch.Program.Env, func(e string) bool { return strings.HasPrefix(e, v.Name+"=") })
		}
		if given && l.Type == "env_var" {
			id = l.ID
			break
		}
		if l.Type == "" || l.Type == "agent" {
			id = cmp.Or(id, l.ID)
		}
	}
	if id == "" {
		return newPromptFault(nexus.FaultLogin, "it is not logged in")
	}
	wait, stop := context.WithTimeoutCause(ctx, loginTime, errSilent)
	defer stop()
	err := a.connection.callAgent(wait, "authenticate", map[string]any{"methodId": id}, nil, handle)
	if rpc, ok := errors.AsType[*rpcError](err); ok {
		return newPromptFault(nexus.FaultLogin, "it is not logged in (%s): %v", id, rpc)
	}
	if errors.Is(err, errSilent) && ctx.Err() == nil {
		return newPromptFault(nexus.FaultLogin, "it is not logged in, and waits for a person (%s)", id)
	}
	return err
}

// openConversation opens a new conversation, or the conversation that the prompt names.
func (t *runningPromptTurn) openConversation(ctx context.Context) (openSessionResponse, error) {
	l, dir := t.agent.connection, t.agent.launch.Command.Dir
	params := map[string]any{"cwd": dir, "mcpServers": []any{}}
	var o openSessionResponse
	if !t.Resume {
		return o, l.callAgent(ctx, "session/new", params, &o, t.handleMessage)
	}
	can := t.agent.able.Capabilities
	method := "session/load"
	switch {
	case can.Session.Resume != nil:
		method = "session/resume"
	case !can.Load:
		return o, newPromptFault(nexus.FaultLost, "it cannot resume a conversation")
	}
	if err := agentcli.PrepareGeminiResume(agentcli.HomeDir(t.agent.launch.Command.Env), t.ID); err != nil {
		return o, err
	}
	params["sessionId"] = t.ID
	t.replays = true // the agent replays earlier messages
	err := l.callAgent(ctx, method, params, &o, t.handleMessage)
	t.replays = false
	o.ID = t.ID
	return o, err
}

// explainFault turns the error of a failed request into a fault.
func (t *runningPromptTurn) explainFault(ctx context.Context, err error) error {
	rpc, ok := errors.AsType[*rpcError](err)
	if !ok {
		return err
	}
	opening := t.Resume && t.agent.id != t.ID
	said := rpc.Error()
	plain := said
	if t.ID != "" {
		plain = strings.ReplaceAll(said, t.ID, "") // digits of the identifier are not a status code
	}
	known := stream.ClassifyFault(plain)
	switch {
	case rpc.Code == codeLogin:
		return newPromptFault(nexus.FaultLogin, "%s", said)
	case rpc.Code == codeNotFound:
		return newPromptFault(nexus.FaultLost, "%s", said)
	case rpc.Code == codeCancelled:
		return newPromptFault(nexus.FaultUnfinished, "%s", said)
	case known != "":
		return newPromptFault(known, "%s", said)
	case opening && !t.isConversationListed(ctx):
		return newPromptFault(nexus.FaultLost, "%s", said)
	default:
		return newPromptFault(nexus.FaultCrashed, "it reported an error (%d): %s", rpc.Code, said)
	}
}

// maxPages limits the pages that are read of a list.
const maxPages = 20

// isConversationListed reports whether the agent lists the conversation of the prompt.
func (t *runningPromptTurn) isConversationListed(ctx context.Context) bool {
	a := t.agent
	if a.able.Capabilities.Session.List == nil {
		return false
	}
	params := map[string]any{"cwd": a.launch.Command.Dir}
	for range maxPages {
		var page struct {
			Sessions []struct {
				ID string `json:"sessionId"`
			} `json:"sessions"`
			Next string `json:"nextCursor"`
		}
		if a.connection.callAgent(ctx, "session/list", params, &page, t.handleMessage) != nil {
			return false
		}
		for _, s := range page.Sessions {
			if s.ID == t.ID {
				return true
			}
		}
		if page.Next == "" {
			return false
		}
		params["cursor"] = page.Next
	}
	return false
}

// chooseModelAndMode sets the configured model and mode, and returns the model.
func (t *runningPromptTurn) chooseModelAndMode(ctx context.Context, o openSessionResponse) (model string, err error) {
	p := t.agent.launch.Program
	model = o.Models.Current
	for _, c := range o.Choices {
		if current, ok := c.Current.(string); ok && hasCategory(c, "model") {
			model = current
		}
	}
	if p.Mode != "" {
		var all []configOptionValue
		for _, m := range o.Modes.All {
			all = append(all, configOptionValue{Value: m.ID, Name: m.Name})
		}
		if _, err := t.chooseOption(ctx, o.Choices, "mode", p.Mode, all); err != nil {
			return "", err
		}
	}
	if p.Model == "" {
		return model, nil
	}
	var all []configOptionValue
	for _, m := range o.Models.All {
		all = append(all, configOptionValue{Value: m.ID, Name: m.Name})
	}
	return t.chooseOption(ctx, o.Choices, "model", p.Model, all)
}

func hasCategory(c agentConfigOption, what string) bool {
	return c.Type != "boolean" && (c.Category == what || c.Category == "" && c.ID == what)
}

// chooseOption sets a model or a mode: as a choice if the agent offers one, otherwise with the older
// method of the protocol.
func (t *runningPromptTurn) chooseOption(ctx context.Context, choices []agentConfigOption, what, want string, old []configOptionValue) (string, error) {
	method, params := "session/set_"+what, map[string]any{"sessionId": t.agent.id}
	key, all := what+"Id", old
	if i := slices.IndexFunc(choices, func(c agentConfigOption) bool { return hasCategory(c, what) }); i >= 0 {
		method, key, all = "session/set_config_option", "value", flattenOptions(choices[i].Options)
		params["configId"] = choices[i].ID
	}
	if len(all) == 0 && t.Resume {
		return want, nil // already set when the conversation was opened
	}
	i := slices.IndexFunc(all, func(o configOptionValue) bool { return o.Value == want })
	if i < 0 {
		i = slices.IndexFunc(all, func(o configOptionValue) bool { return strings.EqualFold(o.Name, want) })
	}
	if i < 0 {
		return "", newPromptFault(nexus.FaultSetup, "it has no %s %q; %s", what, want, configOptionNames(all))
	}
	params[key] = all[i].Value
	err := t.agent.connection.callAgent(ctx, method, params, nil, t.handleMessage)
	if rpc, ok := errors.AsType[*rpcError](err); ok {
		return "", newPromptFault(nexus.FaultSetup, "it does not take the %s %q: %v", what, want, rpc)
	}
	return all[i].Value, err
}

func flattenOptions(all []configOptionValue) []configOptionValue {
	var out []configOptionValue
	for _, o := range all {
		if len(o.Options) > 0 {
			out = append(out, o.Options...)
			continue
		}
		out = append(out, o)
	}
	return out
}

func configOptionNames(all []configOptionValue) string {
	if len(all) == 0 {
		return "it offers no choice"
	}
	var names []string
	for _, o := range all {
		names = append(names, o.Value)
	}
	return fmt.Sprintf("it has %s", strings.Join(names, ", "))
}

// UnmarshalJSON implements [json.Unmarshaler]. A value of another type becomes an empty option, so
// that the rest can be read.
func (o *configOptionValue) UnmarshalJSON(data []byte) error {
	type plain configOptionValue
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*o = configOptionValue(p)
	}
	return nil
}
