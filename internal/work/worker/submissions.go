package worker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// BudgetExceededError returns the error of a worker that the budget stopped. Its work is kept, and
// continues when there is money again.
func BudgetExceededError(why string) error {
	return &nexus.Error{Code: nexus.CodeBudget, Message: why, Hint: "Raise the budget and run nexus resume."}
}

// ReadSubmission returns a session's submission, empty if it has none, or if there is no session.
func (j *TreeJudge) ReadSubmission(of *state.AgentSessionState) (tool.DefaultWorkSubmission, error) {
	if of == nil || of.Result == "" {
		return tool.DefaultWorkSubmission{}, nil
	}
	data, err := j.Site.Blobs.Get(of.Result)
	if err != nil {
		return tool.DefaultWorkSubmission{}, fmt.Errorf("read what an agent submitted: %w", err)
	}
	return tool.ParseSubmission(data), nil
}

// ReviewResult returns the result of a reviewer's session about a change from base to the
// tree. An unreadable or unfinished one is no review.
func (j *TreeJudge) ReviewResult(ctx context.Context, tree *worktree.AttemptTree, base string, r *state.AgentSessionState) (nexus.ReviewerVerdictGiven, error) {
	why := cmp.Or(r.Why, string(r.Outcome))
	given := nexus.ReviewerVerdictGiven{Summary: "the reviewer did not finish: " + why}
	if r.Outcome == nexus.Refused {
		return given, BudgetExceededError(why)
	}
	if r.Outcome != nexus.Accepted || r.Result == "" {
		return given, nil
	}
	data, err := j.Site.Blobs.Get(r.Result)
	if err != nil {
		return given, err
	}
	parsed, bad := review.ParseReview(data)
	if bad == nil {
		return review.VerifyFindings(parsed, changeeffects.FileVersionsReader(ctx, j.Trees.PrivateRepo(), tree.Dir, base)), nil
	}
	given.Summary = "the review could not be read: " + bad.Error()
	return given, nil
}
