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

// findForbiddenChange looks for what no gate need judge: secrets, and a change that edits the
// memory or excuses tests. Where there is none of it, it returns the record of tests in quarantine.
func (j *Judge) findForbiddenChange(ctx context.Context, c JudgeRequest) (r flaky.QuarantineOn, e nexus.Evidence, red bool, err error) {
	for _, look := range []func(context.Context, JudgeRequest) (nexus.Evidence, bool, error){j.findSecrets, j.findMemoryEdit} {
		if e, red, err = look(ctx, c); red || err != nil {
			return r, e, red, err
		}
	}
	return j.checkQuarantine(ctx, c)
}

// QuarantineFunc returns what says whether the record of a commit lets a test's failure
// not count today.
func (j *Judge) QuarantineFunc(ctx context.Context, commit string) func(gate, test string) bool {
	list, err := gate.QuarantineAt(ctx, j.Trees.Git(), commit)
	day := flaky.DayOf(j.Site.Now())
	return func(gate, test string) bool {
		q, ok := list.Of(gate, test, day)
		return err == nil && ok && q.Active(day)
	}
}

// checkQuarantine returns the record of tests in quarantine that a tree is judged with:
// its base's. It is red where the tree has another one, as that judges who
// wrote it. A record that cannot be read spares nothing.
func (j *Judge) checkQuarantine(ctx context.Context, c JudgeRequest) (r flaky.QuarantineOn, e nexus.Evidence, red bool, err error) {
	repo := j.Trees.Git()
	if c.Base != "" {
		other, err := gate.QuarantineChanged(ctx, repo, c.Base, c.Hash)
		if err != nil {
			return r, e, false, fmt.Errorf("read the quarantine: %w", err)
		}
		if other {
			return r, nexus.Evidence{
				Gate: flaky.QuarantineGate, State: nexus.Fail, Tree: c.Hash, Exit: -1,
				Findings: []nexus.Finding{{
					Gate: flaky.QuarantineGate, File: flaky.QuarantineFile, Severity: nexus.Critical, Code: flaky.QuarantineGate + ".written",
					Message: "the change edits the quarantine list, which only people may edit",
					Advice:  "Restore the file. If a test is unreliable, say so in finish: a person decides about it.",
				}},
			}, true, nil
		}
	}
	list, err := gate.QuarantineAt(ctx, repo, cmp.Or(c.Base, c.Hash))
	if errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
		list, err = nil, nil // nexus doctor says what is wrong with it
	}
	return flaky.QuarantineOn{List: list, Day: flaky.DayOf(j.Site.Now())}, e, false, err
}
