package mcpserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcptest"
)

const token = "a-token-of-some-length"

func (d *desk) listen(t *testing.T) *mcpserver.HTTPServer {
	t.Helper()
	w, err := d.server.Listen(t.Context(), "127.0.0.1:0", token, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- w.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return w
}

// web connects a client to the desk over HTTP.
func (d *desk) web(t *testing.T, a *asker, revision string) *sdk.ClientSession {
	t.Helper()
	w := d.listen(t)
	s, err := a.client().Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.URL(), HTTPClient: &http.Client{Transport: mcptest.BearerTransport(token)}}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestGuards calls the server as those do who may not.
func TestGuards(t *testing.T) {
	w := newDesk(t).listen(t)
	address := strings.TrimSuffix(strings.TrimPrefix(w.URL(), "http://"), mcpserver.EndpointPath)
	_, port, _ := net.SplitHostPort(address)
	const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	for _, c := range []struct {
		name    string
		host    string
		headers map[string][]string
		path    string
		want    int
	}{
		{"as it should be", "", nil, "", 200},
		{"localhost", "localhost:" + port, nil, "", 200},
		{"its own origin", "", map[string][]string{"Origin": {"http://" + address}}, "", 200},
		{"no token", "", map[string][]string{"Authorization": nil}, "", 401},
		{"a wrong token", "", map[string][]string{"Authorization": {"Bearer " + token + "x"}}, "", 401},
		{"half a token", "", map[string][]string{"Authorization": {"Bearer " + token[:8]}}, "", 401},
		{"an empty token", "", map[string][]string{"Authorization": {"Bearer "}}, "", 401},
		{"two tokens", "", map[string][]string{"Authorization": {"Bearer " + token, "Bearer x"}}, "", 401},
		{"another scheme", "", map[string][]string{"Authorization": {"Basic " + token}}, "", 401},
		{"a token in the address", "", map[string][]string{"Authorization": nil}, "?token=" + token, 401},
		{"another host", "evil.example", nil, "", 421},
		{"another host at the port", "evil.example:" + port, nil, "", 421},
		{"another port", "127.0.0.1:1", nil, "", 421},
		{"no port", "127.0.0.1", nil, "", 421},
		{"another loopback", "127.0.0.2:" + port, nil, "", 421},
		{"another origin", "", map[string][]string{"Origin": {"http://evil.example"}}, "", 403},
		{"another scheme's origin", "", map[string][]string{"Origin": {"https://" + address}}, "", 403},
		{"an origin that only begins so", "", map[string][]string{"Origin": {"http://" + address + ".evil.example"}}, "", 403},
		{"the origin of a file", "", map[string][]string{"Origin": {"null"}}, "", 403},
		{"two origins", "", map[string][]string{"Origin": {"http://" + address, "http://" + address}}, "", 403},
		{"an empty origin", "", map[string][]string{"Origin": {""}}, "", 403},
		{"another path", "", nil, "/../else", 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL()+c.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token}}
		for name, values := range c.headers {
			r.Header[name] = values
		}
		r.Host = c.host
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if got.StatusCode != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, got.StatusCode, text, c.want)
		}
	}
}

// TestGuess turns away who tries tokens, and lets in who knows it.
func TestGuess(t *testing.T) {
	w := newDesk(t).listen(t)
	last := 0
	for range 20 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer guess")
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		last = got.StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last guess came to %d", last)
	}
	s, err := (&asker{}).client().Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.URL(), HTTPClient: &http.Client{Transport: mcptest.BearerTransport(token)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

func TestListen(t *testing.T) {
	d := newDesk(t)
	for _, c := range [][2]string{{"0.0.0.0:0", token}, {":0", token}, {"localhost:0", token}, {"127.0.0.1", token}, {"[::]:0", token}, {"127.0.0.1:0", "short"}, {"127.0.0.1:0", ""}} {
		if _, err := d.server.Listen(t.Context(), c[0], c[1], time.Now); err == nil {
			t.Errorf("listens at %q with the token %q", c[0], c[1])
		}
	}
}

func TestToken(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	made, err := mcpserver.LoadOrCreateToken(file)
	info, err2 := os.Stat(file)
	if err != nil || err2 != nil || len(made) < 16 || info.Mode().Perm() != 0o600 {
		t.Fatalf("%q, %v, %v", made, err, err2)
	}
	if again, err := mcpserver.LoadOrCreateToken(file); again != made || err != nil {
		t.Errorf("%q then %q, %v", made, again, err)
	}
	if drawn, err := mcpserver.LoadOrCreateToken(""); drawn == made || len(drawn) < 16 || err != nil {
		t.Errorf("%q, %v", drawn, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	wrong := map[string]string{link: "cannot be read", dir: "", filepath.Join(dir, "no", "dir"): "cannot be made"}
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open":  {token, 0o640, "read by others (mode 0640)"},
		"short": {"short", 0o600, "no token"},
		"empty": {"", 0o600, "no token"},
		"lines": {token + "\n" + token + "\n", 0o600, "no token"},
		"space": {"a token of some length", 0o600, "no token"},
		"long":  {strings.Repeat("x", 5000), 0o600, "no token"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		wrong[path] = c.want
	}
	for path, want := range wrong {
		if got, err := mcpserver.LoadOrCreateToken(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
