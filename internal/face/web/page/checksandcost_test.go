package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// TestInstead prices the tokens of all models of a run with others: those that are used,
// and the ends of each provider's list, the cheapest first. What has no price is left out.
func TestInstead(t *testing.T) {
	model := func(name string, in, out, cached nexus.Money, serves ...string) commandjson.ModelFacts {
		price := llm.TokenPriceRate{Input: in * nexus.Dollar, Output: out * nexus.Dollar, CacheRead: cached * nexus.Dollar}
		return commandjson.ModelFacts{Name: name, Price: &price, Serves: serves}
	}
	c := projection.RunCostView{Models: []projection.RunCostPart{
		{Of: "a/mid", Usage: nexus.Usage{Input: 1_000_000, CacheRead: 2_000_000}}, {Of: "b/gone", Usage: nexus.Usage{Output: 500_000}},
	}}
	got := modelAlternatives(c, []commandjson.ModelFacts{
		model("a/dear", 10, 50, 2), model("a/plain", 3, 9, 1), model("a/mid", 2, 8, 1, "strong"), model("a/cheap", 1, 2, 0),
		{Name: "a/none", Serves: []string{"fast"}},
		model("b/only", 4, 20, 1),
		{Name: "c/none"},
		model("a/set", 3, 10, 1, "fast", "balanced"),
	})
	want := []ModelCostAlternative{
		{"a/cheap", "", 2 * nexus.Dollar},
		{"a/mid", "strong, this run", 8 * nexus.Dollar},
		{"a/set", "fast, balanced", 10 * nexus.Dollar},
		{"b/only", "", 16 * nexus.Dollar},
		{"a/dear", "", 39 * nexus.Dollar},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
