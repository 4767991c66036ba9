package stream

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// copilotDecoder decodes the output of `copilot --output-format json`. It does not name its conversation
// before the end, and counts no tokens.
type copilotDecoder struct {
	jsonLineDecoder

	opened bool
	kind   string // kind of the last reported error
}

type copilotLine struct {
	Type string `json:"type"`
	Data struct {
		Model    string          `json:"model"`
		Content  json.RawMessage `json:"content"`
		Parent   string          `json:"parentToolCallId"` // of a subagent
		Requests []struct {
			ID    string          `json:"toolCallId"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"arguments"`
		} `json:"toolRequests"`
		Call    string `json:"toolCallId"`
		Success bool   `json:"success"`
		Result  struct {
			Content string `json:"content"`
		} `json:"result"`
		Shell struct {
			Exit int `json:"exitCode"`
		} `json:"shellExecution"`
		Error   json.RawMessage `json:"error"`
		Kind    string          `json:"errorType"`
		Message string          `json:"message"`
	} `json:"data"`
	Exit *int `json:"exitCode"`
}

// DecodeLine implements [AgentStreamDecoder].
func (c *copilotDecoder) DecodeLine(line []byte) []AgentEvent {
	var l copilotLine
	if !c.readObject(line, &l) {
		return nil
	}
	var all []AgentEvent
	if d := l.Data; !c.opened && (l.Type == "session.tools_updated" || l.Type == "user.message") {
		c.opened = true
		all = append(all, AgentEvent{Kind: ConversationOpened, Model: d.Model})
	}
	switch d := l.Data; l.Type {
	case "assistant.message":
		if d.Parent != "" {
			return all
		}
		c.failed, c.kind = "", "" // it continued after the error
		e := AgentEvent{Kind: MessageSaid, Text: textOrRaw(d.Content)}
		for _, r := range d.Requests {
			e.Calls = append(e.Calls, AgentToolCall{ID: r.ID, Tool: r.Name, Input: objectOrEmpty(r.Input)})
		}
		if strings.TrimSpace(e.Text) != "" {
			c.last = e.Text
		} else if len(e.Calls) == 0 {
			return all
		}
		return append(all, e)
	case "tool.execution_complete":
		if d.Parent != "" {
			return all
		}
		text := d.Result.Content
		if text == "" {
			text = errorMessage(d.Error)
		}
		return append(all, AgentEvent{Kind: CallAnswered, ID: d.Call, Failed: !d.Success || d.Shell.Exit != 0, Text: text})
	case "session.error":
		c.failed, c.kind = d.Message, d.Kind
	case "result":
		return append(all, c.recordEnd(c.readResult(l.Exit))...)
	}
	return all
}

// readResult reads the result, which also comes after errors.
func (c *copilotDecoder) readResult(exit *int) AgentPromptEnd {
	if c.failed == "" && exit != nil && *exit == 0 {
		return AgentPromptEnd{}
	}
	e := AgentPromptEnd{Why: BriefLine(c.failed)}
	switch c.kind {
	case "authentication", "authorization":
		e.Fault = nexus.FaultLogin
	case "rate_limit", "quota":
		e.Fault = nexus.FaultQuota
	case "context_limit":
		e.Fault = nexus.FaultContext
	default:
		e.Fault = ClassifyFault(c.failed)
	}
	if e.Fault == "" {
		e.Fault = nexus.FaultCrashed
	}
	if e.Why == "" {
		e.Why = "it reports an end without success"
		if exit != nil {
			e.Why = fmt.Sprintf("it reports exit code %d", *exit)
		}
	}
	return e
}

// errorMessage returns the text of an error: a text, or an object with one.
func errorMessage(raw json.RawMessage) string {
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		return e.Message
	}
	return textOrRaw(raw)
}
