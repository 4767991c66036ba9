// Package webhookpost sends messages over HTTP to receivers that somebody configured: to
// nobody else, signed where both sides share a secret, and with a clear word on
// whether another try may help.
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

// maxRead is how much of an answer is read, in bytes.
const maxRead = 64 << 10

// maxWait is the longest that a receiver may ask to be left alone.
const maxWait = 300 * time.Second

// Error says why a message was not taken.
type Error struct {
	Text  string
	Final bool          // no other try will do
	Wait  time.Duration // how long the receiver wants to be left alone; 0 where it does not say
}

// Error says why.
func (e *Error) Error() string { return e.Text }

// IsFinal reports whether an error says that no other try will do.
func IsFinal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Final
}

// Backoff says how long to wait after failures in a row: from Unit on, doubled
// each time, up to 30 of it, and never less than the receiver wants.
type Backoff struct {
	Unit time.Duration
	N    int // failures in a row
}

// Next counts a failure, and returns how long to wait after it.
func (b *Backoff) Next(wants time.Duration) time.Duration {
	b.N++
	return max(min(b.Unit<<min(b.N-1, 10), 30*b.Unit), wants)
}

// Client returns a client that goes where it was sent and nowhere else.
func Client(timeout time.Duration) *http.Client {
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

// IsSecure reports whether nobody on the way to an address can read what is sent:
// it is https, or on this machine.
func IsSecure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname())
}

// Send posts a JSON text. An error is an [*Error], and has no part of the address
// but its host: the rest may be a secret.
func Send(ctx context.Context, c *http.Client, to string, body []byte, header http.Header) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return &Error{Text: "the address is not valid", Final: true}
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the address may be a secret
		}
		return &Error{Text: fmt.Sprintf("%s: %s", r.URL.Host, err)}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxRead))
	_ = resp.Body.Close() // what it says is not wanted
	return responseError(resp)
}

// responseError says what an answer means.
func responseError(resp *http.Response) error {
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusRequestTimeout, resp.StatusCode >= 500:
		return &Error{Text: "the receiver said " + resp.Status, Wait: RetryAfter(resp.Header)}
	default:
		return &Error{Text: "the receiver said " + resp.Status, Final: true}
	}
}

// RetryAfter returns how long a receiver wants to be left alone, five minutes at
// most; 0 where it does not say so in seconds. Some say it with a fraction.
func RetryAfter(h http.Header) time.Duration {
	s, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil || !(s > 0) {
		return 0
	}
	return time.Duration(min(s, maxWait.Seconds()) * float64(time.Second))
}
