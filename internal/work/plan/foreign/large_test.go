package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// groups returns the tasks of two phases, each of that many that may run at once, as
// spec-kit and as Ralph write them.
func groups(size int) map[foreign.PlanFormat]string {
	var spec, prd strings.Builder
	spec.WriteString("# Tasks: A\n")
	for phase := 1; phase <= 2; phase++ {
		fmt.Fprintf(&spec, "\n## Phase %d: Do\n\n", phase)
		for i := range size {
			id := phase*100_000 + i
			fmt.Fprintf(&spec, "- [ ] T%d [P] Do thing %d\n", id, id)
			fmt.Fprintf(&prd, `,{"id": "S%d", "title": "Do thing %d", "priority": %d, "passes": false}`, id, id, phase)
		}
	}
	return map[foreign.PlanFormat]string{foreign.SpecKit: spec.String(), foreign.Ralph: `{"userStories": [` + prd.String()[1:] + `]}`}
}

// TestGroups holds that one large group waits for all of another without a need from
// each task to each, and that more tasks than a plan has are refused.
func TestGroups(t *testing.T) {
	for f, text := range groups(2000) {
		i, err := foreign.ReadPlan(t.Context(), foreign.NewFileSource("-", []byte(text)), f, "", nexus.TaskSizeLimits{})
		if err != nil {
			t.Fatal(f, err)
		}
		needs := 0
		for _, task := range i.Plan.Tasks {
			needs += len(task.Needs)
		}
		if needs > 2*len(i.Plan.Tasks) {
			t.Errorf("%s: %d tasks have %d needs", f, len(i.Plan.Tasks), needs)
		}
		g, err := taskgraph.NewTaskGraph(i.Plan.Tasks)
		if err != nil {
			t.Fatal(f, err)
		}
		if n := g.CriticalPathLength(func(int) int { return 1 }); n != 3 { // the last of the first phase stands for it
			t.Errorf("%s: the longest chain has %d tasks", f, n)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		stop(errors.New("the person left"))
		if _, err := foreign.ReadPlan(ctx, foreign.NewFileSource("-", []byte(text)), f, "", nexus.TaskSizeLimits{}); err == nil || err.Error() != "the person left" {
			t.Error(f, err)
		}
	}
	for f, text := range groups(5001) {
		_, err := foreign.ReadPlan(t.Context(), foreign.NewFileSource("-", []byte(text)), f, "", nexus.TaskSizeLimits{})
		if err == nil || !strings.Contains(err.Error(), "more than 10000 tasks") || strings.Count(err.Error(), "\n") > 0 {
			t.Error(f, err)
		}
	}
}

// TestParts holds that subtasks that each get all the needs of their task are refused
// where these are too many.
func TestParts(t *testing.T) {
	var tasks, needs, subs strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&tasks, `{"id": %d, "title": "Do %d"},`, i+2, i+2)
		fmt.Fprintf(&needs, ",%d", i+2)
		fmt.Fprintf(&subs, `,{"id": %d, "title": "Part %d"}`, i+1, i+1)
	}
	text := fmt.Sprintf(`{"tasks": [%s{"id": 1, "title": "All", "dependencies": [%s], "subtasks": [%s]}]}`, tasks.String(), needs.String()[1:], subs.String()[1:])
	if _, err := foreign.ReadPlan(t.Context(), foreign.NewFileSource("-", []byte(text)), foreign.TaskMaster, "", nexus.TaskSizeLimits{}); err == nil || !strings.Contains(err.Error(), "500000 needs") {
		t.Error(err)
	}
}
