package stream

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// claudeDecoder decodes the output of `claude -p --output-format stream-json --verbose`, and of `amp
// --stream-json`, which has no money but the tokens of each message.
type claudeDecoder struct {
	jsonLineDecoder

	amp    bool
	spent  map[string]claudeUsage // by message, which is reported for each of its blocks
	opened string
	refuse string // error of a synthetic message
	until  time.Time
}

type claudeLine struct {
	Type    string          `json:"type"`
	Subtype string          `json:"subtype"`
	Session string          `json:"session_id"`
	Model   string          `json:"model"`
	Version string          `json:"claude_code_version"`
	Parent  *string         `json:"parent_tool_use_id"`
	Error   json.RawMessage `json:"error"`
	Message struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
		Usage   claudeUsage     `json:"usage"`
	} `json:"message"`
	Asked   string `json:"request_id"`
	Request struct {
		Subtype string          `json:"subtype"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"input"`
		Use     string          `json:"tool_use_id"`
	} `json:"request"`
	Limit claudeLimitWindow `json:"rate_limit_info"`
	claudeResultLine
}

type claudeResultLine struct {
	Failed   bool              `json:"is_error"`
	Result   json.RawMessage   `json:"result"`
	Errors   []json.RawMessage `json:"errors"`
	Dollars  float64           `json:"total_cost_usd"`
	Reason   string            `json:"terminal_reason"`
	Denials  []json.RawMessage `json:"permission_denials"`
	Main     claudeUsage       `json:"usage"`
	PerModel map[string]struct {
		Input      int64 `json:"inputTokens"`
		Output     int64 `json:"outputTokens"`
		CacheRead  int64 `json:"cacheReadInputTokens"`
		CacheWrite int64 `json:"cacheCreationInputTokens"`
	} `json:"modelUsage"`
}

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

func (t claudeUsage) toUsage() nexus.Usage {
	return nexus.Usage{
		Input: nonNegative(t.Input), Output: nonNegative(t.Output), CacheRead: nonNegative(t.CacheRead), CacheWrite: nonNegative(t.CacheWrite),
	}
}

type claudeContentBlock struct {
	Type   string          `json:"type"`
	Text   string          `json:"text"`
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Use    string          `json:"tool_use_id"`
	Failed bool            `json:"is_error"`
	Output json.RawMessage `json:"content"`
}

// DecodeLine implements [AgentStreamDecoder].
func (c *claudeDecoder) DecodeLine(line []byte) []AgentEvent {
	var l claudeLine
	if !c.readObject(line, &l) {
		return nil
	}
	switch l.Type {
	case "system":
		if l.Subtype != "init" || l.Session == c.opened { // it is repeated for each prompt
			return nil
		}
		c.opened = l.Session
		return []AgentEvent{{Kind: ConversationOpened, ID: l.Session, Model: l.Model, Version: l.Version}}
	case "assistant":
		c.storeErrorAndAmpUsage(l)
		if l.Parent != nil && *l.Parent != "" {
			return nil // of a subagent; its events are for the agent itself
		}
		return c.messageEvents(parseBlocks(l.Message.Content))
	case "user":
		if l.Parent != nil && *l.Parent != "" {
			return nil
		}
		var all []AgentEvent
		for _, b := range parseBlocks(l.Message.Content) {
			if b.Type == "tool_result" {
				all = append(all, AgentEvent{Kind: CallAnswered, ID: b.Use, Failed: b.Failed, Text: blockText(b.Output)})
			}
		}
		return all
	case "control_request":
		if l.Request.Subtype != "can_use_tool" || l.Asked == "" {
			return nil
		}
		return []AgentEvent{{Kind: PermissionAsked, ID: l.Asked, Calls: []AgentToolCall{{ID: l.Request.Use, Tool: l.Request.Tool, Input: objectOrEmpty(l.Request.Input)}}}}
	case "rate_limit_event":
		return c.limitEvents(l)
	case "result":
		if e := textOrRaw(l.Error); e != "" {
			l.Errors = append(l.Errors, l.Error)
		}
		return c.recordEnd(c.readResult(l.Subtype, l.claudeResultLine))
	}
	return nil
}

