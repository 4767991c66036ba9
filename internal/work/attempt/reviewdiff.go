package attempt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// reviewDiff lets readers read the diff in parallel, each in its own conversation, and merges
// their opinions into one review.
func (w *attemptWork) reviewDiff(ctx context.Context) error {
	earlier := w.pastReviews()
	diff, err := w.tree.Diff(ctx, w.a.Base, w.a.Snapshot.Commit)
	if err != nil {
		return err
	}
	given := nexus.ReviewerVerdictGiven{Summary: fmt.Sprintf("the change has %d bytes, the maximum is %d", len(diff), review.MaxParts*review.PartBytes)}
	if seats := review.AssignReviewers(w.reviewPersonas(), diff); len(seats) > 0 {
		if given, err = w.runReviewers(ctx, seats, earlier); err != nil {
			return err
		}
		objections, err := w.Worker.AskReviewPlugins(ctx, w.tree, w.a.Base, w.a.Snapshot.Commit, plugin.ReviewerInput{
			Goal: w.view.Goal.Goal.Text, Task: plugin.NewPluginTask(w.task.Task), Attempt: w.a.ID, Diff: diff,
		}, w.desk, w.recordFacts)
		if err != nil {
			return err
		}
		given = review.MarkLateFindings(review.AddPluginFindings(given, objections), earlier, w.reviewedLineFunc(ctx, earlier))
	}
	given = review.RequireAgreement(given, definitionofdone.ExplainedFindings(w.a.LastRound().Evidence))
	given.Attempt, given.Tree = w.a.ID, w.a.Snapshot.Tree
	given.SendsBack = given.Reviewed && repair.IsRejection(given, w.view.Limits.MajorsBlock)
	return w.recordFacts(ctx, given)
}

// pastReviews returns the reviews of the attempt so far.
func (w *attemptWork) pastReviews() []nexus.ReviewerVerdictGiven {
	var all []nexus.ReviewerVerdictGiven
	for _, r := range w.a.Rounds {
		all = append(all, r.Reviews...)
	}
	return all
}

// reviewPersonas returns the readers of a change; one for everything if none is configured, and those
// that the pipeline adds for the task.
func (w *attemptWork) reviewPersonas() []review.ReviewPersona {
	all := w.Worker.Sessions.Personas
	if len(all) == 0 {
		all = []review.ReviewPersona{{}}
	}
	return slices.Concat(all, w.Worker.Judge.StepReviewers(w.task.Task))
}

// runReviewers runs every reader in its own copy of the attempt, and merges the copies when all
// have finished.
func (w *attemptWork) runReviewers(ctx context.Context, seats []review.DiffReviewer, earlier []nexus.ReviewerVerdictGiven) (nexus.ReviewerVerdictGiven, error) {
	copies := make([]*reviewerSession, len(seats))
	for i, s := range seats {
		copies[i] = &reviewerSession{attemptWork: *w, seat: s}
		copies[i].a = w.a.Clone()
	}
	known := len(w.a.Network)
	given, err := review.RunReviewers(ctx, seats, w.view.Limits.MajorsBlock, func(ctx context.Context, s review.DiffReviewer) (review.ReviewerOpinion, error) {
		i := slices.IndexFunc(copies, func(c *reviewerSession) bool { return c.seat.Name == s.Name && c.seat.Part == s.Part })
		return copies[i].reviewPart(ctx, earlier)
	})
	for _, c := range copies {
		w.a.JoinSession(c.a, c.session, known)
	}
	return given, err
}

// reviewerSession is one reader's session. One goroutine owns it.
type reviewerSession struct {
	attemptWork
	seat    review.DiffReviewer
	session nexus.SessionID
}

