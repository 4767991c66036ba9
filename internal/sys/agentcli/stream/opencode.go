package stream

import (
	"encoding/json"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// opencodeDecoder decodes the output of `opencode run --format json`. Older versions print no end: the
// last step that stopped by itself counts as the end.
type opencodeDecoder struct {
	jsonLineDecoder

	opened  string
	usage   nexus.Usage
	money   nexus.Money
	denied  int
	stopped bool // the current step was the final one
}

type opencodeLine struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		ID     string `json:"id"`
		Call   string `json:"callID"`
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		Reason string `json:"reason"`
		State  struct {
			Status string          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Output string          `json:"output"`
			Error  string          `json:"error"`
			Meta   struct {
				Exit int `json:"exit"`
			} `json:"metadata"`
		} `json:"state"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
	Rejected []json.RawMessage `json:"rejected"`
}

// DecodeLine implements [AgentStreamDecoder].
func (o *opencodeDecoder) DecodeLine(line []byte) []AgentEvent {
	var l opencodeLine
	if !o.readObject(line, &l) {
		return nil
	}
	var all []AgentEvent
	if l.Session != "" && l.Session != o.opened {
		o.opened = l.Session
		all = append(all, AgentEvent{Kind: ConversationOpened, ID: l.Session})
	}
	switch p := l.Part; l.Type {
	case "text":
		if strings.TrimSpace(p.Text) != "" {
			o.last = p.Text
			all = append(all, AgentEvent{Kind: MessageSaid, Text: p.Text})
		}
	case "tool_use":
		id := p.Call
		if id == "" {
			id = p.ID
		}
		all = append(all, AgentEvent{Kind: MessageSaid, Calls: []AgentToolCall{{ID: id, Tool: p.Tool, Input: objectOrEmpty(p.State.Input)}}},
			AgentEvent{Kind: CallAnswered, ID: id, Failed: p.State.Status == "error" || p.State.Meta.Exit != 0, Text: p.State.Output + p.State.Error})
	case "step_start":
		o.stopped = false
	case "step_finish":
		t := p.Tokens
		o.usage = o.usage.Add(nexus.Usage{
			Input: nonNegative(t.Input), Output: nonNegative(t.Output) + nonNegative(t.Reasoning),
			CacheRead: nonNegative(t.Cache.Read), CacheWrite: nonNegative(t.Cache.Write),
		})
		o.money += dollarsToMoney(p.Cost)
		o.stopped = p.Reason == "stop" || p.Reason == "end_turn"
	case "error":
		o.failed = strings.TrimSpace(l.Error.Name + " " + l.Error.Data.Message)
	case "done":
		o.denied = len(l.Rejected)
		if o.failed == "" {
			all = append(all, o.recordEnd(AgentPromptEnd{Usage: o.usage, Money: o.money, Denied: o.denied})...)
		}
	}
	return all
}

// Cost returns the cost of the prompt so far.
func (o *opencodeDecoder) Cost() nexus.Money { return o.money }

// Close implements [AgentStreamDecoder].
func (o *opencodeDecoder) Close(exit int, stderr string) AgentPromptEnd {
	if o.end == nil && o.stopped && o.failed == "" && exit == 0 {
		return AgentPromptEnd{Text: o.last, Usage: o.usage, Money: o.money, Denied: o.denied}
	}
	e := o.jsonLineDecoder.Close(exit, stderr)
	e.Usage, e.Money = o.usage, o.money
	return e
}
