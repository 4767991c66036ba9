package acp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

const (
	maxResult = 1 << 20  // bytes stored of a call's result
	maxName   = 64 << 10 // bytes stored of a call's title
	maxCalls  = 10_000   // calls tracked at a time
)

// reportedToolCall is a tool call that the agent reports.
type reportedToolCall struct {
	id, name, kind, title string

	input json.RawMessage
	paths []string
	diff  bool // it changes a file
	text  string
	told  bool
}

// toolCallReport is the agent's report about a call. It arrives in parts.
type toolCallReport struct {
	ID        string               `json:"toolCallId"`
	Name      string               `json:"name"`
	Title     string               `json:"title"`
	Kind      string               `json:"kind"`
	Status    string               `json:"status"`
	Input     json.RawMessage      `json:"rawInput"`
	Output    json.RawMessage      `json:"rawOutput"`
	Content   []toolCallResultPart `json:"content"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// toolCallResultPart is a part of a call's result.
type toolCallResultPart struct {
	Type     string              `json:"type"`
	Content  messageContentBlock `json:"content"`
	Path     string              `json:"path"`
	Terminal string              `json:"terminalId"`
}

// mergeCall adds a part of a report to the known call. It returns nil if there are too many calls.
func (t *runningPromptTurn) mergeCall(in toolCallReport) *reportedToolCall {
	c := t.calls[in.ID]
	if c == nil {
		if len(t.calls) >= maxCalls {
			return nil
		}
		c = &reportedToolCall{id: in.ID}
		t.calls[in.ID] = c
		t.fresh = append(t.fresh, in.ID)
	}
	set := func(to *string, s string) {
		if s != "" {
			*to = sanitize.TruncateText(s, maxName)
		}
	}
	set(&c.name, in.Name)
	set(&c.kind, in.Kind)
	set(&c.title, in.Title)
	if len(in.Input) > 2 && in.Input[0] == '{' { // an empty input is followed by the real one
		c.input = in.Input
	}
	for _, l := range in.Locations {
		c.addPath(l.Path)
	}
	if len(in.Content) > 0 {
		c.text = ""
	}
	for _, r := range in.Content {
		var text string
		switch r.Type {
		case "diff":
			c.diff = true
			c.addPath(r.Path)
			text = "changed " + r.Path
		case "terminal":
			text = t.agent.connection.terminalOutput(r.Terminal)
		default:
			text = r.Content.String()
		}
		c.text = sanitize.TruncateText(strings.TrimPrefix(c.text+"\n"+text, "\n"), maxResult)
	}
	return c
}

func (c *reportedToolCall) addPath(path string) {
	if path != "" && !slices.Contains(c.paths, path) {
		c.paths = append(c.paths, path)
	}
}

// resultText returns the call's result as text.
func (c *reportedToolCall) resultText(raw json.RawMessage) string {
	if c.text != "" || len(raw) == 0 || string(raw) == "null" {
		return c.text
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return sanitize.TruncateText(string(raw), maxResult)
}

// toStreamCall returns the call in the form of an event.
func (c *reportedToolCall) toStreamCall() stream.AgentToolCall {
	tool := c.name
	if tool == "" {
		tool = c.toolName()
	}
	return stream.AgentToolCall{ID: c.id, Tool: tool, Input: c.inputOrKnownFacts()}
}

// toolName maps the call's kind to the tool name that Claude Code uses.
func (c *reportedToolCall) toolName() string {
	switch c.kind {
	case "read":
		return "Read"
	case "edit":
		return "Edit"
	case "delete":
		return "Delete"
	case "move":
		return "Move"
	case "search":
		return "Grep"
	case "execute":
		return "Bash"
	case "fetch":
		return "WebFetch"
	case "think":
		return "Think"
	case "switch_mode":
		return "ExitPlanMode"
	default:
		return "Tool"
	}
}

// inputOrKnownFacts returns the call's input, or the other known facts if the agent did not report an
// input.
func (c *reportedToolCall) inputOrKnownFacts() json.RawMessage {
	if len(c.input) > 0 {
		return c.input
	}
	about := map[string]string{}
	if c.title != "" {
		about["description"] = sanitize.TruncateText(c.title, 2000)
	}
	if len(c.paths) > 0 {
		about["path"] = c.paths[0]
	}
	return encodeJSON(about)
}

// encodeJSON encodes plain values, for which encoding cannot fail.
func encodeJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

// titleRemarkPattern matches the suffix that agents append to a command in the title of a call: its directory
// and its purpose.
var titleRemarkPattern = regexp.MustCompile(`((^| )\[(?:in|current working directory) [^\]]*\])?((^| )\([^()]*\))?$`)

// policyCalls returns the call in the form that the policy judges, which knows the tools of Claude
// Code: one call for each file.
func (c *reportedToolCall) policyCalls() []stream.AgentToolCall {
	var in struct {
		Command any    `json:"command"`
		File    string `json:"file_path"`
		Camel   string `json:"filePath"`
		Path    string `json:"path"`
	}
	_ = json.Unmarshal(c.input, &in) // a field of another type stays empty
	one := func(tool string, about map[string]string) []stream.AgentToolCall {
		return []stream.AgentToolCall{{ID: c.id, Tool: tool, Input: encodeJSON(about)}}
	}
	command := shellCommandLine(in.Command)
	if command == "" && c.kind == "execute" {
		command = titleRemarkPattern.ReplaceAllString(strings.Trim(c.title, "`"), "")
	}
	switch {
	case strings.HasPrefix(c.name, "mcp__"):
		return one(c.name, map[string]string{"description": c.title})
	case command != "":
		return one("Bash", map[string]string{"command": command})
	case c.kind == "fetch" || c.kind == "switch_mode":
		return one(c.toolName(), map[string]string{"description": c.title})
	}
	tool := c.toolName()
	if c.diff || slices.Contains([]string{"edit", "delete", "move"}, c.kind) {
		tool = "Edit"
	}
	paths := slices.Clone(c.paths)
	for _, p := range []string{in.File, in.Camel, in.Path} {
		if p != "" && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return one(tool, map[string]string{"description": c.title})
	}
	var all []stream.AgentToolCall
	for _, p := range paths {
		all = append(all, one(tool, map[string]string{"file_path": p})...)
	}
	return all
}

// shellPattern matches the names of shells whose language the policy can read.
var shellPattern = regexp.MustCompile(`^(?:(?:/usr)?/bin/)?(?:ba|da)?sh$`)

// shellCommandLine returns a command as a line for a shell. The command is either a text or a list of words.
func shellCommandLine(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var words []string
		for _, w := range v {
			s, _ := w.(string)
			words = append(words, s)
		}
		if len(words) == 3 && shellPattern.MatchString(words[0]) && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			return words[2] // the script of "sh -c script"
		}
		return quoteWords(words)
	default:
		return ""
	}
}

var plainWordPattern = regexp.MustCompile(`^[A-Za-z0-9_./=:@%+,-]+$`)

func quoteWords(words []string) string {
	var all []string
	for _, w := range words {
		if !plainWordPattern.MatchString(w) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		all = append(all, w)
	}
	return strings.Join(all, " ")
}
