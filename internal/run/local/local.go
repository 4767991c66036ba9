// Package local executes the decisions of a run on this machine: it plans, attempts, lands and
// publishes with the local worktrees, sandbox and models.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/criteriondiagnosis"
	"github.com/nexus-ai-builder/nexus/internal/work/land"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// LocalExecutor is this machine. Its fields are read only once it acts.
type LocalExecutor struct {
	Worker *worker.AttemptWorker
	Branch string // to publish to; empty means the run's, below the prefix of the clone

	Shields []string // patterns of branches that are never moved

	Regression EarlierCheckSettings // checks of earlier runs to repeat

	Hooks  []hookcmd.DeclaredHook     // that may refuse
	Runner *usercmd.UserCommandRunner // runs the hooks; nil if there are none
}

// Now implements [runGates.IntentExecutor].
func (m *LocalExecutor) Now() time.Time { return m.Worker.Site.Now() }

// TimerAt implements [runGates.IntentExecutor].
func (m *LocalExecutor) TimerAt(t time.Time) <-chan time.Time { return time.After(t.Sub(m.Now())) }

// ExecuteIntent implements [runGates.IntentExecutor].
func (m *LocalExecutor) ExecuteIntent(ctx context.Context, intent nexus.Fact, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	switch f := intent.(type) {
	case nexus.StartHooksAsked:
		return m.askStartHooks(ctx, v, d)
	case nexus.PlanningStarted:
		return m.makePlan(ctx, v, d)
	case nexus.InterviewRoundStarted:
		return m.interviewRound(ctx, f, v, d)
	case nexus.SpecWritingStarted:
		return m.writeSpec(ctx, v, d)
	case nexus.ComplexityRatingStarted:
		return m.chooseStartTiers(ctx, f, v, d)
	case nexus.CriterionDiagnosisStarted:
		return criteriondiagnosis.FindFaults(ctx, m.Worker, v, f.Faults, d)
	case nexus.TaskSplitStarted:
		return m.splitTask(ctx, f, v, d)
	case nexus.AdditionPlanningStarted:
		return m.planAddition(ctx, f, v, d)
	case nexus.AttemptStarted:
		if _, err := m.tryEarlierChecks(ctx, v, d); err != nil {
			return nil, err
		}
		return attempt.RunAttempt(ctx, m.Worker, v, d)
	case nexus.AttemptResumed:
		if v.Merge != nil && v.Merge.ID == f.Attempt {
			return m.landAttempt(ctx, v, d)
		}
		return attempt.RunAttempt(ctx, m.Worker, v, d)
	case nexus.LandingStarted:
		return m.landAttempt(ctx, v, d)
	case nexus.UndoStarted:
		return land.UndoTasks(ctx, m.Worker, f, v, d)
	case nexus.TargetMergeStarted:
		return land.MergeIntoTarget(ctx, m.Worker, v, d)
	case nexus.FinalGatesStarted:
		return m.judgeFinalTree(ctx, v, d)
	case nexus.ResultPublishingStarted:
		return m.publishResult(ctx, v, d)
	default:
		return nil, fmt.Errorf("unknown intent %s", nexus.FactKind(intent))
	}
}

// landAttempt lands an attempt, and removes its worktree once it landed.
func (m *LocalExecutor) landAttempt(ctx context.Context, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	if err := CreateRunBranch(ctx, m.Worker.Trees, v); err != nil {
		return nil, err
	}
	facts, err := land.LandAttempt(ctx, m.Worker, v, d)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if f, ok := f.(nexus.LandingCompleted); ok {
			err = errors.Join(err, m.Worker.Trees.DropTree(ctx, v.Run, f.Attempt))
		}
	}
	return facts, err
}

// CreateRunBranch creates the run's branch in the private clone, once.
func CreateRunBranch(ctx context.Context, trees *worktree.Store, v state.WorkerView) error {
	ref := land.RunBranchRef(v.Run)
	_, err := trees.PrivateRepo().Resolve(ctx, ref)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return err
	}
	if v.Landings > 0 {
		return fmt.Errorf("the run's branch %s is gone, with %d commits on it", ref, v.Landings)
	}
	return trees.MoveRef(ctx, ref, v.Goal.Base, "")
}

// judgeFinalTree runs the gates on the last tree of the run, and those of all its packages. Results of
// the landing are reused.
func (m *LocalExecutor) judgeFinalTree(ctx context.Context, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	s := m.Worker
	hash, err := s.Trees.PrivateRepo().TreeID(ctx, v.Tip)
	if err != nil {
		return nil, err
	}
	tree, err := s.Trees.AddTree(ctx, v.Run, "result", v.Tip)
	if err != nil {
		return nil, err
	}
	if err := tree.Reset(ctx, hash); err != nil { // an interrupted run may have left another tip or files
		return nil, err
	}
	c := worker.TreeJudgeRequest{
		Tree: tree, Hash: hash, Base: v.Goal.Base, Paid: true, Whole: true, Wanted: v.Bear,
		Mark: func(f nexus.GateJudged) nexus.GateJudged { return f },
	}
	for _, t := range v.Landed {
		c.Checks = append(c.Checks, t.Criteria...)
	}
	evidence, err := s.Judge.RunGates(ctx, c, d)
	if err != nil {
		return nil, err
	}
	sum := repair.CombineVerdict("", nexus.Task{}, hash, evidence)
	if sum.State == nexus.Pass || sum.State == nexus.NotRun && len(evidence) == 0 { // without gates, only commands of criteria can check it
		if evidence, err = m.judgeLandedCriteria(ctx, c, v, evidence, d); err != nil {
			return nil, err
		}
		sum = repair.CombineVerdict("", nexus.Task{}, hash, evidence)
	}
	s.Judge.MarkMissingTests(evidence, v.Bear)
	verdict := nexus.GatesVerdict{Passed: sum.State == nexus.Pass, Tree: hash, Evidence: evidence}
	if !verdict.Passed {
		verdict.Why = sum.Why
		if sum.Gate != "" {
			verdict.Why = fmt.Sprintf("gate %s: %s: %s", sum.Gate, sum.State, sum.Why)
		}
	}
	return []nexus.Fact{nexus.FinalGatesJudged{Verdict: verdict}}, tree.Remove(ctx)
}

