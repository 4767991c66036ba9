package land

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// rounds limits a merger's submissions if the limit of rejected reviews has no cap.
const rounds = 3

// mergeResultProblem is a problem with the result of a merge.
type mergeResultProblem struct {
	prompt.RepairRequest
	final bool // no merger can fix it
}

// problemLine returns the problem as one line for people.
func (w *mergeResultProblem) problemLine() string {
	text := strings.TrimSpace(w.Why)
	for _, f := range w.Findings {
		first, _, _ := strings.Cut(f.Message, "\n")
		text += fmt.Sprintf("; %s %s: %s", cmp.Or(f.Name, f.File, "the change"), cmp.Or(f.Severity, nexus.Major), first)
	}
	return text
}

// resolveConflict returns the merged tree of a conflict. The merger is a writer like any
// other: problems with its result go back into its session, for as many rounds as a review may
// reject, and then to a person.
func (l *attemptLanding) resolveConflict(ctx context.Context) (string, *nexus.LandingRejected, error) {
	if err := l.openWorktree(ctx, l.made.Tree); err != nil {
		return "", nil, err
	}
	session := nexus.SessionID(fmt.Sprintf("%s/%s.1", l.m.ID, nexus.Merger))
	var bad *mergeResultProblem
	for {
		if err := l.runMerger(ctx, session, bad); err != nil {
			return "", nil, err
		}
		if s := l.m.SessionByID(session); s.Outcome != nexus.Accepted {
			return "", l.conflictRefusal("the merger did not finish: " + s.Why), nil
		}
		snap, err := l.snapshotMerge(ctx)
		if err != nil {
			return "", nil, err
		}
		if bad, err = l.findMergeProblem(ctx, session, snap.Tree, len(l.m.Rounds)); err != nil {
			return "", nil, err
		}
		most := cmp.Or(l.view.Limits.ReviewRounds, rounds)
		switch {
		case bad == nil:
			return snap.Tree, nil, nil
		case bad.final:
			return "", l.conflictRefusal(bad.problemLine()), nil
		case len(l.m.Rounds) >= most:
			return "", l.conflictRefusal(fmt.Sprintf("the merger did not succeed in %d rounds: %s", len(l.m.Rounds), bad.problemLine())), nil
		}
	}
}

func (l *attemptLanding) conflictRefusal(why string) *nexus.LandingRejected {
	return &nexus.LandingRejected{
		Task: l.a.Task, Attempt: l.a.ID, Onto: l.view.Tip, Conflict: true,
		Why: fmt.Sprintf("%s conflict with what landed meanwhile, and %s", strings.Join(l.made.Conflicts, ", "), why),
	}
}

// runMerger lets the merger work until it submits. With bad it starts a round in which the merger
// fixes that problem; a round that a dead process started is continued, and a finished one is
// not repeated.
func (l *attemptLanding) runMerger(ctx context.Context, session nexus.SessionID, bad *mergeResultProblem) error {
	old := l.m.SessionByID(session)
	r := l.m.LastRound()
	// the process died before it sent the problem
	if bad == nil && r != nil && !r.Prompted && len(l.m.Rounds) > 1 {
		var err error
		if bad, err = l.findMergeProblem(ctx, session, l.m.Snapshot.Tree, len(l.m.Rounds)-1); err != nil {
			return err
		}
	} else if bad != nil || r == nil {
		f := nexus.RoundStarted{Attempt: l.m.ID, Round: len(l.m.Rounds) + 1, Role: nexus.Merger, Session: session}
		if bad != nil {
			f.Cause = bad.Gate
		}
		if err := l.recordFacts(ctx, f); err != nil {
			return err
		}
		r = l.m.LastRound()
	}
	if old != nil && old.Over && r.Prompted {
		return nil
	}
	next, why := "", "brief"
	switch {
	case r.Prompted:
	case bad != nil:
		next, why = bad.Text(), "repair"
	default:
		var err error
		if next, err = l.mergerBrief(ctx, session); err != nil {
			return err
		}
	}
	o, err := l.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
		Attempt: l.m, Session: session, Task: l.view.Task.Task, Role: nexus.Merger, Tier: l.a.Tier, Tree: l.tree, Base: l.view.Goal.Base,
		Next: next, Why: why, Limits: l.view.Limits, Record: l.recordFacts, Snap: l.snapshotMerge,
	}, l.desk)
	if err == nil && o.Outcome == nexus.Refused {
		err = worker.BudgetExceededError(o.Why)
	}
	return err
}

