package codemap

import (
	"bytes"
	_ "embed" // the table of languages
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// languages.json says, as data, how lines look with which a file declares
// something or names another file. Nothing is parsed: a line at the very
// beginning of which a word stands is taken for what it looks like.
//
//go:embed languages.json
var table []byte

// language is one row of the table.
type language struct {
	Name      string   `json:"name"`
	Ends      []string `json:"ends"`      // of a file's name
	Tests     []string `json:"tests"`     // as in [path.Match], of names whose files declare nothing for others
	Declares  []string `json:"declares"`  // what a line begins with that declares something
	Hides     string   `json:"hides"`     // names that are private: lower, underscore
	Imports   []string `json:"imports"`   // what a line begins with, less its indent, that names another file
	Between   string   `json:"between"`   // what stands between the parts of that name; empty: it is the last quoted text of the line
	Generated string   `json:"generated"` // what a line begins with that says that nobody wrote the file
}

// languages reads the table.
func languages() ([]language, error) {
	var all []language
	d := json.NewDecoder(bytes.NewReader(table))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("table of languages: %w", err)
	}
	return all, nil
}

// Bounds of what is read of a file.
const (
	maxDeclared = 12  // declarations that are shown
	maxWidth    = 110 // characters of one
	importLines = 300 // in which imports are looked for
)

// outline is what a file declares, and what it names.
type outline struct {
	declares []string
	more     int // that are not shown
	imports  []string
}

// outline reads the text of a file.
func (l language) outline(text string) outline {
	var o outline
	n := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		if n++; n == 1 && l.Generated != "" && strings.HasPrefix(line, l.Generated) {
			return outline{}
		}
		if n <= importLines {
			if name := l.imported(line); name != "" {
				o.imports = append(o.imports, name)
			}
		}
		if d := l.declared(line); d != "" && len(o.declares) < maxDeclared {
			o.declares = append(o.declares, d)
		} else if d != "" {
			o.more++
		}
	}
	return o
}

// declared returns a line that declares something for others, in short.
func (l language) declared(line string) string {
	if line[0] == ' ' || line[0] == '\t' {
		return ""
	}
	i := slices.IndexFunc(l.Declares, func(word string) bool { return strings.HasPrefix(line, word) })
	if i < 0 {
		return ""
	}
	name := strings.TrimLeft(line[len(l.Declares[i]):], " ")
	if l.Hides == "lower" && strings.HasPrefix(name, "(") { // a receiver
		recv, rest, _ := strings.Cut(name, ")")
		if of := strings.TrimLeft(recv[strings.LastIndexAny(recv, " (")+1:], "*"); private(l.Hides, of) {
			return ""
		}
		name = strings.TrimLeft(rest, " ")
	}
	if private(l.Hides, name) {
		return ""
	}
	line, _, _ = strings.Cut(line, " { ") // what it does is not shown
	line = strings.TrimRight(line, " {(:;=")
	if utf8.RuneCountInString(line) > maxWidth {
		line = string([]rune(line)[:maxWidth]) + "..."
	}
	return line
}

// private reports whether a name is not for others.
func private(how, name string) bool {
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

// imported returns the file or package that a line names, with slashes.
func (l language) imported(line string) string {
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
	if up := len(name) - len(rest); up > 0 { // Python's way to say: from here
		return "./" + strings.Repeat("../", up-1) + slashed
	}
	return slashed
}

// of returns the language of a file, and whether the file declares something
// for others; nil where it is none that the table knows.
func of(all []language, file string) (l *language, shown bool) {
	base := path.Base(file)
	for i := range all {
		if !slices.ContainsFunc(all[i].Ends, func(end string) bool { return strings.HasSuffix(base, end) }) {
			continue
		}
		test := slices.ContainsFunc(all[i].Tests, func(p string) bool { ok, _ := path.Match(p, base); return ok })
		return &all[i], !test && !aside(file)
	}
	return nil, false
}

// aside reports whether a file lies where code of others, samples and results
// of builds lie.
func aside(file string) bool {
	for part := range strings.SplitSeq(path.Dir(file), "/") {
		switch part {
		case "vendor", "node_modules", "third_party", "testdata", "fixtures", "__tests__", "dist", "build", "target", "generated":
			return true
		}
	}
	return false
}
