// Package frontmatter reads the head of Markdown files: the lines between a first line --- and the
// next one.
package frontmatter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Fence is the line before and after a head.
const Fence = "---"

// Document is a file with or without a head. Ends of lines are "\n", and there is no byte order
// mark.
type Document struct {
	HasHead bool   // the file begins with a fence
	Closed  bool   // another fence ends the head
	Head    string // lines between the fences, from line 2 of the file on; if not closed, all further lines
	Body    string // text below the head; if there is none, the whole file
	Lines   int    // of the file
}

// SplitHead splits a file into its head and its body.
func SplitHead(text string) Document {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	d := Document{Body: text, Lines: 1 + strings.Count(text, "\n")}
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != Fence {
		return d
	}
	d.HasHead, d.Head, d.Body = true, rest, ""
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == Fence {
			d.Closed, d.Head, d.Body = true, rest[:at], rest[at+len(line):]
			return d
		}
		at += len(line)
	}
	return d
}

// Fault is a mistake in a file.
type Fault struct {
	Line int // from 1
	What string
	Hint string
}

// NewMistake returns a fault.
func NewMistake(line int, what, hint string) *Fault {
	return &Fault{Line: line, What: what, Hint: hint}
}

// Error returns the fault as the error of a file; name is its path.
func (f *Fault) Error(name string) *nexus.Error {
	return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("%s:%d: %s", name, f.Line, f.What), Hint: f.Hint}
}

// CheckPlainText returns the fault of the first line that is not text; nil: there is none.
func CheckPlainText(text string) *Fault {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
			return NewMistake(n, "the line has characters that are not text", "Save the file as UTF-8 without control characters.")
		}
	}
	return nil
}

// AllowedFields are the fields that a head may have.
type AllowedFields struct {
	Known    []string
	Repeated []string // those that may be there several times
}

// ReadFields reads a head of lines such as kind: gotcha, whose values are plain text and not YAML. It
// accepts no other field, and stops at the first fault, its own or one that set returns.
func (d Document) ReadFields(names AllowedFields, set func(line int, name, value string) *Fault) *Fault {
	seen := map[string]int{}
	n := 1
	for line := range strings.Lines(d.Head) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok:
			return NewMistake(n, fmt.Sprintf("%q is not a field", ShortenForError(line)), "Write a field as name: value; the text comes after the second "+Fence+".")
		case !slices.Contains(names.Known, name):
			return NewMistake(n, fmt.Sprintf("unknown field %q", ShortenForError(name)), "The fields are "+strings.Join(names.Known, ", ")+".")
		case value == "":
			return NewMistake(n, name+" has no value", "Give it one, or remove the line.")
		case seen[name] > 0 && !slices.Contains(names.Repeated, name):
			return NewMistake(n, fmt.Sprintf("%s is there twice; it was set in line %d", name, seen[name]), "Remove one of the lines.")
		}
		seen[name] = n
		if f := set(n, name, value); f != nil {
			return f
		}
	}
	if !d.Closed {
		return NewMistake(d.Lines, "the head has no end", "Write a line "+Fence+" after the fields, and the text below it.")
	}
	return nil
}

// ShortenForError returns a text for an error message, with at most 60 characters and a mark.
func ShortenForError(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
