package leak

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Gate is the gate that looks for secrets in what a change adds. It is heard
// of only where it finds one: a tree without any is not judged by that.
const Gate = nexus.SecretsGate

// Judge says what was found in what a change adds to a tree. It is red where
// that has secrets, and unverifiable where there was too much to look at.
func Judge(found []Leak, whole bool, tree string) (e nexus.Evidence, red bool) {
	e = nexus.Evidence{Gate: Gate, Tree: tree, Command: "look for secrets in what the change adds", Exit: 1}
	for _, l := range found {
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: Gate, File: l.File, Line: l.Line, Column: l.Column, Severity: nexus.Critical, Code: l.Rule,
			Message: "the change adds what looks like a secret: " + l.Kind,
			Advice:  "Remove it from the tree. Code reads secrets from its environment, and tests use values that are obviously not real.",
		})
	}
	switch {
	case len(found) > 0:
		e.State = nexus.Fail
	case !whole:
		e.State, e.Why = nexus.Unverifiable, "the change is too large to be searched for secrets"
	default:
		return e, false
	}
	return e, true
}
