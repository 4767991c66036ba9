package mutate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// mutatedFileSyntax describes the syntax of a file.
type mutatedFileSyntax struct {
	stack.SourceSyntax

	block [2]string // start and end of a comment of several lines
}

// call matches a line that consists of one call.
const call = `^\s*(?:await )?[A-Za-z_$][\w.$:]*(?:->\w+)*\([^{}]*\);?\s*$`

// lineMutants returns the faults of a file based on its lines' patterns.
func lineMutants(f MutableFile) []Mutant {
	s, _ := stack.SyntaxOf(f.Path)
	if len(s.Faults.Swaps) == 0 {
		return nil
	}
	lang := mutatedFileSyntax{s, s.Block}
	if lang.block[0] == "" && len(s.Long) > 0 {
		lang.block = [2]string{s.Long[0], s.Long[0]}
	}
	var found []Mutant
	at, inside := 0, false
	for n, text := range strings.Split(f.Text, "\n") {
		code, open := lang.blankTextAndComments(text, inside)
		inside = open
		if f.New[n+1] {
			for _, m := range lang.mutantsOfLine(text, code) {
				m.File, m.Line = f.Path, n+1
				m.at, m.end = m.at+at, m.end+at
				found = append(found, m)
			}
		}
		at += len(text) + 1
	}
	return found
}

// blankTextAndComments returns a line with spaces in place of strings and comments, and whether a longer
// comment continues after it.
func (l mutatedFileSyntax) blankTextAndComments(text string, inside bool) (string, bool) {
	out := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = 0
		}
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case inside:
			end := strings.Index(rest, l.block[1])
			if end < 0 {
				blank(i, len(text))
				return string(out), true
			}
			blank(i, i+end+len(l.block[1]))
			i, inside = i+end+len(l.block[1]), false
		case l.block[0] != "" && strings.HasPrefix(rest, l.block[0]):
			blank(i, i+len(l.block[0]))
			i, inside = i+len(l.block[0]), true
		case slices.ContainsFunc(l.Comments, func(c string) bool { return strings.HasPrefix(rest, c) }):
			blank(i, len(text))
			return string(out), false
		case strings.IndexByte(l.Quotes, text[i]) >= 0:
			end := closingQuote(text, i)
			blank(i+1, end)
			i = end + 1
		default:
			i++
		}
	}
	return string(out), inside
}

// closingQuote returns the end of the string that begins with a quote.
func closingQuote(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[at]:
			return i
		}
	}
	return len(text)
}

// mutantsOfLine returns the faults of one line, with positions within it.
func (l mutatedFileSyntax) mutantsOfLine(text, code string) []Mutant {
	var found []Mutant
	trimmed := strings.TrimSpace(code)
	for _, word := range []string{"import ", "from ", "package ", "use ", "#include", "export type", "type ", "interface ", "@"} {
		if strings.HasPrefix(trimmed, word) {
			return nil
		}
	}
	for _, t := range l.Faults.Swaps {
		for from := 0; ; {
			i := strings.Index(code[from:], t[1])
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(t[1])
			if t[0] == "boolean" && (isNamePart(code, at-1) || isNamePart(code, from)) {
				continue
			}
			found = append(found, Mutant{Operator: t[0], Was: text[at:from], Now: t[2], at: at, end: from})
		}
	}
	if l.Faults.Calls && regexp.MustCompile(call).MatchString(strings.ReplaceAll(code, "\x00", "x")) && !isLogCall(trimmed) {
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		end := len(strings.TrimRight(text, " \t\r"))
		found = append(found, Mutant{Operator: "remove statement", Was: text[indent:end], Now: l.Faults.Nothing, at: indent, end: end})
	}
	if l.Faults.Returns != "" {
		if m := regexp.MustCompile(l.Faults.Returns).FindStringSubmatchIndex(code); m != nil && text[m[4]:m[5]] != l.Faults.None {
			found = append(found, Mutant{Operator: "return nothing", Was: text[m[4]:m[5]], Now: l.Faults.None, at: m[4], end: m[5]})
		}
	}
	return found
}

// isNamePart reports whether a byte of a line belongs to a name.
func isNamePart(code string, at int) bool {
	if at < 0 || at >= len(code) {
		return false
	}
	c := code[at]
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isLogCall reports whether a call only logs.
func isLogCall(code string) bool {
	return slices.ContainsFunc([]string{"console.", "print", "puts", "log", "echo", "System.out", "eprintln", "fmt.", "super(", "throw", "return", "if", "for", "while", "switch"}, func(p string) bool {
		return strings.HasPrefix(code, p)
	})
}