// publishResult puts the landed work on a branch of the user's repository, and moves the target to it
// if the goal asks for that.
func (m *LocalExecutor) publishResult(ctx context.Context, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	f := nexus.ResultPublished{Branch: m.Branch, Commit: v.Tip}
	if f.Branch == "" {
		f.Branch = cmp.Or(m.Worker.Trees.Prefix, git.DefaultPrefix) + "/" + string(v.Run)
	}
	if held, err := m.publishHoldReason(ctx, v, f.Branch, d); err != nil || held != "" {
		return []nexus.Fact{nexus.ResultPublished{Commit: v.Tip, Why: held}}, err
	}
	if refused, err := m.askLandingHooks(ctx, v, f, d); err != nil || refused != nil {
		return refused, err
	}
	if err := m.Worker.Trees.PublishBranch(ctx, f.Branch, v.Tip); err != nil {
		return nil, err
	}
	if err := m.writeEvidenceNotes(ctx, v); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		f.Bare = err.Error()
	}
	if v.Goal.Land {
		if moved := m.moveTarget(ctx, v, &f); moved != nil {
			return []nexus.Fact{*moved}, nil
		}
	}
	return []nexus.Fact{f}, nil
}

// moveTarget moves the target branch, or records in f why not. It returns the position of the
// target if the landed work must first be merged onto it.
func (m *LocalExecutor) moveTarget(ctx context.Context, v state.WorkerView, f *nexus.ResultPublished) *nexus.TargetBranchMoved {
	target := v.Goal.Target
	commit, was := v.Tip, v.Goal.Base
	if m := v.TargetMerge.Merged; m != nil {
		commit, was = m.Commit, m.Onto
	}
	switch {
	case !v.Passed:
		f.Why = target + " was not moved: the final tree does not pass"
		return nil
	case target == "":
		f.Why = "no branch was checked out when the run started, so none was moved"
		return nil
	case v.TargetMerge.Refused != "":
		f.Why = fmt.Sprintf("%s was not moved: it has new commits, and %s", target, v.TargetMerge.Refused)
		return nil
	case m.IsProtected(target):
		f.Why = fmt.Sprintf("%s was not moved: git.protected names it", target)
		return nil
	}
	err := m.Worker.Trees.LandOnUserBranch(ctx, target, commit, was)
	if moved, ok := errors.AsType[*git.TargetMovedError](err); ok {
		return &nexus.TargetBranchMoved{Target: target, Commit: moved.At}
	}
	if err != nil {
		f.Why = fmt.Sprintf("%s was not moved: %v", target, err)
		return nil
	}
	if f.Target = target; commit != v.Tip {
		f.Merged = commit
	} else if now, err := m.Worker.Trees.BranchCommit(ctx, target); err == nil && now != commit { // it had the landed work before
		f.Merged = now
	}
	return nil
}

// IsProtected reports whether a branch is one that Nexus never moves.
func (m *LocalExecutor) IsProtected(branch string) bool { return git.MatchesBranch(m.Shields, branch) }

// landedText describes the number of landed commits.
func landedText(n int) string {
	if n == 1 {
		return "the commit that landed"
	}
	return fmt.Sprintf("%d commits that landed", n)
}

// publishHoldReason returns why the landed work is not published yet, or "": the run's level of approval
// requires a person's consent, and no person gave it.
func (m *LocalExecutor) publishHoldReason(ctx context.Context, v state.WorkerView, branch string, d worker.AttemptFactRecorder) (string, error) {
	if !v.Limits.Approval.NeedsApproval(nexus.ApproveCommits) || v.TargetMerge.Asked != nil || v.Reverts { // the requester agreed
		return "", nil
	}
	text := fmt.Sprintf("publish %s, up to %.12s, as the branch %s", landedText(v.Landings), v.Tip, branch)
	if v.Goal.Land && v.Goal.Target != "" {
		text += ", and move the branch " + v.Goal.Target + " to it"
	}
	changed, err := m.Worker.Trees.PrivateRepo().ChangedFiles(ctx, v.Goal.Base, v.Tip)
	if err != nil {
		return "", err
	}
	files := make([]string, 0, len(changed))
	for _, c := range changed {
		files = append(files, c.Path)
	}
	if found := humaninput.CriticalFiles(files); len(found) > 0 {
		text += ", with changes of " + humaninput.FindingFilesText(found)
	}
	answer, err := m.Worker.Sessions.AskPermission(ctx, "", text+"?", d)
	switch {
	case worker.IsApprovalNeededError(err):
		return "a person must agree: nexus status shows the question, nexus approve agrees", nil
	case err != nil:
		return "", err
	case !nexus.IsYes(answer):
		return "a person said: " + answer, nil
	default:
		return "", nil
	}
}
