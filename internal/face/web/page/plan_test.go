package page

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// TestPlanSaysWhatItTakes holds that who approves a plan in a browser sees what the
// terminal says when it asks: time, money, how sure that is, assumptions and risks.
func TestPlanSaysWhatItTakes(t *testing.T) {
	p := PlanEditorPage{Tasks: make([]projection.TaskDetailView, 1), About: projection.PlanApprovalFacts{
		Estimate: &nexus.PlanEstimate{
			Work: 4, Minutes: 3, Low: nexus.PlanEstimateBound{Minutes: 1, Money: nexus.Dollar}, High: nexus.PlanEstimateBound{Minutes: 9, Money: 3 * nexus.Dollar},
			Money: 2 * nexus.Dollar, Most: 5 * nexus.Dollar, Thumb: 1, Confidence: nexus.LowConfidence,
		},
		Critical: []nexus.TaskID{"T1", "T2"}, Assumed: []string{"Sizes are in bytes."},
		Foreseen: []nexus.PlanRisk{{Task: "T1", Text: "it may be slow"}},
	}}
	var b strings.Builder
	if err := planScreen(PageFrame{}, p).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	var card strings.Builder
	if err := item(PageFrame{Screen: "inbox"}, projection.InboxItem{Estimate: p.About.Estimate}).Render(t.Context(), &card); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"time: about 3 min (1 to 9), 4 min of work; low confidence", "money: about $2.00 ($1.00 to $3.00); at the worst $5.00, the budget",
		"by a rule of thumb", "T1, T2", "P-1: Sizes are in bytes.", "T1: it may be slow",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page of the plan does not say %q", want)
		}
		if strings.Contains(want, ": about ") && !strings.Contains(card.String(), want) {
			t.Errorf("the card of the inbox does not say %q", want)
		}
	}
}
