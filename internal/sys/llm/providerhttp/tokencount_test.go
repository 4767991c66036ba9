package providerhttp_test

import (
	"encoding/json"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// TestCount reads numbers of tokens as providers write them.
func TestCount(t *testing.T) {
	for text, want := range map[string]providerhttp.TokenCount{
		"7": 7, "7.0": 7, "6.2": 7, "1e3": 1000, `"12"`: 12, "0": 0, "-3": 0, "null": 0, `"many"`: 0, "[1]": 0, `{"a":1}`: 0, "true": 0, "1e300": 1e12,
	} {
		got := providerhttp.TokenCount(5)
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d %v", text, got, err)
		}
	}
}
