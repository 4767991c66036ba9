// Package responses speaks the Responses API of OpenAI. Nothing is kept at the
// provider: reasoning travels in the conversation, sealed.
package responses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	sdk "github.com/openai/openai-go/v3"

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

// New returns the models. It does no work: the client is made at the first
// call.
func New(c Config) llm.Provider {
	return &model{
		limits: c.Limits, effort: c.Effort,
		client: sync.OnceValue(func() sdk.Client { return openai.Client(c.Key, c.BaseURL, c.HTTP) }),
		key:    func() string { return c.Key },
	}
}

// model holds the key only within functions, so that no print of a value that
// holds a model can show it.
type model struct {
	limits llm.Limits
	effort string
	client func() sdk.Client
	key    func() string
}

// Stream sends the request and reads the answer. Events are decoded into the
// few fields that matter here: the SDK's own event type holds every field of
// every event.
func (m *model) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	body, err := m.encode(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	client := m.client()
	var resp *http.Response
	if err := client.Post(ctx, "responses", body, &resp); err != nil || wire.Refused(resp) {
		return llm.Response{}, m.close(ctx, err, resp)
	}
	resp.Body = watch.Body(resp.Body)
	defer func() { _ = resp.Body.Close() }()
	d := draft{hear: watch.Heard(heard), step: wire.Steps(r)}
	events := wire.NewEvents(resp.Body)
	for !d.over && err == nil && events.Next() {
		err = d.take(events.Data(), m.key())
	}
	d.r.ID = cmp.Or(resp.Header.Get("X-Request-Id"), d.r.ID)
	if err == nil && !d.over {
		if err = events.Err(); err == nil && !d.refused { // behind which nothing follows
			err = wire.Cut()
		}
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.close()
		watch.Drain(resp.Body)
		if err == nil {
			if !d.counted { // nothing may pass as free
				answer.Usage, answer.Estimated = llm.Settle(r, answer.Usage, max(d.bytes, d.whole)), true
			}
			return answer, nil
		}
	}
	return wire.Lost(r, d.r, d.counted, max(d.bytes, d.whole)), wire.Failure(ctx, err, nil, m.key())
}

// Models implements [llm.Provider].
func (m *model) Models(ctx context.Context) ([]llm.About, error) {
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	client := m.client()
	var all []llm.About
	for pages := client.Models.ListAutoPaging(ctx); ; {
		if !pages.Next() {
			err := pages.Err()
			if err == nil {
				return all, nil
			}
			var resp *http.Response
			if e, ok := errors.AsType[*sdk.Error](err); ok {
				resp = e.Response
			}
			return nil, m.close(ctx, err, resp)
		}
		all = append(all, llm.About{Name: pages.Current().ID})
	}
}

// close says why a call has no answer and lets go of its response.
func (m *model) close(ctx context.Context, err error, resp *http.Response) error {
	if resp != nil {
		defer func() { _ = resp.Body.Close() }()
	}
	if err == nil {
		err = errors.New("not an answer")
	}
	return wire.Failure(ctx, err, resp, m.key())
}
