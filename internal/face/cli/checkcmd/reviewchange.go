package checkcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

// ReviewReport is the result of a review and the JSON output of `nexus review`.
type ReviewReport struct {
	State    nexus.GateState        `json:"state"` // pass, fail: it blocks, or unverifiable: it was not reviewed
	Approved bool                   `json:"approved"`
	Summary  string                 `json:"summary"`
	Base     string                 `json:"base"` // commit that it is compared with
	Tree     string                 `json:"tree"` // reviewed git tree
	Findings []nexus.Finding        `json:"findings"`
	Readers  []nexus.ChangeReviewer `json:"readers"`
	Spent    nexus.Money            `json:"spent"`
}

// AsEvidence returns the report as evidence of a gate.
func (r ReviewReport) AsEvidence() nexus.GateEvidence {
	e := nexus.GateEvidence{Gate: review.Gate, State: r.State, Tree: r.Tree, Command: "nexus review", Why: r.Summary}
	for _, f := range r.Findings {
		if f.Unverified != "" {
			f.Severity = nexus.Suggestion
			f.Message += " (not verified: " + f.Unverified + ")"
		}
		if f.Code == "" {
			f.Code = strings.Trim(f.Persona+"/"+f.Category, "/")
		}
		e.Findings = append(e.Findings, f)
	}
	return e
}

// reviewTries limits how often a reviewer with an unreadable answer is replaced.
const reviewTries = 2

// ReviewChange lets models review a change.
func ReviewChange(ctx context.Context, a *console.Console, c config.Config, o ReviewScope, traffic provider.TrafficRecordingOptions) (r ReviewReport, err error) {
	people, err := review.PersonasNamed(c.Personas)
	if err != nil {
		return r, &nexus.Error{Code: nexus.CodeInvalidInput, Message: err.Error(), Hint: "Use " + strings.Join(config.ReviewPersonas(), ", ") + "."}
	}
	dir, err := a.WorkDir()
	if err != nil {
		return r, err
	}
	user, err := git.FindRepo(ctx, dir)
	if err != nil {
		return r, err
	}
	s, err := openReview(ctx, user, o)
	if err != nil {
		return r, err
	}
	defer s.remove()
	r = ReviewReport{Base: s.from, Tree: s.to, State: nexus.Unverifiable, Findings: []nexus.Finding{}, Readers: []nexus.ChangeReviewer{}}
	seats := review.AssignReviewers(people, s.diff)
	if seats == nil {
		r.Summary = fmt.Sprintf("not reviewed: the change has %d bytes, the maximum is %d", len(s.diff), review.MaxParts*review.PartBytes)
		return r, nil
	}
	sitting, ctx, err := a.OpenAdhocSessions(ctx, c, nexus.Reviewer, traffic, nil)
	if err != nil {
		return r, err
	}
	defer sitting.Close(ctx)
	given, err := review.RunReviewers(ctx, seats, c.Limits.MajorsBlock, func(ctx context.Context, seat review.DiffReviewer) (review.ReviewerOpinion, error) {
		return s.runReviewer(ctx, a, sitting, seat)
	})
	r.Spent = sitting.SpentMoney()
	if err != nil {
		return r, err
	}
	r.Approved, r.Summary, r.Readers = given.Approved, given.Summary, given.Readers
	r.Findings = append(r.Findings, given.Findings...)
	switch {
	case !given.Reviewed:
	case repair.IsRejection(given, c.Limits.MajorsBlock):
		r.State = nexus.Fail
	default:
		r.State = nexus.Pass
	}
	return r, nil
}

// runReviewer lets one reviewer review, and another model in its place if the answer is unreadable.
// Without budget there is no review, which is an error.
func (s *reviewSubject) runReviewer(ctx context.Context, a *console.Console, sitting *app.AdhocSessionRunner, seat review.DiffReviewer) (review.ReviewerOpinion, error) {
	var o review.ReviewerOpinion
	failed := ""
	for n := range reviewTries {
		id := seat.SessionID("review.1", n+1)
		said, err := sitting.Ask(ctx, app.AdhocSessionRequest{Session: id, Dir: s.dir, Text: s.reviewerBrief(id, seat), Handin: review.HandinSchema(), Failed: failed})
		o.Reader = nexus.ChangeReviewer{Session: id, Model: said.Model}
		switch {
		case err != nil && (ctx.Err() != nil || !canTryAnotherModel(err)):
			return o, err
		case err != nil:
			o.Given = nexus.ReviewerVerdictGiven{Summary: "the reviewer could not be asked: " + err.Error()}
		case said.Outcome == nexus.Refused:
			return o, &nexus.Error{
				Code: nexus.CodeBudget, Message: said.Why,
				Hint: "Raise the limit: --budget for one review, budget.day for the whole day.",
			}
		case said.Outcome != nexus.Accepted || len(said.Handin) == 0:
			o.Given = nexus.ReviewerVerdictGiven{Summary: "the reviewer did not finish: " + cmp.Or(said.Why, string(said.Outcome))}
		default:
			o.Given, _ = review.ParseReview(said.Handin) // an unreadable opinion reports that itself
			o.Given = review.VerifyFindings(o.Given, changeeffects.FileVersionsReader(ctx, s.repo, s.dir, s.from))
		}
		if o.Given.Reviewed {
			return o, nil
		}
		a.Say("%s: %s", id, view.EscapeForTerminal(o.Given.Summary))
		failed = said.Model
	}
	return o, nil
}

// canTryAnotherModel reports whether another model may succeed after this error.
func canTryAnotherModel(err error) bool {
	return errors.Is(err, &nexus.Error{Code: nexus.CodeProvider}) || errors.Is(err, &nexus.Error{Code: nexus.CodeLimit})
}

// reviewerBrief returns the prompt of a reviewer.
func (s *reviewSubject) reviewerBrief(id nexus.SessionID, seat review.DiffReviewer) string {
	task := nexus.Task{ID: "review", Title: "Review " + s.title}
	if len(s.words) > 0 {
		task.Brief = "What the commits say about themselves, which may be wrong:\n"
		for _, w := range s.words {
			task.Brief += "- " + prompt.SingleLine(w) + "\n"
		}
	}
	return prompt.TaskBrief{Session: id, Task: task, Part: seat.PartInstruction(), Diff: seat.Diff, Limit: prompt.ReviewTokens}.Text()
}
