// Package land puts accepted work on the run's branch, one change at a time, in the private
// clone and never in a checkout of the user.
//
// Git merges a change without a worktree. The merged tree is judged again if it differs from
// the accepted one, and committed with one parent. The branch moves by compare and swap, and
// its new commit is read back: the tree that landed is the tree that passed.
package land

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// RunBranchRef returns the name of the run's branch in the private clone.
func RunBranchRef(run nexus.RunID) string { return "refs/nexus/" + string(run) + "/train" }

// attemptLanding is one landing in progress.
type attemptLanding struct {
	Worker *worker.AttemptWorker
	view   state.WorkerView
	a      *state.AttemptState // the attempt that lands
	m      *state.AttemptState // the merger's attempt; our own copy
	desk   worker.AttemptFactRecorder
	tree   *worktree.AttemptTree // worktree of the merged tree, nil until it is needed
	made   worktree.MergeResult
	ref    string // ref that moves
	with   string // second parent of the commit; empty: none
}

// LandAttempt lands the accepted attempt of the view on the tip, or returns why that is impossible.
// After a crash it first checks whether the attempt has landed already.
func LandAttempt(ctx context.Context, s *worker.AttemptWorker, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	l := &attemptLanding{Worker: s, view: v, a: v.Attempt, m: v.Merge, desk: d, ref: RunBranchRef(v.Run)}
	return l.mergeAndCommit(ctx)
}

// mergeAndCommit merges, judges and commits, or returns why that is impossible.
func (l *attemptLanding) mergeAndCommit(ctx context.Context) ([]nexus.Fact, error) {
	done, err := l.findEarlierLanding(ctx)
	switch {
	case err != nil:
		return nil, err
	case done != nil: // the worktree of the landing is no longer needed
		return done, l.Worker.Trees.DropTree(ctx, l.Worker.Site.Run, l.m.ID)
	}
	l.made, err = l.Worker.Trees.Merge(ctx, l.a.Base, l.view.Tip, l.a.Commit)
	if err != nil {
		return nil, fmt.Errorf("merge %s: %w", l.a.ID, err)
	}
	hash, refused, err := l.made.Tree, (*nexus.LandingRejected)(nil), error(nil)
	if len(l.made.Conflicts) > 0 {
		hash, refused, err = l.resolveConflict(ctx)
	}
	if refused == nil && err == nil {
		refused, err = l.refuseTakenNumbers(ctx, hash)
	}
	if refused == nil && err == nil && len(l.made.Conflicts) == 0 {
		refused, err = l.judgeTree(ctx, hash)
	}
	if errors.Is(err, &nexus.Error{Code: nexus.CodeProvider}) { // nothing has moved yet
		refused, err = &nexus.LandingRejected{Task: l.a.Task, Attempt: l.a.ID, Onto: l.view.Tip, Why: err.Error(), Broken: true}, nil
	}
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return []nexus.Fact{*refused}, l.removeWorktree(ctx)
	}
	f, err := l.commitTree(ctx, hash)
	if err != nil {
		return nil, err
	}
	return []nexus.Fact{f}, l.removeWorktree(ctx)
}

// findEarlierLanding returns the confirmation of a landing that a dead process made and did not record.
func (l *attemptLanding) findEarlierLanding(ctx context.Context) ([]nexus.Fact, error) {
	git := l.Worker.Trees.PrivateRepo()
	at, err := git.Resolve(ctx, l.ref)
	if err != nil {
		return nil, fmt.Errorf("find the run's branch: %w", err)
	}
	if at == l.view.Tip {
		return nil, nil
	}
	f, message, err := l.readLandingCommit(ctx, at)
	if err != nil {
		return nil, err
	}
	if f.Parent != l.view.Tip || !strings.HasSuffix(strings.TrimSpace(message), "\n"+attemptTrailer(l.Worker.Site.Run, l.a.ID)) {
		return nil, fmt.Errorf("the run's branch is at %.12s, which nexus did not put there: it should be at %.12s", at, l.view.Tip)
	}
	return []nexus.Fact{f}, nil
}

