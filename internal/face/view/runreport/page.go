package runreport

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/svg"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// page builds an HTML document by hand: the template packages would keep the linker from dropping
// methods that nothing calls.
type page struct {
	strings.Builder

	tables int // number of tables so far
}

// put writes a constant format with untrusted values: each is cleaned and escaped. Every value is
// in a text or in a quoted attribute that is not an address.
func (p *page) put(format string, values ...any) {
	for i, v := range values {
		values[i] = html.EscapeString(view.Clean(fmt.Sprint(v)))
	}
	_, _ = fmt.Fprintf(p, format, values...) // into memory
}

// policy limits the resources of a page to its own style sheet.
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// HTML writes the report as one page without a server, network or script, which can be sent as a
// file. It follows the reader's light or dark setting and can be printed.
func HTML(r Report) string {
	var p page
	p.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.WriteString(`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n")
	p.put("<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy)
	p.put("<title>%s: %s</title>\n<style>\n", "Nexus run "+string(r.Run), r.Status)
	p.WriteString(pageStyle + svg.Style + "</style>\n</head>\n<body>\n")
	p.head(r)
	p.WriteString("<main>\n")
	p.attention(r)
	p.landed(r)
	p.left(r)
	p.drawings(r)
	p.costs(r)
	p.gates(r)
	p.decided(r)
	p.WriteString("</main>\n")
	p.put("<footer>Written by nexus report on <time datetime=\"%s\">%s</time>. ", r.Now.UTC().Format(time.RFC3339), formatTime(r.Now))
	p.WriteString("Secrets that Nexus knows are masked.</footer>\n</body>\n</html>\n")
	return p.String()
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// statusClass returns the CSS class of a status.
func statusClass(status string) string {
	switch status {
	case string(nexus.Landed), string(nexus.StatusDone), string(accept.Met), string(nexus.Pass):
		return "good"
	case string(nexus.Failed), string(accept.Unmet), string(nexus.Fail), string(nexus.Timeout):
		return "bad"
	default:
		return "warn"
	}
}

// mark writes a status word with its colour and its sign.
func (p *page) mark(word string) {
	sign := map[string]string{"good": "\u2713", "bad": "\u2717", "warn": "!"}[statusClass(word)]
	p.put(`<span class="mark %s"><span aria-hidden="true">%s</span> %s</span>`, statusClass(word), sign, word)
}

func (p *page) head(r Report) {
	p.put("<header>\n<p class=\"run\">Nexus run %s ", r.Run)
	p.mark(string(r.Status))
	p.put("</p>\n<h1>%s</h1>\n", short(view.Goal(r.Goal)))
	for _, line := range []string{r.Why, r.Delivered} {
		if line != "" {
			p.put("<p>%s</p>\n", short(line))
		}
	}
	p.WriteString("<dl class=\"figures\">\n")
	for _, f := range r.figures() {
		p.put("<div><dt>%s</dt><dd>%s</dd></div>\n", f.name, f.value)
	}
	if !r.Started.IsZero() {
		p.put("<div><dt>started</dt><dd>%s</dd></div>\n", formatTime(r.Started))
	}
	p.WriteString("</dl>\n</header>\n")
}

func (p *page) attention(r Report) {
	if len(r.LookAt) == 0 {
		return
	}
	p.put("<section aria-labelledby=\"look\">\n<h2 id=\"look\">Look at <small>%v</small></h2>\n<ul class=\"look\">\n", len(r.LookAt))
	for _, l := range r.LookAt {
		p.put("<li><span class=\"kind\">%s</span> ", l.Kind)
		if l.Task != "" {
			p.put(`<b>%s</b> `, l.Task)
		}
		p.put("%s</li>\n", short(l.Text))
	}
	p.WriteString("</ul>\n</section>\n")
}

func (p *page) landed(r Report) {
	p.put("<section aria-labelledby=\"landed\">\n<h2 id=\"landed\">Landed <small>%v</small></h2>\n", len(r.Landed))
	if len(r.Landed) == 0 {
		p.WriteString("<p>Nothing landed.</p>\n")
	}
	for i, l := range r.Landed {
		p.put("<article id=\"%s\">\n<h3><b>%s</b> %s</h3>\n", anchor(l.ID), l.ID, short(l.Title))
		p.put("<p class=\"note\">commit <code>%s</code>, %s, %s, %s, %s, criteria met: %v of %v</p>\n", view.ShortHash(l.Commit), passed(l.Gates),
			reviewText(l.Review), view.Count(l.Rounds, "round"), l.Spent, countMet(l.Criteria), len(l.Criteria))
		open := ""
		if i < 3 {
			open = " open"
		}
		p.WriteString("<details" + open + "><summary>Evidence</summary>\n")
		p.put("<p class=\"note\">tree <code>%s</code></p>\n", l.Tree)
		p.criteria(l.Criteria)
		p.table([]string{"gate", "result", "command"}, len(l.Gates), func(i int) {
			g := l.Gates[i]
			p.put("<td>%s</td><td>", short(g.Gate))
			p.mark(string(g.State))
			p.put(" %s</td><td><code>%s</code></td>", strings.TrimPrefix(strings.TrimPrefix(gateText(g), string(g.State)),
				"; "), short(g.Command))
		})
		p.WriteString("</details>\n</article>\n")
	}
	p.WriteString("</section>\n")
}

func (p *page) criteria(all []Criterion) {
	p.table([]string{"criterion", "state", "evidence"}, len(all), func(i int) {
		c := all[i]
		p.put("<td>%s</td><td>", short(c.Text))
		p.mark(string(c.State))
		p.put("</td><td>%s</td>", short(c.Evidence))
	})
}

// table writes a table of n rows, if there are any. It scrolls separately if it is too wide.
func (p *page) table(head []string, n int, row func(i int)) {
	if n == 0 {
		return
	}
	p.WriteString("<div class=\"wide\" tabindex=\"0\" role=\"region\"")
	p.tables++
	p.put(" aria-label=\"table %v, of %s\"><table>\n<thead><tr>", p.tables, head[0])
	for _, h := range head {
		p.put("<th scope=\"col\">%s</th>", h)
	}
	p.WriteString("</tr></thead>\n<tbody>\n")
	for i := range n {
		p.WriteString("<tr>")
		row(i)
		p.WriteString("</tr>\n")
	}
	p.WriteString("</tbody></table></div>\n")
}

func (p *page) left(r Report) {
	if len(r.Left) == 0 {
		return
	}
	p.put("<section aria-labelledby=\"left\">\n<h2 id=\"left\">Not landed <small>%v</small></h2>\n", len(r.Left))
	for _, l := range r.Left {
		p.put("<article id=\"%s\">\n<h3><b>%s</b> %s ", anchor(l.ID), l.ID, short(l.Title))
		p.mark(string(l.Status))
		p.WriteString("</h3>\n")
		if l.Why != "" {
			p.put("<p>%s</p>\n", short(l.Why))
		}
		p.put("<p class=\"note\">%s, %s, %s</p>\n", view.Count(l.Attempts, "attempt"), view.Count(l.Rounds, "round"), l.Spent)
		if len(l.Findings) > 0 {
			p.put("<details><summary>%s</summary>\n<ul>\n", view.Count(len(l.Findings), "open finding"))
			for i, f := range l.Findings {
				if i == mostFindings {
					p.put("<li>and %s</li>\n", view.Count(len(l.Findings)-i, "more finding"))
					break
				}
				p.put("<li>%s: %s</li>\n", cmp.Or(f.Gate, string(f.Severity), "review"), short(view.FindingText(f)))
			}
			p.WriteString("</ul></details>\n")
		}
		p.WriteString("</article>\n")
	}
	p.WriteString("</section>\n")
}

// mostFindings limits the findings of a task on a page.
const mostFindings = 50

// anchor returns the anchor of a task on the page.
func anchor(id nexus.TaskID) string {
	return "task-" + strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-') {
			return r
		}
		return '_'
	}, short(string(id)))
}

// drawings draws the plan and the timeline, if they exist.
func (p *page) drawings(r Report) {
	here := map[nexus.TaskID]bool{}
	for _, l := range r.Landed {
		here[l.ID] = true
	}
	for _, l := range r.Left {
		here[l.ID] = true
	}
	link := func(id nexus.TaskID) string {
		if !here[id] {
			return ""
		}
		return "#" + anchor(id)
	}
	for _, d := range []struct{ id, title, drawing string }{
		{"plan", "Plan", svg.Graph(r.Graph, svg.Options{Link: link})},
		{"time", "Timeline", svg.Timeline(r.Timeline, svg.Options{Link: link})},
	} {
		if d.drawing == "" {
			continue
		}
		p.put("<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", d.id, d.id, d.title)
		p.put("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"drawing of the %s\">\n", strings.ToLower(d.title))
		p.WriteString(d.drawing) // it is escaped already
		p.WriteString("</div>\n</section>\n")
	}
}

func (p *page) costs(r Report) {
	p.WriteString("<section aria-labelledby=\"costs\">\n<h2 id=\"costs\">Money and time</h2>\n")
	all := r.costs()
	p.table([]string{"what", "took"}, len(all), func(i int) {
		p.put("<td>%s</td><td class=\"n\">%s</td>", all[i].name, all[i].value)
	})
	if len(r.Timeline.Rows) > 0 {
		p.WriteString("<p class=\"note\">Time of people is on the wall. Time of agents and gates adds up over what ran at the same time.</p>\n")
	}
	p.WriteString("</section>\n")
}

func (p *page) gates(r Report) {
	if len(r.Gates) == 0 {
		return
	}
	p.WriteString("<section aria-labelledby=\"gates\">\n<h2 id=\"gates\">Gates</h2>\n")
	p.table([]string{"gate", "judged", "failed", "undecided", "time"}, len(r.Gates), func(i int) {
		g := r.Gates[i]
		p.put("<td>%s</td><td class=\"n\">%s</td>", short(g.Name), view.Number(int64(g.Judged)))
		p.put("<td class=\"n\">%v</td><td class=\"n\">%v</td><td class=\"n\">%s</td>", g.Red, g.Unsure, clock(g.Seconds))
	})
	p.WriteString("</section>\n")
}

func (p *page) decided(r Report) {
	if len(r.Decided) == 0 {
		return
	}
	p.WriteString("<section aria-labelledby=\"decided\">\n<h2 id=\"decided\">Decisions during the run</h2>\n<ul>\n")
	for _, d := range r.Decided {
		p.WriteString("<li>")
		if d.Task != "" {
			p.put("<b>%s</b> ", d.Task)
		}
		p.put("%s", short(d.Text))
		if d.By != "" {
			p.put(" <span class=\"note\">(%s)</span>", d.By)
		}
		p.WriteString("</li>\n")
	}
	p.WriteString("</ul>\n</section>\n")
}
