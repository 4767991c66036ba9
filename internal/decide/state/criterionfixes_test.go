package state_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestFixes(t *testing.T) {
	var b state.CriterionFixHistory
	one := []nexus.CriterionFault{{Criterion: "T1/AC-1", Task: "FIX-1", Signature: "a"}}
	two := []nexus.CriterionFault{{Criterion: "T1/AC-1", Task: "FIX-2", Signature: "b"}}
	b.Apply(nexus.CriterionDiagnosisStarted{Attempt: "fix.1", Faults: one})
	b.Apply(nexus.CriterionDiagnosisStarted{Attempt: "fix.1", Faults: one})
	if b.Rounds != 1 || len(b.All) != 1 || !b.HasFault("T1/AC-1", "a") || b.HasFault("T1/AC-1", "b") || b.Found {
		t.Errorf("going on counts: %+v", b)
	}
	found := []nexus.CriterionFault{{Criterion: "T1/AC-1", Task: "FIX-1", Signature: "a", Kind: nexus.FaultInTest}}
	b.Apply(nexus.CriterionFaultsFound{Attempt: "fix.9", Faults: two})
	b.Apply(nexus.CriterionFaultsFound{Attempt: "fix.1", Faults: found})
	if !b.Found || b.FaultOfTask("FIX-1").Kind != nexus.FaultInTest || b.FaultOfTask("FIX-2") != nil {
		t.Errorf("%+v", b)
	}
	b.Apply(nexus.FixTasksPlanned{Round: 1, Tasks: []nexus.TaskID{"FIX-1"}})
	b.Apply(nexus.CriterionDiagnosisStarted{Attempt: "fix.2", Faults: two})
	if b.Found || b.Planned != 1 || b.Rounds != 2 || len(b.LastFaults()) != 1 || b.LastFaults()[0].Task != "FIX-2" || len(b.FaultsOf("T1/AC-1")) != 2 {
		t.Errorf("%+v", b)
	}
}

// TestWithout takes the work away from a new check only where that landed before
// the criterion was revised: of any other the commit is where it began to fail.
func TestWithout(t *testing.T) {
	var b state.CriterionFixHistory
	b.Apply(nexus.CriterionDiagnosisStarted{Attempt: "fix.1", Faults: []nexus.CriterionFault{
		{Criterion: "T1/AC-1", Task: "FIX-1", Commit: "a", Kind: nexus.FaultInSource}, {Criterion: "T1/AC-2", Task: "FIX-2", Commit: "b", Kind: nexus.FaultStale},
	}})
	if one, two, none := b.CommitWithoutWork("FIX-1"), b.CommitWithoutWork("FIX-2"), b.CommitWithoutWork("T1"); one != "" || two != "b" || none != "" {
		t.Error(one, two, none)
	}
}
