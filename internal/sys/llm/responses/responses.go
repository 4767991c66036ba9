// Package responses speaks the Responses API of OpenAI. Nothing is kept at the
// provider: reasoning travels in the conversation, sealed.
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
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// Config says where the models are and how to reach them.
type Config struct {
	Key     string // never printed
	BaseURL string // with "/v1"; empty means OpenAI's own
	HTTP    *http.Client
	Limits  llm.Limits
	Effort  string // of requests that name none; empty leaves it to the model
}

// Format keeps the key out of whatever prints a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "responses(%s)", c.BaseURL) }

// New returns the models. It does no work.
func New(c Config) llm.Provider {
	return &model{
		limits: c.Limits, effort: c.Effort,
		at:  openai.Endpoint(c.Key, c.BaseURL, c.HTTP),
		key: func() string { return c.Key },
	}
}

// model holds the key only within functions, so that no print of a value that
// holds a model can show it.
type model struct {
	limits llm.Limits
	effort string
	at     *wire.Endpoint
	key    func() string
}

// Stream sends the request and reads the answer. Events are decoded into the
// few fields that matter here.
func (m *model) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	body, err := m.encode(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	resp, err := m.at.Stream(ctx, "responses", m.key(), nil, body)
	if err != nil {
		return llm.Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	stream := watch.Body(resp.Body)
	d := draft{hear: watch.Heard(heard), step: wire.Steps(r)}
	events := wire.NewEvents(stream)
	for !d.over && err == nil && events.Next() {
		err = d.take(events.Data(), m.key())
	}
	d.r.ID = cmp.Or(resp.Header.Get("X-Request-Id"), d.r.ID)
	if err == nil && !d.over {
		if err = events.Err(); err == nil && !d.refused { // behind which nothing follows
			err = wire.NewCutError()
		}
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.close()
		watch.Drain(stream)
		if err == nil {
			if !d.counted { // nothing may pass as free
				answer.Usage, answer.Estimated = llm.EstimateUsage(r, answer.Usage, max(d.bytes, d.whole)), true
			}
			return answer, nil
		}
	}
	return wire.PartialResponse(r, d.r, d.counted, max(d.bytes, d.whole)), wire.Failure(ctx, err, nil, m.key())
}

// Models implements [llm.Provider].
func (m *model) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	var all []llm.ModelInfo
	err := m.at.List(ctx, "models", m.key(), func(data []byte) (url.Values, error) {
		var page struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, wire.NewMalformedError(err)
		}
		for _, x := range page.Data {
			all = append(all, llm.ModelInfo{Name: x.ID})
		}
		return nil, nil // there is no second page
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
