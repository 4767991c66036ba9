package accept_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestKept shows that what exists keeps working by the tests that passed before.
func TestKept(t *testing.T) {
	named := func(e nexus.GateEvidence, names string) nexus.GateEvidence { e.Named = names; return e }
	apart := nexus.GateEvidence{Gate: "test", State: nexus.NotRun, Apart: true}
	flaky := named(verifierVerdict(1), "pass m.A")
	flaky.Flaky = []nexus.FlakyTestCount{{Test: "m.B", Failed: 1, Runs: 2}}
	for name, c := range map[string]struct {
		base, now nexus.GateEvidence
		by        nexus.EvidenceReason
		left      bool
		why       string
	}{
		"all pass":                     {verifierVerdict(9), verifierVerdict(10), nexus.KeptBearing, false, "pass with it: 9"},
		"one failed before":            {verifierVerdict(9, "m.Old"), old(9, "m.Old"), nexus.KeptBearing, false, "pass with it: 9"},
		"one passed and fails":         {verifierVerdict(9), verifierVerdict(8, "m.B"), "", false, "gate test did not pass: fail"},
		"fewer pass":                   {verifierVerdict(9), verifierVerdict(7), nexus.KeptBearing, false, "2 tests of gate test"},
		"one of the names is gone":     {named(verifierVerdict(2), "pass m.A,pass m.B"), named(verifierVerdict(2), "pass m.A,pass m.C"), nexus.KeptBearing, false, "no longer there: m.B"},
		"one of the names is skipped":  {named(verifierVerdict(2), "pass m.A,pass m.B"), named(verifierVerdict(2), "pass m.A,skip m.B"), nexus.KeptBearing, false, "no longer there: m.B"},
		"one that was skipped is gone": {named(verifierVerdict(1), "pass m.A,skip m.B"), named(verifierVerdict(1), "pass m.A"), nexus.KeptBearing, false, ""},
		"one is flaky":                 {named(verifierVerdict(2), "pass m.A,pass m.B"), flaky, nexus.KeptBearing, false, ""},
		"all are gone":                 {named(verifierVerdict(1), "pass m.A"), named(verifierVerdict(1), "pass m.B"), "", true, "m.A; a person must decide"},
		"no test before":               {nexus.GateEvidence{Gate: "test", State: nexus.NotRun}, verifierVerdict(1), "", true, "no test that passed before"},
		"not concerned":                {verifierVerdict(9), apart, "", true, "no test that passed before"},
		"it did not run":               {verifierVerdict(9), nexus.GateEvidence{Gate: "lint", State: nexus.Pass}, "", false, "gate test did not run"},
		"only related ones ran":        {verifierVerdict(9), nexus.GateEvidence{Gate: "related: test", State: nexus.Pass, Tree: "t", Counts: nexus.TestCounts{Passed: 2}}, nexus.KeptBearing, false, "pass with it: 9"},
	} {
		all := accept.JudgeGateCriteria(accept.GatePassedTree{
			Task:    nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "every test that passed before the  work passes with it.", Check: "test"}}},
			Changed: []string{"a.go"}, Base: []nexus.GateEvidence{c.base}, Now: []nexus.GateEvidence{c.now},
			Ended: func(e nexus.GateEvidence) map[string]string {
				ended := map[string]string{}
				for _, one := range strings.Split(e.Named, ",") {
					if state, test, ok := strings.Cut(one, " "); ok {
						ended[test] = state
					}
				}
				return ended
			},
		})
		if len(all) != 1 || all[0].By != c.by || all[0].Left != c.left || !strings.Contains(all[0].Why, c.why) {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
