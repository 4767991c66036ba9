package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/rogpeppe/go-internal/testscript"
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

// looks are how each screen is looked at: both widths and both schemes, in as
// few pictures as that takes. Each is judged in the other scheme, too.
func looks() []screenLook {
	return []screenLook{{"wide-light", 1440, 900, "light"}, {"phone-dark", 390, 844, "dark"}}
}

// browser is a Chromium that shows one page at a time.
type browser struct {
	t     testing.TB
	ctx   context.Context //nolint:containedctx // it is the browser
	axe   string
	close func()

	mu   sync.Mutex // guards what follows
	bad  []string   // what the console complained about
	load int64      // bytes since the last visit

	paints []float64 // milliseconds until something of each page was seen
}

// openBrowser starts Chromium, once for all that a story looks at.
func openBrowser(tb testing.TB) *browser {
	tb.Helper()
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		tb.Fatal(err)
	}
	alloc, stop := chromedp.NewExecAllocator(tb.Context(), chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.Headless,
		chromedp.Flag("disable-gpu", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-dev-shm-usage", true))
	ctx, end := chromedp.NewContext(alloc)
	b := &browser{t: tb, ctx: ctx, axe: string(axe), close: func() { end(); stop() }}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // it starts, and lasts as long as this context
		tb.Fatal(err)
	}
	if err := chromedp.Listen(ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *network.EventLoadingFinished:
			b.load += int64(e.EncodedDataLength)
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, said(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				b.bad = append(b.bad, said("console.error:", e.Args...))
			}
		}
	}); err != nil {
		tb.Fatal(err)
	}
	return b
}

// said is what a script complained about, in words.
func said(text string, about ...*runtime.RemoteObject) string {
	for _, o := range about {
		if o != nil {
			text += " " + o.Description + string(o.Value)
		}
	}
	return text
}

// answering is the browser for as long as one answer of it may take.
func (b *browser) answering() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(b.ctx, time.Minute, fmt.Errorf("the browser does not answer"))
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.answering()
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

// promised returns what a promise of a script in the page comes to.
func promised[T any](b *browser, script string) T {
	b.t.Helper()
	return eval[T](b, script, chromedp.EvalAwaitPromise)
}

// eval returns what a script in the page comes to.
func eval[T any](b *browser, script string, o ...chromedp.EvaluateOption) T {
	b.t.Helper()
	ctx, cancel := b.answering()
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, o...))
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
	return promised[string](b, `axe.run(document, {runOnly: ["wcag2a","wcag2aa","wcag21a","wcag21aa","wcag22aa","best-practice"]})
		.then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target + " " + (n.any[0] || n.all[0] || n.none[0] || {}).message).join(" | ")).join("\n"))`)
}

// shoot keeps a picture of the page where somebody asks for pictures.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("NEXUS_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := b.answering()
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
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
		"inbox": "/", "runs": "/runs", "memory": "/memory", "settings": "/settings", "doctor": "/doctor", "setting": "/settings?key=limits.parallel", "changed": "/settings?diff=1",
		"board": at + "/", "stages": at + "/?by=stage", "rows": at + "/?rows=group", "graph": at + "/graph", "without": at + "/graph?without=T1", "timeline": at + "/timeline?zoom=2",
		"checks": at + "/checks", "cost": at + "/cost", "plan": at + "/plan", "interview": at + "/interview", "log": at + "/log", "replay": at + "/replay?at=10",
		"waits": at + "/inbox", "session": at + "/s/T1.1%2Fcoder.1", "task": at + "/t/T1", "diff": at + "/t/T1/diff", "lost": at + "/t/T99",
	}
}

// hold looks at a page in one look and says what is wrong with it.
func (b *browser) hold(l screenLook, name, address string) {
	b.t.Helper()
	b.mu.Lock()
	b.bad, b.load = nil, 0
	b.mu.Unlock()
	b.do(command(network.ClearBrowserCache, cdp.Empty{}), chromedp.Navigate(address))
	b.paints = append(b.paints, promised[float64](b, firstPaint))
	other := l
	other.scheme = map[string]string{"light": "dark", "dark": "light"}[l.scheme]
	for _, look := range []screenLook{other, l} {
		b.see(look)
		if wrong := b.violations(); wrong != "" {
			b.t.Errorf("%s, %s, %s: %s", name, l.name, look.scheme, wrong)
		}
	}
	b.shoot(name + "-" + l.name)
	if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > l.width {
		b.t.Errorf("%s, %s: it is %d wide, so that it scrolls sideways: %s", name, l.name, wide, eval[string](b, widest))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.load < 1000 || b.load > maxWeight {
		b.t.Errorf("%s, %s: it loads %d bytes, at most %d are right", name, l.name, b.load, maxWeight)
	}
	if len(b.bad) > 0 {
		b.t.Errorf("%s, %s: the console has %s", name, l.name, strings.Join(b.bad, "\n"))
	}
}

// firstPaint is when something of a page was seen first, in milliseconds.
const firstPaint = `new Promise(is => new PerformanceObserver(all => all.getEntriesByName("first-contentful-paint").forEach(e => is(e.startTime))).observe({type: "paint", buffered: true}))`

// widest names elements that are wider than the window.
const widest = `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join("\n")`

// browse plays a person at a browser: "empty" looks at what there is without a
// run, "screens" at every screen, and "answer" refuses what waits by keyboard.
func browse(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: browse empty|screens|answer ADDRESS TOKEN [RUN]")
	}
	b := openBrowser(storyOf(ts))
	defer b.close()
	base := args[1]
	b.do(chromedp.Navigate(base + "/?token=" + args[2]))
	switch args[0] {
	case "empty":
		for _, name := range []string{"inbox", "runs"} {
			b.see(looks()[0])
			b.hold(looks()[0], name+"-empty", base+pages("")[name])
		}
	case "screens":
		for _, l := range looks() {
			b.see(l)
			for name, path := range pages(args[3]) {
				b.hold(l, name, base+path)
			}
		}
		slices.Sort(b.paints)
		b.t.Logf("first paint of %d pages, nothing cached: %.0f ms in the middle, %.0f ms at most", len(b.paints), b.paints[len(b.paints)/2], b.paints[len(b.paints)-1])
	default:
		play, ok := map[string]func(base, run string){"answer": b.answer, "review": b.review, "send": b.send, "answered": b.answered, "plan": b.plan, "checks": b.checks, "interview": b.interview}[args[0]]
		if !ok {
			ts.Fatalf("nobody knows how to browse %s", args[0])
		}
		play(base, args[3])
	}
}

