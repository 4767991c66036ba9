// Package providerhttp has the common code of the provider packages: an HTTP client that does not leak
// keys, limits for a call's time and size, the classification of failed calls, and the validation
// of answers.
package providerhttp

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

// Causes of an aborted call.
var (
	errIdle  = errors.New("the model stopped answering")
	errLong  = errors.New("the answer took too long")
	errBytes = errors.New("the answer is too large")
	errDone  = errors.New("the call is over")
)

// noRedirects returns a copy of h (or a new client for nil) that follows no redirect, since that
// would send the key to another host, and that reports every response to [llm.WithHeaderListener].
func noRedirects(h *http.Client) *http.Client {
	c := http.Client{}
	if h != nil {
		c = *h
	}
	if t, ok := http.DefaultTransport.(*http.Transport); ok && c.Transport == nil {
		t = t.Clone()
		t.MaxIdleConnsPerHost = 64 // sessions run in parallel
		c.Transport = t
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Transport = headerReportingTransport{cmp.Or(c.Transport, http.DefaultTransport)}
	return &c
}

// headerReportingTransport reports the headers of each response, see [llm.ReportHeaders].
type headerReportingTransport struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (h headerReportingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(r)
	if err == nil {
		llm.ReportHeaders(r.Context(), resp.StatusCode, resp.Header)
	}
	return resp, err
}

// CallLimitWatch enforces the limits of one call: it cancels the call's context if the provider is silent
// for too long, or sends too much.
type CallLimitWatch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without an idle limit
	idle   time.Duration
	left   int64 // remaining bytes of the answer
	free   context.CancelFunc
}

// StartCallLimitWatch starts the watch. The call must use the returned context, and Stop must be called.
func StartCallLimitWatch(ctx context.Context, l llm.CallLimits) (context.Context, *CallLimitWatch) {
	w := &CallLimitWatch{idle: l.Idle, left: cmp.Or(l.Bytes, 64<<20), free: func() {}}
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
func (w *CallLimitWatch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(errDone)
	w.free()
}

// WatchBody returns rc with the limits.
func (w *CallLimitWatch) WatchBody(rc io.ReadCloser) io.ReadCloser { return limitWatchedBody{rc, w} }

type limitWatchedBody struct {
	io.ReadCloser
	w *CallLimitWatch
}

// Read counts the bytes. It does not restart the idle timer: pings and comments may come forever.
func (b limitWatchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.w.left -= int64(n); b.w.left < 0 {
		b.w.cancel(errBytes)
		return 0, errBytes
	}
	return n, err
}

// WatchDeltas returns a function for the pieces of the answer: it passes a piece to heard, and restarts
// the idle timer. Empty pieces are dropped.
func (w *CallLimitWatch) WatchDeltas(heard func(llm.AnswerDelta)) func(llm.AnswerDelta) {
	return func(d llm.AnswerDelta) {
		if d == (llm.AnswerDelta{}) {
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

// LingerTime is the limit for data after a complete message.
const LingerTime = time.Second

// MarkMessageComplete marks the message as complete although the stream has not ended: further data
// must come soon, and a silent server is disconnected.
func (w *CallLimitWatch) MarkMessageComplete(lingers time.Duration) {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.idle, w.timer = lingers, time.AfterFunc(lingers, func() { w.cancel(errDone) })
}

// DrainBody reads the few bytes after the end of a message, so that the connection can be reused, but
// does not wait for a server that continues.
func (w *CallLimitWatch) DrainBody(body io.Reader) {
	t := time.AfterFunc(50*time.Millisecond, func() { w.cancel(errDone) })
	defer t.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 64<<10)) // errors do not matter: the answer is complete
}

// isNotStream reports whether resp is not a stream of events.
func isNotStream(resp *http.Response) bool {
	return resp == nil || resp.StatusCode >= 300 || strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") || isWebPage(resp)
}

// isWebPage reports whether resp is a page for people: another site is at this URL.
func isWebPage(resp *http.Response) bool {
	return resp.StatusCode < 300 && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
}

// NewCallError returns the error of a call that ended with err; resp is nil if there was no response.
// The error does not contain the key.
func NewCallError(ctx context.Context, err error, resp *http.Response, key string) *llm.ModelCallError {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errDone) { // our own cause does not describe the answer
		class := llm.Fatal // the caller cancelled
		if errors.Is(cause, errIdle) || errors.Is(cause, errLong) || errors.Is(cause, errBytes) {
			class = llm.Transient
		}
		return &llm.ModelCallError{Class: class, Cause: cause}
	}
	if e, ok := errors.AsType[*llm.ModelCallError](err); ok {
		return e
	}
	if resp != nil && isWebPage(resp) {
		return &llm.ModelCallError{Class: llm.Invalid, Status: resp.StatusCode, Code: "address", Cause: errors.New("a web page is served at this address")}
	}
	if resp != nil && isNotStream(resp) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // a partial body is good enough
		return NewResponseError(resp.StatusCode, resp.Header, body, key)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("connect: %w", u.Err) // without the URL, which may contain secrets
	}
	class, code := connectionFault(err)
	if key != "" && strings.Contains(err.Error(), key) {
		err = errors.New(strings.ReplaceAll(err.Error(), key, "[key]"))
	}
	return &llm.ModelCallError{Class: class, Code: code, Cause: err}
}

// connectionFault returns the class and the reason of a failed or lost connection.
func connectionFault(err error) (llm.CallFailureClass, string) {
	text := err.Error()
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return llm.Fatal, "certificate"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok { // no network or a wrong name: unknown which
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

// NewResponseError is [llm.ClassifyFailure] for a body that may repeat the key.
func NewResponseError(status int, h http.Header, body []byte, key string) *llm.ModelCallError {
	if key != "" {
		body = bytes.ReplaceAll(body, []byte(key), []byte("[key]"))
	}
	return llm.ClassifyFailure(status, h, body)
}

// NewCutError returns the error of a stream that ended before its message.
func NewCutError() *llm.ModelCallError {
	return transientError("incomplete", "the stream ended before the message did")
}

// NewMalformedError returns the error of an event that violates the API's format.
func NewMalformedError(err error) *llm.ModelCallError {
	return transientError("malformed", "event: "+err.Error())
}

func transientError(code, why string) *llm.ModelCallError {
	return &llm.ModelCallError{Class: llm.Transient, Code: code, Cause: errors.New(why)}
}

// EncodeJSON encodes v as JSON without escaping HTML characters, so that code is not longer than
// necessary.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, &llm.ModelCallError{Class: llm.Invalid, Code: "encode", Cause: err}
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// PartialResponse returns the known part of a call whose stream broke off, or whose answer was
// invalid: the usage that the provider reported, or an estimate from the received bytes if it had
// not reported all of it.
func PartialResponse(r llm.Request, so llm.Response, counted bool, arrived int) llm.Response {
	so = llm.Response{Usage: so.Usage, Cost: so.Cost, Model: so.Model, ID: so.ID}
	if !counted {
		so.Usage, so.Estimated = llm.EstimateUsage(r, so.Usage, arrived), true
	}
	return so
}
