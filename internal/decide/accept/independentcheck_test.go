package accept_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestShowIndependently holds that a check counts only for the criterion that it was
// written for, and only where it failed without the change and passes with it.
func TestShowIndependently(t *testing.T) {
	own := nexus.CriterionGateEvidence{Number: 1, Of: "o", Own: true, By: nexus.NewBearing, Tests: []string{"own_test.sh"}, Why: "own"}
	for name, c := range map[string]struct {
		check nexus.CriterionTest
		own   bool
		by    nexus.EvidenceReason
		tried string
	}{
		"shown":      {nexus.CriterionTest{Number: 1, Of: "o", File: "x_test.sh", Proved: true}, false, nexus.BlindBearing, ""},
		"red":        {nexus.CriterionTest{Number: 1, Of: "o", File: "x_test.sh", Red: true, Why: "no one"}, true, nexus.NewBearing, "x_test.sh fails with the change: no one"},
		"not usable": {nexus.CriterionTest{Number: 1, Of: "o", File: "x_test.sh", Why: "it passes without the change"}, true, nexus.NewBearing, "no independent check: it passes without the change"},
		"of another": {nexus.CriterionTest{Number: 2, Of: "o", File: "x_test.sh", Proved: true}, true, nexus.NewBearing, ""},
		"stale":      {nexus.CriterionTest{Number: 1, Of: "before", File: "x_test.sh", Proved: true}, true, nexus.NewBearing, ""},
	} {
		got := accept.AddIndependentResults([]nexus.CriterionGateEvidence{own}, nexus.IndependentChecksRun{Checks: []nexus.CriterionTest{c.check}})[0]
		if got.Own != c.own || got.By != c.by || !strings.Contains(got.Tried, c.tried) || c.tried == "" && got.Tried != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	turned := nexus.CriterionGateEvidence{Number: 1, Of: "o", By: nexus.TurnedBearing}
	if got := accept.AddIndependentResults([]nexus.CriterionGateEvidence{turned}, nexus.IndependentChecksRun{Checks: []nexus.CriterionTest{{Number: 1, Of: "o", Red: true}}})[0]; got.Tried != "" {
		t.Errorf("what is shown otherwise needs no independent check: %+v", got)
	}
}
