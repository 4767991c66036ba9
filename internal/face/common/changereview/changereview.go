// Package changereview prepares a task's change for people's review: its files by risk, the viewed
// files, the comments and answers, and the changes since the last review.
//
// It is the JSON output of nexus review TASK, and the source of every other display of a review.
package changereview

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TaskChangeReview is a task's change with everything that is shown about it.
type TaskChangeReview struct {
	Run     nexus.RunID      `json:"run"`
	Task    nexus.TaskID     `json:"task"`
	Title   string           `json:"title"`
	Status  nexus.TaskStatus `json:"status"`
	Attempt nexus.AttemptID  `json:"attempt"`
	Round   int              `json:"round"`  // of the attempt, from 1
	Base    string           `json:"base"`   // commit before the change
	Commit  string           `json:"commit"` // commit after it, which comments refer to
	Added   int              `json:"added"`  // lines
	Deleted int              `json:"deleted"`

	Files    []ReviewedFile      `json:"files"`             // the riskiest first
	Comments []ShownComment      `json:"comments"`          // in the order in which they were made
	Drafts   []DraftComment      `json:"drafts,omitempty"`  // the person's unsent comments
	Must     []string            `json:"must"`              // comments that prevent the change from landing
	Wanted   string              `json:"wanted,omitzero"`   // why a person must review it before it lands; empty: not required
	Approved string              `json:"approved,omitzero"` // who approved this commit; empty: nobody
	Question string              `json:"question,omitzero"` // open question whether it may land
	Seen     int                 `json:"seen"`              // number of files viewed in their current version
	Since    *ChangesSinceReview `json:"since,omitempty"`   // changes since the last review; nil: no earlier review
	Cut      bool                `json:"cut,omitzero"`      // the diff was too long, and its end is missing
	Landed   string              `json:"landed,omitzero"`   // commit on the run's branch; comments are too late then
	Open     bool                `json:"open"`              // comments are possible
	Why      string              `json:"why_not,omitzero"`  // why comments are not possible
	Worktree string              `json:"worktree,omitzero"` // where the attempt works
}

// ReviewedFile is a file of the change.
type ReviewedFile struct {
	diffreview.DiffFile
	Risk      diffreview.FileRisk `json:"risk"`
	Reasons   []string            `json:"reasons"`            // reasons for its position in the order
	Collapsed bool                `json:"collapsed"`          // it is generated: nobody reads it line by line
	Hash      string              `json:"hash"`               // of its content, for the viewed mark
	Viewed    bool                `json:"viewed"`             // the person viewed its current version
	Reopened  bool                `json:"reopened,omitzero"`  // the person viewed an earlier version
	Comments  []string            `json:"comments,omitempty"` // IDs of its comments
}

// ShownComment is a person's comment, and its result.
type ShownComment struct {
	nexus.ReviewComment
	By       string               `json:"by"`
	At       time.Time            `json:"at"`
	State    string               `json:"state"`             // open, told, answered, applied, resolved, refused
	Resolved string               `json:"resolved,omitzero"` // by whom
	Answers  []ShownCommentAnswer `json:"answers,omitempty"` // oldest first
	Refused  string               `json:"refused,omitzero"`  // why its replacement was not applied
	Note     string               `json:"note,omitzero"`     // remark, such as: says fixed, nothing changed there
	Line     int                  `json:"line,omitzero"`     // current first line, on its side; 0: the line is gone, or there is none
}

// DraftComment is an unsent comment.
type DraftComment struct {
	nexus.ReviewComment
	Line int `json:"line,omitzero"` // as in [ShownComment]
}

// ShownCommentAnswer is an agent's answer to a comment.
type ShownCommentAnswer struct {
	nexus.CommentAnswer
	Attempt nexus.AttemptID `json:"attempt"`
	Round   int             `json:"round"`
	Commit  string          `json:"commit"` // submitted with the answer
	At      time.Time       `json:"at"`
}

// ChangesSinceReview holds the changes since a person's last review.
type ChangesSinceReview struct {
	Base    string                `json:"base"`   // of the reviewed change
	Commit  string                `json:"commit"` // the reviewed commit
	At      time.Time             `json:"at"`
	Rebased bool                  `json:"rebased,omitzero"` // the base moved; its changes are left out
	Why     string                `json:"why,omitzero"`     // why it is unknown for some files
	Files   []diffreview.DiffFile `json:"files"`
}
