package runreport

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/quality"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PullLimit is the limit of characters in a pull request or a comment on GitHub.
const PullLimit = 65_536

// text escapes an untrusted text within Markdown.
func text(s string) string { return view.Literal(s) }

// section is a part of a report: an opening line, one line per item, and a closing line.
type section struct {
	open  string
	lines []string
	close string
}

// folded is a section that a reader of a pull request unfolds.
func folded(title, head string, lines []string) section {
	return section{"\n<details><summary>" + title + "</summary>\n\n" + head, lines, "\n</details>\n"}
}

// PullRequestText writes the report for a pull request: the important parts first, the rest
// folded. It has at most limit bytes, and states what was cut to fit.
func PullRequestText(r Report, limit int) string {
	lead := section{open: fmt.Sprintf("## Nexus run %s: %s\n\n%s\n\n", text(string(r.Run)), text(string(r.Status)), text(short(r.Goal)))}
	if r.Why != "" {
		lead.open += text(short(r.Why)) + "\n\n"
	}
	lead.open += "| | |\n|---|---|\n"
	for _, f := range r.figures() {
		lead.lines = append(lead.lines, fmt.Sprintf("| %s | %s |", f.name, f.value))
	}
	all := []section{lead, r.landedTable("\n### Landed\n\n"), r.leftList("\n### Not landed\n\n"), r.lookList("\n### Look at\n\n")}
	for _, l := range r.Landed {
		all = append(all, folded(fmt.Sprintf("Evidence of %s at %s", text(string(l.ID)), text(view.ShortHash(l.Commit))), "", l.proof()))
	}
	all = append(all,
		folded("Money and time", "| | |\n|---|--:|\n", r.costLines()),
		folded("Decisions during the run", "", r.decisionLines()),
		folded("Gates", "| gate | judged | failed | undecided | time |\n|---|--:|--:|--:|--:|\n", r.gateLines()),
	)
	return fit(all, limit, "nexus report "+string(r.Run)+" --html FILE has all of it")
}

// fit joins the non-empty sections up to the limit, and adds how many lines are omitted.
func fit(all []section, limit int, rest string) string {
	const reserve = 200 // for the note
	var b strings.Builder
	cut := 0
	for _, s := range all {
		if len(s.lines) == 0 {
			continue
		}
		room := limit - reserve - len(s.close) - b.Len()
		if room < len(s.open)+len(s.lines[0])+1 {
			cut += len(s.lines)
			continue
		}
		b.WriteString(s.open)
		room -= len(s.open)
		for i, line := range s.lines {
			if room -= len(line) + 1; room < 0 {
				cut += len(s.lines) - i
				break
			}
			b.WriteString(line + "\n")
		}
		b.WriteString(s.close)
	}
	if cut > 0 {
		fmt.Fprintf(&b, "\n%s cut to fit into %s characters; %s.\n", lines(cut), view.Number(int64(limit)), short(text(rest)))
	}
	return b.String()
}

func lines(n int) string {
	if n == 1 {
		return "1 line is"
	}
	return view.Number(int64(n)) + " lines are"
}

// longest limits the text of a list item.
const longest = 400

// short cuts a text that is too long for a list.
func short(s string) string {
	if all := []rune(s); len(all) > longest {
		return string(all[:longest]) + " ..."
	}
	return s
}

func (r Report) landedTable(title string) section {
	s := section{open: title + "| task | commit | gates | review | criteria | money |\n|---|---|---|---|--:|--:|\n"}
	for _, l := range r.Landed {
		s.lines = append(s.lines, fmt.Sprintf("| %s %s | %s | %s | %s | %d of %d | %s |",
			text(string(l.ID)), text(short(l.Title)), text(view.ShortHash(l.Commit)), text(passed(l.Gates)), reviewText(l.Review),
			countMet(l.Criteria), len(l.Criteria), l.Spent))
	}
	return s
}

// passed describes how many gates passed, and names the others.
func passed(all []accept.NoteGate) string {
	n := 0
	var others []string
	for _, g := range all {
		if g.State == nexus.Pass {
			n++
			continue
		}
		others = append(others, fmt.Sprintf("%s %s", g.Gate, g.State))
	}
	told := fmt.Sprintf("%d passed", n)
	if len(others) > 0 {
		told += ", " + short(strings.Join(others, ", "))
	}
	return told
}

