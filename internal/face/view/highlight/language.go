package highlight

import (
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// HighlightDiff highlights the lines of a file in a diff, in their order. It reads the lines before the
// change as one text, and those after it as another, so that a comment over several lines is
// recognised. A line in both is highlighted as after the change.
func HighlightDiff(file string, lines []diffreview.DiffLine) [][]Span {
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
		for i, spans := range HighlightLines(file, text.String()) {
			if i < len(at) { // a line of a hostile diff may contain several line ends
				out[at[i]] = spans
			}
		}
	}
	return out
}

// languageSyntax describes the syntax of a language.
type languageSyntax struct {
	stack.SourceSyntax
	stack.HighlightLexicon

	words  map[string]Kind
	whole  func(line string) int          // length of the literal at the start of a line; nil: none
	headed func(line string) (Kind, bool) // kind of a whole line
}

// languageOf returns the language of a file by its name; nil: unknown.
func languageOf(file string) *languageSyntax {
	switch strings.ToLower(path.Ext(file)) {
	case ".md", ".markdown":
		return markdownSyntax()
	}
	w, known := stack.LexiconOf(file)
	if !known {
		return nil
	}
	l := languageSyntax{SourceSyntax: w.Marks, HighlightLexicon: w, words: map[string]Kind{}}
	for w := range strings.FieldsSeq(w.Keywords) {
		l.words[w] = Keyword
	}
	for w := range strings.FieldsSeq(w.Builtins) {
		l.words[w] = Type
	}
	return &l
}

// markdownSyntax describes headings, inline code and code blocks.
func markdownSyntax() *languageSyntax {
	return &languageSyntax{
		SourceSyntax:     stack.SourceSyntax{Block: [2]string{"<!--", "-->"}, Long: []string{"```"}, Quotes: "`"},
		HighlightLexicon: stack.HighlightLexicon{Script: true},
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
