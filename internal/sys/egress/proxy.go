package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// ProxyLimits limit the work of the proxy.
type ProxyLimits struct {
	Connections int           // open at once; more wait
	Head        time.Duration // for reading a request's head
	Dial        time.Duration // for connecting to a host, with the name lookup
	Idle        time.Duration // without traffic
	Life        time.Duration // total time of a connection
	Up, Down    int64         // bytes of a connection
}

// defaultLimits returns the default limits.
func defaultLimits() ProxyLimits {
	return ProxyLimits{Connections: 64, Head: 30 * time.Second, Dial: 30 * time.Second, Idle: 5 * time.Minute, Life: time.Hour, Up: 1 << 30, Down: 16 << 30}
}

// Proxy connects its clients to the hosts on its list.
type Proxy struct {
	List   HostAccessList
	Limits ProxyLimits          // the zero Limits are the defaults
	Judged func(EgressDecision) // called at the end of each connection; may be nil
	Asked  func()               // called when a connection requests a target; may be nil
	// Upstream returns the proxy for a target, nil for none. Addresses behind that proxy are not
	// checked, because it resolves the names. A nil Upstream connects to every target directly.
	Upstream func(HostTarget) (*url.URL, error)

	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)   // nil: the host's resolver
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error) // nil: a direct connection
	Own     func(netip.Addr) bool                                          // whether it belongs to this machine; nil: looked up
}

// proxyRefusalError is the reason for a refused connection.
type proxyRefusalError struct {
	code int
	text string
}

func (r *proxyRefusalError) Error() string { return r.text }

func newRefusal(code int, format string, args ...any) *proxyRefusalError {
	return &proxyRefusalError{code, fmt.Sprintf(format, args...)}
}

var errOver = errors.New("the command is over")

// Serve serves connections until ctx ends. Then it closes every connection, and returns after the
// last decision was reported.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) {
	p = p.withLimits()
	p.acceptConns(ctx, l, p.serveConn)
}

// RelayAllTo connects all connections to one target, until ctx ends.
func (p *Proxy) RelayAllTo(ctx context.Context, l net.Listener, to HostTarget) {
	p = p.withLimits()
	p.acceptConns(ctx, l, func(ctx context.Context, c net.Conn) { p.relayConn(ctx, c, to) })
}

// withLimits returns the proxy with default limits filled in.
func (p *Proxy) withLimits() *Proxy {
	if p.Limits != (ProxyLimits{}) {
		return p
	}
	limited := *p
	limited.Limits = defaultLimits()
	return &limited
}

// acceptConns serves each connection, until ctx ends.
func (p *Proxy) acceptConns(ctx context.Context, l net.Listener, serve func(context.Context, net.Conn)) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, p.Limits.Connections)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		c, err := l.Accept()
		if err != nil {
			return
		}
		all.Go(func() {
			defer func() { <-places }()
			ctx, end := context.WithTimeoutCause(ctx, p.Limits.Life, errors.New("it lasted too long"))
			defer end()
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer stop()
			defer func() { _ = c.Close() }()
			serve(ctx, c)
		})
	}
}

// relayConn connects one connection to a target.
func (p *Proxy) relayConn(ctx context.Context, c net.Conn, to HostTarget) {
	d := EgressDecision{HostTarget: to}
	out, no := p.dialTarget(ctx, &d)
	if no != nil {
		d.Why = no.text
		p.reportDecision(d)
		return
	}
	flow := &limitedConn{Conn: out, idle: p.Limits.Idle, up: p.Limits.Up, down: p.Limits.Down}
	defer context.AfterFunc(ctx, func() { _ = flow.Close() })()
	err := copyBothWays(c, c, flow)
	_ = flow.Close()
	d.Up, d.Down = flow.sent.Load(), flow.got.Load()
	if err != nil && d.Down == 0 {
		d.Why = "no answer: " + cleanError(err)
	}
	p.reportDecision(d)
}

