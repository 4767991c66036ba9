package acptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

// Client talks to an agent with the client of the SDK, and writes the messages that it receives.
type Client struct {
	sdk.Client // refuses all other methods

	Name    string
	Forms   bool     // the client can show forms
	Answers []string // TITLE=ANSWER: the answer to a request whose title contains TITLE; see answer
	Out     io.Writer
	Close   func() error         // disconnects
	Run     func(command string) // runs the command of an answer or a step
	Raw     io.Writer            // the agent's input, for lines outside of the protocol

	mu      sync.Mutex // guards the output
	lines   []string
	news    chan struct{} // signals new output
	conn    *sdk.ClientSideConnection
	session sdk.SessionId
	options []sdk.SessionConfigOption
	prompts sync.WaitGroup
}

// Connect starts the connection.
func (c *Client) Connect(ctx context.Context, from io.Reader, to io.Writer) error {
	c.Raw, c.news = to, make(chan struct{}, 1)
	c.conn = sdk.NewClientSideConnection(c, to, from)
	c.conn.SetLogger(slog.New(slog.DiscardHandler))
	p := sdk.InitializeRequest{ProtocolVersion: 1, ClientInfo: &sdk.Implementation{Name: c.Name, Version: "1"}}
	if c.Forms {
		p.ClientCapabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.ElicitationFormCapabilities{}}
	}
	r, err := c.conn.Initialize(ctx, p)
	if err == nil && (r.ProtocolVersion != 1 || r.AgentInfo == nil || !r.AgentCapabilities.LoadSession) {
		err = fmt.Errorf("unexpected: %+v", r)
	}
	return err
}

func (c *Client) writeLine(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	_, _ = fmt.Fprintln(c.Out, line)
	c.lines = append(c.lines, line)
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// waitForLine waits until a line with this beginning was written.
func (c *Client) waitForLine(ctx context.Context, start string) error {
	for {
		c.mu.Lock()
		found := slices.ContainsFunc(c.lines, func(line string) bool { return strings.HasPrefix(line, start) })
		if found {
			c.lines = nil
		}
		c.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-c.news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// RunSteps runs the steps one after the other:
//
//	new [DIR], load ID, resume ID  opens a session; @FILE is the content of a file
//	keep FILE     writes the session's ID to the file
//	say TEXT      prompts, and waits; an interrupt of this program cancels
//	begin TEXT    prompts, and does not wait; wait does
//	until TEXT    waits for a line that begins with it, after the last one waited for
//	list [DIR]    lists the sessions
//	mode ID, set OPTION VALUE, close, cancel, login
//	raw LINE      sends a line outside of the protocol; big N sends one of N bytes
//	hangup        disconnects without waiting
//	run COMMAND   has [Client.Run] run it
//
// An error is written, and does not stop the remaining steps.
func (c *Client) RunSteps(ctx context.Context, steps []string) {
	for _, step := range steps {
		verb, rest, _ := strings.Cut(step, " ")
		if name, ok := strings.CutPrefix(rest, "@"); ok {
			data, err := os.ReadFile(name)
			if err != nil {
				c.writeLine("error: %v", err)
				return
			}
			rest = strings.TrimSpace(string(data))
		}
		if err := c.runStep(ctx, verb, rest); err != nil {
			e, ok := errors.AsType[*sdk.RequestError](err)
			if !ok {
				e = &sdk.RequestError{Message: err.Error()}
			}
			c.writeLine("error: %d %s", e.Code, e.Message)
		}
	}
	c.prompts.Wait()
}

func (c *Client) runStep(ctx context.Context, verb, rest string) error {
	switch verb {
	case "new", "load", "resume", "close", "login", "list":
		return c.openSession(ctx, verb, rest)
	case "keep":
		return os.WriteFile(rest, []byte(c.session), 0o600)
	case "say":
		return c.sendPrompt(ctx, rest)
	case "begin":
		c.prompts.Go(func() {
			if err := c.sendPrompt(ctx, rest); err != nil {
				c.writeLine("error: %v", err)
			}
		})
		return nil
	case "wait":
		c.prompts.Wait()
		return nil
	case "until":
		return c.waitForLine(ctx, rest)
	case "cancel":
		return c.conn.Cancel(ctx, sdk.CancelNotification{SessionId: c.session})
	case "raw":
		_, err := io.WriteString(c.Raw, rest+"\n")
		return err
	case "big":
		n := 0
		if _, err := fmt.Sscan(rest, &n); err != nil {
			return err
		}
		_, err := io.WriteString(c.Raw, strings.Repeat("x", n)+"\n")
		return err
	case "hangup":
		return c.Close()
	case "run":
		c.Run(rest)
		return nil
	default:
		return c.setOption(ctx, verb, rest)
	}
}

func (c *Client) openSession(ctx context.Context, verb, rest string) error {
	dir, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	switch verb {
	case "new":
		if rest != "" {
			dir = rest
		}
		r, err := c.conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: dir, McpServers: []sdk.McpServer{}})
		if err != nil {
			return err
		}
		c.session, c.options = r.SessionId, r.ConfigOptions
		c.writeLine("opened: %s, modes %d", c.describeOptions(), len(r.Modes.AvailableModes))
	case "load":
		c.session = sdk.SessionId(rest)
		r, err := c.conn.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: c.session, Cwd: dir, McpServers: []sdk.McpServer{}})
		if c.options = r.ConfigOptions; err == nil {
			c.writeLine("loaded: %s", c.describeOptions())
		}
		return err
	case "resume":
		c.session = sdk.SessionId(rest)
		_, err = c.conn.ResumeSession(ctx, sdk.ResumeSessionRequest{SessionId: c.session, Cwd: dir})
		return err
	case "close":
		_, err = c.conn.CloseSession(ctx, sdk.CloseSessionRequest{SessionId: c.session})
		return err
	case "login":
		_, err = c.conn.Authenticate(ctx, sdk.AuthenticateRequest{MethodId: "nexus"})
		return err
	default:
		p := sdk.ListSessionsRequest{}
		if rest != "" {
			p.Cwd = &rest
		}
		r, err := c.conn.ListSessions(ctx, p)
		for _, one := range r.Sessions {
			c.writeLine("session: %s: %s", one.SessionId, *one.Title)
		}
		return err
	}
	return nil
}

