// Package anthropic is a client of Anthropic's Messages API and of compatible servers.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// Config configures the access to the models.
type Config struct {
	Key      string // never printed
	BaseURL  string // without "/v1"; empty means Anthropic's own
	HTTP     *http.Client
	Limits   llm.CallLimits
	Effort   string // of requests without one; empty: the model decides
	Thinking string // type of thinking, shown as a summary; empty: the model decides
}

// Format hides the key from all printing of a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "anthropic(%s)", c.BaseURL) }

// defaultBaseURL is the provider's own URL.
const defaultBaseURL = "https://api.anthropic.com/"

// apiVersion is the API version that every request names.
const apiVersion = "2023-06-01"

// NewProvider returns the models. It makes no request.
func NewProvider(c Config) llm.Provider {
	return &anthropicModel{
		limits: c.Limits, effort: c.Effort, thinking: c.Thinking,
		at: providerhttp.NewEndpoint(cmp.Or(c.BaseURL, defaultBaseURL), c.HTTP, func(h http.Header) {
			h.Set("Anthropic-Version", apiVersion)
			if c.Key != "" {
				h.Set("X-Api-Key", c.Key)
			}
		}),
		key: func() string { return c.Key },
	}
}

// anthropicModel has the key only inside of closures, so that printing a value that contains a model cannot
// show it.
type anthropicModel struct {
	limits           llm.CallLimits
	effort, thinking string
	at               *providerhttp.ProviderEndpoint
	key              func() string
}

// Stream sends the request and reads the answer. Only the needed fields of events are decoded.
func (m *anthropicModel) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	body, err := m.encodeRequest(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	resp, err := m.at.PostStream(ctx, "v1/messages", m.key(), nil, body)
	if err != nil {
		return llm.Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	stream := watch.WatchBody(resp.Body)
	d := anthropicAnswerDraft{hear: watch.WatchDeltas(heard), step: providerhttp.AnswerNumber(r)}
	events := providerhttp.NewServerEventReader(stream)
	for !d.over && err == nil && events.Next() {
		err = d.addEvent(events.Name(), events.Data(), m.key())
	}
	d.r.ID = cmp.Or(resp.Header.Get("request-id"), d.r.ID)
	if err == nil {
		err = events.Err()
	}
	if err == nil && !d.over {
		err = providerhttp.NewCutError()
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.finishAnswer()
		watch.DrainBody(stream)
		if err == nil {
			return answer, nil
		}
	}
	return providerhttp.PartialResponse(r, d.r, d.over, d.bytes), providerhttp.NewCallError(ctx, err, nil, m.key())
}

// Models implements [llm.Provider].
func (m *anthropicModel) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	var all []llm.ModelInfo
	err := m.at.ListPages(ctx, "v1/models", m.key(), func(data []byte) (url.Values, error) {
		var page struct {
			Data []struct {
				ID      string                  `json:"id"`
				Context providerhttp.TokenCount `json:"max_input_tokens"`
				Output  providerhttp.TokenCount `json:"max_tokens"`
			} `json:"data"`
			More *bool  `json:"has_more"`
			Last string `json:"last_id"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, providerhttp.NewMalformedError(err)
		}
		for _, x := range page.Data {
			all = append(all, llm.ModelInfo{Name: x.ID, Context: int64(x.Context), Output: int64(x.Output)})
		}
		if len(page.Data) == 0 || page.Last == "" || page.More != nil && !*page.More {
			return nil, nil
		}
		return url.Values{"after_id": {page.Last}}, nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
