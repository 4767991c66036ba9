package web

import (
	"fmt"
	"html"
	"io"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/people"
)

// view is what the page shows.
type view struct {
	Place, Said string
	Bad         bool
	CSRF        string
	Items       []people.Item
}

// form writes HTML. It is written by hand, since the packages for templates
// keep the linker from dropping methods that nothing calls. Every value stands
// in a text or in a quoted attribute that is no address, so one way to escape
// is enough.
type form struct{ to io.Writer }

// print writes format with each value escaped; the format is of this file.
func (p form) print(format string, values ...any) {
	for i, v := range values {
		values[i] = html.EscapeString(fmt.Sprint(v))
	}
	_, _ = fmt.Fprintf(p.to, format, values...) // into memory
}

// draw writes the whole page.
func (p form) draw(v view) {
	p.print(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s waiting - nexus</title>
<link rel="stylesheet" href="/style.css">
`, fmt.Sprint(len(v.Items)))
	status := "nothing waits for a person; this page refreshes itself"
	if len(v.Items) > 0 {
		status = fmt.Sprintf("%d waiting for a person", len(v.Items))
	} else {
		p.print(`<meta http-equiv="refresh" content="5">` + "\n")
	}
	p.print(`</head>
<body>
<header><h1>nexus <span>%s</span></h1><p>%s</p></header>
<main>
`, v.Place, status)
	if v.Said != "" {
		class := "said"
		if v.Bad {
			class = "said bad"
		}
		p.print(`<p class="%s" role="status">%s</p>`+"\n", class, v.Said)
	}
	for _, i := range v.Items {
		p.item(i, v.CSRF)
	}
	p.print(`</main>
<footer>The first answer counts, whether given here, with nexus answer, or through another channel.</footer>
</body>
</html>
`)
}

// item writes what waits, and how to answer it.
func (p form) item(i people.Item, csrf string) {
	p.print(`<article class="%s">
<h2><span class="mark">%s</span> %s <small>%s of run %s</small></h2>
<pre>%s</pre>
<p class="else">Without an answer`, i.Severity, i.Severity, i.Trigger, i.ID, i.Run, i.Text)
	if !i.Deadline.IsZero() {
		p.print(` until <time datetime="%s">%s</time>`, stamp(i.Deadline), stamp(i.Deadline))
	}
	p.print(": %s</p>\n", i.Fallback)
	for _, c := range i.Choices {
		i.Offers = append(i.Offers, people.Offer{Label: c, Answer: c})
	}
	if len(i.Offers) > 0 {
		p.form(i, csrf, func() {
			for _, o := range i.Offers {
				p.print(`<button name="answer" value="%s" class="%s">%s`, o.Answer, o.Answer, o.Label)
				if o.Default {
					p.print(" (default)")
				}
				p.print("</button>\n")
			}
		})
	}
	if len(i.Choices) == 0 {
		p.form(i, csrf, func() {
			p.print(`<textarea name="answer" rows="3" maxlength="8192" required aria-label="Answer to %s"></textarea>
<button>answer</button>
`, i.ID)
		})
	}
	p.print("</article>\n")
}

// form draws a form that answers an item with what is drawn in it.
func (p form) form(i people.Item, csrf string, fields func()) {
	p.print(`<form method="post" action="/answer">
<input type="hidden" name="csrf" value="%s"><input type="hidden" name="run" value="%s"><input type="hidden" name="id" value="%s">
`, csrf, i.Run, i.ID)
	fields()
	p.print("</form>\n")
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }
