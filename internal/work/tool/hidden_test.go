package tool

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// TestNothingHiddenReachesTheModel shows what a repository or a program hides
// from people: what a terminal obeys, what turns text around, tags.
func TestNothingHiddenReachesTheModel(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	b.write(t, "trojan\u202e.go", "package x // \u2066 }\u202e if admin {\n\U000e0041\U000e0042\n\x1b]52;c;eA==\x07\u200b\n")
	for name, answer := range map[string]CallOutcome{
		"read_file":   b.call(t, "read_file", map[string]any{"path": "trojan\u202e.go"}),
		"search_code": b.call(t, "search_code", map[string]any{"pattern": "admin"}),
		"list_files":  b.call(t, "list_files", map[string]any{}),
		"shell":       b.call(t, "shell", map[string]any{"command": `cat *.go; printf '\033[31mred\033[0m\n10%%\r100%%\n'; printf '\303\050'`}),
	} {
		if text := answer.Result.Text; strings.ContainsFunc(text, sanitize.IsHiddenCharacter) || !strings.Contains(text, "<U+202E>") {
			t.Errorf("%s: %q", name, text)
		}
		if strings.ContainsFunc(answer.About, sanitize.IsHiddenCharacter) || strings.Contains(answer.About, "\n") {
			t.Errorf("about %s: %q", name, answer.About)
		}
		if text := answer.Result.Text; name == "shell" && !strings.Contains(text, "red\n100%\n") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
