package codemap

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// outlineLanguage describes how files of one language are outlined.
type outlineLanguage struct{ stack.OutlinePatterns }

// knownLanguages returns all known languages.
func knownLanguages() []outlineLanguage {
	var all []outlineLanguage
	for _, o := range stack.FileOutlines() {
		all = append(all, outlineLanguage{o})
	}
	return all
}

// Limits of reading a file.
const (
	maxDeclared = 400 // declarations per file
	maxWidth    = 110 // characters of a declaration
	importLines = 300 // lines that are searched for imports
	maxIndent   = 8   // characters before a declaration
)

// fileOutline describes a file: its declarations, the files that it names, and its words.
type fileOutline struct {
	declares []declarationLine
	imports  []string
	words    []wordCount
	lines    int
}

// declarationLine is a line that declares something.
type declarationLine struct {
	line    int
	name    string
	text    string // shortened
	private bool   // not for others, as far as the line shows
	member  bool   // inside another declaration
}

// outlineText parses the text of a file.
func (l outlineLanguage) outlineText(text string) fileOutline {
	var o fileOutline
	n, first := 0, true
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		if first && l.Generated != "" && strings.HasPrefix(line, l.Generated) {
			return fileOutline{}
		}
		first = false
		if l.Tail != "" && line == l.Tail {
			break
		}
		if n <= importLines {
			if name := l.importedPath(line); name != "" {
				o.imports = append(o.imports, name)
			}
		}
		if len(o.declares) == maxDeclared {
			continue
		}
		if d, ok := l.parseDeclaration(line); ok && !seen[d.text] {
			seen[d.text] = true
			d.line = n
			o.declares = append(o.declares, d)
		}
	}
	o.words, o.lines = countWords(text), n
	return o
}

// parseDeclaration parses a line that declares something.
func (l outlineLanguage) parseDeclaration(line string) (d declarationLine, ok bool) {
	bare := strings.TrimLeft(line, " \t")
	indent := len(line) - len(bare)
	if indent > maxIndent || indent > 0 && l.Flat || bare == "" || strings.IndexByte("*/#}\"'", bare[0]) >= 0 {
		return d, false
	}
	d.member = indent > 0
	if !d.member {
		d.name, d.private, ok = l.parseTopLevelDeclaration(bare)
	}
	if !ok {
		if d.name, ok = parseKeywordDeclaration(bare); ok {
			d.private = d.member || !strings.HasPrefix(bare, "export ") && l.isPrivate(d.name)
		}
	}
	if !ok && (l.Members || !d.member) {
		if d.name, ok = l.parseMethodDeclaration(bare, d.member); ok {
			d.private = true
		}
	}
	if !ok || d.name == "" {
		return d, false
	}
	d.text = declarationHead(bare)
	return d, true
}

// isPrivate reports whether the language treats the name as private.
func (l outlineLanguage) isPrivate(name string) bool {
	return l.Hides == "" && len(l.Declares) > 0 || isPrivateName(l.Hides, name)
}

// parseTopLevelDeclaration parses a line that declares something for others at the top level of a file.
func (l outlineLanguage) parseTopLevelDeclaration(line string) (name string, hidden, ok bool) {
	i := slices.IndexFunc(l.Declares, func(word string) bool { return strings.HasPrefix(line, word) })
	if i < 0 {
		return "", false, false
	}
	rest := strings.TrimLeft(line[len(l.Declares[i]):], " ")
	if l.Hides == "lower" && strings.HasPrefix(rest, "(") { // a receiver
		recv, after, _ := strings.Cut(rest, ")")
		of := strings.TrimLeft(recv[strings.LastIndexAny(recv, " (")+1:], "*")
		hidden = isPrivateName(l.Hides, of)
		rest = strings.TrimLeft(after, " ")
	}
	if name, ok = parseKeywordDeclaration(rest); !ok {
		name = leadingName(withoutModifiers(rest))
	}
	return name, hidden || isPrivateName(l.Hides, name), name != ""
}

// withoutModifiers returns a line without the modifiers before its declaration.
func withoutModifiers(line string) string {
	for {
		word, rest, ok := strings.Cut(line, " ")
		if !ok {
			return line
		}
		switch word {
		case "pub", "pub(crate)", "pub(super)", "export", "default", "async", "static", "public", "private", "protected", "internal", "final", "abstract",
			"override", "virtual", "readonly", "declare", "unsafe", "extern", "sealed", "partial", "open", "data", "inline", "suspend", "synchronized", "native",
			"get", "set", "const", "let", "var", "mut", "non-sealed":
			line = strings.TrimLeft(rest, " ")
		default:
			return line
		}
	}
}

// parseKeywordDeclaration parses a declaration that begins with a keyword.
func parseKeywordDeclaration(line string) (name string, ok bool) {
	rest := withoutModifiers(line)
	word, after, found := strings.Cut(rest, " ")
	if !found {
		return "", false
	}
	switch word {
	case "func", "fn", "def", "class", "interface", "enum", "struct", "trait", "type", "module", "namespace", "function", "function*", "record", "macro_rules!", "defp", "defmodule", "@interface", "protocol", "fun", "object", "union", "message", "service":
	case "impl":
		return leadingName(after), leadingName(after) != ""
	default:
		if strings.HasPrefix(word, "impl<") {
			_, after, _ = strings.Cut(rest, "> ")
			return leadingName(after), leadingName(after) != ""
		}
		return "", false
	}
	after = strings.TrimPrefix(strings.TrimLeft(after, " *&"), "self.")
	name = leadingName(after)
	return name, name != "" && !strings.HasPrefix(after[len(name):], " =>")
}

