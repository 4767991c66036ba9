// Package route estimates the complexity of a task, and chooses its starting tier.
//
// The strategies are consulted in the run's order, and the first answer counts; the keyword
// strategy always answers. Only the complexity is a judgement: the tier follows from it by
// the run's own table, so that an earlier judgement stays usable when the table changes.
//
// Stats summarizes the results of earlier runs of the repository, for estimates. Their
// lessons about tiers are in the lessons of the run.
package route

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Names of the strategies.
const (
	Manual   = "manual"   // the plan's value for the task or its kind
	Adaptive = "adaptive" // the cheapest tier by the results of earlier runs
	Model    = "model"    // a model's answer
	Keyword  = "keyword"  // the words of the task
	Plugin   = "plugin"   // a plugin's answer
	Budget   = "budget"   // not a strategy: money runs out, and tasks that have not begun start at a lower tier
)

// StrategyNames returns the strategies that people can put into an order. [PutPluginsFirst] adds one
// more.
func StrategyNames() []string { return []string{Manual, Adaptive, Model, Keyword} }

// PutPluginsFirst returns an order in which plugins come first, after the values in the plan,
// which come from a person or the planner.
func PutPluginsFirst(order []string) []string {
	at := 0
	if len(order) > 0 && order[0] == Manual {
		at = 1
	}
	return slices.Insert(slices.Clone(order), at, Plugin)
}

// startTierFunc answers for a task, or returns false if it has no answer. [ChooseStartTier] fills in By and
// Task.
type startTierFunc func(t nexus.Task) (nexus.StartTierChosen, bool)

// ChooseStartTier consults the strategies of a routing in their order. Told is the answer of a model
// or a plugin about the task, or nil.
func ChooseStartTier(r nexus.StartTierRules, t nexus.Task, told *nexus.ComplexityRating) nexus.StartTierChosen {
	for _, name := range r.Order {
		if f, ok := strategyByName(name, r, told)(t); ok {
			return completeTierChoice(f, name, r, t)
		}
	}
	f, _ := keywordTier(t)
	return completeTierChoice(f, Keyword, r, t)
}

// NeedsComplexityAnswer reports whether a model or a plugin must be asked about a task because no earlier
// strategy in the order answers.
func NeedsComplexityAnswer(r nexus.StartTierRules, t nexus.Task) bool {
	return isAskedFirst(r, t, Plugin) || isAskedFirst(r, t, Model)
}

// NeedsPlugin reports whether plugins must be asked about a task.
func NeedsPlugin(r nexus.StartTierRules, t nexus.Task) bool { return isAskedFirst(r, t, Plugin) }

// NeedsModel reports whether a model must be asked about a task that no plugin has answered.
func NeedsModel(r nexus.StartTierRules, t nexus.Task) bool { return isAskedFirst(r, t, Model) }

func isAskedFirst(r nexus.StartTierRules, t nexus.Task, asked string) bool {
	for _, name := range r.Order {
		if name == asked {
			return true
		}
		if _, ok := strategyByName(name, r, nil)(t); ok {
			return false
		}
	}
	return false
}

func strategyByName(name string, r nexus.StartTierRules, told *nexus.ComplexityRating) startTierFunc {
	switch name {
	case Manual:
		return manualTier(r)
	case Adaptive:
		return adaptiveTier(r)
	case Model, Plugin:
		if told != nil && (told.Plugin != "") != (name == Plugin) {
			told = nil
		}
		return answeredTier(told)
	default:
		return keywordTier
	}
}

// completeTierChoice completes an answer: the tier follows from the complexity unless the strategy chose
// one.
func completeTierChoice(f nexus.StartTierChosen, by string, r nexus.StartTierRules, t nexus.Task) nexus.StartTierChosen {
	f.Task, f.By = t.ID, cmp.Or(f.By, by)
	f.Tier = cmp.Or(f.Tier, StartTierOf(r, f.Complexity))
	return f
}

// StartTierOf returns the starting tier of a complexity.
func StartTierOf(r nexus.StartTierRules, c nexus.Complexity) nexus.Tier {
	if t := r.Tiers[c]; t != "" {
		return t
	}
	switch c {
	case nexus.Expert, nexus.Complex:
		return nexus.Strong
	case nexus.Medium:
		return nexus.Balanced
	default:
		return nexus.Fast
	}
}

// manualTier uses the plan's values for the task, or the run's for its kind.
func manualTier(r nexus.StartTierRules) startTierFunc {
	return func(t nexus.Task) (nexus.StartTierChosen, bool) {
		looks, _ := keywordTier(t)
		f := nexus.StartTierChosen{Complexity: cmp.Or(t.Complexity, looks.Complexity), Tier: t.Tier}
		kind := cmp.Or(t.Kind, nexus.CodeTask)
		switch {
		case t.Tier != "":
			f.Why = fmt.Sprintf("the plan says %s", t.Tier)
		case t.Complexity != "":
			f.Why = fmt.Sprintf("the plan says %s", t.Complexity)
		case r.Kinds[kind] != "":
			f.Tier, f.Why = r.Kinds[kind], fmt.Sprintf("tasks of kind %s start there", kind)
		default:
			return nexus.StartTierChosen{}, false
		}
		return f, true
	}
}

// answeredTier uses the answer of a model or a plugin.
func answeredTier(told *nexus.ComplexityRating) startTierFunc {
	return func(nexus.Task) (nexus.StartTierChosen, bool) {
		if told == nil || !told.Complexity.IsKnown() {
			return nexus.StartTierChosen{}, false
		}
		f := nexus.StartTierChosen{Complexity: told.Complexity, Why: cmp.Or(told.Why, "no reason given")}
		if told.Plugin != "" {
			f.By, f.Tier, f.Strategy = Plugin+" "+told.Plugin, told.Tier, told.Strategy
		}
		return f, true
	}
}
