package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// serveRequest answers a request of the agent.
func (t *runningPromptTurn) serveRequest(ctx context.Context, m rpcMessage) error {
	l := t.agent.connection
	var in agentRequestParams
	_ = json.Unmarshal(m.Params, &in) // a field of another type stays empty
	var result any
	var failed *rpcError
	var err error
	switch m.Method {
	case "session/request_permission":
		result, err = t.answerPermission(ctx, in)
	case "fs/read_text_file":
		result, failed, err = t.serveFileRead(ctx, in)
	case "fs/write_text_file":
		result, failed, err = t.serveFileWrite(ctx, in)
	case "terminal/create":
		result, failed, err = t.createTerminal(ctx, in)
	case "terminal/output", "terminal/kill", "terminal/release":
		result, failed = l.controlTerminal(m.Method, in.Terminal)
	case "terminal/wait_for_exit":
		if result, failed = l.awaitExit(in.Terminal, m.ID); result == nil && failed == nil {
			return nil // answered when the command has ended
		}
	case "elicitation/create":
		result, err = t.answerQuestion(ctx, m.Params)
	default:
		failed = &rpcError{Code: codeUnknown, Message: "there is no method " + m.Method}
	}
	if err != nil {
		return err
	}
	return l.sendAnswer(ctx, m.ID, result, failed)
}

// agentRequestParams has the parameters of all requests of the agent.
type agentRequestParams struct {
	Call    toolCallReport `json:"toolCall"`
	Options []struct {
		ID   string `json:"optionId"`
		Kind string `json:"kind"`
	} `json:"options"`
	Path     string               `json:"path"`
	Content  string               `json:"content"`
	Line     int                  `json:"line"`
	Limit    int                  `json:"limit"`
	Command  string               `json:"command"`
	Args     []string             `json:"args"`
	Dir      string               `json:"cwd"`
	Most     int                  `json:"outputByteLimit"`
	Terminal string               `json:"terminalId"`
	Env      []commandEnvVariable `json:"env"`
}

// commandEnvVariable is an environment variable of a command.
type commandEnvVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// checkPermission asks the policy about a call, and counts the refusals. It returns the reason of a
// refusal, or "".
func (t *runningPromptTurn) checkPermission(ctx context.Context, c stream.AgentToolCall) (refused string) {
	if _, known := t.calls[c.ID]; !known {
		t.said++ // the first event that mentions this call
	}
	if t.asked++; t.asked > maxAsked {
		t.stop = newPromptFault(nexus.FaultAsking, "it asked for permission more than %d times", maxAsked)
	}
	why := t.Permit(ctx, c)
	if why == "" {
		t.inarow = 0
		return ""
	}
	t.denied++
	t.refusd = why
	if t.inarow++; t.inarow > maxRefused {
		t.stop = newPromptFault(nexus.FaultAsking, "it asked %d times for actions that are not allowed: %s", t.inarow, why)
	}
	return why
}

// answerPermission answers a request for permission. The protocol has no field for a reason, so the
// reason is reported when the prompt ends, unless the agent found another way.
func (t *runningPromptTurn) answerPermission(ctx context.Context, in agentRequestParams) (any, error) {
	if in.Call.ID == "" {
		in.Call.ID = t.newObjectID("ask")
	}
	c := t.mergeCall(in.Call)
	if c == nil {
		return permissionOutcome(""), nil
	}
	if err := t.emitEvents(ctx, t.flushCalls()); err != nil {
		return nil, err
	}
	var refused string
	for _, one := range c.policyCalls() {
		if refused = t.checkPermission(ctx, one); refused != "" {
			break
		}
	}
	kinds := []string{"allow_once", "allow_always"}
	if refused != "" {
		kinds = []string{"reject_once", "reject_always"}
	}
	for _, kind := range kinds {
		for _, o := range in.Options {
			if o.Kind == kind {
				return permissionOutcome(o.ID), nil
			}
		}
	}
	return permissionOutcome(""), nil
}

// permissionOutcome returns the response to a request for permission; cancelled if no option fits.
func permissionOutcome(id string) any {
	if id == "" {
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
	}
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": id}}
}

// serveFileRead returns the content of a file of the worktree.
func (t *runningPromptTurn) serveFileRead(ctx context.Context, in agentRequestParams) (any, *rpcError, error) {
	text, err := t.agent.launch.Files.Read(in.Path)
	if errors.Is(err, fs.ErrNotExist) { // reading a missing file is not an offence; Gemini CLI expects these words
		return nil, &rpcError{Code: codeNotFound, Message: "Resource not found: " + in.Path, Data: encodeJSON(map[string]string{"uri": in.Path})}, nil
	}
	if err != nil {
		t.denied++
		c := stream.AgentToolCall{ID: t.newObjectID("read"), Tool: "Read", Input: encodeJSON(map[string]string{"file_path": in.Path})}
		return nil, &rpcError{Code: codeInvalid, Message: err.Error()}, t.emitRefusal(ctx, c, err)
	}
	return map[string]any{"content": selectLines(text, in.Line, in.Limit)}, nil, nil
}

// selectLines returns a range of lines of a text: line `from`, which counts from 1, and `most` lines; 0
// means all.
func selectLines(text string, from, most int) string {
	lines := strings.SplitAfter(text, "\n")
	lines = lines[min(max(from-1, 0), len(lines)):]
	if most > 0 {
		lines = lines[:min(most, len(lines))]
	}
	return strings.Join(lines, "")
}

