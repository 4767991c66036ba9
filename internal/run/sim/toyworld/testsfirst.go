package toyworld

import (
	"context"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// reportIsolationBreach records, at times, that a role changed a forbidden file. The change was undone.
func (x *SimulatedWorker) reportIsolationBreach(ctx context.Context, role nexus.Role) error {
	if role != nexus.Tester || x.a.Strategy != nexus.TDDStrict || !x.drawChance(x.scenario.stray) || x.drawIndex(4) > 0 {
		return nil
	}
	return x.recordFacts(ctx, nexus.RoleIsolationViolated{Attempt: x.a.ID, Role: role, Files: []string{"shared"}})
}

// proveTests records the results of new tests without the work.
func (x *SimulatedWorker) proveTests(ctx context.Context) error {
	if err := x.waitFor(ctx, time.Minute); err != nil {
		return err
	}
	f := nexus.TestsRunWithoutWork{Attempt: x.a.ID, Tree: string(x.currentTree()), Proof: nexus.ProofNone, Why: "no test was written"}
	if x.hasOwnTest() {
		f.Files, f.Proof, f.Why = []string{string(x.View.Task.ID) + "_test"}, nexus.ProofRed, ""
		if x.drawChance(x.scenario.bad) {
			f.Proof = []nexus.TestProofResult{nexus.ProofGreen, nexus.ProofBroken, nexus.ProofUnsure}[x.drawIndex(3)]
			f.Why = "they are " + string(f.Proof)
		}
	}
	return x.recordFacts(ctx, f)
}

// verifyWork lets a verifier check, in a conversation of its own.
func (x *SimulatedWorker) verifyWork(ctx context.Context) error {
	done := 0
	for _, r := range x.a.Rounds {
		if r.Verified != nil {
			done++
		}
	}
	id := nexus.SessionID(fmt.Sprintf("%s/%s.%d", x.a.ID, nexus.Verifier, done+1))
	outcome := nexus.Outcome("")
	if old := x.a.SessionByID(id); old != nil && old.Over {
		outcome = old.Outcome
	} else {
		why := ""
		if old == nil || len(old.Messages) == 0 {
			why = "brief"
		}
		var err error
		if outcome, err = x.haveConversation(ctx, nexus.Verifier, id, why); err != nil {
			return err
		}
	}
	f := nexus.VerifierVerdictGiven{Attempt: x.a.ID, Tree: string(x.currentTree()), Read: outcome == nexus.Accepted && !x.drawChance(x.scenario.blind), Why: "as seen"}
	if f.Read && x.drawChance(x.scenario.reject) {
		f.Category = nexus.VerifierRejected
	}
	return x.recordFacts(ctx, f)
}

// hasOwnTest reports whether the attempt's tree has a test of its own.
func (x *SimulatedWorker) hasOwnTest() bool {
	name := string(x.View.Task.ID) + "_test"
	return x.currentTree().ContentOf(name) != x.treeAt(x.a.Base).ContentOf(name)
}
