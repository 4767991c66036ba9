package land

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// taskRevert is one revert in progress.
type taskRevert struct {
	Worker *worker.AttemptWorker
	view   state.WorkerView
	desk   worker.AttemptFactRecorder
	f      nexus.UndoStarted
	gone   []state.CompletedLanding // landings to revert, the last first
}

// UndoTasks reverts the landed work of tasks by one commit on the run's branch, if the gates pass
// the tree without it, or returns why that is impossible. After a crash it first checks
// whether the commit exists already.
func UndoTasks(ctx context.Context, s *worker.AttemptWorker, f nexus.UndoStarted, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	u := &taskRevert{Worker: s, view: v, desk: d, f: f}
	for _, id := range f.Tasks {
		for _, l := range v.Commits {
			if l.Task == id {
				u.gone = append(u.gone, l)
			}
		}
	}
	if done, err := u.findEarlierRevert(ctx); done != nil || err != nil {
		return done, err
	}
	tree, conflicts, err := u.treeWithoutTasks(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(conflicts) > 0:
		return []nexus.Fact{nexus.UndoRefused{Attempt: f.Attempt, Tasks: f.Tasks, Why: u.conflictReason(conflicts), Conflicts: conflicts}}, nil
	}
	if refused, err := u.judgeTree(ctx, tree); refused != nil || err != nil {
		return refused, err
	}
	return u.commitTree(ctx, tree)
}

// findEarlierRevert returns the confirmation of a revert that a dead process made and did not record.
func (u *taskRevert) findEarlierRevert(ctx context.Context) ([]nexus.Fact, error) {
	git := u.Worker.Trees.PrivateRepo()
	at, err := git.Resolve(ctx, RunBranchRef(u.view.Run))
	if err != nil || at == u.f.Onto {
		return nil, err
	}
	out, err := git.Run(ctx, "show", "-s", "--format=%T%n%P%n%B", at)
	if err != nil {
		return nil, fmt.Errorf("read commit %.12s: %w", at, err)
	}
	tree, rest, _ := strings.Cut(out, "\n")
	parent, message, _ := strings.Cut(rest, "\n")
	if parent != u.f.Onto || !strings.HasSuffix(strings.TrimSpace(message), "\n"+u.undoTrailer()) {
		return nil, fmt.Errorf("the run's branch is at %.12s, which nexus did not put there: it should be at %.12s", at, u.f.Onto)
	}
	return u.undoLandedFacts(at, tree), nil
}

func (u *taskRevert) undoLandedFacts(commit, tree string) []nexus.Fact {
	return []nexus.Fact{nexus.UndoLanded{Attempt: u.f.Attempt, Tasks: u.f.Tasks, Commit: commit, Tree: tree, Parent: u.f.Onto, By: u.f.By}}
}

// treeWithoutTasks returns the tip's tree without the reverted work, or the files whose later
// changes conflict.
func (u *taskRevert) treeWithoutTasks(ctx context.Context) (tree string, conflicts []string, err error) {
	tree, err = u.Worker.Trees.PrivateRepo().TreeID(ctx, u.f.Onto)
	for _, l := range u.gone {
		if err != nil {
			return "", nil, err
		}
		made, failed := u.Worker.Trees.Merge(ctx, l.Commit, tree, l.Parent)
		if failed != nil {
			return "", nil, fmt.Errorf("revert %s: %w", l.Task, failed)
		}
		if len(made.Conflicts) > 0 {
			return "", made.Conflicts, nil
		}
		tree = made.Tree
	}
	return tree, nil, err
}

// conflictReason returns which files cannot be reverted, and the tasks that changed them
// since.
func (u *taskRevert) conflictReason(conflicts []string) string {
	var by []nexus.TaskID
	first := u.gone[len(u.gone)-1]
	later := false
	for _, l := range u.view.Commits {
		if later && !slices.Contains(u.f.Tasks, l.Task) && slices.ContainsFunc(l.Changes.Files, func(f string) bool { return slices.Contains(conflicts, f) }) {
			by = append(by, l.Task)
		}
		later = later || l.Task == first.Task
	}
	why := "changed since in the same lines: " + strings.Join(conflicts, ", ")
	if len(by) > 0 {
		why += fmt.Sprintf(", by %s, which landed later", nexus.JoinWords(by))
	}
	return why
}

