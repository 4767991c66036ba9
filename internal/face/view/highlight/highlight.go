// Package highlight finds the words of source code that are drawn in colours.
//
// It returns spans with a kind, which terminals and pages draw in their own way.
// Its lexers are chroma's, but not chroma's package of lexers: that one builds
// all of them when a program starts, which takes 7 ms and 2.7 MB of every
// command. The definitions of the languages that repositories have are files
// here (folder lexers, [licence]), read when a text is highlighted first.
//
// [licence]: lexers/COPYING
package highlight

import (
	"embed"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// Kind is what a span of code is. It is the name of a class on a page.
type Kind string

// The kinds of spans.
const (
	Plain    Kind = ""
	Keyword  Kind = "keyword"
	Type     Kind = "type" // also what a language has built in
	Function Kind = "function"
	Name     Kind = "name" // of an attribute, a tag, a constant, a decorator
	String   Kind = "string"
	Number   Kind = "number"
	Comment  Kind = "comment"
	Operator Kind = "operator"
	Heading  Kind = "heading"
)

// Kinds are all kinds but [Plain].
func Kinds() []Kind {
	return []Kind{Keyword, Type, Function, Name, String, Number, Comment, Operator, Heading}
}

// Span is a piece of a line. Its text is as it was: who draws it makes it harmless.
type Span struct {
	Text string `json:"text"`
	Kind Kind   `json:"kind,omitzero"`
}

// What is not highlighted, as it is no code that somebody reads.
const (
	maxText = 512 << 10
	maxLine = 2000
	maxTime = time.Second
)

// Lines splits a text into its lines, without their ends, and each line into
// spans by the language that the name of its file tells. The spans of a line
// joined are the line. A text in no known language, or too large to be read,
// has one plain span a line.
func Lines(file, text string) [][]Span {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	out := make([][]Span, len(lines))
	for i, line := range lines {
		out[i] = plain(line)
	}
	l := of(file)
	if l == nil || len(text) > maxText {
		return out
	}
	for i, line := range colored(l, lines, longest(lines)) {
		out[i] = line
	}
	return out
}

// longest returns how many lines, from the first, are of a length that is read.
func longest(lines []string) int {
	for i, line := range lines {
		if len(line) > maxLine {
			return i
		}
	}
	return len(lines)
}

func plain(line string) []Span {
	if line == "" {
		return nil
	}
	return []Span{{Text: line}}
}

// colored returns the first n lines in spans, or fewer where the lexer loses or
// takes too long for what it reads.
func colored(l chroma.Lexer, lines []string, n int) (out [][]Span) {
	text := strings.Join(lines[:n], "\n")
	next, err := l.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	defer func() { _ = recover() }() // a definition that its lexer cannot follow colours nothing more
	var line []Span
	end := time.Now().Add(maxTime)
	for t := next(); t != chroma.EOF && time.Now().Before(end); t = next() {
		for i, piece := range strings.Split(t.Value, "\n") {
			if i > 0 {
				if out, line = keep(out, line, lines), nil; out == nil {
					return nil
				}
			}
			line = add(line, Span{piece, kind(t.Type)})
		}
	}
	if len(out) == n-1 && n > 0 {
		if more := keep(out, line, lines); more != nil {
			out = more
		}
	}
	return out
}

// keep adds a line if its spans are that line, and else drops all.
func keep(out [][]Span, line []Span, lines []string) [][]Span {
	var b strings.Builder
	for _, s := range line {
		b.WriteString(s.Text)
	}
	if len(out) >= len(lines) || b.String() != lines[len(out)] {
		return nil
	}
	return append(out, line)
}

// add adds a span to a line, to the one before it if it is of its kind.
func add(line []Span, s Span) []Span {
	switch n := len(line) - 1; {
	case s.Text == "":
		return line
	case n >= 0 && line[n].Kind == s.Kind:
		line[n].Text += s.Text
		return line
	}
	return append(line, s)
}

// kind returns what people see of a type of token.
func kind(t chroma.TokenType) Kind {
	switch {
	case t == chroma.KeywordType, t == chroma.NameBuiltin, t == chroma.NameBuiltinPseudo, t == chroma.NameClass,
		t == chroma.NameException:
		return Type
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord, t == chroma.NameKeyword:
		return Keyword
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic:
		return Function
	case t == chroma.NameAttribute, t == chroma.NameTag, t == chroma.NameDecorator, t == chroma.NameConstant, t == chroma.NameEntity,
		t == chroma.NameLabel, t == chroma.NameProperty, t == chroma.NameNamespace:
		return Name
	case t.InSubCategory(chroma.LiteralNumber):
		return Number
	case t.InCategory(chroma.Literal):
		return String
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Operator):
		return Operator
	case t == chroma.GenericHeading, t == chroma.GenericSubheading, t == chroma.GenericStrong:
		return Heading
	}
	return Plain
}

//go:embed lexers/*.xml
var definitions embed.FS //nolint:gochecknoglobals // the compiler fills it in

// languages reads the definitions, which takes as long as it takes to read 50
// heads of files; the rules of a language are compiled when it is used.
var languages = sync.OnceValue(func() *chroma.LexerRegistry { //nolint:gochecknoglobals // built once, at the first use
	r := chroma.NewLexerRegistry()
	for _, l := range []chroma.Lexer{golang(), markdown()} {
		r.Register(l)
	}
	all, _ := fs.Glob(definitions, "lexers/*.xml") // the pattern is well-formed
	for _, name := range all {
		if l, err := chroma.NewXMLLexer(definitions, name); err == nil { // TestLexers reads all of them
			r.Register(l)
		}
	}
	return r
})

// of returns the lexer of a file by its name; nil: its language is not known.
func of(file string) chroma.Lexer {
	switch base := path.Base(file); base {
	case "", ".", "/":
		return nil
	case "go.mod", "go.work":
		return languages().Get("Go")
	default:
		return languages().Match(base)
	}
}