// mergerBrief returns the merger's brief, with both sides.
func (l *attemptLanding) mergerBrief(ctx context.Context, session nexus.SessionID) (string, error) {
	change, err := l.tree.Diff(ctx, l.a.Base, l.a.Commit)
	if err != nil {
		return "", err
	}
	landed, err := l.Worker.Trees.PrivateRepo().DiffLimitedToFiles(ctx, l.a.Base, l.view.Tip, l.made.Conflicts)
	if err != nil {
		return "", err
	}
	return prompt.TaskBrief{
		Session: session, Task: l.view.Task.Task, Conflicts: l.made.Conflicts, Diff: change, Landed: landed,
		Meanwhile: l.view.Meanwhile,
	}.Text(), nil
}

// findMergeProblem returns the problem with the result of a round, or nil: remaining conflicts,
// lines of either side that are missing without an explanation, red gates, and the reviewer's
// objections. It runs the cheap checks first.
func (l *attemptLanding) findMergeProblem(ctx context.Context, session nexus.SessionID, tree string, round int) (*mergeResultProblem, error) {
	submitted, err := l.Worker.Judge.ReadSubmission(l.m.SessionByID(session))
	if err != nil {
		return nil, err
	}
	why, err := l.unresolvedConflict(ctx, submitted, tree)
	if why != "" || err != nil {
		return &mergeResultProblem{RepairRequest: prompt.RepairRequest{Gate: tamper.MergeGate, Why: why}}, err
	}
	m := changeeffects.ResolvedMerge{
		Base: l.a.Base, Landed: l.view.Tip, Change: l.a.Commit, Made: l.made.Tree, Result: tree, Conflicts: l.made.Conflicts,
	}
	lost, err := m.FindLosses(ctx, l.Worker.Trees.PrivateRepo())
	if err != nil {
		return nil, fmt.Errorf("compare the merge of %s with its sides: %w", l.a.ID, err)
	}
	lost = l.withExplanations(lost, submitted)
	if bad, err := l.recordLostLines(ctx, tree, lost); bad != nil || err != nil {
		return bad, err
	}
	evidence, sum, err := l.judgeMergedTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	if !l.allowsLanding(sum) {
		return l.gateProblem(evidence, sum), nil
	}
	if fewer := l.withExplanations(l.fewerTestsFindings(evidence), submitted); len(fewer) > 0 {
		lost = append(lost, fewer...)
		if bad, err := l.recordLostLines(ctx, tree, lost); bad != nil || err != nil {
			return bad, err
		}
	}
	return l.reviewMerge(ctx, m, lost, round)
}

// withExplanations adds the merger's explanations to findings, from this round or earlier ones.
func (l *attemptLanding) withExplanations(found []nexus.Finding, submitted tool.DefaultWorkSubmission) []nexus.Finding {
	var said []nexus.RemovalExplanation
	for _, r := range l.m.Rounds {
		for _, e := range r.Evidence {
			for _, f := range e.Findings {
				if e.Gate == tamper.MergeGate && f.Explained != "" {
					said = append(said, nexus.RemovalExplanation{Name: f.Name, Why: f.Explained})
				}
			}
		}
	}
	return tamper.AddExplanations(found, append(said, submitted.Explains...))
}

