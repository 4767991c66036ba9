package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// PipelineSection is the prefix of the keys of pipeline steps.
const PipelineSection = "pipeline."

// RoleInstruction is the ask or edit value of a step that only names its role.
const RoleInstruction = "what your role says"

// BeforeLand is the time of a command that runs only on the result that is about to land.
const BeforeLand = "before-land"

// PipelineStepSettings is a step on the work on tasks of some kinds once it is written; see docs/gates.md. It runs
// a command, asks a reviewer, or has an editor change files.
type PipelineStepSettings struct {
	Types    []string // kinds of tasks; empty: all
	Run      string   // command line
	Ask      string   // instruction for a reviewer of the change
	Edit     string   // instruction for an editor of the change
	Role     string   // role of the project that reviews or edits
	When     string   // after-gates or before-land; empty: after-gates
	Optional bool     // its result is only reported
}

// NamedPipelineStep is a step with its name.
type NamedPipelineStep struct {
	Name string
	PipelineStepSettings
}

// GateName returns the gate name of a step's command.
func (s NamedPipelineStep) GateName() string { return nexus.StepGate + s.Name }

// AppliesTo reports whether a step applies to tasks of a kind; the zero kind is code.
func (s NamedPipelineStep) AppliesTo(k nexus.TaskKind) bool {
	return len(s.Types) == 0 || slices.Contains(s.Types, string(cmp.Or(k, nexus.CodeTask)))
}

// Summary describes a step in one line.
func (s NamedPipelineStep) Summary() string {
	who := "an editor"
	if s.Role != "" {
		who = "the role " + s.Role + " edits"
	}
	switch {
	case s.Ask != "" && s.Role == "":
		return s.Name + ": a reviewer looks for: " + s.Ask
	case s.Ask == RoleInstruction:
		return s.Name + ": the role " + s.Role + " reviews"
	case s.Ask != "":
		return s.Name + ": the role " + s.Role + " looks for: " + s.Ask
	}
	text := s.Name + ": " + s.Run
	if s.Edit == RoleInstruction {
		text = s.Name + ": " + who
	} else if s.Edit != "" {
		text = s.Name + ": " + who + ": " + s.Edit
	}
	if s.When == BeforeLand {
		text += ", before it lands"
	}
	if s.Optional {
		text += ", optional"
	}
	return text
}

// PipelineSteps returns the steps, sorted by name. An invalid step is an error.
func (c Config) PipelineSteps() ([]NamedPipelineStep, error) {
	var all []NamedPipelineStep
	for _, name := range slices.Sorted(maps.Keys(c.Steps)) {
		s := NamedPipelineStep{name, c.Steps[name]}
		if why := s.check(c); why != "" {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("pipeline.%s: %s", name, why),
				Hint: `Write, for example, types = ["code"] and run = "make docs-check"; docs/gates.md explains it.`,
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// check returns why a step is invalid as declared, or "".
func (s NamedPipelineStep) check(c Config) string {
	switch {
	case s.Run+s.Ask+s.Edit+s.Role == "":
		return "it has neither a command (run) nor something that a reviewer looks for (ask), " +
			"nor something for an editor to do (edit), nor a role"
	case s.Role != "" && s.Run != "":
		return "it has both run and role, and no role runs a command of the pipeline; make two steps of it"
	case s.Role != "" && !valuekind.IsSettingName(s.Role):
		return fmt.Sprintf("%q is no name of a role; use letters, digits, - and _", s.Role)
	case s.Role != "" && s.When == BeforeLand:
		return "a role takes part before the work lands, so when has no effect; remove it"
	case s.Run != "" && s.Ask != "":
		return "it has both run and ask; make two steps of it"
	case s.Edit != "" && s.Run+s.Ask != "":
		return "it has edit and run or ask; make two steps of it"
	case s.Edit != "" && s.When == BeforeLand:
		return "what an editor changes is judged and reviewed again, so when has no effect; remove it"
	case (s.Ask != "" || s.Role != "") && slices.Contains(ReviewPersonas(), s.Name):
		return "there is a reviewer of that name (review.personas); give it another one"
	case s.Ask != "" && s.When == BeforeLand:
		return "a reviewer reads in each review, so when has no effect; remove it"
	case s.Ask != "" && s.Optional:
		return "findings of a reviewer count by their severity, so required has no effect; remove it"
	case c.Gates.Commands[s.GateName()] != "":
		return "there is a gate " + s.GateName() + "; give one of them another name"
	}
	return ""
}

func pipelineKeys() []SettingKey {
	steps := func(c *Config) *map[string]PipelineStepSettings { return &c.Steps }
	required := newMapFieldKey("pipeline.*.required", valuekind.BooleanKind(),
		"false: a failure of its command is reported, but the work can land; a failed change of an editor is undone; "+
			"the default is true",
		steps, func(s *PipelineStepSettings) *bool { return &s.Optional })
	set, get := required.set, required.get
	required.set = func(c *Config, of string, v any) { set(c, of, v == false) }
	required.get = func(c Config) []settingKeyValue {
		all := get(c)
		for i := range all {
			all[i].value = all[i].value == false
		}
		return all
	}
	return []SettingKey{
		newMapFieldKey("pipeline.*.run", valuekind.TextLineKind(),
			"command of this step, run by sh in the sandbox as gates are, for tasks of its types (docs/gates.md); it passes when it exits 0",
			steps, func(s *PipelineStepSettings) *string { return &s.Run }),
		newMapFieldKey("pipeline.*.ask", valuekind.TextLineKind(),
			"instructions for an additional reviewer of these tasks, instead of a command. A step with ask from the project's file needs nexus trust",
			steps, func(s *PipelineStepSettings) *string { return &s.Ask }),
		newMapFieldKey("pipeline.*.edit", valuekind.TextLineKind(),
			"instructions for the role editor, which changes the work on these tasks once it is green; gates and reviewers check its change, too. "+
				"A step with edit from the project's file needs nexus trust",
			steps, func(s *PipelineStepSettings) *string { return &s.Edit }),
		newMapFieldKey("pipeline.*.role", valuekind.TextLineKind(),
			"the project's own role that does this step: .nexus/roles/NAME.md, or an agent of .claude/agents. "+
				"A role that writes nothing reviews the change; any other role edits it; "+
				"ask or edit may give it more instructions. Its file needs nexus trust",
			steps, func(s *PipelineStepSettings) *string { return &s.Role }),
		newMapFieldKey("pipeline.*.types", valuekind.NameListKind(string(nexus.CodeTask), string(nexus.TestTask), string(nexus.DocsTask)),
			"kinds of tasks that the step is for; if empty, all", steps, func(s *PipelineStepSettings) *[]string { return &s.Types }),
		newMapFieldKey("pipeline.*.when", valuekind.OneOfKind("after-gates", BeforeLand),
			"after-gates: the command runs after the gates of each round, and when work lands; before-land: only when it lands",
			steps, func(s *PipelineStepSettings) *string { return &s.When }),
		required,
	}
}
