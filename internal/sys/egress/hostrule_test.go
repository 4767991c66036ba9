package egress

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func list(t *testing.T, allow ...string) HostAccessList {
	t.Helper()
	l, err := ParseHostLists(allow, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRules(t *testing.T) {
	l := list(t, "example.com", "*.example.org:8443", "plain.example:80", "192.0.2.7:9000", "[2001:db8::1]:443", "Upper.Example.")
	for target, want := range map[string]string{
		"example.com:443":              "example.com:443",
		"EXAMPLE.com:443":              "example.com:443",
		"example.com.:443":             "example.com:443",
		"example.com:80":               "",
		"example.com:8443":             "",
		"www.example.com:443":          "",
		"notexample.com:443":           "",
		"example.com.evil.example:443": "",
		"a.example.org:8443":           "*.example.org:8443",
		"a.b.example.org:8443":         "*.example.org:8443",
		"example.org:8443":             "",
		"aexample.org:8443":            "",
		"a.example.org:443":            "",
		"plain.example:80":             "plain.example:80",
		"plain.example:443":            "",
		"192.0.2.7:9000":               "192.0.2.7:9000",
		"192.0.2.7:443":                "",
		"[2001:db8:0::1]:443":          "[2001:db8::1]:443",
		"upper.example:443":            "upper.example:443",
	} {
		to, err := parseTarget(target, 0)
		if err != nil {
			t.Fatal(target, err)
		}
		if rule, ok := l.matchRule(to); rule != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", target, rule, ok)
		}
	}
	for _, bad := range []string{
		"", "*", "*.com", "*.1.2.3.4", "a b", "a/b", "http://a.example", "a.example:0", "a.example:65536", "a.example:080", "a.example:+443", "a.example:443:1",
		"user@a.example", "::1", "[::1", "[::1]x", "[a.example]", "[fe80::1%eth0]:443", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "1.2.3.256", "b\u00fccher.example",
		"-a.example", "a..example", "*a.example", "a.*.example", ".", strings.Repeat("a.", 200) + "example", strings.Repeat("a", 64) + ".example",
	} {
		if r, err := ParseAllowedHost(bad); err == nil {
			t.Errorf("%q is the rule %s", bad, r)
		}
		if to, err := parseTarget(bad, 443); err == nil && !strings.Contains(bad, "com") {
			t.Errorf("%q is the target %s", bad, to)
		}
	}
}

func TestDenied(t *testing.T) {
	l, err := ParseHostLists([]string{"a.example", "a.example:8080", "b.example", "deep.c.example"}, nil, []string{"a.example", "b.example:80", "*.c.example"})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"a.example:443": false, "a.example:8080": false, "b.example:443": true, "deep.c.example:443": false} {
		to, _ := parseTarget(host, 0)
		if _, ok := l.matchRule(to); ok != want {
			t.Errorf("%s: %v", host, ok)
		}
	}
	if l, err = ParseHostLists([]string{"a.example"}, []string{"npm"}, []string{"*"}); err != nil || l.canReach("a.example", 443) {
		t.Errorf("%v, %v", l, err)
	}
	if len(l.Allow) < 2 {
		t.Errorf("the preset npm allows nothing: %v", l)
	}
	for _, r := range l.Allow {
		if l.canReach(r.host, 443) {
			t.Errorf("%s is reached", r.host)
		}
	}
	if !list(t, "a.example").canReach("A.example.", 443) || list(t, "a.example").canReach("a.example", 0) || list(t, "a.example").canReach("a b", 443) {
		t.Error("Reaches")
	}
}

func TestPresets(t *testing.T) {
	if len(PresetNames()) < 9 {
		t.Errorf("only %v", PresetNames())
	}
	for _, name := range PresetNames() {
		l, err := ParseHostLists(nil, []string{name}, nil)
		if err != nil || len(l.Allow) == 0 {
			t.Errorf("%s: %v, %v", name, l, err)
		}
		for _, r := range l.Allow {
			if r.below || r.port != 443 {
				t.Errorf("%s: %s is wide", name, r)
			}
		}
	}
	if _, err := ParseHostLists(nil, []string{"none"}, nil); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
}

func TestSpecial(t *testing.T) {
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.1",
		"192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136::", "2001:db8::1",
		"2002:7f00:1::", "2002:808:808::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "5f00::1", "fe80::1%eth0",
	} {
		if NonPublicAddressKind(netip.MustParseAddr(a)) == "" {
			t.Errorf("%s is public", a)
		}
	}
	for _, a := range []string{"8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.169.0.1", "11.0.0.1", "2606:4700::1111", "2a00:1450::1"} {
		if kind := NonPublicAddressKind(netip.MustParseAddr(a)); kind != "" {
			t.Errorf("%s is %s", a, kind)
		}
	}
	if NonPublicAddressKind(netip.Addr{}) == "" {
		t.Error("no address is public")
	}
	if !isOwnAddress(netip.MustParseAddr("127.0.0.1")) || isOwnAddress(netip.MustParseAddr("8.8.8.8")) {
		t.Error("own")
	}
}

