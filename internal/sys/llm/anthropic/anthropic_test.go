package anthropic_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
)

func TestConformance(t *testing.T) {
	conform.Run(t, func(url string, l llm.Limits) llm.Model {
		return anthropic.New(anthropic.Config{Key: conform.Key, BaseURL: url, Limits: l})
	})
}
