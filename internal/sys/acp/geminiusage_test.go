package acp

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestCount reads the tokens of a prompt. Some count those of a cache among the input.
func TestCount(t *testing.T) {
	for raw, want := range map[string]nexus.Usage{
		`{"inputTokens":5,"outputTokens":2,"thoughtTokens":1}`:                                      {Input: 5, Output: 3},
		`{"inputTokens":5,"outputTokens":2,"cachedReadTokens":90,"totalTokens":97}`:                 {Input: 5, Output: 2, CacheRead: 90},
		`{"inputTokens":95,"outputTokens":2,"cachedReadTokens":90,"totalTokens":97}`:                {Input: 5, Output: 2, CacheRead: 90},
		`{"inputTokens":95,"outputTokens":2,"cachedReadTokens":90}`:                                 {Input: 95, Output: 2, CacheRead: 90},
		`{"inputTokens":21927,"outputTokens":31,"cachedReadTokens":15680,"cachedWriteTokens":6247}`: {Output: 31, CacheRead: 15680, CacheWrite: 6247},
		`{"inputTokens":0,"outputTokens":31,"cachedReadTokens":1,"cachedWriteTokens":2}`:            {Output: 31, CacheRead: 1, CacheWrite: 2},
		`{"inputTokens":-1,"cachedReadTokens":-9}`:                                                  {},
		`[]`: {},
	} {
		var one runningPromptTurn
		if one.recordReportedTokens([]byte(raw)); one.usage != want {
			t.Errorf("%s: %+v", raw, one.usage)
		}
	}
}

// TestCountModels reads what Gemini CLI tells of each model, where the protocol's own
// field is missing.
func TestCountModels(t *testing.T) {
	const raw = `{"quota":{"token_count":{"input_tokens":17,"output_tokens":6},"model_usage":[` +
		`{"model":"pro","token_count":{"input_tokens":10,"output_tokens":3}},{"model":"flash","token_count":{"input_tokens":7,"output_tokens":3}},` +
		`{"model":"","token_count":{"input_tokens":9}},{"model":"none","token_count":{"input_tokens":-9}}]}}`
	var one runningPromptTurn
	one.readGeminiUsage([]byte(raw))
	if e := one.promptEndWithoutFault(); e.Usage != (nexus.Usage{Input: 17, Output: 6}) || len(e.Models) != 2 || e.Models["pro"] != (nexus.Usage{Input: 10, Output: 3}) || e.Total {
		t.Errorf("%+v", e)
	}
	two := runningPromptTurn{usage: nexus.Usage{Input: 1}}
	two.readGeminiUsage([]byte(raw))
	for _, odd := range []string{"", "[]", `{"quota":3}`, `{"quota":{"model_usage":[{"model":3}]}}`} {
		two.readGeminiUsage([]byte(odd))
	}
	if e := two.promptEndWithoutFault(); e.Usage.Input != 1 || e.Models != nil || !e.Total {
		t.Errorf("%+v", e)
	}
}
