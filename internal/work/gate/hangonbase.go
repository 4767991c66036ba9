package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IsPartWithoutResult reports whether a gate that runs some of another's tests could not judge with
// any of them: the other one does.
func (g QualityGate) IsPartWithoutResult(e nexus.GateEvidence) bool {
	return g.Of != "" && e.State == nexus.NotRun
}

// RepeatsHangingTests reports whether a gate would repeat tests that do not end, according to
// the result of the gate to which they belong.
func (g QualityGate) RepeatsHangingTests(e nexus.GateEvidence) bool {
	return g.Again != "" && e.Gate == g.Again && (e.State == nexus.Timeout || e.Hangs || e.WasRunnerStopped())
}

// hangsOnBaseToo reports whether a gate with some of another's tests timed out, and does so on the
// base, about which it is only known that all tests hang.
func (r GateRunner) hangsOnBaseToo(ctx context.Context, g QualityGate, base, raw nexus.GateEvidence) (hangs bool, err error) {
	if g.Of == "" || raw.State != nexus.Timeout || !base.HasHung() || r.Origin == nil || r.Origin.Use == nil {
		return false, nil
	}
	err = r.Origin.Use(ctx, func(b GateRunner, t JudgedTreeDir) error {
		was, err := b.RunGate(ctx, t, g)
		hangs = was.State == nexus.Timeout
		return err
	})
	return hangs, err
}

// relatedResult returns the result of a gate that runs some of another's tests: it did not run
// if they gave no result. A load failure is a result if the other's tests ran on the base.
func relatedResult(g QualityGate, base, raw nexus.GateEvidence) nexus.GateEvidence {
	if g.Of == "" {
		return raw
	}
	if raw.State == nexus.NotRun && hasNoTestsReason(raw) && (base.State == nexus.Pass || base.State == nexus.Fail) {
		raw.State = nexus.Fail
	}
	if raw.State != nexus.Pass && raw.State != nexus.Fail && raw.State != nexus.Timeout {
		if raw.State != nexus.NotRun {
			raw.Why = strings.TrimSuffix(fmt.Sprintf("%s: %s", raw.State, raw.Why), ": ")
		}
		raw.State, raw.Findings = nexus.NotRun, nil
	}
	return raw
}

// rawEvidenceIfWorkCausedHang returns the evidence without the comparison if a gate hangs, as on the base, and
// that counts against the work: in a file that it changed, in some tests that did not hang on
// the base, or in no test at all.
func (r GateRunner) rawEvidenceIfWorkCausedHang(g QualityGate, raw, e nexus.GateEvidence) nexus.GateEvidence {
	ours := r.Origin != nil && slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool {
		return f.File != "" && slices.Contains(r.Origin.Changed, f.File)
	})
	if e.Hangs && (ours || !g.Tests || g.Of != "") {
		return raw
	}
	return e
}

// findHungGate returns evidence of a gate that hangs as on the base, or nil, and whether other
// gates judged in its place, and passed: some of the tests, or a criterion.
func findHungGate(all []nexus.GateEvidence, gates []QualityGate) (hung *nexus.GateEvidence, passed bool) {
	for i, e := range all {
		if e.Hangs && hung == nil {
			hung = &all[i]
		}
		passed = passed || e.Passed() && slices.ContainsFunc(gates, func(g QualityGate) bool {
			return g.Name == e.Gate && (g.Of != "" || isCriterionGate(g))
		})
	}
	return hung, passed
}
