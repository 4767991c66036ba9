// Package openai speaks the Chat Completions API of OpenAI, which most other
// providers and local servers speak too.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// Config says where the models are and how to reach them.
type Config struct {
	Key     string // never printed; empty for servers that want none
	BaseURL string // with "/v1" where the server has it; empty means OpenAI's own
	HTTP    *http.Client
	Limits  llm.Limits
	Effort  string // reasoning_effort; empty leaves it to the model
}

// Format keeps the key out of whatever prints a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "openai(%s)", c.BaseURL) }

// New returns the models. It does no work: the client is made at the first
// call.
func New(c Config) llm.Model {
	return &model{
		limits: c.Limits, effort: c.Effort, own: own(c.BaseURL),
		client: sync.OnceValue(func() sdk.Client { return open(c) }),
		key:    func() string { return c.Key },
	}
}

// model holds the key only within functions, so that no print of a value that
// holds a model can show it.
type model struct {
	limits llm.Limits
	effort string
	own    bool // the server is OpenAI's
	client func() sdk.Client
	key    func() string
}

func own(base string) bool {
	u, err := url.Parse(base)
	return base == "" || err == nil && u.Hostname() == "api.openai.com"
}

// open makes the client by hand: the SDK's constructor would add headers and
// keys from the environment, which are not meant for every server.
func open(c Config) sdk.Client {
	opts := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithMaxRetries(0),
		option.WithHTTPClient(wire.Client(c.HTTP)),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	if c.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(c.BaseURL))
	}
	return sdk.Client{Options: opts}
}

// Stream sends the request and reads the answer. Chunks are decoded into the
// few fields that matter here, among them some that the SDK's own type does
// not know because only compatible servers send them.
func (m *model) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	body, err := m.encode(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	client := m.client()
	var resp *http.Response
	if err := client.Post(ctx, "chat/completions", body, &resp); err != nil || wire.Refused(resp) {
		return llm.Response{}, m.close(ctx, err, resp)
	}
	resp.Body = watch.Body(resp.Body)
	d := draft{heard: heard}
	events := ssestream.NewDecoder(resp)
	defer func() { _ = events.Close() }()
	for !d.over && err == nil && events.Next() {
		err = d.take(events.Event().Data, m.key())
	}
	d.r.ID = cmp.Or(resp.Header.Get("X-Request-Id"), d.r.ID)
	if err == nil && d.reason == "" { // a finished message needs no formal end
		if err = events.Err(); err == nil {
			err = wire.Cut()
		}
	}
	if err == nil {
		watch.Drain(resp.Body)
		var answer llm.Response
		if answer, err = d.close(); err == nil {
			if !d.counted { // many servers do not; nothing may pass as free
				answer.Usage = nexus.Usage{Input: llm.Estimate(r), Output: int64(d.bytes)}
			}
			return answer, nil
		}
	}
	return llm.Response{Usage: d.r.Usage, Model: d.r.Model, ID: d.r.ID}, wire.Failure(ctx, err, nil, m.key())
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