// recordLostLines records the lines that the result lacks, and returns a problem for those that
// the merger has not explained.
func (l *attemptLanding) recordLostLines(ctx context.Context, tree string, lost []nexus.Finding) (*mergeResultProblem, error) {
	e := nexus.GateEvidence{
		Gate: tamper.MergeGate, State: nexus.Pass, Tree: tree, Command: "compare the result with both sides", Findings: lost,
	}
	open := tamper.UnexplainedFindings(lost)
	switch {
	case len(open) > 0:
		e.State, e.Exit, e.Why = nexus.Fail, 1, "the result lacks parts of the two sides, or has again what one removed, and the merger does not explain why"
	case len(lost) > 0:
		e.Why = "explained: " + strings.Join(findingNames(lost), "; ")
	}
	if err := l.recordFacts(ctx, nexus.GateJudged{Task: l.a.Task, Attempt: l.m.ID, Evidence: e}); err != nil || len(open) == 0 {
		return nil, err
	}
	return &mergeResultProblem{RepairRequest: prompt.RepairRequest{Gate: tamper.MergeGate, Why: e.Why, Findings: open}}, nil
}

func findingNames(found []nexus.Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, f.Name)
	}
	return all
}

// fewerTestsFindings returns the gates' findings about tests that ran on the tip and no longer run, unless
// the change itself was found to run fewer.
func (l *attemptLanding) fewerTestsFindings(evidence []nexus.GateEvidence) []nexus.Finding {
	if r := l.a.LastRound(); r != nil && r.Suspect != nil && len(changeeffects.FindTestsNoLongerRun([]nexus.GateEvidence{{State: nexus.Pass, Tree: l.a.Tree, Findings: r.Suspect.Findings}})) > 0 {
		return nil
	}
	found := changeeffects.FindTestsNoLongerRun(evidence)
	for i, f := range found {
		found[i].Name = "gate " + f.Gate + ": fewer tests"
	}
	return found
}

// gateProblem returns the problem for the gate that the merged tree does not pass.
func (l *attemptLanding) gateProblem(evidence []nexus.GateEvidence, sum nexus.GatesVerdictGiven) *mergeResultProblem {
	w := &mergeResultProblem{RepairRequest: prompt.RepairRequest{Gate: sum.Gate, Why: fmt.Sprintf("the merged tree does not pass: gate %s: %s", sum.Gate, sum.Why)}}
	i := slices.IndexFunc(evidence, func(e nexus.GateEvidence) bool { return e.Gate == sum.Gate })
	if i < 0 {
		w.final = true // no gate ran whose findings a merger could fix
		return w
	}
	e := evidence[i]
	w.Command, w.Exit, w.Findings = e.Command, e.Exit, e.Findings
	w.final = !e.State.IsRed()
	if out, err := l.Worker.Site.Blobs.Get(e.Output); err == nil {
		w.Output = string(outputparser.ReadableOutput(out))
	}
	return w
}

// unresolvedConflict returns the conflict that the merger left, or "". A file that is deleted
// on one side, or binary, has no markers and contains one side: unless the merger changed it,
// or names it in its submission, the conflict counts as open.
func (l *attemptLanding) unresolvedConflict(ctx context.Context, submitted tool.DefaultWorkSubmission, tree string) (string, error) {
	for _, file := range l.made.Conflicts {
		if changeeffects.HasConflictMarks(l.tree.Dir, file) {
			return file + " still has conflict markers", nil
		}
		was, err := l.treeEntry(ctx, l.made.Tree, file)
		if err != nil {
			return "", err
		}
		is, err := l.treeEntry(ctx, tree, file)
		if err != nil {
			return "", err
		}
		if was == is && !strings.Contains(submissionText(submitted), file) {
			return file + " is unchanged, and the merger does not say why", nil
		}
	}
	return "", nil
}

// treeEntry returns the entry of a tree at a path, or "".
func (l *attemptLanding) treeEntry(ctx context.Context, tree, file string) (string, error) {
	return l.Worker.Trees.PrivateRepo().Run(ctx, "ls-tree", "-z", "--full-tree", tree, "--", file)
}

// submissionText returns the text of a submission.
func submissionText(s tool.DefaultWorkSubmission) string {
	text := s.Summary
	for _, e := range s.Explains {
		text += "\n" + e.Name
	}
	return text
}

