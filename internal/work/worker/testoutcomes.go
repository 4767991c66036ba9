package worker

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestOutcomes returns the results of a gate's tests, by their names, nil if the runner does
// not report them.
func (j *TreeJudge) TestOutcomes(e nexus.GateEvidence) map[string]string {
	return gate.TestOutcomes(e, j.Site.Blobs.Get)
}

// MarkMissingTests records in evidence which of the tests its gates do not list as passed, if
// they list those that do.
func (j *TreeJudge) MarkMissingTests(all []nexus.GateEvidence, tests []string) {
	for i, e := range all {
		ended := j.TestOutcomes(e)
		for _, test := range tests {
			if len(ended) > 0 && ended[test] != "pass" {
				all[i].Missing = append(all[i].Missing, test)
			}
		}
	}
}
