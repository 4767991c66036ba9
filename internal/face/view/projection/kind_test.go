package projection

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/people"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestKindOf holds that what waits is called what a person is to do about it.
func TestKindOf(t *testing.T) {
	for trigger, want := range map[string]Kind{
		nexus.ChangeTrigger: KindReview, people.ReviewTrigger: KindReview, people.AmbiguityTrigger: KindQuestion,
		nexus.PlanTrigger: KindApproval, people.SecurityTrigger: KindApproval,
	} {
		if got := kindOf(people.Item{Trigger: trigger}); got != want {
			t.Errorf("%s is a %s, want %s", trigger, got, want)
		}
	}
}
