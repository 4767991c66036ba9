package repair

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// checks is what a test has that looks at anything. It is generous: helpers have
// names of their own.
var checks = pattern.Lazy(`(?i)assert|expect|check|verif|want|require\.|must|should|equal|diff|match|compare|error|fatal|fail|raise|throw|panic|reject|output:|snapshot|golden|[=!]=|\bin\b|\bnot\b|\bif\b`)

// HollowTests reports whether tests that were red show nothing all the same: they
// could only not be loaded without the work, as it declares what they name, and
// once they can be loaded they look at nothing. Text returns a file as it is
// with the work. What a script checks is how it exits.
func HollowTests(p nexus.TestsProved, text func(file string) string) bool {
	if p.Proof != nexus.ProofRed || len(p.Tests) == 0 {
		return false
	}
	for _, name := range p.Tests {
		if !slices.Contains(p.Files, name) {
			return false // it ran, and failed
		}
	}
	return !slices.ContainsFunc(p.Files, func(file string) bool {
		return !stack.Checks(file) || checks().MatchString(text(file))
	})
}
