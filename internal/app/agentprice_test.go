package app

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestAgentPrice holds that a model that is named and has no price is not taken
// for its maker's usual one.
func TestAgentPrice(t *testing.T) {
	models, err := provider.NewModels(config.Config{}, func(string) string { return "" }, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]bool{"": true, "dearest-9": false} {
		if m, ok := agentPrice(models, "openai", model, nexus.Usage{Input: 1_000_000}); ok != want || (m > 0) != want {
			t.Errorf("%q: %d, %v", model, m, ok)
		}
	}
	named, _ := agentPrice(models, "gemini", "gemini-3.1-pro-preview", nexus.Usage{Input: 1_000_000})
	if m, ok := agentPrice(models, "gemini", "gemini-3.1-pro-preview-customtools", nexus.Usage{Input: 1_000_000}); !ok || m != named {
		t.Errorf("a variant of a model costs %d, and the model %d", m, named)
	}
}
