package spec

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestWeigh(t *testing.T) {
	said := []GoalStatement{{"S1", "Read."}, {"S2", "Write."}}
	tasks := []nexus.Task{{ID: "A", Covers: []string{"S1", "S2"}, Criteria: []nexus.Criterion{{Text: "x"}}}}
	no := false
	for _, c := range []struct {
		name  string
		found []StatementCoverageFinding
		want  nexus.PlanCoverageState
		gap   string
	}{
		{"both", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: " s2", Criteria: []string{"A/AC-1"}}}, nexus.CoverFull, ""},
		{"a claim is no evidence", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2"}}, nexus.CoverGaps, "no task serves it"},
		{"a task that is not there", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Tasks: []nexus.TaskID{"Z"}}}, nexus.CoverGaps, "no task serves it"},
		{"a part is missing", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Tasks: []nexus.TaskID{"A"}, Missing: "half"}}, nexus.CoverGaps, "half"},
		{"silence", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}}, nexus.CoverUnsure, ""},
		{"silence, and a gap", []StatementCoverageFinding{{ID: "S1", Missing: "half"}}, nexus.CoverGaps, "half"},
		{"nothing is asked", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Asks: &no, Missing: "x"}}, nexus.CoverFull, ""},
		{"there already", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", There: "Write in `./a.go:12`."}}, nexus.CoverFull, ""},
		{"there in no file", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", There: "b.go does it"}}, nexus.CoverGaps, "no task serves it, and no file of the repository is named that does it already"},
		{"there is nothing", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", There: "N/A."}}, nexus.CoverGaps, "no task serves it"},
		{"nothing is missing", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}, Missing: "None."}, {ID: "S2", Tasks: []nexus.TaskID{"A"}, Missing: "-"}}, nexus.CoverFull, ""},
		{"said twice", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Tasks: []nexus.TaskID{"A"}}, {ID: "s2", Missing: "half"}}, nexus.CoverGaps, "half"},
		{"served the second time", []StatementCoverageFinding{{ID: "S1"}, {ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Asks: &no}, {ID: "S2", Criteria: []string{"A/AC-1"}}}, nexus.CoverFull, ""},
		{"asked and not", []StatementCoverageFinding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Asks: &no}, {ID: "S2"}}, nexus.CoverGaps, "no task serves it"},
	} {
		got := AssessCoverage(said, tasks, c.found, func(file string) bool { return file == "a.go" })
		gap := ""
		for _, g := range got.UncoveredStatements() {
			gap += g.Missing
		}
		if got.State != c.want || gap != c.gap || len(got.Statements) != 2 || (len(c.found) < 2) != (got.Why != "") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	for _, c := range []struct {
		set  nexus.CoverageCheckMode
		n    int
		want bool
	}{{"", 1, false}, {"", 2, true}, {nexus.LookAuto, 2, true}, {nexus.LookNever, 2, false}, {nexus.LookAlways, 1, true}, {nexus.LookAlways, 0, false}} {
		if got := NeedsCoverageCheck(c.set, make([]GoalStatement, c.n)); got != c.want {
			t.Errorf("%q, %d: %v", c.set, c.n, got)
		}
	}
	if TooLongReason(make([]GoalStatement, 80)) != "" || TooLongReason(make([]GoalStatement, 81)) == "" {
		t.Error("81 statements are too many")
	}
}

// What a spec has an id for is asked for, whatever a checker says; and where no file is known, nothing is there.
func TestWeighASpec(t *testing.T) {
	no := false
	got := AssessCoverage([]GoalStatement{{"REQ-1", "Read."}, {"AC-1", "It reads."}}, nil, []StatementCoverageFinding{{ID: "REQ-1", Asks: &no}, {ID: "AC-1", There: "a.go"}}, nil)
	lacks := AssessCoverage([]GoalStatement{{"REQ-1", "Read."}}, nil, []StatementCoverageFinding{{ID: "REQ-1", Asks: &no, Missing: "half"}}, nil)
	if gaps := lacks.UncoveredStatements(); len(gaps) != 1 || gaps[0].Missing != "half" {
		t.Errorf("%+v", lacks)
	}
	if len(got.UncoveredStatements()) != 2 || !got.Statements[0].Asks || got.Statements[1].There != "" {
		t.Errorf("%+v", got)
	}
}

func TestWords(t *testing.T) {
	for _, blank := range []string{"", " ", "none", "None.", "n/a", "N/A", "na", "-", "--", "no", "No.", "nothing", "NULL", "(none)"} {
		if MeaningfulText(blank) != "" {
			t.Errorf("%q says nothing", blank)
		}
	}
	if got := MeaningfulText("No task\nwrites."); got != "No task writes." {
		t.Error(got)
	}
}
