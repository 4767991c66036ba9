package nexus

import "time"

// Reason is why a checkpoint was made.
type Reason string

// The reasons.
const (
	ByHand    Reason = "manual"  // somebody asked
	ByTimer   Reason = "timer"   // the time of checkpoint.every was over
	ByWave    Reason = "wave"    // all tasks of a wave have ended
	ByRisk    Reason = "risk"    // a change is about to land that is large, or touches what decides much
	ByPublish Reason = "publish" // what landed is about to be published
	ByFailure Reason = "failure" // a task is given up
)

// Reasons returns those for which a run makes checkpoints by itself.
func Reasons() []Reason { return []Reason{ByWave, ByRisk, ByPublish, ByFailure} }

// Points records which checkpoints a run makes by itself, and which it keeps. The
// zero Points makes none and keeps all.
type Points struct {
	On    []Reason      `json:"on,omitempty"`   // see [Reasons]
	Every time.Duration `json:"every,omitzero"` // of the run's time; 0: no timer
	Keep  int           `json:"keep,omitzero"`  // of those that it made by itself, the last; 0: all
	Age   time.Duration `json:"age,omitzero"`   // after which nexus clean drops one; 0: never
}

// PinnedTree is the state of an attempt's files at a checkpoint.
type PinnedTree struct {
	Attempt AttemptID `json:"attempt"`
	Commit  string    `json:"commit"`
}

// Points to go back to, and going back.
type (
	// CheckpointMade gives the current point of the run a name. Refs pin the
	// commits that it needs.
	CheckpointMade struct {
		Name   string       `json:"name"`
		Reason Reason       `json:"reason"`
		Why    string       `json:"why,omitzero"`
		Tip    string       `json:"tip"` // last commit on the run's branch
		Trees  []PinnedTree `json:"trees,omitempty"`
		By     string       `json:"by,omitzero"` // who asked; empty: the run itself
	}
	// CheckpointDropped removes a checkpoint and the refs that pin it.
	CheckpointDropped struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	}
	// RunRewound takes the run back to its state after an earlier event. Later
	// events, their cost, names and commits stay on record. Work that was in
	// progress at that point is over.
	RunRewound struct {
		To         int64  `json:"to"`                  // the last event that still applies
		Checkpoint string `json:"checkpoint,omitzero"` // the checkpoint at that event
		Tip        string `json:"tip"`                 // where the run's branch goes
		From       string `json:"from"`                // where it was
		By         string `json:"by"`
	}
	// TaskInherited gives the state of a task in the run that this one was
	// forked from.
	TaskInherited struct {
		Task   TaskID       `json:"task"`
		Status TaskStatus   `json:"status"` // landed, skipped, split, or pending
		Landed *TrainLanded `json:"landed,omitempty"`
		Parts  []TaskID     `json:"parts,omitempty"` // of a split one
		Base   string       `json:"base,omitzero"`   // that Work is compared with
		Work   string       `json:"work,omitzero"`   // commit that its next attempt starts from
		Why    string       `json:"why,omitzero"`

		Checks  *ChecksProved    `json:"checks,omitempty"`  // tests that show criteria of what landed
		Weighed *CriteriaWeighed `json:"weighed,omitempty"` // what shows its criteria
		Waived  []int            `json:"waived,omitempty"`  // numbers of criteria that a person signed off or waived
	}
	// UndoSought records the intent to revert what tasks landed.
	UndoSought struct {
		Attempt AttemptID `json:"attempt"` // "undo.1"
		Tasks   []TaskID  `json:"tasks"`   // the last to land first
		Onto    string    `json:"onto"`
		By      string    `json:"by"`
	}
	// UndoLanded records that the commit that reverts it is on the run's branch.
	UndoLanded struct {
		Attempt AttemptID `json:"attempt"`
		Tasks   []TaskID  `json:"tasks"`
		Commit  string    `json:"commit"`
		Tree    string    `json:"tree"` // the tree that the gates passed
		Parent  string    `json:"parent"`
		By      string    `json:"by"`
	}
	// UndoRefused records why it stays.
	UndoRefused struct {
		Attempt   AttemptID `json:"attempt"`
		Tasks     []TaskID  `json:"tasks"`
		Why       string    `json:"why"`
		Conflicts []string  `json:"conflicts,omitempty"` // files
		Findings  []Finding `json:"findings,omitempty"`  // of the gates
	}
)

// Fork records which run another one began from.
type Fork struct {
	Run        RunID  `json:"run"`
	Seq        int64  `json:"seq"`                 // the last event that it takes over
	Checkpoint string `json:"checkpoint,omitzero"` // the checkpoint at that event
	Tip        string `json:"tip"`                 // of its branch then
	By         string `json:"by"`
}
