package attempt

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// runWriter runs a role that writes: the coder continues in its one conversation, round after
// round, so that it still knows its earlier tries.
func (w *attemptWork) runWriter(ctx context.Context, step repair.RepairStep) error {
	session := w.writerSession(step)
	if !step.Resume {
		f := nexus.RoundStarted{Attempt: w.a.ID, Round: len(w.a.Rounds) + 1, Role: step.Role, Cause: step.Cause, Session: session}
		if err := w.recordFacts(ctx, f); err != nil {
			return err
		}
	}
	next, why := "", ""
	var parts []prompt.SentPromptSection
	var told state.Guidance
	switch cause := w.a.LastRound().Cause; {
	case w.a.LastRound().Prompted:
	case cause == nexus.PersonCause, cause == nexus.AnswerCause:
		next, why, told = w.commentsPrompt(cause)
	default:
		m, reason, err := w.writerPrompt(ctx, session)
		if err != nil {
			return err
		}
		next, why, parts = m.Text(), reason, m.Parts()
	}
	o, err := w.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
		Attempt: w.a, Session: session, Task: w.task.Task, Role: step.Role, As: w.editorRole(), Tier: w.a.Tier, Tree: w.tree, Base: w.view.Goal.Base, Goal: w.view.Goal.Goal.Text,
		Next: next, Why: why, Delivers: told, Parts: parts, Limits: w.view.Limits, Left: w.timeLeftFunc(), Record: w.recordFacts, Snap: w.snapshotTree,
	}, w.desk)
	if err == nil && o.Outcome == nexus.Refused {
		err = worker.BudgetExceededError(o.Why)
	}
	return err
}

// writerSession returns the conversation of the round's writer: every editor has its own, as
// each step is about the work alone.
func (w *attemptWork) writerSession(step repair.RepairStep) nexus.SessionID {
	n := 1
	if step.Role == nexus.Editor {
		n = countEditorRounds(w.a)
		if !step.Resume {
			n++
		}
	}
	return nexus.SessionID(fmt.Sprintf("%s/%s.%d", w.a.ID, step.Role, n))
}

// openingMessage is the first message of a stretch of a conversation.
type openingMessage interface {
	Text() string
	Parts() []prompt.SentPromptSection
}

// writerPrompt returns the message to the round's writer: the brief at first, then the
// findings. It depends only on the journal, so that a resumed round sends the same.
func (w *attemptWork) writerPrompt(ctx context.Context, session nexus.SessionID) (m openingMessage, why string, err error) {
	r := w.a.LastRound()
	if r.Cause == "" || r.Cause == repair.CriteriaGate || r.Role == nexus.Editor || w.gatesRanBeforeWriter() {
		b, err := w.writerBrief(ctx, r, session)
		return b, "brief", err
	}
	f := w.repairRequest()
	if n := len(w.a.Rounds); n > 1 {
		before := w.a.Rounds[n-2]
		f.Fixed, f.FixedBy = before.Fixed.Lines, before.Fixed.Fixed
		if r.Role == nexus.Coder && before.Role == nexus.Tester {
			if f.Tester, err = w.testerMessage(); err != nil {
				return nil, "", err
			}
		}
	}
	if f.Round = repair.RoundNeedingDetail(w.task, w.a); f.Round > 0 {
		f.Places = w.findingExcerpts(ctx, f.Findings)
	}
	return f, "repair", nil
}

// writerBrief returns the brief of a round's writer.
func (w *attemptWork) writerBrief(ctx context.Context, r *state.AttemptRound, session nexus.SessionID) (b prompt.TaskBrief, err error) {
	b = prompt.TaskBrief{
		Session: session, Task: w.task.Task, Base: w.a.Base, Kept: w.startingTree(r),
		Order: prompt.TestOrderText(w.a.Strategy, r.Role, w.a.Proof),
	}
	if b.Tried, err = SummarizeAttempts(ctx, w.Worker, w.view, r.Role == nexus.Coder || w.task.Kind == nexus.TestTask); err != nil {
		return b, err
	}
	if w.gatesRanBeforeWriter() {
		b.Tried.Last, b.Kept.Open, b.Kept.Objects, b.Kept.Again = attempthistory.LastAttemptFailure{}, nil, nil, true
		if r.Cause != "" && r.Cause != repair.CriteriaGate {
			b.Found = w.repairRequest().Text()
		}
	}
	if r.Role == nexus.Coder {
		if b.Earlier, err = w.similarTaskFiles(ctx); err != nil {
			return b, err
		}
	}
	// the tester must not read that no test is wanted, nor that code should change
	if r.Role == nexus.Tester {
		b.Task.Strategy = ""
		b.Task.Files = slices.DeleteFunc(slices.Clone(b.Task.Files), func(f string) bool { return !stack.ServesTests(f) })
	}
	switch {
	case r.Role == nexus.Tester && w.Worker.Sessions.TestersWriteChecks():
		b.Order = strings.TrimSpace(b.Order + "\n\n" + requestCriterionChecks(w.task.Task, w.unprovedCriteria(), w.a.Checks.Checks, r.Cause == repair.CriteriaGate))
	case r.Role == nexus.Editor:
		s, _ := w.currentStep(w.Worker.Judge.EditSteps(w.task.Task))
		b.Order = prompt.EditStepInstruction(s.Name, s.Edit, s.Role != "")
	case r.Role == nexus.Coder && r.Cause == "":
		b.Order = strings.TrimSpace(b.Order + "\n\n" + w.baseFailuresNote())
	}
	if also := w.Worker.Judge.StepCommands(w.task.Task); r.Role == nexus.Coder && len(also) > 0 {
		b.Order = strings.TrimSpace(b.Order + "\n\n" + prompt.StepCommandsText(also))
	}
	if r.Role == nexus.Coder && w.a.Strategy.UsesSeparateSessions() {
		if b.Tester, err = w.testerMessage(); err != nil {
			return b, err
		}
	}
	if b.Needs, err = w.dependencyResults(ctx); err != nil {
		return b, err
	}
	b.Diff, err = w.conversationDiff(ctx, r)
	return b, err
}

