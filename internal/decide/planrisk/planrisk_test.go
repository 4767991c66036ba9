package planrisk_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestRisks(t *testing.T) {
	some := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("f", i))
		}
		return all
	}
	ids := func(n int) (all []nexus.TaskID) {
		for i := range n {
			all = append(all, nexus.TaskID(fmt.Sprint("T", i)))
		}
		return all
	}
	still := []nexus.Criterion{{Text: "What worked before still works", Check: "go test ./..."}}
	for _, c := range []struct {
		name  string
		tasks []nexus.Task
		want  []string
	}{
		{"none", []nexus.Task{{ID: "A", Title: "Add a sum", Minutes: 120, Files: some(10), Needs: ids(5)}}, nil},
		{"needs", []nexus.Task{{ID: "A", Needs: ids(3), Wants: ids(3)}}, []string{"A medium medium"}},
		{"minutes", []nexus.Task{{ID: "A", Minutes: 121}}, []string{"A high medium"}},
		{"files", []nexus.Task{{ID: "A", Files: some(11)}}, []string{"A medium medium"}},
		{"hard", []nexus.Task{
			{ID: "A", Priority: nexus.PriorityHigh, Complexity: nexus.Complex},
			{ID: "B", Priority: nexus.PriorityHigh, Complexity: nexus.Medium},
			{ID: "C", Complexity: nexus.Expert},
		}, []string{"A high high"}},
		{"critical", []nexus.Task{
			{ID: "A", Priority: nexus.PriorityCritical},
			{ID: "B", Priority: nexus.PriorityCritical},
			{ID: "C", Priority: nexus.PriorityCritical},
			{ID: "D", Priority: nexus.PriorityCritical},
		}, []string{" medium medium"}},
		{"changes", []nexus.Task{
			{ID: "A", Title: "Rename the parser"},
			{ID: "B", Title: "Rename the parser", Criteria: still},
			{ID: "C", Title: "Replace it", Kind: nexus.DocsTask},
			{ID: "D", Title: "Replace it", Criteria: []nexus.Criterion{{Text: "ok", Check: "test"}}},
		}, []string{"A medium high"}},
	} {
		var got []string
		for _, r := range planrisk.PlanRisks(nexus.Plan{Tasks: c.tasks}) {
			if got = append(got, fmt.Sprintf("%s %s %s", r.Task, r.Probability, r.Impact)); r.Text == "" || r.Mitigation == "" {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}
