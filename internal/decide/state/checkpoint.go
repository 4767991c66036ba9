package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunCheckpoint is a named point of the run.
type RunCheckpoint struct {
	nexus.CheckpointMade
	Seq     int64 // sequence number of its last event
	At      time.Time
	Worked  time.Duration // the run's working time up to it
	Dropped string        // why it was removed; empty while it exists
	Undone  bool          // a rewind went back to before it
}

// ChangedSinceCheckpoint reports whether anything happened since the last checkpoint.
func (s *State) ChangedSinceCheckpoint() bool { return s.stirred }

// trackChange records whether anything happened since the last checkpoint.
func (s *State) trackChange(f nexus.Fact) {
	switch f.(type) {
	case nexus.CheckpointMade:
		s.stirred = false
	case nexus.CheckpointDropped, nexus.RequestMade, nexus.RequestSettled:
	default:
		s.stirred = true
	}
}

// applyCheckpoint applies facts about checkpoints that are made and removed.
func (s *State) applyCheckpoint(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.CheckpointMade:
		c := RunCheckpoint{CheckpointMade: f, Seq: e.Seq, At: e.At}
		if !s.Started.IsZero() {
			c.Worked = s.WorkedTime(e.At)
		}
		s.Checkpoints = append(s.Checkpoints, &c)
	case nexus.CheckpointDropped:
		if c := s.CheckpointByName(f.Name); c != nil {
			c.Dropped = f.Why
		}
	default:
	}
}

// CheckpointByName returns the checkpoint with this name, or nil if there is none.
func (s *State) CheckpointByName(name string) *RunCheckpoint {
	i := slices.IndexFunc(s.Checkpoints, func(c *RunCheckpoint) bool { return c.Name == name && c.Dropped == "" })
	if i < 0 {
		return nil
	}
	return s.Checkpoints[i]
}

// ActiveCheckpoints returns the checkpoints that were not removed, in order.
func (s *State) ActiveCheckpoints() []*RunCheckpoint {
	var all []*RunCheckpoint
	for _, c := range s.Checkpoints {
		if c.Dropped == "" {
			all = append(all, c)
		}
	}
	return all
}

// UnlandedSnapshots returns the last snapshots of the attempts that have not ended, in the
// plan's order.
func (s *State) UnlandedSnapshots() []nexus.PinnedAttemptTree {
	var all []nexus.PinnedAttemptTree
	for _, t := range s.Tasks {
		a := t.CurrentAttempt()
		if a == nil || t.Status == nexus.Landed || t.Status == nexus.Split {
			continue
		}
		if commit := a.Snapshot.Commit; commit != "" {
			all = append(all, nexus.PinnedAttemptTree{Attempt: a.ID, Commit: commit})
		}
	}
	return all
}
