// Package acptest is an agent of the Agent Client Protocol for tests. It uses the agent's side of
// the Go SDK, so an independent implementation of the protocol checks our messages. A test binary
// runs as this agent.
package acptest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// EnvVar is the environment variable with the agent's script. Its first line lists the agent's
// capabilities. The steps for each prompt follow, in order, each prompt after a line "---"; the
// last one is repeated. If the value is @NAME, the script is in that file of the agent's home.
//
// The capabilities are: load, resume, list, close, models, choices, modes, login (required, and
// works), nologin (required, and fails), stuck (opens no conversation), v9 (another version of the
// protocol).
//
//	told TEXT          ends if the prompt does not contain the text
//	say, think TEXT    sends a part of a message
//	plan A, B          sends a plan whose first entry is done
//	edit FILE TEXT     has us write the file
//	own FILE TEXT      asks for permission, and writes the file itself
//	run COMMAND        asks for permission, and has us run it
//	shell COMMAND      has us run it without asking
//	read FILE          has us read the file, and prints its content
//	ask TEXT           asks a person, and expects a refusal
//	form SCHEMA        asks a person for the fields of a JSON Schema, and prints the reply
//	open URL TEXT      asks a person to open a page, and prints the reply
//	deny N             asks N times for refused permissions; 0: forever
//	usage USED SIZE COST, tokens IN OUT
//	odd                sends messages of unknown kinds
//	raw TEXT           writes a line outside of the protocol, half TEXT one without a line feed
//	big N              sends a message of N bytes
//	flood N            writes a line of N bytes outside of the protocol
//	child COMMAND      starts a process that outlives the agent
//	fail CODE TEXT     ends the prompt with an error
//	stop REASON        ends the prompt
//	hang, cancellable  waits forever; waits until the prompt is cancelled
//	exit N
//
// FILE may be absolute. In TEXT, \n is a line feed. The number of a conversation's prompts is
// stored in the agent's home.
const EnvVar = "NEXUS_ACP_TEST"

// RunIfAgentProcess runs as the agent if the environment variable is set, and reports whether it did.
func RunIfAgentProcess() bool {
	play, ok := os.LookupEnv(EnvVar)
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
	a := &scriptedAgent{
		able: parts[0], prompts: parts[1:], home: os.Getenv("HOME"),
		started: make(chan struct{}), cancelled: make(chan struct{}, 1),
	}
	if strings.Contains(play, "\nmute\n") {
		select {}
	}
	a.conn = sdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	close(a.started)
	<-a.conn.Done()
	return true
}

type scriptedAgent struct {
	sdk.Agent // refuses all other methods

	able    string
	prompts []string
	home    string
	conn    *sdk.AgentSideConnection
	in      bool   // it is logged in
	dir     string // working directory
	calls   int
	usage   *sdk.Usage

	started   chan struct{} // closed when conn is set
	cancelled chan struct{}
}

func (a *scriptedAgent) hasCapability(what string) bool {
	return strings.Contains(" "+a.able+" ", " "+what)
}

// Initialize implements [sdk.Agent].
func (a *scriptedAgent) Initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	<-a.started
	able := p.ClientCapabilities
	if p.ProtocolVersion != 1 || !able.Terminal || !able.Fs.ReadTextFile || able.Elicitation == nil {
		return sdk.InitializeResponse{}, sdk.NewInvalidParams("unexpected capabilities")
	}
	r := sdk.InitializeResponse{ProtocolVersion: 1, AuthMethods: []sdk.AuthMethod{}}
	r.AgentInfo = &sdk.Implementation{Name: "scripted", Version: "1.2"}
	if a.hasCapability("v9") {
		r.ProtocolVersion = 9
	}
	r.AgentCapabilities.LoadSession = a.hasCapability("load")
	c := &r.AgentCapabilities.SessionCapabilities
	if a.hasCapability("resume") {
		c.Resume = &sdk.SessionResumeCapabilities{}
	}
	if a.hasCapability("list") {
		c.List = &sdk.SessionListCapabilities{}
	}
	if a.hasCapability("close") {
		c.Close = &sdk.SessionCloseCapabilities{}
	}
	if a.hasCapability("login") || a.hasCapability("nologin") {
		r.AuthMethods = append(r.AuthMethods, sdk.AuthMethod{Agent: &sdk.AuthMethodAgent{Id: "browser", Name: "Browser"}})
	}
	return r, nil
}

// Authenticate implements [sdk.Agent].
func (a *scriptedAgent) Authenticate(_ context.Context, p sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	if a.in = a.hasCapability("login") && p.MethodId == "browser"; !a.in {
		return sdk.AuthenticateResponse{}, sdk.NewInternalError("no browser")
	}
	return sdk.AuthenticateResponse{}, nil
}

func (a *scriptedAgent) checkReady(dir string, servers []sdk.McpServer) error {
	if (a.hasCapability("login") || a.hasCapability("nologin")) && !a.in {
		return sdk.NewAuthRequired(nil)
	}
	if a.hasCapability("stuck") {
		select {}
	}
	if !filepath.IsAbs(dir) || len(servers) > 0 {
		return sdk.NewInvalidParams("a directory that is not absolute, or servers")
	}
	a.dir = dir
	return nil
}

