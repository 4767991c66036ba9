package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

const (
	maxResult = 1 << 20  // bytes kept of the result of a call
	maxName   = 64 << 10 // bytes kept of the title of a call
	maxCalls  = 10_000   // calls that are known at a time
)

// call is a call that the agent tells about.
type call struct {
	id, name, kind, title string

	input json.RawMessage
	paths []string
	diff  bool // it changes a file
	text  string
	told  bool
}

// toolCall is what an agent tells about a call, in parts.
type toolCall struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Kind      string          `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Content   []result        `json:"content"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// result is a part of what came of a call.
type result struct {
	Type     string  `json:"type"`
	Content  content `json:"content"`
	Path     string  `json:"path"`
	Terminal string  `json:"terminalId"`
}

// merge adds what is new about a call to what is known. It is nil where there are
// too many.
func (t *turn) merge(in toolCall) *call {
	c := t.calls[in.ID]
	if c == nil {
		if len(t.calls) >= maxCalls {
			return nil
		}
		c = &call{id: in.ID}
		t.calls[in.ID] = c
		t.fresh = append(t.fresh, in.ID)
	}
	set := func(to *string, s string) {
		if s != "" {
			*to = sanitize.Cut(s, maxName)
		}
	}
	set(&c.name, in.Name)
	set(&c.kind, in.Kind)
	set(&c.title, in.Title)
	if len(in.Input) > 2 && in.Input[0] == '{' { // an empty one is followed by the true one
		c.input = in.Input
	}
	for _, l := range in.Locations {
		c.changes(l.Path)
	}
	if len(in.Content) > 0 {
		c.text = ""
	}
	for _, r := range in.Content {
		var text string
		switch r.Type {
		case "diff":
			c.diff = true
			c.changes(r.Path)
			text = "changed " + r.Path
		case "terminal":
			text = t.agent.link.printed(r.Terminal)
		default:
			text = r.Content.String()
		}
		c.text = sanitize.Cut(strings.TrimPrefix(c.text+"\n"+text, "\n"), maxResult)
	}
	return c
}

func (c *call) changes(path string) {
	if path != "" && !slices.Contains(c.paths, path) {
		c.paths = append(c.paths, path)
	}
}

// outcome is what came of it, as a text.
func (c *call) outcome(raw json.RawMessage) string {
	if c.text != "" || len(raw) == 0 || string(raw) == "null" {
		return c.text
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return sanitize.Cut(string(raw), maxResult)
}

// call is the call as an event has it.
func (c *call) call() stream.Call {
	tool := c.name
	if tool == "" {
		tool = c.tool()
	}
	return stream.Call{ID: c.id, Tool: tool, Input: c.described()}
}

// tool names a call after its kind, as Claude Code names its tools.
func (c *call) tool() string {
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

// described is its input, and where that is not told, what is known instead.
func (c *call) described() json.RawMessage {
	if len(c.input) > 0 {
		return c.input
	}
	about := map[string]string{}
	if c.title != "" {
		about["description"] = sanitize.Cut(c.title, 2000)
	}
	if len(c.paths) > 0 {
		about["path"] = c.paths[0]
	}
	return made(about)
}

// made encodes plain values, which always can be.
func made(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

// remarks is what agents write behind a command in the title of a call: where it
// runs, and what it is for.
var remarks = pattern.Lazy(`((^| )\[(?:in|current working directory) [^\]]*\])?((^| )\([^()]*\))?$`)

// judged is a call as the policy judges it, which knows the tools of Claude Code: once for
// each file.
func (c *call) judged() []stream.Call {
	var in struct {
		Command any    `json:"command"`
		File    string `json:"file_path"`
		Camel   string `json:"filePath"`
		Path    string `json:"path"`
	}
	_ = json.Unmarshal(c.input, &in) // a field of another type is none
	one := func(tool string, about map[string]string) []stream.Call {
		return []stream.Call{{ID: c.id, Tool: tool, Input: made(about)}}
	}
	command := line(in.Command)
	if command == "" && c.kind == "execute" {
		command = remarks().ReplaceAllString(strings.Trim(c.title, "`"), "")
	}
	switch {
	case strings.HasPrefix(c.name, "mcp__"):
		return one(c.name, map[string]string{"description": c.title})
	case command != "":
		return one("Bash", map[string]string{"command": command})
	case c.kind == "fetch" || c.kind == "switch_mode":
		return one(c.tool(), map[string]string{"description": c.title})
	}
	tool := c.tool()
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
	var all []stream.Call
	for _, p := range paths {
		all = append(all, one(tool, map[string]string{"file_path": p})...)
	}
	return all
}

// shell is one whose language the policy reads, as agents name it.
var shell = pattern.Lazy(`^(?:(?:/usr)?/bin/)?(?:ba|da)?sh$`)

// line is a command as a line for a shell: a text, or its words.
func line(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var words []string
		for _, w := range v {
			s, _ := w.(string)
			words = append(words, s)
		}
		if len(words) == 3 && shell().MatchString(words[0]) && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			return words[2] // a shell, to run this
		}
		return quoted(words)
	default:
		return ""
	}
}

var bare = pattern.Lazy(`^[A-Za-z0-9_./=:@%+,-]+$`)

func quoted(words []string) string {
	var all []string
	for _, w := range words {
		if !bare().MatchString(w) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		all = append(all, w)
	}
	return strings.Join(all, " ")
}
