package leak

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// GateName is the gate that searches for secrets in the added lines of a change. It is reported only
// if it finds one, or if it was requested by its name: it does not judge a tree without secrets.
const GateName = nexus.SecretsGate

// GateCommand describes the gate, which runs no command.
const GateCommand = "look for secrets in what the change adds"

// JudgeLeaks returns the evidence about the added lines of a change. It is red if they contain secrets,
// and unverifiable if there were too many lines to search.
func JudgeLeaks(found []LeakedSecret, whole bool, tree string) (e nexus.GateEvidence, red bool) {
	e = nexus.GateEvidence{Gate: GateName, Tree: tree, Command: GateCommand, Exit: 1}
	for _, l := range found {
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: GateName, File: l.File, Line: l.Line, Column: l.Column, Severity: nexus.Critical, Code: l.Rule,
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
