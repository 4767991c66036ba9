package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// findForbiddenChange detects changes that are refused without running gates: secrets, and
// edits of the memory or of the list of quarantined tests. If there are none, it returns the
// record of tests in quarantine.
func (j *TreeJudge) findForbiddenChange(ctx context.Context, c TreeJudgeRequest) (r flaky.DatedQuarantine, e nexus.GateEvidence, red bool, err error) {
	for _, look := range []func(context.Context, TreeJudgeRequest) (nexus.GateEvidence, bool, error){j.findSecrets, j.findMemoryEdit} {
		if e, red, err = look(ctx, c); red || err != nil {
			return r, e, red, err
		}
	}
	return j.loadQuarantine(ctx, c)
}

// QuarantineFunc returns a function that reports whether the record of a commit excuses a
// test's failure today.
func (j *TreeJudge) QuarantineFunc(ctx context.Context, commit string) func(gate, test string) bool {
	list, err := gate.ReadQuarantineAt(ctx, j.Trees.PrivateRepo(), commit)
	day := flaky.DayOf(j.Site.Now())
	return func(gate, test string) bool {
		q, ok := list.EntryFor(gate, test, day)
		return err == nil && ok && q.IsActive(day)
	}
}

// loadQuarantine returns the record of tests in quarantine for judging a tree: its base's.
// The result is red if the tree has another one, as its author would judge itself. An
// unreadable record excuses nothing.
func (j *TreeJudge) loadQuarantine(ctx context.Context, c TreeJudgeRequest) (r flaky.DatedQuarantine, e nexus.GateEvidence, red bool, err error) {
	repo := j.Trees.PrivateRepo()
	if c.Base != "" {
		other, err := gate.QuarantineChanged(ctx, repo, c.Base, c.Hash)
		if err != nil {
			return r, e, false, fmt.Errorf("read the quarantine: %w", err)
		}
		if other {
			return r, nexus.GateEvidence{
				Gate: flaky.QuarantineGate, State: nexus.Fail, Tree: c.Hash, Exit: -1,
				Findings: []nexus.Finding{{
					Gate: flaky.QuarantineGate, File: flaky.QuarantineFile, Severity: nexus.Critical, Code: flaky.QuarantineGate + ".written",
					Message: "the change edits the quarantine list, which only people may edit",
					Advice:  "Restore the file. If a test is unreliable, say so in finish: a person decides about it.",
				}},
			}, true, nil
		}
	}
	list, err := gate.ReadQuarantineAt(ctx, repo, cmp.Or(c.Base, c.Hash))
	if errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
		list, err = nil, nil // nexus doctor reports its problem
	}
	return flaky.DatedQuarantine{List: list, Day: flaky.DayOf(j.Site.Now())}, e, false, err
}
