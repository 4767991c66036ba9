package repair

import (
	"regexp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// checks matches the words of assertions. It is generous, because helpers have their own
// names.
var checks = regexp.MustCompile(`(?i)assert|expect|check|verif|want|require\.|must|should|equal|diff|match|compare|error|fatal|fail|raise|throw|panic|reject|output:|snapshot|golden|[=!]=|\bin\b|\bnot\b|\bif\b`)

// HollowTestsReason reports whether failing tests show nothing nevertheless: they could only not be
// loaded without the work, because it declares the names that they use, and once loaded they
// check nothing. Text returns a file of the tree with the work. A script checks by its exit
// code.
func HollowTestsReason(p nexus.TestsRunWithoutWork, text func(file string) string) bool {
	if p.Proof != nexus.ProofRed || len(p.Tests) == 0 {
		return false
	}
	for _, name := range p.Tests {
		if !slices.Contains(p.Files, name) {
			return false // it ran, and failed
		}
	}
	return !slices.ContainsFunc(p.Files, func(file string) bool {
		return !stack.HasAssertions(file) || checks.MatchString(text(file))
	})
}
