package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

const (
	maxText   = 2 << 20 // bytes kept of a message
	maxResult = 1 << 20 // bytes kept of the result of a call
	maxCalls  = 10_000  // calls that are known at a time
)

// turn is a prompt under way, and what the agent did so far. The goroutine that
// listens owns it.
type turn struct {
	agentcli.Prompt

	agent   *Agent
	replays bool // what arrives was said before

	text   strings.Builder // what it says, as far as it is not told
	saying string          // identifier of that message
	last   string          // what it said last
	plan   string          // what it plans, as it was told last
	calls  map[string]*call
	fresh  []string // calls that are not told
	said   int      // messages that were told
	own    int      // identifiers of ours
	denied int
	refusd string // why the last request was refused, where nothing followed
	inarow int    // requests that were refused, one after the other
	asked  int    // requests for permission
	stop   error  // why it is to stop

	used, size int64 // tokens of its context
	money      nexus.Money
	start      nexus.Money // what the conversation had cost
	counted    bool
	usage      nexus.Usage
}

// call is a call that the agent tells about.
type call struct {
	id, name, kind, title string

	input json.RawMessage
	paths []string
	diff  bool // it changes a file
	text  string
	told  bool
}

func newTurn(a *Agent, q agentcli.Prompt) *turn {
	t := &turn{Prompt: q, agent: a, calls: map[string]*call{}}
	a.link.busy = func() bool {
		return a.link.running() || len(t.calls) > len(t.fresh)
	}
	return t
}

// talk opens the conversation and prompts it.
func (t *turn) talk(ctx context.Context) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	l := t.agent.link
	if t.start = t.Spent; t.counted {
		t.start = t.money // it told with what was said before
	}
	t.counted = false
	id, err := l.request(ctx, "session/prompt", map[string]any{
		"sessionId": t.agent.id, "prompt": []any{map[string]any{"type": "text", "text": t.Text}},
	})
	if err != nil {
		return err
	}
	var done struct {
		Reason string          `json:"stopReason"`
		Usage  json.RawMessage `json:"usage"`
	}
	err = l.await(ctx, id, &done, func(ctx context.Context, m message) error {
		if err := t.handle(ctx, m); err != nil {
			return err
		}
		return t.stop
	})
	if err != nil && l.broken == nil && (ctx.Err() != nil || t.stop != nil) {
		t.cancel(ctx, id, &done)
	}
	t.count(done.Usage)
	switch {
	case t.stop != nil:
		return t.stop
	case err != nil:
		return t.explain(ctx, err)
	default:
		return t.reason(done.Reason)
	}
}

// cancel asks the agent to stop, and waits a moment for it to say that it did.
func (t *turn) cancel(ctx context.Context, id string, done any) {
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), cancelTime, errSilent)
	defer stop()
	l := t.agent.link
	if l.notify(ctx, "session/cancel", map[string]any{"sessionId": t.agent.id}) != nil {
		return
	}
	_ = l.await(ctx, id, done, func(ctx context.Context, m message) error {
		switch {
		case m.Method == "session/request_permission":
			return l.answer(ctx, m.ID, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil)
		case len(m.ID) > 0 && m.Method != "":
			return l.answer(ctx, m.ID, nil, &rpcError{Code: codeCancelled, Message: "the prompt is cancelled"})
		}
		return t.handle(ctx, m)
	})
}

// reason says what a stop reason means, nil where the agent is done.
func (t *turn) reason(reason string) error {
	switch reason {
	case "end_turn":
		if t.refusd != "" {
			return faulty(nexus.FaultUnfinished, "it stopped after this was refused: %s", t.refusd)
		}
		return nil
	case "max_turn_requests":
		return faulty(nexus.FaultTurns, "it reached its own limit of requests")
	case "max_tokens":
		if t.size > 0 && t.used >= t.size/10*9 {
			return faulty(nexus.FaultContext, "its context is full: %d of %d tokens", t.used, t.size)
		}
		return faulty(nexus.FaultUnfinished, "it reached its limit of tokens in the middle of a message")
	case "refusal":
		return faulty(nexus.FaultRefused, "its model refuses to continue")
	case "cancelled":
		if t.refusd != "" {
			return faulty(nexus.FaultUnfinished, "it stopped because this was refused: %s", t.refusd)
		}
		return faulty(nexus.FaultUnfinished, "it cancelled the prompt by itself")
	default:
		return faulty(nexus.FaultUnfinished, "it stopped for a reason that is unknown: %s", stream.Brief(reason))
	}
}

