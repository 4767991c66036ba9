package route_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func criteria(n int) []nexus.Criterion { return make([]nexus.Criterion, n) }

func TestKeywords(t *testing.T) {
	for _, c := range []struct {
		name string
		task nexus.Task
		want nexus.Complexity
	}{
		{"nothing", nexus.Task{Title: "Say hello"}, nexus.Simple},
		{"stem", nexus.Task{Title: "Refactoring the parser"}, nexus.Complex},
		{"brief", nexus.Task{Title: "Mend it", Brief: "It is a\nbreaking change."}, nexus.Complex},
		{"criterion", nexus.Task{Criteria: []nexus.Criterion{{Text: "the JWT is checked"}}}, nexus.Complex},
		{"expert wins", nexus.Task{Title: "Refactor the websocket"}, nexus.Expert},
		{"hyphen", nexus.Task{Title: "A zero-knowledge proof"}, nexus.Expert},
		{"two words", nexus.Task{Title: "distributed  consensus"}, nexus.Expert},
		{"stem of expert", nexus.Task{Title: "cryptographic hash"}, nexus.Expert},
		{"author is not auth", nexus.Task{Title: "Name the author"}, nexus.Simple},
		{"auth", nexus.Task{Title: "Move auth."}, nexus.Complex},
		{"authorization", nexus.Task{Title: "Check authorization"}, nexus.Complex},
		{"a name is no saga", nexus.Task{Title: "Visit Sagaland"}, nexus.Simple},
		{"inside a word", nexus.Task{Title: "The insecurity of it"}, nexus.Simple},
		{"four criteria", nexus.Task{Criteria: criteria(4)}, nexus.Simple},
		{"five criteria", nexus.Task{Criteria: criteria(5)}, nexus.Medium},
		{"eight criteria", nexus.Task{Criteria: criteria(8)}, nexus.Medium},
		{"nine criteria", nexus.Task{Criteria: criteria(9)}, nexus.Complex},
	} {
		got := route.ChooseStartTier(nexus.StartTierRules{Order: []string{route.Keyword}}, c.task, nil)
		if got.Complexity != c.want || got.By != route.Keyword || got.Why == "" {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

func TestFirstThatAnswersWins(t *testing.T) {
	past := []nexus.PastAttemptCounts{
		{Complexity: nexus.Simple, Tier: nexus.Fast, Tries: 8, Failed: 8},
		{Complexity: nexus.Simple, Tier: nexus.Balanced, Tries: 2},
	}
	told := &nexus.ComplexityRating{Complexity: nexus.Expert, Why: "it is"}
	all := nexus.StartTierRules{Order: route.StrategyNames(), Past: past, Kinds: map[nexus.TaskKind]nexus.Tier{nexus.DocsTask: nexus.Balanced}}
	for _, c := range []struct {
		name    string
		routing nexus.StartTierRules
		task    nexus.Task
		told    *nexus.ComplexityRating
		by      string
		tier    nexus.Tier
	}{
		{"the plan's tier", all, nexus.Task{Tier: nexus.Strong}, told, route.Manual, nexus.Strong},
		{"the plan's complexity", all, nexus.Task{Complexity: nexus.Medium}, told, route.Manual, nexus.Balanced},
		{"its kind", all, nexus.Task{Kind: nexus.DocsTask}, told, route.Manual, nexus.Balanced},
		{"history", all, nexus.Task{}, told, route.Adaptive, nexus.Balanced},
		{"a model", nexus.StartTierRules{Order: route.StrategyNames()}, nexus.Task{}, told, route.Model, nexus.Strong},
		{"a model that says nothing", nexus.StartTierRules{Order: route.StrategyNames()}, nexus.Task{}, nil, route.Keyword, nexus.Fast},
		{"a model that says nonsense", nexus.StartTierRules{Order: route.StrategyNames()}, nexus.Task{}, &nexus.ComplexityRating{Complexity: "odd"}, route.Keyword, nexus.Fast},
		{"nobody", nexus.StartTierRules{Order: []string{route.Manual}}, nexus.Task{}, told, route.Keyword, nexus.Fast},
		{"own table", nexus.StartTierRules{Tiers: map[nexus.Complexity]nexus.Tier{nexus.Simple: nexus.Strong}}, nexus.Task{}, nil, route.Keyword, nexus.Strong},
	} {
		got := route.ChooseStartTier(c.routing, c.task, c.told)
		if got.By != c.by || got.Tier != c.tier || got.Why == "" {
			t.Errorf("%s: %+v, want %s by %s", c.name, got, c.tier, c.by)
		}
	}
}

// TestAdaptive holds the rule that history decides from ten tries on, by what
// a landed task costs in the end.
func TestAdaptive(t *testing.T) {
	past := func(fast, fastFailed, balanced, balancedFailed int) nexus.StartTierRules {
		return nexus.StartTierRules{Order: []string{route.Adaptive, route.Keyword}, Past: []nexus.PastAttemptCounts{
			{Complexity: nexus.Simple, Tier: nexus.Fast, Tries: fast, Failed: fastFailed},
			{Complexity: nexus.Simple, Tier: nexus.Balanced, Tries: balanced, Failed: balancedFailed},
			{Complexity: nexus.Expert, Tier: nexus.Strong, Tries: 1000},
		}}
	}
	for _, c := range []struct {
		name string
		r    nexus.StartTierRules
		by   string
		tier nexus.Tier
	}{
		{"nine are too few", past(9, 9, 0, 0), route.Keyword, nexus.Fast},
		{"ten say something", past(10, 0, 0, 0), route.Adaptive, nexus.Fast},
		{"half fail and it is still cheapest", past(10, 5, 10, 0), route.Adaptive, nexus.Fast},
		{"fast never succeeds", past(10, 10, 10, 0), route.Adaptive, nexus.Balanced},
		{"neither does", past(10, 10, 10, 10), route.Adaptive, nexus.Strong},
	} {
		if got := route.ChooseStartTier(c.r, nexus.Task{}, nil); got.By != c.by || got.Tier != c.tier {
			t.Errorf("%s: %+v, want %s by %s", c.name, got, c.tier, c.by)
		}
	}
}

func TestNeedsModel(t *testing.T) {
	order := []string{route.Manual, route.Model, route.Keyword}
	for _, c := range []struct {
		r    nexus.StartTierRules
		task nexus.Task
		want bool
	}{
		{nexus.StartTierRules{Order: order}, nexus.Task{}, true},
		{nexus.StartTierRules{Order: order}, nexus.Task{Tier: nexus.Fast}, false},
		{nexus.StartTierRules{Order: []string{route.Keyword, route.Model}}, nexus.Task{}, false},
		{nexus.StartTierRules{}, nexus.Task{}, false},
		{nexus.StartTierRules{Order: route.PutPluginsFirst(order)}, nexus.Task{}, true},
	} {
		if got := route.NeedsModel(c.r, c.task); got != c.want {
			t.Errorf("%v of %+v: %v", c.r.Order, c.task, got)
		}
	}
}

// TestAlwaysAnswers holds that every task gets a known complexity, a known
// tier and a reason, whatever it says, and always the same.
func TestAlwaysAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := nexus.Task{ID: "T1", Title: rapid.String().Draw(t, "title"), Brief: rapid.String().Draw(t, "brief")}
		r := nexus.StartTierRules{Order: rapid.SliceOf(rapid.SampledFrom(append(route.StrategyNames(), "odd"))).Draw(t, "order")}
		got := route.ChooseStartTier(r, task, nil)
		if !got.Complexity.IsKnown() || !got.Tier.IsKnown() || strings.TrimSpace(got.Why) == "" || got.Task != "T1" {
			t.Fatalf("%+v", got)
		}
		if d := cmp.Diff(got, route.ChooseStartTier(r, task, nil)); d != "" {
			t.Fatal(d)
		}
	})
}

