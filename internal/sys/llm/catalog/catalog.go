// Package catalog fetches the public list of models, models.dev, and stores it on this machine.
//
// The list is third-party data: it is converted to our types, and an entry is used only for a
// model that no other source knows.
package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// MaxListSize limits the size of the list, in bytes.
const MaxListSize = 64 << 20

// version is the version of the stored file.
const version = 1

// StoredModelCatalog is the stored list.
type StoredModelCatalog struct {
	Version int                            `json:"version"`
	From    string                         `json:"from"` // URL
	ETag    string                         `json:"etag,omitzero"`
	Fetched time.Time                      `json:"fetched"` // time of the last fetch, even if unchanged
	Models  map[string]llm.ModelTableEntry `json:"models"`
}

// LoadStoredCatalog reads the stored list. If it was never fetched, that is an fs.ErrNotExist.
func LoadStoredCatalog(path string) (StoredModelCatalog, error) {
	var k StoredModelCatalog
	f, err := os.Open(path)
	if err != nil {
		return k, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, MaxListSize+1))
	if err != nil {
		return k, err
	}
	if len(data) > MaxListSize {
		return k, errors.New("the kept list of models is too long")
	}
	if err := json.Unmarshal(data, &k); err != nil {
		return StoredModelCatalog{}, fmt.Errorf("the kept list of models: %w", err)
	}
	if k.Version != version {
		return StoredModelCatalog{}, fmt.Errorf("the kept list of models has version %d, not %d", k.Version, version)
	}
	return k, nil
}

// ModelCatalogSource has the URL and the file of the list.
type ModelCatalogSource struct {
	URL  string // https, or http on this machine
	Path string
	HTTP http.RoundTripper // nil: the default
	Now  func() time.Time
	Time time.Duration // limit of the whole call; 0 is a minute
}

// FetchResult is the result of a fetch.
type FetchResult struct {
	StoredModelCatalog
	Skipped int  // unreadable entries
	Same    bool // unchanged since the last fetch
}

// FetchCatalog fetches and stores the list. If it fails, the stored list is unchanged.
func FetchCatalog(ctx context.Context, s ModelCatalogSource) (FetchResult, error) {
	was, err := LoadStoredCatalog(s.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it will be replaced
		was = StoredModelCatalog{}
	}
	if was.From != s.URL {
		was = StoredModelCatalog{}
	}
	f, err := s.requestModelList(ctx, was)
	if err != nil {
		if e, ok := errors.AsType[*nexus.Error](err); ok {
			return f, e
		}
		hint := "Runs continue without it, with the built-in table and what was fetched before. Try again later, or set models.list to an address that answers."
		return f, &nexus.Error{Code: nexus.CodeProvider, Message: "fetch the list of models from " + s.URL, Cause: err, Hint: hint}
	}
	data, err := json.Marshal(f.StoredModelCatalog)
	if err != nil {
		return f, err
	}
	return f, filewrite.ReplaceFile(s.Path, data)
}

func (s ModelCatalogSource) requestModelList(ctx context.Context, was StoredModelCatalog) (FetchResult, error) {
	limit := s.Time
	if limit == 0 {
		limit = time.Minute
	}
	ctx, stop := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return FetchResult{}, err
	}
	if err := checkSafeURL(r.URL); err != nil {
		return FetchResult{}, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "nexus")
	if was.ETag != "" {
		r.Header.Set("If-None-Match", was.ETag)
	}
	client := &http.Client{Transport: s.HTTP, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("it redirects too often")
		}
		return checkSafeURL(r.URL)
	}}
	a, err := client.Do(r)
	if err != nil {
		return FetchResult{}, contextCause(ctx, err)
	}
	defer func() { _ = a.Body.Close() }() // only read
	switch {
	case a.StatusCode == http.StatusNotModified && was.ETag != "":
		was.Fetched = s.Now().UTC()
		return FetchResult{StoredModelCatalog: was, Same: true}, nil
	case a.StatusCode != http.StatusOK:
		return FetchResult{}, fmt.Errorf("it answers %d", a.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(a.Body, MaxListSize+1))
	if err != nil {
		return FetchResult{}, contextCause(ctx, err)
	}
	if len(data) > MaxListSize {
		return FetchResult{}, fmt.Errorf("it is longer than %d MB", MaxListSize>>20)
	}
	models, skipped, err := ParseCatalog(data)
	if err != nil {
		return FetchResult{}, err
	}
	return FetchResult{
		StoredModelCatalog: StoredModelCatalog{Version: version, From: s.URL, ETag: a.Header.Get("ETag"), Fetched: s.Now().UTC(), Models: models},
		Skipped:            skipped,
	}, nil
}

// contextCause returns the cause of an ended context instead of the resulting error.
func contextCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err // without the URL, which the message already has
	}
	return err
}

// checkSafeURL refuses URLs with which somebody on the network could change prices.
func checkSafeURL(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: "the list of models is not fetched from " + u.Redacted() + ": on the way prices could be changed",
		Hint: "Set models.list to an https address; http is accepted on this machine only.",
	}
}
