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
		var one turn
		if one.count([]byte(raw)); one.usage != want {
			t.Errorf("%s: %+v", raw, one.usage)
		}
	}
}
