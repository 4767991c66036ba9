package worker

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// Ended returns how the tests of a gate ended, by their names, nil where the
// runner does not say.
func (j *Judge) Ended(e nexus.Evidence) map[string]string {
	return gate.Ended(e, j.Site.Blobs.Get)
}

// Miss says about evidence which of the tests its gates do not name as passed,
// where they name those that do.
func (j *Judge) Miss(all []nexus.Evidence, tests []string) {
	for i, e := range all {
		ended := j.Ended(e)
		for _, test := range tests {
			if len(ended) > 0 && ended[test] != "pass" {
				all[i].Missing = append(all[i].Missing, test)
			}
		}
	}
}
