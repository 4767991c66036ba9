package runreport

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/svg"
)

// htmlPage builds an HTML document by hand: the template packages would keep the linker from dropping
// methods that nothing calls.
type htmlPage struct {
	strings.Builder

	tables int // number of tables so far
}

// writeEscaped writes a constant format with untrusted values: each is cleaned and escaped. Every value is
// in a text or in a quoted attribute that is not an address.
func (p *htmlPage) writeEscaped(format string, values ...any) {
	for i, v := range values {
		values[i] = html.EscapeString(view.EscapeForTerminal(fmt.Sprint(v)))
	}
	_, _ = fmt.Fprintf(p, format, values...) // into memory
}

// policy limits the resources of a page to its own style sheet.
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// HTMLReport writes the report as one page without a server, network or script, which can be sent as a
// file. It follows the reader's light or dark setting and can be printed.
func HTMLReport(r Report) string {
	var p htmlPage
	p.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.WriteString(`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n")
	p.writeEscaped("<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy)
	p.writeEscaped("<title>%s: %s</title>\n<style>\n", "Nexus run "+string(r.Run), r.Status)
	p.WriteString(pageStyle + svg.Style + "</style>\n</head>\n<body>\n")
	p.writeHeader(r)
	p.WriteString("<main>\n")
	p.writeAttention(r)
	p.writeLanded(r)
	p.writeNotLanded(r)
	p.writeDrawings(r)
	p.writeCosts(r)
	p.writeGates(r)
	p.writeDecisions(r)
	p.WriteString("</main>\n")
	p.writeEscaped("<footer>Written by nexus status --report on <time datetime=\"%s\">%s</time>. ", r.Now.UTC().Format(time.RFC3339), formatTime(r.Now))
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

// writeMark writes a status word with its colour and its sign.
func (p *htmlPage) writeMark(word string) {
	sign := map[string]string{"good": "\u2713", "bad": "\u2717", "warn": "!"}[statusClass(word)]
	p.writeEscaped(`<span class="mark %s"><span aria-hidden="true">%s</span> %s</span>`, statusClass(word), sign, word)
}

func (p *htmlPage) writeHeader(r Report) {
	p.writeEscaped("<header>\n<p class=\"run\">Nexus run %s ", r.Run)
	p.writeMark(string(r.Status))
	p.writeEscaped("</p>\n<h1>%s</h1>\n", truncateText(view.GoalLine(r.Goal)))
	for _, line := range []string{r.Why, r.Delivered} {
		if line != "" {
			p.writeEscaped("<p>%s</p>\n", truncateText(line))
		}
	}
	p.WriteString("<dl class=\"figures\">\n")
	for _, f := range r.mainFigures() {
		p.writeEscaped("<div><dt>%s</dt><dd>%s</dd></div>\n", f.name, f.value)
	}
	if !r.Started.IsZero() {
		p.writeEscaped("<div><dt>started</dt><dd>%s</dd></div>\n", formatTime(r.Started))
	}
	p.WriteString("</dl>\n</header>\n")
}

func (p *htmlPage) writeAttention(r Report) {
	if len(r.LookAt) == 0 {
		return
	}
	p.writeEscaped("<section aria-labelledby=\"look\">\n<h2 id=\"look\">Look at <small>%v</small></h2>\n<ul class=\"look\">\n", len(r.LookAt))
	for _, l := range r.LookAt {
		p.writeEscaped("<li><span class=\"kind\">%s</span> ", l.Kind)
		if l.Task != "" {
			p.writeEscaped(`<b>%s</b> `, l.Task)
		}
		p.writeEscaped("%s</li>\n", truncateText(l.Text))
	}
	p.WriteString("</ul>\n</section>\n")
}

func (p *htmlPage) writeLanded(r Report) {
	p.writeEscaped("<section aria-labelledby=\"landed\">\n<h2 id=\"landed\">Landed <small>%v</small></h2>\n", len(r.Landed))
	if len(r.Landed) == 0 {
		p.WriteString("<p>Nothing landed.</p>\n")
	}
	for i, l := range r.Landed {
		p.writeEscaped("<article id=\"%s\">\n<h3><b>%s</b> %s</h3>\n", taskAnchor(l.ID), l.ID, truncateText(l.Title))
		p.writeEscaped("<p class=\"note\">commit <code>%s</code>, %s, %s, %s, %s, criteria met: %v of %v</p>\n", view.ShortHash(l.Commit), passedGatesText(l.Gates),
			reviewText(l.Review), view.CountWithNoun(l.Rounds, "round"), l.Spent, countMet(l.Criteria), len(l.Criteria))
		open := ""
		if i < 3 {
			open = " open"
		}
		p.WriteString("<details" + open + "><summary>Evidence</summary>\n")
		p.writeEscaped("<p class=\"note\">tree <code>%s</code></p>\n", l.Tree)
		p.writeCriteria(l.Criteria)
		p.writeTable([]string{"gate", "result", "command"}, len(l.Gates), func(i int) {
			g := l.Gates[i]
			p.writeEscaped("<td>%s</td><td>", truncateText(g.Gate))
			p.writeMark(string(g.State))
			p.writeEscaped(" %s</td><td><code>%s</code></td>", strings.TrimPrefix(strings.TrimPrefix(gateText(g), string(g.State)),
				"; "), truncateText(g.Command))
		})
		p.WriteString("</details>\n</article>\n")
	}
	p.WriteString("</section>\n")
}

func (p *htmlPage) writeCriteria(all []ReportCriterion) {
	p.writeTable([]string{"criterion", "state", "evidence"}, len(all), func(i int) {
		c := all[i]
		p.writeEscaped("<td>%s</td><td>", truncateText(c.Text))
		p.writeMark(string(c.State))
		p.writeEscaped("</td><td>%s</td>", truncateText(c.Evidence))
	})
}

// writeTable writes a table of n rows, if there are any. It scrolls separately if it is too wide.
func (p *htmlPage) writeTable(head []string, n int, row func(i int)) {
	if n == 0 {
		return
	}
	p.WriteString("<div class=\"wide\" tabindex=\"0\" role=\"region\"")
	p.tables++
	p.writeEscaped(" aria-label=\"table %v, of %s\"><table>\n<thead><tr>", p.tables, head[0])
	for _, h := range head {
		p.writeEscaped("<th scope=\"col\">%s</th>", h)
	}
	p.WriteString("</tr></thead>\n<tbody>\n")
	for i := range n {
		p.WriteString("<tr>")
		row(i)
		p.WriteString("</tr>\n")
	}
	p.WriteString("</tbody></table></div>\n")
}

func (p *htmlPage) writeNotLanded(r Report) {
	if len(r.Left) == 0 {
		return
	}
	p.writeEscaped("<section aria-labelledby=\"left\">\n<h2 id=\"left\">Not landed <small>%v</small></h2>\n", len(r.Left))
	for _, l := range r.Left {
		p.writeEscaped("<article id=\"%s\">\n<h3><b>%s</b> %s ", taskAnchor(l.ID), l.ID, truncateText(l.Title))
		p.writeMark(string(l.Status))
		p.WriteString("</h3>\n")
		if l.Why != "" {
			p.writeEscaped("<p>%s</p>\n", truncateText(l.Why))
		}
		p.writeEscaped("<p class=\"note\">%s, %s, %s</p>\n", view.CountWithNoun(l.Attempts, "attempt"), view.CountWithNoun(l.Rounds, "round"), l.Spent)
		if len(l.Findings) > 0 {
			p.writeEscaped("<details><summary>%s</summary>\n<ul>\n", view.CountWithNoun(len(l.Findings), "open finding"))
			for i, f := range l.Findings {
				if i == mostFindings {
					p.writeEscaped("<li>and %s</li>\n", view.CountWithNoun(len(l.Findings)-i, "more finding"))
					break
				}
				p.writeEscaped("<li>%s: %s</li>\n", cmp.Or(f.Gate, string(f.Severity), "review"), truncateText(view.FindingText(f)))
			}
			p.WriteString("</ul></details>\n")
		}
		p.WriteString("</article>\n")
	}
	p.WriteString("</section>\n")
}

// mostFindings limits the findings of a task on a page.
const mostFindings = 50

// taskAnchor returns the anchor of a task on the page.
func taskAnchor(id nexus.TaskID) string {
	return "task-" + strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-') {
			return r
		}
		return '_'
	}, truncateText(string(id)))
}

// writeDrawings draws the plan and the timeline, if they exist.
func (p *htmlPage) writeDrawings(r Report) {
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
		return "#" + taskAnchor(id)
	}
	for _, d := range []struct{ id, title, drawing string }{
		{"plan", "Plan", svg.DrawGraph(r.Graph, svg.Options{Link: link})},
		{"time", "Timeline", svg.DrawTimeline(r.Timeline, svg.Options{Link: link})},
	} {
		if d.drawing == "" {
			continue
		}
		p.writeEscaped("<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", d.id, d.id, d.title)
		p.writeEscaped("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"drawing of the %s\">\n", strings.ToLower(d.title))
		p.WriteString(d.drawing) // it is escaped already
		p.WriteString("</div>\n</section>\n")
	}
}

func (p *htmlPage) writeCosts(r Report) {
	p.WriteString("<section aria-labelledby=\"costs\">\n<h2 id=\"costs\">Money and time</h2>\n")
	all := r.costFigures()
	p.writeTable([]string{"what", "took"}, len(all), func(i int) {
		p.writeEscaped("<td>%s</td><td class=\"n\">%s</td>", all[i].name, all[i].value)
	})
	if len(r.Timeline.Rows) > 0 {
		p.WriteString("<p class=\"note\">Time of people is on the wall. Time of agents and gates adds up over what ran at the same time.</p>\n")
	}
	p.WriteString("</section>\n")
}

func (p *htmlPage) writeGates(r Report) {
	if len(r.Gates) == 0 {
		return
	}
	p.WriteString("<section aria-labelledby=\"gates\">\n<h2 id=\"gates\">Gates</h2>\n")
	p.writeTable([]string{"gate", "judged", "failed", "undecided", "time"}, len(r.Gates), func(i int) {
		g := r.Gates[i]
		p.writeEscaped("<td>%s</td><td class=\"n\">%s</td>", truncateText(g.Name), view.FormatNumber(int64(g.Judged)))
		p.writeEscaped("<td class=\"n\">%v</td><td class=\"n\">%v</td><td class=\"n\">%s</td>", g.Red, g.Unsure, formatSeconds(g.Seconds))
	})
	p.WriteString("</section>\n")
}

func (p *htmlPage) writeDecisions(r Report) {
	if len(r.Decided) == 0 {
		return
	}
	p.WriteString("<section aria-labelledby=\"decided\">\n<h2 id=\"decided\">Decisions during the run</h2>\n<ul>\n")
	for _, d := range r.Decided {
		p.WriteString("<li>")
		if d.Task != "" {
			p.writeEscaped("<b>%s</b> ", d.Task)
		}
		p.writeEscaped("%s", truncateText(d.Text))
		if d.By != "" {
			p.writeEscaped(" <span class=\"note\">(%s)</span>", d.By)
		}
		p.WriteString("</li>\n")
	}
	p.WriteString("</ul>\n</section>\n")
}
