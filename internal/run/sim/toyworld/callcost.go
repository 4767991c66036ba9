package toyworld

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// plannedModelCall is a call before it is made.
type plannedModelCall struct {
	model   string
	request llm.Request
	worst   nexus.Money
}

// SimulatedCallPrices holds the prices of calls: the real pricing, with made-up models. Without a tariff
// every call is reserved at [Worst].
type SimulatedCallPrices struct {
	prices *llm.PriceTable
	text   string // prompts are parts of it
}

// longest is the length of the longest prompt, in bytes.
const longest = 400_000

// NewCallPrices returns prices with all properties of real ones: two providers, long prompts that
// cost more, caches, expensive hours, and a price that rises in the course of the run.
func NewCallPrices(begins time.Time) (*SimulatedCallPrices, error) {
	rises := begins.Add(24 * time.Hour).Format(time.DateOnly)
	rate := func(in nexus.Money, r llm.TokenPriceRate) llm.TokenPriceRate {
		r.Input, r.Output, r.CacheRead, r.CacheWrite = in*nexus.Dollar, in*5*nexus.Dollar, in*nexus.Dollar/10, in*nexus.Dollar*5/4
		return r
	}
	prices, err := llm.LoadPrices(map[string]llm.ModelTableEntry{
		"toy/*":   {Rates: []llm.TokenPriceRate{rate(3, llm.TokenPriceRate{}), rate(6, llm.TokenPriceRate{Above: 100_000}), rate(12, llm.TokenPriceRate{Above: 200_000})}},
		"spare/*": {Rates: []llm.TokenPriceRate{rate(2, llm.TokenPriceRate{}), rate(4, llm.TokenPriceRate{Hours: [][2]int{{8, 20}}}), rate(9, llm.TokenPriceRate{From: rises})}},
	})
	return &SimulatedCallPrices{prices, strings.Repeat(" ", longest)}, err
}

// nextCall returns the next call of a session, and its worst-case cost.
func (x *SimulatedWorker) nextCall(s *state.AgentSessionState) plannedModelCall {
	t := x.scenario.Tariff
	if t == nil {
		return plannedModelCall{worst: Worst}
	}
	o := plannedModelCall{model: s.Model}
	o.request.System = t.text[:min(longest, 2_000+x.drawIndex(60_000)+s.Turns*x.drawIndex(80_000))]
	o.request.MaxTokens = int64(1_000 + x.drawIndex(15_000))
	o.worst = x.worstCost(o)
	return o
}

// worstCost returns the worst-case cost of a call made now.
func (x *SimulatedWorker) worstCost(o plannedModelCall) nexus.Money {
	if x.scenario.Tariff == nil {
		return o.worst
	}
	worst, _ := x.scenario.Tariff.prices.WorstCost(o.model, o.request, llm.BillingTerms{}, x.Now())
	return worst
}

// actualCost returns the provider's charge for a call that ends well. The model may write more than
// it was asked for, up to half as much again.
func (x *SimulatedWorker) actualCost(o plannedModelCall, now time.Time) nexus.Money {
	loose := x.scenario.overshoot && x.drawIndex(10) < x.scenario.loose
	t := x.scenario.Tariff
	switch {
	case t == nil && loose:
		return Worst / 100 * nexus.Money(101+x.drawIndex(50))
	case t == nil:
		return Worst / 100 * nexus.Money(10+x.drawIndex(91))
	case loose && x.scenario.loose == 10:
		return o.worst + o.worst/2
	}
	prompt := llm.EstimateRequest(o.request)
	u := nexus.Usage{CacheWrite: prompt, Output: o.request.MaxTokens * int64(100+x.drawIndex(51)) / 100}
	if !loose {
		u.CacheWrite = int64(x.drawIndex(int(prompt) / 3))
		u.CacheRead = int64(x.drawIndex(int(prompt) / 3))
		u.Input, u.Output = prompt/3-u.CacheRead/2, int64(x.drawIndex(int(o.request.MaxTokens)+1))
	}
	m, _ := t.prices.PriceOnUsualTerms(o.model, u, now)
	return m
}

// RandomConcurrentRuns returns a scenario in which money matters: 32 workers that all want to spend at
// once, tight caps of every kind, and a process that dies now and then with all of their calls
// under way.
func RandomConcurrentRuns(r *rand.Rand, t *SimulatedCallPrices, day nexus.Money) RunScenario {
	s := RandomScenario(r)
	s.Tariff, s.overshoot, s.loose = t, r.IntN(4) > 0, []int{1, 5, 10}[r.IntN(3)]
	s.Tasks, s.Given, s.Routing = nil, true, nexus.StartTierRules{}
	for i := range 36 + r.IntN(12) {
		s.Tasks = append(s.Tasks, nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Title: "a task", Minutes: 5, Files: []string{fmt.Sprintf("f%d", i)}})
	}
	s.auth, s.noPlan, s.slow, s.broken = 0, 0, 0, s.broken/10
	s.Crash, s.Storage, s.Crashes = Probability(r.Float64()*0.006), 0, 1+r.IntN(4)
	s.Reopen = r.IntN(2)
	s.Limits = nexus.Limits{
		Parallel: 32, Turns: 4 + r.IntN(4), Rounds: 4, Same: 2, ReviewRounds: 2, Losses: 4, LandTries: 2, Dispatches: 200,
		PerTier:  map[nexus.Tier]int{nexus.Fast: 2, nexus.Balanced: 1, nexus.Strong: 1},
		RunMoney: 1000 * nexus.Dollar, DayMoney: day,
	}
	tight := func(most int) nexus.Money { return nexus.Dollar * nexus.Money(1+r.IntN(most)) / 2 }
	if r.IntN(2) == 0 {
		s.Limits.RunMoney = tight(120)
	}
	if r.IntN(3) == 0 {
		s.Limits.TaskMoney = tight(6)
	}
	if r.IntN(3) == 0 {
		s.Limits.RoleMoney = map[nexus.Role]nexus.Money{nexus.Coder: tight(80), nexus.Reviewer: tight(40), nexus.Tester: tight(20)}
	}
	if r.IntN(3) == 0 {
		s.Limits.ProviderMoney = map[string]nexus.Money{"toy": tight(80), "spare": tight(40)}
	}
	return s
}