// parseMethodDeclaration parses a declaration without a keyword: a method, or a function that is assigned to a
// name.
func (l outlineLanguage) parseMethodDeclaration(line string, member bool) (name string, ok bool) {
	if !member { // exports.x = function, X.prototype.y = function, const x = (
		left, right, found := strings.Cut(line, " = ")
		left = strings.TrimSuffix(withoutModifiers(left), " ")
		if !l.Members || !found || strings.ContainsAny(left, " ([") || !strings.HasPrefix(right, "function") && !strings.HasPrefix(right, "async ") && !strings.HasPrefix(right, "(") && !strings.HasPrefix(right, "class ") {
			return "", false
		}
		name = left[strings.LastIndexByte(left, '.')+1:]
		return name, leadingName(name) == name && name != ""
	}
	switch line[len(line)-1] {
	case '{', '(', ',':
	case ')': // the brace is in the next line
		if withoutModifiers(line) == line {
			return "", false
		}
	default:
		return "", false
	}
	open := strings.IndexByte(line, '(')
	if open <= 0 || strings.ContainsAny(line[:open], "=.\"';!?+-") || strings.HasSuffix(line, ",") && !strings.Contains(line[:open], " ") {
		return "", false
	}
	before := strings.TrimRight(line[:open], " ")
	name = before[strings.LastIndexAny(before, " \t>*&#")+1:]
	if head, _, _ := strings.Cut(before, " "); isStatementWord(head) || isStatementWord(name) || leadingName(name) != name || name == "" {
		return "", false
	}
	typed := strings.Contains(withoutModifiers(before), " ")
	return name, typed || strings.HasSuffix(line, "{")
}

// isStatementWord reports whether a word begins a statement.
func isStatementWord(word string) bool {
	switch word {
	case "if", "for", "while", "switch", "catch", "return", "new", "else", "throw", "function", "do", "try", "match", "when", "foreach", "elseif", "await", "yield", "case", "super", "import", "using", "lock", "with", "assert", "describe", "it", "test", "synchronized":
		return true
	default:
		return false
	}
}

// leadingName returns the name at the start of a text.
func leadingName(text string) string {
	for i, r := range text {
		if !isLetter(r) && r != '_' && r != '$' && (i == 0 || r < '0' || r > '9') {
			if i > 0 && (r == '!' || r == '?') && strings.IndexByte(" (\n", (text + "\n")[i+1]) >= 0 {
				return text[:i+1] // Ruby's names may end with ? or !
			}
			return text[:i]
		}
	}
	return text
}

// declarationHead returns a line without the body of its declaration.
func declarationHead(line string) string {
	line, _, _ = strings.Cut(line, " { ")
	line = strings.TrimRight(line, " {(:;=,")
	if utf8.RuneCountInString(line) > maxWidth {
		line = string([]rune(line)[:maxWidth]) + "..."
	}
	return line
}

// isPrivateName reports whether a name is not for others.
func isPrivateName(how, name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	switch how {
	case "lower":
		return !unicode.IsUpper(first)
	case "underscore":
		return first == '_'
	default:
		return false
	}
}

// importedPath returns the file or package that a line imports, with slashes.
func (l outlineLanguage) importedPath(line string) string {
	line = strings.TrimLeft(line, " \t")
	i := slices.IndexFunc(l.Imports, func(word string) bool { return strings.HasPrefix(line, word) })
	if i < 0 {
		return ""
	}
	if l.Between == "" {
		end := strings.LastIndexAny(line, "\"'")
		if end < 0 {
			return ""
		}
		return line[strings.LastIndexAny(line[:end], "\"'")+1 : end]
	}
	name := strings.TrimLeft(line[len(l.Imports[i]):], " ")
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "static "), " ")
	name = strings.TrimRight(name, ";{*")
	rest := strings.TrimLeft(name, ".")
	slashed := strings.ReplaceAll(rest, l.Between, "/")
	if up := len(name) - len(rest); up > 0 { // Python's relative import
		return "./" + strings.Repeat("../", up-1) + slashed
	}
	return slashed
}

// languageOf returns the language of a file, and whether the file may declare something for others;
// nil for an unknown language.
func languageOf(all []outlineLanguage, file string) (l *outlineLanguage, shown bool) {
	base := path.Base(file)
	for i := range all {
		if !slices.ContainsFunc(all[i].Ends, func(end string) bool { return strings.HasSuffix(base, end) }) {
			continue
		}
		test := slices.ContainsFunc(all[i].Tests, func(p string) bool { ok, _ := path.Match(p, base); return ok })
		return &all[i], !test && !isInAuxiliaryDirectory(file)
	}
	return nil, false
}

// isInAuxiliaryDirectory reports whether a file is in a directory for third-party code, samples or build
// results.
func isInAuxiliaryDirectory(file string) bool {
	for part := range strings.SplitSeq(path.Dir(file), "/") {
		switch part {
		case "vendor", "node_modules", "third_party", "testdata", "fixtures", "__tests__", "dist", "build", "target", "generated":
			return true
		}
	}
	return false
}
