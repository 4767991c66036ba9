package attempt

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// PromptPreview is the next request of an attempt.
type PromptPreview struct {
	Role    nexus.Role
	Session nexus.SessionID
	Why     string // brief, repair; empty if a conversation continues
	Offer   worker.SessionPromptPreview
	Said    []prompt.SentPromptSection // the conversation so far; only unanswered messages have a text
	Parts   []prompt.SentPromptSection // the next message; none if the conversation continues
}

// PreviewPrompt returns the text that an attempt would send to a role now, or, for an empty
// role, to the next role. It calls no model, runs no gate and records nothing; so the gates'
// results are missing in it.
func PreviewPrompt(ctx context.Context, s *worker.AttemptWorker, v state.WorkerView, role nexus.Role) (PromptPreview, error) {
	w := &attemptWork{Worker: s, view: v, task: &v.Task, a: v.Attempt.Clone()}
	facts, err := w.changeFacts(ctx)
	if err != nil {
		return PromptPreview{}, err
	}
	step := repair.NextRepairStep(w.task, w.a, v.Limits, facts)
	if role == "" {
		if role = nextRole(step); role == "" {
			return PromptPreview{}, promptUnavailableError(v.Task.ID, "the gates run next, and they ask no model")
		}
	}
	u := PromptPreview{Role: role}
	t := worker.ConversationStretchRequest{Attempt: w.a, Task: w.task.Task, Role: role, Tier: w.a.Tier, Least: w.task.RaisedTier(w.a), Base: v.Goal.Base, Goal: v.Goal.Goal.Text, Limits: v.Limits, Readers: v.Readers}
	switch role {
	case nexus.Coder, nexus.Tester, nexus.Editor:
		err = w.previewWriter(ctx, &u, step)
	case nexus.Verifier, nexus.Reviewer:
		t.Author = w.authorModel()
		t.Handin, err = w.previewReviewer(ctx, &u)
	default:
		if _, ok := s.Sessions.Roles[role]; !ok {
			return u, &nexus.Error{
				Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no role %q", role),
				Hint: "Name coder, tester, verifier or reviewer.",
			}
		}
		err = &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the prompt of the %s does not depend on the task alone", role),
			Hint: "Name coder, tester, verifier or reviewer; nexus status SESSION --raw prints what any session was sent.",
		}
	}
	if err != nil {
		return u, err
	}
	if role == nexus.Editor {
		t.As = w.editorRole()
	}
	if u.Offer, err = s.Sessions.PreviewSession(ctx, t); err != nil {
		return u, err
	}
	if u.Why == "brief" && len(u.Said) == 0 {
		u.Parts = append(u.Parts, u.Offer.Here...)
	}
	return u, nil
}

// nextRole returns the role that performs a step, or "".
func nextRole(step repair.RepairStep) nexus.Role {
	switch step.Move {
	case repair.Write:
		return step.Role
	case repair.Verify:
		return nexus.Verifier
	case repair.Review:
		return nexus.Reviewer
	default:
		return ""
	}
}

func promptUnavailableError(task nexus.TaskID, why string) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("nothing would be sent for %s now: %s", task, why),
		Hint: "--role ROLE prints what that role would be sent; nexus status " + string(task) + " lists what was sent.",
	}
}

// previewWriter fills in the message to a writer.
func (w *attemptWork) previewWriter(ctx context.Context, u *PromptPreview, step repair.RepairStep) error {
	another := step.Move != repair.Write || step.Role != u.Role
	if another { // the beginning of its conversation
		step = repair.RepairStep{Role: u.Role}
		if due, _, _ := w.nextEditStep(); due != "" && u.Role == nexus.Editor {
			step.Cause = nexus.StepCause + due
		} else if u.Role == nexus.Editor {
			return promptUnavailableError(w.task.ID, "no step of the pipeline is left for an editor")
		}
	}
	u.Session = w.writerSession(step)
	if err := w.addTranscript(u); err != nil {
		return err
	}
	if another && len(u.Said) > 0 {
		return nil
	}
	if !step.Resume {
		w.a.Apply(nexus.RoundStarted{Attempt: w.a.ID, Round: len(w.a.Rounds) + 1, Role: u.Role, Cause: step.Cause, Session: u.Session}, w.Worker.Site.Now())
	} else if w.a.LastRound().Prompted {
		return nil
	}
	m, why, err := w.writerPrompt(ctx, u.Session)
	if err != nil {
		return err
	}
	u.Why, u.Parts = why, m.Parts()
	return nil
}

