package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/page"
)

// onPage plays a person at a browser that stays open, on one page:
//
//	page open URL        goes there
//	page until SCRIPT    waits until a script in the page is true, also on the next page
//	page key KEYS        presses keys; Enter, Escape and Tab are named
//	page scripts on|off  switches the scripts of pages
//	page look LOOK       has a size and a colour scheme from now on: those of [looks], and zoomed,
//	                     which is 1280 wide at 200 percent
//	page does NAME [TEXT]  does what an action of the first item of the page says, with a text
//	page shoot NAME      keeps a picture where somebody asks for pictures
//	page pleases         wants axe-core to find nothing wrong with the page as it is now
//	page sits URL...     wants pages that do not scroll sideways, hide nothing and please axe-core
func onPage(ts *testscript.TestScript, _ bool, args []string) {
	p := playOf(ts)
	if p.browser == nil {
		b := openBrowser(storyOf(ts))
		p.browser = b
		ts.Defer(b.close)
		b.see(looks()[0])
	}
	b := p.browser
	switch args[0] {
	case "open":
		b.do(chromedp.Navigate(args[1]))
	case "until":
		b.until(args[1])
	case "key":
		keys := map[string]string{"Enter": "\r", "Escape": "\u001b", "Tab": "\t"}
		if named, ok := keys[args[1]]; ok {
			b.do(chromedp.KeyEvent(named))
			return
		}
		b.do(chromedp.KeyEvent(args[1]))
	case "scripts":
		b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: args[1] == "off"}))
	case "look":
		b.see(lookOf(ts, args[1]))
	case "shoot":
		b.shoot(args[1])
	case "pleases":
		if wrong := b.violations(); wrong != "" {
			ts.Fatalf("%s", wrong)
		}
	case "does":
		input := ""
		if len(args) > 2 {
			input = args[2]
		}
		b.until(fmt.Sprintf(doAction, args[1], input))
	case "sits":
		l := zoomed
		for _, address := range args[1:] {
			b.see(l)
			b.hold(l, "sits", address)
			if lost := eval[string](b, hiddenParts); lost != "" {
				ts.Fatalf("%s hides %s", address, lost)
			}
		}
	default:
		ts.Fatalf("usage: page open|until|key|scripts|look|pleases|does|shoot|sits ...")
	}
}

// TestEveryScreen holds that a browser looks at each screen that there is.
func TestEveryScreen(t *testing.T) {
	mux, seen := http.NewServeMux(), map[string]bool{}
	for _, r := range page.NewPages(access.WebBackend{}, nil).Routes() {
		if r.Method == http.MethodGet && !r.Stream && !r.File {
			mux.Handle("GET "+r.Pattern, http.NotFoundHandler())
			seen["GET "+r.Pattern] = false
		}
	}
	for _, path := range pages("run1") {
		_, pattern := mux.Handler(httptest.NewRequest(http.MethodGet, path, nil))
		seen[pattern] = true
	}
	for pattern, looked := range seen {
		if !looked {
			t.Errorf("nobody looks at %s", pattern)
		}
	}
	if len(seen) < 15 {
		t.Errorf("there are %d screens", len(seen))
	}
}

// zoomed is a window of 1280 pixels at 200 percent.
var zoomed = screenLook{"zoomed", 640, 400, "light"}

func lookOf(ts *testscript.TestScript, name string) screenLook {
	all := append(looks(), zoomed)
	i := slices.IndexFunc(all, func(l screenLook) bool { return l.name == name })
	if i < 0 {
		ts.Fatalf("there is no look %q", name)
	}
	return all[i]
}

// doAction presses the button of an action, as a finger does, once there is one.
const doAction = `(() => {
	const d = document.querySelector("[data-row] [data-do=%s]");
	if (!d) return false;
	if (d.matches("details") && !d.open) { d.querySelector("summary").click(); return false; }
	const f = d.matches("form") ? d : d.querySelector("form");
	if (f.input) f.input.value = %q;
	f.querySelector("button").click();
	return true;
})()`

// hiddenParts names what people need and cannot get at: links and buttons that are
// outside of the window, or that something cuts off, where nothing scrolls.
const hiddenParts = `[...document.querySelectorAll("main a, main button, main summary, header a, header button, nav a")].filter(e => {
	const r = e.getBoundingClientRect();
	if (r.width === 0 || e.closest(".scroll, nav, [hidden]") || getComputedStyle(e).visibility === "hidden" || e.matches(".skip")) return false;
	return r.left < -1 || r.right > innerWidth + 1;
}).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join("\n")`

// certificate writes a certificate for a name, and its key: certificate CERT KEY NAME.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	now := time.Now()
	c := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: args[2]}, DNSNames: []string{args[2]}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	data, err := x509.CreateCertificate(rand.Reader, &c, &c, key.Public(), key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: data}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

// collector takes traces.
type collector struct {
	mu  sync.Mutex // guards got
	got []string
}

// collect takes traces of OpenTelemetry at $OTLP_URL.
func collect(ts *testscript.TestScript, _ bool, _ []string) {
	c := &collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got = append(c.got, r.Header.Get("Authorization")+" "+string(body))
		_, _ = w.Write([]byte("{}")) // who is gone reads nothing
	}))
	ts.Defer(s.Close)
	ts.Setenv("OTLP_URL", s.URL)
	playOf(ts).collector = c
}

// collected waits until so many messages with traces came that hold all texts:
// collected N TEXT... Negated, it fails where so many came.
func collected(ts *testscript.TestScript, neg bool, args []string) {
	c := playOf(ts).collector
	waits(ts, neg, args, func() []string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Clone(c.got)
	})
}
