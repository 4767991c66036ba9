package main

import (
	"strings"

	"github.com/chromedp/chromedp"
)

// plan refuses a plan, edits the next one and approves it.
func (b *browser) plan(base, run string) {
	b.t.Helper()
	at := base + "/r/" + run + "/plan"
	for _, l := range looks() {
		b.see(l)
		b.hold(l, "plan-waits", at)
	}
	b.see(looks()[0])
	for _, by := range []string{"", "?by=stage", "?rows=group"} {
		b.do(chromedp.Navigate(base + "/r/" + run + "/" + by))
		b.until(`document.querySelector("#link").textContent === "live"`)
		lane := eval[string](b, `(l => l.querySelector(".n").textContent + " of " + document.querySelector(".side .count").textContent + " " + l.querySelector("a").hash)(document.querySelector("[data-lane=needs-you], [data-lane=person]"))`)
		if lane != "1 of 1 #i-"+run+"-q1" {
			b.t.Errorf("the plan that waits is on the board %s as %s", by, lane)
		}
	}
	b.do(chromedp.Navigate(at))
	b.until(`document.querySelector("#link").textContent === "live" && document.querySelector("#plan-q1") !== null`)
	about := eval[string](b, `document.querySelector("#plan-estimate").innerText`)
	for _, want := range []string{"time: about ", "money: ", "low confidence", "the budget"} {
		if !strings.Contains(about, want) {
			b.t.Errorf("%q is not in the estimate of the plan: %s", want, about)
		}
	}
	b.press("j", "x")
	b.write("One task is enough.")
	b.until(`document.querySelector("#plan-q2") !== null && document.querySelector("#h-before") !== null`)
	if before := eval[string](b, `document.querySelector("#h-before").parentElement.innerText`); !strings.Contains(before, "refused by web: One task is enough.") || !strings.Contains(before, "- T2 Do T2") {
		b.t.Errorf("what became of the first plan is said as %s", before)
	}
	// What is wrong is shown with its line, and what was written stays.
	b.change(`"- files:"`, `"- fles:"`, "preview")
	b.until(`document.querySelector("#wrong") !== null && document.querySelector(".near .here").textContent.includes("fles: a.txt")`)
	if got := eval[string](b, `(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.activeElement)`); got != "- fles: a.txt, a_test.sh" {
		b.t.Errorf("the line that is wrong is not selected, but %q", got)
	}
	for _, l := range looks() {
		b.see(l)
		b.shoot("plan-wrong-" + l.name)
		if wrong := b.violations(); wrong != "" {
			b.t.Errorf("a wrong plan: %s", wrong)
		}
	}
	b.see(looks()[0])
	b.change(`"- fles:"`, `"- files:"`, "preview")
	b.until(`document.querySelector("#changes") !== null && document.querySelector("#changes").innerText.includes("The tasks are the same")`)
	b.change(`"T1: Do T1"`, `"T1: Do T1 well"`, "preview")
	b.until(`document.querySelector("#changes") !== null && document.querySelector("#changes").innerText.includes("Do T1 well")`)
	b.change(`"test it."`, `"test it, twice."`, "preview")
	b.until(`document.querySelector("#changes") !== null && document.querySelector("#changes").innerText.includes("brief")`)
	for _, l := range looks() {
		b.see(l)
		b.shoot("plan-changes-" + l.name)
		if wrong := b.violations(); wrong != "" {
			b.t.Errorf("what changes: %s", wrong)
		}
	}
	b.see(looks()[0])
	b.change(`""`, `""`, "approve")
	b.until(`document.querySelector("#said") !== null && document.querySelector("#plan-q2") === null`)
}

// change replaces a text in the plan that is edited, and presses a button.
func (b *browser) change(old, now, button string) {
	b.t.Helper()
	eval[bool](b, `(e => { e.value = e.value.replace(`+old+`, `+now+`); document.querySelector("#edit button[value=`+button+`]").click(); return true; })(document.querySelector("#edit textarea"))`)
	b.until(`document.readyState === "complete"`)
}

// checks runs gates of a task again.
func (b *browser) checks(base, run string) {
	b.t.Helper()
	at := base + "/r/" + run + "/checks"
	b.do(chromedp.Navigate(at))
	b.until(`document.querySelector("#link").textContent === "live" && document.querySelector("[data-do=rerun]") !== null`)
	if first := eval[string](b, `document.querySelector(".card").innerText`); !strings.Contains(first, "not ok 1 - a_test.sh") {
		b.t.Errorf("what failed is not first, but %s", first)
	}
	eval[bool](b, `document.querySelector("[data-do=rerun] button").click(), true`)
	b.until(`document.querySelector("#rerun-T1-test[data-state=fail]") !== null && document.querySelector("#rerun-T1-test").innerText.includes("not ok 1 - a_test.sh")`)
	eval[bool](b, `document.querySelector("#rerun-gate").value = "build", document.querySelector("#rerun button").click(), true`)
	b.until(`document.querySelector("#rerun-T1-build[data-state=pass]") !== null`)
	for _, l := range looks() {
		b.see(l)
		b.hold(l, "checks-again", at)
	}
}
