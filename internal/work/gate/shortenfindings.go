package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// shortenFindings returns evidence with the findings that are shown and recorded, and stores all of them
// in a blob. Without a blob store, all stay.
func (r GateRunner) shortenFindings(e nexus.GateEvidence) (nexus.GateEvidence, error) {
	if r.Put == nil || len(e.Findings) <= parserbase.MaxFindings {
		return e, nil
	}
	data, _ := json.Marshal(e.Findings) // it is plain data, which never fails
	var err error
	if e.All, err = r.Put(data); err != nil {
		return e, fmt.Errorf("gate %s: keep the findings: %w", e.Gate, err)
	}
	e.Findings = parserbase.LimitFindings(e.Findings)
	return e, nil
}

// WithAllFindings returns evidence with all its findings, and false if they are lost.
func WithAllFindings(e nexus.GateEvidence, get func(hash string) ([]byte, error)) (nexus.GateEvidence, bool) {
	if e.All == "" {
		return e, true
	}
	if get == nil {
		return e, false
	}
	data, err := get(e.All)
	var all []nexus.Finding
	if err != nil || json.Unmarshal(data, &all) != nil {
		return e, false
	}
	e.All, e.Findings = "", all
	return e, true
}

// moveBaseFindings returns evidence of the base with the positions of its findings in the
// judged tree. Tests are identified by their names.
func (r GateRunner) moveBaseFindings(ctx context.Context, base, now nexus.GateEvidence) (nexus.GateEvidence, error) {
	placed := func(f nexus.Finding) bool { return f.File != "" && f.Test == "" }
	if r.Moved == nil || len(now.Findings) == 0 || !slices.ContainsFunc(base.Findings, placed) {
		return base, nil
	}
	moves, err := r.Moved(ctx)
	if err != nil {
		return base, fmt.Errorf("gate %s: see where lines went: %w", now.Gate, err)
	}
	base.Findings = slices.Clone(base.Findings)
	for i, f := range base.Findings {
		if placed(f) {
			base.Findings[i] = moves.MoveFinding(f)
		}
	}
	return base, nil
}
