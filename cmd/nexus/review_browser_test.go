package main

import (
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// press types keys one after another, each as a person would.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// write types a text into what has the focus, and sends its form.
func (b *browser) write(text string) {
	b.t.Helper()
	b.until(`document.activeElement.matches("textarea")`)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(text))
	b.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// scripts lets the page run scripts, or none.
func (b *browser) scripts(run bool) {
	b.t.Helper()
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run}))
}

// onLine walks down to a line of the change with j.
func (b *browser) onLine(place string) {
	b.t.Helper()
	for range 40 {
		b.press("j")
		if eval[bool](b, `document.activeElement.dataset.line === "`+place+`"`) {
			return
		}
	}
	b.t.Fatalf("j does not come to %s:\n%s", place, eval[string](b, "document.body.innerText"))
}

// review writes comments on a change: one by keyboard, one without scripts.
func (b *browser) review(base, run string) {
	b.t.Helper()
	at := base + "/r/" + run + "/t/T1/diff"
	for _, l := range looks() {
		b.see(l)
		b.hold(l, "review", at)
		b.hold(l, "review-split", at+"?split=1&blank=1")
		b.hold(l, "review-form", at+"?at=a.txt:2")
	}
	b.see(looks()[0])
	b.do(chromedp.Navigate(at))
	b.until(`document.querySelector("#link").textContent === "live"`)
	if first := eval[string](b, `document.querySelector("[data-file]").dataset.file`); first != "auth.go" {
		b.t.Errorf("the first file is %s, and auth.go is the riskiest", first)
	}
	b.onLine("a.txt:2")
	b.press("c")
	b.until(`document.querySelector("#place").value === "a.txt:2"`)
	b.write("Say why.")
	b.until(`document.querySelector("#drafts").textContent === "1 comment not sent" && document.activeElement.dataset.line === "a.txt:2"`)
	b.press(" ")
	b.until(`document.querySelector("#seen").textContent.startsWith("1 of 3") && !document.querySelector("[data-file='a.txt']").open`)
	b.do(chromedp.Navigate(at))
	b.until(`document.querySelector("#link").textContent === "live"`)
	b.walks()
	b.onLine("auth.go:1")
	b.press("J", "c")
	b.until(`document.querySelector("#place").value === "auth.go:1-2"`)
	b.moves()
	b.scripts(false)
	b.do(chromedp.Navigate(at + "?at=auth.go:1-2"))
	b.until(`document.querySelector("#draft").open && document.querySelector("#place").value === "auth.go:1-2" && document.querySelector("#link").textContent === ""`)
	eval[bool](b, `document.querySelector("#kind").value = "question", document.querySelector("#body").value = "Is it enough?", document.querySelector("#draft-form button").click(), true`)
	b.until(`document.querySelector("#drafts").textContent === "2 comments not sent"`)
	eval[bool](b, `document.querySelector("#place").value = "no.txt:1", document.querySelector("#body").value = "Lost?", document.querySelector("#draft-form button").click(), true`)
	b.until(`document.querySelector("#said.bad") !== null && document.querySelector("#body").value === "Lost?"`)
	if said := eval[string](b, `document.querySelector("#said").textContent`); !strings.Contains(said, "no.txt") {
		b.t.Errorf("what is wrong is said as %q", said)
	}
	b.scripts(true)
}

// walks goes over the change with the keys that the list of keys names: to hunks and back,
// over lines that are selected, and to lines that should be there instead.
func (b *browser) walks() {
	b.t.Helper()
	eval[bool](b, `document.querySelector("[data-file]").focus(), true`)
	b.press("}")
	b.until(`document.activeElement.dataset.line === "auth.go:1"`)
	b.press("}")
	next := eval[string](b, `document.activeElement.dataset.line`)
	if !strings.HasSuffix(next, ":1") || next == "auth.go:1" {
		b.t.Errorf("} goes to %s, which does not begin the next hunk", next)
	}
	b.press("{")
	b.until(`document.activeElement.dataset.line === "auth.go:1"`)
	b.press("z")
	b.until(`document.querySelector("#said.bad")?.textContent.includes("nothing to resolve here")`)
	b.press("j", "j", "v", "j", "C")
	b.until(`document.activeElement.id === "instead" && document.querySelector("#place").value === "auth.go:3-4" && document.activeElement.value.startsWith("// Login lets anybody in.\nfunc Login(")`)
	b.press("\x1b", "\x1b")
	eval[bool](b, `(document.querySelector("#instead").value = document.querySelector("#place").value = "", true)`)
}

// moves holds that what is being written stays about the change as it was when the place
// was chosen, while the page goes on to what its agent made of it.
func (b *browser) moves() {
	b.t.Helper()
	now := eval[string](b, `(() => {
		const commits = () => ["#draft-form", "[data-do=viewed]"].map((f) => document.querySelector(f + " [name=commit]").value);
		const before = commits(), main = document.querySelector("#main");
		const to = (commit) => htmx.swap(main, main.outerHTML.replaceAll(before[0], commit), {swapStyle: "morph"}, {contextElement: main});
		to("later");
		const writing = commits();
		document.activeElement.blur();
		document.querySelector("[data-line='auth.go:1'] a").click();
		return [writing[0] === before[0], writing[1], commits()[0]].join(" ");
	})()`)
	if now != "true later later" {
		b.t.Errorf("the comment is about %s: not as it was when its place was chosen, or not as it is at the next", now)
	}
}

// send sends what was written, by keyboard.
func (b *browser) send(base, run string) {
	b.t.Helper()
	at := base + "/r/" + run + "/t/T1/diff"
	for _, l := range looks() {
		b.see(l)
		b.hold(l, "review-drafts", at)
	}
	b.see(looks()[0])
	b.do(chromedp.Navigate(at))
	b.until(`document.querySelector("#link").textContent === "live"`)
	before := eval[float64](b, "performance.timeOrigin")
	b.press("b")
	b.until(`document.querySelector("#drafts").textContent === "0 comments not sent" && document.querySelectorAll(".note").length === 2`)
	if eval[float64](b, "performance.timeOrigin") != before {
		b.t.Error("the page was loaded again, where it should change")
	}
	b.until(`document.querySelector("#musts a").textContent === "c1"`)
}

// answered looks at the answers of the agent, and resolves what must be done.
func (b *browser) answered(base, run string) {
	b.t.Helper()
	at := base + "/r/" + run + "/t/T1/diff"
	for _, l := range looks() {
		b.see(l)
		b.hold(l, "review-since", at)
		b.hold(l, "review-answered", at+"?show=all")
	}
	b.see(looks()[0])
	b.do(chromedp.Navigate(at))
	b.until(`document.querySelectorAll("[data-file]").length === 1 && document.querySelector("[data-file]").innerText.includes("two, because")`)
	b.do(chromedp.Navigate(at + "?show=all"))
	b.until(`document.querySelector("#c-c1 .reply strong").textContent === "fixed" && document.querySelector("#c-c2 .reply").innerText.includes("It is.")`)
	for range 40 {
		if b.press("j"); eval[bool](b, `document.activeElement.id === "c-c1"`) {
			break
		}
	}
	b.press("z")
	b.until(`document.querySelector("#musts") === null && document.querySelector("#c-c1").innerText.includes("resolved by web")`)
	b.until(`[...document.querySelectorAll("[data-do] button, [data-do] summary")].some(e => e.textContent.includes("Approve") || e.textContent.includes("Let it land")) || document.querySelector("#main").innerText.includes("landed as")`)
}
