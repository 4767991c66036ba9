//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// siteOf is a server on the host's loopback that says hello, and sends those
// who ask for /hop elsewhere.
func siteOf(t *testing.T) (at string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to, ok := strings.CutPrefix(r.URL.Path, "/hop/"); ok {
			http.Redirect(w, r, "http://"+to+"/latest/meta-data/", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("hello from " + r.Host))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func wayTo(t *testing.T, allow ...string) (*egress.Proxy, *egress.DecisionLog) {
	t.Helper()
	l, err := egress.ParseHostLists(allow, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	book := &egress.DecisionLog{}
	return &egress.Proxy{List: l, Judged: book.Add}, book
}

func bashed(t *testing.T, b *Box, c Command, script string) Result {
	t.Helper()
	c.Args, c.Dir, c.Env = []string{"bash", "-c", script}, t.TempDir(), AgentCommandEnv()
	r, err := b.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const fetch = `curl -sS -m 30 --noproxy '' -x "$HTTP_PROXY" `

func TestProxy(t *testing.T) {
	testenv.NeedTool(t, "curl")
	for _, m := range []ConfinementMode{ModeNative, ModeBwrap, ModeOff} {
		t.Run(string(m), func(t *testing.T) {
			b := find(t, m)
			at := siteOf(t)
			p, book := wayTo(t, at)
			r := sh(t, b, Command{Proxy: p.Serve, Stdin: strings.NewReader("given")}, "cat; "+fetch+"http://"+at+"/; echo; "+fetch+"http://127.0.0.1:1/; ls /proc/self/fd | wc -l; exit 5")
			if r.Exit != 5 || string(r.Stdout) != "givenhello from "+at+"\nnexus: not on the list of hosts that may be reached\n4\n" {
				t.Errorf("%+v: %s%s", r, r.Stdout, r.Stderr)
			}
			if all := book.TakeCounts(); len(all) != 2 || !all[0].Allowed || all[0].Down == 0 || all[1].Allowed {
				t.Errorf("%+v", all)
			}
			if r := sh(t, b, Command{Proxy: p.Serve}, "kill -SEGV $$"); r.Exit != 128+11 {
				t.Errorf("a signal exits with %d", r.Exit)
			}
			_, err := b.Run(t.Context(), Command{Args: []string{"no-such-program"}, Dir: t.TempDir(), Env: AgentCommandEnv(), Proxy: p.Serve})
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
				t.Error(err)
			}
			if b.HidesHost() {
				r := bashed(t, b, Command{}, `ls -d /etc/ssl/certs; env | grep -i -c _proxy=; exec 3<>/dev/tcp/127.0.0.1/61080`)
				if r.Exit == 0 || !strings.HasPrefix(string(r.Stdout), "0\n") {
					t.Errorf("without a proxy: %s%s", r.Stdout, r.Stderr)
				}
			}
		})
	}
}

// TestLocal: a port of this machine that is on the list is on the loopback of the box, where
// programs look for it that ask no proxy for loopback, by each of its names; no other port is.
func TestLocal(t *testing.T) {
	testenv.NeedTool(t, "curl")
	for _, m := range []ConfinementMode{ModeNative, ModeBwrap, ModeOff} {
		for _, name := range []string{"127.0.0.1", "localhost"} {
			t.Run(string(m)+"/"+name, func(t *testing.T) {
				b := find(t, m)
				at, other := siteOf(t), siteOf(t)
				_, port, _ := strings.Cut(at, ":")
				list, err := egress.ParseHostLists([]string{name + ":" + port}, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				way := (&egress.EgressGrant{List: list}).NewGateway()
				c := Command{Proxy: way.Serve, Local: way.LocalPortServers()}
				r := sh(t, b, c, "curl -sS -m 30 http://127.0.0.1:"+port+"/; echo; curl -sS -m 30 http://localhost:"+port+"/ >&2; "+fetch+"http://localhost:"+port+"/; curl -sS -m 30 http://"+other+"/")
				if b.HidesHost() != (r.Exit != 0) || strings.Count(string(r.Stdout), "hello from ") < 2 || !strings.Contains(string(r.Stderr), "hello from ") {
					t.Errorf("%+v: %s%s", r, r.Stdout, r.Stderr)
				}
				if n := way.ConnectionCount(); b.HidesHost() && n != 3 {
					t.Errorf("%d connections were asked for", n)
				}
				if all := way.TakeDecisions(); b.HidesHost() && (len(all) == 0 || !all[0].Allowed || all[0].Down == 0) {
					t.Errorf("%+v", all)
				}
			})
		}
	}
}

// Landlock knows no addresses, so it lets nobody out.
func TestNoProxy(t *testing.T) {
	b := find(t, ModeLandlock)
	p, _ := wayTo(t, "a.example")
	_, err := b.Run(t.Context(), Command{Args: []string{"true"}, Dir: t.TempDir(), Env: AgentCommandEnv(), Proxy: p.Serve})
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeSandbox}) || b.CheckEgress() == nil {
		t.Error(err)
	}
}

// What a box has open when its command ends is closed: nobody waits for it.
func TestProxyEnds(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		over := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, err = c.Read(make([]byte, 10)) // until the box is gone
				c.Close()
			}
			over <- err
		}()
		at := l.Addr().String()
		p, book := wayTo(t, at)
		r := bashed(t, b, Command{Proxy: p.Serve}, `exec 3<>/dev/tcp/127.0.0.1/61080; printf 'CONNECT `+at+` HTTP/1.1\r\nHost: `+at+`\r\n\r\n' >&3; read -r line <&3; echo "$line"; (setsid sleep 1000 &) ; exit 0`)
		if !strings.Contains(string(r.Stdout), "200") {
			t.Errorf("%s%s", r.Stdout, r.Stderr)
		}
		select {
		case <-over:
		case <-time.After(time.Minute):
			t.Error("the connection is still open")
		}
		if all := book.TakeCounts(); len(all) != 1 || !all[0].Allowed {
			t.Errorf("%+v", all)
		}
	})
}

