package attempt

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/critical"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// SecretsGate is the gate that looks for secrets in what a change adds. It is
// heard of only where it finds one: a tree without any is not judged by that.
const SecretsGate = "secrets"

// leaks judges what a tree adds to its base. It is red where that has secrets,
// and unverifiable where there is too much to look at.
func (s *Shop) leaks(ctx context.Context, c Case) (e nexus.Evidence, red bool, err error) {
	if s.Leaks == nil || c.Base == "" {
		return e, false, nil
	}
	patch, whole, err := s.Trees.Patch(ctx, c.Base, c.Hash)
	if err != nil {
		return e, false, fmt.Errorf("look for secrets: %w", err)
	}
	found, err := s.Leaks.Added(ctx, patch)
	if err != nil {
		return e, false, fmt.Errorf("look for secrets: %w", err)
	}
	e = nexus.Evidence{Gate: SecretsGate, Tree: c.Hash, Command: "look for secrets in what the change adds", Exit: 1}
	for _, l := range found {
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: SecretsGate, File: l.File, Line: l.Line, Column: l.Column, Severity: nexus.Critical, Code: l.Rule,
			Message: "the change adds what looks like a secret: " + l.Kind,
			Advice:  "Take it out of the tree; code reads secrets from its environment, and tests use values that nobody takes for real.",
		})
	}
	switch {
	case len(found) > 0:
		e.State = nexus.Fail
	case !whole:
		e.State, e.Why = nexus.Unverifiable, "the change is too large to be searched for secrets"
	default:
		return e, false, nil
	}
	return e, true, nil
}

// touched records which files a person should look at. That decides nothing.
func (s *Shop) touched(ctx context.Context, c Case, d Desk) error {
	if c.Base == "" {
		return nil
	}
	changed, err := s.Trees.Git().Changed(ctx, c.Base, c.Hash)
	if err != nil {
		return fmt.Errorf("look for critical files: %w", err)
	}
	files := make([]string, 0, len(changed))
	for _, f := range changed {
		files = append(files, f.Path)
	}
	found := critical.Of(files)
	if len(found) == 0 {
		return nil
	}
	return d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: nexus.Evidence{
		Gate: critical.Gate, State: nexus.Pass, Tree: c.Hash, Command: "look for critical files in the change", Why: "it touches " + critical.Line(found), Findings: found,
	}}))
}
