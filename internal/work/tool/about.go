package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

const (
	aboutWidth = 120
	maxResult  = 30_000 // bytes of a result that the model sees
)

// About says in one line for people what a call is about: its path, command,
// pattern or question. What could fool a terminal is escaped.
func About(c llm.Call) string {
	var in struct {
		Path, Command, Pattern, Question, Summary string
		Args                                      []string
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return line(c.Tool, aboutWidth)
	}
	text := ""
	switch c.Tool {
	case "shell":
		text = in.Command
	case "git":
		text = strings.Join(in.Args, " ")
	case "search_code":
		text = strings.TrimSpace(in.Pattern + " " + in.Path)
	case "ask":
		text = in.Question
	case "finish":
		text = in.Summary
	default:
		text = in.Path
	}
	if text == "" {
		text = c.Tool
	}
	return line(text, aboutWidth)
}

// line returns the beginning of a text as one printable line.
func line(text string, width int) string {
	text = strings.TrimSpace(text)
	var b strings.Builder
	n := 0
	for i, r := range text {
		if n++; n > width {
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

// fit cuts a result to what the model should see, and keeps the whole.
func (s *Set) fit(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxResult {
		return text
	}
	kept := ""
	if s.env.Blob != nil {
		if hash, err := s.env.Blob.Put([]byte(text)); err == nil {
			kept = "; kept for people as " + hash
		}
	}
	head, tail := text[:maxResult/2], text[len(text)-maxResult/2:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n[... %d bytes left out%s; ask for less at a time ...]\n%s",
		head, len(text)-len(head)-len(tail), kept, tail)
}