func (r Report) leftList(title string) section {
	s := section{open: title}
	for _, l := range r.Left {
		line := fmt.Sprintf("- %s %s: %s", text(string(l.ID)), text(short(l.Title)), text(string(l.Status)))
		if l.Why != "" {
			line += ": " + text(short(l.Why))
		}
		s.lines = append(s.lines, line)
		for i, f := range l.Findings {
			if i == 5 {
				s.lines = append(s.lines, fmt.Sprintf("  - and %s", view.Count(len(l.Findings)-i, "more finding")))
				break
			}
			s.lines = append(s.lines, fmt.Sprintf("  - %s: %s", text(cmp.Or(f.Gate, string(f.Severity), "review")),
				text(short(view.FindingText(f)))))
		}
	}
	return s
}

func (r Report) lookList(title string) section {
	s := section{open: title}
	for _, l := range r.LookAt {
		s.lines = append(s.lines, l.line())
	}
	return s
}

// line formats a point to check, for a list.
func (l Attention) line() string {
	of := ""
	if l.Task != "" {
		of = text(string(l.Task)) + ": "
	}
	return "- " + of + text(short(l.Text))
}

// proof lists the evidence of a task, one line each.
func (l LandedTask) proof() []string {
	all := []string{fmt.Sprintf("- commit %s, tree %s, %s, %s",
		text(view.ShortHash(l.Commit)), text(view.ShortHash(l.Tree)), reviewText(l.Review), view.Count(l.Rounds, "round"))}
	for _, g := range l.Gates {
		all = append(all, fmt.Sprintf("- gate %s: %s", text(short(g.Gate)), text(short(gateText(g)))))
	}
	for _, c := range l.Criteria {
		line := fmt.Sprintf("- %s %s: %s", text(c.ID), text(string(c.State)), text(short(c.Text)))
		if c.Evidence != "" {
			line += " (" + text(short(c.Evidence)) + ")"
		}
		all = append(all, line)
	}
	return all
}

func (r Report) costLines() (all []string) {
	for _, f := range r.costs() {
		all = append(all, fmt.Sprintf("| %s | %s |", text(f.name), f.value))
	}
	return all
}

// costs returns the money and the time of the run.
func (r Report) costs() []figure {
	all := []figure{{"spent", r.Money.Spent.String()}}
	if r.Money.Estimated > 0 {
		all = append(all, figure{"estimate of " + view.Count(r.Money.Estimated, "task"), r.Money.estimateText()})
	}
	if r.Money.Wasted > 0 {
		all = append(all, figure{"by attempts that failed", r.Money.Wasted.String()})
	}
	for _, m := range r.Money.Models {
		all = append(all, figure{short(m.Name), m.Money.String()})
	}
	return append(all, r.Time.rows()...)
}

func (r Report) decisionLines() (all []string) {
	for _, d := range r.Decided {
		line := "- "
		if d.Task != "" {
			line += text(string(d.Task)) + ": "
		}
		line += text(short(d.Text))
		if d.By != "" {
			line += " (" + text(d.By) + ")"
		}
		all = append(all, line)
	}
	return all
}

func (r Report) gateLines() (all []string) {
	for _, g := range r.Gates {
		all = append(all, fmt.Sprintf("| %s | %d | %d | %d | %.1f s |", text(short(g.Name)), g.Judged, g.Red, g.Unsure, g.Seconds))
	}
	return all
}

// Markdown writes the full report for people, for the page of a build, a file, or a terminal.
func Markdown(r Report) string {
	var b strings.Builder
	b.WriteString(quality.Head(r.Quality))
	for _, s := range []section{
		r.landedTable("## Landed\n\n"), r.leftList("\n## Not landed\n\n"), r.lookList("\n## Look at first\n\n"),
		{open: "\n## Money and time\n\n| | |\n|---|--:|\n", lines: r.costLines()},
		{open: "\n## Decisions during the run\n\n", lines: r.decisionLines()},
	} {
		if len(s.lines) > 0 {
			b.WriteString(s.open + strings.Join(s.lines, "\n") + "\n")
		}
	}
	b.WriteString("\n## Figures\n\n" + quality.Body(r.Quality))
	return b.String()
}
