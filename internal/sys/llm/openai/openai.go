// Package openai speaks the Chat Completions API of OpenAI, which most other
// providers and local servers speak too.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// Config says where the models are and how to reach them.
type Config struct {
	Key     string // never printed; empty for servers that want none
	BaseURL string // with "/v1" where the server has it; empty means OpenAI's own
	HTTP    *http.Client
	Limits  llm.Limits
	Effort  string // of requests that name none; empty leaves it to the model
	Server  string // whose quirks apply, as in [Servers]; empty goes by the address
}

// Format keeps the key out of whatever prints a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "openai(%s)", c.BaseURL) }

// New returns the models. It does no work: the client is made at the first
// call.
func New(c Config) llm.Provider {
	t := load()
	return &model{
		limits: c.Limits, effort: c.Effort, table: t, server: t.at(c.BaseURL, c.Server),
		client: sync.OnceValue(func() sdk.Client { return Client(c.Key, c.BaseURL, c.HTTP) }),
		key:    func() string { return c.Key },
	}
}

// model holds the key only within functions, so that no print of a value that
// holds a model can show it.
type model struct {
	limits llm.Limits
	effort string
	table  table
	server Server
	client func() sdk.Client
	key    func() string
}

// Client makes the SDK's client by hand: its own constructor would add headers
// and keys from the environment, which are not meant for every server. An
// empty key sends none, and an empty base is OpenAI's own address. The SDK's
// retries are off.
func Client(key, base string, over *http.Client) sdk.Client {
	opts := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithMaxRetries(0),
		option.WithHTTPClient(wire.Client(over)),
	}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	if base != "" {
		opts = append(opts, option.WithBaseURL(base))
	}
	return sdk.Client{Options: opts, Models: sdk.NewModelService(opts...)}
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
	d := draft{hear: watch.Heard(heard), table: m.table, makes: !m.server.StrictIDs, step: wire.Steps(r)}
	events := ssestream.NewDecoder(resp)
	defer func() { _ = events.Close() }()
	for !d.over && err == nil && events.Next() {
		if d.reason != "" && ctx.Err() != nil { // what came of the wait for more is no whole event
			break
		}
		if err = d.take(events.Event().Data, m.key()); d.reason != "" {
			watch.Whole(m.lingers(d.counted))
		}
	}
	d.r.ID = cmp.Or(resp.Header.Get("X-Request-Id"), d.r.ID)
	if err == nil && d.reason == "" { // a finished message needs no formal end
		if err = events.Err(); err == nil {
			err = wire.Cut()
		}
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.close()
		watch.Drain(resp.Body)
		if err == nil {
			if !d.counted { // many servers do not; nothing may pass as free
				answer.Usage, answer.Estimated = llm.Settle(r, answer.Usage, d.bytes), true
			}
			return answer, nil
		}
	}
	return wire.Lost(r, d.r, d.counted, d.bytes), wire.Failure(ctx, err, nil, m.key())
}

// lingers is how long a finished message may be followed by more: the usage
// where it is still to come, and the formal end, which some servers forget.
func (m *model) lingers(counted bool) time.Duration {
	if counted || m.server.NoOptions {
		return wire.Lingers
	}
	return 10 * wire.Lingers
}

// Models implements [llm.Provider].
func (m *model) Models(ctx context.Context) ([]llm.About, error) {
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	client := m.client()
	page, err := client.Models.List(ctx) // all of them: nobody has a second page
	if err != nil {
		var resp *http.Response
		if e, ok := errors.AsType[*sdk.Error](err); ok {
			resp = e.Response
		}
		return nil, m.close(ctx, err, resp)
	}
	var all []llm.About
	for _, x := range page.Data {
		about := llm.About{Name: x.ID}
		if f, ok := x.JSON.ExtraFields[m.server.Context]; ok {
			_ = json.Unmarshal([]byte(f.Raw()), &about.Context) // else it stays unknown
		} else if f, ok := x.JSON.ExtraFields["context_length"]; ok { // OpenRouter
			_ = json.Unmarshal([]byte(f.Raw()), &about.Context) // else it stays unknown
		}
		all = append(all, about)
	}
	return all, nil
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
