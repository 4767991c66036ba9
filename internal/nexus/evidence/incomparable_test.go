package evidence_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus/evidence"
)

// TestIncomparable tells a base that later failures can be held against from
// one that says nothing.
func TestIncomparable(t *testing.T) {
	one, more := evidence.Finding{Code: "test", Test: "TestA"}, evidence.Finding{Code: evidence.MoreFindings}
	for name, c := range map[string]struct {
		of   evidence.Evidence
		want bool
	}{
		"green":                {evidence.Evidence{State: evidence.Pass}, false},
		"red":                  {evidence.Evidence{State: evidence.Fail, Findings: []evidence.Finding{one}}, false},
		"nobody ran it":        {evidence.Evidence{}, true},
		"it did not end":       {evidence.Evidence{State: evidence.Timeout}, true},
		"a tool is missing":    {evidence.Evidence{State: evidence.Environmental}, true},
		"too many":             {evidence.Evidence{State: evidence.Fail, Findings: []evidence.Finding{one, more}}, true},
		"many, and all known":  {evidence.Evidence{State: evidence.Fail, All: "blob", Findings: []evidence.Finding{one, more}}, false},
		"its exit code is all": {evidence.Evidence{State: evidence.Fail, Findings: []evidence.Finding{{Code: "exit"}}}, false},
	} {
		if got := c.of.Incomparable(); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
