// Package openai is a client of OpenAI's Chat Completions API, which most other providers and
// local servers also have.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// Config configures the access to the models.
type Config struct {
	Key     string // never printed; empty for servers without one
	BaseURL string // with "/v1" if the server has it; empty means OpenAI's own
	HTTP    *http.Client
	Limits  llm.CallLimits
	Effort  string // of requests without one; empty: the model decides
	Server  string // server with quirks, as in [ServersWithQuirks]; empty: detected by URL
}

// Format hides the key from all printing of a Config.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "openai(%s)", c.BaseURL) }

// defaultBaseURL is the provider's own URL.
const defaultBaseURL = "https://api.openai.com/v1/"

// NewProvider returns the models. It makes no request.
func NewProvider(c Config) llm.Provider {
	t := loadQuirks()
	return &chatModel{
		limits: c.Limits, effort: c.Effort, table: t, server: t.findServer(c.BaseURL, c.Server),
		at:  NewEndpoint(c.Key, c.BaseURL, c.HTTP),
		key: func() string { return c.Key },
	}
}

// chatModel has the key only inside of closures, so that printing a value that contains a model cannot
// show it.
type chatModel struct {
	limits llm.CallLimits
	effort string
	table  serverQuirksTable
	server ServerQuirks
	at     *providerhttp.ProviderEndpoint
	key    func() string
}

// NewEndpoint returns the endpoint at the URL, which is OpenAI's own if empty. An empty key is not
// sent.
func NewEndpoint(key, base string, over *http.Client) *providerhttp.ProviderEndpoint {
	return providerhttp.NewEndpoint(cmp.Or(base, defaultBaseURL), over, func(h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	})
}

// Stream sends the request and reads the answer. Only the needed fields of chunks are decoded,
// including some that only compatible servers send.
func (m *chatModel) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	body, err := m.encodeRequest(r)
	if err != nil {
		return llm.Response{}, err
	}
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	resp, err := m.at.PostStream(ctx, "chat/completions", m.key(), nil, body)
	if err != nil {
		return llm.Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	stream := watch.WatchBody(resp.Body)
	d := chatAnswerDraft{hear: watch.WatchDeltas(heard), table: m.table, makes: !m.server.StrictIDs, step: providerhttp.AnswerNumber(r)}
	events := providerhttp.NewServerEventReader(stream)
	for !d.over && err == nil && events.Next() {
		if d.reason != "" && ctx.Err() != nil { // an aborted read after the end is no event
			break
		}
		if err = d.addChunk(events.Data(), m.key()); d.reason != "" {
			watch.MarkMessageComplete(m.lingerTime(d.counted))
		}
	}
	d.r.ID = cmp.Or(resp.Header.Get("X-Request-Id"), d.r.ID)
	if err == nil && d.reason == "" { // a finished message needs no formal end
		if err = events.Err(); err == nil {
			err = providerhttp.NewCutError()
		}
	}
	if err == nil {
		var answer llm.Response
		answer, err = d.finishAnswer()
		watch.DrainBody(stream)
		if err == nil {
			if !d.counted { // many servers do not report it; no call may count as free
				answer.Usage, answer.Estimated = llm.EstimateUsage(r, answer.Usage, d.bytes), true
			}
			return answer, nil
		}
	}
	return providerhttp.PartialResponse(r, d.r, d.counted, d.bytes), providerhttp.NewCallError(ctx, err, nil, m.key())
}

// lingerTime returns the wait for further data after a finished message: for the usage, if it is
// missing, and for the formal end, which some servers omit.
func (m *chatModel) lingerTime(counted bool) time.Duration {
	if counted || m.server.NoOptions {
		return providerhttp.LingerTime
	}
	return 10 * providerhttp.LingerTime
}

// Models implements [llm.Provider].
func (m *chatModel) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	ctx, watch := providerhttp.StartCallLimitWatch(ctx, m.limits)
	defer watch.Stop()
	var all []llm.ModelInfo
	err := m.at.ListPages(ctx, "models", m.key(), func(data []byte) (url.Values, error) {
		var page struct {
			Data []map[string]json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, providerhttp.NewMalformedError(err)
		}
		for _, x := range page.Data {
			var about llm.ModelInfo
			_ = json.Unmarshal(x["id"], &about.Name) // no name on failure
			size, ok := x[m.server.Context]
			if !ok {
				size = x["context_length"] // OpenRouter
			}
			_ = json.Unmarshal(size, &about.Context) // unknown on failure
			all = append(all, about)
		}
		return nil, nil // no server has a second page
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
