package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TaskComment is a person's comment on a task's change, and its state.
type TaskComment struct {
	nexus.ReviewComment
	Seq  int64 // sequence number of the request that made it
	By   string
	At   time.Time
	Base string // commit that the change was compared with

	Told     nexus.AttemptID         // attempt whose author received it last
	Answers  []RecordedCommentAnswer // oldest first
	Applied  string                  // commit that contains the replacement
	Refused  string                  // why the replacement was not applied
	Resolved string                  // person or rule that resolved it; empty: it is open
}

// RecordedCommentAnswer is the author's answer to a comment.
type RecordedCommentAnswer struct {
	nexus.CommentAnswer
	Attempt nexus.AttemptID
	Round   int
	Commit  string
	At      time.Time
}

// PersonChangeReview is one review of a task's change by a person.
type PersonChangeReview struct {
	Seq      int64
	By       string
	At       time.Time
	Base     string
	Commit   string
	Approved bool // the person approved it for landing
}

// LastAnswer returns the last answer to the comment, or false if there is none.
func (c TaskComment) LastAnswer() (RecordedCommentAnswer, bool) {
	if len(c.Answers) == 0 {
		return RecordedCommentAnswer{}, false
	}
	return c.Answers[len(c.Answers)-1], true
}

// BlocksLanding reports whether the comment blocks the landing of the change.
func (c TaskComment) BlocksLanding() bool { return c.Kind == nexus.MustComment && c.Resolved == "" }

// needsApplying reports whether its replacement is still to be applied.
func (c TaskComment) needsApplying() bool {
	return c.Replace != nil && c.Replace.Apply && c.Applied == "" && c.Refused == "" && c.Resolved == ""
}

// isUndelivered reports whether the author of an attempt must still receive it. Each attempt
// receives an open comment once; praise is delivered once, and asks for no work.
func (c TaskComment) isUndelivered(a nexus.AttemptID) bool {
	switch {
	case c.Resolved != "" || c.Told == a || c.needsApplying() || c.Applied != "":
		return false
	case c.Kind == nexus.MustComment:
		return true
	default:
		return c.Told == "" || len(c.Answers) == 0 && c.Kind != nexus.PraiseComment
	}
}

// CommentByID returns the comment with this ID, or false if there is none.
func (t *TaskState) CommentByID(id string) (TaskComment, bool) {
	if i := t.commentAt(id); i >= 0 {
		return t.Comments[i], true
	}
	return TaskComment{}, false
}

func (t *TaskState) commentAt(id string) int {
	return slices.IndexFunc(t.Comments, func(c TaskComment) bool { return c.ID == id })
}

// UndeliveredComments returns the comments that the author of an attempt must still receive,
// as one message for each batch.
func (t *TaskState) UndeliveredComments(a nexus.AttemptID) []Guidance {
	var all []Guidance
	for _, c := range t.Comments {
		if !c.isUndelivered(a) {
			continue
		}
		if n := len(all); n == 0 || all[n-1].Seq != c.Seq {
			all = append(all, Guidance{Seq: c.Seq, Task: t.ID})
		}
		last := &all[len(all)-1]
		last.Comments = append(last.Comments, c.ReviewComment)
	}
	return all
}

// BlockingComments returns the comments that block the landing of the task's change.
func (t *TaskState) BlockingComments() []TaskComment {
	return slices.DeleteFunc(slices.Clone(t.Comments), func(c TaskComment) bool { return !c.BlocksLanding() })
}

// WorkToReturn returns the fact that returns an accepted attempt to its author, or false if
// no comment asks for work.
func (t *TaskState) WorkToReturn(a *AttemptState) (nexus.WorkReturnedToAuthor, bool) {
	f := nexus.WorkReturnedToAuthor{Task: t.ID, Attempt: a.ID}
	var names []string
	for _, c := range t.Comments {
		switch {
		case c.needsApplying():
			f.Apply = append(f.Apply, c.ReviewComment)
		case c.isUndelivered(a.ID) && c.Kind != nexus.PraiseComment:
			f.Tell = true
		default:
			continue
		}
		names = append(names, c.ID)
	}
	f.Why = "a person reviewed it: " + strings.Join(names, ", ")
	return f, len(names) > 0
}

// changeMark starts the mark of the question whether a change may land.
const changeMark = "change:"

// LandingQuestionMark returns the mark of the question whether an attempt's work may land.
func LandingQuestionMark(a *AttemptState) string { return changeMark + string(a.ID) + "@" + a.Commit }

// LandingQuestion returns the question whether an attempt's work may land, or nil if it was
// not asked.
func (s *State) LandingQuestion(a *AttemptState) *RunQuestion {
	for _, q := range slices.Backward(s.Questions) {
		if q.Trigger == nexus.ChangeTrigger && q.Mark == LandingQuestionMark(a) {
			return q
		}
	}
	return nil
}

