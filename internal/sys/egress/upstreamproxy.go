package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// ProxyFromEnvironment returns a function that selects the proxy of a user's environment:
// HTTPS_PROXY for port 443 and others, HTTP_PROXY for port 80, NO_PROXY for none. It returns nil
// if the environment names no proxy.
func ProxyFromEnvironment(env func(string) string) func(HostTarget) (*url.URL, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if v := env(n); v != "" {
				return v
			}
		}
		return ""
	}
	c := httpproxy.Config{
		HTTPProxy: first("HTTP_PROXY", "http_proxy"), HTTPSProxy: first("HTTPS_PROXY", "https_proxy"), NoProxy: first("NO_PROXY", "no_proxy"),
	}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil
	}
	choose := c.ProxyFunc()
	return func(t HostTarget) (*url.URL, error) {
		scheme := "https"
		if t.Port == portHTTP {
			scheme = "http"
		}
		return choose(&url.URL{Scheme: scheme, Host: t.String()})
	}
}

// dialUpstream connects to a target by name through another proxy. Addresses are checked as usual;
// names are resolved by that proxy.
func (p *Proxy) dialUpstream(ctx context.Context, by *url.URL, d *EgressDecision) (net.Conn, *proxyRefusalError) {
	if _, ok := d.parseIPAddress(); ok {
		if _, no := p.resolveTarget(ctx, d); no != nil {
			return nil, no
		}
	}
	d.Address = "through " + by.Host
	c, err := connectThroughProxy(ctx, by, d.HostTarget)
	if err != nil {
		return nil, newRefusal(http.StatusBadGateway, "allowed, but not reached through %s: %s", by.Host, cleanError(err))
	}
	return c, nil
}

func connectThroughProxy(ctx context.Context, by *url.URL, t HostTarget) (net.Conn, error) {
	port := by.Port()
	switch {
	case port != "":
	case by.Scheme == "https":
		port = "443"
	case by.Scheme == "http":
		port = "80"
	}
	var c net.Conn
	var err error
	at := net.JoinHostPort(by.Hostname(), port)
	switch by.Scheme {
	case "http":
		var d net.Dialer
		c, err = d.DialContext(ctx, "tcp", at)
	case "https":
		var d tls.Dialer
		c, err = d.DialContext(ctx, "tcp", at)
	default:
		return nil, fmt.Errorf("a proxy that speaks %s is not known", by.Scheme)
	}
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	var b strings.Builder
	fmt.Fprintf(&b, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", t, t)
	if by.User != nil {
		password, _ := by.User.Password()
		fmt.Fprintf(&b, "Proxy-Authorization: Basic %s\r\n", base64.StdEncoding.EncodeToString([]byte(by.User.Username()+":"+password)))
	}
	r := bufio.NewReaderSize(c, maxHead)
	_, err = c.Write([]byte(b.String() + "\r\n"))
	if err == nil {
		err = readConnectResponse(r)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return &partlyReadConn{c, r}, nil
}

// readConnectResponse reads the response of a proxy to CONNECT.
func readConnectResponse(r *bufio.Reader) error {
	head, err := peekRequestHead(r)
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(head), "\r\n")
	version, status, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(version, "HTTP/1.") || !strings.HasPrefix(status, "200") {
		return fmt.Errorf("it answers %q", sanitize.TruncateText(status, 80))
	}
	if _, err := r.Discard(len(head)); err != nil {
		return err
	}
	if r.Buffered() > 0 {
		return errors.New("it sends more than was asked")
	}
	return nil
}

// partlyReadConn is a connection some bytes of which were already read.
type partlyReadConn struct {
	net.Conn
	r *bufio.Reader
}

func (e *partlyReadConn) Read(b []byte) (int, error) { return e.r.Read(b) }