// reviewPart returns the reader's opinion of its part. An opinion from an earlier review of the same
// tree, in which another reader failed, is still valid; a reader that failed is replaced by
// another model.
func (c *reviewerSession) reviewPart(ctx context.Context, earlier []nexus.ReviewerVerdictGiven) (review.ReviewerOpinion, error) {
	c.session = c.seat.SessionID(c.a.ID, len(earlier)+1)
	failed := ""
	if before, ok := c.previousReviewer(earlier); ok && before.Reviewed {
		c.session = before.Session
	} else if ok {
		failed = before.Model
	}
	o := review.ReviewerOpinion{Reader: nexus.ChangeReviewer{Session: c.session}}
	if old := c.a.SessionByID(c.session); old == nil || !old.Over {
		next := ""
		var parts []prompt.SentPromptSection
		if old == nil || len(old.Messages) == 0 {
			b, err := c.reviewBrief(earlier)
			if err != nil {
				return o, err
			}
			next, parts = b.Text(), b.Parts()
		}
		if _, err := c.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
			Attempt: c.a, Session: c.session, Task: c.task.Task, Role: nexus.Reviewer, As: c.seat.Role, Tier: c.a.Tier, Least: c.task.RaisedTier(c.a), Author: c.authorModel(), Failed: failed,
			Readers: c.view.Readers, Tree: c.tree, Base: c.view.Goal.Base, Goal: c.view.Goal.Goal.Text, Next: next, Why: "brief", Parts: parts, Handin: review.HandinSchema(), Limits: c.view.Limits, Record: c.recordFacts,
		}, c.desk); err != nil {
			return o, err
		}
	}
	s := c.a.SessionByID(c.session)
	o.Reader.Model = s.Model
	var err error
	o.Given, err = c.Worker.Judge.ReviewResult(ctx, c.tree, c.a.Base, s)
	return o, err
}

// reviewBrief returns the reader's brief.
func (c *reviewerSession) reviewBrief(earlier []nexus.ReviewerVerdictGiven) (prompt.TaskBrief, error) {
	submitted, err := c.Worker.Judge.ReadSubmission(c.view.AuthorSession(c.a))
	before := c.findingsToRecheck(earlier)
	return prompt.TaskBrief{
		Said:    submitted.CommitMessage(),
		Session: c.session, Task: c.task.Task, Evidence: c.a.LastRound().Evidence, Diff: c.seat.Diff, Limit: prompt.ReviewTokens,
		Part: c.seat.PartInstruction(), Before: before, Replies: c.findingReplies(repair.ReviewCause, before), Taken: definitionofdone.ExplainedFindings(c.a.LastRound().Evidence),
		Own: ownTestCriteria(c.a, c.task.Task), Asked: c.guidanceTexts(),
	}, err
}

// previousReviewer returns the reader of this part when the review of the same tree failed.
func (c *reviewerSession) previousReviewer(earlier []nexus.ReviewerVerdictGiven) (nexus.ChangeReviewer, bool) {
	if len(c.a.LastRound().Reviews) == 0 {
		return nexus.ChangeReviewer{}, false
	}
	last := earlier[len(earlier)-1]
	i := slices.IndexFunc(last.Readers, c.seat.IsReviewer)
	if i < 0 || last.Reviewed || last.Tree != c.a.Snapshot.Tree {
		return nexus.ChangeReviewer{}, false
	}
	return last.Readers[i], true
}

// findingsToRecheck returns the findings of the last review that the reader should check again.
func (c *reviewerSession) findingsToRecheck(earlier []nexus.ReviewerVerdictGiven) []nexus.Finding {
	for _, r := range slices.Backward(earlier) {
		if !r.Reviewed {
			continue
		}
		return slices.DeleteFunc(review.FindingsForAuthor(r.Findings), func(f nexus.Finding) bool {
			return f.Unverified != "" || c.seat.Name != "" && f.Persona != "" && !slices.Contains(strings.Split(f.Persona, ","), c.seat.Name)
		})
	}
	return nil
}

// reviewedLineFunc returns a function that reports whether a line as it is now was in the file
// when the last review was given.
func (w *attemptWork) reviewedLineFunc(ctx context.Context, earlier []nexus.ReviewerVerdictGiven) func(file string, line int) bool {
	tree := ""
	for _, r := range earlier {
		if r.Reviewed {
			tree = r.Tree
		}
	}
	text := changeeffects.FileVersionsReader(ctx, w.Worker.Trees.PrivateRepo(), w.tree.Dir, tree)
	return func(file string, line int) bool {
		now, before, _ := text(file)
		return tree != "" && line <= len(now) && slices.Contains(before, now[line-1])
	}
}
