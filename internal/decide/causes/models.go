package causes

import (
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ofModels returns the patterns about models, agent programs, quota and money.
func ofModels() []Pattern {
	return []Pattern{
		{"quota", "an account had no quota left", quota},
		{"quota-held", "a window of an account was nearly used up", quotaHeld},
		{"provider-failing", "calls of a model failed repeatedly", providerFailing},
		{"login", "a provider or an agent program does not accept the login", login},
		{"agent-setup", "an agent program cannot be run as it is set up", agentSetup},
		{"agent-broken", "an agent program crashed, fell silent, or printed garbage", agentBroken},
		{"budget", "a cap on money or tokens was reached", budgetRefused},
		{"context-full", "conversations did not fit into the model's context", contextFull},
		{"model-too-weak", "a stronger model did what a weaker one could not", tooWeak},
		{"failed-calls", "a model's tool calls failed repeatedly", failedCalls},
	}
}

func quota(r *record) []Cause {
	return causes(r, 1, func(f nexus.QuotaHit) []mark { return only(true, "", f.Account) }, func(s typedGroup[nexus.QuotaHit]) Cause {
		again := s.last().Until.UTC().Format(time.RFC3339)
		return Cause{
			Symptom: fmt.Sprintf("%s had no quota left, %s", s.what, times(len(s.at))),
			Why:     fmt.Sprintf("%s; it takes calls again at %s", given(s.last().Why, "its window is used up"), again),
			Fix: "the run waits by itself; a second model for the tier would continue meanwhile: " +
				fmt.Sprintf("models.balanced = [%q, \"OTHER/MODEL\"]", s.what+"/MODEL"),
		}
	})
}

func quotaHeld(r *record) []Cause {
	return causes(r, 1, func(f nexus.QuotaHeld) []mark { return only(true, "", f.Account) }, func(s typedGroup[nexus.QuotaHeld]) Cause {
		return Cause{
			Symptom: "no new session began with " + s.what,
			Why: fmt.Sprintf("its window %s is used by %d %%, "+
				"until %s", s.last().Window, s.last().Used, s.last().Until.UTC().Format(time.RFC3339)),
			Fix: "raise limits.quota, or name another model or agent for the tier",
		}
	})
}

// manyDelays is the number of failed calls of one model that is not random.
const manyDelays = 5

func providerFailing(r *record) []Cause {
	return causes(r, manyDelays, func(f nexus.CallDelayed) []mark {
		return only(f.Try > 0 && f.Why != "out of quota", "", f.Model)
	}, func(s typedGroup[nexus.CallDelayed]) Cause {
		var waited time.Duration
		for _, f := range s.facts {
			waited += f.Wait
		}
		return Cause{
			Symptom: fmt.Sprintf("calls of %s failed %s, and %s were spent waiting", s.what, times(len(s.at)), waited.Round(time.Second)),
			Why:     given(s.last().Said, "its provider is "+s.last().Why),
			Fix:     "nexus doctor tries the provider; a second model for the tier takes over when one fails (models.*)",
		}
	})
}

func login(r *record) []Cause {
	found := causes(r, 1, func(f nexus.RunDrained) []mark {
		return only(slices.Contains([]nexus.Code{nexus.CodeAuth, nexus.CodeNoKey, nexus.CodeKeyUnsafe}, f.Code), "", "")
	}, func(s typedGroup[nexus.RunDrained]) Cause {
		return Cause{
			Blocks:  true,
			Symptom: "the run ended because a provider refused the key",
			Why:     given(s.last().Why, "the key is wrong, expired, or not there"),
			Fix:     "nexus config key set PROVIDER; then nexus resume",
		}
	})
	return append(found, causes(r, 1, func(f nexus.AgentEnded) []mark {
		return only(f.Fault == nexus.FaultLogin, r.session(f.Session), f.Agent)
	}, func(s typedGroup[nexus.AgentEnded]) Cause {
		return Cause{
			Symptom: s.what + " was not logged in",
			Why:     given(s.last().Why, "its login is gone or expired"),
			Fix: "log in with the program itself, then nexus trust agent " + s.what + " and nexus resume; " +
				"nexus agents shows what it lacks",
		}
	})...)
}

func agentSetup(r *record) []Cause {
	return causes(r, 1, func(f nexus.AgentEnded) []mark {
		return only(f.Fault == nexus.FaultSetup, r.session(f.Session), f.Agent)
	}, func(s typedGroup[nexus.AgentEnded]) Cause {
		return Cause{
			Symptom: s.what + " could not be run",
			Why:     given(s.last().Why, "a wrong model or an option that it does not know"),
			Fix:     "nexus agents shows its models and version; set agents." + s.what + ".model",
		}
	})
}

func agentBroken(r *record) []Cause {
	broken := []nexus.Fault{nexus.FaultSilent, nexus.FaultGarbage, nexus.FaultUnfinished, nexus.FaultCrashed, nexus.FaultLost}
	return causes(r, 2, func(f nexus.AgentEnded) []mark {
		return only(slices.Contains(broken, f.Fault), r.session(f.Session), f.Agent)
	}, func(s typedGroup[nexus.AgentEnded]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("%s did not finish, %s", s.what, times(len(s.at))),
			Why:     string(s.last().Fault) + ": " + given(s.last().Why, "it did not say why"),
			Fix: "nexus logs --follow shows what it printed; " +
				"an older or newer version of it may work (docs/agents.md), or name another agent for the role",
		}
	})
}

