package tamper

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// HasChecks reports whether the lines that a change adds to test files check anything: with
// an assertion that is not always true and is about more than literals, or, in a file that
// fails by its exit code, with a command that can fail.
func HasChecks(files []File) bool {
	h := learn()
	for _, f := range files {
		if f.New == nil || !stack.ServesTests(f.Path) {
			continue
		}
		lang := h.languageOf(f.Path)
		checks := h.asserts(lang)
		if len(lang.endings) > 0 && !stack.Checks(f.Path) {
			checks = canFail
		}
		if slices.ContainsFunc(compare(h.code(f)).added, func(a line) bool { return !comment(a.text) && checks(a.text) }) {
			return true
		}
	}
	return false
}

// asserts returns a function that reports whether a line asserts something about more than
// literals.
func (h *habits) asserts(lang language) func(text string) bool {
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

// canFail reports whether a line of a script is a command that can fail.
func canFail(text string) bool {
	idle := strings.Fields("true : echo printf exit set fi done then else do { } esac export cd return")
	fixed := regexp.MustCompile(`^\w+=\S*$|\|\|\s*(?:true|:|echo\b)|^(?:test|\[)\s+\w+\s+-?(?:eq|=)\s+\w+\s*\]?$`)
	words := strings.Fields(text)
	return len(words) > 0 && !slices.Contains(idle, strings.TrimRight(words[0], ";")) && !fixed.MatchString(text)
}