// TaskOfLandingQuestion returns the task whose change a question is about. It returns nil for
// other questions, and for a change that is no longer the task's.
func (s *State) TaskOfLandingQuestion(q *RunQuestion) *TaskState {
	if q.Trigger != nexus.ChangeTrigger {
		return nil
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(q.Mark, changeMark), "@")
	a := s.attempts[nexus.AttemptID(id)]
	if a == nil || s.tasks[a.Task] == nil || s.tasks[a.Task].CurrentAttempt() != a || LandingQuestionMark(a) != q.Mark {
		return nil
	}
	return s.tasks[a.Task]
}

// LandingApprover returns the person who approved the landing of an attempt's work, or "".
func (s *State) LandingApprover(t *TaskState, a *AttemptState) string {
	for _, l := range t.Looks {
		if l.Approved && l.Commit == a.Commit && a.Commit != "" {
			return l.By
		}
	}
	if q := s.LandingQuestion(a); q != nil && q.By != "" && nexus.IsYes(q.Answer) {
		return q.By
	}
	return ""
}

// PersonReviewReason returns why a person must review an attempt's work before it lands, or "".
func (s *State) PersonReviewReason(a *AttemptState) string {
	switch s.Limits.Review.People {
	case "", nexus.ReviewNone:
		return ""
	case nexus.ReviewRisky:
		if a.Risky == nil || a.Risky.Tree != a.Tree {
			return "it is unknown how risky it is"
		}
		if len(a.Risky.Risky) == 0 {
			return ""
		}
		return "it is risky: " + nexus.OneLine(strings.Join(a.Risky.Risky, ", "))
	default:
		return "every change waits for a person"
	}
}

// LandingHoldReason returns why an accepted attempt does not land yet, or "" if it may land.
func (s *State) LandingHoldReason(t *TaskState, a *AttemptState) string {
	if t.IsPaused() {
		return "paused by " + t.Paused.By
	}
	if musts := t.BlockingComments(); len(musts) > 0 {
		names := make([]string, len(musts))
		for i, c := range musts {
			names[i] = c.ID
		}
		return fmt.Sprintf("unresolved: %s", strings.Join(names, ", "))
	}
	if why := s.PersonReviewReason(a); why != "" && s.LandingApprover(t, a) == "" {
		return why
	}
	return ""
}

// HasOpenLandingQuestion reports whether a question is open whether a change may land.
func (s *State) HasOpenLandingQuestion() bool {
	return slices.ContainsFunc(s.Questions, func(q *RunQuestion) bool {
		if q.Trigger != nexus.ChangeTrigger || q.By != "" || q.Left {
			return false
		}
		t := s.TaskOfLandingQuestion(q)
		return t != nil && !t.Status.HasEnded()
	})
}

// applyReview applies a person's review of a change, once the request is accepted.
func (s *State) applyReview(r PendingRequest, at time.Time) {
	t := s.tasks[r.Task]
	if t == nil || r.Review == nil {
		return
	}
	v := *r.Review
	look := PersonChangeReview{Seq: r.Seq, By: cmp.Or(r.By, "a person"), At: at, Base: v.Base, Commit: v.Commit, Approved: v.Approve}
	t.Looks = append(slices.Clip(t.Looks), look)
	t.addComments(r, v, at)
	all := slices.Clone(t.Comments)
	for i, c := range all {
		if slices.Contains(v.Resolve, c.ID) && c.Resolved == "" {
			all[i].Resolved = nexus.OneLine(r.By)
			if all[i].Resolved == "" {
				all[i].Resolved = "a person"
			}
		}
		if slices.Contains(v.Apply, c.ID) && c.Replace != nil {
			replace := *c.Replace
			replace.Apply = true
			all[i].Replace, all[i].Refused, all[i].Applied = &replace, "", ""
		}
	}
	t.Comments = all
	t.Helped = t.Helped || r.By != "auto"
}

// addComments adds the comments of a batch.
func (t *TaskState) addComments(r PendingRequest, v nexus.ChangeReview, at time.Time) {
	for _, c := range v.Comments {
		t.Commented++
		c.ID = fmt.Sprintf("c%d", t.Commented)
		if c.Commit == "" {
			c.Commit = v.Commit
		}
		t.Comments = append(slices.Clip(t.Comments), TaskComment{ReviewComment: c, Seq: r.Seq, By: r.By, At: at, Base: v.Base})
	}
}

// addObjectionComment turns a person's objection to a landing into a comment.
func (s *State) addObjectionComment(r PendingRequest, at time.Time) {
	q := s.QuestionByID(r.ID)
	if q == nil || nexus.IsYes(r.Text) {
		return
	}
	t, why := s.TaskOfLandingQuestion(q), nexus.RequestedChangeIn(r.Text)
	if t == nil || why == "" {
		return
	}
	a := t.CurrentAttempt()
	r.Task = t.ID
	t.addComments(r, nexus.ChangeReview{Base: a.Base, Commit: a.Commit, Comments: []nexus.ReviewComment{{Kind: nexus.MustComment, Body: why}}}, at)
}