// judgeTree runs the gates on the tree, and returns why it may not land.
func (u *taskRevert) judgeTree(ctx context.Context, hash string) (refused []nexus.Fact, err error) {
	v := u.view
	tree, err := u.Worker.Trees.AddTree(ctx, v.Run, u.f.Attempt, u.f.Onto)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.Remove(ctx)) }()
	if err := tree.Reset(ctx, hash); err != nil {
		return nil, err
	}
	evidence, err := u.Worker.Judge.RunGates(ctx, worker.TreeJudgeRequest{
		Tree: tree, Hash: hash, Base: v.Goal.Base, Paid: true, Whole: true, Agreed: true,
		Mark: func(f nexus.GateJudged) nexus.GateJudged { return f },
	}, u.desk)
	if err != nil {
		return nil, err
	}
	sum := repair.CombineVerdict(u.f.Attempt, nexus.Task{}, hash, evidence)
	if sum.State == nexus.Pass {
		return nil, nil
	}
	if sum.State == nexus.NotRun {
		free, err := u.mayLandWithoutGates(ctx, hash)
		if free || err != nil {
			return nil, err
		}
	}
	f := nexus.UndoRefused{Attempt: u.f.Attempt, Tasks: u.f.Tasks, Why: "no gate judged the tree without it"}
	if sum.Gate != "" {
		f.Why = fmt.Sprintf("gate %s fails without it: %s", sum.Gate, sum.Why)
	}
	for _, e := range evidence {
		if !e.Optional {
			f.Findings = append(f.Findings, e.Findings...)
		}
	}
	return []nexus.Fact{f}, nil
}

// mayLandWithoutGates reports whether a tree that no gate judged may land: it is the one that
// the run began with, or the reverted work landed without a gate, too.
func (u *taskRevert) mayLandWithoutGates(ctx context.Context, hash string) (bool, error) {
	base, err := u.Worker.Trees.PrivateRepo().TreeID(ctx, u.view.Goal.Base)
	if err != nil || base == hash {
		return err == nil, err
	}
	return !slices.ContainsFunc(u.gone, func(l state.CompletedLanding) bool {
		return !slices.ContainsFunc(u.view.Landed, func(t nexus.Task) bool { return t.ID == l.Task && isExemptFromGates(state.TaskState{Task: t}) })
	}), nil
}

// commitTree puts the tree on the branch.
func (u *taskRevert) commitTree(ctx context.Context, hash string) ([]nexus.Fact, error) {
	commit, err := u.Worker.Trees.Commit(ctx, hash, []string{u.f.Onto}, u.commitMessage(), u.Worker.Site.Now())
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", u.f.Attempt, err)
	}
	if err := u.Worker.Trees.MoveRef(ctx, RunBranchRef(u.view.Run), commit, u.f.Onto); err != nil {
		return nil, fmt.Errorf("land %s: %w", u.f.Attempt, err)
	}
	return u.undoLandedFacts(commit, hash), nil
}

func (u *taskRevert) commitMessage() string {
	title, body := "", ""
	for _, l := range u.gone {
		name := string(l.Task)
		for _, t := range u.view.Landed {
			if t.ID == l.Task {
				name += ": " + t.Title
			}
		}
		title = name
		body += fmt.Sprintf("This reverts commit %s,\nwhich landed %s.\n\n", l.Commit, name)
	}
	if n := len(u.gone); n > 1 {
		title = fmt.Sprintf("%d tasks", n)
	}
	return subjectLine("Undo "+title) + "\n\n" + body + u.undoTrailer() + "\n"
}

func (u *taskRevert) undoTrailer() string {
	return "Nexus-Undo: " + string(u.view.Run) + "/" + string(u.f.Attempt)
}
