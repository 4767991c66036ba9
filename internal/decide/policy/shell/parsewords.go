// Package shell parses command lines: whether sh accepts one, its words before bash expands
// them, and the directories of its parts. It runs nothing.
package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// CheckSyntax returns why sh cannot parse a command line, or nil. It refuses syntax that only
// bash understands, because sh runs the gates.
func CheckSyntax(line string) error {
	if strings.TrimSpace(line) == "" {
		return errors.New("there is no command in it")
	}
	if strings.ContainsRune(line, 0) {
		return errors.New("it holds a zero byte")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	switch e := (syntax.ParseError{}); {
	case errors.As(err, &e):
		return fmt.Errorf("at character %d: %s", e.Pos.Offset()+1, e.Text)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "1:"))
	case len(file.Stmts) == 0:
		return errors.New("there is no command in it")
	}
	return nil
}

// QuoteWords returns the command line that bash parses to these words. A word with a zero byte, or
// that bash cannot represent, is an error.
func QuoteWords(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", fmt.Errorf("word %d: %w", i+1, err)
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " "), nil
}

// ParseWords returns the words of a line that is one command without expansions, redirections or
// further commands, or false.
func ParseWords(line string) ([]string, bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || len(s.Redirs)+len(call.Assigns) > 0 {
		return nil, false
	}
	var words []string
	for _, w := range call.Args {
		text, ok := literalText(w.Parts, false)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}

// literalText returns the text of a word's parts, or false if the shell may expand them.
func literalText(parts []syntax.WordPart, quoted bool) (string, bool) {
	text := ""
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			in, ok := literalText(p.Parts, true)
			if !ok {
				return "", false
			}
			text += in
		case *syntax.Lit:
			if !quoted && strings.ContainsAny(p.Value, `*?[~{`) || strings.Contains(p.Value, `\`) {
				return "", false
			}
			text += p.Value
		default:
			return "", false
		}
	}
	return text, true
}
