package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// StartHookCheck is whether hooks let the process that conducts the run work on it. Each process asks
// again. The zero value means that there are no hooks.
type StartHookCheck struct {
	Stage StartHookStage
	Why   string // why not
	Again bool   // another process conducted the run before
}

// StartHookStage is the progress of asking the hooks.
type StartHookStage int

// Values of StartHookStage.
const (
	StartFree    StartHookStage = iota // no hook must be asked, or all agreed
	StartUnasked                       // hooks are still to be asked
	StartAsked                         // they are being asked
	StartRefused                       // a hook refused
)

// applyStart applies the hooks' answers about the start.
func (s *State) applyStart(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RunStarted:
		s.Start = StartHookCheck{Stage: initialStartStage(f.Hooks)}
	case nexus.RunRecovered:
		s.Start = StartHookCheck{Stage: initialStartStage(f.Hooks), Again: true}
	case nexus.StartHooksAsked:
		s.Start.Stage = StartAsked
	case nexus.StartHooksAnswered:
		s.Start.Stage, s.Start.Why = StartFree, f.Why
		if !f.Allowed {
			s.Start.Stage = StartRefused
		}
	default:
	}
}

func initialStartStage(hooks bool) StartHookStage {
	if hooks {
		return StartUnasked
	}
	return StartFree
}
