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
func (w *attemptWork) nextEditStep() (next string, nextSpare, spare bool) {
	steps := w.Worker.Judge.EditSteps(w.task.Task)
	for _, s := range steps {
		begun := slices.ContainsFunc(w.a.Rounds, func(r *state.AttemptRound) bool { return r.Cause == nexus.StepCause+s.Name })
		if !begun && next == "" {
			next, nextSpare = s.Name, s.Optional
		}
	}
	s, ok := w.currentStep(steps)
	return next, nextSpare, ok && s.Optional
}

// currentStep returns the step of the last round. It returns false for a step that is no longer
// configured; such a step has to succeed.
func (w *attemptWork) currentStep(steps []config.NamedPipelineStep) (config.NamedPipelineStep, bool) {
	r := w.a.LastRound()
	if r == nil {
		return config.NamedPipelineStep{}, false
	}
	name, is := strings.CutPrefix(r.Cause, nexus.StepCause)
	i := slices.IndexFunc(steps, func(s config.NamedPipelineStep) bool { return s.Name == name })
	if !is || i < 0 {
		return config.NamedPipelineStep{}, false
	}
	return steps[i], true
}

// editorRole returns the repository's own role that does the step of the last round, or "".
func (w *attemptWork) editorRole() nexus.Role {
	s, _ := w.currentStep(w.Worker.Judge.EditSteps(w.task.Task))
	return nexus.Role(s.Role)
}

// countEditorRounds counts the rounds in which editors did steps.
func countEditorRounds(a *state.AttemptState) (n int) {
	for _, r := range a.Rounds {
		if r.Role == nexus.Editor {
			n++
		}
	}
	return n
}
