// Package route estimates how hard a task is, and chooses the tier at which
// work on it starts.
//
// The strategies are asked in the order that the run was given, and the first
// that answers wins; the keyword strategy always answers. Only the complexity
// is a judgement: the tier follows from it by the run's own table, so that a
// judgement of last week keeps its worth when the table changes.
//
// Stats sums up what earlier runs of the repository came to, for estimates. What they
// teach about tiers is in the lessons of the run.
package route

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The strategies.
const (
	Manual   = "manual"   // what the plan says about the task or of its kind
	Adaptive = "adaptive" // what is cheapest by the result of earlier runs
	Model    = "model"    // what a model said about it
	Keyword  = "keyword"  // what its words say
	Plugin   = "plugin"   // what a plugin said about it
	Budget   = "budget"   // not a strategy: money runs out, and what has not begun begins lower
)

// Orders returns the strategies that people put into an order. [WithPlugins] adds
// one more.
func Orders() []string { return []string{Manual, Adaptive, Model, Keyword} }

// WithPlugins returns an order in which plugins are asked before anything but
// what the plan says, which is a person's or the planner's word.
func WithPlugins(order []string) []string {
	at := 0
	if len(order) > 0 && order[0] == Manual {
		at = 1
	}
	return slices.Insert(slices.Clone(order), at, Plugin)
}

// tierFunc answers for a task, or reports false when it has nothing to say. By and
// Task of the answer are filled in by [Choose].
type tierFunc func(t nexus.Task) (nexus.TaskRouted, bool)

// Choose asks the strategies of a routing in their order. Told is what a model or
// a plugin said about the task, nil when none was asked or it said nothing.
func Choose(r nexus.Routing, t nexus.Task, told *nexus.Route) nexus.TaskRouted {
	for _, name := range r.Order {
		if f, ok := strategy(name, r, told)(t); ok {
			return fill(f, name, r, t)
		}
	}
	f, _ := keyword(t)
	return fill(f, Keyword, r, t)
}

// Asks reports whether a model or a plugin is asked about a task: whether the
// turn of either comes before another strategy answers.
func Asks(r nexus.Routing, t nexus.Task) bool { return needs(r, t, Plugin) || needs(r, t, Model) }

// NeedsPlugin reports whether plugins are asked about a task.
func NeedsPlugin(r nexus.Routing, t nexus.Task) bool { return needs(r, t, Plugin) }

// NeedsModel reports whether a model is asked about a task where no plugin said
// anything about it.
func NeedsModel(r nexus.Routing, t nexus.Task) bool { return needs(r, t, Model) }

func needs(r nexus.Routing, t nexus.Task, asked string) bool {
	for _, name := range r.Order {
		if name == asked {
			return true
		}
		if _, ok := strategy(name, r, nil)(t); ok {
			return false
		}
	}
	return false
}

func strategy(name string, r nexus.Routing, told *nexus.Route) tierFunc {
	switch name {
	case Manual:
		return manual(r)
	case Adaptive:
		return adaptive(r)
	case Model, Plugin:
		if told != nil && (told.Plugin != "") != (name == Plugin) {
			told = nil
		}
		return saidBy(told)
	default:
		return keyword
	}
}

// fill completes an answer: the tier follows from the complexity unless the
// strategy chose one.
func fill(f nexus.TaskRouted, by string, r nexus.Routing, t nexus.Task) nexus.TaskRouted {
	f.Task, f.By = t.ID, cmp.Or(f.By, by)
	f.Tier = cmp.Or(f.Tier, TierOf(r, f.Complexity))
	return f
}

// TierOf returns the tier where work of a complexity begins.
func TierOf(r nexus.Routing, c nexus.Complexity) nexus.Tier {
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

// manual takes what the plan says about the task, or the run of its kind.
func manual(r nexus.Routing) tierFunc {
	return func(t nexus.Task) (nexus.TaskRouted, bool) {
		looks, _ := keyword(t)
		f := nexus.TaskRouted{Complexity: cmp.Or(t.Complexity, looks.Complexity), Tier: t.Tier}
		kind := cmp.Or(t.Kind, nexus.CodeTask)
		switch {
		case t.Tier != "":
			f.Why = fmt.Sprintf("the plan says %s", t.Tier)
		case t.Complexity != "":
			f.Why = fmt.Sprintf("the plan says %s", t.Complexity)
		case r.Kinds[kind] != "":
			f.Tier, f.Why = r.Kinds[kind], fmt.Sprintf("tasks of kind %s start there", kind)
		default:
			return nexus.TaskRouted{}, false
		}
		return f, true
	}
}

// saidBy takes what a model or a plugin said.
func saidBy(told *nexus.Route) tierFunc {
	return func(nexus.Task) (nexus.TaskRouted, bool) {
		if told == nil || !told.Complexity.Known() {
			return nexus.TaskRouted{}, false
		}
		f := nexus.TaskRouted{Complexity: told.Complexity, Why: cmp.Or(told.Why, "no reason given")}
		if told.Plugin != "" {
			f.By, f.Tier, f.Strategy = Plugin+" "+told.Plugin, told.Tier, told.Strategy
		}
		return f, true
	}
}
