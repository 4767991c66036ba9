// Package highlight finds the words of source code that are drawn in colours.
//
// It returns spans with a kind, which terminals and pages draw in their own way. Its knowledge of
// a language is in [stack.LexiconOf]: comments, literals and keywords, which is enough for
// reading a change. A lexer with a grammar for each language would recognise more, but the
// libraries with grammars build all of them whenever a program starts
// (docs/decisions/0092-terminal-interface.md).
package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a code span. It is also the class name on a page.
type Kind string

// The kinds of spans.
const (
	Plain    Kind = ""
	Keyword  Kind = "keyword"
	Type     Kind = "type" // also built-in names
	Function Kind = "function"
	Name     Kind = "name" // of an attribute, a tag, a key, a decorator
	String   Kind = "string"
	Number   Kind = "number"
	Comment  Kind = "comment"
	Operator Kind = "operator"
	Heading  Kind = "heading"
)

// Span is a part of a line. Its text is unchanged: the caller that draws it must make it safe.
type Span struct {
	Text string `json:"text"`
	Kind Kind   `json:"kind,omitzero"`
}

// Limits above which a text is not highlighted, because nobody reads it as code.
const (
	maxText = 512 << 10
	maxLine = 2000
)

// HighlightLines splits a text into its lines, without their ends, and each line into spans, with the
// language of the file name. The joined spans of a line are the line. A text in an unknown
// language, or a very large one, has one plain span per line.
func HighlightLines(file, text string) [][]Span {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	out := make([][]Span, len(lines))
	l := languageOf(file)
	s := lineScanner{languageSyntax: l}
	for i, line := range lines {
		if l == nil || len(text) > maxText || len(line) > maxLine {
			out[i], s.until = plainSpans(line), ""
			continue
		}
		out[i] = s.scan(line)
	}
	return out
}

func plainSpans(line string) []Span {
	if line == "" {
		return nil
	}
	return []Span{{Text: line}}
}

// lineScanner reads lines of a language, one after the other.
type lineScanner struct {
	*languageSyntax

	until string // end marker of the comment or literal that an earlier line began; empty: none
	kind  Kind   // kind of that comment or literal
	line  string // the current line
	at    int    // current offset
	spans []Span
}

// scan returns the spans of the next line.
func (s *lineScanner) scan(line string) []Span {
	s.line, s.at, s.spans = line, 0, nil
	if s.until != "" {
		s.finishMultiline(0)
	} else if s.whole != nil {
		s.add(s.whole(line), String)
		if kind, ok := s.headed(line); ok {
			s.add(len(line), kind)
		}
	}
	for s.at < len(line) {
		s.next()
	}
	return s.spans
}

// add adds the bytes up to an offset to the spans: to the last one if that has the same kind.
func (s *lineScanner) add(end int, kind Kind) {
	if end <= s.at {
		return
	}
	text := s.line[s.at:end]
	s.at = end
	if n := len(s.spans) - 1; n >= 0 && s.spans[n].Kind == kind {
		s.spans[n].Text += text
		return
	}
	s.spans = append(s.spans, Span{text, kind})
}

// finishMultiline reads to the end of a multi-line part, and searches for the end after skip bytes.
func (s *lineScanner) finishMultiline(skip int) {
	rest := s.line[s.at+skip:]
	if i := strings.Index(rest, s.until); i >= 0 {
		s.add(s.at+skip+i+len(s.until), s.kind)
		s.until = ""
		return
	}
	s.add(len(s.line), s.kind)
}

// next reads the next part of the line.
func (s *lineScanner) next() {
	rest := s.line[s.at:]
	if s.scanComment(rest) || s.scanLiteral(rest) {
		return
	}
	c, size := utf8.DecodeRuneInString(rest)
	switch {
	case c == '@' && s.Decorated && len(rest) > 1 && isWord(rune(rest[1])):
		s.add(s.at+1+wordLength(rest[1:]), Name)
	case '0' <= c && c <= '9':
		s.add(s.at+numberLength(rest), Number)
	case isWord(c):
		s.scanWord(rest)
	case strings.ContainsRune("+-*/%=<>!&|^~", c) && !s.Markup:
		s.add(s.at+size, Operator)
	case s.Markup && (c == '<' || c == '/' || c == '>'):
		s.add(s.at+size, Operator)
	default:
		s.add(s.at+size, Plain)
	}
}

