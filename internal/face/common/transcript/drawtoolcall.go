package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// folded limits the shown lines of a tool's input or output.
const folded = 3

// drawToolCall draws a tool call: short values on its line, and below it each text of several lines
// unchanged.
func drawToolCall(s view.OutputStyle, c llm.ToolCall) string {
	line, texts := "  > "+s.Bold(view.EscapeForTerminal(c.Tool)), ""
	values := map[string]json.RawMessage{}
	if json.Unmarshal(c.Input, &values) != nil {
		return s.TruncateLine(line+" "+view.EscapeForTerminal(string(c.Input))) + "\n"
	}
	for _, name := range argumentDisplayOrder(values) {
		var list []map[string]json.RawMessage
		switch text, ok := textValue(values[name]); {
		case ok && !strings.Contains(strings.TrimSpace(text), "\n") && (name == subjectName(values) || name == "summary"):
			line += " " + view.EscapeForTerminal(text)
		case ok && !strings.Contains(strings.TrimSpace(text), "\n") && len(text) <= 60:
			line += " " + view.EscapeForTerminal(name) + "=" + view.EscapeForTerminal(text)
		case ok:
			texts += s.Dim("    "+view.EscapeForTerminal(name)+":") + "\n" + drawExcerpt(s, text)
		case json.Unmarshal(values[name], &list) == nil && len(list) > 0:
			texts += drawItems(s, name, list)
		default:
			line += " " + view.EscapeForTerminal(name) + "=" + view.EscapeForTerminal(compactJSON(values[name]))
		}
	}
	return s.TruncateLine(line) + "\n" + texts
}

// drawItems draws a list of objects, such as the edits of a file.
func drawItems(s view.OutputStyle, name string, list []map[string]json.RawMessage) string {
	var b strings.Builder
	for i, values := range list {
		if i == folded && len(list) > folded+1 {
			b.WriteString(s.Dim(fmt.Sprintf("    ... %s more; --raw has them", view.CountWithNoun(len(list)-folded, "item"))) + "\n")
			break
		}
		for _, key := range argumentDisplayOrder(values) {
			text, ok := textValue(values[key])
			if !ok {
				text = compactJSON(values[key])
			}
			label := fmt.Sprintf("    %s %d, %s:", view.EscapeForTerminal(name), i+1, view.EscapeForTerminal(key))
			if body := strings.TrimSpace(text); !strings.Contains(body, "\n") {
				b.WriteString(s.TruncateLine(s.Dim(label)+" "+view.EscapeForTerminal(body)) + "\n")
				continue
			}
			b.WriteString(s.Dim(label) + "\n" + drawExcerpt(s, text))
		}
	}
	return b.String()
}

// subjectName returns the name of the value that describes a call best.
func subjectName(values map[string]json.RawMessage) string {
	for _, name := range []string{"path", "command", "pattern", "question", "args"} {
		if _, ok := values[name]; ok {
			return name
		}
	}
	return ""
}

// argumentDisplayOrder returns the names of values in their display order: the subject of the call first,
// a replaced text before its replacement.
func argumentDisplayOrder(values map[string]json.RawMessage) []string {
	first := subjectName(values)
	rank := func(name string) int { return slices.Index([]string{"new", "old", first}, name) }
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.SortStableFunc(names, func(x, y string) int {
		if a, b := rank(x), rank(y); a != b {
			return b - a
		}
		return strings.Compare(x, y)
	})
	return names
}

// textValue returns a value if it is a text.
func textValue(value json.RawMessage) (text string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	return text, json.Unmarshal(value, &text) == nil
}

// drawToolResult draws the result of a tool.
func drawToolResult(s view.OutputStyle, r llm.ToolResult) string {
	sign := "  < "
	if r.Failed {
		sign += s.Bad("failed") + " "
	}
	first, rest, _ := strings.Cut(drawExcerpt(s, r.Text), "\n")
	return s.TruncateLine(sign+strings.TrimLeft(first, " ")) + "\n" + rest
}

// drawExcerpt draws the beginning of a text, and the amount of the rest.
func drawExcerpt(s view.OutputStyle, text string) string {
	var b strings.Builder
	lines := strings.Split(strings.Trim(view.EscapeLinesForTerminal(text), "\n"), "\n")
	for i, line := range lines {
		if i == folded && len(lines) > folded+1 {
			b.WriteString(s.Dim(fmt.Sprintf("      ... %s more; --raw has them", view.CountWithNoun(len(lines)-folded, "line"))) + "\n")
			break
		}
		line = strings.ReplaceAll(line, "\t", "    ") // the width of a tab is unknown
		b.WriteString(strings.TrimRight(s.TruncateLine("      "+s.Dim(line)), " ") + "\n")
	}
	return b.String()
}

// compactJSON formats a value on one line, for people.
func compactJSON(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return string(data)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(b.String())
}
