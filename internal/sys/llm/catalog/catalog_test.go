package catalog_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/catalog"
)

const sample = `{
  "google": {"id": "google", "name": "Google", "env": ["K"], "models": {
    "gemini-9": {"id": "gemini-9", "last_updated": "2026-11-30", "limit": {"context": 1000000, "output": 65536}, "reasoning_options": [{"type": "toggle"}],
      "cost": {"input": 2, "output": 12, "cache_read": 0.2, "tiers": [
        {"input": 8, "output": 36, "cache_read": 0.8, "tier": {"type": "context", "size": 500000}},
        {"input": 4, "output": 18, "cache_read": 0.4, "tier": {"type": "context", "size": 200000}}], "context_over_200k": {"input": 1, "output": 1}}}}},
  "acme": {"models": {
    "over": {"cost": {"input": 1, "output": 2, "reasoning": 3, "cache_read": 0.1, "cache_write": 1.25, "context_over_200k": {"input": 2, "output": 4}}, "status": "deprecated"},
    "vendor/deep": {"cost": {"input": 0.000000001, "output": 1e-9}},
    "free": {"cost": {"input": 0, "output": 0}},
    "half": {"cost": {"input": 1}},
    "silent": {"limit": {"context": 8192, "output": -3}, "last_updated": "soon"},
    "odd": {"cost": {"input": 1, "output": 2, "tiers": [{"input": 2, "output": 3, "tier": {"type": "weekday", "size": 2}}]}},
    "dear": {"cost": {"input": 1e9, "output": 2e9}},
    "below": {"cost": {"input": -1, "output": 2}},
    "words": {"cost": {"input": "cheap", "output": 2}},
    "a b": {}, "*": {}, "": {}
  }},
  "a/b": {"models": {"x": {}}},
  "broken": 5
}`

func TestParse(t *testing.T) {
	const d = nexus.Dollar
	got, skipped, err := catalog.ParseCatalog([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]llm.ModelTableEntry{
		"gemini/gemini-9": {Context: 1_000_000, Output: 65536, Dated: "2026-11-30", Rates: []llm.TokenPriceRate{
			{Input: 2 * d, Output: 12 * d, CacheRead: d / 5, CacheWrite: 2 * d},
			{Above: 200_000, Input: 4 * d, Output: 18 * d, CacheRead: 2 * d / 5, CacheWrite: 4 * d},
			{Above: 500_000, Input: 8 * d, Output: 36 * d, CacheRead: 4 * d / 5, CacheWrite: 8 * d},
		}},
		"acme/over": {Note: "deprecated", Rates: []llm.TokenPriceRate{
			{Input: d, Output: 3 * d, CacheRead: d / 10, CacheWrite: 5 * d / 4},
			{Above: 200_000, Input: 2 * d, Output: 4 * d, CacheRead: 2 * d, CacheWrite: 2 * d},
		}},
		"acme/vendor/deep": {Rates: []llm.TokenPriceRate{{Input: 1, Output: 1, CacheRead: 1, CacheWrite: 1}}},
		"acme/free":        {}, "acme/half": {}, "acme/silent": {Context: 8192}, "acme/odd": {}, "acme/dear": {}, "acme/below": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if skipped != 6 { // words, three names, a/b and broken
		t.Errorf("%d skipped", skipped)
	}
	for _, bad := range []string{"", "[]", "null", "{}", `{"a": {}}`, `{"a": 5}`, "<html>"} {
		if _, _, err := catalog.ParseCatalog([]byte(bad)); err == nil {
			t.Errorf("%q is a list", bad)
		}
	}
}

// FuzzParse holds that whatever the list says, a price is never zero or below.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"a": {"models": {"b": {"cost": {"input": 1e-300, "output": 1e300}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		models, _, err := catalog.ParseCatalog(data)
		if err == nil && len(models) == 0 {
			t.Fatal("an empty list")
		}
		for name, l := range models {
			if _, _, ok := llm.SplitModelName(name); !ok || l.CheckRates() != nil || l.Context < 0 || l.Output < 0 {
				t.Fatalf("%q: %+v", name, l)
			}
			for _, r := range l.Rates {
				if min(r.Input, r.Output, r.CacheRead, r.CacheWrite) <= 0 || r.Above < 0 {
					t.Fatalf("%q: %+v", name, r)
				}
			}
		}
	})
}

