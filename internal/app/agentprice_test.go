package app

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestAgentPrice holds that tokens of a model without a price, or of a maker that is not
// known, cost what those of the dearest strong model do.
func TestAgentPrice(t *testing.T) {
	models, err := provider.NewModelPicker(config.Config{}, func(string) string { return "" }, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	used, dearest := nexus.Usage{Input: 1_000_000, Output: 1000}, nexus.Money(0)
	for _, maker := range []string{"anthropic", "openai", "gemini"} {
		m, ok := models.CallPrice(provider.StrongestModel(maker), used)
		if named, same := agentPrice(models, maker, "", used); !ok || !same || named != m {
			t.Errorf("%s: %d, not %d", maker, named, m)
		}
		dearest = max(dearest, m)
	}
	for _, c := range [][2]string{{"openai", "local-9"}, {"", "local-9"}, {"", ""}, {"acme", ""}} {
		if m, ok := agentPrice(models, c[0], c[1], used); !ok || m != dearest {
			t.Errorf("%q: %d, %v, not %d", c, m, ok, dearest)
		}
	}
	named, _ := agentPrice(models, "gemini", "gemini-3.1-pro-preview", nexus.Usage{Input: 1_000_000})
	if m, ok := agentPrice(models, "gemini", "gemini-3.1-pro-preview-customtools", nexus.Usage{Input: 1_000_000}); !ok || m != named {
		t.Errorf("a variant of a model costs %d, and the model %d", m, named)
	}
}
