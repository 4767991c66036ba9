// Package textembedding requests the vectors of texts from an endpoint, and compares them: texts with
// nearly the same meaning have similar vectors.
//
// The endpoint has OpenAI's form (/v1/embeddings) or Ollama's (/api/embed). It receives texts of
// the repository, so only this machine is used, or a host that a person named.
package textembedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Limits of requests and responses.
const (
	maxTexts  = 64       // in one request
	maxText   = 4_000    // bytes of a text
	maxAnswer = 32 << 20 // bytes of a response
	maxWidth  = 8_192    // numbers of a vector
)

// DefaultTimeout is the default limit for all requests of one call together.
const DefaultTimeout = 10 * time.Second

var errTime = errors.New("the endpoint took too long")

// EmbeddingEndpoint is a source of vectors. The zero value is none.
type EmbeddingEndpoint struct {
	URL   string        // of /v1, /v1/embeddings or /api/embed
	Model string        // as the endpoint calls it
	Time  time.Duration // limit for all requests of one call; 0: [DefaultTimeout]
}

// Check returns an error if an endpoint is invalid. It sends nothing.
func (e EmbeddingEndpoint) Check() error {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q is not the address of an endpoint", e.URL)
	case e.Model == "":
		return errors.New("no model is set for the embedding endpoint")
	case !isLoopback(u.Hostname()) && u.Scheme != "https":
		return fmt.Errorf("%s is not this machine, and texts of the repository would be sent there without encryption; use https", u.Hostname())
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// EmbedTexts returns a vector for each text, all of the same length. On an error of the endpoint or its
// response it returns no vectors.
func (e EmbeddingEndpoint) EmbedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	limit := e.Time
	if limit <= 0 {
		limit = DefaultTimeout
	}
	ctx, stop := context.WithTimeoutCause(ctx, limit, errTime)
	defer stop()
	client := &http.Client{
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var all [][]float32
	for some := range slices.Chunk(texts, maxTexts) {
		got, err := e.requestVectors(ctx, client, some)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, fmt.Errorf("ask %s for vectors: %w", e.URL, err)
		}
		all = append(all, got...)
	}
	for _, v := range all {
		if len(v) != len(all[0]) {
			return nil, fmt.Errorf("ask %s for vectors: they have %d and %d numbers", e.URL, len(all[0]), len(v))
		}
	}
	return all, nil
}

// requestURL returns the URL of requests.
func (e EmbeddingEndpoint) requestURL() string {
	at := strings.TrimRight(e.URL, "/")
	if strings.HasSuffix(at, "/embeddings") || strings.HasSuffix(at, "/embed") {
		return at
	}
	return at + "/embeddings"
}

func (e EmbeddingEndpoint) requestVectors(ctx context.Context, client *http.Client, texts []string) ([][]float32, error) {
	cut := make([]string, len(texts))
	for i, t := range texts {
		cut[i] = strings.ToValidUTF8(t[:min(len(t), maxText)], "")
	}
	body, err := json.Marshal(map[string]any{"model": e.Model, "input": cut})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.requestURL(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %s", answer.Status)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("it answered more than %d bytes", maxAnswer)
	}
	return parseVectors(data, len(texts))
}

// parseVectors parses a response of either form with n vectors.
func parseVectors(data []byte, n int) ([][]float32, error) {
	var said struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Embeddings [][]float32 `json:"embeddings"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, fmt.Errorf("its answer cannot be read: %w", err)
	}
	all := said.Embeddings
	if len(said.Data) > 0 {
		all = make([][]float32, len(said.Data))
		for i, d := range said.Data {
			at := i
			if d.Index != nil {
				at = *d.Index
			}
			if at < 0 || at >= len(all) || all[at] != nil {
				return nil, fmt.Errorf("its answer has no vector of its own at %d", at)
			}
			all[at] = d.Embedding
		}
	}
	if len(all) != n {
		return nil, fmt.Errorf("it gave %d vectors for %d texts", len(all), n)
	}
	for i, v := range all {
		if len(v) == 0 || len(v) > maxWidth {
			return nil, fmt.Errorf("vector %d has %d numbers", i+1, len(v))
		}
		if vectorLength(v) == 0 {
			return nil, fmt.Errorf("vector %d has no direction", i+1)
		}
	}
	return all, nil
}

func vectorLength(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// CosineSimilarity returns the similarity of two vectors: 1 for the same direction, 0 for nothing in common or
// different lengths, less than 0 for the opposite.
func CosineSimilarity(a, b []float32) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return 0
	}
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	both := vectorLength(a) * vectorLength(b)
	if both == 0 || math.IsInf(both, 0) || math.IsNaN(sum) {
		return 0
	}
	return max(-1, min(1, sum/both))
}
