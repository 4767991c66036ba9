package scriptcommands

import (
	"slices"
	"strings"
)

// checkerInvocation describes one way to call a checking tool.
type checkerInvocation struct {
	tool string   // the program, and the words after it that matter
	gate string   // lint, format or type
	fix  []string // words that let it write, also followed by = and a value
	ask  string   // the check-only option to use instead; empty: none
	must []string // one of these words is required for that gate; empty: none
}

// checkerRules lists tools that inspect a tree and report problems, and whose result no other
// command needs.
func checkerRules() []checkerInvocation {
	return []checkerInvocation{
		{tool: "eslint", gate: "lint", fix: []string{"--fix", "--fix-type"}},
		{tool: "biome lint", gate: "lint", fix: []string{"--write", "--fix", "--apply", "--unsafe", "--apply-unsafe"}},
		{tool: "biome check", gate: "lint", fix: []string{"--write", "--fix", "--apply", "--unsafe", "--apply-unsafe"}},
		{tool: "biome ci", gate: "lint"},
		{tool: "biome format", gate: "format", fix: []string{"--write", "--fix"}},
		{tool: "standard", gate: "lint", fix: []string{"--fix"}},
		{tool: "ts-standard", gate: "lint", fix: []string{"--fix"}},
		{tool: "xo", gate: "lint", fix: []string{"--fix"}},
		{tool: "tslint", gate: "lint", fix: []string{"--fix"}},
		{tool: "oxlint", gate: "lint", fix: []string{"--fix", "--fix-suggestions"}},
		{tool: "stylelint", gate: "lint", fix: []string{"--fix"}},
		{tool: "markdownlint", gate: "lint", fix: []string{"--fix", "-f"}},
		{tool: "markdownlint-cli2", gate: "lint", fix: []string{"--fix"}},
		{tool: "jshint", gate: "lint"},
		{tool: "publint", gate: "lint"},
		{tool: "knip", gate: "lint", fix: []string{"--fix"}},
		{tool: "cspell", gate: "lint"},
		{tool: "prettier", gate: "format", fix: []string{"--write", "-w"}, ask: "--check"},
		{tool: "dprint check", gate: "format"},
		{tool: "oxfmt", gate: "format", fix: []string{"--write"}, ask: "--check"},
		{tool: "tsc", gate: "type", must: []string{"--noEmit"}},
		{tool: "vue-tsc", gate: "type", must: []string{"--noEmit"}},
		{tool: "tsd", gate: "type"},
		{tool: "flow check", gate: "type"},
		{tool: "ruff check", gate: "lint", fix: []string{"--fix", "--fix-only", "--unsafe-fixes"}},
		{tool: "ruff format", gate: "format", ask: "--check"},
		{tool: "black", gate: "format", ask: "--check"},
		{tool: "isort", gate: "format", ask: "--check-only"},
		{tool: "flake8", gate: "lint"},
		{tool: "mypy", gate: "type"},
		{tool: "pyright", gate: "type"},
		{tool: "rubocop", gate: "lint", fix: []string{"-a", "-A", "--autocorrect", "--autocorrect-all", "--auto-correct", "--fix-layout", "-x"}},
		{tool: "cargo fmt", gate: "format", ask: "--check"},
		{tool: "gofmt", gate: "format", fix: []string{"-w"}, ask: "-l"},
		{tool: "golangci-lint run", gate: "lint", fix: []string{"--fix"}},
	}
}

// CheckOnlyForm returns the gate of a command that only checks files, and the words of a form
// that changes none of them. The gate is empty for any other command; wrote reports whether the
// original command would change files.
func CheckOnlyForm(c ScriptCommand) (gate string, words []string, wrote bool) {
	for _, l := range checkerRules() {
		tool := strings.Fields(l.tool)
		if len(c.Words) < len(tool) || !slices.Equal(c.Words[:len(tool)], tool) {
			continue
		}
		if len(l.must) > 0 && !slices.ContainsFunc(c.Words, func(w string) bool { return slices.Contains(l.must, w) }) {
			continue
		}
		words = slices.DeleteFunc(slices.Clone(c.Words), func(w string) bool {
			name, _, _ := strings.Cut(w, "=")
			return slices.Contains(l.fix, name) && w != name+"=false"
		})
		wrote = len(words) < len(c.Words)
		asked := slices.ContainsFunc(words, func(w string) bool {
			return slices.Contains([]string{"--check", "-c", "--check-only", "-l", "--list-different", "--diff", "--dry-run"}, w)
		})
		if l.ask != "" && !asked {
			wrote = wrote || l.tool != "prettier"
			words = slices.Insert(words, len(tool), l.ask)
		}
		return l.gate, words, wrote
	}
	return "", nil, false
}