func (c *Client) setOption(ctx context.Context, verb, rest string) error {
	switch verb {
	case "mode":
		_, err := c.conn.SetSessionMode(ctx, sdk.SetSessionModeRequest{SessionId: c.session, ModeId: sdk.SessionModeId(rest)})
		return err
	case "set":
		option, value, _ := strings.Cut(rest, " ")
		r, err := c.conn.SetSessionConfigOption(ctx, sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{
			SessionId: c.session, ConfigId: sdk.SessionConfigId(option), Value: sdk.SessionConfigValueId(value),
		}})
		if c.options = r.ConfigOptions; err == nil {
			c.writeLine("set: %s", c.describeOptions())
		}
		return err
	}
	return fmt.Errorf("no step %s", verb)
}

// describeOptions returns the current settings and their possible values.
func (c *Client) describeOptions() string {
	var all []string
	for _, o := range c.options {
		var values []string
		for _, v := range *o.Select.Options.Ungrouped {
			values = append(values, string(v.Value))
		}
		all = append(all, fmt.Sprintf("%s=%s of %s", o.Select.Id, o.Select.CurrentValue, strings.Join(values, "|")))
	}
	return strings.Join(all, ", ")
}

func (c *Client) sendPrompt(ctx context.Context, text string) error {
	one, end := signal.NotifyContext(ctx, os.Interrupt)
	defer end()
	defer context.AfterFunc(one, func() {
		if ctx.Err() == nil {
			_ = c.conn.Cancel(ctx, sdk.CancelNotification{SessionId: c.session})
		}
	})()
	r, err := c.conn.Prompt(ctx, sdk.PromptRequest{SessionId: c.session, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	if err == nil {
		c.writeLine("stop: %s", r.StopReason)
	}
	return err
}

// chooseAnswer returns the answer to a request of that title: the ID of an option or a text; cancel,
// which gives no answer; decline, which rejects a form; never, which leaves the request open; or
// broken, which is an error. COMMAND && ANSWER runs a command before.
func (c *Client) chooseAnswer(ctx context.Context, title string) (string, error) {
	for _, a := range c.Answers {
		if part, answer, ok := strings.Cut(a, "="); ok && strings.Contains(title, part) {
			switch answer {
			case "never":
				<-ctx.Done()
				return "", ctx.Err()
			case "broken":
				return "", sdk.NewInternalError("it is broken")
			}
			if command, then, ok := strings.Cut(answer, " && "); ok {
				c.Run(command)
				answer = then
			}
			return answer, nil
		}
	}
	return "cancel", nil
}

// RequestPermission implements [sdk.Client].
func (c *Client) RequestPermission(ctx context.Context, p sdk.RequestPermissionRequest) (r sdk.RequestPermissionResponse, err error) {
	var options []string
	for _, o := range p.Options {
		options = append(options, fmt.Sprintf("%s (%s): %s", o.OptionId, o.Kind, o.Name))
	}
	c.writeLine("asked: %s [%s]%s", *p.ToolCall.Title, strings.Join(options, "; "), describeContents(p.ToolCall.Content))
	answer, err := c.chooseAnswer(ctx, *p.ToolCall.Title)
	if err != nil {
		c.writeLine("unanswered: %s", *p.ToolCall.Title)
		return r, err
	}
	if r.Outcome = sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(answer)); answer == "cancel" {
		r.Outcome = sdk.NewRequestPermissionOutcomeCancelled()
	}
	return r, nil
}

// UnstableCreateElicitation answers the questions of a form.
func (c *Client) UnstableCreateElicitation(
	ctx context.Context, p sdk.UnstableCreateElicitationRequest,
) (r sdk.UnstableCreateElicitationResponse, err error) {
	schema, err := json.Marshal(p.Form.RequestedSchema)
	if err != nil {
		return r, err
	}
	c.writeLine("form: %s %s", p.Form.Message, schema)
	answer, err := c.chooseAnswer(ctx, p.Form.Message)
	if err != nil {
		return r, err
	}
	if answer == "cancel" {
		r.Cancel = &sdk.UnstableCreateElicitationCancel{Action: "cancel"}
		return r, nil
	}
	if answer == "decline" {
		r.Decline = &sdk.UnstableCreateElicitationDecline{Action: "decline"}
		return r, nil
	}
	r.Accept = &sdk.UnstableCreateElicitationAccept{Action: "accept", Content: map[string]any{"answer": answer}}
	return r, nil
}

// SessionUpdate implements [sdk.Client].
func (c *Client) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	switch u := n.Update; {
	case u.UserMessageChunk != nil:
		c.writeLine("user: %s", u.UserMessageChunk.Content.Text.Text)
	case u.AgentMessageChunk != nil:
		c.writeLine("agent: %s", u.AgentMessageChunk.Content.Text.Text)
	case u.AgentThoughtChunk != nil:
		c.writeLine("thinks: %s", strings.TrimSpace(u.AgentThoughtChunk.Content.Text.Text))
	case u.Plan != nil:
		var all []string
		for _, e := range u.Plan.Entries {
			all = append(all, fmt.Sprintf("%s (%s, %s)", e.Content, e.Status, e.Priority))
		}
		c.writeLine("plan: %s", strings.Join(all, "; "))
	case u.ToolCall != nil:
		t := u.ToolCall
		c.writeLine("call %s: %s (%s, %s)%s%s", t.ToolCallId, t.Title, t.Kind, t.Status, describeContents(t.Content), describeLocations(t.Locations))
	case u.ToolCallUpdate != nil:
		t := u.ToolCallUpdate
		c.writeLine("call %s: %s (%s)%s%s", t.ToolCallId, *t.Title, *t.Status, describeContents(t.Content), describeLocations(t.Locations))
	case u.UsageUpdate != nil:
		c.writeLine("usage: %d of %d, %s %.4f", u.UsageUpdate.Used, u.UsageUpdate.Size, u.UsageUpdate.Cost.Currency, u.UsageUpdate.Cost.Amount)
	case u.AvailableCommandsUpdate != nil:
		var all []string
		for _, one := range u.AvailableCommandsUpdate.AvailableCommands {
			all = append(all, one.Name)
		}
		c.writeLine("commands: %s", strings.Join(all, " "))
	case u.CurrentModeUpdate != nil:
		c.writeLine("mode: %s", u.CurrentModeUpdate.CurrentModeId)
	case u.ConfigOptionUpdate != nil:
		c.options = u.ConfigOptionUpdate.ConfigOptions
		c.writeLine("options: %s", c.describeOptions())
	case u.SessionInfoUpdate != nil:
		c.writeLine("title: %s", *u.SessionInfoUpdate.Title)
	}
	return nil
}

func describeContents(all []sdk.ToolCallContent) string {
	text := ""
	for _, one := range all {
		switch {
		case one.Diff != nil && one.Diff.OldText == nil:
			text += fmt.Sprintf("\n  new %s: %q", filepath.Base(one.Diff.Path), one.Diff.NewText)
		case one.Diff != nil:
			text += fmt.Sprintf("\n  diff %s: %q -> %q", filepath.Base(one.Diff.Path), *one.Diff.OldText, one.Diff.NewText)
		case one.Content != nil:
			text += "\n  " + strings.ReplaceAll(one.Content.Content.Text.Text, "\n", "\n  ")
		}
	}
	return text
}

func describeLocations(all []sdk.ToolCallLocation) string {
	text := ""
	for _, one := range all {
		if text += "\n  at " + one.Path; one.Line != nil {
			text += fmt.Sprintf(":%d", *one.Line)
		}
	}
	return text
}