// count takes over how many tokens the agent says that it used.
func (t *turn) count(raw json.RawMessage) {
	var u struct {
		Input   int64 `json:"inputTokens"`
		Output  int64 `json:"outputTokens"`
		Thought int64 `json:"thoughtTokens"`
		Read    int64 `json:"cachedReadTokens"`
		Write   int64 `json:"cachedWriteTokens"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return
	}
	t.usage = nexus.Usage{
		Input: max(u.Input, 0), Output: max(u.Output, 0) + max(u.Thought, 0), CacheRead: max(u.Read, 0), CacheWrite: max(u.Write, 0),
	}
}

// end is how the prompt ended, but for a fault.
func (t *turn) end() stream.End {
	return stream.End{Text: t.last, Usage: t.usage, Money: t.money, Total: true, Sum: true, Denied: t.denied}
}

// handle acts on a message of the agent.
func (t *turn) handle(ctx context.Context, m message) error {
	switch {
	case m.over != nil:
		return t.terminalOver(ctx, m.over)
	case len(m.ID) > 0:
		return t.serve(ctx, m)
	case m.Method == "session/update":
		return t.tell(ctx, t.update(m.Params))
	}
	return nil
}

// tell has events heard, and sees whether the agent did as much as it may.
func (t *turn) tell(ctx context.Context, events []stream.Event) error {
	for _, e := range events {
		if e.Kind == stream.Said {
			t.said++
		}
		if err := t.Heard(ctx, e); err != nil {
			return errors.Join(errHeard, err)
		}
	}
	switch {
	case t.stop != nil:
	case t.Turns > 0 && t.said > t.Turns:
		t.stop = faulty(nexus.FaultTurns, "it did more than %d turns", t.Turns)
	case t.Money > 0 && t.counted && t.cost() > t.Money:
		t.stop = faulty(nexus.FaultBudget, "it cost more than was set aside for it")
	}
	return nil
}

// cost is what the prompt cost so far.
func (t *turn) cost() nexus.Money {
	if t.money < t.start {
		return t.money // it forgot what was before
	}
	return t.money - t.start
}

// content is a block of a message.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

func (c content) String() string {
	switch c.Type {
	case "text":
		return c.Text
	case "resource_link":
		return c.URI
	case "resource":
		return c.Resource.Text
	default:
		return "[" + c.Type + "]"
	}
}

// toolCall is what an agent tells about a call, in parts.
type toolCall struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Kind      string          `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Content   []result        `json:"content"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// result is a part of what came of a call.
type result struct {
	Type     string  `json:"type"`
	Content  content `json:"content"`
	Path     string  `json:"path"`
	Terminal string  `json:"terminalId"`
}

// update reads one session/update. Kinds that are not known are ignored, and so
// are those that cannot be read.
func (t *turn) update(params json.RawMessage) []stream.Event {
	var u struct {
		ID     string          `json:"sessionId"`
		Update json.RawMessage `json:"update"`
	}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if json.Unmarshal(params, &u) != nil || json.Unmarshal(u.Update, &kind) != nil {
		return nil
	}
	switch {
	case t.agent.id != "" && u.ID != t.agent.id: // of another conversation
		return nil
	case kind.Kind == "usage_update":
		t.gauge(u.Update)
		return nil
	case t.replays:
		return nil
	}
	switch kind.Kind {
	case "agent_message_chunk":
		return t.chunk(u.Update)
	case "tool_call", "tool_call_update":
		var c toolCall
		if json.Unmarshal(u.Update, &c) != nil || c.ID == "" {
			return nil
		}
		return t.called(c)
	case "plan":
		return t.planned(u.Update)
	}
	return nil
}

// chunk takes over a part of a message.
func (t *turn) chunk(raw json.RawMessage) []stream.Event {
	var c struct {
		Message string  `json:"messageId"`
		Content content `json:"content"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return nil
	}
	events := t.flush()
	if c.Message != t.saying && t.text.Len() > 0 {
		events = append(events, t.speak()...)
	}
	t.saying = c.Message
	if text := c.Content.String(); t.text.Len()+len(text) <= maxText {
		t.text.WriteString(text)
	}
	if strings.TrimSpace(t.text.String()) != "" {
		t.refusd = ""
	}
	return events
}

// speak returns what it said as a message.
func (t *turn) speak(calls ...stream.Call) []stream.Event {
	text := t.text.String()
	t.text.Reset()
	if strings.TrimSpace(text) != "" {
		t.last = text
	} else if text = ""; len(calls) == 0 {
		return nil
	}
	return []stream.Event{{Kind: stream.Said, Text: text, Calls: calls}}
}

// called takes over what it tells about a call. A call is told when its input is
// known, or when it has begun.
func (t *turn) called(in toolCall) []stream.Event {
	c := t.merge(in)
	if c == nil {
		return nil
	}
	over := in.Status == "completed" || in.Status == "failed"
	var events []stream.Event
	if !c.told && (len(c.input) > 0 || in.Status == "in_progress" || over) {
		events = t.flush()
	}
	if !over {
		return events
	}
	events = append(events, stream.Event{Kind: stream.Answered, ID: c.id, Failed: in.Status == "failed", Text: c.outcome(in.Output)})
	delete(t.calls, c.id)
	return events
}

