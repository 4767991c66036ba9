// Package responses is a client of OpenAI's Responses API. Nothing is stored at the provider: the
// reasoning is part of the conversation, encrypted.
package responses

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// Config configures the access to the models.
type Config struct {
	Key     string // never printed
	BaseURL string // with "/v1"; empty means OpenAI's own
	HTTP    *http.Client
	Limits  llm.CallLimits
	Effort  string // of requests without one; empty: the model decides
}

// Format hides the key from all printing of a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "responses(%s)", c.BaseURL) }

// NewProvider returns the models. It makes no request.
func NewProvider(c Config) llm.Provider {
	return &responsesModel{
		limits: c.Limits, effort: c.Effort,
		at:  openai.NewEndpoint(c.Key, c.BaseURL, c.HTTP),
		key: func() string { return c.Key },
	}
}

// responsesModel has the key only inside of closures, so that printing a value that contains a model cannot
// show it.
type responsesModel struct {
	limits llm.CallLimits
	effort string
	at     *providerhttp.ProviderEndpoint
	key    func() string
}

// Stream sends the request and reads the answer. Only the needed fields of events are decoded.
func (m *responsesModel) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	body, err := m.encodeRequest(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	resp, err := m.at.PostStream(ctx, "responses", m.key(), nil, body)
	if err != nil {
		return llm.Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	stream := watch.WatchBody(resp.Body)
	d := responsesAnswerDraft{hear: watch.WatchDeltas(heard), step: providerhttp.AnswerNumber(r)}
	events := providerhttp.NewServerEventReader(stream)
	for !d.over && err == nil && events.Next() {
		err = d.addEvent(events.Data(), m.key())
	}
	d.r.ID = cmp.Or(resp.Header.Get("X-Request-Id"), d.r.ID)
	if err == nil && !d.over {
		if err = events.Err(); err == nil && !d.refused { // nothing follows a refusal
			err = providerhttp.NewCutError()
		}
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.finishAnswer()
		watch.DrainBody(stream)
		if err == nil {
			if !d.counted { // no call may count as free
				answer.Usage, answer.Estimated = llm.EstimateUsage(r, answer.Usage, max(d.bytes, d.whole)), true
			}
			return answer, nil
		}
	}
	return providerhttp.PartialResponse(r, d.r, d.counted, max(d.bytes, d.whole)), providerhttp.NewCallError(ctx, err, nil, m.key())
}

// Models implements [llm.Provider].
func (m *responsesModel) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	var all []llm.ModelInfo
	err := m.at.ListPages(ctx, "models", m.key(), func(data []byte) (url.Values, error) {
		var page struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, providerhttp.NewMalformedError(err)
		}
		for _, x := range page.Data {
			all = append(all, llm.ModelInfo{Name: x.ID})
		}
		return nil, nil // there is only one page
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
