package textembedding_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/textembedding"
)

// serve answers each request with what answer makes of its texts.
func serve(t *testing.T, answer func(w http.ResponseWriter, texts []string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Model != "m" {
			t.Errorf("%v %+v", err, q)
		}
		answer(w, q.Input)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestEmbed(t *testing.T) {
	requests := 0
	open := serve(t, func(w http.ResponseWriter, texts []string) {
		requests++
		var all []string
		for i := len(texts) - 1; i >= 0; i-- { // the order is the server's
			all = append(all, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(texts[i])))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(all, ","))
	})
	texts := make([]string, 70)
	for i := range texts {
		texts[i] = strings.Repeat("x", i)
	}
	got, err := textembedding.EmbeddingEndpoint{URL: open + "/v1/", Model: "m"}.EmbedTexts(t.Context(), texts)
	if err != nil || len(got) != 70 || got[69][0] != 69 || requests != 2 {
		t.Errorf("%v %d %d", err, len(got), requests)
	}
	ollama := serve(t, func(w http.ResponseWriter, texts []string) { fmt.Fprint(w, `{"model":"m","embeddings":[[0.5,0.5]]}`) })
	got, err = textembedding.EmbeddingEndpoint{URL: ollama + "/api/embed", Model: "m"}.EmbedTexts(t.Context(), []string{"a"})
	if err != nil || got[0][1] != 0.5 {
		t.Errorf("%v %v", got, err)
	}
}

// TestFaults holds that no answer of an endpoint does harm: it is an error, in time.
func TestFaults(t *testing.T) {
	say := func(text string) string {
		return serve(t, func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, text) })
	}
	half, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	begun := serve(t, func(w http.ResponseWriter, _ []string) {
		fmt.Fprint(w, `{"data":[`)
		w.(http.Flusher).Flush()
		<-t.Context().Done()
	})
	for name, c := range map[string]struct {
		url, want string
	}{
		"nobody there":        {"http://" + gone.Addr().String(), "connection refused"},
		"half open":           {"http://" + half.Addr().String(), "took too long"},
		"slow":                {begun, "took too long"},
		"garbage":             {say("<html>no"), "cannot be read"},
		"too few":             {say(`{"data":[{"index":0,"embedding":[1]}]}`), "1 vectors for 2 texts"},
		"two of one":          {say(`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), "no vector of its own at 0"},
		"an index of its own": {say(`{"data":[{"index":9,"embedding":[1]},{"index":0,"embedding":[1]}]}`), "no vector of its own at 9"},
		"different widths":    {say(`{"embeddings":[[1,2],[1]]}`), "2 and 1 numbers"},
		"empty":               {say(`{"embeddings":[[],[]]}`), "has 0 numbers"},
		"no direction":        {say(`{"embeddings":[[0,0],[0,0]]}`), "no direction"},
		"too large a number":  {say(`{"embeddings":[[1e400],[1]]}`), "cannot be read"},
		"an error":            {serve(t, func(w http.ResponseWriter, _ []string) { w.WriteHeader(http.StatusInternalServerError) }), "500"},
		"a redirect": {serve(t, func(w http.ResponseWriter, _ []string) {
			w.Header().Set("Location", "http://192.0.2.1/")
			w.WriteHeader(http.StatusFound)
		}), "302"},
		"another machine": {"http://192.0.2.1/v1", "not this machine"},
		"no address":      {"ftp://localhost", "not the address"},
	} {
		limit := time.Minute
		if strings.Contains(c.want, "too long") {
			limit = 100 * time.Millisecond
		}
		got, err := textembedding.EmbeddingEndpoint{URL: c.url, Model: "m", Time: limit}.EmbedTexts(t.Context(), []string{"a", "b"})
		if err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if err := (textembedding.EmbeddingEndpoint{URL: "https://vectors.example", Model: "m"}).Check(); err != nil {
		t.Error(err)
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{1, 0}, []float32{2, 0}, 1},
		{[]float32{1, 0}, []float32{0, 3}, 0},
		{[]float32{1}, []float32{-1}, -1},
		{[]float32{1}, []float32{1, 0}, 0},
		{nil, nil, 0},
	} {
		if got := textembedding.CosineSimilarity(c.a, c.b); got != c.want {
			t.Errorf("%v %v: %v", c.a, c.b, got)
		}
	}
}
