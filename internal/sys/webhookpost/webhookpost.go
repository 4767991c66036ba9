// Package webhookpost sends messages over HTTP to configured receivers: to no other host, signed
// if both sides share a secret, and with errors that report whether a retry may help.
package webhookpost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxRead limits the bytes read of a response.
const maxRead = 64 << 10

// maxWait limits the wait that a receiver may ask for.
const maxWait = 300 * time.Second

// PostError is the reason why a message was not accepted.
type PostError struct {
	Text  string
	Final bool          // a retry cannot help
	Wait  time.Duration // wait that the receiver asks for; 0 if it does not
}

// PostError implements error.
func (e *PostError) Error() string { return e.Text }

// IsFinal reports whether an error means that a retry cannot help.
func IsFinal(err error) bool {
	e, ok := errors.AsType[*PostError](err)
	return ok && e.Final
}

// Backoff computes the wait after consecutive failures: from Unit on, doubled each time, up to 30
// times Unit, and never less than the receiver wants.
type Backoff struct {
	Unit time.Duration
	N    int // consecutive failures
}

// NextWait counts a failure, and returns the wait after it.
func (b *Backoff) NextWait(wants time.Duration) time.Duration {
	b.N++
	return max(min(b.Unit<<min(b.N-1, 10), 30*b.Unit), wants)
}

// NewClient returns a client that follows no redirects.
func NewClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// IsSecure reports whether messages to a URL cannot be read on the way: it is https, or on this
// machine.
func IsSecure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname())
}

// PostJSON posts a JSON text. Its error is an [*Error], and contains only the host of the URL: the
// rest may be a secret.
func PostJSON(ctx context.Context, c *http.Client, to string, body []byte, header http.Header) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return &PostError{Text: "the address is not valid", Final: true}
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the URL may be a secret
		}
		return &PostError{Text: fmt.Sprintf("%s: %s", r.URL.Host, err)}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxRead))
	_ = resp.Body.Close() // the body is not needed
	return responseError(resp)
}

// responseError returns the error of a response.
func responseError(resp *http.Response) error {
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusRequestTimeout, resp.StatusCode >= 500:
		return &PostError{Text: "the receiver said " + resp.Status, Wait: RetryAfter(resp.Header)}
	default:
		return &PostError{Text: "the receiver said " + resp.Status, Final: true}
	}
}

// RetryAfter returns the wait that a receiver asks for, five minutes at most; 0 if it is not in
// seconds. Some receivers send a fraction.
func RetryAfter(h http.Header) time.Duration {
	s, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil || !(s > 0) {
		return 0
	}
	return time.Duration(min(s, maxWait.Seconds()) * float64(time.Second))
}