// applyComments applies facts about the handling of comments.
func (s *State) applyComments(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.WorkReturnedToAuthor:
		t, a := s.tasks[f.Task], s.attempts[f.Attempt]
		a.Apply(f, at)
		t.Status = nexus.Running
		s.dequeueLanding(f.Task)
	case nexus.SuggestionsApplied:
		t := s.tasks[f.Task]
		s.attempts[f.Attempt].Apply(f, at)
		t.updateComments(f.Applied, func(c *TaskComment) { c.Applied, c.Resolved = f.Commit, appliedBy })
		for _, r := range f.Refused {
			t.updateComments([]string{r.Comment}, func(c *TaskComment) { c.Refused = r.Why })
		}
	case nexus.CommentsAnswered:
		t := s.tasks[f.Task]
		s.attempts[f.Attempt].Apply(f, at)
		for _, one := range f.Answers {
			t.updateComments([]string{one.Comment}, func(c *TaskComment) {
				c.Answers = append(slices.Clip(c.Answers), RecordedCommentAnswer{CommentAnswer: one, Attempt: f.Attempt, Round: f.Round, Commit: f.Commit, At: at})
			})
		}
	case nexus.ChangeRiskRated:
		s.attempts[f.Attempt].Apply(f, at)
	default:
	}
}

// appliedBy is the resolver of a comment whose replacement was applied.
const appliedBy = "applied"

// ByFix is the resolver of a comment of kind must whose fix the gates accepted, if people let
// the gates decide.
const ByFix = "accepted fix"

// updateComments changes comments in a new list, because others may read the old one.
func (t *TaskState) updateComments(ids []string, do func(c *TaskComment)) {
	if len(ids) == 0 {
		return
	}
	t.Comments = slices.Clone(t.Comments)
	for i := range t.Comments {
		if slices.Contains(ids, t.Comments[i].ID) {
			do(&t.Comments[i])
		}
	}
}

// markCommentsDelivered marks the comments that the author of an attempt received.
func (t *TaskState) markCommentsDelivered(f nexus.PromptSent) {
	ids := make([]string, len(f.Comments))
	for i, c := range f.Comments {
		ids[i] = c.ID
	}
	t.updateComments(ids, func(c *TaskComment) { c.Told = attemptOfSession(f.Session) })
}

// resolveFixedComments resolves the comments of kind must that an accepted attempt fixed, if people let the
// gates decide.
func (s *State) resolveFixedComments(t *TaskState, a *AttemptState) {
	if !s.Limits.Review.Fixed {
		return
	}
	var ids []string
	for _, c := range t.Comments {
		if last, ok := c.LastAnswer(); ok && c.BlocksLanding() && last.Attempt == a.ID && last.Reply == nexus.CommentFixed && last.Changed {
			ids = append(ids, c.ID)
		}
	}
	t.updateComments(ids, func(c *TaskComment) { c.Resolved = ByFix })
}

// applyCommentFact applies facts about people's comments to an attempt.
func (a *AttemptState) applyCommentFact(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.WorkReturnedToAuthor:
		a.Stage, a.Outcome, a.Why = Waiting, "", f.Why
		a.Sent, a.Applied = &f, nil
	case nexus.SuggestionsApplied:
		if a.Applied = &f; a.Sent != nil && !a.Sent.Tell {
			a.Sent = nil
		}
	case nexus.CommentsAnswered:
		a.Claims = nil
		for _, one := range f.Answers {
			a.Open = slices.DeleteFunc(slices.Clone(a.Open), func(c nexus.ReviewComment) bool { return c.ID == one.Comment })
		}
	case nexus.ChangeRiskRated:
		a.Risky = &f
	default:
	}
}

// UnansweredComments returns the comments that the attempt's author received and did not answer.
func (a *AttemptState) UnansweredComments() []string {
	var ids []string
	for _, c := range a.Open {
		if !slices.Contains(a.Reminded, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// addOpenComments records the comments that its author received and must answer.
func (a *AttemptState) addOpenComments(f nexus.PromptSent) {
	for _, c := range f.Comments {
		if c.Kind != nexus.PraiseComment {
			a.Open = append(clipCapacity(a.Open), c)
		}
	}
}

// recordClaims records its author's answers to comments until they are checked against the change.
func (a *AttemptState) recordClaims(f nexus.SessionEnded) {
	a.Claims = nil
	for _, one := range f.Answers {
		if one.Comment != "" {
			a.Claims = append(a.Claims, one)
		}
	}
}
