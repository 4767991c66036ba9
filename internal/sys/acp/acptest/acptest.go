// Package acptest is an agent of the Agent Client Protocol for tests, on the
// agent's side of the Go SDK: an implementation of the protocol that is not ours
// checks what we send. A test's own program plays it.
package acptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	sdk "github.com/coder/acp-go-sdk"
)

// Var is the environment variable that holds what the agent does: first a line of
// what it is able to, then what it does at each prompt, one after the other, each
// begun by a line "---". The last is repeated. @NAME is a file of its home that holds it.
//
// It is able to: load, resume, list, close, models, choices, modes, login (is
// needed, and works), nologin (does not), v9 (of the protocol).
//
//	told TEXT          ends if the prompt does not hold the text
//	say, think TEXT    a part of a message
//	plan A, B          the first is done
//	edit FILE TEXT     has us write the file
//	own FILE TEXT      asks for permission, and writes the file itself
//	run COMMAND        asks for permission, and has us run it
//	shell COMMAND      has us run it without asking
//	read FILE          says what is in it
//	ask TEXT           asks a person
//	deny N             asks for what is refused, so many times; 0: without end
//	usage USED SIZE COST, tokens IN OUT
//	odd                kinds of messages that nobody knows
//	raw TEXT           writes a line that is none of the protocol, half TEXT one without an end
//	big N              a message of so many bytes
//	flood N            a line of so many bytes that is none of the protocol
//	child COMMAND      starts something that outlives it
//	fail CODE TEXT     ends the prompt with an error
//	stop REASON        ends the prompt
//	hang, cancellable  does nothing more; ends when it is cancelled
//	exit N
//
// FILE may be absolute. In TEXT, \n is the end of a line. It counts the prompts of
// a conversation in its home.
const Var = "NEXUS_ACP_TEST"

// Main plays the agent where the environment says so, and reports whether it did.
func Main() bool {
	play, ok := os.LookupEnv(Var)
	if !ok {
		return false
	}
	if name, ok := strings.CutPrefix(play, "@"); ok {
		data, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), name))
		if err != nil {
			panic(err)
		}
		play = string(data)
	}
	parts := strings.Split(play, "---\n")
	a := &agent{able: parts[0], prompts: parts[1:], home: os.Getenv("HOME"), started: make(chan struct{}), cancelled: make(chan struct{}, 1)}
	if strings.Contains(play, "\nmute\n") {
		select {}
	}
	a.conn = sdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	close(a.started)
	<-a.conn.Done()
	return true
}

type agent struct {
	sdk.Agent // answers that it can nothing else

	able    string
	prompts []string
	home    string
	conn    *sdk.AgentSideConnection
	in      bool   // it is logged in
	dir     string // where it works
	calls   int
	usage   *sdk.Usage

	started   chan struct{} // closed when conn is there
	cancelled chan struct{}
}

func (a *agent) can(what string) bool { return strings.Contains(" "+a.able+" ", " "+what) }

// Initialize implements [sdk.Agent].
func (a *agent) Initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	<-a.started
	if p.ProtocolVersion != 1 || !p.ClientCapabilities.Terminal || !p.ClientCapabilities.Fs.ReadTextFile {
		return sdk.InitializeResponse{}, sdk.NewInvalidParams("unexpected capabilities")
	}
	r := sdk.InitializeResponse{ProtocolVersion: 1, AgentInfo: &sdk.Implementation{Name: "scripted", Version: "1.2"}, AuthMethods: []sdk.AuthMethod{}}
	if a.can("v9") {
		r.ProtocolVersion = 9
	}
	r.AgentCapabilities.LoadSession = a.can("load")
	c := &r.AgentCapabilities.SessionCapabilities
	if a.can("resume") {
		c.Resume = &sdk.SessionResumeCapabilities{}
	}
	if a.can("list") {
		c.List = &sdk.SessionListCapabilities{}
	}
	if a.can("close") {
		c.Close = &sdk.SessionCloseCapabilities{}
	}
	if a.can("login") || a.can("nologin") {
		r.AuthMethods = append(r.AuthMethods, sdk.AuthMethod{Agent: &sdk.AuthMethodAgent{Id: "browser", Name: "Browser"}})
	}
	return r, nil
}

// Authenticate implements [sdk.Agent].
func (a *agent) Authenticate(_ context.Context, p sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	if a.in = a.can("login") && p.MethodId == "browser"; !a.in {
		return sdk.AuthenticateResponse{}, sdk.NewInternalError("no browser")
	}
	return sdk.AuthenticateResponse{}, nil
}

