package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a proxy that listens, and what it decided.
type world struct {
	*Proxy
	at   string
	book *DecisionLog
	stop func() // ends it and waits
}

func start(t *testing.T, p *Proxy) *world {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Proxy: p, at: l.Addr().String(), book: &DecisionLog{}}
	p.Judged = w.book.Add
	ctx, end := context.WithCancelCause(t.Context())
	done := make(chan struct{})
	go func() { p.Serve(ctx, l); close(done) }()
	w.stop = sync.OnceFunc(func() { end(errOver); <-done })
	t.Cleanup(w.stop)
	return w
}

// say sends text and returns what comes back until the end.
func (w *world) say(t *testing.T, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	_ = c.(*net.TCPConn).CloseWrite()
	data, err := io.ReadAll(c)
	if err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return string(data)
}

func (w *world) client() *http.Client {
	by := &url.URL{Scheme: "http", Host: w.at}
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(by), DisableKeepAlives: true}}
}

// origin is a server that says what it was asked.
func origin(t *testing.T) (port string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/raw" {
			c, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: x\r\nX-End: x\r\nContent-Length: 3\r\n\r\nraw")
			c.Close()
			return
		}
		w.Header().Set("X-End", "x")
		fmt.Fprintf(w, "%s %s %s %s %v", r.Method, r.Host, r.URL, body, r.Header)
	}))
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return port
}

// names resolves every name to these, in turn.
func names(asked *atomic.Int64, answers ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		n := asked.Add(1) - 1
		var all []netip.Addr
		for a := range strings.FieldsSeq(answers[min(int(n), len(answers)-1)]) {
			all = append(all, netip.MustParseAddr(a))
		}
		if len(all) == 0 {
			return nil, errors.New("no such host")
		}
		return all, nil
	}
}

func TestPlain(t *testing.T) {
	port := origin(t)
	var asked atomic.Int64
	w := start(t, &Proxy{List: list(t, "a.example:"+port, "127.0.0.1:"+port), Resolve: names(&asked, "127.0.0.1")})
	said := w.say(t, "POST http://a.example:"+port+"/x?y HTTP/1.1\r\nHost: a.example:"+port+"\r\nConnection: x-mine, host\r\nX-Mine: y\r\nProxy-Authorization: z\r\nUpgrade: websocket\r\nX-End: e\r\nContent-Length: 2\r\n\r\nhi")
	for _, want := range []string{"HTTP/1.1 200 OK", "POST a.example:" + port + " /x?y hi", "X-End:[e]", "X-End: x"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %q", want, said)
		}
	}
	for _, gone := range []string{"X-Mine", "Proxy-Authorization", "Upgrade", "User-Agent", "X-Hop"} {
		if strings.Contains(said, gone) {
			t.Errorf("%q is in %q", gone, said)
		}
	}
	if old := w.say(t, "GET http://a.example:"+port+"/ HTTP/1.0\r\n\r\n"); strings.Contains(old, "chunked") || !strings.Contains(old, "GET a.example") {
		t.Errorf("to HTTP/1.0: %q", old)
	}
	if more := w.say(t, "POST http://a.example:"+port+"/ HTTP/1.1\r\nHost: a.example:"+port+"\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"); !strings.HasPrefix(more, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK") || !strings.Contains(more, " hi ") {
		t.Errorf("%q", more)
	}
	if raw := w.say(t, "GET http://a.example:"+port+"/raw HTTP/1.1\r\nHost: a.example:"+port+"\r\n\r\n"); strings.Contains(raw, "X-Hop") || !strings.Contains(raw, "X-End") || !strings.HasSuffix(raw, "raw") {
		t.Errorf("%q", raw)
	}
	w.stop()
	all := w.book.TakeCounts()
	if len(all) != 1 || all[0].Times != 4 || !all[0].Allowed || all[0].Rule != "a.example:"+port || all[0].Address != "127.0.0.1:"+port || all[0].Up < 100 || all[0].Down < 300 || all[0].Why != "" {
		t.Errorf("%+v", all)
	}
}

func TestTunnel(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) }))
	t.Cleanup(s.Close)
	at := s.Listener.Addr().String()
	w := start(t, &Proxy{List: list(t, at)})
	c := s.Client()
	c.Transport.(*http.Transport).Proxy = w.client().Transport.(*http.Transport).Proxy
	c.Transport.(*http.Transport).DisableKeepAlives = true
	r, err := c.Get("https://" + at + "/")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r.Body)
	r.Body.Close()
	if n != 1<<20 || err != nil {
		t.Errorf("%d bytes: %v", n, err)
	}
	w.stop()
	if all := w.book.TakeCounts(); len(all) != 1 || !all[0].Allowed || all[0].Down < 1<<20 || all[0].Up < 100 {
		t.Errorf("%+v", all)
	}
}

