package codemap

import "strings"

// EnclosingName returns the name of the declaration around a line of a file, as a map shows
// it, or "" if that is unknown, or a map never shows the file.
func EnclosingName(file, text string, line int) (name string) {
	lang, shows := languageOf(knownLanguages(), file)
	if lang == nil || !shows {
		return ""
	}
	for _, d := range lang.outlineText(text).declares {
		if d.line <= line {
			name = d.name
		}
	}
	return name
}

// IsShownInMap reports whether a map shows a file with the lines that it declares, and whether it
// shows a name among them.
func IsShownInMap(text, file, name string) (found, named bool) {
	lang, _ := languageOf(knownLanguages(), file)
	within := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		indented, ok := strings.CutPrefix(line, "  ")
		if !ok {
			head, _, _ := strings.Cut(line, " (")
			within = head == file
			found = found || within
			continue
		}
		_, declares, _ := strings.Cut(indented, " ")
		if within && lang != nil {
			if d, ok := lang.parseDeclaration(declares); ok && d.name == name {
				named = true
			} else if d, ok := lang.parseDeclaration("  " + declares + " {"); ok && d.name == name {
				named = true
			}
		}
	}
	return found, named
}