const host = "\r\nHost: a.example\r\n\r\n"

func TestHeads(t *testing.T) {
	for text, want := range map[string]string{
		"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n":                   "a.example:443",
		"CONNECT a.example:8443 HTTP/1.1" + host:                                          "a.example:8443",
		"CONNECT [2606:4700::1]:443 HTTP/1.1\r\nHost: [2606:4700::1]:443\r\n\r\n":         "[2606:4700::1]:443",
		"CONNECT a.example:443 HTTP/1.0\r\n\r\n":                                          "a.example:443",
		"GET http://a.example HTTP/1.1" + host:                                            "a.example:80",
		"GET http://a.example/x?y=http://b.example HTTP/1.1" + host:                       "a.example:80",
		"GET http://A.example:80/ HTTP/1.1" + host:                                        "a.example:80",
		"GET http://a.example:81/@b HTTP/1.1\r\nHost: a.example:81\r\n\r\n":               "a.example:81",
		"POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\n": "a.example:80",
	} {
		if h, err := parseRequestHead([]byte(text)); err != nil || h.Target.String() != want {
			t.Errorf("%q: %v, %v", text, h.Target, err)
		}
	}
	for _, bad := range []string{
		"", "\r\n\r\n", "GET / HTTP/1.1" + host, "GET a.example HTTP/1.1" + host, "GET https://a.example/ HTTP/1.1" + host, "GET ftp://a.example/ HTTP/1.1" + host,
		"GET HTTP://a.example/ HTTP/1.1" + host, "OPTIONS * HTTP/1.1" + host, "TRACE http://a.example/ HTTP/1.1" + host, "GET  http://a.example/ HTTP/1.1" + host,
		"GET http://a.example/ HTTP/2.0" + host, "GET http://a.example/ HTTP/1.1 " + host, "GET http://a.example/ x HTTP/1.1" + host, "G T http://a.example/ HTTP/1.1" + host,
		"GET http://u@a.example/ HTTP/1.1" + host, "GET http://a.example@b.example/ HTTP/1.1" + host, "GET http://a.example\\@b.example/ HTTP/1.1" + host, "GET http://a.example#@b HTTP/1.1" + host,
		"GET http://a.example:x/ HTTP/1.1" + host, "GET http:///x HTTP/1.1" + host, "GET http://b.example/ HTTP/1.1" + host, "GET http://a.example:81/ HTTP/1.1" + host,
		"GET http://a.example/ HTTP/1.1\r\n\r\n", "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n", "GET http://a.example/ HTTP/1.1\r\nHost:\r\n\r\n",
		"CONNECT a.example HTTP/1.1" + host, "CONNECT u@a.example:443 HTTP/1.1" + host, "CONNECT http://a.example:443 HTTP/1.1" + host, "CONNECT a.example:443/x HTTP/1.1" + host, "CONNECT b.example:443 HTTP/1.1" + host,
		"CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 3" + host, "CONNECT a.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked" + host,
		"POST http://a.example/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked" + host, "POST http://a.example/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4" + host,
		"POST http://a.example/ HTTP/1.1\r\nContent-Length: +3" + host, "POST http://a.example/ HTTP/1.1\r\nContent-Length: 3, 3" + host, "POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked" + host,
		"POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding : chunked" + host, "POST http://a.example/ HTTP/1.1\r\nX: y\r\n Transfer-Encoding: chunked" + host, "POST http://a.example/ HTTP/1.1\r\nX: y\nHost: b" + host,
		"POST http://a.example/ HTTP/1.1\r\nX: y\rHost: b" + host, "POST http://a.example/ HTTP/1.1\r\nX: \x00" + host, "POST http://a.example/ HTTP/1.0\r\nTransfer-Encoding: chunked" + host, "POST http://a.example/ HTTP/1.1\r\n: x" + host,
		"GET http://a.example/ HTTP/1.1" + strings.Repeat("\r\nX: y", maxHeaders) + host, "GET http://a.example/" + strings.Repeat("x", maxHead) + " HTTP/1.1" + host,
	} {
		if h, err := parseRequestHead([]byte(bad)); err == nil {
			t.Errorf("%.100q: %v", bad, h.Target)
		}
	}
}