func TestRefused(t *testing.T) {
	port := origin(t)
	var asked atomic.Int64
	w := start(t, &Proxy{List: list(t, "a.example:"+port, "a.example"), Resolve: names(&asked, "127.0.0.1")})
	for text, want := range map[string]string{
		"GET http://b.example:" + port + "/ HTTP/1.1\r\nHost: b.example:" + port + "\r\n\r\n":  "403 Forbidden|not on the list",
		"GET http://127.0.0.1:" + port + "/ HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n":  "403 Forbidden|not on the list",
		"GET http://a.example:" + port + "/ HTTP/1.1\r\nHost: a.example:" + port + "\r\n\r\n":  "403 Forbidden|loopback",
		"GET http://a.example:" + port + "/ HTTP/1.1\r\nHost: b.example\r\n\r\n":               "400 Bad Request|Host",
		"CONNECT a.example:" + port + " HTTP/1.1\r\nHost: a.example\r\n\r\n":                   "403 Forbidden|loopback",
		"CONNECT u@a.example:" + port + " HTTP/1.1\r\nHost: a.example\r\n\r\n":                 "400 Bad Request|not a request",
		"CONNECT a.example:22 HTTP/1.1\r\nHost: a.example\r\n\r\n":                             "403 Forbidden|not on the list",
		"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n":                 "403 Forbidden|not on the list",
		"CONNECT [::ffff:127.0.0.1]:" + port + " HTTP/1.1\r\nHost: [::ffff:127.0.0.1]\r\n\r\n": "403 Forbidden|not on the list",
		"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n":                                            "400 Bad Request|no http:// URL",
		"\x16\x03\x01\r\n\r\n": "400 Bad Request|not a request",
	} {
		status, reason, _ := strings.Cut(want, "|")
		if said := w.say(t, text); !strings.HasPrefix(said, "HTTP/1.1 "+status) || !strings.Contains(said, "nexus: ") || !strings.Contains(said, reason) {
			t.Errorf("%q: %q", text, said)
		}
	}
	w.stop()
	for _, d := range w.book.TakeCounts() {
		if d.Allowed || d.Why == "" {
			t.Errorf("%+v", d)
		}
	}
}

// Of a name only the first answer counts, and every address of it.
func TestRebinding(t *testing.T) {
	port := origin(t)
	for name, c := range map[string]struct {
		allow   []string
		answers []string
		want    string
	}{
		"private":          {nil, []string{"10.0.0.1"}, "403"},
		"metadata":         {nil, []string{"169.254.169.254"}, "403"},
		"mapped":           {nil, []string{"::ffff:127.0.0.1"}, "403"},
		"NAT64":            {nil, []string{"64:ff9b::7f00:1"}, "403"},
		"6to4":             {nil, []string{"2002:7f00:1::"}, "403"},
		"one of two":       {nil, []string{"93.184.216.34 127.0.0.1"}, "403"},
		"none":             {nil, []string{""}, "502"},
		"first public":     {nil, []string{"93.184.216.34", "127.0.0.1"}, "502"},
		"this machine's":   {nil, []string{"93.184.216.99"}, "403"},
		"exactly allowed":  {[]string{"127.0.0.1:" + port}, []string{"127.0.0.1"}, "200"},
		"allowed, mapped":  {[]string{"127.0.0.1:" + port}, []string{"::ffff:127.0.0.1"}, "200"},
		"another's port":   {[]string{"127.0.0.1:1"}, []string{"127.0.0.1"}, "403"},
		"another address":  {[]string{"127.0.0.2:" + port}, []string{"127.0.0.1"}, "403"},
		"the mapped named": {[]string{"[::ffff:10.0.0.1]:" + port}, []string{"10.0.0.1"}, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			var dialled []string
			w := start(t, &Proxy{
				List: list(t, append(c.allow, "a.example:"+port)...), Resolve: names(&asked, c.answers...),
				Own: func(a netip.Addr) bool { return a.String() == "93.184.216.99" },
				Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
					dialled = append(dialled, to.Addr().String())
					if !to.Addr().IsLoopback() {
						return nil, errors.New("no route in a test")
					}
					var d net.Dialer
					return d.DialContext(ctx, "tcp", to.String())
				},
			})
			said := w.say(t, "GET http://a.example:"+port+"/ HTTP/1.1\r\nHost: a.example:"+port+"\r\n\r\n")
			w.stop()
			if !strings.HasPrefix(said, "HTTP/1.1 "+c.want) || asked.Load() != 1 {
				t.Errorf("asked %d times, %q", asked.Load(), said)
			}
			for _, a := range dialled {
				if c.want == "403" || c.want == "502" && a == "127.0.0.1" {
					t.Errorf("dialled %s", a)
				}
			}
			if all := w.book.TakeCounts(); len(all) != 1 || all[0].Allowed != (c.want != "403") || (all[0].Why == "") != (c.want == "200") {
				t.Errorf("%+v", all)
			}
		})
	}
}

