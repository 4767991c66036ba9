package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// axeFile is where make deps installs axe-core, which judges whether a page can
// be used by everybody. It is not part of Nexus.
const axeFile = "/usr/local/lib/nexus-tools/node_modules/axe-core/axe.min.js"

// maxWeight is the most that a screen may load from a cold start, in bytes.
const maxWeight = 300 << 10

// screenLook is how a browser shows pages.
type screenLook struct {
	name          string
	width, height int64
	scheme        string
}

// looks are how each screen is looked at.
func looks() []screenLook {
	return []screenLook{
		{"wide-light", 1440, 900, "light"}, {"wide-dark", 1440, 900, "dark"},
		{"phone-light", 390, 844, "light"}, {"phone-dark", 390, 844, "dark"},
	}
}

// browser is a Chromium that shows one page at a time.
type browser struct {
	t    *testing.T
	ctx  context.Context
	axe  string

	mu   sync.Mutex // guards what follows
	bad  []string   // what the console complained about
	load int64      // bytes since the last visit
}

// openBrowser starts Chromium, once for all that a test looks at.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	testenv.NeedTool(t, "chromium")
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		if os.Getenv("NEXUS_REQUIRE_TOOLS") != "" {
			t.Fatalf("axe-core is missing; make deps installs it: %v", err)
		}
		t.Skipf("axe-core is missing; make deps installs it: %v", err)
	}
	alloc, stop := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath("/usr/bin/chromium"), chromedp.NoSandbox, chromedp.Headless,
		chromedp.Flag("disable-gpu", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-dev-shm-usage", true))
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(alloc)
	t.Cleanup(end)
	b := &browser{t: t, ctx: ctx, axe: string(axe)}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // it starts, and lasts as long as this context
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *network.EventLoadingFinished:
			b.load += int64(e.EncodedDataLength)
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				b.bad = append(b.bad, fmt.Sprint(e.Args))
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeoutCause(b.ctx, time.Minute, fmt.Errorf("the browser does not answer"))
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// command is a command of the browser as a step.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// eval returns what a script in the page comes to.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// see shows pages in a size and a colour scheme from now on.
func (b *browser) see(l screenLook) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(l.width, l.height), command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: l.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}))
}

// violations are what axe-core finds wrong with the page.
func (b *browser) violations() string {
	b.t.Helper()
	eval[bool](b, b.axe+";true")
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {runOnly: ["wcag2a","wcag2aa","wcag21a","wcag21aa","wcag22aa","best-practice"]})
		.then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target + " " + (n.any[0] || n.all[0] || n.none[0] || {}).message).join(" | ")).join("\n"))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// shoot keeps a picture of the page where somebody asks for pictures.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("NEXUS_SCREENSHOTS")
	if dir == "" {
		return
	}
	data, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// pages are the screens of a run, and of all runs.
func pages(run string) map[string]string {
	at := "/r/" + run
	return map[string]string{
		"inbox": "/", "runs": "/runs", "memory": "/memory", "settings": "/settings", "doctor": "/doctor",
		"board": at + "/", "stages": at + "/?by=stage", "graph": at + "/graph", "graph-without": at + "/graph?without=T1", "timeline": at + "/timeline?zoom=2",
		"checks": at + "/checks", "cost": at + "/cost", "plan": at + "/plan", "interview": at + "/interview", "log": at + "/log", "replay": at + "/replay?at=60",
		"task": at + "/t/T4", "diff": at + "/t/T4/diff", "lost": at + "/t/T99",
	}
}

// holdPage looks at a page in one look and says what is wrong with it.
func (b *browser) holdPage(l screenLook, name, address string) {
	b.t.Helper()
	b.mu.Lock()
	b.bad, b.load = nil, 0
	b.mu.Unlock()
	b.do(command(network.ClearBrowserCache, cdp.Empty{}), chromedp.Navigate(address))
	if wrong := b.violations(); wrong != "" {
		b.t.Errorf("%s, %s: %s", name, l.name, wrong)
	}
	b.shoot(name + "-" + l.name)
	if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > l.width {
		b.t.Errorf("%s, %s: it is %d wide, so that it scrolls sideways: %s", name, l.name, wide, eval[string](b, widest))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.load > maxWeight {
		b.t.Errorf("%s, %s: it loads %d bytes", name, l.name, b.load)
	}
	if len(b.bad) > 0 && name != "lost" {
		b.t.Errorf("%s, %s: the console has %s", name, l.name, strings.Join(b.bad, "\n"))
	}
}

// widest names elements that are wider than the window.
const widest = `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join("\n")`

// TestBrowserDev looks at every screen.
func TestBrowserDev(t *testing.T) {
	base, run := os.Getenv("DEV_URL"), os.Getenv("DEV_RUN")
	if base == "" {
		t.Skip("dev")
	}
	b := openBrowser(t)
	only := os.Getenv("DEV_ONLY")
	for _, l := range looks() {
		b.see(l)
		for name, path := range pages(run) {
			if only == "" || strings.Contains(","+only+",", ","+name+",") {
				b.holdPage(l, name, base+path)
			}
		}
	}
	_ = cmp.Or("", "")
	_ = json.Valid
}
