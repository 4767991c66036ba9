package openai_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
)

func TestConformance(t *testing.T) {
	conform.Run(t, func(url string, l llm.Limits) llm.Model {
		return openai.New(openai.Config{Key: conform.Key, BaseURL: url + "/v1", Limits: l})
	})
}
