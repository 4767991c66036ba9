package spec

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestWeigh(t *testing.T) {
	said := []Statement{{"S1", "Read."}, {"S2", "Write."}}
	tasks := []nexus.Task{{ID: "A", Covers: []string{"S1", "S2"}, Criteria: []nexus.Criterion{{Text: "x"}}}}
	no := false
	for _, c := range []struct {
		name  string
		found []Finding
		want  nexus.CoverState
		gap   string
	}{
		{"both", []Finding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: " s2", Criteria: []string{"A/AC-1"}}}, nexus.CoverFull, ""},
		{"a claim is no evidence", []Finding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2"}}, nexus.CoverGaps, "no task serves it"},
		{"a task that is not there", []Finding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Tasks: []nexus.TaskID{"Z"}}}, nexus.CoverGaps, "no task serves it"},
		{"a part is missing", []Finding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Tasks: []nexus.TaskID{"A"}, Missing: "half"}}, nexus.CoverGaps, "half"},
		{"silence", []Finding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}}, nexus.CoverUnsure, ""},
		{"nothing is asked", []Finding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", Asks: &no, Missing: "x"}}, nexus.CoverFull, ""},
		{"there already", []Finding{{ID: "S1", Tasks: []nexus.TaskID{"A"}}, {ID: "S2", There: "a.go"}}, nexus.CoverFull, ""},
	} {
		got := Weigh(said, tasks, c.found)
		gap := ""
		for _, g := range got.Gaps() {
			gap += g.Missing
		}
		if got.State != c.want || gap != c.gap || len(got.Statements) != 2 || (got.State == nexus.CoverUnsure) != (got.Why != "") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	for _, c := range []struct {
		set  nexus.SecondLook
		n    int
		want bool
	}{{"", 1, false}, {"", 2, true}, {nexus.LookAuto, 2, true}, {nexus.LookNever, 2, false}, {nexus.LookAlways, 1, true}, {nexus.LookAlways, 0, false}} {
		if got := Looks(c.set, make([]Statement, c.n)); got != c.want {
			t.Errorf("%q, %d: %v", c.set, c.n, got)
		}
	}
	if TooLong(make([]Statement, 200)) != "" || TooLong(make([]Statement, 201)) == "" {
		t.Error("201 statements are too many")
	}
}
