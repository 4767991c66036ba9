package trigger_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/trigger"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestFallback never takes a yes for an answer that nobody gave where much
// hangs on it, whatever the question proposes.
func TestFallback(t *testing.T) {
	for name, want := range map[string]string{
		"": "yes", trigger.Ambiguity: "yes", trigger.Security: nexus.Unapproved, trigger.Publish: nexus.Unapproved, "from a later version": nexus.Unapproved,
	} {
		if got := trigger.Fallback(nexus.QuestionAsked{Trigger: name, Fallback: "yes"}); got != want {
			t.Errorf("%q falls back to %q, want %q", name, got, want)
		}
	}
	if nexus.Agrees(nexus.Unapproved) {
		t.Error("the fallback of a red question is a yes")
	}
}
