package attempt_test

import (
	"maps"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestAThresholdIsDecidedAboutBeforeARound: what a task changes beside its files, how often
// it failed, and how long it was worked on. What is decided is on record, and once.
func TestAThresholdIsDecidedAboutBeforeARound(t *testing.T) {
	began := time.Unix(1700000000, 0)
	files := []string{"one", "lib/"}
	for name, c := range map[string]struct {
		replan nexus.ReplanLimits
		files  []string
		want   map[nexus.ReplanThreshold]string
		ends   string // the attempt, for another to go on; empty: it goes on
	}{
		"nothing is set":  {},
		"files":           {replan: nexus.ReplanLimits{Files: 1}, files: files, want: map[nexus.ReplanThreshold]string{nexus.OverFiles: "it changes 2 files that it does not declare: three, two"}},
		"files are few":   {replan: nexus.ReplanLimits{Files: 2}, files: files},
		"none declared":   {replan: nexus.ReplanLimits{Files: 1}},
		"all declared":    {replan: nexus.ReplanLimits{Files: 1}, files: []string{"one", "two", "three", "lib/"}},
		"failures":        {replan: nexus.ReplanLimits{Failures: 2}, want: map[nexus.ReplanThreshold]string{nexus.OverFailures: "2 rounds in a row failed"}, ends: "2 rounds in a row failed: escalate"},
		"time":            {replan: nexus.ReplanLimits{Time: 200}, want: map[nexus.ReplanThreshold]string{nexus.OverEstimate: "it has taken 20m0s, and was estimated at 10m0s"}},
		"time is not yet": {replan: nexus.ReplanLimits{Time: 201}},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, nil, lint("test -e one || exit 0; grep -q good one && exit 0; echo one:1:1: no; exit 1"))
			a := j.view.Attempt
			j.view.Limits.Replan, j.view.Task.Files = c.replan, c.files
			j.view.Limits.Same = 9
			j.view.Task.Minutes, j.view.Task.Worked, a.Active, a.Rested = 10, 6*time.Minute, began, time.Minute
			j.Site.Now = func() time.Time { return began.Add(15 * time.Minute) }
			a.Start, _ = j.tree("T1.0", j.base, map[string]string{"two": "2\n", "three": "3\n", "lib": "4\n", "five_test.sh": "5\n"})
			p := j.plays(map[nexus.Role][]nextRole{
				nexus.Coder:    {{to: "T1.1/coder.1", files: map[string]string{"one": "bad\n"}}, {to: "one:1", files: map[string]string{"one": "bad\nbad\n"}}, {to: "one:1", files: map[string]string{"one": "good\n"}}},
				nexus.Reviewer: {{handin: approved()}},
			})
			f := j.ended()
			got := map[nexus.ReplanThreshold]string{}
			for _, f := range facts[nexus.ReplanDecided](j) {
				for _, x := range f.Crossed {
					if got[x.Threshold] != "" || f.Task != "T1" || f.Attempt != "T1.1" {
						t.Errorf("%+v", f)
					}
					got[x.Threshold] = x.Why
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("%v, want %v: %s", got, c.want, j.desk.told())
			}
			if over := f.Outcome == nexus.Exhausted && f.Why == c.ends; over != (c.ends != "") || !over && f.Outcome != nexus.Accepted {
				t.Errorf("%+v: %q", f, p.told)
			}
		})
	}
}
