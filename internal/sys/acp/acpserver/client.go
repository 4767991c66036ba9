package acpserver

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Client is the client of one session. Any goroutine may use it.
type Client struct {
	ID   string // of the session
	Name string // the client's name, sanitized; never empty

	link  *clientConnection
	forms bool
}

// TextBlock returns a text block of a message or a tool call. Hidden characters are written out, as in
// all texts that people read.
func TextBlock(text string) map[string]any {
	return map[string]any{"type": "text", "text": sanitize.RevealHidden(text)}
}

func (c *Client) sendUpdate(kind string, rest map[string]any) {
	rest["sessionUpdate"] = kind
	c.link.sendNotification("session/update", map[string]any{"sessionId": c.ID, "update": rest}, true)
}

// SendMessage sends a message to the person, in Markdown.
func (c *Client) SendMessage(text string) {
	c.sendUpdate("agent_message_chunk", map[string]any{"content": TextBlock(text)})
}

// SendThought sends a progress message.
func (c *Client) SendThought(text string) {
	c.sendUpdate("agent_thought_chunk", map[string]any{"content": TextBlock(text)})
}

// ReplayUserMessage sends an earlier message of the person, in a loaded session.
func (c *Client) ReplayUserMessage(text string) {
	c.sendUpdate("user_message_chunk", map[string]any{"content": TextBlock(text)})
}

// AgentPlanEntry is an entry of a plan.
type AgentPlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high, medium or low
	Status   string `json:"status"`   // pending, in_progress or completed
}

// SendPlan shows a plan, which replaces the earlier one.
func (c *Client) SendPlan(all []AgentPlanEntry) {
	all = slices.Clone(all)
	for i := range all {
		all[i].Content = sanitize.RevealHidden(all[i].Content)
	}
	c.sendUpdate("plan", map[string]any{"entries": all})
}

// The states of a tool call.
const (
	CallPending = "pending"
	CallWorking = "in_progress"
	CallDone    = "completed"
	CallFailed  = "failed"
)

// ToolCallView is a tool call in the form that clients show.
type ToolCallView struct {
	ID      string         `json:"toolCallId"`
	Title   string         `json:"title"`
	Kind    string         `json:"kind"` // edit, execute, think, ...
	Status  string         `json:"status"`
	Content []any          `json:"content,omitempty"` // of [ContentBlock] and [FileDiff]
	Places  []FileLocation `json:"locations,omitempty"`
}

// FileLocation is a location in a file.
type FileLocation struct {
	Path string `json:"path"` // absolute
	Line int    `json:"line,omitzero"`
}

// ContentBlock returns a text block of a tool call.
func ContentBlock(text string) any {
	return map[string]any{"type": "content", "content": TextBlock(text)}
}

// FileDiff is a change of a file. Old is nil if the file is new.
type FileDiff struct {
	Type string  `json:"type"` // set by [NewFileDiff]
	Path string  `json:"path"` // absolute
	Old  *string `json:"oldText,omitempty"`
	New  string  `json:"newText"`
}

// NewFileDiff returns the change of a file.
func NewFileDiff(path string, before *string, now string) FileDiff {
	return FileDiff{"diff", path, before, now}
}

// SendToolCallState shows a tool call, or its new state.
func (c *Client) SendToolCallState(call ToolCallView, again bool) {
	all := map[string]any{"toolCallId": call.ID, "title": sanitize.RevealHidden(call.Title), "kind": call.Kind, "status": call.Status}
	if len(call.Content) > 0 {
		all["content"] = call.Content
	}
	if len(call.Places) > 0 {
		all["locations"] = call.Places
	}
	if again {
		c.sendUpdate("tool_call_update", all)
		return
	}
	c.sendUpdate("tool_call", all)
}

// ShowUsage shows the cost in dollars, and the used and total tokens of a context.
func (c *Client) ShowUsage(used, size int64, dollars float64) {
	c.sendUpdate("usage_update", map[string]any{
		"used": used, "size": size, "cost": map[string]any{"amount": dollars, "currency": "USD"},
	})
}

// SlashCommand is a slash command.
type SlashCommand struct {
	Name, About string
	Hint        string // its argument; empty for none
}

// SendCommands shows the available slash commands.
func (c *Client) SendCommands(all []SlashCommand) {
	list := []any{}
	for _, one := range all {
		m := map[string]any{"name": one.Name, "description": sanitize.RevealHidden(one.About)}
		if one.Hint != "" {
			m["input"] = map[string]any{"hint": sanitize.RevealHidden(one.Hint)}
		}
		list = append(list, m)
	}
	c.sendUpdate("available_commands_update", map[string]any{"availableCommands": list})
}

// SetTitle names the session.
func (c *Client) SetTitle(title string) {
	c.sendUpdate("session_info_update", map[string]any{"title": sanitize.RevealHidden(title)})
}

// PermissionOption is an option of a permission request, see [Client.AskPermission].
type PermissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once or reject_always
}

// AskPermission asks a person for permission for a tool call, and returns the ID of the chosen answer, or
// "" if the person chose none. Unknown IDs count as none.
func (c *Client) AskPermission(ctx context.Context, call ToolCallView, answers []PermissionOption) (string, error) {
	var r struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			ID      string `json:"optionId"`
		} `json:"outcome"`
	}
	call.Title = sanitize.RevealHidden(call.Title)
	shown := slices.Clone(answers)
	for i := range shown {
		shown[i].Name = sanitize.RevealHidden(shown[i].Name)
	}
	params := map[string]any{"sessionId": c.ID, "toolCall": call, "options": shown}
	if err := c.link.callClient(ctx, "session/request_permission", params, &r); err != nil {
		return "", err
	}
	known := slices.ContainsFunc(answers, func(a PermissionOption) bool { return a.ID == r.Outcome.ID })
	if r.Outcome.Outcome != "selected" || !known {
		return "", nil
	}
	return r.Outcome.ID, nil
}

// SupportsForms reports whether the client can show the forms of [Client.AskText].
func (c *Client) SupportsForms() bool { return c.forms }

// AskText asks a person for a text, or for one of the choices if there are any. It returns "" if
// the person gives no answer.
func (c *Client) AskText(ctx context.Context, question string, choices []string) (string, error) {
	field := map[string]any{"type": "string", "title": "Answer"}
	if len(choices) > 0 {
		field["enum"] = choices
	}
	var r struct {
		Action  string `json:"action"`
		Content struct {
			Answer string `json:"answer"`
		} `json:"content"`
	}
	err := c.link.callClient(ctx, "elicitation/create", map[string]any{
		"sessionId": c.ID, "mode": "form", "message": sanitize.RevealHidden(question),
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"answer": field}, "required": []string{"answer"}},
	}, &r)
	text := r.Content.Answer
	if err != nil || r.Action != "accept" || len(choices) > 0 && !slices.Contains(choices, text) {
		return "", err
	}
	return text, nil
}