// requirePermission has the policy judge an action that the agent asks us to do. The action belongs to the
// call with c's identifier. Without an identifier, allow reports a new call of this name.
func (t *runningPromptTurn) requirePermission(ctx context.Context, c *stream.AgentToolCall, name string) (own bool, no *rpcError, err error) {
	if own = c.ID == ""; own {
		c.ID = t.newObjectID(name)
		if err := t.emitEvents(ctx, t.flushAll()); err != nil {
			return own, nil, err
		}
	}
	why := t.checkPermission(ctx, *c)
	if why == "" {
		return own, nil, nil
	}
	if own {
		err = t.emitEvents(ctx, []stream.AgentEvent{{Kind: stream.CallAnswered, ID: c.ID, Failed: true, Text: why}})
	}
	return own, &rpcError{Code: codeInvalid, Message: why}, err
}

// serveFileWrite changes a file of the worktree for the agent.
func (t *runningPromptTurn) serveFileWrite(ctx context.Context, in agentRequestParams) (any, *rpcError, error) {
	c := stream.AgentToolCall{ID: t.callOfPath(in.Path), Tool: "Write", Input: encodeJSON(map[string]string{"file_path": in.Path})}
	own, no, err := t.requirePermission(ctx, &c, "write")
	if no != nil || err != nil {
		return nil, no, err
	}
	err = t.agent.launch.Files.Write(in.Path, in.Content)
	switch {
	case err != nil && own:
		t.denied++
		return nil, &rpcError{Code: codeInvalid, Message: err.Error()},
			t.emitEvents(ctx, []stream.AgentEvent{{Kind: stream.CallAnswered, ID: c.ID, Failed: true, Refused: true, Text: err.Error()}})
	case err != nil:
		t.denied++
		c.ID = t.newObjectID("write")
		return nil, &rpcError{Code: codeInvalid, Message: err.Error()}, t.emitRefusal(ctx, c, err)
	case own:
		return map[string]any{}, nil, t.emitEvents(ctx, []stream.AgentEvent{{Kind: stream.CallAnswered, ID: c.ID, Text: "written"}})
	}
	return map[string]any{}, nil, nil
}

// emitRefusal reports a call that our file tools refused.
func (t *runningPromptTurn) emitRefusal(ctx context.Context, c stream.AgentToolCall, err error) error {
	events := append(t.flushCalls(), t.flushMessage(c)...)
	return t.emitEvents(ctx, append(events, stream.AgentEvent{Kind: stream.CallAnswered, ID: c.ID, Failed: true, Refused: true, Text: err.Error()}))
}

// callOfPath returns the running call that a file is written for, or "" if none is known.
func (t *runningPromptTurn) callOfPath(path string) string {
	id, n := "", 0
	for _, c := range t.calls {
		switch {
		case !c.told:
		case slices.Contains(c.paths, path):
			return c.id
		case c.kind == "edit" && len(c.paths) == 0:
			id, n = c.id, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return id
}

// createTerminal starts a command in the sandbox.
func (t *runningPromptTurn) createTerminal(ctx context.Context, in agentRequestParams) (any, *rpcError, error) {
	l, launch := t.agent.connection, t.agent.launch
	command := in.Command
	if len(in.Args) > 0 {
		command = shellCommandLine(append([]any{in.Command}, toAnySlice(in.Args)...))
	}
	if dir := launch.Command.Dir; in.Dir != "" && filepath.Clean(in.Dir) != dir {
		rel, err := filepath.Rel(dir, in.Dir)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, &rpcError{Code: codeInvalid, Message: in.Dir + " is outside of the worktree"}, nil
		}
		command = "cd " + quoteWords([]string{rel}) + " && " + command
	}
	if command == "" || len(l.terminals) >= maxTerminals {
		return nil, &rpcError{Code: codeInvalid, Message: "there is no command, or there are too many terminals: release some"}, nil
	}
	command, ok := withExports(command, in.Env)
	if !ok {
		return nil, &rpcError{Code: codeInvalid, Message: "a variable has a name that no variable may have"}, nil
	}
	c := stream.AgentToolCall{ID: t.executingCall(), Tool: "Bash", Input: encodeJSON(map[string]string{"command": command})}
	own, no, err := t.requirePermission(ctx, &c, "terminal")
	if no != nil || err != nil {
		return nil, no, err
	}
	if !own {
		c.ID = ""
	}
	return map[string]any{"terminalId": l.openTerminal(ctx, launch, launch.Terminal, command, c.ID, in.Most)}, nil, nil
}

// withExports returns the command with its variables as exports, so that the policy judges them too,
// and whether all variables have permitted names.
func withExports(command string, env []commandEnvVariable) (string, bool) {
	for _, v := range slices.Backward(env) {
		if !variableNamePattern.MatchString(v.Name) {
			return "", false
		}
		command = "export " + v.Name + "=" + quoteWords([]string{v.Value}) + "\n" + command
	}
	return command, true
}

var variableNamePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func toAnySlice(words []string) []any {
	var all []any
	for _, w := range words {
		all = append(all, w)
	}
	return all
}

// executingCall returns the running call that executes a command, or "" if there is not exactly one.
func (t *runningPromptTurn) executingCall() string {
	id := ""
	for _, c := range t.calls {
		if c.told && c.kind == "execute" {
			if id != "" {
				return ""
			}
			id = c.id
		}
	}
	return id
}

// finishOwnTerminal reports the end of a command that was recorded as a call of its own.
func (t *runningPromptTurn) finishOwnTerminal(ctx context.Context, one *agentTerminal) error {
	if one.call == "" {
		return nil
	}
	return t.emitEvents(ctx, []stream.AgentEvent{{Kind: stream.CallAnswered, ID: one.call, Failed: one.err != nil || one.result.Exit != 0, Text: one.outputText()}})
}
