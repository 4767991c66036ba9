package providerhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// userAgent is the User-Agent of requests.
const userAgent = "nexus"

// ProviderEndpoint is the API of a provider. Printing it cannot show a key.
type ProviderEndpoint struct {
	base   string
	client func() *http.Client
	sign   func(http.Header)
}

// NewEndpoint returns the endpoint at the URL. The HTTP client is derived from over, without
// redirects, at the first call; sign sets the headers of every request, including the key.
func NewEndpoint(base string, over *http.Client, sign func(http.Header)) *ProviderEndpoint {
	return &ProviderEndpoint{base: base, client: sync.OnceValue(func() *http.Client { return noRedirects(over) }), sign: sign}
}

// Post sends a JSON body to the path below the endpoint. Any status is a response; the caller must
// close its body.
func (e *ProviderEndpoint) Post(ctx context.Context, path string, query url.Values, body []byte) (*http.Response, error) {
	return e.sendRequest(ctx, http.MethodPost, path, query, body)
}

// PostStream posts, and returns a response that is a stream of events; the caller must close its body.
// Any other response is an error of [NewCallError], which does not contain the key.
func (e *ProviderEndpoint) PostStream(ctx context.Context, path, key string, query url.Values, body []byte) (*http.Response, error) {
	resp, err := e.Post(ctx, path, query, body)
	if err != nil {
		return nil, NewCallError(ctx, err, nil, key)
	}
	if isNotStream(resp) {
		defer func() { _ = resp.Body.Close() }()
		return nil, NewCallError(ctx, errors.New("not an answer"), resp, key)
	}
	return resp, nil
}

// sendRequest drops the query and the fragment of the base URL.
func (e *ProviderEndpoint) sendRequest(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Response, error) {
	u, err := url.Parse(e.base)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err // without the URL, which may contain secrets
		}
		return nil, &llm.ModelCallError{Class: llm.Invalid, Code: "address", Cause: fmt.Errorf("read the address: %w", err)}
	}
	u = u.JoinPath(path)
	u.RawQuery, u.Fragment = query.Encode(), ""
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	e.sign(req.Header)
	return e.client().Do(req)
}

// mostPages is a limit above the number of pages of any provider's list.
const mostPages = 100

// ListPages reads a list page by page, the first one without a query. The function page reads a page
// and returns the query of the next one, nil after the last. The error does not contain the key.
func (e *ProviderEndpoint) ListPages(ctx context.Context, path, key string, page func(data []byte) (url.Values, error)) error {
	var query url.Values
	for range mostPages {
		data, err := e.readListPage(ctx, path, query, key)
		if err == nil {
			query, err = page(data)
		}
		if err != nil {
			return NewCallError(ctx, err, nil, key)
		}
		if query == nil {
			return nil
		}
	}
	return nil
}

// readListPage reads one page of a list.
func (e *ProviderEndpoint) readListPage(ctx context.Context, path string, query url.Values, key string) ([]byte, error) {
	resp, err := e.sendRequest(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusMultipleChoices || isWebPage(resp) {
		return nil, NewCallError(ctx, errors.New("not a list"), resp, key)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxEventSize))
	if len(data) == maxEventSize {
		return nil, errBytes
	}
	return data, err
}
