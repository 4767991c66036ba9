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

// runningPromptTurn is a running prompt, with the actions of the agent so far. The receiving goroutine owns it.
type runningPromptTurn struct {
	agentcli.AgentPrompt

	agent   *Agent
	replays bool // the agent replays earlier messages

	text   strings.Builder // text of the message that is not reported yet
	saying string          // identifier of that message
	last   string          // text of its last message
	plan   string          // its last reported plan
	calls  map[string]*reportedToolCall
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

func newPromptTurn(a *Agent, q agentcli.AgentPrompt) *runningPromptTurn {
	t := &runningPromptTurn{AgentPrompt: q, agent: a, calls: map[string]*reportedToolCall{}}
	a.connection.busy = func() bool {
		return a.connection.hasRunningTerminal() || len(t.calls) > len(t.fresh)
	}
	return t
}

// openAndSendPrompt opens the conversation and sends the prompt.
func (t *runningPromptTurn) openAndSendPrompt(ctx context.Context) error {
	if err := t.ensureConversation(ctx); err != nil {
		return err
	}
	l := t.agent.connection
	if t.start = t.Spent; t.counted {
		t.start = t.money // reported while earlier messages were replayed
	}
	t.counted = false
	id, err := l.sendRequest(ctx, "session/prompt", map[string]any{
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
	err = l.awaitAnswer(ctx, id, &done, func(ctx context.Context, m rpcMessage) error {
		if err := t.handleMessage(ctx, m); err != nil {
			return err
		}
		return t.stop
	})
	if err != nil && l.broken == nil && (ctx.Err() != nil || t.stop != nil) {
		t.cancelPrompt(ctx, id, &done)
	}
	t.recordReportedTokens(done.Usage)
	t.readGeminiUsage(done.Meta)
	switch {
	case t.stop != nil:
		return t.stop
	case err != nil:
		return t.explainFault(ctx, err)
	default:
		return t.stopReasonFault(done.Reason)
	}
}

// cancelPrompt asks the agent to stop, and waits briefly for its confirmation.
func (t *runningPromptTurn) cancelPrompt(ctx context.Context, id string, done any) {
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), cancelTime, errSilent)
	defer stop()
	l := t.agent.connection
	if l.sendNotification(ctx, "session/cancel", map[string]any{"sessionId": t.agent.id}) != nil {
		return
	}
	_ = l.awaitAnswer(ctx, id, done, func(ctx context.Context, m rpcMessage) error {
		switch {
		case m.Method == "session/request_permission":
			return l.sendAnswer(ctx, m.ID, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil)
		case m.Method == "elicitation/create":
			return l.sendAnswer(ctx, m.ID, elicit.AgentReply{Action: elicit.Cancel}, nil)
		case len(m.ID) > 0 && m.Method != "":
			return l.sendAnswer(ctx, m.ID, nil, &rpcError{Code: codeCancelled, Message: "the prompt is cancelled"})
		}
		return t.handleMessage(ctx, m)
	})
}

// stopReasonFault converts a stop reason to an error; nil if the agent is done.
func (t *runningPromptTurn) stopReasonFault(reason string) error {
	switch reason {
	case "end_turn":
		if t.refusd != "" {
			return newPromptFault(nexus.FaultUnfinished, "it stopped after this was refused: %s", t.refusd)
		}
		return nil
	case "max_turn_requests":
		return newPromptFault(nexus.FaultTurns, "it reached its own limit of requests")
	case "max_tokens":
		if t.size > 0 && t.used >= t.size/10*9 {
			return newPromptFault(nexus.FaultContext, "its context is full: %d of %d tokens", t.used, t.size)
		}
		return newPromptFault(nexus.FaultUnfinished, "it reached its limit of tokens in the middle of a message")
	case "refusal":
		return newPromptFault(nexus.FaultRefused, "its model refuses to continue")
	case "cancelled":
		if t.refusd != "" {
			return newPromptFault(nexus.FaultUnfinished, "it stopped because this was refused: %s", t.refusd)
		}
		return newPromptFault(nexus.FaultUnfinished, "it cancelled the prompt by itself")
	default:
		return newPromptFault(nexus.FaultUnfinished, "it stopped for a reason that is unknown: %s", stream.BriefLine(reason))
	}
}

// recordReportedTokens stores the token counts that the agent reports.
func (t *runningPromptTurn) recordReportedTokens(raw json.RawMessage) {
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

// readGeminiUsage stores the tokens of the prompt by model, which Gemini CLI reports outside of the
// protocol.
func (t *runningPromptTurn) readGeminiUsage(raw json.RawMessage) {
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
	if t.usage.TotalTokens() > 0 || len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return
	}
	for _, one := range m.Quota.Models {
		u := nexus.Usage{Input: max(one.Tokens.Input, 0), Output: max(one.Tokens.Output, 0)}
		if one.Model == "" || u.TotalTokens() == 0 {
			continue
		}
		if t.models == nil {
			t.models = map[string]nexus.Usage{}
		}
		t.models[one.Model] = t.models[one.Model].Add(u)
		t.usage = t.usage.Add(u)
	}
}

// promptEndWithoutFault returns how the prompt ended, without a fault.
func (t *runningPromptTurn) promptEndWithoutFault() stream.AgentPromptEnd {
	return stream.AgentPromptEnd{
		Text: t.last, Usage: t.usage, Models: t.models, Money: t.money, Total: len(t.models) == 0, Sum: true, Denied: t.denied,
	}
}

// handleMessage handles a message of the agent.
func (t *runningPromptTurn) handleMessage(ctx context.Context, m rpcMessage) error {
	switch {
	case m.over != nil:
		return t.finishOwnTerminal(ctx, m.over)
	case len(m.ID) > 0:
		return t.serveRequest(ctx, m)
	case m.Method == "session/update":
		return t.emitEvents(ctx, t.parseSessionUpdate(m.Params))
	}
	return nil
}

// emitEvents passes events to the consumer, and checks the limits of the prompt.
func (t *runningPromptTurn) emitEvents(ctx context.Context, events []stream.AgentEvent) error {
	for _, e := range events {
		if e.Kind == stream.MessageSaid {
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
func (t *runningPromptTurn) stopAtLimits() {
	switch {
	case t.stop != nil:
	case t.Turns > 0 && t.said > t.Turns:
		t.stop = newPromptFault(nexus.FaultTurns, "it did more than %d turns", t.Turns)
	case t.Money > 0 && t.counted && t.promptCost() > t.Money:
		t.stop = newPromptFault(nexus.FaultBudget, "it cost more than was set aside for it")
	}
}

// promptCost returns the cost of the prompt so far.
func (t *runningPromptTurn) promptCost() nexus.Money {
	if t.money < t.start {
		return t.money // the agent no longer counts earlier prompts
	}
	return t.money - t.start
}

// messageContentBlock is a block of a message.
type messageContentBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

func (c messageContentBlock) String() string {
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

// parseSessionUpdate reads one session/update. It ignores unknown kinds and unreadable updates.
func (t *runningPromptTurn) parseSessionUpdate(params json.RawMessage) []stream.AgentEvent {
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
		t.readContextUsage(u.Update)
		return nil
	case t.replays:
		return nil
	}
	switch kind.Kind {
	case "agent_message_chunk":
		return t.addMessageChunk(u.Update)
	case "tool_call", "tool_call_update":
		var c toolCallReport
		if json.Unmarshal(u.Update, &c) != nil || c.ID == "" {
			return nil
		}
		return t.updateCall(c)
	case "plan":
		return t.planEvents(u.Update)
	}
	return nil
}

// addMessageChunk appends a part of a message.
func (t *runningPromptTurn) addMessageChunk(raw json.RawMessage) []stream.AgentEvent {
	var c struct {
		Message string              `json:"messageId"`
		Content messageContentBlock `json:"content"`
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
func (t *runningPromptTurn) flushMessage(calls ...stream.AgentToolCall) []stream.AgentEvent {
	text := t.text.String()
	t.text.Reset()
	if strings.TrimSpace(text) != "" {
		t.last = text
	} else if text = ""; len(calls) == 0 {
		return nil
	}
	return []stream.AgentEvent{{Kind: stream.MessageSaid, Text: text, Calls: calls}}
}

// updateCall merges the agent's report about a call. A call is emitted once its input is known, or
// once it has begun.
func (t *runningPromptTurn) updateCall(in toolCallReport) []stream.AgentEvent {
	c := t.mergeCall(in)
	if c == nil {
		return nil
	}
	over := in.Status == "completed" || in.Status == "failed"
	var events []stream.AgentEvent
	if !c.told && (len(c.input) > 0 || in.Status == "in_progress" || over) {
		events = t.flushCalls()
	}
	if !over {
		return events
	}
	events = append(events, stream.AgentEvent{Kind: stream.CallAnswered, ID: c.id, Failed: in.Status == "failed", Text: c.resultText(in.Output)})
	delete(t.calls, c.id)
	return events
}

// flushCalls emits the pending calls, the first together with the text before it.
func (t *runningPromptTurn) flushCalls() []stream.AgentEvent {
	var events []stream.AgentEvent
	for _, id := range t.fresh {
		c := t.calls[id]
		c.told = true
		events = append(events, t.flushMessage(c.toStreamCall())...)
	}
	t.fresh = nil
	return events
}

// flushAll emits the remaining calls and text when the prompt has ended.
func (t *runningPromptTurn) flushAll() []stream.AgentEvent {
	return append(t.flushCalls(), t.flushMessage()...)
}

// planEvents reports the agent's plan as a call of the tool with which other agents write their
// to-do lists.
func (t *runningPromptTurn) planEvents(raw json.RawMessage) []stream.AgentEvent {
	var p struct {
		Entries []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"entries"`
	}
	if json.Unmarshal(raw, &p) != nil || len(p.Entries) == 0 {
		return nil
	}
	input := encodeJSON(map[string]any{"todos": p.Entries})
	if string(input) == t.plan {
		return nil
	}
	t.plan = string(input)
	id := t.newObjectID("plan")
	events := append(t.flushCalls(), t.flushMessage(stream.AgentToolCall{ID: id, Tool: "TodoWrite", Input: input})...)
	return append(events, stream.AgentEvent{Kind: stream.CallAnswered, ID: id})
}

// newObjectID makes an identifier for an object to which the agent gave none.
func (t *runningPromptTurn) newObjectID(what string) string {
	t.own++
	return fmt.Sprintf("%s-%d", what, t.own)
}

// readContextUsage reads how full the context is, and the cost of the conversation so far.
func (t *runningPromptTurn) readContextUsage(raw json.RawMessage) {
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
