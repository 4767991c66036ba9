package stream

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// geminiDecoder decodes the output of `gemini -o stream-json`.
type geminiDecoder struct {
	jsonLineDecoder

	saying string // pieces of the current message
}

type geminiLine struct {
	Type    string          `json:"type"`
	Session string          `json:"session_id"`
	Model   string          `json:"model"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Tool    string          `json:"tool_name"`
	Call    string          `json:"tool_id"`
	Input   json.RawMessage `json:"parameters"`
	Status  string          `json:"status"`
	Output  string          `json:"output"`
	Level   string          `json:"severity"`
	Message string          `json:"message"`
	Error   struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		geminiTokenCounts
		Models map[string]geminiTokenCounts `json:"models"`
	} `json:"stats"`
}

type geminiTokenCounts struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached"`
}

func (t geminiTokenCounts) toUsage() nexus.Usage {
	return nexus.Usage{Input: nonNegative(t.Input - t.Cached), CacheRead: nonNegative(t.Cached), Output: nonNegative(t.Output)}
}

// DecodeLine implements [AgentStreamDecoder].
func (g *geminiDecoder) DecodeLine(line []byte) []AgentEvent {
	var l geminiLine
	if !g.readObject(line, &l) {
		return nil
	}
	if l.Type == "message" && l.Role == "assistant" {
		g.saying = lastBytes(g.saying+l.Content, maxText)
		return nil
	}
	all := g.flushMessage()
	switch l.Type {
	case "init":
		return append(all, AgentEvent{Kind: ConversationOpened, ID: l.Session, Model: l.Model})
	case "tool_use":
		return append(all, AgentEvent{Kind: MessageSaid, Calls: []AgentToolCall{{ID: l.Call, Tool: l.Tool, Input: objectOrEmpty(l.Input)}}})
	case "tool_result":
		text := l.Output
		if text == "" {
			text = l.Error.Message
		}
		return append(all, AgentEvent{Kind: CallAnswered, ID: l.Call, Failed: l.Status != "success", Text: text})
	case "error":
		if l.Level == "error" {
			g.failed = l.Message
		}
	case "result":
		e := AgentPromptEnd{Usage: l.Stats.toUsage()}
		for name, t := range l.Stats.Models {
			if e.Models == nil {
				e.Models = map[string]nexus.Usage{}
			}
			e.Models[name] = t.toUsage()
		}
		if l.Status != "success" {
			said := l.Error.Type + " " + l.Error.Message + " " + g.failed
			e.Why = BriefLine(said)
			if e.Fault = ClassifyFault(said); e.Fault == "" {
				e.Fault = nexus.FaultCrashed
			}
		}
		return append(all, g.recordEnd(e)...)
	}
	return all
}

// flushMessage returns the message that was collected from its pieces.
func (g *geminiDecoder) flushMessage() []AgentEvent {
	if g.saying == "" {
		return nil
	}
	g.last, g.saying = g.saying, ""
	return []AgentEvent{{Kind: MessageSaid, Text: g.last}}
}
