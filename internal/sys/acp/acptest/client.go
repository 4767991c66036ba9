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

func (c *Client) say(format string, args ...any) {
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

// until waits until a line with this beginning was written.
func (c *Client) until(ctx context.Context, start string) error {
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

// Do runs the steps one after the other:
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
func (c *Client) Do(ctx context.Context, steps []string) {
	for _, step := range steps {
		verb, rest, _ := strings.Cut(step, " ")
		if name, ok := strings.CutPrefix(rest, "@"); ok {
			data, err := os.ReadFile(name)
			if err != nil {
				c.say("error: %v", err)
				return
			}
			rest = strings.TrimSpace(string(data))
		}
		if err := c.step(ctx, verb, rest); err != nil {
			e, ok := errors.AsType[*sdk.RequestError](err)
			if !ok {
				e = &sdk.RequestError{Message: err.Error()}
			}
			c.say("error: %d %s", e.Code, e.Message)
		}
	}
	c.prompts.Wait()
}

func (c *Client) step(ctx context.Context, verb, rest string) error {
	switch verb {
	case "new", "load", "resume", "close", "login", "list":
		return c.open(ctx, verb, rest)
	case "keep":
		return os.WriteFile(rest, []byte(c.session), 0o600)
	case "say":
		return c.prompt(ctx, rest)
	case "begin":
		c.prompts.Go(func() {
			if err := c.prompt(ctx, rest); err != nil {
				c.say("error: %v", err)
			}
		})
		return nil
	case "wait":
		c.prompts.Wait()
		return nil
	case "until":
		return c.until(ctx, rest)
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
		return c.set(ctx, verb, rest)
	}
}

func (c *Client) open(ctx context.Context, verb, rest string) error {
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
		c.say("opened: %s, modes %d", c.chosen(), len(r.Modes.AvailableModes))
	case "load":
		c.session = sdk.SessionId(rest)
		r, err := c.conn.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: c.session, Cwd: dir, McpServers: []sdk.McpServer{}})
		if c.options = r.ConfigOptions; err == nil {
			c.say("loaded: %s", c.chosen())
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
			c.say("session: %s: %s", one.SessionId, *one.Title)
		}
		return err
	}
	return nil
}

func (c *Client) set(ctx context.Context, verb, rest string) error {
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
			c.say("set: %s", c.chosen())
		}
		return err
	}
	return fmt.Errorf("no step %s", verb)
}

// chosen returns the current settings and their possible values.
func (c *Client) chosen() string {
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

func (c *Client) prompt(ctx context.Context, text string) error {
	one, end := signal.NotifyContext(ctx, os.Interrupt)
	defer end()
	defer context.AfterFunc(one, func() {
		if ctx.Err() == nil {
			_ = c.conn.Cancel(ctx, sdk.CancelNotification{SessionId: c.session})
		}
	})()
	r, err := c.conn.Prompt(ctx, sdk.PromptRequest{SessionId: c.session, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	if err == nil {
		c.say("stop: %s", r.StopReason)
	}
	return err
}

// answer returns the answer to a request of that title: the ID of an option or a text; cancel,
// which gives no answer; decline, which rejects a form; never, which leaves the request open; or
// broken, which is an error. COMMAND && ANSWER runs a command before.
func (c *Client) answer(ctx context.Context, title string) (string, error) {
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
	c.say("asked: %s [%s]%s", *p.ToolCall.Title, strings.Join(options, "; "), contents(p.ToolCall.Content))
	answer, err := c.answer(ctx, *p.ToolCall.Title)
	if err != nil {
		c.say("unanswered: %s", *p.ToolCall.Title)
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
	c.say("form: %s %s", p.Form.Message, schema)
	answer, err := c.answer(ctx, p.Form.Message)
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
		c.say("user: %s", u.UserMessageChunk.Content.Text.Text)
	case u.AgentMessageChunk != nil:
		c.say("agent: %s", u.AgentMessageChunk.Content.Text.Text)
	case u.AgentThoughtChunk != nil:
		c.say("thinks: %s", strings.TrimSpace(u.AgentThoughtChunk.Content.Text.Text))
	case u.Plan != nil:
		var all []string
		for _, e := range u.Plan.Entries {
			all = append(all, fmt.Sprintf("%s (%s, %s)", e.Content, e.Status, e.Priority))
		}
		c.say("plan: %s", strings.Join(all, "; "))
	case u.ToolCall != nil:
		t := u.ToolCall
		c.say("call %s: %s (%s, %s)%s%s", t.ToolCallId, t.Title, t.Kind, t.Status, contents(t.Content), places(t.Locations))
	case u.ToolCallUpdate != nil:
		t := u.ToolCallUpdate
		c.say("call %s: %s (%s)%s%s", t.ToolCallId, *t.Title, *t.Status, contents(t.Content), places(t.Locations))
	case u.UsageUpdate != nil:
		c.say("usage: %d of %d, %s %.4f", u.UsageUpdate.Used, u.UsageUpdate.Size, u.UsageUpdate.Cost.Currency, u.UsageUpdate.Cost.Amount)
	case u.AvailableCommandsUpdate != nil:
		var all []string
		for _, one := range u.AvailableCommandsUpdate.AvailableCommands {
			all = append(all, one.Name)
		}
		c.say("commands: %s", strings.Join(all, " "))
	case u.CurrentModeUpdate != nil:
		c.say("mode: %s", u.CurrentModeUpdate.CurrentModeId)
	case u.ConfigOptionUpdate != nil:
		c.options = u.ConfigOptionUpdate.ConfigOptions
		c.say("options: %s", c.chosen())
	case u.SessionInfoUpdate != nil:
		c.say("title: %s", *u.SessionInfoUpdate.Title)
	}
	return nil
}

func contents(all []sdk.ToolCallContent) string {
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

func places(all []sdk.ToolCallLocation) string {
	text := ""
	for _, one := range all {
		if text += "\n  at " + one.Path; one.Line != nil {
			text += fmt.Sprintf(":%d", *one.Line)
		}
	}
	return text
}
