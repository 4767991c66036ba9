package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/elicit"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

const maxText = 2 << 20 // bytes stored of a message

// turn is a running prompt, with the actions of the agent so far. The receiving goroutine owns it.
type turn struct {
	agentcli.Prompt

	agent   *Agent
	replays bool // the agent replays earlier messages

	text   strings.Builder // text of the message that is not reported yet
	saying string          // identifier of that message
	last   string          // text of its last message
	plan   string          // its last reported plan
	calls  map[string]*call
	fresh  []string // calls that are not reported yet
	said   int      // reported messages
	own    int      // identifiers that we made
	denied int
	refusd string // reason of the last refusal, if nothing followed
	inarow int    // consecutive refused requests
	asked  int    // permission requests
	people int    // questions to people
	stop   error  // why it has to stop

	used, size int64 // tokens of its context
	money      nexus.Money
	start      nexus.Money // cost of the conversation before the prompt
	counted    bool
	usage      nexus.Usage
	models     map[string]nexus.Usage // usage of this prompt by model, if the agent reports it
}

func newTurn(a *Agent, q agentcli.Prompt) *turn {
	t := &turn{Prompt: q, agent: a, calls: map[string]*call{}}
	a.link.busy = func() bool {
		return a.link.running() || len(t.calls) > len(t.fresh)
	}
	return t
}

// talk opens the conversation and sends the prompt.
func (t *turn) talk(ctx context.Context) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	l := t.agent.link
	if t.start = t.Spent; t.counted {
		t.start = t.money // reported while earlier messages were replayed
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
		Meta   json.RawMessage `json:"_meta"`
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
	t.countModels(done.Meta)
	switch {
	case t.stop != nil:
		return t.stop
	case err != nil:
		return t.explain(ctx, err)
	default:
		return t.reason(done.Reason)
	}
}

// cancel asks the agent to stop, and waits briefly for its confirmation.
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
		case m.Method == "elicitation/create":
			return l.answer(ctx, m.ID, elicit.Reply{Action: elicit.Cancel}, nil)
		case len(m.ID) > 0 && m.Method != "":
			return l.answer(ctx, m.ID, nil, &rpcError{Code: codeCancelled, Message: "the prompt is cancelled"})
		}
		return t.handle(ctx, m)
	})
}

// reason converts a stop reason to an error; nil if the agent is done.
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

