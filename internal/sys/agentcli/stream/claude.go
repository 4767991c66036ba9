package stream

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// claude decodes the output of `claude -p --output-format stream-json --verbose`, and of `amp
// --stream-json`, which has no money but the tokens of each message.
type claude struct {
	common

	amp    bool
	spent  map[string]claudeTokens // by message, which is reported for each of its blocks
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
		Usage   claudeTokens    `json:"usage"`
	} `json:"message"`
	Asked   string `json:"request_id"`
	Request struct {
		Subtype string          `json:"subtype"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"input"`
		Use     string          `json:"tool_use_id"`
	} `json:"request"`
	Limit claudeWindow `json:"rate_limit_info"`
	claudeResult
}

type claudeResult struct {
	Failed   bool              `json:"is_error"`
	Result   json.RawMessage   `json:"result"`
	Errors   []json.RawMessage `json:"errors"`
	Dollars  float64           `json:"total_cost_usd"`
	Reason   string            `json:"terminal_reason"`
	Denials  []json.RawMessage `json:"permission_denials"`
	Main     claudeTokens      `json:"usage"`
	PerModel map[string]struct {
		Input      int64 `json:"inputTokens"`
		Output     int64 `json:"outputTokens"`
		CacheRead  int64 `json:"cacheReadInputTokens"`
		CacheWrite int64 `json:"cacheCreationInputTokens"`
	} `json:"modelUsage"`
}

type claudeTokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

func (t claudeTokens) usage() nexus.Usage {
	return nexus.Usage{
		Input: positive(t.Input), Output: positive(t.Output), CacheRead: positive(t.CacheRead), CacheWrite: positive(t.CacheWrite),
	}
}

type claudeBlock struct {
	Type   string          `json:"type"`
	Text   string          `json:"text"`
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Use    string          `json:"tool_use_id"`
	Failed bool            `json:"is_error"`
	Output json.RawMessage `json:"content"`
}

// Line implements [Decoder].
func (c *claude) Line(line []byte) []Event {
	var l claudeLine
	if !c.read(line, &l) {
		return nil
	}
	switch l.Type {
	case "system":
		if l.Subtype != "init" || l.Session == c.opened { // it is repeated for each prompt
			return nil
		}
		c.opened = l.Session
		return []Event{{Kind: Opened, ID: l.Session, Model: l.Model, Version: l.Version}}
	case "assistant":
		c.reported(l)
		if l.Parent != nil && *l.Parent != "" {
			return nil // of a subagent; its events are for the agent itself
		}
		return c.said(blocks(l.Message.Content))
	case "user":
		if l.Parent != nil && *l.Parent != "" {
			return nil
		}
		var all []Event
		for _, b := range blocks(l.Message.Content) {
			if b.Type == "tool_result" {
				all = append(all, Event{Kind: Answered, ID: b.Use, Failed: b.Failed, Text: plain(b.Output)})
			}
		}
		return all
	case "control_request":
		if l.Request.Subtype != "can_use_tool" || l.Asked == "" {
			return nil
		}
		return []Event{{Kind: Asked, ID: l.Asked, Calls: []Call{{ID: l.Request.Use, Tool: l.Request.Tool, Input: object(l.Request.Input)}}}}
	case "rate_limit_event":
		return c.limited(l)
	case "result":
		if e := word(l.Error); e != "" {
			l.Errors = append(l.Errors, l.Error)
		}
		return c.finish(c.ended(l.Subtype, l.claudeResult))
	}
	return nil
}

// reported stores the data beside a message: an error, and the token counts of Amp.
func (c *claude) reported(l claudeLine) {
	if e := word(l.Error); e != "" {
		c.refuse = e
	}
	if !c.amp {
		return
	}
	if c.spent == nil {
		c.spent = map[string]claudeTokens{}
	}
	c.spent[l.Message.ID] = l.Message.Usage
}

func (c *claude) said(all []claudeBlock) []Event {
	e := Event{Kind: Said}
	for _, b := range all {
		switch b.Type {
		case "text":
			e.Text += b.Text
		case "tool_use":
			e.Calls = append(e.Calls, Call{ID: b.ID, Tool: b.Name, Input: object(b.Input)})
		}
	}
	if strings.TrimSpace(e.Text) != "" {
		c.last = e.Text
	} else if len(e.Calls) == 0 {
		return nil
	}
	return []Event{e}
}

func (c *claude) limited(l claudeLine) []Event {
	if l.Limit.Status == "rejected" {
		c.until = seconds(l.Limit.Resets)
	}
	return l.Limit.events()
}

// ended reads the result. Subtype success alone proves nothing: it also comes with denied calls
// and with API errors.
func (c *claude) ended(subtype string, r claudeResult) End {
	e := End{Money: dollars(r.Dollars), Total: true, Denied: len(r.Denials), Until: c.until}
	e.Own = r.Main.usage()
	for _, u := range r.PerModel {
		e.Usage = e.Usage.Add(nexus.Usage{
			Input: positive(u.Input), Output: positive(u.Output), CacheRead: positive(u.CacheRead), CacheWrite: positive(u.CacheWrite),
		})
	}
	if c.amp { // counts each prompt separately
		e.Total, e.Own = false, nexus.Usage{}
		for _, t := range c.spent {
			e.Usage = e.Usage.Add(t.usage())
		}
	}
	e.Text = word(r.Result)
	said := e.Text
	for _, one := range r.Errors {
		said = strings.TrimSpace(said + "\n" + word(one))
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
		if e.Fault = Classify(c.refuse); e.Fault == "" {
			e.Fault = Classify(said)
		}
		if e.Fault == "" && (r.Reason == "api_error" || r.Reason == "model_error") {
			e.Fault = nexus.FaultOverload
		}
		if e.Fault == "" {
			e.Fault = nexus.FaultCrashed
		}
	}
	e.Why = Brief(strings.TrimSpace(subtype + " " + r.Reason + " " + said))
	return e
}

// blocks reads the content of a message, which may be plain text.
func blocks(raw json.RawMessage) []claudeBlock {
	var all []claudeBlock
	if json.Unmarshal(raw, &all) == nil {
		return all
	}
	if t := word(raw); t != "" {
		return []claudeBlock{{Type: "text", Text: t}}
	}
	return nil
}

// plain returns the text of a tool's result: a text, or blocks of it.
func plain(raw json.RawMessage) string {
	var b strings.Builder
	for _, one := range blocks(raw) {
		b.WriteString(one.Text)
	}
	return b.String()
}

// word returns a JSON text unquoted, and any other value as it is written.
func word(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// dollars converts an amount in dollars, and returns 0 for an invalid one.
func dollars(d float64) nexus.Money {
	if !(d > 0) || d > 1e6 {
		return 0
	}
	return nexus.Money(math.Round(d * float64(nexus.Dollar)))
}
