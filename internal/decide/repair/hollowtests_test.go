package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestHollow takes tests that look at nothing for none, where all that was wrong
// without the work is that they could not be built.
func TestHollow(t *testing.T) {
	for name, c := range map[string]struct {
		proof nexus.TestProofResult
		file  string
		red   string // what failed
		text  string
		want  bool
	}{
		"it calls, and looks at nothing": {nexus.ProofRed, "a_test.go", "a_test.go", "func TestSize(t *testing.T) {\n\t_ = Size(1536)\n}\n", true},
		"it is empty in Python":          {nexus.ProofRed, "test_a.py", "test_a.py", "from a import size\n\ndef test_size():\n    size(1536)\n", true},
		"it asserts":                     {nexus.ProofRed, "test_a.py", "test_a.py", "def test_size():\n    assert size(1536)\n", false},
		"it has a helper":                {nexus.ProofRed, "a_test.go", "a_test.go", "func TestSize(t *testing.T) {\n\tverify(t, Size(1536))\n}\n", false},
		"it ran, and failed":             {nexus.ProofRed, "a_test.go", "m.TestSize", "func TestSize(t *testing.T) {\n\tSize(1536)\n}\n", false},
		"a script":                       {nexus.ProofRed, "a_test.sh", "a_test.sh", "./size 1536\n", false},
		"it was not red":                 {nexus.ProofGreen, "a_test.go", "a_test.go", "", false},
	} {
		p := nexus.TestsRunWithoutWork{Proof: c.proof, Files: []string{c.file}, Tests: []string{c.red}}
		if got := repair.HollowTestsReason(p, func(string) string { return c.text }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if repair.HollowTestsReason(nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Files: []string{"a_test.go"}}, nil) {
		t.Error("nobody says what failed")
	}
}
