package causes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ofMachine returns the patterns about the machine and agents' permissions on it.
func ofMachine() []Pattern {
	return []Pattern{
		{"missing-tool", "a gate could not run because of the machine", missingTool},
		{"missing-dependencies", "the dependencies of the project are not installed", missingDependencies},
		{"host-refused", "commands asked for a host that is not allowed", hostRefused},
		{"permission", "an agent repeatedly tried actions that are not allowed", permission},
		{"disk-full", "there was no space left", diskFull},
		{"process-lost", "the process of an attempt died more than once", processLost},
		{"machinery", "Nexus itself, git or the sandbox failed", machinery},
	}
}

func missingTool(r *record) []Cause {
	return causes(r, 1, func(f nexus.GateJudged) []mark {
		return only(f.Evidence.State == nexus.Environmental && !f.Evidence.Lingered(), r.gated(f), f.Evidence.Gate)
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the gate %s could not judge, %s", s.what, times(len(s.at))),
			Why:     given(s.last().Evidence.Why, "a tool that it needs is missing, or has no room to work"),
			Fix:     "nexus doctor says what this machine lacks; install it, then nexus resume",
		}
	})
}

func missingDependencies(r *record) []Cause {
	return causes(r, 1, func(f nexus.GateJudged) []mark {
		return only(f.Evidence.State == nexus.MissingAsset, r.gated(f), f.Evidence.Gate)
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the gate %s lacks what the project depends on", s.what),
			Why:     given(s.last().Evidence.Why, "the dependencies cannot be had without a network"),
			Fix: "nexus doctor; set environment.install, " +
				"or network.mode = \"list\" with network.presets and network.gates",
		}
	})
}

// gated returns the task for which a gate judged.
func (r *record) gated(f nexus.GateJudged) nexus.TaskID {
	if f.Task != "" {
		return f.Task
	}
	return r.attempt(f.Attempt)
}

func hostRefused(r *record) []Cause {
	return causes(r, 1, func(f nexus.NetworkJudged) []mark {
		task := r.attempt(f.Attempt)
		if f.Session != "" {
			task = r.session(f.Session)
		}
		var all []mark
		for _, h := range f.Hosts {
			if !h.Allowed {
				all = append(all, mark{task, h.Host})
			}
		}
		slices.SortStableFunc(all, func(a, b mark) int { return strings.Compare(a.what, b.what) })
		return slices.Compact(all)
	}, func(s typedGroup[nexus.NetworkJudged]) Cause {
		why := "no rule of network.allow names it"
		for _, h := range s.last().Hosts {
			if h.Host == s.what && !h.Allowed && h.Rule != "" {
				why = "the rule " + h.Rule + " refuses it"
			}
		}
		return Cause{
			Symptom: fmt.Sprintf("commands asked for %s and did not reach it, %s", s.what, times(len(s.at))),
			Why:     why,
			Fix: fmt.Sprintf("if they need it, add it to network.allow in your own config.toml: allow = [%q]; "+
				"docs/security.md", s.what),
		}
	})
}

// manyDenials is the number of refusals by one rule that is not random.
const manyDenials = 3

func permission(r *record) []Cause {
	return causes(r, manyDenials, func(f nexus.ToolAnswered) []mark {
		return only(f.Judged.Refused, r.session(f.Session), f.Judged.Rule)
	}, func(s typedGroup[nexus.ToolAnswered]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("calls were refused %s by the rule %s", times(len(s.at)), s.what),
			Why:     given(s.last().Judged.Why, "the policy does not allow it") + ", and the agent does not find another way",
			Fix: "nexus policy check -- COMMAND explains the rule; policy.allow in your own config.toml lifts it, " +
				"or nexus tell " + name(s.task) + " names another way",
		}
	})
}

func diskFull(r *record) []Cause {
	full := func(text string) bool {
		return strings.Contains(text, "no space left") || strings.Contains(text, "disk quota exceeded")
	}
	found := causes(r, 1, func(f nexus.AttemptBroken) []mark {
		return only(full(f.Why), r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptBroken]) Cause {
		return Cause{Symptom: "an attempt ended because nothing could be written", Why: s.last().Why, Fix: freeRoom}
	})
	return append(found, causes(r, 1, func(f nexus.RunDrained) []mark {
		return only(f.Code == nexus.CodeDiskFull || full(f.Why), "", "")
	}, func(s typedGroup[nexus.RunDrained]) Cause {
		return Cause{
			Blocks:  true,
			Symptom: "the run ended because nothing could be written",
			Why:     given(s.last().Why, "the disk is full"),
			Fix:     freeRoom,
		}
	})...)
}

const freeRoom = "make room, with nexus clean for worktrees that no run needs; then nexus resume"

func processLost(r *record) []Cause {
	return causes(r, 2, func(f nexus.AttemptLost) []mark {
		return only(f.Counted, r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptLost]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the process of %s died %s", s.last().Attempt, times(len(s.at))),
			Why: given(s.last().Why, "it was killed from outside") + "; " +
				"often the machine has too little memory for so many at once",
			Fix: "lower limits.parallel; dmesg shows whether the kernel killed it for its memory",
		}
	})
}

func machinery(r *record) []Cause {
	return causes(r, 1, func(f nexus.AttemptBroken) []mark {
		return only(!strings.Contains(f.Why, "no space left"), r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptBroken]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("an attempt could not be carried out, %s", times(len(s.at))),
			Why:     s.last().Why,
			Fix:     "nexus doctor; then nexus retry " + name(s.task),
		}
	})
}

// given returns the recorded reason, or else the usual one.
func given(why, usual string) string {
	return cmp.Or(firstLine(why), usual)
}

// name returns a task as an argument of a command.
func name(task nexus.TaskID) string {
	if task == "" {
		return "TASK"
	}
	return string(task)
}