// count stores the token counts that the agent reports.
func (t *turn) count(raw json.RawMessage) {
	var u struct {
		Input   int64 `json:"inputTokens"`
		Output  int64 `json:"outputTokens"`
		Thought int64 `json:"thoughtTokens"`
		Read    int64 `json:"cachedReadTokens"`
		Write   int64 `json:"cachedWriteTokens"`
		Total   int64 `json:"totalTokens"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return
	}
	if cached := max(u.Read, 0) + max(u.Write, 0); u.Input == cached || u.Input > cached && u.Total == u.Input+u.Output+u.Thought {
		u.Input -= cached // some agents include cached tokens in the input
	}
	t.usage = nexus.Usage{
		Input: max(u.Input, 0), Output: max(u.Output, 0) + max(u.Thought, 0), CacheRead: max(u.Read, 0), CacheWrite: max(u.Write, 0),
	}
}

// countModels stores the tokens of the prompt by model, which Gemini CLI reports outside of the
// protocol.
func (t *turn) countModels(raw json.RawMessage) {
	var m struct {
		Quota struct {
			Models []struct {
				Model  string `json:"model"`
				Tokens struct {
					Input  int64 `json:"input_tokens"`
					Output int64 `json:"output_tokens"`
				} `json:"token_count"`
			} `json:"model_usage"`
		} `json:"quota"`
	}
	if t.usage.Total() > 0 || len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return
	}
	for _, one := range m.Quota.Models {
		u := nexus.Usage{Input: max(one.Tokens.Input, 0), Output: max(one.Tokens.Output, 0)}
		if one.Model == "" || u.Total() == 0 {
			continue
		}
		if t.models == nil {
			t.models = map[string]nexus.Usage{}
		}
		t.models[one.Model] = t.models[one.Model].Add(u)
		t.usage = t.usage.Add(u)
	}
}

// end returns how the prompt ended, without a fault.
func (t *turn) end() stream.End {
	return stream.End{
		Text: t.last, Usage: t.usage, Models: t.models, Money: t.money, Total: len(t.models) == 0, Sum: true, Denied: t.denied,
	}
}

// handle handles a message of the agent.
func (t *turn) handle(ctx context.Context, m message) error {
	switch {
	case m.over != nil:
		return t.terminalOver(ctx, m.over)
	case len(m.ID) > 0:
		return t.serve(ctx, m)
	case m.Method == "session/update":
		return t.emitEvents(ctx, t.update(m.Params))
	}
	return nil
}

// emitEvents passes events to the consumer, and checks the limits of the prompt.
func (t *turn) emitEvents(ctx context.Context, events []stream.Event) error {
	for _, e := range events {
		if e.Kind == stream.Said {
			t.said++
		}
		if err := t.Heard(ctx, e); err != nil {
			return errors.Join(errNotRecorded, err)
		}
	}
	t.stopAtLimits()
	return nil
}

// stopAtLimits stops the agent if it has reached a limit.
func (t *turn) stopAtLimits() {
	switch {
	case t.stop != nil:
	case t.Turns > 0 && t.said > t.Turns:
		t.stop = faulty(nexus.FaultTurns, "it did more than %d turns", t.Turns)
	case t.Money > 0 && t.counted && t.cost() > t.Money:
		t.stop = faulty(nexus.FaultBudget, "it cost more than was set aside for it")
	}
}

// cost returns the cost of the prompt so far.
func (t *turn) cost() nexus.Money {
	if t.money < t.start {
		return t.money // the agent no longer counts earlier prompts
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

// update reads one session/update. It ignores unknown kinds and unreadable updates.
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
	case t.agent.id != "" && u.ID != t.agent.id: // it belongs to another conversation
		return nil
	case kind.Kind == "usage_update":
		t.readUsage(u.Update)
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
		return t.updateCall(c)
	case "plan":
		return t.planEvents(u.Update)
	}
	return nil
}

// chunk appends a part of a message.
func (t *turn) chunk(raw json.RawMessage) []stream.Event {
	var c struct {
		Message string  `json:"messageId"`
		Content content `json:"content"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return nil
	}
	events := t.flushCalls()
	if c.Message != t.saying && t.text.Len() > 0 {
		events = append(events, t.flushMessage()...)
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

// flushMessage returns the buffered text as a message.
func (t *turn) flushMessage(calls ...stream.Call) []stream.Event {
	text := t.text.String()
	t.text.Reset()
	if strings.TrimSpace(text) != "" {
		t.last = text
	} else if text = ""; len(calls) == 0 {
		return nil
	}
	return []stream.Event{{Kind: stream.Said, Text: text, Calls: calls}}
}

// updateCall merges the agent's report about a call. A call is emitted once its input is known, or
// once it has begun.
func (t *turn) updateCall(in toolCall) []stream.Event {
	c := t.merge(in)
	if c == nil {
		return nil
	}
	over := in.Status == "completed" || in.Status == "failed"
	var events []stream.Event
	if !c.told && (len(c.input) > 0 || in.Status == "in_progress" || over) {
		events = t.flushCalls()
	}
	if !over {
		return events
	}
	events = append(events, stream.Event{Kind: stream.Answered, ID: c.id, Failed: in.Status == "failed", Text: c.outcome(in.Output)})
	delete(t.calls, c.id)
	return events
}

// flushCalls emits the pending calls, the first together with the text before it.
func (t *turn) flushCalls() []stream.Event {
	var events []stream.Event
	for _, id := range t.fresh {
		c := t.calls[id]
		c.told = true
		events = append(events, t.flushMessage(c.call())...)
	}
	t.fresh = nil
	return events
}

// flushAll emits the remaining calls and text when the prompt has ended.
func (t *turn) flushAll() []stream.Event { return append(t.flushCalls(), t.flushMessage()...) }

// planEvents reports the agent's plan as a call of the tool with which other agents write their
// to-do lists.
func (t *turn) planEvents(raw json.RawMessage) []stream.Event {
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
	events := append(t.flushCalls(), t.flushMessage(stream.Call{ID: id, Tool: "TodoWrite", Input: input})...)
	return append(events, stream.Event{Kind: stream.Answered, ID: id})
}

// name makes an identifier for an object to which the agent gave none.
func (t *turn) name(what string) string {
	t.own++
	return fmt.Sprintf("%s-%d", what, t.own)
}

// readUsage reads how full the context is, and the cost of the conversation so far.
func (t *turn) readUsage(raw json.RawMessage) {
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
