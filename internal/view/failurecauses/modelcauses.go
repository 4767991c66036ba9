package failurecauses

import (
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// modelCausePatterns returns the patterns about models, agent programs, quota and money.
func modelCausePatterns() []CausePattern {
	return []CausePattern{
		{"quota", "an account had no quota left", quotaCauses},
		{"quota-held", "a window of an account was nearly used up", nearlyUsedQuotaCauses},
		{"provider-failing", "calls of a model failed repeatedly", failingProviderCauses},
		{"login", "a provider or an agent program does not accept the login", loginCauses},
		{"agent-setup", "an agent program cannot be run as it is set up", agentSetupCauses},
		{"agent-broken", "an agent program crashed, fell silent, or printed garbage", brokenAgentCauses},
		{"budget", "a cap on money or tokens was reached", refusedBudgetCauses},
		{"context-full", "conversations did not fit into the model's context", fullContextCauses},
		{"model-too-weak", "a stronger model did what a weaker one could not", weakModelCauses},
		{"failed-calls", "a model's tool calls failed repeatedly", failedCallCauses},
	}
}

func quotaCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.QuotaExhausted) []factSubject { return subjectIf(true, "", f.Account) }, func(s typedFactGroup[nexus.QuotaExhausted]) KnownCause {
		again := s.lastFact().Until.UTC().Format(time.RFC3339)
		return KnownCause{
			Symptom: fmt.Sprintf("%s had no quota left, %s", s.what, timesText(len(s.at))),
			Why:     fmt.Sprintf("%s; it takes calls again at %s", reasonOrUsual(s.lastFact().Why, "its window is used up"), again),
			Fix: "the run waits by itself; a second model for the tier would continue meanwhile: " +
				fmt.Sprintf("models.balanced = [%q, \"OTHER/MODEL\"]", s.what+"/MODEL"),
		}
	})
}

func nearlyUsedQuotaCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.QuotaNearlyExhausted) []factSubject { return subjectIf(true, "", f.Account) }, func(s typedFactGroup[nexus.QuotaNearlyExhausted]) KnownCause {
		return KnownCause{
			Symptom: "no new session began with " + s.what,
			Why: fmt.Sprintf("its window %s is used by %d %%, "+
				"until %s", s.lastFact().Window, s.lastFact().Used, s.lastFact().Until.UTC().Format(time.RFC3339)),
			Fix: "raise limits.quota, or name another model or agent for the tier",
		}
	})
}

// manyDelays is the number of failed calls of one model that is not random.
const manyDelays = 5

func failingProviderCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, manyDelays, func(f nexus.ModelCallDelayed) []factSubject {
		return subjectIf(f.Try > 0 && f.Why != "out of quota", "", f.Model)
	}, func(s typedFactGroup[nexus.ModelCallDelayed]) KnownCause {
		var waited time.Duration
		for _, f := range s.facts {
			waited += f.Wait
		}
		return KnownCause{
			Symptom: fmt.Sprintf("calls of %s failed %s, and %s were spent waiting", s.what, timesText(len(s.at)), waited.Round(time.Second)),
			Why:     reasonOrUsual(s.lastFact().Said, "its provider is "+s.lastFact().Why),
			Fix:     "nexus doctor tries the provider; a second model for the tier takes over when one fails (models.*)",
		}
	})
}

func loginCauses(r *causeSearchInput) []KnownCause {
	found := causesFromFacts(r, 1, func(f nexus.RunDrainStarted) []factSubject {
		return subjectIf(slices.Contains([]nexus.ErrorCode{nexus.CodeAuth, nexus.CodeNoKey, nexus.CodeKeyUnsafe}, f.Code), "", "")
	}, func(s typedFactGroup[nexus.RunDrainStarted]) KnownCause {
		return KnownCause{
			Blocks:  true,
			Symptom: "the run ended because a provider refused the key",
			Why:     reasonOrUsual(s.lastFact().Why, "the key is wrong, expired, or not there"),
			Fix:     "nexus config key set PROVIDER; then nexus resume",
		}
	})
	return append(found, causesFromFacts(r, 1, func(f nexus.AgentProgramEnded) []factSubject {
		return subjectIf(f.Fault == nexus.FaultLogin, r.taskOfSession(f.Session), f.Agent)
	}, func(s typedFactGroup[nexus.AgentProgramEnded]) KnownCause {
		return KnownCause{
			Symptom: s.what + " was not logged in",
			Why:     reasonOrUsual(s.lastFact().Why, "its login is gone or expired"),
			Fix: "log in with the program itself, then nexus trust agent " + s.what + " and nexus resume; " +
				"nexus agents shows what it lacks",
		}
	})...)
}

func agentSetupCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.AgentProgramEnded) []factSubject {
		return subjectIf(f.Fault == nexus.FaultSetup, r.taskOfSession(f.Session), f.Agent)
	}, func(s typedFactGroup[nexus.AgentProgramEnded]) KnownCause {
		return KnownCause{
			Symptom: s.what + " could not be run",
			Why:     reasonOrUsual(s.lastFact().Why, "a wrong model or an option that it does not know"),
			Fix:     "nexus agents shows its models and version; set agents." + s.what + ".model",
		}
	})
}

