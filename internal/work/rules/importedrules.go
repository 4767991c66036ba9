package rules

import (
	"regexp"
	"strings"
)

// importWord is a word that may name a file to import.
var importWord = regexp.MustCompile(`(?:^|\s)@([^\s@` + "`" + `]+)`)

var codeSpan = regexp.MustCompile("`[^`]*`")

// importedPaths returns the paths that a text imports with @, in order, each once. Text in code is
// ignored.
func importedPaths(text string) []string {
	var all []string
	seen := map[string]bool{}
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		if mark := fenceOf(bare); mark != "" && (fence == "" || strings.HasPrefix(mark, fence) && mark == bare) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		for _, m := range importWord.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, " "), -1) {
			name := strings.TrimRight(m[1], ".,;:)!?'\"")
			if name != "" && !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}

// fenceOf returns the row of backticks or tildes at the start of a line, if it is long enough
// to open or close a code block.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if rest := strings.TrimLeft(line, c); len(line)-len(rest) >= 3 {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// containsOnlyImports reports whether a text contains only imports.
func containsOnlyImports(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if bare := strings.TrimSpace(line); bare != "" && (!strings.HasPrefix(bare, "@") || strings.ContainsAny(bare, " \t")) {
			return false
		}
	}
	return true
}

// The marks around the text that Nexus writes into instruction files of other tools.
const (
	Begin = "<!-- nexus:begin -->"
	End   = "<!-- nexus:end -->"
)

// withoutManagedBlocks returns a text without the part that Nexus wrote, which repeats its source.
func withoutManagedBlocks(text string) string {
	before, rest, ok := strings.Cut(text, Begin)
	if !ok {
		return text
	}
	_, after, ok := strings.Cut(rest, End)
	if !ok {
		return text
	}
	return before + withoutManagedBlocks(after)
}