// gatesRanBeforeWriter reports whether the gates judged the start of the attempt before any writing, and
// the last round is the first of its writer, who has no conversation yet.
func (w *attemptWork) gatesRanBeforeWriter() bool {
	n := len(w.a.Rounds)
	return n > 1 && w.a.Rounds[0].Cause == repair.KeptCause &&
		!slices.ContainsFunc(w.a.Rounds[:n-1], func(r *state.AttemptRound) bool { return r.Role == w.a.Rounds[n-1].Role })
}

// testerMessage returns the tester's summary of its tests; empty if no tester worked.
func (w *attemptWork) testerMessage() (string, error) {
	s, err := w.Worker.Judge.ReadSubmission(w.a.LastSession(nexus.Tester))
	return s.CommitMessage(), err
}

// conversationDiff returns the change with which a round opens a conversation: for a tester that
// comes after the code, and for a coder that continues from a round of an earlier attempt. It
// is empty for others.
func (w *attemptWork) conversationDiff(ctx context.Context, r *state.AttemptRound) (string, error) {
	switch {
	case (r.Role == nexus.Tester && !w.a.Strategy.UsesSeparateSessions() || r.Role == nexus.Editor) && w.a.Snapshot.Commit != "":
		return w.Worker.Trees.PrivateRepo().Diff(ctx, w.a.Base, w.a.Snapshot.Commit)
	case r.Role == nexus.Coder && w.a.Start != "" && (w.a.From != "" || !w.a.Strategy.NeedsProof()):
		return w.Worker.Trees.PrivateRepo().Diff(ctx, w.a.Base, r.From)
	default:
		return "", nil
	}
}

// startingTree returns the part of earlier attempts with which a round opens a conversation.
func (w *attemptWork) startingTree(r *state.AttemptRound) prompt.StartingTreeDescription {
	k := prompt.StartingTreeDescription{Forgone: w.a.Forgone}
	if r.Role == nexus.Coder && w.a.From != "" {
		k.From = fmt.Sprintf("round %d of %s", w.a.FromRound, w.a.From)
		k.Overtime = continuedTimeLimitReason(w.task, w.a)
		k.Reach, k.Open, k.Objects, k.Merged = w.view.Kept.Reach, w.view.Kept.Open, attempthistory.AuthorObjections(w.view), w.a.Since != ""
	}
	return k
}

const (
	maxPlaces = 5
	around    = 12 // lines before and after a finding
)

// findingExcerpts returns the lines around the worst findings, in the tree of those findings.
func (w *attemptWork) findingExcerpts(ctx context.Context, found []nexus.Finding) []prompt.FileExcerpt {
	hidden, err := changeeffects.HiddenFilesAt(ctx, w.Worker.Trees.PrivateRepo(), w.a.Base)
	if err != nil {
		return nil // no part of it is shown
	}
	var all []prompt.FileExcerpt
	for _, f := range prompt.SortBySeverity(found) {
		near := func(p prompt.FileExcerpt) bool {
			return p.File == f.File && p.From <= f.Line && f.Line < p.From+len(p.Lines)
		}
		if len(all) == maxPlaces || f.File == "" || slices.ContainsFunc(all, near) || hidden.IsIgnored(f.File) {
			continue
		}
		if from, text := changeeffects.LinesAround(ctx, w.Worker.Trees.PrivateRepo(), w.a.Snapshot.Commit, f.File, f.Line, around); from > 0 {
			all = append(all, prompt.FileExcerpt{File: f.File, From: from, Lines: text})
		}
	}
	return all
}