// TestPlugins lets a plugin propose, after the plan and before all others. Who is
// asked whether is told apart: what a plugin said is not a model's word.
func TestPlugins(t *testing.T) {
	order := route.PutPluginsFirst([]string{route.Manual, route.Model, route.Keyword})
	r := nexus.StartTierRules{Order: order, Tiers: map[nexus.Complexity]nexus.Tier{nexus.Medium: nexus.Strong}}
	said := &nexus.ComplexityRating{Complexity: nexus.Medium, Why: "so", Plugin: "p", Strategy: nexus.TDDSimple}
	for name, c := range map[string]struct {
		task nexus.Task
		told *nexus.ComplexityRating
		want nexus.StartTierChosen
	}{
		"the tier follows": {nexus.Task{}, said, nexus.StartTierChosen{Complexity: nexus.Medium, Tier: nexus.Strong, By: "plugin p", Why: "so", Strategy: nexus.TDDSimple}},
		"its own tier": {
			nexus.Task{},
			&nexus.ComplexityRating{Complexity: nexus.Medium, Tier: nexus.Fast, Plugin: "p", Why: "so"},
			nexus.StartTierChosen{Complexity: nexus.Medium, Tier: nexus.Fast, By: "plugin p", Why: "so"},
		},
		"the plan wins":   {nexus.Task{Tier: nexus.Balanced}, said, nexus.StartTierChosen{Complexity: nexus.Simple, Tier: nexus.Balanced, By: route.Manual, Why: "the plan says balanced"}},
		"nothing is said": {nexus.Task{}, nil, nexus.StartTierChosen{Complexity: nexus.Simple, Tier: nexus.Fast, By: route.Keyword, Why: "no keyword says otherwise"}},
		"a model's word":  {nexus.Task{}, &nexus.ComplexityRating{Complexity: nexus.Expert, Why: "so"}, nexus.StartTierChosen{Complexity: nexus.Expert, Tier: nexus.Strong, By: route.Model, Why: "so"}},
	} {
		if d := cmp.Diff(c.want, route.ChooseStartTier(r, c.task, c.told)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if route.NeedsComplexityAnswer(r, nexus.Task{Tier: nexus.Fast}) || !route.NeedsPlugin(r, nexus.Task{}) || route.NeedsPlugin(nexus.StartTierRules{Order: []string{route.Model}}, nexus.Task{}) {
		t.Error("the wrong ones are asked")
	}
	if d := cmp.Diff([]string{route.Plugin, route.Keyword}, route.PutPluginsFirst([]string{route.Keyword})); d != "" {
		t.Error(d)
	}
}
