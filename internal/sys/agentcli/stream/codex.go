package stream

import (
	"encoding/json"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// codexDecoder decodes the output of `codex exec --json`.
type codexDecoder struct {
	jsonLineDecoder

	open map[string]bool // items that were started
}

type codexLine struct {
	Type   string `json:"type"`
	Thread string `json:"thread_id"`
	Item   struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Text    string `json:"text"`
		Command string `json:"command"`
		Output  string `json:"aggregated_output"`
		Exit    *int   `json:"exit_code"`
		Status  string `json:"status"`
		Changes []struct {
			Path string `json:"path"`
			Kind string `json:"kind"`
		} `json:"changes"`
		Server  string          `json:"server"`
		Tool    string          `json:"tool"`
		Args    json.RawMessage `json:"arguments"`
		Query   string          `json:"query"`
		Message string          `json:"message"`
	} `json:"item"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached_input_tokens"`
		Write  int64 `json:"cache_write_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Message string `json:"message"`
}

// DecodeLine implements [AgentStreamDecoder].
func (c *codexDecoder) DecodeLine(line []byte) []AgentEvent {
	var l codexLine
	if !c.readObject(line, &l) {
		return nil
	}
	switch l.Type {
	case "thread.started":
		return []AgentEvent{{Kind: ConversationOpened, ID: l.Thread}}
	case "item.started", "item.completed":
		return c.itemEvents(l)
	case "error": // only a notice: it may reconnect
		c.failed = l.Message
	case "turn.completed":
		u := l.Usage
		return c.recordEnd(AgentPromptEnd{Total: true, Usage: nexus.Usage{
			Input: nonNegative(u.Input - u.Cached - u.Write), CacheRead: nonNegative(u.Cached), CacheWrite: nonNegative(u.Write), Output: nonNegative(u.Output),
		}})
	case "turn.failed":
		e := AgentPromptEnd{Why: BriefLine(l.Error.Message)}
		if e.Fault = ClassifyFault(l.Error.Message); e.Fault == "" {
			e.Fault = nexus.FaultCrashed
		}
		return c.recordEnd(e)
	}
	return nil
}

// itemEvents reads an item, which is an action of the agent. An item that is completed without having
// been started counts as both.
func (c *codexDecoder) itemEvents(l codexLine) []AgentEvent {
	call := AgentToolCall{ID: l.Item.ID}
	switch l.Item.Type {
	case "agent_message":
		if l.Type != "item.completed" || strings.TrimSpace(l.Item.Text) == "" {
			return nil
		}
		c.last = l.Item.Text
		return []AgentEvent{{Kind: MessageSaid, Text: l.Item.Text}}
	case "command_execution":
		call.Tool, call.Input = "shell", encodeInput(map[string]string{"command": l.Item.Command})
	case "file_change":
		paths := make([]string, len(l.Item.Changes))
		for i, ch := range l.Item.Changes {
			paths[i] = ch.Path
		}
		call.Tool, call.Input = "edit", encodeInput(map[string]string{"path": strings.Join(paths, " ")})
	case "mcp_tool_call":
		call.Tool, call.Input = l.Item.Server+"/"+l.Item.Tool, objectOrEmpty(l.Item.Args)
	case "web_search":
		call.Tool, call.Input = "web_search", encodeInput(map[string]string{"query": l.Item.Query})
	case "error":
		c.failed = l.Item.Message
		return nil
	default:
		return nil
	}
	if c.open == nil {
		c.open = map[string]bool{}
	}
	var all []AgentEvent
	if !c.open[call.ID] {
		c.open[call.ID] = true
		all = append(all, AgentEvent{Kind: MessageSaid, Calls: []AgentToolCall{call}})
	}
	if l.Type == "item.completed" {
		failed := l.Item.Status == "failed" || l.Item.Status == "declined" || l.Item.Exit != nil && *l.Item.Exit != 0
		all = append(all, AgentEvent{Kind: CallAnswered, ID: call.ID, Failed: failed, Text: l.Item.Output})
	}
	return all
}