// repairRequest returns the findings after the round before: new ones first, those that the writer
// already received last.
func (w *attemptWork) repairRequest() prompt.RepairRequest {
	n := len(w.a.Rounds)
	r := w.a.Rounds[n-1]
	f := prompt.RepairRequest{Gate: r.Cause}
	for _, old := range w.view.Past {
		for _, earlier := range old.Rounds {
			f.Told = append(f.Told, roundFindings(earlier)...)
		}
	}
	for _, earlier := range w.a.Rounds[:max(0, n-2)] {
		f.Told = append(f.Told, roundFindings(earlier)...)
	}
	switch r.Cause {
	case "train":
		f.Findings, f.Why = r.Handed, r.HandedWhy
		return f
	case repair.ProofGate:
		f.Findings, f.Why = w.a.Proof.Findings, w.a.Proof.Why
		return f
	case repair.VerifyGate, repair.ReviewCause:
		f.Findings, f.Why, f.TestsOnly = repair.WriterFindings(w.a, n-1), repair.JudgesSummary(w.a, n-1), r.Role == nexus.Tester
		f.Replies = w.findingReplies(r.Cause, f.Findings)
		for _, one := range f.Findings {
			if repair.CountUpheldDisputes(w.a, r.Cause, one) > 0 {
				f.Stood = append(f.Stood, one)
			}
		}
		return f
	case repair.IndependentGate:
		f.Findings = repair.RefutedFindings(*w.a.Reproduced)
		f.Output = w.failingCheckTexts()
		return f
	case repair.UnprovenCause:
		f.Findings = w.unprovedCriteriaFindings()
		return f
	case repair.BlockedCause:
		if s := w.a.SessionByID(w.a.Rounds[n-2].Session); s != nil {
			f.Why = s.Why
		}
		return f
	}
	if n < 2 {
		return f
	}
	before := w.a.Rounds[n-2]
	for _, e := range before.Evidence {
		if e.Gate != r.Cause {
			continue
		}
		f.Command, f.Exit, f.Why, f.Findings, f.Unclear = e.Command, e.Exit, e.Why, e.Findings, !e.State.IsRed()
		f.Gone = repair.FixedFindings(w.a.Rounds[:n-1], e.Gate)
		f.Findings = append(slices.Clip(f.Findings), repair.PendingFindings(w.a, n-1)...)
		f.Output = failureOutput(w.Worker, e.Output)
	}
	return f
}

// findingReplies returns, for each finding, the earlier answer to it.
func (w *attemptWork) findingReplies(cause string, found []nexus.Finding) []string {
	all := make([]string, len(found))
	for i, f := range found {
		for _, r := range repair.AnswersToFinding(w.a, cause, f) {
			all[i] += fmt.Sprintf("\n%s: %s: %s", r.Role, r.Status, r.Why)
		}
		all[i] = strings.TrimSuffix(strings.TrimSpace(all[i]), ":")
	}
	return all
}

// roundFindings returns all findings after a round.
func roundFindings(r *state.AttemptRound) []nexus.Finding {
	var all []nexus.Finding
	for _, e := range r.Evidence {
		all = append(all, e.Findings...)
	}
	for _, v := range r.Reviews {
		all = append(all, v.Findings...)
	}
	if r.Proof != nil {
		all = append(all, r.Proof.Findings...)
	}
	if r.Verified != nil {
		all = append(all, r.Verified.Findings...)
	}
	return append(all, r.Handed...)
}

// runReadOnlySession runs a read-only role on the change, in its n-th conversation, and
// returns that session. A session that submitted before the process died is not repeated.
func (w *attemptWork) runReadOnlySession(ctx context.Context, role nexus.Role, n int, b prompt.TaskBrief, handin json.RawMessage) (*state.AgentSessionState, error) {
	b.Session = nexus.SessionID(fmt.Sprintf("%s/%s.%d", w.a.ID, role, n))
	old := w.a.SessionByID(b.Session)
	if old != nil && old.Over {
		return old, nil
	}
	next := ""
	var parts []prompt.SentPromptSection
	if old == nil || len(old.Messages) == 0 {
		if err := w.addChangeToBrief(ctx, &b); err != nil {
			return nil, err
		}
		next, parts = b.Text(), b.Parts()
	}
	_, err := w.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
		Attempt: w.a, Session: b.Session, Task: w.task.Task, Role: role, Tier: w.a.Tier, Least: w.task.RaisedTier(w.a), Author: w.authorModel(), Readers: w.view.Readers, Tree: w.tree, Base: w.view.Goal.Base, Goal: w.view.Goal.Goal.Text,
		Next: next, Why: "brief", Parts: parts, Handin: handin, Limits: w.view.Limits, Record: w.recordFacts,
	}, w.desk)
	return w.a.SessionByID(b.Session), err
}

// authorModel returns the model of the author of the work, or "".
func (w *attemptWork) authorModel() string {
	if s := w.view.AuthorSession(w.a); s != nil {
		return s.Model
	}
	return ""
}

// addChangeToBrief adds the change to the brief of a role that judges it.
func (w *attemptWork) addChangeToBrief(ctx context.Context, b *prompt.TaskBrief) error {
	diff, err := w.Worker.Trees.PrivateRepo().Diff(ctx, w.a.Base, w.a.Snapshot.Commit)
	if err != nil {
		return err
	}
	submitted, err := w.Worker.Judge.ReadSubmission(w.view.AuthorSession(w.a))
	b.Task, b.Said, b.Diff, b.Evidence = w.task.Task, submitted.CommitMessage(), diff, w.a.LastRound().Evidence
	return err
}