// outward is what a malicious agent would try that has a way to one host.
func outward() []harm {
	const ask = `ask() { exec 3<>/dev/tcp/127.0.0.1/61080 || exit 1; printf "$1" >&3; cat <&3; }; `
	return []harm{
		{name: "the host's address", script: `exec 3<>/dev/tcp/$HOST/$WIDE`},
		{name: "the host's loopback", script: `exec 3<>/dev/tcp/127.0.0.1/$PORT`},
		{name: "a datagram to the host", script: `echo x >/dev/udp/$HOST/$UDP && false`, told: true},
		{name: "a datagram to the proxy", script: `exec 3<>/dev/udp/127.0.0.1/61080; echo x >&3; echo x >&3; read -r -t 2 line <&3`},
		{name: "a name", script: `getent ahosts a.example || getent ahosts example.com`},
		{name: "a name server", script: `timeout 5 perl -MSocket -e 'socket(S,AF_INET,SOCK_DGRAM,17); connect(S,pack_sockaddr_in(53,inet_aton("8.8.8.8"))) or exit 1; exit 0'`, needs: "perl"},
		{name: "another host", script: ask + `ask 'CONNECT b.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\n' | grep -q 200`},
		{name: "another port", script: ask + `ask "CONNECT a.example:22 HTTP/1.1\r\nHost: a.example\r\n\r\n" | grep -q 200`},
		{name: "the host's loopback by the proxy", script: ask + `ask "GET http://127.0.0.1:$PORT/ HTTP/1.1\r\nHost: 127.0.0.1:$PORT\r\n\r\n" | grep -v -q '^HTTP/1.1 403' && false`},
		{name: "the host's loopback in IPv6", script: ask + `ask "CONNECT [::ffff:127.0.0.1]:$PORT HTTP/1.1\r\nHost: [::ffff:127.0.0.1]\r\n\r\n" | grep -q 200`},
		{name: "metadata", script: ask + `ask 'GET http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n' | grep -q -v 403 | grep -q 200`},
		{name: "a second hop to metadata", script: fetch + `-L http://a.example:$WEB/hop/169.254.169.254 -o /dev/null -w '%{http_code}' | grep -q 200`, needs: "curl"},
		{name: "a second hop to the host", script: fetch + `-L http://a.example:$WEB/hop/127.0.0.1:$PORT -o /dev/null -w '%{http_code}' | grep -q 200`, needs: "curl"},
		{name: "a name that is bound again", script: fetch + `http://rebind.example:$WEB/ -o /dev/null; ` + fetch + `http://rebind.example:$WEB/ -o /dev/null -w '%{http_code}' | grep -q 200`, needs: "curl"},
		{name: "a second request", script: ask + `ask "GET http://a.example:$WEB/ HTTP/1.1\r\nHost: a.example:$WEB\r\n\r\nGET http://127.0.0.1:$PORT/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" | grep -c HTTP/1.1 | grep -q 2`},
		{name: "a Host that differs", script: ask + `ask "GET http://a.example:$WEB/ HTTP/1.1\r\nHost: 127.0.0.1:$PORT\r\n\r\n" | grep -q 200`},
		{name: "a socket of the proxy's", script: `ls -l /proc/*/fd 2>/dev/null | grep -F -e '-> socket:'`},
		{name: "the proxy's port", script: `perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,6); setsockopt(S,SOL_SOCKET,SO_REUSEADDR,1); setsockopt(S,SOL_SOCKET,15,1); bind(S,pack_sockaddr_in(61080,inet_aton("127.0.0.1"))) or exit 1; exit 0'`, needs: "perl"},
		{name: "the trusted certificates", script: `touch /etc/ssl/certs/evil || echo x >/etc/ssl/certs/ca-certificates.crt`},
		{name: "a private key", script: `ls /etc/ssl/private`},
	}
}