func (a *agent) ready(dir string, servers []sdk.McpServer) error {
	if (a.can("login") || a.can("nologin")) && !a.in {
		return sdk.NewAuthRequired(nil)
	}
	if !filepath.IsAbs(dir) || len(servers) > 0 {
		return sdk.NewInvalidParams("a directory that is not absolute, or servers")
	}
	a.dir = dir
	return nil
}

func (a *agent) choices() []sdk.SessionConfigOption {
	if !a.can("choices") {
		return nil
	}
	one := sdk.SessionConfigSelectOptionsUngrouped{{Value: "m1", Name: "Model One"}, {Value: "m2", Name: "Model Two"}}
	category := sdk.SessionConfigOptionCategoryModel
	return []sdk.SessionConfigOption{{Select: &sdk.SessionConfigOptionSelect{
		Id: "pick", Name: "Model", Category: &category, Type: "select", CurrentValue: "m1", Options: sdk.SessionConfigSelectOptions{Ungrouped: &one},
	}}}
}

// NewSession implements [sdk.Agent].
func (a *agent) NewSession(_ context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if err := a.ready(p.Cwd, p.McpServers); err != nil {
		return sdk.NewSessionResponse{}, err
	}
	n := a.count("conversations") + 1
	a.keep("conversations", n)
	r := sdk.NewSessionResponse{SessionId: sdk.SessionId(fmt.Sprintf("conversation-%d", n)), ConfigOptions: a.choices()}
	if a.can("modes") {
		r.Modes = &sdk.SessionModeState{CurrentModeId: "ask", AvailableModes: []sdk.SessionMode{{Id: "ask", Name: "Ask"}, {Id: "code", Name: "Code"}}}
	}
	return r, nil
}

func (a *agent) has(id sdk.SessionId) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(string(id), "conversation-"))
	return err == nil && n <= a.count("conversations")
}

// LoadSession implements [sdk.AgentLoader].
func (a *agent) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	if err := a.ready(p.Cwd, p.McpServers); err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	if !a.has(p.SessionId) {
		return sdk.LoadSessionResponse{}, sdk.NewInternalError("nothing is kept of " + string(p.SessionId))
	}
	if err := a.update(ctx, p.SessionId, sdk.UpdateAgentMessageText("This was said before.")); err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	return sdk.LoadSessionResponse{ConfigOptions: a.choices()}, nil
}

// ResumeSession implements [sdk.Agent].
func (a *agent) ResumeSession(_ context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	if !a.has(p.SessionId) {
		return sdk.ResumeSessionResponse{}, &sdk.RequestError{Code: -32002, Message: "Resource not found"}
	}
	return sdk.ResumeSessionResponse{}, a.ready(p.Cwd, p.McpServers)
}

// ListSessions implements [sdk.Agent].
func (a *agent) ListSessions(context.Context, sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	r := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	for n := range a.count("conversations") {
		r.Sessions = append(r.Sessions, sdk.SessionInfo{SessionId: sdk.SessionId(fmt.Sprintf("conversation-%d", n+1)), Cwd: a.dir})
	}
	return r, nil
}

// CloseSession implements [sdk.Agent].
func (a *agent) CloseSession(context.Context, sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	a.keep("closed", a.count("closed")+1)
	return sdk.CloseSessionResponse{}, nil
}

// SetSessionConfigOption implements [sdk.Agent].
func (a *agent) SetSessionConfigOption(_ context.Context, p sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	if p.ValueId == nil || p.ValueId.ConfigId != "pick" {
		return sdk.SetSessionConfigOptionResponse{}, sdk.NewInvalidParams("no such choice")
	}
	a.write("model", string(p.ValueId.Value))
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: a.choices()}, nil
}

// SetSessionMode implements [sdk.Agent].
func (a *agent) SetSessionMode(_ context.Context, p sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	a.write("mode", string(p.ModeId))
	return sdk.SetSessionModeResponse{}, nil
}

// Cancel implements [sdk.Agent].
func (a *agent) Cancel(context.Context, sdk.CancelNotification) error {
	a.keep("cancelled", a.count("cancelled")+1)
	a.cancelled <- struct{}{}
	return nil
}

func (a *agent) write(name, text string) {
	if err := os.WriteFile(filepath.Join(a.home, "acp-"+name), []byte(text), 0o600); err != nil {
		panic(err)
	}
}

func (a *agent) keep(name string, n int) { a.write(name, strconv.Itoa(n)) }

func (a *agent) count(name string) int {
	data, err := os.ReadFile(filepath.Join(a.home, "acp-"+name))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(data))
	return n
}

func (a *agent) update(ctx context.Context, id sdk.SessionId, u sdk.SessionUpdate) error {
	return a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: u})
}

