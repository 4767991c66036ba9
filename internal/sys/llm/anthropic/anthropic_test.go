package anthropic_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

func anthropicModel(url string, l llm.CallLimits, h *http.Client) llm.Provider {
	return anthropic.NewProvider(anthropic.Config{Key: conform.Key, BaseURL: url, Limits: l, HTTP: h})
}

func TestConformance(t *testing.T) { conform.RunSuite(t, wireformat.Anthropic, anthropicModel) }

func FuzzStream(f *testing.F) { conform.FuzzStream(f, anthropicModel) }

// TestStorm has its share of a thousand faulty conversations.
func TestStorm(t *testing.T) {
	sum := conform.RunFaultStorm(t, anthropicModel, 1, 250)
	t.Logf("%d conversations, %d calls, %d failed, longest %s, charged %+v, accounted %+v, ends %v",
		sum.Conversations, sum.Calls, sum.Failed, sum.Longest, sum.Charged, sum.Accounted, sum.Ends)
	if sum.Conversations != 250 || sum.Accounted.Output < sum.Charged.Output || sum.Accounted.PromptTokens() < sum.Charged.PromptTokens() {
		t.Errorf("the account lacks something: %+v", sum)
	}
}

func BenchmarkTurn(b *testing.B) { conform.BenchmarkStream(b, anthropicModel) }

func TestConfigHidesItsKey(t *testing.T) {
	c := anthropic.Config{Key: "sk-secret", BaseURL: "http://a"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, c); got != "anthropic(http://a)" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}
