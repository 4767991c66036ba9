package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FuzzAmend holds that what is submitted of a plan leaves the plan before as it was, and
// leads to one that can be worked on, or to an error.
func FuzzAmend(f *testing.F) {
	f.Add([]byte(`{"tasks":[],"keep":true,"amend":[{"task":"A","drop":[1,0,-1,9],"criteria":[{"number":1,"text":"x","check":"test"},{"text":"y"}]}]}`))
	f.Add([]byte(`{"tasks":[{"id":"B","title":"t","brief":"b","files":[],"criteria":[{"text":"c","check":"test"}]}],"amend":[{"task":"A","remove":true},{"task":"A","title":""}]}`))
	f.Add([]byte(`{"tasks":[],"keep":true,"assumptions":["a\n- b"],"risks":[{"task":"Z","text":"<!-- c"}]}`))
	before := func() nexus.Plan {
		p, err := Parse([]byte(`{"tasks":[
			{"id":"A","title":"Do A","brief":"Do it.","files":["a"],"criteria":[{"text":"a","check":"test"}]},
			{"id":"B","title":"Do B","brief":"Do it.","files":["b"],"needs":["A"],"criteria":[{"text":"b","check":"test"}]}
		]}`), "Do.", nexus.TaskSizeLimits{})
		if err != nil {
			f.Fatal(err)
		}
		return p
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		base := before()
		p, err := parseAndCheckSubmission(data, "Do.", nexus.TaskSizeLimits{}, base)
		if diff := cmp.Diff(before(), base); diff != "" {
			t.Errorf("the plan before is another: %s", diff)
		}
		if err != nil {
			return
		}
		if len(p.Tasks) == 0 || CheckPlan(p, nexus.TaskSizeLimits{}) != nil {
			t.Errorf("%+v", p)
		}
		again, err := LoadMarkdown(FormatMarkdown(p), nexus.TaskSizeLimits{})
		if err != nil || !cmp.Equal(again.Assumptions, p.Assumptions) || !cmp.Equal(again.Foreseen, p.Foreseen) {
			t.Errorf("%v: %+v", err, again)
		}
	})
}