// shelf serves what it holds, with an ETag.
type shelf struct {
	text, etag string
	status     int
	asked      []string // If-None-Match of each request
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Header.Get("If-None-Match"))
	w.Header().Set("ETag", s.etag)
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
	case s.etag != "" && r.Header.Get("If-None-Match") == s.etag:
		w.WriteHeader(http.StatusNotModified)
	default:
		_, _ = w.Write([]byte(s.text)) // who is gone reads nothing
	}
}

func TestFetch(t *testing.T) {
	s := &shelf{text: sample, etag: `"1"`}
	server := httptest.NewServer(s)
	defer server.Close()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	from := catalog.ModelCatalogSource{URL: server.URL + "/api.json", Path: filepath.Join(t.TempDir(), "new", "models.json"), Now: func() time.Time { return at }}
	if _, err := catalog.LoadStoredCatalog(from.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	first, err := catalog.FetchCatalog(t.Context(), from)
	if err != nil || first.Same || first.Skipped != 6 || len(first.Models) != 9 {
		t.Fatalf("%+v %v", first, err)
	}
	if info, err := os.Stat(from.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	at = at.Add(time.Hour)
	second, err := catalog.FetchCatalog(t.Context(), from)
	if err != nil || !second.Same || !second.Fetched.Equal(at) || len(second.Models) != 9 || s.asked[1] != `"1"` {
		t.Errorf("%+v %v", second, err)
	}
	kept, err := catalog.LoadStoredCatalog(from.Path)
	if diff := cmp.Diff(second.StoredModelCatalog, kept); err != nil || diff != "" {
		t.Error(err, diff)
	}
	elsewhere := from
	elsewhere.URL += "?other" // whose ETag says nothing here
	if third, err := catalog.FetchCatalog(t.Context(), elsewhere); err != nil || third.Same || s.asked[2] != "" {
		t.Errorf("%+v %v", third, err)
	}
	for name, c := range map[string]shelf{
		"status": {status: 500}, "unasked": {status: 304}, "text": {text: "<html>"}, "long": {text: strings.Repeat(" ", catalog.MaxListSize+1)},
	} {
		other := httptest.NewServer(&c)
		failing := from
		failing.URL = other.URL
		_, err := catalog.FetchCatalog(t.Context(), failing)
		other.Close()
		refused(t, name, err)
	}
	server.Close()
	_, err = catalog.FetchCatalog(t.Context(), from)
	refused(t, "down", err)
	if after, err := catalog.LoadStoredCatalog(from.Path); err != nil || len(after.Models) != 9 {
		t.Errorf("a call that failed took away what was kept: %+v %v", after, err)
	}
}

func refused(t *testing.T, name string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeProvider || e.Hint == "" {
		t.Errorf("%s: %v", name, err)
	}
}

// TestFetchWaitsNotForEver holds that silence ends, whoever is silent.
func TestFetchWaitsNotForEver(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	_, err := catalog.FetchCatalog(t.Context(), catalog.ModelCatalogSource{URL: silent.URL, Path: filepath.Join(t.TempDir(), "x"), Now: time.Now, Time: 20 * time.Millisecond})
	refused(t, "silence", err)
	if !strings.Contains(err.Error(), "no answer within 20ms") {
		t.Error(err)
	}
}

// TestFetchSafely holds that nobody on the way can change prices.
func TestFetchSafely(t *testing.T) {
	for _, url := range []string{"http://models.dev/api.json", "ftp://models.dev/api.json", "models.dev"} {
		_, err := catalog.FetchCatalog(t.Context(), catalog.ModelCatalogSource{URL: url, Path: filepath.Join(t.TempDir(), "x")})
		if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeInvalidConfig {
			t.Errorf("%s: %v", url, err)
		}
	}
	away := httptest.NewServer(http.RedirectHandler("http://models.dev/api.json", http.StatusFound))
	defer away.Close()
	_, err := catalog.FetchCatalog(t.Context(), catalog.ModelCatalogSource{URL: away.URL, Path: filepath.Join(t.TempDir(), "x")})
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeInvalidConfig {
		t.Errorf("led away: %v", err)
	}
}

// TestLoad refuses what is not a list of ours.
func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "models.json")
	for _, text := range []string{"", "{}", `{"version": 2}`, "[]"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if k, err := catalog.LoadStoredCatalog(path); err == nil || errors.Is(err, fs.ErrNotExist) || len(k.Models) > 0 {
			t.Errorf("%q: %+v %v", text, k, err)
		}
	}
}