// readLandingCommit returns the landing that a commit on the branch describes.
func (l *attemptLanding) readLandingCommit(ctx context.Context, commit string) (nexus.LandingCompleted, string, error) {
	out, err := l.Worker.Trees.PrivateRepo().Run(ctx, "show", "-s", "--format=%T%n%P%n%B", commit)
	if err != nil {
		return nexus.LandingCompleted{}, "", fmt.Errorf("read commit %.12s: %w", commit, err)
	}
	tree, rest, _ := strings.Cut(out, "\n")
	parents, message, _ := strings.Cut(rest, "\n")
	parent, _, _ := strings.Cut(parents, " ")
	f := nexus.LandingCompleted{Task: l.a.Task, Attempt: l.a.ID, Commit: commit, Tree: tree, Parent: parent, Resolved: l.hasMergeSession()}
	names, err := changeeffects.ChangedNames(ctx, l.Worker.Trees.PrivateRepo(), parent, commit)
	if err != nil {
		return f, message, fmt.Errorf("read what %.12s changes: %w", commit, err)
	}
	f.Changes = landingChanges(names)
	if f.Changes.Added, f.Changes.Deleted, err = changeeffects.CountLines(ctx, l.Worker.Trees.PrivateRepo(), parent, commit); err != nil {
		return f, message, fmt.Errorf("count the lines that %.12s changes: %w", commit, err)
	}
	return f, message, nil
}

// Limits of the description of a landing's changes.
const (
	maxFiles = 200
	maxNames = 50
)

// landingChanges returns the files of a change, with the declarations for others that it alters or
// removes.
func landingChanges(all []changeeffects.FileDeclarationChanges) nexus.LandingChanges {
	var files []string
	var names []nexus.ChangedDeclaration
	for _, f := range all {
		files = append(files, f.Path)
		for _, n := range f.Changed {
			names = append(names, nexus.ChangedDeclaration{File: f.Path, Name: n.Name, Was: n.Was, Now: n.Text})
		}
		for _, n := range f.Gone {
			names = append(names, nexus.ChangedDeclaration{File: f.Path, Name: n.Name, Was: n.Text})
		}
	}
	return nexus.LandingChanges{Files: files[:min(len(files), maxFiles)], Names: names[:min(len(names), maxNames)]}
}

func (l *attemptLanding) hasMergeSession() bool { return l.m != nil && len(l.m.Sessions) > 0 }

// openWorktree creates the worktree of the landing and restores the tree, or the merger's last
// state.
func (l *attemptLanding) openWorktree(ctx context.Context, tree string) error {
	if l.tree != nil {
		return nil
	}
	t, err := l.Worker.Trees.AddTree(ctx, l.Worker.Site.Run, l.m.ID, tree)
	if err != nil {
		return fmt.Errorf("make a worktree to land %s: %w", l.a.ID, err)
	}
	if l.m.Snapshot.Commit != "" {
		tree = l.m.Snapshot.Commit
	}
	l.tree = t
	return t.Restore(ctx, tree)
}

func (l *attemptLanding) snapshotMerge(ctx context.Context) (nexus.TreeSnapshotted, error) {
	commit, tree, err := l.tree.Snapshot(ctx, "merge of "+string(l.a.ID))
	return nexus.TreeSnapshotted{Attempt: l.m.ID, Commit: commit, Tree: tree}, err
}

func (l *attemptLanding) recordFacts(ctx context.Context, facts ...nexus.Fact) error {
	if err := l.desk.Record(ctx, facts...); err != nil {
		return err
	}
	for _, f := range facts {
		l.m.Apply(f, l.Worker.Site.Now())
	}
	return nil
}