// serveConn handles one connection, with a single request.
func (p *Proxy) serveConn(ctx context.Context, c net.Conn) {
	_ = c.SetReadDeadline(deadlineIn(p.Limits.Head))
	r := bufio.NewReaderSize(c, maxHead)
	head, err := peekRequestHead(r)
	if err != nil {
		return // no request
	}
	h, err := parseRequestHead(head)
	if err != nil {
		p.reportDecision(EgressDecision{HostTarget: HostTarget{Host: "unknown"}, Why: "not a request that is accepted: " + err.Error()})
		writeRefusal(c, newRefusal(http.StatusBadRequest, "not a request that is accepted: %v", err))
		return
	}
	d := EgressDecision{HostTarget: h.Target}
	out, no := p.dialTarget(ctx, &d)
	if no != nil {
		d.Why = no.text
		p.reportDecision(d) // before the client gets the response, so that it is already in the log then
		writeRefusal(c, no)
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	flow := &limitedConn{Conn: out, idle: p.Limits.Idle, up: p.Limits.Up, down: p.Limits.Down}
	defer context.AfterFunc(ctx, func() { _ = flow.Close() })()
	if h.Tunnel {
		err = answerConnectAndCopy(c, r, flow)
	} else {
		err = p.forwardRequest(ctx, c, r, h, flow)
	}
	_ = flow.Close()
	d.Up, d.Down = flow.sent.Load(), flow.got.Load()
	if err != nil && d.Down == 0 {
		d.Why = "no answer: " + cleanError(err)
	}
	p.reportDecision(d)
}

func (p *Proxy) reportDecision(d EgressDecision) {
	if p.Judged != nil {
		p.Judged(d)
	}
}

// peekRequestHead reads a request's head without consuming it.
func peekRequestHead(r *bufio.Reader) ([]byte, error) {
	for n := 1; ; n = r.Buffered() + 1 {
		if n > maxHead {
			return r.Peek(maxHead) // too long, which parsing reports
		}
		if _, err := r.Peek(n); err != nil {
			return nil, err
		}
		data, _ := r.Peek(r.Buffered())
		if i := bytes.Index(data, []byte("\r\n\r\n")); i >= 0 {
			return data[:i+4], nil
		}
	}
}

// dialTarget checks a target, and connects to it if that is permitted.
func (p *Proxy) dialTarget(ctx context.Context, d *EgressDecision) (net.Conn, *proxyRefusalError) {
	if p.Asked != nil {
		p.Asked()
	}
	if d.Rule, d.Allowed = p.List.matchRule(d.HostTarget); !d.Allowed {
		if d.Rule != "" {
			return nil, newRefusal(http.StatusForbidden, "refused by the rule %s", d.Rule)
		}
		return nil, newRefusal(http.StatusForbidden, "not on the list of hosts that may be reached")
	}
	ctx, stop := context.WithTimeoutCause(ctx, p.Limits.Dial, errors.New("it took too long"))
	defer stop()
	if p.Upstream != nil {
		switch by, err := p.Upstream(d.HostTarget); {
		case err != nil:
			return nil, newRefusal(http.StatusBadGateway, "the proxy of the environment cannot be used: %s", cleanError(err))
		case by != nil:
			return p.dialUpstream(ctx, by, d)
		}
	}
	all, no := p.resolveTarget(ctx, d)
	if no != nil {
		return nil, no
	}
	dial := p.Dial
	if dial == nil {
		dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "tcp", to.String())
		}
	}
	var errs []error
	for i, a := range all {
		each, stop := context.WithTimeoutCause(ctx, p.Limits.Dial/time.Duration(min(len(all)-i+1, 3)), errors.New("it took too long"))
		c, err := dial(each, a)
		stop()
		if err == nil {
			d.Address = a.String()
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, newRefusal(http.StatusBadGateway, "allowed, but not reached: %s", cleanError(errors.Join(errs...)))
}

// resolveTarget resolves a target once, and checks all its addresses.
func (p *Proxy) resolveTarget(ctx context.Context, d *EgressDecision) ([]netip.AddrPort, *proxyRefusalError) {
	found := []netip.Addr{}
	if a, ok := d.parseIPAddress(); ok {
		found = append(found, a)
	} else {
		resolve := p.Resolve
		if resolve == nil {
			resolve = func(ctx context.Context, name string) ([]netip.Addr, error) {
				return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
			}
		}
		var err error
		if found, err = resolve(ctx, d.Host); err != nil || len(found) == 0 {
			return nil, newRefusal(http.StatusBadGateway, "allowed, but its name has no address: %s", cleanError(err))
		}
		for i := range found {
			found[i] = found[i].Unmap() // resolvers return mapped IPv4 addresses
		}
	}
	var all []netip.AddrPort
	for _, a := range found {
		to := netip.AddrPortFrom(a, d.Port)
		kind := NonPublicAddressKind(a)
		if mine := p.Own; kind == "" && (mine == nil && isOwnAddress(a) || mine != nil && mine(a)) {
			kind = "this machine's own"
		}
		named := kind == "" || p.List.allowsAddress(to)
		if !named && d.Host == "localhost" && len(found) > 1 && p.List.allowsAny(found, d.Port) {
			continue // another of its addresses is allowed
		}
		if !named {
			d.Allowed, d.Address = false, to.String()
			return nil, newRefusal(http.StatusForbidden, "its address %s is not on the public internet (%s); only a rule for exactly this address and port allows it", a, kind)
		}
		all = append(all, to)
	}
	return all, nil
}

// cleanError returns an error as one line.
func cleanError(err error) string {
	if err == nil {
		return "none"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// writeRefusal writes the refusal as an HTTP response.
func writeRefusal(c net.Conn, no *proxyRefusalError) {
	_ = c.SetWriteDeadline(deadlineIn(answerTime))
	body := "nexus: " + no.text + "\n"
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		no.code, http.StatusText(no.code), len(body), body) // a closed connection does not matter
	if t, ok := c.(interface{ CloseWrite() error }); ok {
		_ = t.CloseWrite()
		_ = c.SetReadDeadline(deadlineIn(lingerTime))
		_, _ = io.Copy(io.Discard, io.LimitReader(c, maxHead)) // closing with unread bytes could discard the response
	}
}

const (
	answerTime = 30 * time.Second
	lingerTime = time.Second
)

// deadlineIn returns the time in d from now.
func deadlineIn(d time.Duration) time.Time { return time.Now().Add(d) } //nolint:forbidigo // deadlines of the kernel
