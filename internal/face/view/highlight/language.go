package highlight

import (
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Diff highlights lines of a file in a diff, in their order: those before the change
// as one text, and those after it as another, so that a comment over several lines is
// one. A line that is in both is as it is after the change.
func Diff(file string, lines []diffreview.Line) [][]Span {
	out := make([][]Span, len(lines))
	for _, without := range []string{"+", "-"} {
		var at []int
		var text strings.Builder
		for i, l := range lines {
			if l.Kind != without {
				at = append(at, i)
				text.WriteString(l.Text + "\n")
			}
		}
		if len(at) == 0 {
			continue
		}
		for i, spans := range Lines(file, text.String()) {
			if i < len(at) { // a line of a hostile diff may have several ends
				out[at[i]] = spans
			}
		}
	}
	return out
}

// language is how a language looks.
type language struct {
	stack.Syntax
	stack.Lexicon

	words  map[string]Kind
	whole  func(line string) int          // how much of a line, from its begin, is a literal; nil: nothing
	headed func(line string) (Kind, bool) // what a whole line is
}

// languageOf returns the language of a file by its name; nil: it is not known.
func languageOf(file string) *language {
	switch strings.ToLower(path.Ext(file)) {
	case ".md", ".markdown":
		return markdown()
	}
	w, known := stack.LexiconOf(file)
	if !known {
		return nil
	}
	l := language{Syntax: w.Marks, Lexicon: w, words: map[string]Kind{}}
	for w := range strings.FieldsSeq(w.Keywords) {
		l.words[w] = Keyword
	}
	for w := range strings.FieldsSeq(w.Builtins) {
		l.words[w] = Type
	}
	return &l
}

// markdown has headings, quotes of code, and blocks of it.
func markdown() *language {
	return &language{
		Syntax:  stack.Syntax{Block: [2]string{"<!--", "-->"}, Long: []string{"```"}, Quotes: "`"},
		Lexicon: stack.Lexicon{Script: true},
		whole: func(line string) int {
			if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
				return len(line)
			}
			return 0
		},
		headed: func(line string) (Kind, bool) {
			marks := len(line) - len(strings.TrimLeft(line, "#"))
			return Heading, marks > 0 && marks < 7 && strings.HasPrefix(line[marks:], " ")
		},
	}
}
