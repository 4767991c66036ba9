package missingdocs

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// directoryDocPattern matches a language's description of a directory in one of its files: a line
// matches text and the next one matches below. Both are patterns for Go and for awk.
type directoryDocPattern struct{ ends, files, text, below string }

func directoryDocs() []directoryDocPattern {
	return []directoryDocPattern{
		{".go", "*.go", `^// |[*]/$`, `^package `},
		{".rs", "*.rs", `^//!|^/[*]!`, `^`},
		{".py", "__init__.py", `^[rRuU]?"`, `^`},
		{".java", "package-info.java", `^/[*][*]`, `^`},
	}
}

// DescribesDirectory reports whether a file of that name describes its directory.
func DescribesDirectory(base string, lines []string) bool {
	for _, i := range directoryDocs() {
		if ok, err := path.Match(i.files, base); err != nil || !ok {
			continue
		}
		text, below := regexp.MustCompile(i.text), regexp.MustCompile(i.below)
		for n := range lines[:max(len(lines)-1, 0)] {
			if text.MatchString(lines[n]) && below.MatchString(lines[n+1]) {
				return true
			}
		}
	}
	return false
}

// DirectoryDocCommand returns a command that succeeds if a file in the directory with that ending
// describes the directory, or "" if no language with the ending has such descriptions.
func DirectoryDocCommand(ending string) string {
	for _, i := range directoryDocs() {
		if i.ends == ending {
			const program = "b~/%s/&&/%s/{x=1} {b=$0} END{exit !x}"
			return fmt.Sprintf("cat %s | awk %s", i.files, scriptcommands.QuoteShellWord(fmt.Sprintf(program, escapeSlashes(i.text), escapeSlashes(i.below))))
		}
	}
	return ""
}

// DirectoryDocFile returns the name of the file that describes a directory whose source files
// all have an ending: that of the language, if it has one, else README.md.
func DirectoryDocFile(ending string) string {
	for _, i := range directoryDocs() {
		if i.ends == ending && !strings.Contains(i.files, "*") {
			return i.files
		}
	}
	return "README.md"
}
