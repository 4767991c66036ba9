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

// Limits bound what the proxy does.
type Limits struct {
	Connections int           // at once; more wait
	Head        time.Duration // until a request's head is there
	Dial        time.Duration // until a host answers, name and all
	Idle        time.Duration // without a byte
	Life        time.Duration // of a connection
	Up, Down    int64         // bytes of a connection
}

// usualLimits returns the limits that hold where nothing else is said.
func usualLimits() Limits {
	return Limits{Connections: 64, Head: 30 * time.Second, Dial: 30 * time.Second, Idle: 5 * time.Minute, Life: time.Hour, Up: 1 << 30, Down: 16 << 30}
}

// Proxy lets who asks it through to what is on its list.
type Proxy struct {
	List   List
	Limits Limits         // the zero Limits are the usual ones
	Judged func(Decision) // hears of each connection when it is over; may be nil
	Asked  func()         // hears of each connection when a target is asked for; may be nil
	// Upstream returns the proxy through which a target is reached, nil for
	// none. What is behind it is not checked: it resolves the names. Nil
	// reaches every target itself.
	Upstream func(Target) (*url.URL, error)

	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)   // nil asks the host's resolver
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error) // nil dials
	Own     func(netip.Addr) bool                                          // whether it is this machine's; nil looks
}

// refusal is why somebody does not get through.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return r.text }

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

var errOver = errors.New("the command is over")

// Serve answers whoever connects, until ctx ends; then it closes every
// connection, and returns when the last decision was told.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) {
	p = p.limited()
	p.accept(ctx, l, p.serve)
}

// Relay connects whoever connects with one target, until ctx ends.
func (p *Proxy) Relay(ctx context.Context, l net.Listener, to Target) {
	p = p.limited()
	p.accept(ctx, l, func(ctx context.Context, c net.Conn) { p.relay(ctx, c, to) })
}

// limited returns the proxy with its limits.
func (p *Proxy) limited() *Proxy {
	if p.Limits != (Limits{}) {
		return p
	}
	limited := *p
	limited.Limits = usualLimits()
	return &limited
}

