// Package stream decodes the output of third-party agent programs: aider, Amp, Claude Code, Codex,
// Copilot, crush, Gemini CLI, goose, OpenCode, and programs that print only text. It is pure:
// lines in, events out.
//
// The streams change with every release. A decoder reads whole objects, ignores unknown types and
// fields, and reports the lines that it could not read. An exit code proves nothing: programs exit
// with 0 after an error, and with 1 after success. A prompt is done only when the stream says so.
package stream

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	ConversationOpened Kind = "opened"   // a conversation has begun: ID, empty for the given one; Model, Version
	MessageSaid        Kind = "said"     // a whole message: Text, Calls
	CallAnswered       Kind = "answered" // a tool call ended: ID, Failed, Text
	PermissionAsked    Kind = "asked"    // permission is requested for Calls[0] under ID
	LimitReported      Kind = "limited"  // usage of a window of the account: Window, Used, Until
	PromptEnded        Kind = "ended"    // the prompt is done: End
)

// AgentEvent is an event that an agent reports.
type AgentEvent struct {
	Kind    Kind
	ID      string
	Model   string
	Version string
	Text    string
	Calls   []AgentToolCall
	Failed  bool
	Refused bool      // Answered: the call was not made, because our file tools refused it
	Window  string    // 5h, 7d, or the program's own name of the window
	Used    int       // percent of the account's window
	Until   time.Time // when the window starts again
	End     AgentPromptEnd
}

// AgentToolCall is a tool call of the agent.
type AgentToolCall struct {
	ID    string
	Tool  string
	Input json.RawMessage
}

// AgentPromptEnd describes how a prompt ended.
type AgentPromptEnd struct {
	Fault  nexus.AgentProgramFault // empty: the agent is done
	Why    string
	Text   string                 // text of its last message
	Usage  nexus.Usage            // of the prompt, or of the conversation if Total is set
	Money  nexus.Money            // as the agent counts it; 0: it does not count money
	Total  bool                   // Usage and Money may include earlier prompts of the conversation: versions differ
	Sum    bool                   // Money certainly includes them, regardless of Usage
	Own    nexus.Usage            // of the prompt alone, if the stream has that, too; a part of it
	Models map[string]nexus.Usage // of the prompt by model, if the stream has it and does not count money
	Denied int                    // number of denied calls
	Until  time.Time              // when the account's window starts again, if known
}

// AgentStreamDecoder decodes the stream of one process.
type AgentStreamDecoder interface {
	// DecodeLine decodes one line, without its line feed. It must not retain the line.
	DecodeLine(line []byte) []AgentEvent
	// Close returns how the prompt ended, after the process exited.
	Close(exit int, stderr string) AgentPromptEnd
}

// FormatNames returns the formats that [NewDecoder] knows.
func FormatNames() []string {
	return []string{"aider", "amp", "claude", "codex", "copilot", "crush", "gemini", "goose", "opencode", "text"}
}

// NewDecoder returns the decoder of a format. For an unknown format it returns the text decoder, in which
// a line that contains until (if that is not empty) ends the prompt.
func NewDecoder(format, until string) AgentStreamDecoder {
	switch format {
	case "aider":
		return &aiderDecoder{}
	case "amp":
		return &claudeDecoder{amp: true}
	case "claude":
		return &claudeDecoder{}
	case "codex":
		return &codexDecoder{}
	case "copilot":
		return &copilotDecoder{}
	case "crush":
		return &crushDecoder{}
	case "gemini":
		return &geminiDecoder{}
	case "goose":
		return &gooseDecoder{}
	case "opencode":
		return &opencodeDecoder{}
	default:
		return &plainTextDecoder{until: until}
	}
}

const (
	maxLost = 4 << 10  // bytes stored of lines that are not objects
	maxText = 64 << 10 // bytes stored of an answer in text
)

// jsonLineDecoder is the part that all decoders of JSON lines share.
type jsonLineDecoder struct {
	objects int    // number of lines that were objects
	lost    string // the last lines that were not
	end     *AgentPromptEnd
	last    string // text of the agent's last message
	failed  string // the last reported error
}

// readObject decodes a line into v, and reports whether it is an object.
func (c *jsonLineDecoder) readObject(line []byte, v any) bool {
	trimmed := strings.TrimSpace(string(line))
	if trimmed == "" {
		return false
	}
	if trimmed[0] != '{' || json.Unmarshal([]byte(trimmed), v) != nil {
		c.lost = lastBytes(c.lost+sanitize.TruncateText(trimmed, maxLost)+"\n", maxLost)
		return false
	}
	c.objects++
	return true
}

// recordEnd stores the end of the prompt. It emits the end only once.
func (c *jsonLineDecoder) recordEnd(e AgentPromptEnd) []AgentEvent {
	if e.Text == "" {
		e.Text = c.last
	}
	c.end = &e
	return []AgentEvent{{Kind: PromptEnded, End: e}}
}

