package responses_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
)

func responsesModel(url string, l llm.CallLimits, h *http.Client) llm.Provider {
	return responses.NewProvider(responses.Config{Key: conform.Key, BaseURL: url + "/v1", Limits: l, HTTP: h})
}

func TestConformance(t *testing.T) { conform.RunSuite(t, wireformat.Responses, responsesModel) }

func FuzzStream(f *testing.F) { conform.FuzzStream(f, responsesModel) }

// TestStorm has its share of a thousand faulty conversations.
func TestStorm(t *testing.T) {
	sum := conform.RunFaultStorm(t, responsesModel, 1, 250)
	t.Logf("%d conversations, %d calls, %d failed, longest %s, charged %+v, accounted %+v, ends %v",
		sum.Conversations, sum.Calls, sum.Failed, sum.Longest, sum.Charged, sum.Accounted, sum.Ends)
	if sum.Conversations != 250 || sum.Accounted.Output < sum.Charged.Output || sum.Accounted.PromptTokens() < sum.Charged.PromptTokens() {
		t.Errorf("the account lacks something: %+v", sum)
	}
}

func BenchmarkTurn(b *testing.B) { conform.BenchmarkStream(b, responsesModel) }

func TestConfigHidesItsKey(t *testing.T) {
	c := responses.Config{Key: "sk-secret", BaseURL: "http://a"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, c); got != "responses(http://a)" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}
