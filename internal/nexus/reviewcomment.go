package nexus

import (
	"slices"
	"strconv"
	"strings"
)

// CommentKind is the kind of action that a person's comment on a change asks for.
type CommentKind string

// The zero kind is none of them.
const (
	MustComment     CommentKind = "must"     // must be done: the change does not land before it is resolved
	ShouldComment   CommentKind = "should"   // should be done, or declined with a reason
	QuestionComment CommentKind = "question" // needs an answer; nothing waits for it
	PraiseComment   CommentKind = "praise"   // asks for no action
)

// CommentKinds returns the kinds, the most urgent first.
func CommentKinds() []CommentKind {
	return []CommentKind{MustComment, ShouldComment, QuestionComment, PraiseComment}
}

// IsCommentKind reports whether a word is a kind.
func IsCommentKind(word CommentKind) bool { return slices.Contains(CommentKinds(), word) }

// DiffSide is the side of a diff.
type DiffSide string

// Values of Side.
const (
	OldSide DiffSide = "old" // the version before the change
	NewSide DiffSide = "new" // the version after the change
)

// ReviewComment is a person's comment on a task's change: on lines of a file, on a whole file, or,
// without a file, on all of it.
type ReviewComment struct {
	// c1, c2, ... of the task, by the order of the journal; empty in a request
	ID    string      `json:"id,omitzero"`
	File  string      `json:"file,omitzero"`  // empty: the whole change
	Side  DiffSide    `json:"side,omitzero"`  // of the lines; empty means new
	Start int         `json:"start,omitzero"` // first line, from 1; 0: the whole file
	End   int         `json:"end,omitzero"`   // last line; 0 means Start
	Hunk  string      `json:"hunk,omitzero"`  // the lines as the diff shows them
	Body  string      `json:"body,omitzero"`  // may be empty only if there is a replacement
	Kind  CommentKind `json:"kind"`

	Commit  string                `json:"commit,omitzero"`  // the commit that was reviewed
	Replace *SuggestedReplacement `json:"replace,omitzero"` // text that should replace the lines
}

// SuggestedReplacement is a suggested replacement of lines.
type SuggestedReplacement struct {
	Text  string `json:"text"`           // whole lines; empty deletes them
	Apply bool   `json:"apply,omitzero"` // it is applied without an agent
}

// LastLine returns the last line of the comment, or 0 if it is not about lines.
func (c ReviewComment) LastLine() int { return max(c.Start, c.End) }

// LocationText returns the location of a comment as text for people.
func (c ReviewComment) LocationText() string {
	if c.File == "" {
		return "the whole change"
	}
	if c.Start == 0 {
		return c.File
	}
	lines := strconv.Itoa(c.Start)
	if c.LastLine() > c.Start {
		lines += "-" + strconv.Itoa(c.LastLine())
	}
	if c.Side == OldSide {
		lines += " (before)"
	}
	return c.File + ":" + lines
}

// ChangeReview is a batch of a person's comments on a task's change. All of it becomes one
// message to the task's agent.
type ChangeReview struct {
	Base     string          `json:"base,omitzero"`   // the change was compared with it
	Commit   string          `json:"commit,omitzero"` // the commit that was reviewed
	Comments []ReviewComment `json:"comments,omitempty"`
	Resolve  []string        `json:"resolve,omitempty"` // comments that the person considers resolved
	Apply    []string        `json:"apply,omitempty"`   // comments whose replacement is to be applied
	Approve  bool            `json:"approve,omitzero"`  // the person approves Commit for landing
}

// IsEmpty reports whether the review contains nothing.
func (r ChangeReview) IsEmpty() bool {
	return len(r.Comments) == 0 && len(r.Resolve) == 0 && len(r.Apply) == 0 && !r.Approve
}

// CommentReplyKind is an agent's kind of answer to a comment.
type CommentReplyKind string

// An unknown reply counts as a question.
const (
	CommentFixed    CommentReplyKind = "fixed"
	CommentDeclined CommentReplyKind = "declined" // with a reason
	CommentAsked    CommentReplyKind = "question" // the agent asks a question in return
	CommentAnswered CommentReplyKind = "answered" // the agent answers a question
)

