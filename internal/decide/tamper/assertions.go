package tamper

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// AddsChecks reports whether the lines that a change adds to test files check anything: with
// an assertion that is not always true and is about more than literals, or, in a file that
// fails by its exit code, with a command that can fail.
func AddsChecks(files []ChangedFileVersions) bool {
	h := compilePatterns()
	for _, f := range files {
		if f.New == nil || !stack.ServesTests(f.Path) {
			continue
		}
		lang := h.languageOf(f.Path)
		checks := h.assertionTest(lang)
		if len(lang.endings) > 0 && !stack.HasAssertions(f.Path) {
			checks = isFailingCommand
		}
		if slices.ContainsFunc(diffVersions(h.withoutInertText(f)).added, func(a numberedLine) bool { return !isComment(a.text) && checks(a.text) }) {
			return true
		}
	}
	return false
}

// assertionTest returns a function that reports whether a line asserts something about more than
// literals.
func (h *tamperPatterns) assertionTest(lang testLanguagePatterns) func(text string) bool {
	name := regexp.MustCompile(`[A-Za-z_]\w*`)
	literals := strings.Fields("true false none null nil self this t not is in and or assert expect to be equal equals tobe toequal")
	return func(text string) bool {
		at := lang.assert.FindStringIndex(text)
		if at == nil || h.weakens.MatchString(text) {
			return false
		}
		match, rest := text[at[0]:at[1]], text[at[1]:]
		switch {
		case strings.HasPrefix(match, "t."), strings.HasPrefix(text, "//"):
			return true // it fails by itself, depending on a condition; or an example is compared
		case strings.HasPrefix(match, "."), strings.HasPrefix(match, "->"):
			rest = text[:at[0]] + rest // the checked value comes before it
		}
		return slices.ContainsFunc(name.FindAllString(rest, -1), func(n string) bool { return !slices.Contains(literals, strings.ToLower(n)) })
	}
}

// isFailingCommand reports whether a line of a script is a command that can fail.
func isFailingCommand(text string) bool {
	idle := strings.Fields("true : echo printf exit set fi done then else do { } esac export cd return")
	fixed := regexp.MustCompile(`^\w+=\S*$|\|\|\s*(?:true|:|echo\b)|^(?:test|\[)\s+\w+\s+-?(?:eq|=)\s+\w+\s*\]?$`)
	words := strings.Fields(text)
	return len(words) > 0 && !slices.Contains(idle, strings.TrimRight(words[0], ";")) && !fixed.MatchString(text)
}