// What is open when the command ends is closed, and counted.
func TestEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, "hello")
		}
	}()
	at := l.Addr().String()
	w := start(t, &Proxy{List: list(t, at)})
	c, err := net.Dial("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nearly", at, at)
	r := bufio.NewReader(c)
	for want := range strings.SplitSeq("HTTP/1.1 200 Connection established\r\n|\r\n", "|") {
		if line, err := r.ReadString('\n'); line != want {
			t.Errorf("%q, %v", line, err)
		}
	}
	if _, err := io.ReadFull(r, make([]byte, 5)); err != nil {
		t.Error(err)
	}
	idle, err := net.Dial("tcp", w.at) // says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	w.stop()
	if _, err := r.ReadByte(); err == nil {
		t.Error("still open")
	}
	if all := w.book.TakeCounts(); len(all) != 1 || all[0].Down != 5 {
		t.Errorf("%+v", all)
	}
	if _, err := net.Dial("tcp", w.at); err == nil {
		t.Error("still listening")
	}
}

// Who asked hears no refusal before it is told, and whoever serves knows, when
// it returns, what became of everything.
func TestToldBeforeTheEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	telling, free, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p := &Proxy{Judged: func(EgressDecision) { close(telling); <-free }}
	ctx, end := context.WithCancelCause(t.Context())
	go func() { p.Serve(ctx, l); close(done) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n")
	<-telling
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it is answered before it is told:", n, err)
	}
	end(errOver)
	select {
	case <-done:
		t.Error("it is over before all is told")
	case <-time.After(100 * time.Millisecond):
	}
	close(free)
	<-done
}

func TestLimits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, io.LimitReader(zeros{}, 10<<20))
			}()
		}
	}()
	at := l.Addr().String()
	limits := defaultLimits()
	limits.Down, limits.Connections = 1<<20, 1
	w := start(t, &Proxy{List: list(t, at), Limits: limits})
	for range 3 {
		if said := w.say(t, "CONNECT "+at+" HTTP/1.1\r\nHost: "+at+"\r\n\r\n"); len(said) < 1<<20 || len(said) > 2<<20 {
			t.Errorf("%d bytes came through", len(said))
		}
	}
	w.stop()
	limits.Head = time.Millisecond
	w = start(t, &Proxy{List: list(t, at), Limits: limits})
	c, err := net.Dial("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "CONNECT")
	if _, err := io.ReadAll(c); err != nil { // ends, though nothing more is said
		t.Log(err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// A proxy of the environment gets names, and no address that is special.
func TestUpstream(t *testing.T) {
	port := origin(t)
	var asked atomic.Int64
	far := start(t, &Proxy{List: list(t, "a.example:"+port, "127.0.0.1:"+port), Resolve: names(&asked, "127.0.0.1")})
	env := map[string]string{"HTTPS_PROXY": "http://user:word@" + far.at, "NO_PROXY": "c.example"}
	w := start(t, &Proxy{
		List: list(t, "a.example:"+port, "b.example:"+port, "c.example:"+port, "10.0.0.1:"+port), Upstream: ProxyFromEnvironment(func(k string) string { return env[k] }),
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			return nil, errors.New("asked for " + name)
		},
	})
	for host, want := range map[string]string{"a.example": "200|GET a.example", "b.example": "502|403", "c.example": "502|asked for c.example", "d.example": "403|not on the list"} {
		status, text, _ := strings.Cut(want, "|")
		said := w.say(t, "GET http://"+host+":"+port+"/ HTTP/1.1\r\nHost: "+host+":"+port+"\r\n\r\n")
		if !strings.HasPrefix(said, "HTTP/1.1 "+status) || !strings.Contains(said, text) {
			t.Errorf("%s: %q", host, said)
		}
	}
	if ProxyFromEnvironment(func(string) string { return "" }) != nil {
		t.Error("no proxy is one")
	}
}

func TestLedger(t *testing.T) {
	var l DecisionLog
	for i := range 3 * maxTally {
		l.Add(EgressDecision{HostTarget: HostTarget{fmt.Sprint("h", i), 443}, Allowed: i%2 == 0, Up: 1})
	}
	all := l.TakeCounts()
	var up int64
	n := 0
	for _, x := range all {
		up, n = up+x.Up, n+x.Times
	}
	if len(all) != maxTally+2 || up != 3*maxTally || n != 3*maxTally || len(l.TakeCounts()) != 0 {
		t.Errorf("%d entries, %d bytes, %d times", len(all), up, n)
	}
}
