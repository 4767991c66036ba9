package projection

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestKindOf holds that what waits is called what a person is to do about it.
func TestKindOf(t *testing.T) {
	for trigger, want := range map[string]InboxItemKind{
		nexus.ChangeTrigger: KindReview, humaninput.ReviewTrigger: KindReview, humaninput.AmbiguityTrigger: KindQuestion,
		nexus.PlanTrigger: KindApproval, humaninput.SecurityTrigger: KindApproval,
	} {
		if got := itemKind(humaninput.WaitingItem{Trigger: trigger}); got != want {
			t.Errorf("%s is a %s, want %s", trigger, got, want)
		}
	}
}
