package audit

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// recordTestsFirst records the facts about tests that come first.
func (b *FactAudit) recordTestsFirst(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.TestsRunWithoutWork:
		b.proofs[f.Attempt] = f.Proof
	case nexus.RoleIsolationViolated:
		if b.ways[f.Attempt] == nexus.TDDStrict && f.Role == nexus.Tester && len(f.Files) > 0 {
			b.breached[f.Attempt] = true
		}
	case nexus.TamperSuspected:
		b.suspects[f.Attempt] = f.Tree
	case nexus.VerifierVerdictGiven:
		b.verified[f.Attempt] = f
		if t := b.tasks[b.of[f.Attempt]]; f.Read {
			t.refused = f.Category != ""
		}
	default:
	}
}

// checkTestsFirst checks that tests that must come first were red at first, and that a verifier approved
// the tree.
func (b *FactAudit) checkTestsFirst(f nexus.AttemptEnded) {
	v := b.verified[f.Attempt]
	if tree, ok := b.suspects[f.Attempt]; ok && tree == f.Tree && (v.Tree != f.Tree || !v.Read || v.Category != "") {
		b.wrong("%s is accepted with tree %q, which touches what judges it, and the verifier said %v %q of %q", f.Attempt, f.Tree, v.Read, v.Category, v.Tree)
	}
	way := b.ways[f.Attempt]
	if !way.UsesSeparateSessions() {
		return
	}
	if p := b.proofs[f.Attempt]; p != nexus.ProofRed || b.breached[f.Attempt] {
		b.wrong("%s is accepted with %s, and its tests were seen %q, isolation broken %v", f.Attempt, way, p, b.breached[f.Attempt])
	}
	if v.Tree != f.Tree || v.Category != "" {
		b.wrong("%s is accepted with %s and tree %q, and the verifier said %q of %q", f.Attempt, way, f.Tree, v.Category, v.Tree)
	}
}

// checkStrategyChange records that a task continues with a laxer strategy. Only the order from the strictest
// to the laxest is allowed.
func (b *FactAudit) checkStrategyChange(t *auditedTask, f nexus.TaskEscalated) {
	all := nexus.Strategies()
	had, now := slices.Index(all, t.way), slices.Index(all, f.Strategy)
	if now < 0 || t.way != "" && now <= had {
		b.wrong("%s goes on with %s after %s", t.ID, f.Strategy, t.way)
	}
	if t.refused && !f.Strategy.UsesSeparateSessions() {
		b.wrong("%s goes on with %s, which has no verifier, and one refused the work", t.ID, f.Strategy)
	}
	t.way = f.Strategy
	clear(t.tries)
}