// accept serves each connection, until ctx ends.
func (p *Proxy) accept(ctx context.Context, l net.Listener, serve func(context.Context, net.Conn)) {
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

// relay connects a connection with a target.
func (p *Proxy) relay(ctx context.Context, c net.Conn, to Target) {
	d := Decision{Target: to}
	out, no := p.dialTarget(ctx, &d)
	if no != nil {
		d.Why = no.text
		p.reportDecision(d)
		return
	}
	flow := &flow{Conn: out, idle: p.Limits.Idle, up: p.Limits.Up, down: p.Limits.Down}
	defer context.AfterFunc(ctx, func() { _ = flow.Close() })()
	err := exchange(c, c, flow)
	_ = flow.Close()
	d.Up, d.Down = flow.sent.Load(), flow.got.Load()
	if err != nil && d.Down == 0 {
		d.Why = "no answer: " + clean(err)
	}
	p.reportDecision(d)
}

// serve answers one request; a connection carries no more.
func (p *Proxy) serve(ctx context.Context, c net.Conn) {
	_ = c.SetReadDeadline(deadlineAfter(p.Limits.Head))
	r := bufio.NewReaderSize(c, maxHead)
	head, err := readHead(r)
	if err != nil {
		return // nothing was asked
	}
	h, err := parseHead(head)
	if err != nil {
		p.reportDecision(Decision{Target: Target{Host: "unknown"}, Why: "not a request that is accepted: " + err.Error()})
		writeRefusal(c, refuse(http.StatusBadRequest, "not a request that is accepted: %v", err))
		return
	}
	d := Decision{Target: h.Target}
	out, no := p.dialTarget(ctx, &d)
	if no != nil {
		d.Why = no.text
		p.reportDecision(d) // before the one who asked knows, so that who hears of it finds it told
		writeRefusal(c, no)
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	flow := &flow{Conn: out, idle: p.Limits.Idle, up: p.Limits.Up, down: p.Limits.Down}
	defer context.AfterFunc(ctx, func() { _ = flow.Close() })()
	if h.Tunnel {
		err = tunnel(c, r, flow)
	} else {
		err = p.forward(ctx, c, r, h, flow)
	}
	_ = flow.Close()
	d.Up, d.Down = flow.sent.Load(), flow.got.Load()
	if err != nil && d.Down == 0 {
		d.Why = "no answer: " + clean(err)
	}
	p.reportDecision(d)
}

func (p *Proxy) reportDecision(d Decision) {
	if p.Judged != nil {
		p.Judged(d)
	}
}

// readHead reads a request's head and leaves it in the reader as well.
func readHead(r *bufio.Reader) ([]byte, error) {
	for n := 1; ; n = r.Buffered() + 1 {
		if n > maxHead {
			return r.Peek(maxHead) // too long, which its reader says
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

// dialTarget judges a target, and connects to it when it may be reached.
func (p *Proxy) dialTarget(ctx context.Context, d *Decision) (net.Conn, *refusal) {
	if p.Asked != nil {
		p.Asked()
	}
	if d.Rule, d.Allowed = p.List.matchRule(d.Target); !d.Allowed {
		if d.Rule != "" {
			return nil, refuse(http.StatusForbidden, "refused by the rule %s", d.Rule)
		}
		return nil, refuse(http.StatusForbidden, "not on the list of hosts that may be reached")
	}
	ctx, stop := context.WithTimeoutCause(ctx, p.Limits.Dial, errors.New("it took too long"))
	defer stop()
	if p.Upstream != nil {
		switch by, err := p.Upstream(d.Target); {
		case err != nil:
			return nil, refuse(http.StatusBadGateway, "the proxy of the environment cannot be used: %s", clean(err))
		case by != nil:
			return p.dialUpstream(ctx, by, d)
		}
	}
	all, no := p.addresses(ctx, d)
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
	return nil, refuse(http.StatusBadGateway, "allowed, but not reached: %s", clean(errors.Join(errs...)))
}

// addresses resolves a target, once, and checks all that comes of it.
func (p *Proxy) addresses(ctx context.Context, d *Decision) ([]netip.AddrPort, *refusal) {
	found := []netip.Addr{}
	if a, ok := d.addr(); ok {
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
			return nil, refuse(http.StatusBadGateway, "allowed, but its name has no address: %s", clean(err))
		}
		for i := range found {
			found[i] = found[i].Unmap() // so resolvers write those of IPv4
		}
	}
	var all []netip.AddrPort
	for _, a := range found {
		to := netip.AddrPortFrom(a, d.Port)
		kind := SpecialKind(a)
		if mine := p.Own; kind == "" && (mine == nil && isOwnAddress(a) || mine != nil && mine(a)) {
			kind = "this machine's own"
		}
		named := kind == "" || p.List.allowsAddress(to)
		if !named && d.Host == "localhost" && len(found) > 1 && p.List.allowsAny(found, d.Port) {
			continue // the other of its addresses is allowed
		}
		if !named {
			d.Allowed, d.Address = false, to.String()
			return nil, refuse(http.StatusForbidden, "its address %s is not on the public internet (%s); only a rule for exactly this address and port allows it", a, kind)
		}
		all = append(all, to)
	}
	return all, nil
}

// clean returns an error as one line.
func clean(err error) string {
	if err == nil {
		return "none"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// writeRefusal says no in words.
func writeRefusal(c net.Conn, no *refusal) {
	_ = c.SetWriteDeadline(deadlineAfter(answerTime))
	body := "nexus: " + no.text + "\n"
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		no.code, http.StatusText(no.code), len(body), body) // who hung up does not read it
	if t, ok := c.(interface{ CloseWrite() error }); ok {
		_ = t.CloseWrite()
		_ = c.SetReadDeadline(deadlineAfter(lingerTime))
		_, _ = io.Copy(io.Discard, io.LimitReader(c, maxHead)) // closing on unread bytes would take the answer back
	}
}

const (
	answerTime = 30 * time.Second
	lingerTime = time.Second
)

// deadlineAfter returns the moment that is so far from now.
func deadlineAfter(d time.Duration) time.Time { return time.Now().Add(d) } //nolint:forbidigo // deadlines of the kernel
