package docindex

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
)

// directoryDoc is how a language describes what a directory holds within a file of it. A line that is like text says it,
// where the one below is like below. Both are patterns for Go and for awk.
type directoryDoc struct{ ends, files, text, below string }

func directoryDocs() []directoryDoc {
	return []directoryDoc{
		{".go", "*.go", `^// |[*]/$`, `^package `},
		{".rs", "*.rs", `^//!|^/[*]!`, `^`},
		{".py", "__init__.py", `^[rRuU]?"`, `^`},
		{".java", "package-info.java", `^/[*][*]`, `^`},
	}
}

// DescribesDirectory reports whether a file of that name says what its directory holds.
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

// DirectoryDocCheck returns a command that ends well where a file of a directory, whose name has an ending, says what the directory
// holds; empty where no language of that ending has such.
func DirectoryDocCheck(ending string) string {
	for _, i := range directoryDocs() {
		if i.ends == ending {
			const program = "b~/%s/&&/%s/{x=1} {b=$0} END{exit !x}"
			return fmt.Sprintf("cat %s | awk %s", i.files, cmdline.Quote(fmt.Sprintf(program, slashes(i.text), slashes(i.below))))
		}
	}
	return ""
}

// DirectoryDocFile returns the name of the file in which a directory says what it holds, whose source files all have an
// ending: that of the language, if it has one for this, else README.md.
func DirectoryDocFile(ending string) string {
	for _, i := range directoryDocs() {
		if i.ends == ending && !strings.Contains(i.files, "*") {
			return i.files
		}
	}
	return "README.md"
}