// Close implements [AgentStreamDecoder].
func (c *jsonLineDecoder) Close(exit int, stderr string) AgentPromptEnd {
	if c.end != nil {
		return *c.end
	}
	said := strings.TrimSpace(strings.TrimSpace(c.failed + "\n" + c.lost + "\n" + stderr))
	e := AgentPromptEnd{Text: c.last, Why: BriefLine(said)}
	switch e.Fault = ClassifyFault(said); {
	case e.Fault != "" && (c.failed != "" || exit != 0 || c.objects == 0):
	case c.objects == 0 && c.lost != "":
		e.Fault, e.Why = nexus.FaultGarbage, "its output does not have the expected format: "+BriefLine(c.lost)
	case exit != 0 || c.failed != "":
		e.Fault = nexus.FaultCrashed
		e.Why = strings.TrimSuffix(fmt.Sprintf("it exited with %d before it reported an end: %s", exit, BriefLine(said)), ": ")
	default:
		e.Fault, e.Why = nexus.FaultUnfinished, "it exited with 0 without reporting that it is done"
	}
	return e
}

// faultPatterns maps words of messages, in lower case, to faults. The first match counts.
var faultPatterns = []struct { //nolint:gochecknoglobals // never written
	fault nexus.AgentProgramFault
	words []string
}{
	{nexus.FaultLogin, []string{
		"not logged in", "/login", "login required", "invalid api key", "authentication_failed", "authentication_error", "authenticationerror",
		"invalid authentication", "unauthorized", "401", "token has expired", "refresh token", "please set an auth method",
		"sign in again", "log in again", "no api key found", "no authentication information found", "to authenticate, you can", "oauth_org_not_allowed", "account_on_hold", "billing_error", "credit balance",
	}},
	{nexus.FaultQuota, []string{
		"usage limit", "hit your limit", "limit reached", "rate limit", "rate_limit", "ratelimit", "too many requests", "429",
		"quota", "resource_exhausted",
	}},
	{nexus.FaultContext, []string{
		"prompt is too long", "prompt as too long", "prompt_too_long", "context window", "context length", "context_length", "contextwindowexceeded", "hit a token limit", "maximum context",
		"input is too long",
	}},
	{nexus.FaultLost, []string{
		"no conversation found", "session not found", "no rollout found", "no session found", "invalid session",
		"conversation not found", "no session, task, or name matched", "thread not found",
	}},
	{nexus.FaultSetup, []string{
		"model_not_found", "model not found", "model_unsupported", "unknown model", "does not exist or you do not have access",
		"unknown option", "unexpected argument", "unknown argument", "cannot be used with root",
	}},
	{nexus.FaultOverload, []string{
		"overloaded", "529", "apiconnectionerror", "serviceunavailable", "503", "server_error", "internal server error", "500", "bad gateway", "502", "reconnecting",
		"stream disconnected", "econnrefused", "econnreset", "etimedout", "connection error", "fetch failed", "network",
	}},
}

// ClassifyFault returns the fault that a message of an agent indicates, or "" if unknown. Programs have
// few error codes and many texts.
func ClassifyFault(text string) nexus.AgentProgramFault {
	low := strings.ToLower(text)
	for _, s := range faultPatterns {
		if slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(low, w) }) {
			return s.fault
		}
	}
	return ""
}

// BriefLine returns the beginning of a text as one line.
func BriefLine(s string) string {
	return sanitize.TruncateText(strings.Join(strings.Fields(s), " "), 300)
}

// lastBytes returns the last n bytes, starting at a character boundary.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// objectOrEmpty returns a JSON object, and an empty object for any other value.
func objectOrEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

// encodeInput encodes the input of a call that the stream reports as fields.
func encodeInput(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

// UsedSince returns the usage of the prompt, and the total usage of the conversation. The
// arguments are the usage of the conversation before the prompt.
func (e AgentPromptEnd) UsedSince(money nexus.Money, before nexus.Usage) (spent AgentPromptEnd, total AgentPromptEnd) {
	spent, total = e, e
	all := e.Usage.TotalTokens() > 0 && e.Usage.TotalTokens() >= before.TotalTokens()+e.Own.TotalTokens() && (e.Money >= money || e.Sum)
	switch {
	case e.Total && all:
		spent.Money, spent.Usage = e.Money-money, usageSince(e.Usage, before)
	default: // the agent counts each prompt separately
		total.Money, total.Usage = money+e.Money, before.Add(e.Usage)
	}
	switch {
	case e.Sum && e.Money >= money:
		spent.Money, total.Money = e.Money-money, e.Money
	case e.Sum: // the agent no longer counts earlier prompts
		spent.Money, total.Money = e.Money, money+e.Money
	}
	return spent, total
}

// usageSince returns the usage u without the earlier usage v.
func usageSince(u, v nexus.Usage) nexus.Usage {
	return nexus.Usage{
		Input: nonNegative(u.Input - v.Input), Output: nonNegative(u.Output - v.Output),
		CacheRead: nonNegative(u.CacheRead - v.CacheRead), CacheWrite: nonNegative(u.CacheWrite - v.CacheWrite),
	}
}

// nonNegative returns n, or 0 if n is negative.
func nonNegative(n int64) int64 { return max(n, 0) }
