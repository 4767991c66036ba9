package plan_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

func TestKeep(t *testing.T) {
	ok := nexus.Criterion{Text: "ok", Check: "build"}
	exists := map[string]bool{"old.go": true, "docs": true, "p/old.go": true}
	for name, c := range map[string]struct {
		task nexus.Task
		gate string // of the criterion that it gets
	}{
		"it changes what is there":   {nexus.Task{Files: []string{"new.go", "old.go"}}, "test"},
		"it only adds":               {nexus.Task{Files: []string{"new.go"}}, ""},
		"it may change anything":     {nexus.Task{}, "test"},
		"a pattern":                  {nexus.Task{Files: []string{"docs/*.go"}}, "test"},
		"a pattern of the root":      {nexus.Task{Files: []string{"*.go"}}, "test"},
		"a pattern of nothing":       {nexus.Task{Files: []string{"none/x*.go"}}, ""},
		"documents":                  {nexus.Task{Kind: nexus.DocsTask, Files: []string{"old.go"}}, ""},
		"a package":                  {nexus.Task{Package: "p", Files: []string{"p/old.go"}}, "test-p"},
		"a package without tests":    {nexus.Task{Package: "q", Files: []string{"old.go"}}, "test"},
		"it says so already":         {nexus.Task{Files: []string{"old.go"}, Criteria: []nexus.Criterion{{Text: nexus.KeptText + ".", Check: "test"}}}, ""},
		"as many criteria as it may": {nexus.Task{Files: []string{"old.go"}, Criteria: []nexus.Criterion{ok, ok, ok}}, ""},
	} {
		if c.task.Criteria == nil {
			c.task.Criteria = []nexus.Criterion{ok}
		}
		n := len(c.task.Criteria)
		tasks := []nexus.Task{c.task}
		plan.AddRegressionCriteria(tasks, plan.ExistingTreeFiles{Has: func(f string) bool { return exists[f] }, Gate: map[string]string{"": "test", "p": "test-p"}}, nexus.TaskSizeLimits{Criteria: 3})
		got := ""
		if all := tasks[0].Criteria; len(all) > n && all[n].IsRegressionOnly() {
			got = all[n].Check
		}
		if got != c.gate || len(tasks[0].Criteria) > n+1 {
			t.Errorf("%s: %+v", name, tasks[0].Criteria)
		}
	}
	none := []nexus.Task{{Criteria: []nexus.Criterion{ok}}}
	if plan.AddRegressionCriteria(none, plan.ExistingTreeFiles{}, nexus.TaskSizeLimits{}); len(none[0].Criteria) != 1 {
		t.Error("nothing can show it")
	}
}
