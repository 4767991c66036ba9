package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Start says whether hooks let the process that conducts the run work on it.
// Each process asks anew. The zero Start is that there are none.
type Start struct {
	Stage StartStage
	Why   string // why not
	Again bool   // another process conducted the run before
}

// StartStage is how far asking the hooks came.
type StartStage int

// The stages.
const (
	StartFree    StartStage = iota // nobody has to be asked, or all agree
	StartUnasked                   // hooks are to be asked
	StartAsked                     // they are being asked
	StartRefused                   // one refused
)

// applyStart folds what hooks say about the start.
func (s *State) applyStart(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RunStarted:
		s.Start = Start{Stage: startStage(f.Hooks)}
	case nexus.RunRecovered:
		s.Start = Start{Stage: startStage(f.Hooks), Again: true}
	case nexus.StartSought:
		s.Start.Stage = StartAsked
	case nexus.StartJudged:
		s.Start.Stage, s.Start.Why = StartFree, f.Why
		if !f.Allowed {
			s.Start.Stage = StartRefused
		}
	default:
	}
}

func startStage(hooks bool) StartStage {
	if hooks {
		return StartUnasked
	}
	return StartFree
}
