package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/catalog"
)

// BenchmarkLoad reads a kept list of 5,000 models.
func BenchmarkLoad(b *testing.B) {
	k := catalog.StoredModelCatalog{Version: 1, From: "https://models.dev/api.json", Models: map[string]llm.ModelTableEntry{}}
	for i := range 5000 {
		in := nexus.Dollar * nexus.Money(1+i%300) / 100
		k.Models[fmt.Sprintf("provider-%d/model-of-some-length-%d", i/50, i)] = llm.ModelTableEntry{
			Context: 200_000, Output: 64_000, Dated: "2026-11-21",
			Rates: []llm.TokenPriceRate{{Input: in, Output: 5 * in, CacheRead: in / 10, CacheWrite: in * 5 / 4}},
		}
	}
	data, err := json.Marshal(k)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "models.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if k, err := catalog.LoadStoredCatalog(path); err != nil || len(k.Models) != 5000 {
			b.Fatal(err)
		}
	}
}