// reviewMerge lets a reviewer read the merger's result with both sides, each time in a new
// conversation. Losses of either side land only if the reviewer accepts them by name. Review
// plugins are asked as they are about the change of an attempt.
func (l *attemptLanding) reviewMerge(ctx context.Context, m changeeffects.ResolvedMerge, lost []nexus.Finding, round int) (*mergeResultProblem, error) {
	session := nexus.SessionID(fmt.Sprintf("%s/%s.%d", l.m.ID, nexus.Reviewer, round))
	old := l.m.SessionByID(session)
	if old == nil || !old.Over {
		next := ""
		if old == nil || len(old.Messages) == 0 {
			var err error
			if next, err = l.reviewerBrief(ctx, session, m, lost); err != nil {
				return nil, err
			}
		}
		if _, err := l.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
			Attempt: l.m, Session: session, Task: l.view.Task.Task, Role: nexus.Reviewer, Tier: l.a.Tier, Author: l.m.ModelOf(nexus.Merger), Readers: l.view.Readers, Tree: l.tree, Base: l.view.Goal.Base,
			Next: next, Why: "brief", Handin: review.HandinSchema(), Limits: l.view.Limits, Record: l.recordFacts,
		}, l.desk); err != nil {
			return nil, err
		}
		old = l.m.SessionByID(session)
	}
	given, err := l.Worker.Judge.ReviewResult(ctx, l.tree, l.view.Tip, old)
	if err != nil {
		return nil, err
	}
	if given.Reviewed {
		diff, err := l.tree.Diff(ctx, m.Landed, m.Result)
		if err != nil {
			return nil, err
		}
		objections, err := l.Worker.AskReviewPlugins(ctx, l.tree, m.Landed, m.Result, plugin.ReviewerInput{
			Goal: l.view.Goal.Goal.Text, Task: plugin.NewPluginTask(l.view.Task.Task), Attempt: l.m.ID, Diff: diff,
		}, l.desk, l.recordFacts)
		if err != nil {
			return nil, err
		}
		given = review.AddPluginFindings(given, objections)
	}
	given = review.RequireAgreement(given, lost)
	given.Attempt, given.Tree = l.m.ID, m.Result
	given.SendsBack = given.Reviewed && repair.IsRejection(given, l.view.Limits.MajorsBlock)
	if err := l.recordFacts(ctx, given); err != nil {
		return nil, err
	}
	switch {
	case !given.Reviewed:
		return &mergeResultProblem{RepairRequest: prompt.RepairRequest{Gate: "review", Why: "the merged result was not reviewed: " + given.Summary}, final: true}, nil
	case repair.IsRejection(given, l.view.Limits.MajorsBlock):
		return &mergeResultProblem{RepairRequest: prompt.RepairRequest{
			Gate: "review", Why: "the reviewer rejects the merged result: " + given.Summary, Findings: given.Findings,
		}}, nil
	}
	return nil, nil
}

// reviewerBrief returns a reviewer's brief: the result against the tip, and the changes of
// both sides to the files that were resolved.
func (l *attemptLanding) reviewerBrief(ctx context.Context, session nexus.SessionID, m changeeffects.ResolvedMerge, lost []nexus.Finding) (string, error) {
	b := prompt.TaskBrief{Session: session, Task: l.view.Task.Task, Meanwhile: l.view.Meanwhile, Taken: lost}
	files, err := m.ResolvedFiles(ctx, l.Worker.Trees.PrivateRepo())
	if err == nil {
		b.Diff, err = l.tree.Diff(ctx, m.Landed, m.Result)
	}
	if err == nil {
		b.Landed, err = l.Worker.Trees.PrivateRepo().DiffLimitedToFiles(ctx, m.Base, m.Landed, files)
	}
	if err == nil {
		b.Side, err = l.Worker.Trees.PrivateRepo().DiffLimitedToFiles(ctx, m.Base, m.Change, files)
	}
	return b.Text(), err
}
