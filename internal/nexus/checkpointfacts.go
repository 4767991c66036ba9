package nexus

import "time"

// CheckpointReason is why a checkpoint was made.
type CheckpointReason string

// The reasons.
const (
	ByHand    CheckpointReason = "manual"  // requested by a person
	ByTimer   CheckpointReason = "timer"   // two hours of work have passed
	ByWave    CheckpointReason = "wave"    // all tasks of a wave have ended
	ByRisk    CheckpointReason = "risk"    // a change is about to land that is large or touches important files
	ByPublish CheckpointReason = "publish" // the landed commits are about to be published
	ByFailure CheckpointReason = "failure" // a task failed
)

// CheckpointReasons returns those for which a run makes checkpoints automatically.
func CheckpointReasons() []CheckpointReason {
	return []CheckpointReason{ByWave, ByRisk, ByPublish, ByFailure}
}

// CheckpointPolicy sets which checkpoints a run makes automatically, and how many it keeps. The zero
// Points makes none and keeps all.
type CheckpointPolicy struct {
	On    []CheckpointReason `json:"on,omitempty"`   // see [CheckpointReasons]
	Every time.Duration      `json:"every,omitzero"` // interval in the run's time; 0: no timer
	Keep  int                `json:"keep,omitzero"`  // number of automatic checkpoints to keep, the newest ones; 0: all
	Age   time.Duration      `json:"age,omitzero"`   // age after which nexus clean removes one; 0: never
}

// PinnedAttemptTree is the state of an attempt's files at a checkpoint.
type PinnedAttemptTree struct {
	Attempt AttemptID `json:"attempt"`
	Commit  string    `json:"commit"`
}

// Facts about checkpoints, rewinds and undos.
type (
	// CheckpointMade names the current point of the run. Refs pin the commits that it needs.
	CheckpointMade struct {
		Name   string              `json:"name"`
		Reason CheckpointReason    `json:"reason"`
		Why    string              `json:"why,omitzero"`
		Tip    string              `json:"tip"` // last commit on the run's branch
		Trees  []PinnedAttemptTree `json:"trees,omitempty"`
		By     string              `json:"by,omitzero"` // the person who asked; empty: the run itself
	}
	// CheckpointDropped removes a checkpoint and the refs that pin it.
	CheckpointDropped struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	}
	// RunRewound returns the run to its state after an earlier event. Later events, their
	// cost, names and commits stay on record. Work that was in progress at that point has
	// ended.
	RunRewound struct {
		To         int64  `json:"to"`                  // last event that still applies
		Checkpoint string `json:"checkpoint,omitzero"` // the checkpoint at that event
		Tip        string `json:"tip"`                 // new tip of the run's branch
		From       string `json:"from"`                // earlier tip of the run's branch
		By         string `json:"by"`
	}
	// TaskStateInherited records the state of a task in the run from which this one was forked.
	TaskStateInherited struct {
		Task   TaskID            `json:"task"`
		Status TaskStatus        `json:"status"` // landed, skipped, split, or pending
		Landed *LandingCompleted `json:"landed,omitempty"`
		Parts  []TaskID          `json:"parts,omitempty"` // parts of a split task
		Base   string            `json:"base,omitzero"`   // commit that Work is compared with
		Work   string            `json:"work,omitzero"`   // commit on which its next attempt starts
		Why    string            `json:"why,omitzero"`

		Checks  *CriterionTestsFound      `json:"checks,omitempty"`  // tests that show criteria of the landed change
		Weighed *CriteriaEvidenceRecorded `json:"weighed,omitempty"` // evidence for its criteria
		Waived  []int                     `json:"waived,omitempty"`  // numbers of criteria that a person approved or waived
	}
	// UndoStarted records the intent to revert the changes that tasks landed.
	UndoStarted struct {
		Attempt AttemptID `json:"attempt"` // "undo.1"
		Tasks   []TaskID  `json:"tasks"`   // the last to land comes first
		Onto    string    `json:"onto"`
		By      string    `json:"by"`
	}
	// UndoLanded records that the reverting commit is on the run's branch.
	UndoLanded struct {
		Attempt AttemptID `json:"attempt"`
		Tasks   []TaskID  `json:"tasks"`
		Commit  string    `json:"commit"`
		Tree    string    `json:"tree"` // the tree that the gates passed
		Parent  string    `json:"parent"`
		By      string    `json:"by"`
	}
	// UndoRefused records why the changes are not reverted.
	UndoRefused struct {
		Attempt   AttemptID `json:"attempt"`
		Tasks     []TaskID  `json:"tasks"`
		Why       string    `json:"why"`
		Conflicts []string  `json:"conflicts,omitempty"` // files
		Findings  []Finding `json:"findings,omitempty"`  // of the gates
	}
)

// ForkOrigin identifies the run from which another one was forked.
type ForkOrigin struct {
	Run        RunID  `json:"run"`
	Seq        int64  `json:"seq"`                 // last event that the fork includes
	Checkpoint string `json:"checkpoint,omitzero"` // the checkpoint at that event
	Tip        string `json:"tip"`                 // tip of its branch at that event
	By         string `json:"by"`
}