// stopped ends a prompt.
type stopped struct {
	reason sdk.StopReason
	err    error
}

func (s stopped) Error() string { return "stopped" }

// Prompt implements [sdk.Agent].
func (a *agent) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	n := a.count("prompts")
	a.keep("prompts", n+1)
	var told strings.Builder
	for _, b := range p.Prompt {
		if b.Text != nil {
			told.WriteString(b.Text.Text)
		}
	}
	for step := range strings.Lines(a.prompts[min(n, len(a.prompts)-1)]) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(step, "\n"), " ")
		if verb == "" {
			continue
		}
		err := a.step(ctx, p.SessionId, told.String(), verb, strings.ReplaceAll(rest, `\n`, "\n"))
		if s, ok := errors.AsType[stopped](err); ok {
			return sdk.PromptResponse{StopReason: s.reason, Usage: a.usage}, s.err
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "scripted agent:", verb, err)
			os.Exit(9)
		}
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: a.usage}, nil
}

func (a *agent) step(ctx context.Context, id sdk.SessionId, told, verb, rest string) error {
	first, second, _ := strings.Cut(rest, " ")
	switch verb {
	case "told":
		if !strings.Contains(told, rest) {
			return fmt.Errorf("was not told %q but %q", rest, told)
		}
	case "say":
		return a.update(ctx, id, sdk.UpdateAgentMessageText(rest))
	case "think":
		return a.update(ctx, id, sdk.UpdateAgentThoughtText(rest))
	case "big":
		n, _ := strconv.Atoi(rest)
		return a.update(ctx, id, sdk.UpdateAgentMessageText(strings.Repeat("x", n)))
	case "plan":
		return a.plan(ctx, id, rest)
	case "usage", "tokens":
		return a.gauge(ctx, id, verb, strings.Fields(rest))
	case "edit", "own", "run", "shell", "deny", "read", "ask":
		return a.act(ctx, id, verb, first, second, rest)
	default:
		return a.end(verb, first, second, rest)
	}
	return nil
}

