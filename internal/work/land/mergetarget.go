package land

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// MergeIntoTarget merges the landed work of a run into a target that moved, in the same way as
// one change is merged onto another: a conflict goes to the merger, and the merged tree is
// judged against the target's. The target itself is not changed.
func MergeIntoTarget(ctx context.Context, s *worker.AttemptWorker, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	m, tip := v.Merge, v.Tip
	git := s.Trees.PrivateRepo()
	base, err := git.MergeBase(ctx, m.Base, tip)
	if err != nil {
		return nil, fmt.Errorf("find the common ancestor of the target and the run: %w", err)
	}
	if base == "" {
		return []nexus.Fact{nexus.TargetMergeRefused{Onto: m.Base, Why: fmt.Sprintf("its history was replaced: %.12s has no commit in common with the run", m.Base)}}, nil
	}
	tree, err := git.TreeID(ctx, tip)
	if err != nil {
		return nil, err
	}
	whole, theirs, err := mergeSubjects(ctx, s.Trees, v, base)
	if err != nil {
		return nil, err
	}
	v.Task, v.Meanwhile, v.Tip = state.TaskState{Task: whole}, theirs, m.Base
	l := &attemptLanding{
		Worker: s, view: v, m: m, desk: d, ref: targetMergeRef(v.Run, m.ID), with: tip,
		a: &state.AttemptState{ID: m.ID, Base: base, Commit: tip, Tree: tree, Tier: nexus.Balanced},
	}
	if at, err := git.Resolve(ctx, l.ref); errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		if err := s.Trees.MoveRef(ctx, l.ref, m.Base, ""); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", l.ref, at, err)
	}
	facts, err := l.mergeAndCommit(ctx)
	if e, ok := errors.AsType[*nexus.Error](err); ok && isNoModelCode(e.Code) {
		return []nexus.Fact{nexus.TargetMergeRefused{Onto: m.Base, Why: "cannot merge " + strings.Join(l.made.Conflicts, ", ") + ": " + e.Message}}, l.removeWorktree(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i, f := range facts {
		switch f := f.(type) {
		case nexus.LandingCompleted:
			facts[i] = nexus.TargetMergeCommitted{Attempt: m.ID, Onto: m.Base, Commit: f.Commit, Tree: f.Tree, Resolved: f.Resolved}
		case nexus.LandingRejected:
			facts[i] = nexus.TargetMergeRefused{Onto: m.Base, Why: f.Why}
		default:
		}
	}
	return facts, nil
}

// targetMergeRef returns the ref of the run's landed work, merged into a target. It is beside the
// refs of the attempt, which has a directory of its name.
func targetMergeRef(run nexus.RunID, id nexus.AttemptID) string {
	return "refs/nexus/" + string(run) + "/merged-" + string(id)
}

// isNoModelCode reports whether an error means that no model is available for the merge.
func isNoModelCode(c nexus.ErrorCode) bool {
	switch c {
	case nexus.CodeNoKey, nexus.CodeNoProvider, nexus.CodeModelUnknown, nexus.CodeAuth, nexus.CodeNotRecorded:
		return true
	default:
		return false
	}
}

// maxSubjects limits how many commits of others the merger receives.
const maxSubjects = 50

// mergeSubjects returns the run's changes, as one task, and the commits of others on the target
// since.
func mergeSubjects(ctx context.Context, trees *worktree.Store, v state.WorkerView, base string) (whole nexus.Task, theirs []nexus.Task, err error) {
	whole = nexus.Task{Title: "Merge: " + cmp.Or(spec.GoalTitle(v.Goal.Goal.Text), v.Goal.Goal.Text)}
	for _, t := range v.Landed {
		whole.Brief += fmt.Sprintf("%s: %s\n%s\n\n", t.ID, t.Title, t.Brief)
		for _, c := range t.Criteria {
			if c.Check != "" {
				whole.Criteria = append(whole.Criteria, c)
			}
		}
	}
	log, err := trees.PrivateRepo().Run(ctx, "log", fmt.Sprintf("--max-count=%d", maxSubjects), "--no-show-signature", "--format=%h %s", "--end-of-options", base+".."+v.Merge.Base)
	if err != nil {
		return whole, nil, err
	}
	for line := range strings.Lines(log) {
		id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		theirs = append(theirs, nexus.Task{ID: nexus.TaskID(id), Title: subject})
	}
	return whole, theirs, nil
}
