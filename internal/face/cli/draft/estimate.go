package draft

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/graph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// What a task is taken to need where nobody measured: a rule of thumb, which
// says so wherever it is shown.
const (
	usual       = 15     // minutes of a task without an estimate
	begin       = 6      // turns that a coder needs besides one a minute
	reviewTurns = 4      // turns of a reviewer
	fresh       = 1_500  // tokens that a turn adds to the prompt
	known       = 12_000 // tokens of the prompt that the cache holds
	said        = 500    // tokens of an answer
)

// Price returns what tokens cost that a role uses for a task; false where it
// is not known.
type Price func(role nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool)

// Estimate returns what a plan is thought to take with so many attempts at
// once. Most is what the run can spend at the worst: its budget.
func Estimate(p nexus.Plan, parallel int, most nexus.Money, price Price) nexus.Estimate {
	e := nexus.Estimate{Most: most}
	priced := price != nil
	for _, t := range p.Tasks {
		n := t.Minutes
		if n == 0 {
			n = usual
		}
		e.Work += n
		if !priced {
			continue
		}
		coder, ok := price(nexus.Coder, t, turns(begin+n))
		reviewer, both := price(nexus.Reviewer, t, turns(reviewTurns))
		e.Money += coder + reviewer
		priced = ok && both
	}
	if !priced {
		e.Money = 0
	}
	e.Minutes = max(longest(p), (e.Work+max(parallel, 1)-1)/max(parallel, 1))
	return e
}

// turns returns the tokens of so many turns of a conversation.
func turns(n int) nexus.Usage {
	k := int64(n)
	return nexus.Usage{Input: fresh * k, CacheRead: known * k, Output: said * k}
}

// longest returns the minutes of the longest path of the plan.
func longest(p nexus.Plan) int {
	g, err := graph.New(p.Tasks)
	if err != nil {
		return 0
	}
	most := 0
	for _, n := range g.Rank(func(t nexus.Task) int {
		if t.Minutes == 0 {
			return usual
		}
		return t.Minutes
	}) {
		most = max(most, n)
	}
	return most
}

// Words says an estimate in words.
func Words(e nexus.Estimate) string {
	text := fmt.Sprintf("estimate: %d min of work, about %d min", e.Work, e.Minutes)
	if e.Money > 0 {
		text += " and " + e.Money.String()
	}
	return text + "; at the worst " + e.Most.String() + ", the budget"
}
