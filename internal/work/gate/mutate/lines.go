package mutate

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// family is a set of languages that are written alike, as far as one line
// shows. A language is added by its ending.
type family struct {
	endings  []string
	comments []string    // that go to the end of the line
	block    [2]string   // what opens and closes a longer one
	quotes   string      // bytes that begin and end text
	tokens   [][3]string // operator, what is there, what it becomes
	call     string      // a line that is a call and nothing else
	nothing  string      // what such a line becomes
	result   string      // a line that returns something: before and value
	none     string      // what it returns instead
}

// compare holds for almost all of them.
func compare() [][3]string {
	return [][3]string{
		{"boundary", " <= ", " < "},
		{"boundary", " >= ", " > "},
		{"boundary", " < ", " <= "},
		{"boundary", " > ", " >= "},
		{"equality", " === ", " !== "},
		{"equality", " !== ", " === "},
		{"equality", " == ", " != "},
		{"equality", " != ", " == "},
		{"arithmetic", " + ", " - "},
		{"arithmetic", " - ", " + "},
		{"arithmetic", " * ", " / "},
		{"arithmetic", " / ", " * "},
		{"arithmetic", " % ", " * "},
		{"arithmetic", " += ", " -= "},
		{"arithmetic", " -= ", " += "},
	}
}

func families() []family {
	signs := [][3]string{{"logic", " && ", " || "}, {"logic", " || ", " && "}}
	words := [][3]string{{"logic", " and ", " or "}, {"logic", " or ", " and "}}
	lower := [][3]string{{"boolean", "true", "false"}, {"boolean", "false", "true"}}
	call := `^\s*(?:await )?[A-Za-z_$][\w.$:]*(?:->\w+)*\([^{}]*\);?\s*$`
	return []family{
		{
			endings:  []string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".java", ".kt", ".scala", ".swift", ".cs", ".dart", ".groovy"},
			comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "\"'`", tokens: slices.Concat(compare(), signs, lower),
			call: call, nothing: ";", result: `^(\s*return )([^;{(\[]+?)(;?\s*)$`, none: "null",
		},
		{
			endings:  []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".rs", ".zig"},
			comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "\"", tokens: slices.Concat(compare(), signs, lower), call: call, nothing: ";",
		},
		{
			endings:  []string{".php"},
			comments: []string{"//", "#"}, block: [2]string{"/*", "*/"}, quotes: "\"'", tokens: slices.Concat(compare(), signs, lower),
			call: call, nothing: ";", result: `^(\s*return )([^;{(\[]+?)(;?\s*)$`, none: "null",
		},
		{
			endings: []string{".py", ".pyi"}, comments: []string{"#"}, block: [2]string{`"""`, `"""`}, quotes: "\"'",
			tokens: slices.Concat(compare(), words, [][3]string{{"boolean", "True", "False"}, {"boolean", "False", "True"}, {"equality", " is not ", " is "}, {"equality", " not in ", " in "}}),
			call:   call, nothing: "pass", result: `^(\s*return )([^({\[]+?)(\s*)$`, none: "None",
		},
		{
			endings: []string{".rb", ".ex", ".exs"}, comments: []string{"#"}, block: [2]string{"=begin", "=end"}, quotes: "\"'",
			tokens: slices.Concat(compare(), signs, words, lower), call: call, nothing: "nil", result: `^(\s*return )([^({\[]+?)(\s*)$`, none: "nil",
		},
		{
			endings: []string{".sh", ".bash"}, comments: []string{"#"}, quotes: "\"'",
			tokens: slices.Concat(signs, [][3]string{
				{"boundary", " -lt ", " -le "},
				{"boundary", " -le ", " -lt "},
				{"boundary", " -gt ", " -ge "},
				{"boundary", " -ge ", " -gt "},
				{"equality", " -eq ", " -ne "},
				{"equality", " -ne ", " -eq "},
				{"equality", " = ", " != "},
				{"equality", " == ", " != "},
				{"equality", " != ", " = "},
				{"equality", " -z ", " -n "},
				{"equality", " -n ", " -z "},
			}),
		},
	}
}

// lines returns the faults of a file by what its lines look like.
func lines(f File) []Mutant {
	all := families()
	i := slices.IndexFunc(all, func(l family) bool { return slices.Contains(l.endings, path.Ext(f.Path)) })
	if i < 0 {
		return nil
	}
	lang := all[i]
	var found []Mutant
	at, inside := 0, false
	for n, text := range strings.Split(f.Text, "\n") {
		code, open := lang.code(text, inside)
		inside = open
		if f.New[n+1] {
			for _, m := range lang.line(text, code) {
				m.File, m.Line = f.Path, n+1
				m.at, m.end = m.at+at, m.end+at
				found = append(found, m)
			}
		}
		at += len(text) + 1
	}
	return found
}

// code returns a line with blanks for all that is text or comment in it, and
// whether a longer comment goes on after it.
func (l family) code(text string, inside bool) (string, bool) {
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
		case slices.ContainsFunc(l.comments, func(c string) bool { return strings.HasPrefix(rest, c) }):
			blank(i, len(text))
			return string(out), false
		case strings.IndexByte(l.quotes, text[i]) >= 0:
			end := closing(text, i)
			blank(i+1, end)
			i = end + 1
		default:
			i++
		}
	}
	return string(out), inside
}

// closing returns where the text that begins with a quote ends.
func closing(text string, at int) int {
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

// line returns the faults of one line, with places within it.
func (l family) line(text, code string) []Mutant {
	var found []Mutant
	trimmed := strings.TrimSpace(code)
	for _, word := range []string{"import ", "from ", "package ", "use ", "#include", "export type", "type ", "interface ", "@"} {
		if strings.HasPrefix(trimmed, word) {
			return nil
		}
	}
	for _, t := range l.tokens {
		for from := 0; ; {
			i := strings.Index(code[from:], t[1])
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(t[1])
			if t[0] == "boolean" && (wordy(code, at-1) || wordy(code, from)) {
				continue
			}
			found = append(found, Mutant{Operator: t[0], Was: text[at:from], Now: t[2], at: at, end: from})
		}
	}
	if l.call != "" && regexp.MustCompile(l.call).MatchString(strings.ReplaceAll(code, "\x00", "x")) && !tells(trimmed) {
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		end := len(strings.TrimRight(text, " \t\r"))
		found = append(found, Mutant{Operator: "remove statement", Was: text[indent:end], Now: l.nothing, at: indent, end: end})
	}
	if l.result != "" {
		if m := regexp.MustCompile(l.result).FindStringSubmatchIndex(code); m != nil && text[m[4]:m[5]] != l.none {
			found = append(found, Mutant{Operator: "return nothing", Was: text[m[4]:m[5]], Now: l.none, at: m[4], end: m[5]})
		}
	}
	return found
}

// wordy reports whether a byte of a line belongs to a name.
func wordy(code string, at int) bool {
	if at < 0 || at >= len(code) {
		return false
	}
	c := code[at]
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// tells reports whether a call only tells people something.
func tells(code string) bool {
	return slices.ContainsFunc([]string{"console.", "print", "puts", "log", "echo", "System.out", "eprintln", "fmt.", "super(", "throw", "return", "if", "for", "while", "switch"}, func(p string) bool {
		return strings.HasPrefix(code, p)
	})
}
