package worker

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestOutcomes returns how the tests of a gate ended, by their names, nil where the
// runner does not say.
func (j *Judge) TestOutcomes(e nexus.Evidence) map[string]string {
	return gate.TestOutcomes(e, j.Site.Blobs.Get)
}

// MarkMissingTests says about evidence which of the tests its gates do not name as passed,
// where they name those that do.
func (j *Judge) MarkMissingTests(all []nexus.Evidence, tests []string) {
	for i, e := range all {
		ended := j.TestOutcomes(e)
		for _, test := range tests {
			if len(ended) > 0 && ended[test] != "pass" {
				all[i].Missing = append(all[i].Missing, test)
			}
		}
	}
}
