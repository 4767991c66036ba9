package nexus_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestIncomparable tells a base that later failures can be compared with from
// one that says nothing.
func TestIncomparable(t *testing.T) {
	one, more := nexus.Finding{Code: "test", Test: "TestA"}, nexus.Finding{Code: nexus.MoreFindings}
	for name, c := range map[string]struct {
		of   nexus.GateEvidence
		want bool
	}{
		"green":                {nexus.GateEvidence{State: nexus.Pass}, false},
		"red":                  {nexus.GateEvidence{State: nexus.Fail, Findings: []nexus.Finding{one}}, false},
		"nobody ran it":        {nexus.GateEvidence{}, true},
		"it did not end":       {nexus.GateEvidence{State: nexus.Timeout}, true},
		"a tool is missing":    {nexus.GateEvidence{State: nexus.Environmental}, true},
		"too many":             {nexus.GateEvidence{State: nexus.Fail, Findings: []nexus.Finding{one, more}}, true},
		"many, and all known":  {nexus.GateEvidence{State: nexus.Fail, All: "blob", Findings: []nexus.Finding{one, more}}, false},
		"its exit code is all": {nexus.GateEvidence{State: nexus.Fail, Findings: []nexus.Finding{{Code: "exit"}}}, false},
	} {
		if got := c.of.IncomparableReason(); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
