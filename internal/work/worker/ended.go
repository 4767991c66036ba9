package worker

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// Ended returns how the tests of a gate ended, by their names, nil where the
// runner does not say.
func (j *Judge) Ended(e nexus.Evidence) map[string]string {
	if e.Named == "" {
		return nil
	}
	data, err := j.Site.Blobs.Get(e.Named)
	if err != nil {
		return nil // then the counts tell
	}
	all := map[string]string{}
	for l := range strings.Lines(string(data)) {
		if state, name, ok := strings.Cut(strings.TrimSuffix(l, "\n"), gate.NamedBy); ok {
			all[name] = state
		}
	}
	return all
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