func budgetRefused(r *record) []Cause {
	return causes(r, 1, func(f nexus.BudgetRefused) []mark {
		return only(true, f.Task, given(f.Cap+" "+f.Of, f.Cap))
	}, func(s typedGroup[nexus.BudgetRefused]) Cause {
		f := s.last()
		why := fmt.Sprintf("%s of %s are spent or reserved, and the next call may cost %s", f.Spent, f.Limit, f.Asked)
		if f.Tokens != nil {
			why = fmt.Sprintf("%d of %d tokens are used or reserved, and the next call may use %d", f.Tokens.Spent, f.Tokens.Limit, f.Tokens.Asked)
		}
		return Cause{
			Blocks:  f.Task == "" && r.state.Status == nexus.StatusLimit,
			Symptom: "the cap " + s.what + " refused a call",
			Why:     why,
			Fix:     capFix(f),
		}
	})
}

// capFix returns instructions for raising a cap.
func capFix(f nexus.BudgetRefused) string {
	switch f.Cap {
	case "run":
		return "nexus resume --budget USD raises it; nexus cost shows the costs"
	case "role", "provider":
		return "raise budget." + f.Cap + "s." + f.Of + "; nexus cost --by " + f.Cap + " shows the costs"
	default:
		return "raise budget." + f.Cap + "; nexus cost shows the costs"
	}
}

func contextFull(r *record) []Cause {
	return causes(r, 2, func(f nexus.SessionCompacted) []mark {
		return only(true, r.session(f.Session), string(f.Session))
	}, func(s typedGroup[nexus.SessionCompacted]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the conversation %s had to be shortened %s", s.what, times(len(s.at))),
			Why:     given(s.last().Why, "it does not fit into the model's context"),
			Fix: "plan smaller tasks, or use a model with a larger context; " +
				"nexus prompt " + s.what + " shows what fills it",
		}
	})
}

func tooWeak(r *record) []Cause {
	return told(causes(r, 1, func(f nexus.TaskEscalated) []mark {
		return only(f.From != f.To, f.Task, "")
	}, func(s typedGroup[nexus.TaskEscalated]) Cause {
		t := r.state.Task(s.task)
		if t == nil || t.Landed == nil {
			return Cause{}
		}
		from := s.facts[0].From
		fix := fmt.Sprintf("start such tasks at %s: routing.%s, or tier in the plan", t.Tier, "medium")
		if t.Route != nil && t.Route.Complexity != "" {
			fix = fmt.Sprintf("start such tasks at %s: routing.%s = %q, or tier in the plan", t.Tier, t.Route.Complexity, t.Tier)
		}
		return Cause{
			Symptom: fmt.Sprintf("%s could not do it, %s could", from, t.Tier),
			Why:     "the model of the tier " + string(from) + " is too weak for it: " + firstLine(s.facts[0].Why),
			Fix:     fix,
		}
	}))
}

// manyFailed is the number of failed calls of one tool in a session that is not random.
const manyFailed = 10

func failedCalls(r *record) []Cause {
	type call struct {
		session nexus.SessionID
		id      string
	}
	tools := map[call]string{}
	for _, e := range r.events {
		if f, ok := e.Fact.(nexus.ToolCalled); ok {
			tools[call{f.Session, f.Call}] = f.Tool
		}
	}
	return causes(r, manyFailed, func(f nexus.ToolAnswered) []mark {
		return only(f.Failed && !f.Judged.Refused, r.session(f.Session), string(f.Session)+": "+tools[call{f.Session, f.Call}])
	}, func(s typedGroup[nexus.ToolAnswered]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("calls of a tool failed %s in %s", times(len(s.at)), s.what),
			Why:     given(s.last().About, "the model does not call the tool as it is described"),
			Fix:     "nexus logs shows the calls; another model for the tier may do better (nexus models)",
		}
	})
}
