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
	b.until(`document.querySelector("#plan-q2") !== null && document.querySelector("#plan-before") !== null`)
	if before := eval[string](b, `document.querySelector("#plan-before").innerText`); !strings.Contains(before, "refused by web: One task is enough.") || !strings.Contains(before, "- T2 Do T2") {
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
	if above := eval[bool](b, `document.querySelector("#h-red").compareDocumentPosition(document.querySelector("main table")) === Node.DOCUMENT_POSITION_FOLLOWING`); !above {
		b.t.Error("what failed is below the table of all gates")
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

// tab walks with the tabulator to a button, and presses it.
func (b *browser) tab(button string) {
	b.t.Helper()
	for range 40 {
		b.press("\t")
		if eval[bool](b, `document.activeElement.matches("button") && document.activeElement.textContent.trim() === "`+button+`"`) {
			b.press("\r")
			return
		}
	}
	b.t.Fatalf("no key comes to %s:\n%s", button, eval[string](b, "document.body.innerText"))
}

// interview answers what a run asks about its goal, by keyboard.
func (b *browser) interview(base, run string) {
	b.t.Helper()
	at := base + "/r/" + run + "/interview"
	for _, l := range looks() {
		b.see(l)
		b.hold(l, "interview-asks", at)
	}
	b.see(looks()[0])
	b.do(chromedp.Navigate(at))
	asks := func(question, said string) {
		b.t.Helper()
		b.until(`document.readyState === "complete" && document.querySelector("#link").textContent === "live" && document.querySelectorAll("main article").length === 1 && document.querySelector("main article").innerText.includes("` + question +
			`") && document.querySelector("main").innerText.includes("` + said + `")`)
	}
	asks("Who uses it?", "question 1 of")
	if wanted := eval[string](b, `document.querySelector("#h-wanted").parentElement.innerText`); !strings.Contains(wanted, "Recipes are kept") {
		b.t.Errorf("what is wanted is not beside the question, but %s", wanted)
	}
	b.tab("a family")
	asks("Which look?", "a family")
	b.press("j", "i")
	b.write("like my kitchen")
	asks("Should it print?", "like my kitchen")
	b.tab("no")
	asks("How many per page?", "question 4 of")
	b.tab("two")
	b.until(`document.querySelectorAll("main article").length === 0 && document.querySelector("main").innerText.includes("No question is open.")`)
}
