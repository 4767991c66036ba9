package nexus

import (
	"slices"
	"strconv"
	"strings"
)

// CommentKind says what a person's comment on a change wants.
type CommentKind string

// The kinds. The zero kind is none of them.
const (
	MustComment     CommentKind = "must"     // to be done: the change does not land before it is resolved
	ShouldComment   CommentKind = "should"   // to be done, or declined with a reason
	QuestionComment CommentKind = "question" // to be answered; nothing waits for it
	PraiseComment   CommentKind = "praise"   // nothing is to be done
)

// CommentKinds returns the kinds, the most urgent first.
func CommentKinds() []CommentKind {
	return []CommentKind{MustComment, ShouldComment, QuestionComment, PraiseComment}
}

// IsCommentKind reports whether a word is a kind.
func IsCommentKind(word CommentKind) bool { return slices.Contains(CommentKinds(), word) }

// Side is the side of a diff.
type Side string

// The sides.
const (
	OldSide Side = "old" // what was there before
	NewSide Side = "new" // what is there now
)

// Comment is what a person says about a task's change: about lines of a file, about
// a whole file, or, without a file, about all of it.
type Comment struct {
	ID    string      `json:"id,omitzero"`    // c1, c2, ... of the task, by the order of the journal; a request leaves it out
	File  string      `json:"file,omitzero"`  // empty: the whole change
	Side  Side        `json:"side,omitzero"`  // of the lines; empty means new
	Start int         `json:"start,omitzero"` // first line, from 1; 0: the whole file
	End   int         `json:"end,omitzero"`   // last line; 0 means Start
	Hunk  string      `json:"hunk,omitzero"`  // the lines as the diff shows them
	Body  string      `json:"body,omitzero"`  // empty only beside a replacement
	Kind  CommentKind `json:"kind"`

	Commit  string   `json:"commit,omitzero"`  // that was looked at
	Replace *Replace `json:"replace,omitzero"` // what the lines should be instead
}

// Replace is a suggestion: the text that lines should be replaced by.
type Replace struct {
	Text  string `json:"text"`           // whole lines; empty deletes them
	Apply bool   `json:"apply,omitzero"` // it is done without an agent
}

// Last returns the last line of the comment, 0 where it is about no lines.
func (c Comment) Last() int { return max(c.Start, c.End) }

// Place says where a comment is, for people.
func (c Comment) Place() string {
	if c.File == "" {
		return "the whole change"
	}
	if c.Start == 0 {
		return c.File
	}
	lines := strconv.Itoa(c.Start)
	if c.Last() > c.Start {
		lines += "-" + strconv.Itoa(c.Last())
	}
	if c.Side == OldSide {
		lines += " (before)"
	}
	return c.File + ":" + lines
}

// ChangeReview is a batch of what a person says about a task's change, all of which
// becomes one message to its agent.
type ChangeReview struct {
	Base     string    `json:"base,omitzero"`   // the change was compared with it
	Commit   string    `json:"commit,omitzero"` // that was looked at
	Comments []Comment `json:"comments,omitempty"`
	Resolve  []string  `json:"resolve,omitempty"` // comments that are settled for the person
	Apply    []string  `json:"apply,omitempty"`   // comments whose replacement is to be done
	Approve  bool      `json:"approve,omitzero"`  // Commit may land as far as the person is concerned
}

// Empty reports whether nothing is said.
func (r ChangeReview) Empty() bool {
	return len(r.Comments) == 0 && len(r.Resolve) == 0 && len(r.Apply) == 0 && !r.Approve
}

// CommentReply is what an agent answers to a comment.
type CommentReply string

// The replies. One that is unknown is taken for a question.
const (
	CommentFixed    CommentReply = "fixed"
	CommentDeclined CommentReply = "declined" // with a reason
	CommentAsked    CommentReply = "question" // the agent asks back
	CommentAnswered CommentReply = "answered" // to a question
)

// CommentReplies returns the replies.
func CommentReplies() []CommentReply {
	return []CommentReply{CommentFixed, CommentDeclined, CommentAsked, CommentAnswered}
}

// CommentAnswer is what an agent said to a comment, and what is true of it.
type CommentAnswer struct {
	Comment string       `json:"comment"` // its ID
	Reply   CommentReply `json:"reply"`
	Why     string       `json:"why,omitzero"`
	Changed bool         `json:"changed,omitzero"` // the file, or the lines, changed since it was commented on
}

// ReviewPeople says which changes a person has to review before they land.
type ReviewPeople string

// The levels, the freest first. The zero level is none.
const (
	ReviewNone  ReviewPeople = "none"
	ReviewRisky ReviewPeople = "risky" // those with a file that is risky; see decide/diffreview
	ReviewAll   ReviewPeople = "all"
)

// ReviewLevels returns the levels, the freest first.
func ReviewLevels() []ReviewPeople { return []ReviewPeople{ReviewNone, ReviewRisky, ReviewAll} }

// ChangeRules says what holds for reviews of people in a run. The zero value asks for none, and
// leaves it to people to resolve what they want done.
type ChangeRules struct {
	People ReviewPeople `json:"people,omitzero"`
	Fixed  bool         `json:"fixed,omitzero"` // a must is resolved once a fix of it changed its lines and the gates and reviewers accepted it
}

// ChangeTrigger is the trigger of the question whether a task's change may land.
const ChangeTrigger = "change"

// OneLine returns a text in one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// What becomes of people's comments on changes.
type (
	// WorkReturned returns accepted work that has not landed to its attempt
	// because of people's comments.
	WorkReturned struct {
		Task    TaskID    `json:"task"`
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
		Tell    bool      `json:"tell,omitzero"`   // its author gets the comments
		Apply   []Comment `json:"apply,omitempty"` // comments whose replacements are applied first, without an agent
	}
	// CommentsApplied says which suggested replacements were applied.
	CommentsApplied struct {
		Task    TaskID           `json:"task"`
		Attempt AttemptID        `json:"attempt"`
		Commit  string           `json:"commit"` // the snapshot that has them
		Applied []string         `json:"applied,omitempty"`
		Refused []CommentRefused `json:"refused,omitempty"`
	}
	// CommentsAnswered records the answers of a change's author to comments,
	// and whether they are true.
	CommentsAnswered struct {
		Task    TaskID          `json:"task"`
		Attempt AttemptID       `json:"attempt"`
		Session SessionID       `json:"session"`
		Round   int             `json:"round"`
		Commit  string          `json:"commit"` // that it was submitted with
		Answers []CommentAnswer `json:"answers"`
	}
	// ChangeWeighed says which files of an accepted change are risky. It is
	// recorded if risky changes wait for a person.
	ChangeWeighed struct {
		Attempt AttemptID `json:"attempt"`
		Tree    string    `json:"tree"`
		Risky   []string  `json:"risky,omitempty"` // "FILE: why"
	}
)

// CommentRefused says why a replacement was not done.
type CommentRefused struct {
	Comment string `json:"comment"`
	Why     string `json:"why"`
}

// The causes of rounds that people's comments make.
const (
	PersonCause = "person"     // somebody reviewed the change
	ApplyCause  = "suggestion" // what somebody suggested is done without an agent
	AnswerCause = "answers"    // comments were not answered
)

// Reviser is who does a round without an agent.
const Reviser Role = "person"

// PlacesOf returns comments without what they say.
func PlacesOf(all []Comment) []Comment {
	var places []Comment
	for _, c := range all {
		places = append(places, Comment{ID: c.ID, File: c.File, Side: c.Side, Start: c.Start, End: c.End, Kind: c.Kind, Commit: c.Commit})
	}
	return places
}