// scanComment reads a comment, if one begins here.
func (s *lineScanner) scanComment(rest string) bool {
	for _, mark := range s.Comments {
		if !strings.HasPrefix(rest, mark) {
			continue
		}
		if mark == "#" && s.at > 0 && !unicode.IsSpace(rune(s.line[s.at-1])) {
			continue // ${#name}, a#b
		}
		s.add(len(s.line), Comment)
		return true
	}
	if open := s.Block[0]; open != "" && strings.HasPrefix(rest, open) {
		s.until, s.kind = s.Block[1], Comment
		s.finishMultiline(len(open))
		return true
	}
	return false
}

// scanLiteral reads a literal, if one begins here.
func (s *lineScanner) scanLiteral(rest string) bool {
	for _, mark := range s.Long {
		if strings.HasPrefix(rest, mark) {
			s.until, s.kind = mark, String
			s.finishMultiline(len(mark))
			return true
		}
	}
	if strings.IndexByte(s.Quotes, rest[0]) < 0 {
		return false
	}
	end := literalLength(rest)
	switch {
	case end == 0 && rest[0] == '\'':
		s.add(s.at+1, Plain) // an apostrophe, a lifetime
	case end == 0:
		s.add(len(s.line), String)
	case s.Keyed && strings.HasPrefix(strings.TrimLeft(rest[end:], " \t"), ":"):
		s.add(s.at+end, Name)
	default:
		s.add(s.at+end, String)
	}
	return true
}

// literalLength returns the length of the literal at the start of a text, 0 if it does not end.
func literalLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 0
}

// scanWord reads a word.
func (s *lineScanner) scanWord(rest string) {
	n := wordLength(rest)
	text, after := rest[:n], strings.TrimLeft(rest[n:], " \t")
	before := strings.TrimRight(s.line[:s.at], " \t")
	kind := Plain
	switch {
	case s.Markup && (strings.HasSuffix(before, "<") || strings.HasSuffix(before, "</")):
		kind = Keyword
	case s.Markup && strings.HasPrefix(after, "="), s.Keyed && strings.Trim(before, "- \t") == "" && startsAny(after, ":", "="):
		kind = Name
	case s.Targets && s.at == 0 && strings.HasPrefix(after, ":"):
		kind = Function
	case s.words[text] != Plain:
		kind = s.words[text]
	case s.Folded && s.words[strings.ToLower(text)] != Plain:
		kind = s.words[strings.ToLower(text)]
	case !s.Script && strings.HasPrefix(rest[n:], "("):
		kind = Function
	case !s.Script && unicode.IsUpper(rune(text[0])) && strings.ToUpper(text) != text:
		kind = Type
	}
	s.add(s.at+n, kind)
}

func startsAny(text string, marks ...string) bool {
	for _, m := range marks {
		if strings.HasPrefix(text, m) {
			return true
		}
	}
	return false
}

// wordLength returns the length of the word at the start of a text.
func wordLength(text string) int {
	for i, c := range text {
		if !isWord(c) && (c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

func isWord(c rune) bool { return c == '_' || c == '$' || c != utf8.RuneError && unicode.IsLetter(c) }

// numberLength returns the length of the number at the start of a text.
func numberLength(text string) int {
	for i, c := range text {
		exponent := i > 0 && (c == '+' || c == '-') && (text[i-1] == 'e' || text[i-1] == 'E') && !strings.HasPrefix(text, "0x")
		if c != '.' && c != '_' && !exponent && !unicode.IsLetter(c) && (c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}
