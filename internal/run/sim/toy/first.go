package toy

import (
	"context"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// isolate records, at times, that a role changed a forbidden file. The change was undone.
func (x *Actor) isolate(ctx context.Context, role nexus.Role) error {
	if role != nexus.Tester || x.a.Strategy != nexus.TDDStrict || !x.roll(x.scenario.stray) || x.pick(4) > 0 {
		return nil
	}
	return x.record(ctx, nexus.IsolationBroken{Attempt: x.a.ID, Role: role, Files: []string{"shared"}})
}

// prove records the results of new tests without the work.
func (x *Actor) prove(ctx context.Context) error {
	if err := x.wait(ctx, time.Minute); err != nil {
		return err
	}
	f := nexus.TestsProved{Attempt: x.a.ID, Tree: string(x.tree()), Proof: nexus.ProofNone, Why: "no test was written"}
	if x.tested() {
		f.Files, f.Proof, f.Why = []string{string(x.View.Task.ID) + "_test"}, nexus.ProofRed, ""
		if x.roll(x.scenario.bad) {
			f.Proof = []nexus.Proof{nexus.ProofGreen, nexus.ProofBroken, nexus.ProofUnsure}[x.pick(3)]
			f.Why = "they are " + string(f.Proof)
		}
	}
	return x.record(ctx, f)
}

// verify lets a verifier check, in a conversation of its own.
func (x *Actor) verify(ctx context.Context) error {
	done := 0
	for _, r := range x.a.Rounds {
		if r.Verified != nil {
			done++
		}
	}
	id := nexus.SessionID(fmt.Sprintf("%s/%s.%d", x.a.ID, nexus.Verifier, done+1))
	outcome := nexus.Outcome("")
	if old := x.a.Session(id); old != nil && old.Over {
		outcome = old.Outcome
	} else {
		why := ""
		if old == nil || len(old.Messages) == 0 {
			why = "brief"
		}
		var err error
		if outcome, err = x.converse(ctx, nexus.Verifier, id, why); err != nil {
			return err
		}
	}
	f := nexus.WorkVerified{Attempt: x.a.ID, Tree: string(x.tree()), Read: outcome == nexus.Accepted && !x.roll(x.scenario.blind), Why: "as seen"}
	if f.Read && x.roll(x.scenario.reject) {
		f.Category = nexus.VerifierRejected
	}
	return x.record(ctx, f)
}

// tested reports whether the attempt's tree has a test of its own.
func (x *Actor) tested() bool {
	name := string(x.View.Task.ID) + "_test"
	return x.tree().Of(name) != x.at(x.a.Base).Of(name)
}
