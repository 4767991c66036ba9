// Package gemini is a client of Google's generateContent API.
package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// Config configures the access to the models.
type Config struct {
	Key     string // never printed
	BaseURL string // without "/v1beta"; empty means Google's own
	HTTP    *http.Client
	Limits  llm.CallLimits
	Effort  string // of requests without one; empty: the model decides
}

// Format hides the key from all printing of a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "gemini(%s)", c.BaseURL) }

// defaultBaseURL is the provider's own URL.
const defaultBaseURL = "https://generativelanguage.googleapis.com/"

// apiVersion is the API version at the beginning of every path.
const apiVersion = "v1beta/"

// NewProvider returns the models. It makes no request.
func NewProvider(c Config) llm.Provider {
	return &geminiModel{
		limits: c.Limits, effort: c.Effort,
		at: providerhttp.NewEndpoint(cmp.Or(c.BaseURL, defaultBaseURL), c.HTTP, func(h http.Header) {
			if c.Key != "" {
				h.Set("X-Goog-Api-Key", c.Key)
			}
		}),
		key: func() string { return c.Key },
	}
}

// geminiModel has the key only inside of closures, so that printing a value that contains a model cannot
// show it.
type geminiModel struct {
	limits llm.CallLimits
	effort string
	at     *providerhttp.ProviderEndpoint
	key    func() string
}

// modelPath returns the URL path of a model. A name may contain the kind of the model; without it, the
// model is one of Google's own.
func modelPath(name string) (string, error) {
	if name == "" || strings.Contains(name, "..") {
		return "", &llm.ModelCallError{Class: llm.Invalid, Code: "model", Cause: fmt.Errorf("%q is not a valid name of a model", name)}
	}
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	return apiVersion + (&url.URL{Path: name}).EscapedPath() + ":streamGenerateContent", nil
}

// Stream sends the request and reads the answer.
func (m *geminiModel) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	path, err := modelPath(r.Model)
	if err != nil {
		return llm.Response{}, err
	}
	body, err := m.encodeRequest(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	resp, err := m.at.PostStream(ctx, path, m.key(), url.Values{"alt": {"sse"}}, body)
	if err != nil {
		return llm.Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	d := geminiAnswerDraft{hear: watch.WatchDeltas(heard), step: providerhttp.AnswerNumber(r)}
	stream := watch.WatchBody(resp.Body)
	events := providerhttp.NewServerEventReader(stream)
	for err == nil && events.Next() {
		if d.isEnded() && ctx.Err() != nil { // an aborted read after the end is no event
			break
		}
		if err = d.addChunk(events.Data(), m.key()); d.isEnded() {
			watch.MarkMessageComplete(providerhttp.LingerTime)
		}
	}
	if err == nil && !d.isEnded() { // a finished message needs no formal end
		if err = events.Err(); err == nil {
			err = providerhttp.NewCutError()
		}
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.finishAnswer()
		watch.DrainBody(stream)
		if err == nil {
			if !d.counted { // no call may count as free
				answer.Usage, answer.Estimated = llm.EstimateUsage(r, answer.Usage, d.bytes), true
			}
			return answer, nil
		}
	}
	return providerhttp.PartialResponse(r, d.r, d.counted, d.bytes), providerhttp.NewCallError(ctx, err, nil, m.key())
}

// Models implements [llm.Provider].
func (m *geminiModel) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	var all []llm.ModelInfo
	err := m.at.ListPages(ctx, apiVersion+"models", m.key(), func(data []byte) (url.Values, error) {
		var page struct {
			Models []struct {
				Name    string                  `json:"name"`
				Context providerhttp.TokenCount `json:"inputTokenLimit"`
				Output  providerhttp.TokenCount `json:"outputTokenLimit"`
			} `json:"models"`
			Next string `json:"nextPageToken"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, providerhttp.NewMalformedError(err)
		}
		for _, x := range page.Models {
			all = append(all, llm.ModelInfo{Name: strings.TrimPrefix(x.Name, "models/"), Context: int64(x.Context), Output: int64(x.Output)})
		}
		if page.Next == "" {
			return nil, nil
		}
		return url.Values{"pageToken": {page.Next}}, nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