// storeErrorAndAmpUsage stores the data beside a message: an error, and the token counts of Amp.
func (c *claudeDecoder) storeErrorAndAmpUsage(l claudeLine) {
	if e := textOrRaw(l.Error); e != "" {
		c.refuse = e
	}
	if !c.amp {
		return
	}
	if c.spent == nil {
		c.spent = map[string]claudeUsage{}
	}
	c.spent[l.Message.ID] = l.Message.Usage
}

func (c *claudeDecoder) messageEvents(all []claudeContentBlock) []AgentEvent {
	e := AgentEvent{Kind: MessageSaid}
	for _, b := range all {
		switch b.Type {
		case "text":
			e.Text += b.Text
		case "tool_use":
			e.Calls = append(e.Calls, AgentToolCall{ID: b.ID, Tool: b.Name, Input: objectOrEmpty(b.Input)})
		}
	}
	if strings.TrimSpace(e.Text) != "" {
		c.last = e.Text
	} else if len(e.Calls) == 0 {
		return nil
	}
	return []AgentEvent{e}
}

func (c *claudeDecoder) limitEvents(l claudeLine) []AgentEvent {
	if l.Limit.Status == "rejected" {
		c.until = unixTime(l.Limit.Resets)
	}
	return l.Limit.limitEvents()
}

// readResult reads the result. Subtype success alone proves nothing: it also comes with denied calls
// and with API errors.
func (c *claudeDecoder) readResult(subtype string, r claudeResultLine) AgentPromptEnd {
	e := AgentPromptEnd{Money: dollarsToMoney(r.Dollars), Total: true, Denied: len(r.Denials), Until: c.until}
	e.Own = r.Main.toUsage()
	for _, u := range r.PerModel {
		e.Usage = e.Usage.Add(nexus.Usage{
			Input: nonNegative(u.Input), Output: nonNegative(u.Output), CacheRead: nonNegative(u.CacheRead), CacheWrite: nonNegative(u.CacheWrite),
		})
	}
	if c.amp { // counts each prompt separately
		e.Total, e.Own = false, nexus.Usage{}
		for _, t := range c.spent {
			e.Usage = e.Usage.Add(t.toUsage())
		}
	}
	e.Text = textOrRaw(r.Result)
	said := e.Text
	for _, one := range r.Errors {
		said = strings.TrimSpace(said + "\n" + textOrRaw(one))
	}
	switch {
	case subtype == "error_max_turns" || r.Reason == "max_turns":
		e.Fault = nexus.FaultTurns
	case subtype == "error_max_budget_usd" || r.Reason == "budget_exhausted":
		e.Fault = nexus.FaultBudget
	case r.Reason == "prompt_too_long":
		e.Fault = nexus.FaultContext
	case !c.until.IsZero() && r.Failed:
		e.Fault = nexus.FaultQuota
	case subtype == "success" && !r.Failed && (r.Reason == "" || r.Reason == "completed"):
		return e
	default:
		if e.Fault = ClassifyFault(c.refuse); e.Fault == "" {
			e.Fault = ClassifyFault(said)
		}
		if e.Fault == "" && (r.Reason == "api_error" || r.Reason == "model_error") {
			e.Fault = nexus.FaultOverload
		}
		if e.Fault == "" {
			e.Fault = nexus.FaultCrashed
		}
	}
	e.Why = BriefLine(strings.TrimSpace(subtype + " " + r.Reason + " " + said))
	return e
}

// parseBlocks reads the content of a message, which may be plain text.
func parseBlocks(raw json.RawMessage) []claudeContentBlock {
	var all []claudeContentBlock
	if json.Unmarshal(raw, &all) == nil {
		return all
	}
	if t := textOrRaw(raw); t != "" {
		return []claudeContentBlock{{Type: "text", Text: t}}
	}
	return nil
}

// blockText returns the text of a tool's result: a text, or blocks of it.
func blockText(raw json.RawMessage) string {
	var b strings.Builder
	for _, one := range parseBlocks(raw) {
		b.WriteString(one.Text)
	}
	return b.String()
}

// textOrRaw returns a JSON text unquoted, and any other value as it is written.
func textOrRaw(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// dollarsToMoney converts an amount in dollars, and returns 0 for an invalid one.
func dollarsToMoney(d float64) nexus.Money {
	if !(d > 0) || d > 1e6 {
		return 0
	}
	return nexus.Money(math.Round(d * float64(nexus.Dollar)))
}
