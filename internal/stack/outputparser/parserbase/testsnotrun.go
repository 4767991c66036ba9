package parserbase

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Begun begins the message of a test that began and did not end.
const Begun = "the test started and never ended"

// IsTestsNotRun reports whether a finding of a test runner means that tests did not run: a file
// or a package of tests could not be loaded or built, or tests existed and never began.
func IsTestsNotRun(f nexus.Finding) bool {
	switch f.Code {
	case CodeVanished:
		return !strings.HasPrefix(f.Message, Begun)
	case CodeCompile, CodeVet:
		return true
	case CodeTest, CodePanic, CodeRace, CodeTimeout, CodeHang, CodeExit, CodeCoverage, CodeFlaky, CodeMore:
		return false
	}
	return f.Test == ""
}

// NoTestsReason returns why no test ran, if a runner's findings and counts show that: none
// passed, and all that it names could not run. It returns "" if a test ran.
func NoTestsReason(found []nexus.Finding, c nexus.TestCounts) string {
	var unrun []nexus.Finding
	for _, f := range found {
		switch {
		case !IsBlocking(f) || f.Code == CodeCoverage || f.Code == CodeMore:
		case !IsTestsNotRun(f):
			return ""
		default:
			unrun = append(unrun, f)
		}
	}
	if len(unrun) == 0 || c.Passed > 0 || c.Failed > len(unrun) {
		return ""
	}
	first := unrun[0]
	lines := strings.Split(first.Message, "\n")
	text := lines[0]
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "Error") && !strings.HasPrefix(l, "Failure/") }); i >= 0 {
		text = strings.TrimSpace(lines[i]) // the last line of a traceback
	}
	text = strings.TrimPrefix(fmt.Sprintf("%s: %s", cmp.Or(first.File, first.Test), text), ": ")
	if len(unrun) == 1 {
		return "no test ran: " + text
	}
	return fmt.Sprintf("no test ran, for %d reasons, the first of them: %s", len(unrun), text)
}

// unloadable matches the messages of interpreters that cannot load a file.
const unloadable = `^(?:#\s+)?(?:E\s+)?(?:Uncaught )?(?:` +
	`Error: Cannot find (?:module|package) |Error \[ERR_\w*(?:MODULE|PACKAGE|IMPORT)\w*\]: |SyntaxError(?: \[\w+\])?: |TypeError \[ERR_UNKNOWN_FILE_EXTENSION\]: |` +
	`ModuleNotFoundError: |ImportError(?:: | while loading )|IndentationError: |TabError: |` +
	`.*cannot load such file -- .*\(LoadError\)$|.*\(SyntaxError\)$|[^\s:]+\.rb:\d+: syntax error, |` +
	`(?:PHP )?Fatal error:  (?:Uncaught Error: Failed opening required|Uncaught Error: Class |require)|(?:PHP )?Parse error:  )`

// UnloadableFile returns the message of an interpreter that cannot load a file. A test command that
// prints this, and nothing about any test, ran none.
func UnloadableFile(all []string) (nexus.Finding, bool) {
	re := regexp.MustCompile(unloadable)
	i := slices.IndexFunc(all, func(l string) bool { return len(l) < 4096 && re.MatchString(l) })
	if i < 0 {
		return nexus.Finding{}, false
	}
	return nexus.Finding{Code: CodeCompile, Message: strings.TrimSpace(strings.TrimPrefix(all[i], "#"))}, true
}

// MarkUnloadableFiles corrects findings that present a file as a failed test, if the
// interpreter reported just before that it could not load that file. Reported is a pattern of
// the runner's line with the result of a file, with the file in its group.
func (in ToolOutput) MarkUnloadableFiles(all []string, reported string, found []nexus.Finding) {
	re, end := regexp.MustCompile(unloadable), regexp.MustCompile(reported)
	why, last := map[string]string{}, ""
	for _, l := range all {
		l = l[:min(len(l), 4096)]
		if m := end.FindStringSubmatch(l); m != nil {
			if file := in.RelativePath(m[1]); file != "" && last != "" && why[file] == "" {
				why[file] = last
			}
			last = ""
		} else if last == "" && re.MatchString(l) {
			last = strings.TrimSpace(strings.TrimPrefix(l, "#"))
		}
	}
	for i := range found {
		f := &found[i]
		if file := in.RelativePath(f.Test); f.Code == CodeTest && file != "" && why[file] != "" {
			*f = nexus.Finding{Code: CodeCompile, File: file, Message: why[file]}
		}
	}
}