// merge adds what is new about a call to what is known. It is nil where there are
// too many.
func (t *turn) merge(in toolCall) *call {
	c := t.calls[in.ID]
	if c == nil {
		if len(t.calls) >= maxCalls {
			return nil
		}
		c = &call{id: in.ID}
		t.calls[in.ID] = c
		t.fresh = append(t.fresh, in.ID)
	}
	set := func(to *string, s string) {
		if s != "" {
			*to = s
		}
	}
	set(&c.name, in.Name)
	set(&c.kind, in.Kind)
	set(&c.title, in.Title)
	if len(in.Input) > 2 && in.Input[0] == '{' { // an empty one is followed by the true one
		c.input = in.Input
	}
	for _, l := range in.Locations {
		c.changes(l.Path)
	}
	if len(in.Content) > 0 {
		c.text = ""
	}
	for _, r := range in.Content {
		var text string
		switch r.Type {
		case "diff":
			c.diff = true
			c.changes(r.Path)
			text = "changed " + r.Path
		case "terminal":
			text = t.agent.link.printed(r.Terminal)
		default:
			text = r.Content.String()
		}
		c.text = legible.Cut(strings.TrimPrefix(c.text+"\n"+text, "\n"), maxResult)
	}
	return c
}

func (c *call) changes(path string) {
	if path != "" && !slices.Contains(c.paths, path) {
		c.paths = append(c.paths, path)
	}
}

// outcome is what came of it, as a text.
func (c *call) outcome(raw json.RawMessage) string {
	if c.text != "" || len(raw) == 0 || string(raw) == "null" {
		return c.text
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return legible.Cut(string(raw), maxResult)
}

// flush tells the calls that are not told yet, the first with what was said
// before it.
func (t *turn) flush() []stream.Event {
	var events []stream.Event
	for _, id := range t.fresh {
		c := t.calls[id]
		c.told = true
		events = append(events, t.speak(c.call())...)
	}
	t.fresh = nil
	return events
}

// rest tells what is left when the prompt has ended.
func (t *turn) rest() []stream.Event { return append(t.flush(), t.speak()...) }

// call is the call as an event has it.
func (c *call) call() stream.Call {
	tool := c.name
	if tool == "" {
		tool = c.tool()
	}
	return stream.Call{ID: c.id, Tool: tool, Input: c.described()}
}

// tool names a call after its kind, as Claude Code names its tools.
func (c *call) tool() string {
	switch c.kind {
	case "read":
		return "Read"
	case "edit":
		return "Edit"
	case "delete":
		return "Delete"
	case "move":
		return "Move"
	case "search":
		return "Grep"
	case "execute":
		return "Bash"
	case "fetch":
		return "WebFetch"
	case "think":
		return "Think"
	case "switch_mode":
		return "ExitPlanMode"
	default:
		return "Tool"
	}
}

// described is its input, and where that is not told, what is known instead.
func (c *call) described() json.RawMessage {
	if len(c.input) > 0 {
		return c.input
	}
	about := map[string]string{}
	if c.title != "" {
		about["description"] = legible.Cut(c.title, 2000)
	}
	if len(c.paths) > 0 {
		about["path"] = c.paths[0]
	}
	return made(about)
}

// made encodes plain values, which always can be.
func made(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

// planned tells what the agent plans as a call of the tool that lists of things
// to do are written with elsewhere.
func (t *turn) planned(raw json.RawMessage) []stream.Event {
	var p struct {
		Entries []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"entries"`
	}
	if json.Unmarshal(raw, &p) != nil || len(p.Entries) == 0 {
		return nil
	}
	input := made(map[string]any{"todos": p.Entries})
	if string(input) == t.plan {
		return nil
	}
	t.plan = string(input)
	id := t.name("plan")
	events := append(t.flush(), t.speak(stream.Call{ID: id, Tool: "TodoWrite", Input: input})...)
	return append(events, stream.Event{Kind: stream.Answered, ID: id})
}

// name makes an identifier for what the agent has none for.
func (t *turn) name(what string) string {
	t.own++
	return fmt.Sprintf("%s-%d", what, t.own)
}

// gauge reads how full its context is, and what the conversation cost so far.
func (t *turn) gauge(raw json.RawMessage) {
	var u struct {
		Used int64 `json:"used"`
		Size int64 `json:"size"`
		Cost struct {
			Amount   float64 `json:"amount"`
			Currency string  `json:"currency"`
		} `json:"cost"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return
	}
	t.used, t.size = max(u.Used, 0), max(u.Size, 0)
	if d := u.Cost.Amount; d > 0 && d < 1e6 && strings.EqualFold(u.Cost.Currency, "USD") {
		t.money, t.counted = nexus.Money(math.Round(d*float64(nexus.Dollar))), true
	}
}
