// Package gemini speaks Google's generateContent API.
package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	sdk "google.golang.org/genai"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/wire"
)

// Config says where the models are and how to reach them.
type Config struct {
	Key     string // never printed
	BaseURL string // without "/v1beta"; empty means Google's own
	HTTP    *http.Client
	Limits  llm.Limits
	Effort  string // of requests that name none; empty leaves it to the model
}

// Format keeps the key out of whatever prints a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "gemini(%s)", c.BaseURL) }

// New returns the models. It does no work: the client is made at the first
// call.
func New(c Config) llm.Provider {
	return &model{
		limits: c.Limits, effort: c.Effort,
		open: func(ctx context.Context) (*sdk.Client, error) { return open(ctx, c) },
		key:  func() string { return c.Key },
	}
}

// model holds the key only within functions, so that no print of a value that
// holds a model can show it.
type model struct {
	limits llm.Limits
	effort string
	open   func(context.Context) (*sdk.Client, error)
	key    func() string

	once sync.Once // guards what follows
	sdk  *sdk.Client
	err  error
}

// client returns the client, made at the first call. It keeps nothing of ctx.
func (m *model) client(ctx context.Context) (*sdk.Client, error) {
	m.once.Do(func() { m.sdk, m.err = m.open(ctx) })
	return m.sdk, m.err
}

// open names everything that the SDK would otherwise take from the
// environment, which may be meant for something else.
func open(ctx context.Context, c Config) (*sdk.Client, error) {
	h := wire.Client(c.HTTP)
	h.Transport = door{cmp.Or[http.RoundTripper](h.Transport, http.DefaultTransport)}
	return sdk.NewClient(ctx, &sdk.ClientConfig{
		APIKey: cmp.Or(c.Key, "none"), Backend: sdk.BackendGeminiAPI, HTTPClient: h,
		HTTPOptions: sdk.HTTPOptions{BaseURL: cmp.Or(c.BaseURL, "https://generativelanguage.googleapis.com/"), APIVersion: "v1beta"},
	})
}

// door keeps a stream for who asked for it: the SDK's own reader takes a
// comment for an error, keeps neither the headers of a failure nor the exact
// numbers of a call, and decodes each event four times.
type door struct{ http.RoundTripper }

type visitor struct{ resp *http.Response }

type visitorKey struct{}

// RoundTrip hands the response over, and shows the SDK an empty one.
func (d door) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(r)
	v, ok := r.Context().Value(visitorKey{}).(*visitor)
	if err != nil || !ok {
		return resp, err
	}
	v.resp = resp
	return &http.Response{
		StatusCode: http.StatusOK, Proto: resp.Proto, ProtoMajor: resp.ProtoMajor, ProtoMinor: resp.ProtoMinor,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: http.NoBody, Request: r,
	}, nil
}

// post sends the request through the SDK and returns the response.
func (m *model) post(ctx context.Context, r llm.Request) (*http.Response, error) {
	body, err := m.encode(r)
	if err != nil {
		return nil, err
	}
	client, err := m.client(ctx)
	if err != nil {
		return nil, err
	}
	never, v := false, new(visitor)
	config := &sdk.GenerateContentConfig{
		AutomaticContinuation: &never, // it would call again by itself
		HTTPOptions:           &sdk.HTTPOptions{ExtrasRequestProvider: func(map[string]any) map[string]any { return body }},
	}
	for _, err := range client.Models.GenerateContentStream(context.WithValue(ctx, visitorKey{}, v), r.Model, nil, config) {
		if err != nil && v.resp == nil {
			return nil, err
		}
	}
	if v.resp == nil {
		return nil, errors.New("nothing was sent")
	}
	return v.resp, nil
}

// Stream sends the request and reads the answer.
func (m *model) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	resp, err := m.post(ctx, r)
	if err != nil {
		return llm.Response{}, wire.Failure(ctx, err, nil, m.key())
	}
	defer func() { _ = resp.Body.Close() }()
	if wire.Refused(resp) {
		return llm.Response{}, wire.Failure(ctx, errors.New("not an answer"), resp, m.key())
	}
	d := draft{hear: watch.Heard(heard), step: wire.Steps(r)}
	body := watch.Body(resp.Body)
	events := wire.NewEvents(body)
	for err == nil && events.Next() {
		if d.ended() && ctx.Err() != nil { // what came of the wait for more is no whole event
			break
		}
		if err = d.take(events.Data(), m.key()); d.ended() {
			watch.Whole(wire.Lingers)
		}
	}
	if err == nil && !d.ended() { // a finished message needs no formal end
		if err = events.Err(); err == nil {
			err = wire.Cut()
		}
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.close()
		watch.Drain(io.NopCloser(body))
		if err == nil {
			if !d.counted { // nothing may pass as free
				answer.Usage, answer.Estimated = llm.Settle(r, answer.Usage, d.bytes), true
			}
			return answer, nil
		}
	}
	return wire.Lost(r, d.r, d.counted, d.bytes), wire.Failure(ctx, err, nil, m.key())
}

// Models implements [llm.Provider].
func (m *model) Models(ctx context.Context) ([]llm.About, error) {
	ctx, watch := wire.Begin(ctx, m.limits)
	defer watch.Stop()
	client, err := m.client(ctx)
	if err != nil {
		return nil, wire.Failure(ctx, err, nil, m.key())
	}
	var all []llm.About
	for x, err := range client.Models.All(ctx) {
		if e, ok := errors.AsType[sdk.APIError](err); ok {
			body, _ := wire.Encode(map[string]any{"error": e}) // it came as JSON
			return nil, wire.Said(e.Code, nil, body, m.key())
		}
		if err != nil {
			return nil, wire.Failure(ctx, err, nil, m.key())
		}
		all = append(all, llm.About{Name: strings.TrimPrefix(x.Name, "models/"), Context: int64(x.InputTokenLimit), Output: int64(x.OutputTokenLimit)})
	}
	return all, nil
}
