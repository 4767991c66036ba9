package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// reviewBeforeLanding decides whether accepted work must wait: people's comments are handled first, and
// necessary approvals are requested. Held means that it does not join the landing queue now.
func reviewBeforeLanding(s *state.State, t *state.TaskState, a *state.AttemptState, now time.Time) (fs []nexus.Fact, held bool) {
	if f, ok := t.WorkToReturn(a); ok {
		return factList(f), true
	}
	q, why := s.LandingQuestion(a), s.LandingHoldReason(t, a)
	switch {
	case why == "" && q != nil && q.By == "":
		return factList(nexus.QuestionAnswered{ID: q.ID, Text: "yes", By: landingSettler(s, t, a)}), true
	case why == "":
		return nil, false
	case q == nil || q.By != "": // it was answered before the latest comment
		return factList(askLanding(s, t, a, s.NextQuestionID(), why, now)), true
	case s.Alone && !q.Left:
		return factList(nexus.QuestionExpired{ID: q.ID}), true
	case q.Left && q.Anew && !s.Alone:
		return factList(askLanding(s, t, a, q.ID, why, now)), true
	}
	return nil, true
}

// landingSettler returns the person who resolved the last obstacle to a landing.
func landingSettler(s *state.State, t *state.TaskState, a *state.AttemptState) string {
	if by := s.LandingApprover(t, a); by != "" {
		return by
	}
	by := "a person"
	for _, c := range t.Comments {
		if c.Resolved != "" {
			by = c.Resolved
		}
	}
	return by
}

// askLanding asks whether a change may land.
func askLanding(s *state.State, t *state.TaskState, a *state.AttemptState, id, why string, now time.Time) nexus.QuestionAsked {
	text := fmt.Sprintf("may %s land? %s (%s). ", t.ID, sanitize.TruncateText(t.Title, mostChange), why)
	if musts := t.BlockingComments(); len(musts) > 0 {
		for _, c := range musts {
			text += fmt.Sprintf("%s, %s: %s", c.ID, c.LocationText(), sanitize.TruncateText(nexus.OneLine(c.Body), mostChange))
			if last, ok := c.LastAnswer(); ok {
				text += fmt.Sprintf(" -- its agent: %s", strings.TrimSuffix(fmt.Sprintf("%s, %s", last.Reply, nexus.OneLine(last.Why)), ", "))
			}
			text = strings.TrimRight(text, ".") + ". "
		}
		text += fmt.Sprintf("Resolve each with nexus review %s --resolve ID, or send the change back with no: and what to do", t.ID)
	} else {
		text += fmt.Sprintf("See it with nexus review %s, and answer yes, or no: and what to do", t.ID)
	}
	return nexus.QuestionAsked{
		ID: id, Text: text, Fallback: nexus.Unapproved, Trigger: nexus.ChangeTrigger, Mark: state.LandingQuestionMark(a), Deadline: questionDeadline(s, now),
	}
}

// returnQueuedWork removes accepted work from the landing queue if people commented on it.
func returnQueuedWork(s *state.State) []nexus.Fact {
	for _, ticket := range s.Queue {
		t, a := s.TaskByID(ticket.Task), s.AttemptByID(ticket.Attempt)
		if f, ok := t.WorkToReturn(a); ok {
			return factList(f)
		}
	}
	return nil
}

// settlePersonReview carries out a person's review of a change.
func settlePersonReview(
	s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact,
) []nexus.Fact {
	t := s.TaskByID(r.Task)
	if t == nil {
		return no("there is no task %q", r.Task)
	}
	if why := UnreviewableReason(s, t); why != "" {
		return no("%s", why)
	}
	if why := ReviewProblem(t, r.Review); why != "" {
		return no("%s", why)
	}
	return yes()
}

// UnreviewableReason returns why a task's change cannot be reviewed, or "".
func UnreviewableReason(s *state.State, t *state.TaskState) string {
	_, commit := t.ChangedCommits()
	switch {
	case t.Status == nexus.Landed:
		return fmt.Sprintf("%s has landed as commit %.12s: its change is final", t.ID, t.Landed.Commit)
	case t.Status == nexus.Split, t.Status == nexus.Skipped:
		return fmt.Sprintf("%s is %s", t.ID, t.Why)
	case s.CurrentLanding != nil && s.CurrentLanding.Task == t.ID:
		return fmt.Sprintf("%s is landing", t.ID)
	case commit == "":
		return fmt.Sprintf("%s has changed nothing yet", t.ID)
	}
	return ""
}

// ReviewProblem returns why a batch of comments is invalid, or "".
func ReviewProblem(t *state.TaskState, v *nexus.ChangeReview) string {
	if v == nil || v.IsEmpty() {
		return "it says nothing"
	}
	for _, c := range v.Comments {
		if !nexus.IsCommentKind(c.Kind) {
			return fmt.Sprintf("%q is not a kind of comment", c.Kind)
		}
		if c.Body == "" && c.Replace == nil {
			return "a comment on " + c.LocationText() + " says nothing"
		}
		if c.Replace != nil && (c.File == "" || c.Start < 1 || c.Side == nexus.OldSide) {
			return "a suggestion replaces lines of a file as it is now"
		}
	}
	for _, id := range v.Resolve {
		if _, ok := t.CommentByID(id); !ok {
			return fmt.Sprintf("%s has no comment %q", t.ID, id)
		}
	}
	for _, id := range v.Apply {
		switch c, ok := t.CommentByID(id); {
		case !ok:
			return fmt.Sprintf("%s has no comment %q", t.ID, id)
		case c.Replace == nil:
			return fmt.Sprintf("%s suggests nothing that could be applied", id)
		case c.Applied != "":
			return fmt.Sprintf("%s is applied already", id)
		}
	}
	if _, commit := t.ChangedCommits(); v.Approve && v.Commit != commit {
		return fmt.Sprintf("%s has changed since: it is at %.12s, and what you approve is %.12s", t.ID, commit, v.Commit)
	}
	return ""
}

// landingAnswerFacts returns the further facts that follow from the answer whether a change may
// land, or why it is not an answer.
func landingAnswerFacts(s *state.State, q *state.RunQuestion, r state.PendingRequest) (fs []nexus.Fact, why string) {
	t := s.TaskOfLandingQuestion(q)
	switch {
	case t == nil || t.Status.HasEnded():
		return nil, ""
	case nexus.IsYes(r.Text):
		if musts := t.BlockingComments(); len(musts) > 0 {
			return nil, fmt.Sprintf("%s is unresolved: resolve it with nexus review %s --resolve %s", musts[0].ID, t.ID, musts[0].ID)
		}
		return nil, ""
	case nexus.RequestedChangeIn(r.Text) == "":
		return factList(nexus.TaskParked{Task: t.ID, Why: requesterName(r) + " did not approve its change"}), ""
	}
	return nil, ""
}
