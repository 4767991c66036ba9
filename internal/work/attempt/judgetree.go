package attempt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// judgeTree runs the gates on the tree as it is, and records their results one by one and in
// total.
func (w *attemptWork) judgeTree(ctx context.Context) error {
	snap, err := w.recordSnapshot(ctx)
	if err == nil {
		snap, err = w.applyAutoFixes(ctx, snap)
	}
	if err == nil {
		err = w.markLastRound()
	}
	if err != nil {
		return err
	}
	said, err := w.collectExplanations()
	if err != nil {
		return err
	}
	evidence, err := w.runGates(ctx, snap, said)
	if err != nil {
		return err
	}
	sum, err := w.judgeMutations(ctx, snap, evidence, repair.CombineVerdict(w.a.ID, w.task.Task, snap.Tree, evidence))
	if err != nil {
		return err
	}
	if sum.State == nexus.Fail {
		if sum.Own, err = w.onlyOwnTestsFail(ctx, snap, evidence); err != nil {
			return err
		}
	}
	if sum.State == nexus.Pass || sum.State == nexus.NotRun {
		if err := w.recordCriteriaEvidence(ctx, snap); err != nil {
			return err
		}
		red := ""
		if p := w.a.Proof; p != nil && p.Proof == nexus.ProofRed && w.a.Strategy.UsesSeparateSessions() {
			red = p.Tree
		}
		found, err := changeeffects.FindSuspects(ctx, w.Worker.Trees.PrivateRepo(), w.a.Base, red, snap.Commit)
		if err != nil {
			return fmt.Errorf("look for tampering: %w", err)
		}
		found = append(found, changeeffects.FindTestsNoLongerRun(evidence)...)
		if len(found) > 0 {
			return w.recordFacts(ctx, nexus.TamperSuspected{Attempt: w.a.ID, Tree: snap.Tree, Findings: found}, sum)
		}
	}
	return w.recordFacts(ctx, sum)
}

// runGates runs the gates on the tree. An inconclusive check of a criterion is withdrawn, and the
// gates that have no result yet run without it.
func (w *attemptWork) runGates(ctx context.Context, snap nexus.TreeSnapshotted, said []nexus.RemovalExplanation) ([]nexus.GateEvidence, error) {
	for {
		c := worker.TreeJudgeRequest{
			Tree: w.tree, Hash: snap.Tree, Base: w.a.Base, Task: w.task.Task, Some: true, Goal: w.view.Goal.Goal.Text, Said: said,
			Mark: func(f nexus.GateJudged) nexus.GateJudged { f.Attempt = w.a.ID; return f },
		}
		evidence, err := w.Worker.Judge.RunGates(ctx, c, attemptSyncingRecorder{w.desk, w})
		if err != nil {
			return nil, err
		}
		vain := accept.UndecidableCriteria(w.task.Task, evidence)
		if len(vain) == 0 {
			return evidence, nil
		}
		for _, f := range vain {
			f.Task = w.task.ID
			if err := w.recordFacts(ctx, f); err != nil {
				return nil, err
			}
			w.task.Criteria = slices.Clone(w.task.Criteria)
			w.task.Criteria[f.Number-1] = f.Criterion
		}
	}
}

// onlyOwnTestsFail reports whether the only red gates are tests that came with the work, and checks of
// criteria, which fail without it: the work breaks nothing.
func (w *attemptWork) onlyOwnTestsFail(ctx context.Context, snap nexus.TreeSnapshotted, evidence []nexus.GateEvidence) (bool, error) {
	tests, _, err := w.splitChangedFiles(ctx, w.a.Base, snap.Commit)
	if err != nil {
		return false, err
	}
	for _, e := range evidence {
		if !e.State.IsRed() || strings.HasPrefix(e.Gate, nexus.AcceptGate) {
			continue
		}
		foreign := func(f nexus.Finding) bool { return f.Test == "" || !slices.Contains(tests, f.File) }
		if e.State != nexus.Fail || len(e.Findings) == 0 || slices.ContainsFunc(e.Findings, foreign) {
			return false, nil
		}
	}
	return true, nil
}