func (a *scriptedAgent) configOptions() []sdk.SessionConfigOption {
	if !a.hasCapability("choices") {
		return nil
	}
	one := sdk.SessionConfigSelectOptionsUngrouped{{Value: "m1", Name: "Model One"}, {Value: "m2", Name: "Model Two"}}
	category := sdk.SessionConfigOptionCategoryModel
	return []sdk.SessionConfigOption{{Select: &sdk.SessionConfigOptionSelect{
		Id: "pick", Name: "Model", Category: &category, Type: "select", CurrentValue: "m1",
		Options: sdk.SessionConfigSelectOptions{Ungrouped: &one},
	}}}
}

// NewSession implements [sdk.Agent].
func (a *scriptedAgent) NewSession(_ context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if err := a.checkReady(p.Cwd, p.McpServers); err != nil {
		return sdk.NewSessionResponse{}, err
	}
	n := a.readCount("conversations") + 1
	a.writeCount("conversations", n)
	r := sdk.NewSessionResponse{SessionId: sdk.SessionId(fmt.Sprintf("conversation-%d", n)), ConfigOptions: a.configOptions()}
	if a.hasCapability("modes") {
		r.Modes = &sdk.SessionModeState{
			CurrentModeId: "ask", AvailableModes: []sdk.SessionMode{{Id: "ask", Name: "Ask"}, {Id: "code", Name: "Code"}},
		}
	}
	return r, nil
}

func (a *scriptedAgent) hasConversation(id sdk.SessionId) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(string(id), "conversation-"))
	return err == nil && n <= a.readCount("conversations")
}

// LoadSession implements [sdk.AgentLoader].
func (a *scriptedAgent) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	if err := a.checkReady(p.Cwd, p.McpServers); err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	if !a.hasConversation(p.SessionId) {
		return sdk.LoadSessionResponse{}, sdk.NewInternalError("nothing is kept of " + string(p.SessionId))
	}
	if err := a.sendUpdate(ctx, p.SessionId, sdk.UpdateAgentMessageText("This was said before.")); err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	return sdk.LoadSessionResponse{ConfigOptions: a.configOptions()}, nil
}

// ResumeSession implements [sdk.Agent].
func (a *scriptedAgent) ResumeSession(_ context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	if !a.hasConversation(p.SessionId) {
		return sdk.ResumeSessionResponse{}, &sdk.RequestError{Code: -32002, Message: "Resource not found"}
	}
	return sdk.ResumeSessionResponse{}, a.checkReady(p.Cwd, p.McpServers)
}

// ListSessions implements [sdk.Agent].
func (a *scriptedAgent) ListSessions(context.Context, sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	r := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	for n := range a.readCount("conversations") {
		r.Sessions = append(r.Sessions, sdk.SessionInfo{SessionId: sdk.SessionId(fmt.Sprintf("conversation-%d", n+1)), Cwd: a.dir})
	}
	return r, nil
}

// CloseSession implements [sdk.Agent].
func (a *scriptedAgent) CloseSession(context.Context, sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	a.writeCount("closed", a.readCount("closed")+1)
	return sdk.CloseSessionResponse{}, nil
}

// SetSessionConfigOption implements [sdk.Agent].
func (a *scriptedAgent) SetSessionConfigOption(
	_ context.Context, p sdk.SetSessionConfigOptionRequest,
) (r sdk.SetSessionConfigOptionResponse, err error) {
	if p.ValueId == nil || p.ValueId.ConfigId != "pick" {
		return r, sdk.NewInvalidParams("no such choice")
	}
	a.writeFile("model", string(p.ValueId.Value))
	r.ConfigOptions = a.configOptions()
	return r, nil
}

// SetSessionMode implements [sdk.Agent].
func (a *scriptedAgent) SetSessionMode(_ context.Context, p sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	a.writeFile("mode", string(p.ModeId))
	return sdk.SetSessionModeResponse{}, nil
}

// Cancel implements [sdk.Agent].
func (a *scriptedAgent) Cancel(context.Context, sdk.CancelNotification) error {
	a.writeCount("cancelled", a.readCount("cancelled")+1)
	a.cancelled <- struct{}{}
	return nil
}

func (a *scriptedAgent) writeFile(name, text string) {
	if err := os.WriteFile(filepath.Join(a.home, "acp-"+name), []byte(text), 0o600); err != nil {
		panic(err)
	}
}

func (a *scriptedAgent) writeCount(name string, n int) { a.writeFile(name, strconv.Itoa(n)) }

func (a *scriptedAgent) readCount(name string) int {
	data, err := os.ReadFile(filepath.Join(a.home, "acp-"+name))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(data))
	return n
}

func (a *scriptedAgent) sendUpdate(ctx context.Context, id sdk.SessionId, u sdk.SessionUpdate) error {
	return a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: u})
}
