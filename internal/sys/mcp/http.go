package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
)

const (
	maxHops   = 3
	maxStream = 64 << 20 // bytes of one response that is a stream of events
)

// CheckURL returns an error if a server must not be reached at a URL. A near server is the user's
// own choice; all others must be on the public internet.
func CheckURL(address string, near bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("it is not an address")
	case u.User != nil:
		return errors.New("it holds a user or a password; use headers")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return errors.New("it is not https")
	case !near:
		return errors.New("only https is used for a server that the repository names")
	case !isLocalName(u.Hostname()):
		return errors.New("http without TLS is used on this machine only; use https")
	}
	return nil
}

// isLocalName reports whether every resolver maps a name to this machine.
func isLocalName(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// httpClient returns a client that connects only to the server, and to nothing after life ends.
func (s Server) httpClient(life context.Context) (*http.Client, error) {
	if err := CheckURL(s.URL, s.Near); err != nil {
		return nil, err
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	plain := u.Scheme == "http"
	dialer := &net.Dialer{Timeout: 10 * time.Second, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return s.checkReachable(address, plain)
	}}
	t := &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		ResponseHeaderTimeout: s.Total, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}
	if s.Near && !plain {
		t.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{
		Transport: &boundedServerTransport{t, s.Headers, u, func(end func()) func() bool { return context.AfterFunc(life, end) }},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxHops || !sameHost(r.URL, u) {
				return fmt.Errorf("the server redirects to %s, which is not followed", errorTail(r.URL.Host))
			}
			return nil
		},
	}, nil
}

// checkReachable checks the resolved address immediately before the connection, so that an earlier
// result of the name does not count.
func (s Server) checkReachable(address string, plain bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s is not an address", address)
	}
	ip := at.Addr().Unmap()
	switch {
	case plain && !ip.IsLoopback():
		return fmt.Errorf("%s is not this machine", ip)
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified(): // clouds serve their keys at such addresses
		return fmt.Errorf("%s is not an address of a server", ip)
	case !s.Near && egress.NonPublicAddressKind(ip) != "":
		return fmt.Errorf("%s is a private address, and the repository names the server", ip)
	}
	return nil
}

func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// boundedServerTransport adds headers to requests to the server's own host, and limits the size of responses.
type boundedServerTransport struct {
	next    http.RoundTripper
	headers http.Header
	to      *url.URL
	tie     func(end func()) (loose func() bool) // to the end of the session
}

// RoundTrip implements [http.RoundTripper].
func (g *boundedServerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameHost(r.URL, g.to) {
		return nil, fmt.Errorf("%s is not the server's host", errorTail(r.URL.Host))
	}
	ctx, stop := context.WithCancelCause(r.Context())
	loose := g.tie(func() { stop(errClosed) })
	r = r.Clone(ctx)
	for name, values := range g.headers {
		r.Header[name] = values
	}
	resp, err := g.next.RoundTrip(r)
	if err != nil {
		loose()
		stop(err)
		return nil, err
	}
	most := int64(maxMessage)
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "text/event-stream" {
		most = maxStream
	}
	resp.Body = &sizeLimitedBody{resp.Body, most, func() { loose(); stop(nil) }}
	return resp, nil
}

// sizeLimitedBody is a body that fails when it exceeds a limit.
type sizeLimitedBody struct {
	io.ReadCloser
	left int64
	done func()
}

// Close implements [io.Closer].
func (b *sizeLimitedBody) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// Read implements [io.Reader].
func (b *sizeLimitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