// until waits for something to become true on the page, also after it was left
// for another one.
func (b *browser) until(script string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeoutCause(b.ctx, time.Minute, fmt.Errorf("it does not come true: %s", script))
	defer cancel()
	for tick := time.Tick(50 * time.Millisecond); ; {
		if is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script)); err == nil && is {
			return
		}
		select {
		case <-tick:
		case <-ctx.Done():
			b.t.Fatalf("%v:\n%s", context.Cause(ctx), eval[string](b, "document.body.innerText"))
		}
	}
}

// changedAtOnce is whether what a key unfolds is still unfolded after a change of
// the page that comes before the browser has reported it.
const changedAtOnce = `(() => {
	const page = document.querySelector("#main").outerHTML;
	document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "x", bubbles: true}));
	const field = document.activeElement;
	htmx.swap("#main", page, {swapStyle: "morph", swapDelay: 0, settleDelay: 0}, {contextElement: document.querySelector("#main")});
	const still = field.matches("textarea[name=input]") && field.closest("details").open && document.activeElement === field;
	field.closest("details").open = false;
	field.closest("[data-row]").focus();
	return still;
})()`

// otherUnderFinger is whether a key does nothing where another item took the place of
// the one that somebody looked at.
const otherUnderFinger = `(() => {
	const row = document.querySelector("[data-row]"), page = document.querySelector("#main").outerHTML;
	const show = page => htmx.swap("#main", page, {swapStyle: "morph", swapDelay: 0, settleDelay: 0}, {contextElement: document.querySelector("#main")});
	show(page.replaceAll('id="' + row.id + '"', 'id="another"'));
	document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "x", bubbles: true}));
	const still = document.querySelector("#another details[open]") === null && document.querySelector("#said")?.textContent.includes("no longer here");
	document.querySelector("#said")?.remove();
	show(page);
	return row.id !== "" && still === true;
})()`

// answer refuses what waits, by keyboard alone, while a second look at the board
// follows what happens.
func (b *browser) answer(base, run string) {
	b.t.Helper()
	b.do(chromedp.Navigate(base + "/"))
	b.until(`document.title.startsWith("(1)") && document.querySelector("#link").textContent === "live"`)
	if safe := eval[bool](b, otherUnderFinger); !safe {
		b.t.Error("a key acts on an item that has just taken the place of another one")
	}
	b.do(chromedp.KeyEvent("j"))
	b.until(`document.activeElement.matches("[data-row]")`)
	if now := eval[bool](b, changedAtOnce); !now {
		b.t.Error("a change of the page folds what a key has just unfolded")
	}
	b.do(chromedp.KeyEvent("x"))
	b.until(`document.activeElement.matches("textarea[name=input]")`)
	// A browser that is driven gets the character of a key apart from its press.
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("not here"))
	b.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.until(`document.querySelector("#said") !== null`)
	if said := eval[string](b, `document.querySelector("#said.bad")?.textContent ?? ""`); said != "" {
		b.t.Fatal(said)
	}
	b.until(`document.querySelectorAll("[data-row]").length === 0`)
	b.do(chromedp.Navigate(base + "/r/" + run + "/"))
	before := eval[float64](b, "performance.timeOrigin")
	b.until(`document.querySelector(".run .chip").textContent === "done"`)
	if eval[float64](b, "performance.timeOrigin") != before {
		b.t.Error("the page was loaded again, where it should change")
	}
	b.shoot("board-done")
	b.do(chromedp.KeyEvent("3"))
	b.until(`location.pathname.endsWith("/graph") && document.querySelector("#link").textContent === "live"`)
	b.do(chromedp.KeyEvent("?"))
	b.until(`document.querySelector("#keys").open`)
}
