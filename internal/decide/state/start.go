package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// StartCheck is whether hooks let the process that conducts the run work on it. Each process asks
// again. The zero Start means that there are no hooks.
type StartCheck struct {
	Stage StartStage
	Why   string // why not
	Again bool   // another process conducted the run before
}

// StartStage is the progress of asking the hooks.
type StartStage int

// Values of StartStage.
const (
	StartFree    StartStage = iota // no hook must be asked, or all agreed
	StartUnasked                   // hooks are still to be asked
	StartAsked                     // they are being asked
	StartRefused                   // a hook refused
)

// applyStart applies the hooks' answers about the start.
func (s *State) applyStart(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RunStarted:
		s.Start = StartCheck{Stage: startStage(f.Hooks)}
	case nexus.RunRecovered:
		s.Start = StartCheck{Stage: startStage(f.Hooks), Again: true}
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
