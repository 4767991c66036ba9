package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// approvalFunc returns a function that asks a person about a command, nil if the run's level
// of approval asks nobody. If nobody answers, the session is halted before the call: it has no
// result then, and is repeated when the task continues.
func (s *AgentSessions) approvalFunc(ctx context.Context, t ConversationStretchRequest, d AttemptFactRecorder, halt context.CancelCauseFunc) func(context.Context, string, string) error {
	if !t.Limits.Approval.NeedsApproval(nexus.ApproveDestructive) {
		return nil
	}
	return func(_ context.Context, command, reason string) error { // a person may take longer than a turn
		// all of it: an answer applies to the text that was read
		text := "may it run " + strconv.Quote(command) + "?"
		if reason != "" {
			text += " " + reason
		}
		t.Attempt.PauseForQuestion(text, s.Site.Now())
		answer, err := s.AskPermission(ctx, t.Attempt.ID, text, d)
		t.Attempt.ResumeAfterAnswer(text, s.Site.Now())
		if IsApprovalNeededError(err) {
			halt(err)
		}
		if err != nil {
			return err
		}
		if !nexus.IsYes(answer) {
			return fmt.Errorf("a person said: %s", answer)
		}
		return nil
	}
}

// AskPermission asks a person for permission, and returns the answer. If nobody is available, it
// returns an error for which [IsApprovalNeededError] is true.
func (s *AgentSessions) AskPermission(ctx context.Context, a nexus.AttemptID, text string, d AttemptFactRecorder) (string, error) {
	q := nexus.QuestionAsked{
		ID:      fmt.Sprintf("%s-%s", cmp.Or(a, "result"), strconv.FormatInt(s.Site.Now().UnixMicro()%(36*36*36*36*36), 36)),
		Attempt: a, Text: text, Fallback: nexus.Unapproved, Deadline: s.questionDeadline(), Trigger: humaninput.SecurityTrigger,
	}
	if a == "" {
		q.Trigger = humaninput.PublishTrigger
	}
	answer, err := d.Ask(ctx, q)
	if err == nil && answer == nexus.Unapproved {
		err = &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: text,
			Hint: "There was no answer. nexus status shows the question; nexus approve agrees to it at any time.",
		}
	}
	return answer, err
}

// questionDeadline returns when a question that is asked now falls back to its default: at
// once if nobody is available, and never if people may take their time.
func (s *AgentSessions) questionDeadline() time.Time {
	switch {
	case s.Alone:
		return s.Site.Now()
	case s.Patience > 0:
		return s.Site.Now().Add(s.Patience)
	default:
		return time.Time{}
	}
}

// IsApprovalNeededError reports whether an error means that a person must approve first.
func IsApprovalNeededError(err error) bool {
	return errors.Is(err, &nexus.Error{Code: nexus.CodeNeedsPerson})
}
