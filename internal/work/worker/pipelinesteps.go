package worker

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

// pipelineStepGates returns the commands of pipeline steps that judge a tree, as gates. They are not
// compared with the base: a step applies to each task on its own.
func (j *TreeJudge) pipelineStepGates(c TreeJudgeRequest) []gate.QualityGate {
	if c.Task.ID == "" {
		return nil
	}
	var all []gate.QualityGate
	for _, s := range j.Steps {
		if s.Run == "" || !s.AppliesTo(c.Task.Kind) || s.When == config.BeforeLand && !c.Paid {
			continue
		}
		g := detect.GateFromCommand(s.GateName(), s.Run)
		g.Optional = s.Optional
		all = append(all, g)
	}
	return all
}

// HasLandingSteps reports whether commands of pipeline steps judge a task's work only when it
// lands.
func (j *TreeJudge) HasLandingSteps(t nexus.Task) bool {
	return slices.ContainsFunc(j.Steps, func(s config.NamedPipelineStep) bool { return s.When == config.BeforeLand && s.AppliesTo(t.Kind) })
}

// IsLandingStep reports whether a gate is the command of a step that judges work only when it
// lands.
func (j *TreeJudge) IsLandingStep(gate string) bool {
	return slices.ContainsFunc(j.Steps, func(s config.NamedPipelineStep) bool { return s.When == config.BeforeLand && s.GateName() == gate })
}

// StepReviewers returns the additional readers of a task's changes.
func (j *TreeJudge) StepReviewers(t nexus.Task) []review.ReviewPersona {
	var all []review.ReviewPersona
	for _, s := range j.Steps {
		if s.Ask != "" && s.AppliesTo(t.Kind) {
			charge := "Look only for this: " + strings.TrimSuffix(s.Ask, ".") + "."
			p := review.ReviewPersona{Name: s.Name, Charge: charge, Categories: []string{s.Name}}
			if p.Role = nexus.Role(s.Role); s.Role != "" {
				p.Charge += " " + ownReader
			}
			all = append(all, p)
		}
	}
	return all
}

// ownReader are the instructions for a reader with a role of the repository's own, which the
// built-in reviewer's prompt contains already.
const ownReader = "Report what you can point at: file, line as it is now, what is wrong, and what to do instead. " +
	"Critical and major findings keep the change from landing; minor ones and suggestions are reported. " +
	"Submit approved, a summary of one or two sentences, and the findings, worst first. " +
	"Do not approve what has a critical or major finding."

// EditSteps returns the steps in which an editor changes a task's work, in their order.
func (j *TreeJudge) EditSteps(t nexus.Task) []config.NamedPipelineStep {
	return slices.DeleteFunc(slices.Clone(j.Steps), func(s config.NamedPipelineStep) bool { return s.Edit == "" || !s.AppliesTo(t.Kind) })
}

// StepCommands describes the commands of pipeline steps that will judge a task's work, for its
// agent.
func (j *TreeJudge) StepCommands(t nexus.Task) []string {
	var all []string
	for _, s := range j.Steps {
		if s.Run != "" && s.AppliesTo(t.Kind) && !s.Optional {
			all = append(all, s.Run)
		}
	}
	return all
}
