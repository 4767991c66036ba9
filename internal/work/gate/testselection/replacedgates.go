package testselection

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// RemainingGates returns the gates that still have to run after one: if it judged some tests,
// it replaces the gate that runs all, and tests that do not end are not run again.
func RemainingGates(rest []gate.QualityGate, g gate.QualityGate, e nexus.GateEvidence) []gate.QualityGate {
	return slices.DeleteFunc(rest, func(o gate.QualityGate) bool {
		return g.Of != "" && !g.IsPartWithoutResult(e) && o.Name == g.Of || o.RepeatsHangingTests(e)
	})
}

// ReplacedGates returns the gates that could not judge any of their selected tests, while all tests
// ran in their place, and passed. A name shared by two gates is excluded.
func ReplacedGates(gates []gate.QualityGate, all []nexus.GateEvidence) []string {
	var names []string
	had := map[string]int{}
	for _, g := range gates {
		had[g.Name]++
	}
	for _, g := range gates {
		if had[g.Name] == 1 && g.IsPartWithoutResult(nexus.EvidenceOfGate(all, g.Name)) && nexus.EvidenceOfGate(all, g.Of).Passed() {
			names = append(names, g.Name)
		}
	}
	return names
}