func brokenAgentCauses(r *causeSearchInput) []KnownCause {
	broken := []nexus.AgentProgramFault{nexus.FaultSilent, nexus.FaultGarbage, nexus.FaultUnfinished, nexus.FaultCrashed, nexus.FaultLost}
	return causesFromFacts(r, 2, func(f nexus.AgentProgramEnded) []factSubject {
		return subjectIf(slices.Contains(broken, f.Fault), r.taskOfSession(f.Session), f.Agent)
	}, func(s typedFactGroup[nexus.AgentProgramEnded]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("%s did not finish, %s", s.what, timesText(len(s.at))),
			Why:     string(s.lastFact().Fault) + ": " + reasonOrUsual(s.lastFact().Why, "it did not say why"),
			Fix: "nexus logs --follow shows what it printed; " +
				"an older or newer version of it may work (docs/agents.md), or name another agent for the role",
		}
	})
}

func refusedBudgetCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.BudgetRefused) []factSubject {
		return subjectIf(true, f.Task, reasonOrUsual(f.Cap+" "+f.Of, f.Cap))
	}, func(s typedFactGroup[nexus.BudgetRefused]) KnownCause {
		f := s.lastFact()
		why := fmt.Sprintf("%s of %s are spent or reserved, and the next call may cost %s", f.Spent, f.Limit, f.Asked)
		if f.Tokens != nil {
			why = fmt.Sprintf("%d of %d tokens are used or reserved, and the next call may use %d", f.Tokens.Spent, f.Tokens.Limit, f.Tokens.Asked)
		}
		return KnownCause{
			Blocks:  f.Task == "" && r.state.Status == nexus.StatusLimit,
			Symptom: "the cap " + s.what + " refused a call",
			Why:     why,
			Fix:     raiseCapHint(f),
		}
	})
}

// raiseCapHint returns instructions for raising a cap.
func raiseCapHint(f nexus.BudgetRefused) string {
	switch f.Cap {
	case "run":
		return "nexus resume --budget USD raises it; nexus cost shows the costs"
	case "role", "provider":
		return "raise budget." + f.Cap + "s." + f.Of + "; nexus cost --by " + f.Cap + " shows the costs"
	default:
		return "raise budget." + f.Cap + "; nexus cost shows the costs"
	}
}

func fullContextCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 2, func(f nexus.SessionCompacted) []factSubject {
		return subjectIf(true, r.taskOfSession(f.Session), string(f.Session))
	}, func(s typedFactGroup[nexus.SessionCompacted]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the conversation %s had to be shortened %s", s.what, timesText(len(s.at))),
			Why:     reasonOrUsual(s.lastFact().Why, "it does not fit into the model's context"),
			Fix: "plan smaller tasks, or use a model with a larger context; " +
				"nexus prompt " + s.what + " shows what fills it",
		}
	})
}

func weakModelCauses(r *causeSearchInput) []KnownCause {
	return withoutEmptyCauses(causesFromFacts(r, 1, func(f nexus.TaskEscalated) []factSubject {
		return subjectIf(f.From != f.To, f.Task, "")
	}, func(s typedFactGroup[nexus.TaskEscalated]) KnownCause {
		t := r.state.TaskByID(s.task)
		if t == nil || t.Landed == nil {
			return KnownCause{}
		}
		from := s.facts[0].From
		fix := fmt.Sprintf("start such tasks at %s: routing.%s, or tier in the plan", t.Tier, "medium")
		if t.Route != nil && t.Route.Complexity != "" {
			fix = fmt.Sprintf("start such tasks at %s: routing.%s = %q, or tier in the plan", t.Tier, t.Route.Complexity, t.Tier)
		}
		return KnownCause{
			Symptom: fmt.Sprintf("%s could not do it, %s could", from, t.Tier),
			Why:     "the model of the tier " + string(from) + " is too weak for it: " + firstLine(s.facts[0].Why),
			Fix:     fix,
		}
	}))
}

// manyFailed is the number of failed calls of one tool in a session that is not random.
const manyFailed = 10

func failedCallCauses(r *causeSearchInput) []KnownCause {
	type call struct {
		session nexus.SessionID
		id      string
	}
	tools := map[call]string{}
	for _, e := range r.events {
		if f, ok := e.Fact.(nexus.ToolCallStarted); ok {
			tools[call{f.Session, f.Call}] = f.Tool
		}
	}
	return causesFromFacts(r, manyFailed, func(f nexus.ToolCallEnded) []factSubject {
		return subjectIf(f.Failed && !f.Judged.Refused, r.taskOfSession(f.Session), string(f.Session)+": "+tools[call{f.Session, f.Call}])
	}, func(s typedFactGroup[nexus.ToolCallEnded]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("calls of a tool failed %s in %s", timesText(len(s.at)), s.what),
			Why:     reasonOrUsual(s.lastFact().About, "the model does not call the tool as it is described"),
			Fix:     "nexus logs shows the calls; another model for the tier may do better (nexus models)",
		}
	})
}
