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

	link  *link
	forms bool
}

// Text returns a text block of a message or a tool call. Hidden characters are written out, as in
// all texts that people read.
func Text(text string) map[string]any {
	return map[string]any{"type": "text", "text": sanitize.Show(text)}
}

func (c *Client) update(kind string, rest map[string]any) {
	rest["sessionUpdate"] = kind
	c.link.notify("session/update", map[string]any{"sessionId": c.ID, "update": rest}, true)
}

// Say sends a message to the person, in Markdown.
func (c *Client) Say(text string) {
	c.update("agent_message_chunk", map[string]any{"content": Text(text)})
}

// Think sends a progress message.
func (c *Client) Think(text string) {
	c.update("agent_thought_chunk", map[string]any{"content": Text(text)})
}

// ReplayUserMessage sends an earlier message of the person, in a loaded session.
func (c *Client) ReplayUserMessage(text string) {
	c.update("user_message_chunk", map[string]any{"content": Text(text)})
}

// Entry is an entry of a plan.
type Entry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high, medium or low
	Status   string `json:"status"`   // pending, in_progress or completed
}

// Plan shows a plan, which replaces the earlier one.
func (c *Client) Plan(all []Entry) {
	all = slices.Clone(all)
	for i := range all {
		all[i].Content = sanitize.Show(all[i].Content)
	}
	c.update("plan", map[string]any{"entries": all})
}

// The states of a tool call.
const (
	CallPending = "pending"
	CallWorking = "in_progress"
	CallDone    = "completed"
	CallFailed  = "failed"
)

// Call is a tool call in the form that clients show.
type Call struct {
	ID      string `json:"toolCallId"`
	Title   string `json:"title"`
	Kind    string `json:"kind"` // edit, execute, think, ...
	Status  string `json:"status"`
	Content []any  `json:"content,omitempty"` // of [Block] and [Diff]
	Places  []At   `json:"locations,omitempty"`
}

// At is a location in a file.
type At struct {
	Path string `json:"path"` // absolute
	Line int    `json:"line,omitzero"`
}

// Block returns a text block of a tool call.
func Block(text string) any { return map[string]any{"type": "content", "content": Text(text)} }

// Diff is a change of a file. Old is nil if the file is new.
type Diff struct {
	Type string  `json:"type"` // set by [NewDiff]
	Path string  `json:"path"` // absolute
	Old  *string `json:"oldText,omitempty"`
	New  string  `json:"newText"`
}

// NewDiff returns the change of a file.
func NewDiff(path string, before *string, now string) Diff { return Diff{"diff", path, before, now} }

// Show shows a tool call, or its new state.
func (c *Client) Show(call Call, again bool) {
	all := map[string]any{"toolCallId": call.ID, "title": sanitize.Show(call.Title), "kind": call.Kind, "status": call.Status}
	if len(call.Content) > 0 {
		all["content"] = call.Content
	}
	if len(call.Places) > 0 {
		all["locations"] = call.Places
	}
	if again {
		c.update("tool_call_update", all)
		return
	}
	c.update("tool_call", all)
}

// ShowUsage shows the cost in dollars, and the used and total tokens of a context.
func (c *Client) ShowUsage(used, size int64, dollars float64) {
	c.update("usage_update", map[string]any{
		"used": used, "size": size, "cost": map[string]any{"amount": dollars, "currency": "USD"},
	})
}

// Command is a slash command.
type Command struct {
	Name, About string
	Hint        string // its argument; empty for none
}

// Commands shows the available slash commands.
func (c *Client) Commands(all []Command) {
	list := []any{}
	for _, one := range all {
		m := map[string]any{"name": one.Name, "description": sanitize.Show(one.About)}
		if one.Hint != "" {
			m["input"] = map[string]any{"hint": sanitize.Show(one.Hint)}
		}
		list = append(list, m)
	}
	c.update("available_commands_update", map[string]any{"availableCommands": list})
}

// SetTitle names the session.
func (c *Client) SetTitle(title string) {
	c.update("session_info_update", map[string]any{"title": sanitize.Show(title)})
}

// Answer is an option of a permission request, see [Client.Permit].
type Answer struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once or reject_always
}

// Permit asks a person for permission for a tool call, and returns the ID of the chosen answer, or
// "" if the person chose none. Unknown IDs count as none.
func (c *Client) Permit(ctx context.Context, call Call, answers []Answer) (string, error) {
	var r struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			ID      string `json:"optionId"`
		} `json:"outcome"`
	}
	call.Title = sanitize.Show(call.Title)
	shown := slices.Clone(answers)
	for i := range shown {
		shown[i].Name = sanitize.Show(shown[i].Name)
	}
	params := map[string]any{"sessionId": c.ID, "toolCall": call, "options": shown}
	if err := c.link.ask(ctx, "session/request_permission", params, &r); err != nil {
		return "", err
	}
	known := slices.ContainsFunc(answers, func(a Answer) bool { return a.ID == r.Outcome.ID })
	if r.Outcome.Outcome != "selected" || !known {
		return "", nil
	}
	return r.Outcome.ID, nil
}

// SupportsForms reports whether the client can show the forms of [Client.Elicit].
func (c *Client) SupportsForms() bool { return c.forms }

// Elicit asks a person for a text, or for one of the choices if there are any. It returns "" if
// the person gives no answer.
func (c *Client) Elicit(ctx context.Context, question string, choices []string) (string, error) {
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
	err := c.link.ask(ctx, "elicitation/create", map[string]any{
		"sessionId": c.ID, "mode": "form", "message": sanitize.Show(question),
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"answer": field}, "required": []string{"answer"}},
	}, &r)
	text := r.Content.Answer
	if err != nil || r.Action != "accept" || len(choices) > 0 && !slices.Contains(choices, text) {
		return "", err
	}
	return text, nil
}
