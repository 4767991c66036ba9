// Package wire holds what the providers' rooms share: an HTTP client that
// gives no key away, a watch over a call's time and size, what became of a
// failed call, and the check that nothing unsound leaves an answer.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// The reasons to give up on a call.
var (
	errIdle  = errors.New("the model stopped answering")
	errLong  = errors.New("the answer took too long")
	errBytes = errors.New("the answer is too large")
	errDone  = errors.New("the call is over")
)

// noRedirects returns a client like h, or a new one for nil, that follows no
// redirect, since that would carry the key to another host, and that lets
// [llm.Listen] hear of every response.
func noRedirects(h *http.Client) *http.Client {
	c := http.Client{}
	if h != nil {
		c = *h
	}
	if t, ok := http.DefaultTransport.(*http.Transport); ok && c.Transport == nil {
		t = t.Clone()
		t.MaxIdleConnsPerHost = 64 // sessions run side by side
		c.Transport = t
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Transport = headerReporter{cmp.Or(c.Transport, http.DefaultTransport)}
	return &c
}

// headerReporter tells who listens what the headers of each response say.
type headerReporter struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (h headerReporter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(r)
	if err == nil {
		llm.ReportHeaders(r.Context(), resp.StatusCode, resp.Header)
	}
	return resp, err
}

// Watch is over one call: it cancels the call's context when the provider is
// silent for too long, or says too much.
type Watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without an idle limit
	idle   time.Duration
	left   int64 // bytes that the answer may still have
	free   context.CancelFunc
}

// Begin starts the watch. The call runs under the context it returns; Stop
// must follow.
func Begin(ctx context.Context, l llm.Limits) (context.Context, *Watch) {
	w := &Watch{idle: l.Idle, left: cmp.Or(l.Bytes, 64<<20), free: func() {}}
	if l.Answer > 0 {
		ctx, w.free = context.WithTimeoutCause(ctx, l.Answer, errLong)
	}
	ctx, w.cancel = context.WithCancelCause(ctx)
	if l.Idle > 0 {
		w.timer = time.AfterFunc(l.Idle, func() { w.cancel(errIdle) })
	}
	return ctx, w
}

// Stop ends the watch and the call.
func (w *Watch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(errDone)
	w.free()
}

// Body returns rc under watch.
func (w *Watch) Body(rc io.ReadCloser) io.ReadCloser { return watched{rc, w} }

type watched struct {
	io.ReadCloser
	w *Watch
}

// Read counts what arrives. It is no sign of life: pings and comments may come
// for ever.
func (b watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.w.left -= int64(n); b.w.left < 0 {
		b.w.cancel(errBytes)
		return 0, errBytes
	}
	return n, err
}

// Heard returns what is told about each piece of the answer: it passes the piece
// on, and takes it as a sign of life. An empty piece is neither.
func (w *Watch) Heard(heard func(llm.Delta)) func(llm.Delta) {
	return func(d llm.Delta) {
		if d == (llm.Delta{}) {
			return
		}
		if w.timer != nil {
			w.timer.Reset(w.idle)
		}
		if heard != nil {
			heard(d)
		}
	}
}

// Lingers is how long a message that is whole may be followed by more.
const Lingers = time.Second

// MessageComplete says that the message is whole though nothing said that it ends: what
// still follows must come soon, and a server that stays silent is left.
func (w *Watch) MessageComplete(lingers time.Duration) {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.idle, w.timer = lingers, time.AfterFunc(lingers, func() { w.cancel(errDone) })
}

// Drain reads what little follows the end of a message, so that the
// connection can serve the next call, but waits for no server that continues.
func (w *Watch) Drain(body io.Reader) {
	t := time.AfterFunc(50*time.Millisecond, func() { w.cancel(errDone) })
	defer t.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 64<<10)) // whatever it is, the answer is whole
}

// isNotStream reports whether resp is something else than a stream of events.
func isNotStream(resp *http.Response) bool {
	return resp == nil || resp.StatusCode >= 300 || strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") || page(resp)
}

// page reports whether resp is for people: another site answers there.
func page(resp *http.Response) bool {
	return resp.StatusCode < 300 && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
}

// Failure says what became of a call that ended with err, with resp nil if
// there was no response. Nothing of it holds the key.
func Failure(ctx context.Context, err error, resp *http.Response, key string) *llm.Error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errDone) { // ours says nothing about the answer
		class := llm.Fatal // the caller wants no more
		if errors.Is(cause, errIdle) || errors.Is(cause, errLong) || errors.Is(cause, errBytes) {
			class = llm.Transient
		}
		return &llm.Error{Class: class, Cause: cause}
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	if resp != nil && page(resp) {
		return &llm.Error{Class: llm.Invalid, Status: resp.StatusCode, Code: "address", Cause: errors.New("a web page is served at this address")}
	}
	if resp != nil && isNotStream(resp) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what came is all there is to say
		return ResponseError(resp.StatusCode, resp.Header, body, key)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("connect: %w", u.Err) // without the address, which may hold secrets
	}
	class, code := connectionFault(err)
	if key != "" && strings.Contains(err.Error(), key) {
		err = errors.New(strings.ReplaceAll(err.Error(), key, "[key]"))
	}
	return &llm.Error{Class: class, Code: code, Cause: err}
}

// connectionFault says why nothing could be reached, or was lost again.
func connectionFault(err error) (llm.Class, string) {
	text := err.Error()
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return llm.Fatal, "certificate"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok { // no network, or no such name: nobody can tell
		return llm.Transient, "name"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.Contains(text, "server gave HTTP response to HTTPS client") {
		return llm.Invalid, "address"
	}
	for _, wrong := range []string{"unsupported protocol scheme", "failed to parse url", "no Host in request URL", "first path segment in URL", "error parsing base URL"} {
		if strings.Contains(text, wrong) {
			return llm.Invalid, "address"
		}
	}
	return llm.Transient, "connection"
}

// ResponseError is [llm.Classify] for a body that may echo the key.
func ResponseError(status int, h http.Header, body []byte, key string) *llm.Error {
	if key != "" {
		body = bytes.ReplaceAll(body, []byte(key), []byte("[key]"))
	}
	return llm.Classify(status, h, body)
}

// NewCutError is the failure of a stream that ended before its message did.
func NewCutError() *llm.Error { return broken("incomplete", "the stream ended before the message did") }

// NewMalformedError is the failure of an event that is not what the wire promises.
func NewMalformedError(err error) *llm.Error { return broken("malformed", "event: "+err.Error()) }

func broken(code, why string) *llm.Error {
	return &llm.Error{Class: llm.Transient, Code: code, Cause: errors.New(why)}
}

// Encode writes v as JSON without escaping what HTML would mind, so that code
// costs the bytes that it has.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, &llm.Error{Class: llm.Invalid, Code: "encode", Cause: err}
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// PartialResponse is what is known of a call whose stream broke off, or whose answer was
// unsound: what the provider counted, and an estimate from the bytes that
// arrived where it had not counted the whole answer yet.
func PartialResponse(r llm.Request, so llm.Response, counted bool, arrived int) llm.Response {
	so = llm.Response{Usage: so.Usage, Cost: so.Cost, Model: so.Model, ID: so.ID}
	if !counted {
		so.Usage, so.Estimated = llm.EstimateUsage(r, so.Usage, arrived), true
	}
	return so
}
