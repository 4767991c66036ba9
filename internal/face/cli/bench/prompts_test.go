package bench

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

func TestPromptsDrawn(t *testing.T) {
	got := drawPrompts(view.OutputStyle{}, PromptFigures{
		Tasks: 10, Sessions: 24, Requests: 1, Input: 268602, Cached: 0.825,
		Parts: []SectionUse{{Role: "coder", Section: "tools", Sessions: 10, Tokens: 1234, Share: 0.405, Used: 9, Names: 12, NamedBy: 3.25}},
	})
	want := "10 tasks, 24 sessions, 1 request: 268,602 tokens of input, 82.5 % of them read from the cache.\n\n" +
		"role   section  sessions  tokens  of all input  used in  names used\n" +
		"coder  tools    10        1,234   40.5 %        9 of 10  3.2 of 12\n"
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}
