package failurecauses

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// machineCausePatterns returns the patterns about the machine and agents' permissions on it.
func machineCausePatterns() []CausePattern {
	return []CausePattern{
		{"missing-tool", "a gate could not run because of the machine", missingToolCauses},
		{"missing-dependencies", "the dependencies of the project are not installed", missingDependencyCauses},
		{"host-refused", "commands asked for a host that is not allowed", refusedHostCauses},
		{"permission", "an agent repeatedly tried actions that are not allowed", permissionCauses},
		{"disk-full", "there was no space left", fullDiskCauses},
		{"process-lost", "the process of an attempt died more than once", lostProcessCauses},
		{"machinery", "Nexus itself, git or the sandbox failed", internalFailureCauses},
	}
}

func missingToolCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		return subjectIf(f.Evidence.State == nexus.Environmental && !f.Evidence.WasRunnerStopped(), r.taskOfGate(f), f.Evidence.Gate)
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the gate %s could not judge, %s", s.what, timesText(len(s.at))),
			Why:     reasonOrUsual(s.lastFact().Evidence.Why, "a tool that it needs is missing, or has no room to work"),
			Fix:     "nexus doctor says what this machine lacks; install it, then nexus resume",
		}
	})
}

func missingDependencyCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		return subjectIf(f.Evidence.State == nexus.MissingAsset, r.taskOfGate(f), f.Evidence.Gate)
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the gate %s lacks what the project depends on", s.what),
			Why:     reasonOrUsual(s.lastFact().Evidence.Why, "the dependencies cannot be had without a network"),
			Fix: "nexus doctor; set environment.install, " +
				"or network.mode = \"list\" with network.allow and network.gates",
		}
	})
}

// taskOfGate returns the task for which a gate judged.
func (r *causeSearchInput) taskOfGate(f nexus.GateJudged) nexus.TaskID {
	if f.Task != "" {
		return f.Task
	}
	return r.taskOfAttempt(f.Attempt)
}

func refusedHostCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.NetworkRequestsRecorded) []factSubject {
		task := r.taskOfAttempt(f.Attempt)
		if f.Session != "" {
			task = r.taskOfSession(f.Session)
		}
		var all []factSubject
		for _, h := range f.Hosts {
			if !h.Allowed {
				all = append(all, factSubject{task, h.Host})
			}
		}
		slices.SortStableFunc(all, func(a, b factSubject) int { return strings.Compare(a.what, b.what) })
		return slices.Compact(all)
	}, func(s typedFactGroup[nexus.NetworkRequestsRecorded]) KnownCause {
		why := "no rule of network.allow names it"
		for _, h := range s.lastFact().Hosts {
			if h.Host == s.what && !h.Allowed && h.Rule != "" {
				why = "the rule " + h.Rule + " refuses it"
			}
		}
		return KnownCause{
			Symptom: fmt.Sprintf("commands asked for %s and did not reach it, %s", s.what, timesText(len(s.at))),
			Why:     why,
			Fix: fmt.Sprintf("if they need it, add it to network.allow in your own config.toml: allow = [%q]; "+
				"docs/security.md", s.what),
		}
	})
}

// manyDenials is the number of refusals by one rule that is not random.
const manyDenials = 3

func permissionCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, manyDenials, func(f nexus.ToolCallEnded) []factSubject {
		return subjectIf(f.Judged.Refused, r.taskOfSession(f.Session), f.Judged.Rule)
	}, func(s typedFactGroup[nexus.ToolCallEnded]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("calls were refused %s by the rule %s", timesText(len(s.at)), s.what),
			Why:     reasonOrUsual(s.lastFact().Judged.Why, "the policy does not allow it") + ", and the agent does not find another way",
			Fix: "nexus policy check -- COMMAND explains the rule; policy.allow in your own config.toml lifts it, " +
				"or nexus tell " + taskArgument(s.task) + " names another way",
		}
	})
}

func fullDiskCauses(r *causeSearchInput) []KnownCause {
	full := func(text string) bool {
		return strings.Contains(text, "no space left") || strings.Contains(text, "disk quota exceeded")
	}
	found := causesFromFacts(r, 1, func(f nexus.AttemptInfrastructureFailed) []factSubject {
		return subjectIf(full(f.Why), r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptInfrastructureFailed]) KnownCause {
		return KnownCause{Symptom: "an attempt ended because nothing could be written", Why: s.lastFact().Why, Fix: freeRoom}
	})
	return append(found, causesFromFacts(r, 1, func(f nexus.RunDrainStarted) []factSubject {
		return subjectIf(f.Code == nexus.CodeDiskFull || full(f.Why), "", "")
	}, func(s typedFactGroup[nexus.RunDrainStarted]) KnownCause {
		return KnownCause{
			Blocks:  true,
			Symptom: "the run ended because nothing could be written",
			Why:     reasonOrUsual(s.lastFact().Why, "the disk is full"),
			Fix:     freeRoom,
		}
	})...)
}

const freeRoom = "make room, with nexus clean for worktrees that no run needs; then nexus resume"

func lostProcessCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 2, func(f nexus.AttemptLost) []factSubject {
		return subjectIf(f.Counted, r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptLost]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the process of %s died %s", s.lastFact().Attempt, timesText(len(s.at))),
			Why: reasonOrUsual(s.lastFact().Why, "it was killed from outside") + "; " +
				"often the machine has too little memory for so many at once",
			Fix: "lower limits.parallel; dmesg shows whether the kernel killed it for its memory",
		}
	})
}

func internalFailureCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.AttemptInfrastructureFailed) []factSubject {
		return subjectIf(!strings.Contains(f.Why, "no space left"), r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptInfrastructureFailed]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("an attempt could not be carried out, %s", timesText(len(s.at))),
			Why:     s.lastFact().Why,
			Fix:     "nexus doctor; then nexus retry " + taskArgument(s.task),
		}
	})
}

// reasonOrUsual returns the recorded reason, or else the usual one.
func reasonOrUsual(why, usual string) string {
	return cmp.Or(firstLine(why), usual)
}

// taskArgument returns a task as an argument of a command.
func taskArgument(task nexus.TaskID) string {
	if task == "" {
		return "TASK"
	}
	return string(task)
}
