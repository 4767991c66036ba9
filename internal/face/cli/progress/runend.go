package progress

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// runEndError returns the exit of a command for the final state of its run.
func runEndError(s *state.State, v view.RunView) error {
	switch {
	case (s.Status == nexus.StatusFailed || s.Status == nexus.StatusStopped) && s.Drain != nil && s.Drain.Code != "":
		return console.ExitError(console.ErrorExitCode(s.Drain.Code))
	case s.Status != nexus.StatusDone && hasUnapprovedWork(s):
		return console.ExitError(console.CodePerson)
	case v.Stayed != "" && s.Status == nexus.StatusDone:
		return console.ExitError(console.CodePartial) // the target was to move along
	default:
		return console.RunEndError(s.Status)
	}
}

// SayPaused names the tasks that people paused, for a person who wants a run to continue.
func SayPaused(a *console.Console, s *state.State) {
	if s == nil {
		return
	}
	for _, t := range s.Tasks {
		if t.IsPaused() {
			a.Say("%s is paused by %s; nexus resume %s lets it continue", t.ID, view.EscapeForTerminal(t.Paused.By), t.ID)
		}
	}
}

// hasUnapprovedWork reports whether work was skipped because nobody was available to agree to it.
func hasUnapprovedWork(s *state.State) bool {
	for _, q := range s.Questions {
		if q.By != "fallback" || q.Fallback != nexus.Unapproved {
			continue
		}
		if q.AsksToPublish() && s.Published != nil && s.Published.Branch == "" {
			return true
		}
		for _, t := range s.Tasks {
			a := t.CurrentAttempt()
			if t.Status == nexus.Parked && a != nil && (q.Attempt == a.ID || q.Attempt == state.MergerAttemptID(a.ID)) {
				return true
			}
		}
	}
	return false
}