// With a way to one host no harm of all those works that do not without.
func TestEscapeByProxy(t *testing.T) {
	web := siteOf(t)
	_, port, _ := net.SplitHostPort(web)
	var asked atomic.Int64
	p, _ := wayTo(t, web, "a.example:"+port, "rebind.example:"+port)
	p.Resolve = func(_ context.Context, name string) ([]netip.Addr, error) {
		if name == "rebind.example" {
			asked.Add(1)
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	more := []string{"WEB=" + port, "HOST=" + address(t)}
	wide, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	a, _ := wide.Addr().(*net.TCPAddr)
	more = append(more, "WIDE="+strconv.Itoa(a.Port))
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		run := func(s *scene, script string) (bool, Result) {
			r, err := b.Run(t.Context(), Command{Args: []string{"bash", "-c", script}, Dir: s.tree, Env: AgentCommandEnv(append(more, s.env...)...), Timeout: time.Minute, Proxy: p.Serve})
			return err == nil && r.Exit == 0, r
		}
		s := newScene(t)
		// The way is there, or nothing below would mean anything.
		if worked, r := run(s, `exec 3<>/dev/tcp/127.0.0.1/61080; printf "GET http://a.example:$WEB/ HTTP/1.1\r\nHost: a.example:$WEB\r\n\r\n" >&3; grep -q 'hello from a.example' <&3`); !worked {
			t.Fatalf("control: %s%s", r.Stdout, r.Stderr)
		}
		for _, h := range append(outward(), harms()...) {
			if _, err := exec.LookPath(h.needs); h.needs != "" && err != nil {
				continue
			}
			worked, r := run(s, h.script)
			if worked {
				bare, _ := s.boxed(t, b, h.script)
				worked = !bare // then it is none of the way's
			}
			if err := s.hurt(); worked && !h.told || err != nil || r.TimedOut {
				t.Errorf("%s: %v, %v: %.300s%.300s", h.name, worked, err, r.Stdout, r.Stderr)
				s = newScene(t)
			}
		}
	})
	if testenv.HasTool(t, "curl") && asked.Load() == 0 {
		t.Error("rebinding was not tried")
	}
}

// address returns one of the host's that is not its loopback, if there is one.
func address(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// The way out of one box is that box's alone.
func TestProxyOfAnother(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		p, book := wayTo(t, "a.example")
		ready, done := make(chan struct{}), make(chan struct{})
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		go func() {
			defer close(done)
			heard := false
			_, _ = b.Run(ctx, Command{Args: []string{"sh", "-c", "echo ready; sleep 1000"}, Dir: t.TempDir(), Env: AgentCommandEnv(), Proxy: p.Serve, Heard: func([]byte) {
				if !heard {
					heard = true
					close(ready)
				}
			}})
		}()
		select {
		case <-ready:
		case <-done:
			t.Fatal("the box ended")
		}
		at := fmt.Sprintf("/dev/tcp/127.0.0.1/%d", jail.ProxyPort)
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", jail.ProxyPort)); err == nil {
			c.Close()
			t.Error("the host reaches it")
		}
		r, err := b.Run(t.Context(), Command{Args: []string{"bash", "-c", "exec 3<>" + at}, Dir: t.TempDir(), Env: AgentCommandEnv()})
		if err != nil || r.Exit == 0 {
			t.Errorf("another box reaches it: %v", err)
		}
		stop(errors.New("enough"))
		<-done
		if all := book.TakeCounts(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}
