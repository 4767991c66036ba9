package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestRejects holds a reviewer's no for a major finding to be a no, however many
// majors block a yes, and one that names what is not there to be none.
func TestRejects(t *testing.T) {
	major, minor := nexus.Finding{Severity: nexus.Major}, nexus.Finding{Severity: nexus.Minor}
	gone := nexus.Finding{Severity: nexus.Critical, Unverified: "no such line"}
	for name, c := range map[string]struct {
		approved bool
		found    []nexus.Finding
		want     bool
	}{
		"a no for one major":           {false, []nexus.Finding{major}, true},
		"a yes with one major":         {true, []nexus.Finding{major}, false},
		"a yes with three":             {true, []nexus.Finding{major, major, major}, true},
		"a yes with something bad":     {true, []nexus.Finding{{Severity: nexus.Critical}}, true},
		"a no for something small":     {false, []nexus.Finding{minor}, false},
		"a no for what is not there":   {false, []nexus.Finding{gone}, false},
		"a no for what has no measure": {false, []nexus.Finding{{}}, true},
	} {
		if got := repair.IsRejection(nexus.ReviewerVerdictGiven{Reviewed: true, Approved: c.approved, Findings: c.found}, 3); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