func FuzzRule(f *testing.F) {
	for _, s := range []string{"example.com", "*.example.com:80", "1.2.3.4:5", "[::1]:443", "*", "0x7f.1", "a..b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseAllowedHost(text)
		if err != nil {
			return
		}
		again, err := ParseAllowedHost(r.String())
		if err != nil || again != r {
			t.Errorf("%q is %q, and that is %q: %v", text, r, again, err)
		}
		if r.all || r.port == 0 {
			t.Errorf("%q allows too much", text)
		}
		if _, ok := (HostAccessList{Allow: []HostRule{r}}).matchRule(HostTarget{"evil.invalid", 443}); ok && !strings.Contains(strings.ToLower(text), "invalid") {
			t.Errorf("%q allows evil.invalid", text)
		}
	})
}

// What is taken for a target is the same to the standard library's readers.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", "GET http://a.example/x HTTP/1.1" + host, "POST http://a.example:81/ HTTP/1.1\r\nHost: a.example:81\r\nContent-Length: 1\r\n\r\n",
		"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]\r\n\r\n", "GET http://a.example@b/ HTTP/1.1" + host, "GET http://a.example/ HTTP/1.0\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parseRequestHead(data)
		if err != nil {
			return
		}
		again, err := parseTarget(h.Target.String(), 0)
		if err != nil || again != h.Target {
			t.Fatalf("%q is the target %v, and that is %v: %v", data, h.Target, again, err)
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return // it is not handed on then
		}
		name, port, err := net.SplitHostPort(r.URL.Host)
		if err != nil {
			name, port = strings.Trim(r.URL.Host, "[]"), "80"
		}
		if to, err := parseTarget(net.JoinHostPort(name, port), 0); err != nil || to != h.Target || r.Method != h.Method {
			t.Errorf("%q is %s %v, and to others %s %v: %v", data, h.Method, h.Target, r.Method, r.URL.Host, err)
		}
	})
}

func TestGrant(t *testing.T) {
	var none *EgressGrant
	if none.GatewayForGate("install") != nil || none.GatewayForRole("coder") != nil || none.GatewayForRole("").CanReach("a.example", 443) || none.GatewayForRole("").TakeDecisions() != nil {
		t.Error("nobody's grant lets somebody out")
	}
	l, err := ParseHostLists([]string{"a.example"}, []string{"go"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &EgressGrant{List: l, Gates: []string{"install"}, Roles: []string{"tester"}}
	if g.GatewayForGate("test") != nil || g.GatewayForRole("coder") != nil || g.GatewayForGate("tester") != nil || g.GatewayForGate("install") == nil || g.GatewayForRole("tester") == nil {
		t.Error("others than those named")
	}
	modules, err := PresetHosts("go")
	if err != nil {
		t.Fatal(err)
	}
	w := g.GatewayForRole("tester")
	env := strings.Join(w.ProxyEnv([]string{"GOPROXY=off", "GOFLAGS=-x", "GOMODCACHE=/m o"}, true), " ")
	if env != "GOPROXY=off GOFLAGS=-x GOMODCACHE=/m o GOMODCACHE=/tmp/gomodcache GOFLAGS=-x -modcacherw GOPROXY=file:///m%20o/cache/download,https://"+modules[0] {
		t.Error(env)
	}
	if env := (&EgressGrant{}).NewGateway().ProxyEnv([]string{"GOPROXY=off"}, true); len(env) != 1 {
		t.Error(env)
	}
	said := RefusalText([]DecisionCount{{EgressDecision: EgressDecision{HostTarget: HostTarget{"b.example", 443}, Why: "not on the list"}, Times: 2}, {EgressDecision: EgressDecision{HostTarget: HostTarget{"a.example", 443}, Allowed: true}}})
	if !strings.HasPrefix(said, "[network: b.example:443 refused 2 times: not on the list]\n") || strings.Contains(said, "a.example") || RefusalText(nil) != "" {
		t.Error(said)
	}
}

// TestLoopbackNames: a rule for a port of this machine means each of its names for itself, and
// no other port or address.
func TestLoopbackNames(t *testing.T) {
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		list := list(t, name+":8080")
		for target, want := range map[string]bool{
			"localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true,
			"localhost:8081": false, "127.0.0.2:8080": false, "localhost.example.com:8080": false, "0.0.0.0:8080": false,
		} {
			to, err := parseTarget(target, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := list.matchRule(to); ok != want {
				t.Errorf("%s by the rule %s: %t", target, name, ok)
			}
		}
		if ports := (&EgressGrant{List: list}).NewGateway().LocalPortServers(); len(ports) != 1 || ports[8080] == nil {
			t.Errorf("%s: %d ports", name, len(ports))
		}
	}
}

// TestTry connects to each single host of a list, and says why one is not reached.
func TestTry(t *testing.T) {
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := (&EgressGrant{List: list(t, l.Addr().String(), "127.0.0.1:1", "*.example.com")}).NewGateway().TryHosts(t.Context())
	if len(got) != 1 || got[0].String() != "127.0.0.1:1" || !strings.Contains(got[0].Why, "refused") {
		t.Errorf("%+v", got)
	}
}
