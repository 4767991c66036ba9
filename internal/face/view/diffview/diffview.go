// Package diffview shows people a task's change so that they can review it: its
// files by risk, what they have seen, what they and the agent said, and what
// changed since they last looked.
//
// It is what nexus review TASK --json prints, and what every other face draws.
package diffview

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Review is a task's change with all that a face shows of it.
type Review struct {
	Run     nexus.RunID      `json:"run"`
	Task    nexus.TaskID     `json:"task"`
	Title   string           `json:"title"`
	Status  nexus.TaskStatus `json:"status"`
	Attempt nexus.AttemptID  `json:"attempt"`
	Round   int              `json:"round"`  // of the attempt, from 1
	Base    string           `json:"base"`   // commit before the change
	Commit  string           `json:"commit"` // commit after it; what comments are about
	Added   int              `json:"added"`  // lines
	Deleted int              `json:"deleted"`

	Files    []File              `json:"files"`             // the riskiest first
	Comments []Comment           `json:"comments"`          // in the order in which they were made
	Drafts   []Draft             `json:"drafts,omitempty"`  // addComments of the person that are not sent yet
	Must     []string            `json:"must"`              // addComments that keep the change from landing
	Wanted   string              `json:"wanted,omitzero"`   // why a person has to review it before it lands; empty: nobody has to
	Approved string              `json:"approved,omitzero"` // who let this commit land; empty: nobody
	Question string              `json:"question,omitzero"` // that waits in the inbox for whether it may land
	Seen     int                 `json:"seen"`              // addFiles that are viewed as they are
	Since    *ChangesSinceReview `json:"since,omitempty"`   // what changed since the person's last review; nil: there was none
	Cut      bool                `json:"cut,omitzero"`      // the diff was too long, and its end is left out
	Landed   string              `json:"landed,omitzero"`   // commit on the run's branch; comments are too late then
	Open     bool                `json:"open"`              // addComments can be made
	Why      string              `json:"why_not,omitzero"`  // why they cannot
	Worktree string              `json:"worktree,omitzero"` // where the attempt works
}

// File is a file of the change.
type File struct {
	diffreview.File
	Risk      diffreview.Risk `json:"risk"`
	Reasons   []string        `json:"reasons"`            // why it is where it is in the order
	Collapsed bool            `json:"collapsed"`          // it is written by a program: nobody reads it line by line
	Hash      string          `json:"hash"`               // of its content; what viewed is about
	Viewed    bool            `json:"viewed"`             // the person has seen it as it is
	Reopened  bool            `json:"reopened,omitzero"`  // the person saw it, and it changed since
	Comments  []string        `json:"comments,omitempty"` // IDs of comments that are in it
}

// Comment is what a person said, and what became of it.
type Comment struct {
	nexus.Comment
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	State    string    `json:"state"`             // open, told, answered, applied, resolved, refused
	Resolved string    `json:"resolved,omitzero"` // by whom
	Answers  []Answer  `json:"answers,omitempty"` // oldest first
	Refused  string    `json:"refused,omitzero"`  // why its replacement was not done
	Note     string    `json:"note,omitzero"`     // what a face should say beside it, such as: says fixed, nothing changed there
	Line     int       `json:"line,omitzero"`     // where its first line is now, on its side; 0: it is gone, or it is about no line
}

// Draft is a comment that is not sent yet.
type Draft struct {
	nexus.Comment
	Line int `json:"line,omitzero"` // as in [Comment]
}

// Answer is what an agent said to a comment.
type Answer struct {
	nexus.CommentAnswer
	Attempt nexus.AttemptID `json:"attempt"`
	Round   int             `json:"round"`
	Commit  string          `json:"commit"` // that the agent submitted with it
	At      time.Time       `json:"at"`
}

// ChangesSinceReview is what changed since a person's last review.
type ChangesSinceReview struct {
	Base    string            `json:"base"`   // of the change that was reviewed
	Commit  string            `json:"commit"` // that was reviewed
	At      time.Time         `json:"at"`
	Rebased bool              `json:"rebased,omitzero"` // the base moved meanwhile: what came with that is left out
	Why     string            `json:"why,omitzero"`     // why it cannot be told for some files
	Files   []diffreview.File `json:"files"`
}
