// Package stream reads what agent programs of other makers print: aider, Amp,
// Claude Code, Codex, Copilot, crush, Gemini CLI, goose, OpenCode, and programs that
// print nothing but text. It is pure: lines in, events out.
//
// The streams change with every release. A decoder reads whole objects, ignores
// types and fields that it does not know, and reports what it could not read.
// An exit code proves nothing: programs exit with 0 after an error, and with 1
// after success. A prompt is done only when the stream says so.
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

// Kind is what an event says.
type Kind string

// The kinds.
const (
	Opened   Kind = "opened"   // the agent has a conversation: ID, empty for the one it was given; Model, Version
	Said     Kind = "said"     // a whole message: Text, Calls
	Answered Kind = "answered" // a tool call ended: ID, Failed, Text
	Asked    Kind = "asked"    // permission for Calls[0] is asked under ID
	Limited  Kind = "limited"  // a window of the account: Window, Used, Until
	Ended    Kind = "ended"    // the prompt is done: End
)

// Event is one thing that an agent reports.
type Event struct {
	Kind    Kind
	ID      string
	Model   string
	Version string
	Text    string
	Calls   []Call
	Failed  bool
	Refused bool      // Answered: it was not made, because our file tools do not allow it
	Window  string    // 5h, 7d, or as the program names it
	Used    int       // percent of the account's window
	Until   time.Time // when the window starts again
	End     End
}

// Call is a tool call that the agent makes itself.
type Call struct {
	ID    string
	Tool  string
	Input json.RawMessage
}

// End is how a prompt ended.
type End struct {
	Fault  nexus.Fault // empty: the agent is done
	Why    string
	Text   string                 // what it said last
	Usage  nexus.Usage            // of the prompt, or of the conversation where Total is set
	Money  nexus.Money            // as the agent counts it; 0: it does not
	Total  bool                   // Usage and Money may include earlier prompts of the conversation: versions differ
	Sum    bool                   // Money includes them for certain, whatever Usage does
	Own    nexus.Usage            // of the prompt alone, where the stream has that, too; less than all of it
	Models map[string]nexus.Usage // of the prompt by model, where the stream tells and does not count money
	Denied int                    // calls that were denied
	Until  time.Time              // when the account's window starts again, if the stream says so
}

// Decoder reads the stream of one process.
type Decoder interface {
	// Line reads one line, without its end. It is never kept.
	Line(line []byte) []Event
	// Close returns how the prompt ended, after the process exited.
	Close(exit int, stderr string) End
}

// Formats returns the formats that [New] knows.
func Formats() []string {
	return []string{"aider", "amp", "claude", "codex", "copilot", "crush", "gemini", "goose", "opencode", "text"}
}

// New returns the decoder of a format; text for an unknown one, in which a line that
// holds until, where that is not empty, says that the prompt is done.
func New(format, until string) Decoder {
	switch format {
	case "aider":
		return &aider{}
	case "amp":
		return &claude{amp: true}
	case "claude":
		return &claude{}
	case "codex":
		return &codex{}
	case "copilot":
		return &copilot{}
	case "crush":
		return &crush{}
	case "gemini":
		return &gemini{}
	case "goose":
		return &goose{}
	case "opencode":
		return &opencode{}
	default:
		return &text{until: until}
	}
}

const (
	maxLost = 4 << 10  // bytes kept of lines that are no objects
	maxText = 64 << 10 // bytes kept of an answer in text
)

// common is what all decoders of JSON lines have.
type common struct {
	objects int    // lines that were read
	lost    string // lines that were not, the last of them
	end     *End
	last    string // what the agent said last
	failed  string // the error that it reported last
}

// read decodes a line into v, and reports whether it is an object.
func (c *common) read(line []byte, v any) bool {
	trimmed := strings.TrimSpace(string(line))
	if trimmed == "" {
		return false
	}
	if trimmed[0] != '{' || json.Unmarshal([]byte(trimmed), v) != nil {
		c.lost = tail(c.lost+sanitize.Cut(trimmed, maxLost)+"\n", maxLost)
		return false
	}
	c.objects++
	return true
}

// finish records the end, which the stream reports once.
func (c *common) finish(e End) []Event {
	if e.Text == "" {
		e.Text = c.last
	}
	c.end = &e
	return []Event{{Kind: Ended, End: e}}
}

// Close implements [Decoder].
func (c *common) Close(exit int, stderr string) End {
	if c.end != nil {
		return *c.end
	}
	said := strings.TrimSpace(strings.TrimSpace(c.failed + "\n" + c.lost + "\n" + stderr))
	e := End{Text: c.last, Why: Brief(said)}
	switch e.Fault = Classify(said); {
	case e.Fault != "" && (c.failed != "" || exit != 0 || c.objects == 0):
	case c.objects == 0 && c.lost != "":
		e.Fault, e.Why = nexus.FaultGarbage, "its output does not have the expected format: "+Brief(c.lost)
	case exit != 0 || c.failed != "":
		e.Fault = nexus.FaultCrashed
		e.Why = strings.TrimSuffix(fmt.Sprintf("it exited with %d before it reported an end: %s", exit, Brief(said)), ": ")
	default:
		e.Fault, e.Why = nexus.FaultUnfinished, "it exited with 0 without reporting that it is done"
	}
	return e
}

// faultPatterns are words of messages, in lower case, and the fault that they are about.
// The first that fits counts.
var faultPatterns = []struct { //nolint:gochecknoglobals // never written
	fault nexus.Fault
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

// Classify returns the fault that a message of an agent is about, empty if
// unknown. Programs have few codes and many texts.
func Classify(text string) nexus.Fault {
	low := strings.ToLower(text)
	for _, s := range faultPatterns {
		if slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(low, w) }) {
			return s.fault
		}
	}
	return ""
}

// Brief returns the beginning of a text as one line.
func Brief(s string) string { return sanitize.Cut(strings.Join(strings.Fields(s), " "), 300) }

// tail returns the last n bytes, from the beginning of a character.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// object returns a JSON object, and an empty one for anything else.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

// made encodes the input of a call that a stream reports as fields.
func made(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

// UsedSince returns what the prompt used, and what the conversation used with it:
// before is what the conversation had used.
func (e End) UsedSince(money nexus.Money, before nexus.Usage) (spent End, total End) {
	spent, total = e, e
	all := e.Usage.Total() > 0 && e.Usage.Total() >= before.Total()+e.Own.Total() && (e.Money >= money || e.Sum)
	switch {
	case e.Total && all:
		spent.Money, spent.Usage = e.Money-money, usageSince(e.Usage, before)
	default: // it counts each prompt for itself
		total.Money, total.Usage = money+e.Money, before.Add(e.Usage)
	}
	switch {
	case e.Sum && e.Money >= money:
		spent.Money, total.Money = e.Money-money, e.Money
	case e.Sum: // it forgot what was before
		spent.Money, total.Money = e.Money, money+e.Money
	}
	return spent, total
}

// usageSince returns what was used since u was v.
func usageSince(u, v nexus.Usage) nexus.Usage {
	return nexus.Usage{
		Input: positive(u.Input - v.Input), Output: positive(u.Output - v.Output),
		CacheRead: positive(u.CacheRead - v.CacheRead), CacheWrite: positive(u.CacheWrite - v.CacheWrite),
	}
}

// positive returns n, 0 for a negative count.
func positive(n int64) int64 { return max(n, 0) }
