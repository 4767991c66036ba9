package attempt

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// nextEditStep returns the next step of the pipeline for an editor in the attempt, each once,
// whether it is optional, and whether the step of the last round was optional.
func (w *work) nextEditStep() (next string, nextSpare, spare bool) {
	steps := w.Worker.Judge.EditSteps(w.task.Task)
	for _, s := range steps {
		begun := slices.ContainsFunc(w.a.Rounds, func(r *state.Round) bool { return r.Cause == nexus.StepCause+s.Name })
		if !begun && next == "" {
			next, nextSpare = s.Name, s.Optional
		}
	}
	s, ok := w.step(steps)
	return next, nextSpare, ok && s.Optional
}

// step returns the step of the last round. It returns false for a step that is no longer
// configured; such a step has to succeed.
func (w *work) step(steps []config.NamedStep) (config.NamedStep, bool) {
	r := w.a.LastRound()
	if r == nil {
		return config.NamedStep{}, false
	}
	name, is := strings.CutPrefix(r.Cause, nexus.StepCause)
	i := slices.IndexFunc(steps, func(s config.NamedStep) bool { return s.Name == name })
	if !is || i < 0 {
		return config.NamedStep{}, false
	}
	return steps[i], true
}

// editorRole returns the repository's own role that does the step of the last round, or "".
func (w *work) editorRole() nexus.Role {
	s, _ := w.step(w.Worker.Judge.EditSteps(w.task.Task))
	return nexus.Role(s.Role)
}

// editors counts the rounds in which editors did steps.
func editors(a *state.Attempt) (n int) {
	for _, r := range a.Rounds {
		if r.Role == nexus.Editor {
			n++
		}
	}
	return n
}
