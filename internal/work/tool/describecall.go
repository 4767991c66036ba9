package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

const aboutWidth = 120

// DescribeCall describes a call in one line for people: its path, command, pattern or question.
// Characters that could mislead in a terminal are escaped.
func DescribeCall(c llm.ToolCall) string {
	c = NormalizeCall(c)
	var in struct {
		Path, Command, Pattern, Question, Summary, ID, Kind, Query, Reason string
		Args                                                               []string
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return printableLine(c.Tool)
	}
	text := ""
	switch c.Tool {
	case "shell":
		text = in.Command
	case "git":
		text = strings.Join(in.Args, " ")
	case "search_code":
		text = strings.TrimSpace(in.Pattern + " " + in.Path)
	case "request_context":
		text = in.Kind + " " + in.Query + ": " + in.Reason
	case "request_replan":
		text = in.Reason
	case "job":
		text = in.ID
	case "ask":
		text = in.Question
	case SubagentTool:
		text = cmp.Or(in.Question, strings.TrimSpace("scout "+in.ID))
	case "finish":
		text = in.Summary
	default:
		// a server's tool, whose fields have other meanings
		if text = in.Path; strings.HasPrefix(c.Tool, "mcp__") {
			text = c.Tool + " " + string(c.Input)
		}
	}
	if text == "" {
		text = c.Tool
	}
	return printableLine(text)
}

// printableLine returns the beginning of a text as one printable line.
func printableLine(text string) string {
	text = strings.TrimSpace(text)
	var b strings.Builder
	n := 0
	for i, r := range text {
		if n++; n > aboutWidth {
			return b.String() + "..."
		}
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError || !unicode.IsPrint(r):
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				fmt.Fprintf(&b, `\x%02x`, text[i])
				continue
			}
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
