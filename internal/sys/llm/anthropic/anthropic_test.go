package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/dialect"
)

func model(url string, l llm.Limits, h *http.Client) llm.Provider {
	return anthropic.New(anthropic.Config{Key: conform.Key, BaseURL: url, Limits: l, HTTP: h})
}

func TestConformance(t *testing.T) { conform.Run(t, dialect.Anthropic, model) }

func FuzzStream(f *testing.F) { conform.Fuzz(f, model) }
