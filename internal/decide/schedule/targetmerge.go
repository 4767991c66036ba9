package schedule

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// maxHome is the maximum number of merges onto a target that keeps moving while the merged
// tree is judged.
const maxHome = 20

// mergeOntoTarget merges the landed commits onto a target that moved, or records why not.
func mergeOntoTarget(s *state.State) []nexus.Fact {
	onto, w := s.TargetMerge.Moved.Commit, s.TargetMerge.Work
	refuse := func(why string) []nexus.Fact { return factList(nexus.TargetMergeRefused{Onto: onto, Why: why}) }
	sought := nexus.TargetMergeStarted{Attempt: nexus.AttemptID(fmt.Sprintf("land.%d", s.TargetMerge.Tries+1)), Target: s.TargetMerge.Moved.Target, Onto: onto}
	same := w != nil && w.Base == onto
	switch {
	case isWorking(w):
		return nil
	case s.Drain != nil:
		return refuse("the run is ending: " + s.Drain.Why)
	case s.OverCap != nil:
		return refuse(ReachedCapText(*s.OverCap))
	case same && w.Broken:
		return refuse(w.Why)
	case same && w.Stage == state.Waiting && isLostTooOften(s, w):
		return refuse(fmt.Sprintf("merging was interrupted %d times", w.Losses))
	case same && w.Stage == state.Waiting:
		sought.Attempt = w.ID
	case s.TargetMerge.Tries >= maxHome:
		return refuse(fmt.Sprintf("the branch moved %d times while the merged tree was judged", maxHome))
	}
	return factList(sought)
}
