// Package anthropic speaks the Messages API of Anthropic and of what is
// compatible with it.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// Config says where the models are and how to reach them.
type Config struct {
	Key      string // never printed
	BaseURL  string // without "/v1"; empty means Anthropic's own
	HTTP     *http.Client
	Limits   llm.Limits
	Effort   string // of requests that name none; empty leaves it to the model
	Thinking string // the type of thinking, shown in summary; empty leaves it to the model
}

// Format keeps the key out of whatever prints a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "anthropic(%s)", c.BaseURL) }

// New returns the models. It does no work: the client is made at the first
// call.
func New(c Config) llm.Provider {
	return &model{
		limits: c.Limits, effort: c.Effort, thinking: c.Thinking,
		client: sync.OnceValue(func() sdk.Client { return open(c) }),
		key:    func() string { return c.Key },
	}
}

// model holds the key only within functions, so that no print of a value that
// holds a model can show it.
type model struct {
	limits           llm.Limits
	effort, thinking string
	client           func() sdk.Client
	key              func() string
}

func open(c Config) sdk.Client {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithMaxRetries(0),
		option.WithHTTPClient(wire.Client(c.HTTP)),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	if c.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(c.BaseURL))
	}
	return sdk.NewClient(opts...)
}

// Stream sends the request and reads the answer. Events are decoded into the
// few fields that matter here: the SDK's own event type holds every field of
// every event, at four times the time and twenty times the memory.
func (m *model) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	body, err := m.encode(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	client := m.client()
	var resp *http.Response
	if err := client.Post(ctx, "v1/messages", body, &resp); err != nil || wire.Refused(resp) {
		return llm.Response{}, m.close(ctx, err, resp)
	}
	resp.Body = watch.Body(resp.Body)
	d := draft{hear: watch.Heard(heard), step: wire.Steps(r)}
	events := ssestream.NewDecoder(resp)
	defer func() { _ = events.Close() }()
	for !d.over && err == nil && events.Next() {
		err = d.take(events.Event(), m.key())
	}
	d.r.ID = cmp.Or(resp.Header.Get("request-id"), d.r.ID)
	if err == nil {
		err = events.Err()
	}
	if err == nil && !d.over {
		err = wire.Cut()
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.close()
		watch.Drain(resp.Body)
		if err == nil {
			return answer, nil
		}
	}
	return wire.Lost(r, d.r, d.over, d.bytes), wire.Failure(ctx, err, nil, m.key())
}

// Models implements [llm.Provider].
func (m *model) Models(ctx context.Context) ([]llm.About, error) {
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	client := m.client()
	var all []llm.About
	for pages := client.Models.ListAutoPaging(ctx, sdk.ModelListParams{}); ; {
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
		x := pages.Current()
		all = append(all, llm.About{Name: x.ID, Context: x.MaxInputTokens, Output: x.MaxTokens})
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
