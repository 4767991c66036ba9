// Package shell reads command lines: whether sh accepts one, what its words are
// before bash expands them, and where its parts run. It runs nothing.
package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// CheckSyntax says why sh cannot read a command line, nil when it can.
// What only bash understands is refused, since gates are run by sh.
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

// Quote returns the command line whose words bash reads as these. A word that
// holds a zero byte, or what bash cannot be told, is an error.
func Quote(words []string) (string, error) {
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

// Words returns the words of a line that is one command and nothing else: nothing in it
// is expanded, redirected or run beside it.
func Words(line string) ([]string, bool) {
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
		text, ok := fixed(w.Parts, false)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}

// fixed returns what parts of a word say, and false where the shell may make something else of them.
func fixed(parts []syntax.WordPart, quoted bool) (string, bool) {
	text := ""
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			in, ok := fixed(p.Parts, true)
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
