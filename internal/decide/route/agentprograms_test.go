package route_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
)

// TestPrograms chooses among what is installed: * costs money.
func TestPrograms(t *testing.T) {
	for _, c := range []struct{ usable, writes, reads string }{
		{"", "", ""},
		{"claude:anthropic", "claude", "claude"},
		{"claude:anthropic codex:openai", "claude codex", "codex claude"},
		{"claude:anthropic goose:* opencode:*", "claude", "claude"},
		{"aider:* claude:anthropic", "claude", "claude"},
		{"goose:* opencode:*", "goose", "goose"},
		{"a:x b:x c:y d:z", "a b c", "c d a"},
		{"a: b:", "a b", "a b"},
	} {
		var usable []route.AgentProgram
		for one := range strings.FieldsSeq(c.usable) {
			name, maker, _ := strings.Cut(one, ":")
			usable = append(usable, route.AgentProgram{Name: name, Maker: strings.Trim(maker, "*"), Metered: maker == "*"})
		}
		writes, reads := route.ChoosePrograms(usable)
		if got := strings.Join(writes, " "); got != c.writes {
			t.Errorf("of %q, %q write, want %q", c.usable, got, c.writes)
		}
		if got := strings.Join(reads, " "); got != c.reads {
			t.Errorf("of %q, %q read, want %q", c.usable, got, c.reads)
		}
	}
}