// previewReviewer fills in the message to a reader. Of several readers of a review it is the
// first.
func (w *attemptWork) previewReviewer(ctx context.Context, u *PromptPreview) (handin json.RawMessage, err error) {
	if w.a.Snapshot.Commit == "" || w.a.LastRound() == nil {
		return nil, promptUnavailableError(w.task.ID, "there is no change yet that the "+string(u.Role)+" could read")
	}
	u.Why = "brief"
	b, handin := prompt.TaskBrief{}, review.HandinSchema()
	if u.Role == nexus.Verifier {
		handin = review.VerdictSchema()
		b, err = w.nextVerifierBrief(ctx)
	} else {
		b, err = w.nextReviewerBrief(ctx)
	}
	if err != nil {
		return nil, err
	}
	u.Session, u.Parts = b.Session, b.Parts()
	if err = w.addTranscript(u); len(u.Said) > 0 {
		u.Why, u.Parts = "", nil
	}
	return handin, err
}

func (w *attemptWork) nextVerifierBrief(ctx context.Context) (prompt.TaskBrief, error) {
	n, b := w.verifierBrief()
	b.Session = nexus.SessionID(fmt.Sprintf("%s/%s.%d", w.a.ID, nexus.Verifier, n))
	err := w.addChangeToBrief(ctx, &b)
	return b, err
}

func (w *attemptWork) nextReviewerBrief(ctx context.Context) (prompt.TaskBrief, error) {
	earlier := w.pastReviews()
	diff, err := w.Worker.Trees.PrivateRepo().Diff(ctx, w.a.Base, w.a.Snapshot.Commit)
	if err != nil {
		return prompt.TaskBrief{}, err
	}
	seats := review.AssignReviewers(w.reviewPersonas(), diff)
	if len(seats) == 0 {
		return prompt.TaskBrief{}, promptUnavailableError(w.task.ID, "the change is too large to be read")
	}
	c := &reviewerSession{attemptWork: *w, seat: seats[0], session: seats[0].SessionID(w.a.ID, len(earlier)+1)}
	return c.reviewBrief(earlier)
}

// addTranscript fills in the conversation so far, and its unanswered messages.
func (w *attemptWork) addTranscript(u *PromptPreview) error {
	old := w.a.SessionByID(u.Session)
	if old == nil || len(old.Messages) == 0 {
		return nil
	}
	said, err := agent.LoadMessages(w.Worker.Site.Blobs, old.Messages)
	if err != nil {
		return fmt.Errorf("read the transcript of %s: %w", u.Session, err)
	}
	open := len(said)
	for open > 0 && said[open-1].From != llm.Assistant {
		open--
	}
	if open > 0 {
		u.Said = []prompt.SentPromptSection{{Title: fmt.Sprintf("messages so far: %d", open), Tokens: estimateMessageTokens(said[:open])}}
	}
	for _, m := range said[open:] {
		for _, p := range m.Parts {
			one := prompt.SentPromptSection{Title: "Not answered yet", Text: p.Text, Tokens: estimateMessageTokens([]llm.Message{{Parts: []llm.MessagePart{p}}})}
			if p.Result != nil {
				one.Title, one.Text = "Result of a tool", p.Result.Text
			}
			u.Said = append(u.Said, one)
		}
	}
	return nil
}

// estimateMessageTokens estimates the number of tokens of messages.
func estimateMessageTokens(said []llm.Message) int64 {
	data, _ := json.Marshal(said)
	return prompt.EstimateTokens(string(data))
}
