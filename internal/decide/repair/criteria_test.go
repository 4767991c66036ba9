package repair_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestUnshown lets nothing reach a reviewer of whose criteria nothing is shown:
// a tester is asked once, what its check refutes goes to the author, who is also
// told once what is not shown, and the rest is left to a person.
func TestUnshown(t *testing.T) {
	const why = "T1/AC-1 is unknown: nothing bears on it"
	green := join(wrote(1, coder, ""), judgeFindings(nexus.Pass, ""))
	asked := join(green, wrote(2, tester, repair.CriteriaGate), judgeFindings(nexus.Pass, ""))
	red := []nexus.Fact{nexus.CriterionTestsFound{Attempt: "T1.1", Tree: "t", Checks: []nexus.CriterionTest{{Number: 1, File: "x_test.sh", Command: "sh x_test.sh", Red: true, Why: "it fails"}}}}
	author := repair.RepairStep{
		Move: repair.Write, Role: nexus.Coder, Cause: nexus.AcceptGate + "sh x_test.sh", Why: "it fails",
		Findings: []nexus.Finding{{Gate: nexus.AcceptGate + "sh x_test.sh", File: "x_test.sh", Message: "criterion 1: it fails"}},
	}
	told := repair.RepairStep{Move: repair.Write, Role: nexus.Coder, Cause: repair.UnprovenCause, Why: why}
	again := join(asked, wrote(3, coder, repair.UnprovenCause), judgeFindings(nexus.Pass, ""))
	park := repair.RepairStep{Move: repair.End, Outcome: nexus.Unverified, Why: why}
	for name, c := range map[string]struct {
		facts []nexus.Fact
		way   nexus.WritingStrategy
		f     repair.AttemptTreeFacts
		want  repair.RepairStep
	}{
		"a tester is asked":        {green, nexus.TestAfter, repair.AttemptTreeFacts{Tested: true, Unchecked: true, Unshown: why}, repair.RepairStep{Move: repair.Write, Role: nexus.Tester, Cause: repair.CriteriaGate}},
		"it was asked":             {asked, nexus.TestAfter, repair.AttemptTreeFacts{Tested: true, Unchecked: true, Unshown: why}, told},
		"the author was told":      {again, nexus.TestAfter, repair.AttemptTreeFacts{Tested: true, Unchecked: true, Unshown: why}, park},
		"nobody writes checks":     {green, nexus.TestAfter, repair.AttemptTreeFacts{Tested: true, Unshown: why}, told},
		"there are to be no tests": {green, nexus.NoTest, repair.AttemptTreeFacts{Unchecked: true, Unshown: why}, told},
		"nothing ran":              {join(wrote(1, coder, ""), judgeFindings(nexus.NotRun, "test")), nexus.NoTest, repair.AttemptTreeFacts{Unshown: why}, told},
		"a check fails":            {join(asked, red), nexus.TestAfter, repair.AttemptTreeFacts{Tested: true, Unchecked: true, Unshown: why}, author},
		"all is shown":             {asked, nexus.TestAfter, repair.AttemptTreeFacts{Tested: true, Unchecked: true}, repair.RepairStep{Move: repair.Review}},
	} {
		got := repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1"}}, with(c.way, c.facts...), nexus.Limits{}, c.f)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
