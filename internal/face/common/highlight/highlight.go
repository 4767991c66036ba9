// Package highlight finds the words of source code that are drawn in colours.
//
// It returns spans with a kind, which terminals and pages draw in their own way. The lexers are
// those of Chroma.
package highlight

import (
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// SpanKind is the kind of a code span. It is also the class name on a page.
type SpanKind string

// The kinds of spans.
const (
	Plain    SpanKind = ""
	Keyword  SpanKind = "keyword"
	Type     SpanKind = "type" // also built-in names
	Function SpanKind = "function"
	Name     SpanKind = "name" // of an attribute, a tag, a key, a decorator
	String   SpanKind = "string"
	Number   SpanKind = "number"
	Comment  SpanKind = "comment"
	Operator SpanKind = "operator"
	Heading  SpanKind = "heading"
)

// CodeSpan is a part of a line. Its text is unchanged: the caller that draws it must make it safe.
type CodeSpan struct {
	Text string   `json:"text"`
	Kind SpanKind `json:"kind,omitzero"`
}

// Limits of the work for one text. Above maxText bytes nobody reads it as code. After maxTime the
// rest stays plain: the lexers' regular expressions backtrack, and a hostile text could otherwise
// keep a screen from being drawn.
const (
	maxText = 512 << 10
	maxTime = 2 * time.Second
)

// HighlightLines splits a text into its lines, without their ends, and each line into spans, with the
// language of the file name. The joined spans of a line are the line. A text in an unknown
// language, or a very large one, has one plain span per line.
func HighlightLines(file, text string) [][]CodeSpan {
	start := time.Now() //nolint:forbidigo // it measures work, and shows no time
	return highlightUntil(file, text, func() bool { return time.Since(start) > maxTime })
}

// highlightUntil highlights a text until late returns true. The rest is plain.
func highlightUntil(file, text string, late func() bool) [][]CodeSpan {
	text = strings.TrimSuffix(text, "\n")
	s := codeSpanWriter{rest: text, lines: make([][]CodeSpan, 1)}
	if len(text) <= maxText {
		s.writeTokens(file, text, late)
	}
	s.writeRunes(len(s.rest), Plain)
	return s.lines
}

// lexing is held while a lexer works: some change their own rules meanwhile, which all texts share.
var lexing sync.Mutex //nolint:gochecknoglobals // so are the lexers

// writeTokens writes the tokens of a text until late returns true, or until its lexer panics: several
// of the library's do on a text that ends early, which the lines of a change often do.
func (w *codeSpanWriter) writeTokens(file, text string, late func() bool) {
	lexing.Lock()
	defer lexing.Unlock()
	defer func() { _ = recover() }()
	lexer := lexerOf(file)
	if lexer == nil {
		return
	}
	// Many rules need the end of a line. CR LF is kept, so that the runes of the tokens are those of
	// the text.
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text+"\n")
	for err == nil && w.rest != "" && !late() {
		t := tokens()
		if t == chroma.EOF {
			return
		}
		w.writeRunes(utf8.RuneCountInString(t.Value), spanKind(t.Type))
	}
}

// lexerOf returns the lexer of a file by its name, and nil for an unknown language.
func lexerOf(file string) chroma.Lexer {
	base := path.Base(file)
	ending := path.Ext(base)
	// The library would choose others by the name: AMPL for .mod, Mathematica for .m.
	switch {
	case file == "":
		return nil
	case ending == ".mod" || ending == ".work":
		base = ".go"
	case ending == ".m" || ending == ".mm":
		return chroma.Coalesce(lexers.Get("Objective-C"))
	}
	l := lexers.Match(base)
	if l == nil {
		return nil
	}
	return chroma.Coalesce(l)
}

// codeSpanWriter cuts a text into lines and spans.
type codeSpanWriter struct {
	rest  string // of the text
	lines [][]CodeSpan
}

// writeRunes moves a number of runes from the rest into spans of a kind. It counts runes because a
// lexer replaces each byte that is not UTF-8, and the spans must be the text itself.
func (w *codeSpanWriter) writeRunes(runes int, kind SpanKind) {
	end := 0
	for ; runes > 0 && end < len(w.rest); runes-- {
		_, n := utf8.DecodeRuneInString(w.rest[end:])
		end += n
	}
	for i, part := range strings.Split(w.rest[:end], "\n") {
		if i > 0 {
			w.lines = append(w.lines, nil)
		}
		w.addSpanText(part, kind)
	}
	w.rest = w.rest[end:]
}

// addSpanText adds a part of a line: to the last span if that has the same kind.
func (w *codeSpanWriter) addSpanText(text string, kind SpanKind) {
	line := &w.lines[len(w.lines)-1]
	switch n := len(*line); {
	case text == "":
	case n > 0 && (*line)[n-1].Kind == kind:
		(*line)[n-1].Text += text
	default:
		*line = append(*line, CodeSpan{text, kind})
	}
}

// spanKind returns the kind of a token.
func spanKind(t chroma.TokenType) SpanKind {
	switch t { //nolint:exhaustive // other types are told by their category below
	case chroma.KeywordType, chroma.KeywordConstant, chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.NameClass, chroma.NameException:
		return Type
	case chroma.NameFunction, chroma.NameFunctionMagic:
		return Function
	case chroma.NameAttribute, chroma.NameTag, chroma.NameDecorator, chroma.NameProperty, chroma.NameLabel, chroma.NameEntity:
		return Name
	case chroma.OperatorWord:
		return Keyword
	case chroma.GenericHeading, chroma.GenericSubheading:
		return Heading
	}
	switch {
	case t.InCategory(chroma.Keyword), t.InCategory(chroma.Comment) && t.InSubCategory(chroma.CommentPreproc):
		return Keyword
	case t.InSubCategory(chroma.LiteralNumber):
		return Number
	case t.InCategory(chroma.Literal):
		return String
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Operator):
		return Operator
	}
	return Plain
}