// end does what ends a prompt, or is no part of the protocol.
func (a *agent) end(verb, first, second, rest string) error {
	n, _ := strconv.Atoi(first)
	switch verb {
	case "odd":
		_, err := os.Stdout.WriteString(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"conversation-1","update":{"sessionUpdate":"notice","text":"hm"}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"conversation-1","update":{"sessionUpdate":"agent_message_chunk","content":7}}}
{"jsonrpc":"2.0","method":"session/update","params":[]}
{"jsonrpc":"2.0","id":"odd","method":"_vendor/thing","params":{}}
{"jsonrpc":"2.0","id":"late","result":{}}
{"jsonrpc":"2.0","method":"$/progress"}

`)
		return err
	case "raw":
		_, err := os.Stdout.WriteString(rest + "\n")
		return err
	case "flood":
		_, err := os.Stdout.WriteString(strings.Repeat("x", n) + "\n")
		return err
	case "half":
		_, err := os.Stdout.WriteString(rest)
		return err
	case "child":
		c := exec.Command("/bin/sh", "-c", rest) //nolint:noctx // it is to outlive everybody
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return c.Start()
	case "fail":
		return stopped{err: &sdk.RequestError{Code: n, Message: second}}
	case "stop":
		return stopped{reason: sdk.StopReason(rest)}
	case "cancellable":
		<-a.cancelled
		return stopped{reason: sdk.StopReasonCancelled}
	case "hang":
		select {}
	case "exit":
		os.Exit(n)
	}
	return fmt.Errorf("no step %s", verb)
}

func (a *agent) plan(ctx context.Context, id sdk.SessionId, rest string) error {
	var all []sdk.PlanEntry
	for i, text := range strings.Split(rest, ", ") {
		e := sdk.PlanEntry{Content: text, Priority: sdk.PlanEntryPriorityMedium, Status: sdk.PlanEntryStatusPending}
		if i == 0 {
			e.Status = sdk.PlanEntryStatusCompleted
		}
		all = append(all, e)
	}
	return a.update(ctx, id, sdk.UpdatePlan(all...))
}

func (a *agent) gauge(ctx context.Context, id sdk.SessionId, verb string, n []string) error {
	one, _ := strconv.Atoi(n[0])
	two, _ := strconv.Atoi(n[1])
	if verb == "tokens" {
		a.usage = &sdk.Usage{InputTokens: one, OutputTokens: two, TotalTokens: one + two}
		return nil
	}
	cost, _ := strconv.ParseFloat(n[2], 64)
	return a.update(ctx, id, sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{
		SessionUpdate: "usage_update", Used: one, Size: two, Cost: &sdk.Cost{Amount: cost, Currency: "USD"},
	}})
}

// act does what changes files, runs commands or asks.
func (a *agent) act(ctx context.Context, id sdk.SessionId, verb, first, second, rest string) error {
	file := first
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.dir, file)
	}
	switch verb {
	case "edit":
		return a.call(ctx, id, sdk.ToolKindEdit, file, nil, func(sdk.ToolCallId) (string, error) {
			_, err := a.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: id, Path: file, Content: second})
			return "written", err
		})
	case "own":
		return a.call(ctx, id, sdk.ToolKindEdit, file, nil, func(c sdk.ToolCallId) (string, error) {
			if err := a.permission(ctx, id, c); err != nil {
				return "", err
			}
			return "written", os.WriteFile(file, []byte(second), 0o600)
		})
	case "run", "shell":
		return a.call(ctx, id, sdk.ToolKindExecute, "", map[string]any{"command": rest}, func(c sdk.ToolCallId) (string, error) {
			if verb == "run" {
				if err := a.permission(ctx, id, c); err != nil {
					return "", err
				}
			}
			return a.terminal(ctx, id, rest)
		})
	case "deny":
		for n, _ := strconv.Atoi(rest); n >= 0; n-- {
			if err := a.act(ctx, id, "own", "/etc/passwd", "x", ""); err != nil {
				return err
			}
			if n == 1 {
				break
			}
			if rest == "0" {
				n++
			}
		}
	case "read":
		r, err := a.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: id, Path: file})
		text := "read: " + r.Content
		if err != nil {
			text = "not read"
		}
		return a.update(ctx, id, sdk.UpdateAgentMessageText(text))
	case "ask":
		r := sdk.NewUnstableCreateElicitationRequestForm(sdk.UnstableElicitationSchema{})
		r.Form.Message = rest
		got, err := a.conn.UnstableCreateElicitation(ctx, r)
		if err != nil || got.Decline == nil {
			return fmt.Errorf("asked, and got %+v, %w", got, err)
		}
	}
	return nil
}

// call tells about a call while it is made.
func (a *agent) call(ctx context.Context, id sdk.SessionId, kind sdk.ToolKind, file string, input any, do func(sdk.ToolCallId) (string, error)) error {
	a.calls++
	c := sdk.ToolCallId(fmt.Sprintf("c%d.%d", a.count("prompts"), a.calls))
	opts := []sdk.ToolCallStartOpt{sdk.WithStartKind(kind), sdk.WithStartStatus(sdk.ToolCallStatusInProgress), sdk.WithStartRawInput(input)}
	if file != "" {
		opts = append(opts, sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: file}}))
	}
	if err := a.update(ctx, id, sdk.StartToolCall(c, "Call", opts...)); err != nil {
		return err
	}
	text, err := do(c)
	status := sdk.ToolCallStatusCompleted
	if err != nil {
		status, text = sdk.ToolCallStatusFailed, err.Error()
	}
	if ctx.Err() != nil {
		return stopped{reason: sdk.StopReasonCancelled}
	}
	return a.update(ctx, id, sdk.UpdateToolCall(c, sdk.WithUpdateStatus(status), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))})))
}

func (a *agent) permission(ctx context.Context, id sdk.SessionId, c sdk.ToolCallId) error {
	r, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: id, ToolCall: sdk.ToolCallUpdate{ToolCallId: c},
		Options: []sdk.PermissionOption{
			{OptionId: "always", Name: "Always", Kind: sdk.PermissionOptionKindAllowAlways},
			{OptionId: "yes", Name: "Yes", Kind: sdk.PermissionOptionKindAllowOnce},
			{OptionId: "no", Name: "No", Kind: sdk.PermissionOptionKindRejectOnce},
		},
	})
	switch {
	case err != nil:
		return err
	case r.Outcome.Selected == nil || r.Outcome.Selected.OptionId != "yes":
		return errors.New("not permitted")
	}
	return nil
}

func (a *agent) terminal(ctx context.Context, id sdk.SessionId, command string) (string, error) {
	t, err := a.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: id, Command: command})
	if err != nil {
		return "", err
	}
	e, err := a.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: id, TerminalId: t.TerminalId})
	if err != nil {
		return "", err
	}
	o, err := a.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: id, TerminalId: t.TerminalId})
	if err != nil {
		return "", err
	}
	if _, err := a.conn.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: id, TerminalId: t.TerminalId}); err != nil {
		return "", err
	}
	exit, err := json.Marshal(e.ExitCode)
	if string(exit) != "0" {
		err = errors.Join(err, fmt.Errorf("%s exit %s", o.Output, exit))
	}
	return o.Output, err
}