// CommentReplies returns all replies.
func CommentReplies() []CommentReplyKind {
	return []CommentReplyKind{CommentFixed, CommentDeclined, CommentAsked, CommentAnswered}
}

// CommentAnswer is an agent's answer to a comment, and facts that Nexus checked about it.
type CommentAnswer struct {
	Comment string           `json:"comment"` // its ID
	Reply   CommentReplyKind `json:"reply"`
	Why     string           `json:"why,omitzero"`
	Changed bool             `json:"changed,omitzero"` // the file, or the lines, changed since the comment was made
}

// PersonReviewRequirement selects the changes that a person must review before they land.
type PersonReviewRequirement string

// The levels, from fewest reviews to most. The zero level is none.
const (
	ReviewNone  PersonReviewRequirement = "none"
	ReviewRisky PersonReviewRequirement = "risky" // changes with a risky file; see decide/diffreview
	ReviewAll   PersonReviewRequirement = "all"
)

// PersonReviewRequirements returns the levels, from fewest reviews to most.
func PersonReviewRequirements() []PersonReviewRequirement {
	return []PersonReviewRequirement{ReviewNone, ReviewRisky, ReviewAll}
}

// PersonReviewRules are a run's rules for reviews by people. The zero value requires none, and lets
// only people resolve comments of kind must.
type PersonReviewRules struct {
	People PersonReviewRequirement `json:"people,omitzero"`
	// a comment of kind must is resolved once its fix changed its lines and the gates and
	// reviewers accepted it
	Fixed bool `json:"fixed,omitzero"`
}

// ChangeTrigger is the trigger of the question whether a task's change may land.
const ChangeTrigger = "change"

// OneLine returns a text in one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Facts about people's comments on changes.
type (
	// WorkReturnedToAuthor returns accepted work that has not landed to its attempt
	// because of people's comments.
	WorkReturnedToAuthor struct {
		Task    TaskID    `json:"task"`
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
		Tell    bool      `json:"tell,omitzero"` // the author receives the comments
		// comments whose replacements are applied first, without an agent
		Apply []ReviewComment `json:"apply,omitempty"`
	}
	// SuggestionsApplied records which suggested replacements were applied.
	SuggestionsApplied struct {
		Task    TaskID                `json:"task"`
		Attempt AttemptID             `json:"attempt"`
		Commit  string                `json:"commit"` // the snapshot that contains them
		Applied []string              `json:"applied,omitempty"`
		Refused []UnappliedSuggestion `json:"refused,omitempty"`
	}
	// CommentsAnswered records the author's answers to comments, and whether they are true.
	CommentsAnswered struct {
		Task    TaskID          `json:"task"`
		Attempt AttemptID       `json:"attempt"`
		Session SessionID       `json:"session"`
		Round   int             `json:"round"`
		Commit  string          `json:"commit"` // the commit that was submitted with the answers
		Answers []CommentAnswer `json:"answers"`
	}
	// ChangeRiskRated records which files of an accepted change are risky. It is recorded if
	// risky changes wait for a person.
	ChangeRiskRated struct {
		Attempt AttemptID `json:"attempt"`
		Tree    string    `json:"tree"`
		Risky   []string  `json:"risky,omitempty"` // "FILE: why"
	}
)

// UnappliedSuggestion records why a replacement was not applied.
type UnappliedSuggestion struct {
	Comment string `json:"comment"`
	Why     string `json:"why"`
}

// Causes of rounds that follow from people's comments.
const (
	PersonCause = "person"     // a person reviewed the change
	ApplyCause  = "suggestion" // a suggested replacement is applied without an agent
	AnswerCause = "answers"    // comments were not answered
)

// Reviser is the role of a round without an agent.
const Reviser Role = "person"

// CommentsWithoutText returns comments without their texts.
func CommentsWithoutText(all []ReviewComment) []ReviewComment {
	var places []ReviewComment
	for _, c := range all {
		places = append(places, ReviewComment{ID: c.ID, File: c.File, Side: c.Side, Start: c.Start, End: c.End, Kind: c.Kind, Commit: c.Commit})
	}
	return places
}
