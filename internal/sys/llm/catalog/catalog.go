// Package catalog fetches the public list of models, models.dev, and keeps
// what it says about them on this machine.
//
// The list is somebody else's: it is read into words of ours, and what it says
// of a model is used only where nobody here knows better.
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
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// MaxListSize is the longest list that is read, in bytes.
const MaxListSize = 64 << 20

// version is that of the kept file.
const version = 1

// Kept is the list as it is kept.
type Kept struct {
	Version int                   `json:"version"`
	From    string                `json:"from"` // address
	ETag    string                `json:"etag,omitzero"`
	Fetched time.Time             `json:"fetched"` // or found unchanged
	Models  map[string]llm.Listed `json:"models"`
}

// Load reads the kept list. One that was never fetched is an fs.ErrNotExist.
func Load(path string) (Kept, error) {
	var k Kept
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
		return Kept{}, fmt.Errorf("the kept list of models: %w", err)
	}
	if k.Version != version {
		return Kept{}, fmt.Errorf("the kept list of models has version %d, not %d", k.Version, version)
	}
	return k, nil
}

// Source is where the list is fetched from, and where it is kept.
type Source struct {
	URL  string // https, or http on this machine
	Path string
	HTTP http.RoundTripper // nil is the usual one
	Now  func() time.Time
	Time time.Duration // of the whole call; 0 is a minute
}

// FetchResult is how a call went.
type FetchResult struct {
	Kept
	Skipped int  // entries that could not be read
	Same    bool // nothing had changed since the last time
}

// Fetch fetches the list and keeps it. If it fails, what was kept stays.
func Fetch(ctx context.Context, s Source) (FetchResult, error) {
	was, err := Load(s.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is about to be replaced
		was = Kept{}
	}
	if was.From != s.URL {
		was = Kept{}
	}
	f, err := s.ask(ctx, was)
	if err != nil {
		if e, ok := errors.AsType[*nexus.Error](err); ok {
			return f, e
		}
		hint := "Runs continue without it, with the built-in table and what was fetched before. Try again later, or set models.list to an address that answers."
		return f, &nexus.Error{Code: nexus.CodeProvider, Message: "fetch the list of models from " + s.URL, Cause: err, Hint: hint}
	}
	data, err := json.Marshal(f.Kept)
	if err != nil {
		return f, err
	}
	return f, disk.Replace(s.Path, data)
}

func (s Source) ask(ctx context.Context, was Kept) (FetchResult, error) {
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
		return FetchResult{Kept: was, Same: true}, nil
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
	models, skipped, err := Parse(data)
	if err != nil {
		return FetchResult{}, err
	}
	return FetchResult{
		Kept:    Kept{Version: version, From: s.URL, ETag: a.Header.Get("ETag"), Fetched: s.Now().UTC(), Models: models},
		Skipped: skipped,
	}, nil
}

// contextCause prefers what ended the call to how that looked.
func contextCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err // without the address, which is named already
	}
	return err
}

// checkSafeURL refuses an address where somebody on the way could change prices.
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
