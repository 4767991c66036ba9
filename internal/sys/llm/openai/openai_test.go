package openai_test

import (
	"net/http"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/dialect"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
)

func model(url string, l llm.Limits, h *http.Client) llm.Provider {
	return openai.New(openai.Config{Key: conform.Key, BaseURL: url + "/v1", Limits: l, HTTP: h})
}

func TestConformance(t *testing.T) { conform.Run(t, dialect.Chat, model) }

func FuzzStream(f *testing.F) { conform.Fuzz(f, model) }
