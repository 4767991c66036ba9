package stream

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gemini decodes the output of `gemini -o stream-json`.
type gemini struct {
	common

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
		geminiTokens
		Models map[string]geminiTokens `json:"models"`
	} `json:"stats"`
}

type geminiTokens struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached"`
}

func (t geminiTokens) usage() nexus.Usage {
	return nexus.Usage{Input: positive(t.Input - t.Cached), CacheRead: positive(t.Cached), Output: positive(t.Output)}
}

// Line implements [Decoder].
func (g *gemini) Line(line []byte) []Event {
	var l geminiLine
	if !g.read(line, &l) {
		return nil
	}
	if l.Type == "message" && l.Role == "assistant" {
		g.saying = tail(g.saying+l.Content, maxText)
		return nil
	}
	all := g.flush()
	switch l.Type {
	case "init":
		return append(all, Event{Kind: Opened, ID: l.Session, Model: l.Model})
	case "tool_use":
		return append(all, Event{Kind: Said, Calls: []Call{{ID: l.Call, Tool: l.Tool, Input: object(l.Input)}}})
	case "tool_result":
		text := l.Output
		if text == "" {
			text = l.Error.Message
		}
		return append(all, Event{Kind: Answered, ID: l.Call, Failed: l.Status != "success", Text: text})
	case "error":
		if l.Level == "error" {
			g.failed = l.Message
		}
	case "result":
		e := End{Usage: l.Stats.usage()}
		for name, t := range l.Stats.Models {
			if e.Models == nil {
				e.Models = map[string]nexus.Usage{}
			}
			e.Models[name] = t.usage()
		}
		if l.Status != "success" {
			said := l.Error.Type + " " + l.Error.Message + " " + g.failed
			e.Why = Brief(said)
			if e.Fault = Classify(said); e.Fault == "" {
				e.Fault = nexus.FaultCrashed
			}
		}
		return append(all, g.finish(e)...)
	}
	return all
}

// flush returns the message that was collected from its pieces.
func (g *gemini) flush() []Event {
	if g.saying == "" {
		return nil
	}
	g.last, g.saying = g.saying, ""
	return []Event{{Kind: Said, Text: g.last}}
}
