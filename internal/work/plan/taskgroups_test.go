package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// TestGroupIsABarrier lets a need that names a group stand for all tasks of it, and of the
// groups within it.
func TestGroupIsABarrier(t *testing.T) {
	ok := []nexus.Criterion{{Text: "ok", Check: "test"}}
	p := nexus.Plan{Version: 1, Goal: "shop", Tasks: plan.NormaliseTasks([]nexus.Task{
		{ID: "T1", Title: "Products", Group: " shop /  data ", Criteria: ok},
		{ID: "T2", Title: "Orders", Group: "shop / data / more", Criteria: ok},
		{ID: "T3", Title: "Cart", Group: "shop / pages", Needs: []nexus.TaskID{"Shop / Data"}, Wants: []nexus.TaskID{"T2"}, Ties: nexus.DependencyReasons{"Shop / Data": nexus.TieSchema}, Criteria: ok},
		{ID: "T4", Title: "Manual", Wants: []nexus.TaskID{"shop"}, Criteria: ok},
	})}
	if err := plan.CheckPlan(p, nexus.TaskSizeLimits{}); err != nil {
		t.Fatal(err)
	}
	t3 := p.Tasks[2]
	if diff := cmp.Diff([]nexus.TaskID{"T1", "T2"}, t3.Needs); diff != "" || len(t3.Wants) > 0 || t3.Ties["T2"] != nexus.TieSchema || len(t3.Ties) != 2 {
		t.Errorf("T3: %+v", t3)
	}
	if diff := cmp.Diff([]nexus.TaskID{"T1", "T2", "T3"}, p.Tasks[3].Wants); diff != "" {
		t.Error(diff)
	}
	again, err := plan.LoadMarkdown(plan.FormatMarkdown(p), nexus.TaskSizeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("Markdown (-before +after)\n%s", diff)
	}
	for name, c := range map[string]struct {
		task nexus.Task
		want string
	}{
		"its own":  {nexus.Task{ID: "T1", Title: "a", Group: "shop / data", Needs: []nexus.TaskID{"shop"}, Criteria: ok}, `T1 needs the group "shop", which it is in`},
		"unknown":  {nexus.Task{ID: "T1", Title: "a", Group: "shop", Needs: []nexus.TaskID{"data"}, Criteria: ok}, `T1 needs "data", which is not in the plan`},
		"too deep": {nexus.Task{ID: "T1", Title: "a", Group: "a / b / c / d / e / f", Criteria: ok}, "its group is nested in more than 4 others"},
	} {
		p := nexus.Plan{Version: 1, Goal: "g", Tasks: plan.NormaliseTasks([]nexus.Task{c.task})}
		if err := plan.CheckPlan(p, nexus.TaskSizeLimits{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