// mostFixes is the last round in which formatters and linters fix the agent's files.
const mostFixes = 10

// applyAutoFixes lets the project's formatters and linters fix the changed files before they report
// problems. It returns the resulting tree. Tests that judge the work of another agent are not
// changed.
func (w *attemptWork) applyAutoFixes(ctx context.Context, snap nexus.TreeSnapshotted) (nexus.TreeSnapshotted, error) {
	if !w.Worker.Judge.Autofix || len(w.a.Rounds) > mostFixes {
		return snap, nil
	}
	changed, err := w.tree.ChangedFiles(ctx, w.a.Base, snap.Commit)
	if err != nil {
		return snap, err
	}
	var files []gate.FixedChangeFile
	for _, c := range changed {
		if c.Status == "D" || w.a.Strategy.UsesSeparateSessions() && stack.ServesTests(c.Path) {
			continue
		}
		files = append(files, gate.FixedChangeFile{Path: c.Path, New: c.Status == "A"})
	}
	gates, err := w.Worker.Judge.Gates(w.tree.Dir)
	if err != nil {
		return snap, err
	}
	r, err := w.Worker.Judge.GateRunner(w.tree, snap.Tree)
	if err != nil {
		return snap, err
	}
	var done gate.AutoFixResult
	err = worker.RunInterruptible(ctx, w.desk, false, func(ctx context.Context) (err error) {
		done, err = gate.ApplyAutoFixes(ctx, r, gate.JudgedTreeDir{Dir: w.tree.Dir, Hash: snap.Tree}, gates, files)
		return err
	})
	if err != nil || len(done.Files) == 0 {
		return snap, err
	}
	was := snap.Commit
	if snap, err = w.snapshotTree(ctx); err != nil {
		return snap, err
	}
	patch, _, err := w.Worker.Trees.PrivateRepo().Patch(ctx, was, snap.Commit)
	if err != nil {
		return snap, err
	}
	snap.Fixed, snap.Lines = done.String(), describeAddedLines(definitionofdone.ParsePatch(patch))
	return snap, w.recordFacts(ctx, snap)
}

// mostRanges limits the ranges of lines that are named per file.
const mostRanges = 12

// describeAddedLines names the new lines of files.
func describeAddedLines(files []definitionofdone.FileChange) []string {
	var all []string
	for _, f := range files {
		var ranges []string
		for i := 0; i < len(f.Added); {
			from := f.Added[i].Number
			to := from
			for i++; i < len(f.Added) && f.Added[i].Number <= to+1; i++ {
				to = f.Added[i].Number
			}
			if ranges = append(ranges, fmt.Sprint(from)); to > from {
				ranges[len(ranges)-1] += fmt.Sprintf("-%d", to)
			}
		}
		text := strings.Join(ranges[:min(len(ranges), mostRanges)], ", ")
		switch more := len(ranges) - mostRanges; {
		case len(ranges) == 0:
			text = fmt.Sprintf("%d lines gone", f.Removed)
		case more > 0:
			text += fmt.Sprintf(" and %d more places", more)
		}
		all = append(all, f.Path+":"+text)
	}
	return all
}

// collectExplanations returns the explanations in the attempt's submissions, this round's and earlier
// ones, for the code that the attempt removes.
func (w *attemptWork) collectExplanations() ([]nexus.RemovalExplanation, error) {
	var all []nexus.RemovalExplanation
	for _, r := range w.a.Rounds {
		for _, f := range definitionofdone.ExplainedFindings(r.Evidence) {
			all = append(all, nexus.RemovalExplanation{Name: f.Name, Why: f.Explained})
		}
	}
	for _, role := range []nexus.Role{nexus.Tester, nexus.Editor, nexus.Coder} {
		submitted, err := w.Worker.Judge.ReadSubmission(w.a.LastSession(role))
		if err != nil {
			return nil, err
		}
		all = append(all, submitted.Explains...)
	}
	return all, nil
}