// judgeTree runs the gates on a tree that git merged alone, unless it is the tree that was
// accepted and all its tests ran. If it is red, the change is returned to the session that
// wrote it.
func (l *attemptLanding) judgeTree(ctx context.Context, hash string) (*nexus.LandingRejected, error) {
	if hash == l.a.Tree && !l.Worker.Judge.HasPendingTests(ctx, hash, l.desk) && !l.Worker.Judge.HasLandingSteps(l.view.Task.Task) {
		return nil, nil
	}
	evidence, sum, err := l.judgeMergedTree(ctx, hash)
	if err != nil || l.allowsLanding(sum) {
		return nil, err
	}
	f := &nexus.LandingRejected{
		Task: l.a.Task, Attempt: l.a.ID, Tree: hash, Onto: l.view.Tip,
		Why: fmt.Sprintf("gate %s fails once it is merged with what landed meanwhile: %s", sum.Gate, sum.Why),
	}
	if hash == l.a.Tree || l.Worker.Judge.IsLandingStep(sum.Gate) {
		f.Why = fmt.Sprintf("gate %s, which runs at the landing, fails: %s", sum.Gate, sum.Why)
	}
	for _, e := range evidence {
		if !e.Optional {
			f.Findings = append(f.Findings, e.Findings...)
		}
	}
	return f, nil
}

// judgeMergedTree runs the gates on a merged tree.
func (l *attemptLanding) judgeMergedTree(ctx context.Context, hash string) ([]nexus.GateEvidence, nexus.GatesVerdictGiven, error) {
	none := nexus.GatesVerdictGiven{}
	if err := l.openWorktree(ctx, hash); err != nil {
		return nil, none, err
	}
	evidence, err := l.Worker.Judge.RunGates(ctx, worker.TreeJudgeRequest{
		Tree: l.tree, Hash: hash, Base: l.view.Tip, Task: l.view.Task.Task, Paid: true, Agreed: true,
		Whole: l.with != "", // no later gate judges a merge into the target
		Mark:  func(f nexus.GateJudged) nexus.GateJudged { f.Task = l.a.Task; return f },
	}, l.desk)
	if err != nil {
		return nil, none, err
	}
	return evidence, repair.CombineVerdict(l.a.ID, l.view.Task.Task, hash, evidence), nil
}

func (l *attemptLanding) allowsLanding(v nexus.GatesVerdictGiven) bool {
	return v.State == nexus.Pass || v.State == nexus.NotRun && isExemptFromGates(l.view.Task)
}

// isExemptFromGates reports whether a task may land though no gate could judge it.
func isExemptFromGates(t state.TaskState) bool {
	return t.Kind == nexus.DocsTask || t.Strategy == nexus.NoTest
}

// commitTree puts the tree on the branch and verifies it.
func (l *attemptLanding) commitTree(ctx context.Context, hash string) (nexus.LandingCompleted, error) {
	none := nexus.LandingCompleted{}
	parents := []string{l.view.Tip}
	if l.with != "" {
		parents = append(parents, l.with)
	}
	submitted, err := l.Worker.Judge.ReadSubmission(l.view.AuthorSession(l.a))
	if err != nil {
		return none, err
	}
	commit, err := l.Worker.Trees.Commit(ctx, hash, parents, CommitMessage(l.Worker.Site.Run, l.view.Task.Task, l.a.ID, submissionForCommitMessage(l.a, submitted)), l.Worker.Site.Now())
	if err != nil {
		return none, fmt.Errorf("commit %s: %w", l.a.ID, err)
	}
	if err := l.Worker.Trees.MoveRef(ctx, l.ref, commit, l.view.Tip); err != nil {
		return none, fmt.Errorf("land %s: %w", l.a.ID, err)
	}
	return l.verifyBranch(ctx, commit, hash)
}

// verifyBranch verifies the branch: it points at the new commit, with the tree that passed,
// directly on the tip.
func (l *attemptLanding) verifyBranch(ctx context.Context, commit, hash string) (nexus.LandingCompleted, error) {
	none := nexus.LandingCompleted{}
	at, err := l.Worker.Trees.PrivateRepo().Resolve(ctx, l.ref)
	if err != nil {
		return none, err
	}
	f, _, err := l.readLandingCommit(ctx, at)
	if err != nil {
		return none, err
	}
	if f.Commit != commit || f.Tree != hash || f.Parent != l.view.Tip {
		return none, fmt.Errorf("landed %.12s with tree %.12s on %.12s; the tree that passed is %.12s, the tip was %.12s",
			f.Commit, f.Tree, f.Parent, hash, l.view.Tip)
	}
	return f, nil
}

func (l *attemptLanding) removeWorktree(ctx context.Context) error {
	if l.tree == nil {
		return nil
	}
	return l.tree.Remove(ctx)
}
