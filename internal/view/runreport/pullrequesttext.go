package runreport

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
)

// PullLimit is the limit of characters in a pull request or a comment on GitHub.
const PullLimit = 65_536

// escapeText escapes an untrusted text within Markdown.
func escapeText(s string) string { return view.EscapeMarkdown(s) }

// reportSection is a part of a report: an opening line, one line per item, and a closing line.
type reportSection struct {
	open  string
	lines []string
	close string
}

// foldedSection is a section that a reader of a pull request unfolds.
func foldedSection(title, head string, lines []string) reportSection {
	return reportSection{"\n<details><summary>" + title + "</summary>\n\n" + head, lines, "\n</details>\n"}
}

// PullRequestText writes the report for a pull request: the important parts first, the rest
// folded. It has at most limit bytes, and states what was cut to fit.
func PullRequestText(r Report, limit int) string {
	lead := reportSection{open: fmt.Sprintf("## Nexus run %s: %s\n\n%s\n\n", escapeText(string(r.Run)), escapeText(string(r.Status)), escapeText(truncateText(r.Goal)))}
	if r.Why != "" {
		lead.open += escapeText(truncateText(r.Why)) + "\n\n"
	}
	lead.open += "| | |\n|---|---|\n"
	for _, f := range r.mainFigures() {
		lead.lines = append(lead.lines, fmt.Sprintf("| %s | %s |", f.name, f.value))
	}
	all := []reportSection{lead, r.landedSection("\n### Landed\n\n"), r.unlandedSection("\n### Not landed\n\n"), r.attentionSection("\n### Look at\n\n")}
	for _, l := range r.Landed {
		all = append(all, foldedSection(fmt.Sprintf("Evidence of %s at %s", escapeText(string(l.ID)), escapeText(view.ShortHash(l.Commit))), "", l.proofLines()))
	}
	all = append(all,
		foldedSection("Money and time", "| | |\n|---|--:|\n", r.costLines()),
		foldedSection("Decisions during the run", "", r.decisionLines()),
		foldedSection("Gates", "| gate | judged | failed | undecided | time |\n|---|--:|--:|--:|--:|\n", r.gateLines()),
	)
	return joinWithinLimit(all, limit, "nexus status --report "+string(r.Run)+" --html FILE has all of it")
}

// joinWithinLimit joins the non-empty sections up to the limit, and adds how many lines are omitted.
func joinWithinLimit(all []reportSection, limit int, rest string) string {
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
		fmt.Fprintf(&b, "\n%s cut to fit into %s characters; %s.\n", countLines(cut), view.FormatNumber(int64(limit)), truncateText(escapeText(rest)))
	}
	return b.String()
}

func countLines(n int) string {
	if n == 1 {
		return "1 line is"
	}
	return view.FormatNumber(int64(n)) + " lines are"
}

// longest limits the text of a list item.
const longest = 400

// truncateText cuts a text that is too long for a list.
func truncateText(s string) string {
	if all := []rune(s); len(all) > longest {
		return string(all[:longest]) + " ..."
	}
	return s
}

func (r Report) landedSection(title string) reportSection {
	s := reportSection{open: title + "| task | commit | gates | review | criteria | money |\n|---|---|---|---|--:|--:|\n"}
	for _, l := range r.Landed {
		s.lines = append(s.lines, fmt.Sprintf("| %s %s | %s | %s | %s | %d of %d | %s |",
			escapeText(string(l.ID)), escapeText(truncateText(l.Title)), escapeText(view.ShortHash(l.Commit)), escapeText(passedGatesText(l.Gates)), reviewText(l.Review),
			countMet(l.Criteria), len(l.Criteria), l.Spent))
	}
	return s
}

// passedGatesText describes how many gates passed, and names the others.
func passedGatesText(all []accept.NoteGateResult) string {
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
		told += ", " + truncateText(strings.Join(others, ", "))
	}
	return told
}

func (r Report) unlandedSection(title string) reportSection {
	s := reportSection{open: title}
	for _, l := range r.Left {
		line := fmt.Sprintf("- %s %s: %s", escapeText(string(l.ID)), escapeText(truncateText(l.Title)), escapeText(string(l.Status)))
		if l.Why != "" {
			line += ": " + escapeText(truncateText(l.Why))
		}
		s.lines = append(s.lines, line)
		for i, f := range l.Findings {
			if i == 5 {
				s.lines = append(s.lines, fmt.Sprintf("  - and %s", view.CountWithNoun(len(l.Findings)-i, "more finding")))
				break
			}
			s.lines = append(s.lines, fmt.Sprintf("  - %s: %s", escapeText(cmp.Or(f.Gate, string(f.Severity), "review")),
				escapeText(truncateText(view.FindingText(f)))))
		}
	}
	return s
}

func (r Report) attentionSection(title string) reportSection {
	s := reportSection{open: title}
	for _, l := range r.LookAt {
		s.lines = append(s.lines, l.listLine())
	}
	return s
}

// listLine formats a point to check, for a list.
func (l AttentionPoint) listLine() string {
	of := ""
	if l.Task != "" {
		of = escapeText(string(l.Task)) + ": "
	}
	return "- " + of + escapeText(truncateText(l.Text))
}

// proofLines lists the evidence of a task, one line each.
func (l LandedTask) proofLines() []string {
	all := []string{fmt.Sprintf("- commit %s, tree %s, %s, %s",
		escapeText(view.ShortHash(l.Commit)), escapeText(view.ShortHash(l.Tree)), reviewText(l.Review), view.CountWithNoun(l.Rounds, "round"))}
	for _, g := range l.Gates {
		all = append(all, fmt.Sprintf("- gate %s: %s", escapeText(truncateText(g.Gate)), escapeText(truncateText(gateText(g)))))
	}
	for _, c := range l.Criteria {
		line := fmt.Sprintf("- %s %s: %s", escapeText(c.ID), escapeText(string(c.State)), escapeText(truncateText(c.Text)))
		if c.Evidence != "" {
			line += " (" + escapeText(truncateText(c.Evidence)) + ")"
		}
		all = append(all, line)
	}
	return all
}

func (r Report) costLines() (all []string) {
	for _, f := range r.costFigures() {
		all = append(all, fmt.Sprintf("| %s | %s |", escapeText(f.name), f.value))
	}
	return all
}

// costFigures returns the money and the time of the run.
func (r Report) costFigures() []namedReportFigure {
	all := []namedReportFigure{{"spent", r.Money.Spent.String()}}
	if r.Money.Estimated > 0 {
		all = append(all, namedReportFigure{"estimate of " + view.CountWithNoun(r.Money.Estimated, "task"), r.Money.estimateText()})
	}
	if r.Money.Wasted > 0 {
		all = append(all, namedReportFigure{"by attempts that failed", r.Money.Wasted.String()})
	}
	for _, m := range r.Money.Models {
		all = append(all, namedReportFigure{truncateText(m.Name), m.Money.String()})
	}
	return append(all, r.Time.namedFigures()...)
}

func (r Report) decisionLines() (all []string) {
	for _, d := range r.Decided {
		line := "- "
		if d.Task != "" {
			line += escapeText(string(d.Task)) + ": "
		}
		line += escapeText(truncateText(d.Text))
		if d.By != "" {
			line += " (" + escapeText(d.By) + ")"
		}
		all = append(all, line)
	}
	return all
}

func (r Report) gateLines() (all []string) {
	for _, g := range r.Gates {
		all = append(all, fmt.Sprintf("| %s | %d | %d | %d | %.1f s |", escapeText(truncateText(g.Name)), g.Judged, g.Red, g.Unsure, g.Seconds))
	}
	return all
}

// MarkdownReport writes the full report for people, for the page of a build, a file, or a terminal.
func MarkdownReport(r Report) string {
	var b strings.Builder
	b.WriteString(runquality.HeadText(r.RunQuality))
	for _, s := range []reportSection{
		r.landedSection("## Landed\n\n"), r.unlandedSection("\n## Not landed\n\n"), r.attentionSection("\n## Look at first\n\n"),
		{open: "\n## Money and time\n\n| | |\n|---|--:|\n", lines: r.costLines()},
		{open: "\n## Decisions during the run\n\n", lines: r.decisionLines()},
	} {
		if len(s.lines) > 0 {
			b.WriteString(s.open + strings.Join(s.lines, "\n") + "\n")
		}
	}
	b.WriteString("\n## Figures\n\n" + runquality.FiguresText(r.RunQuality))
	return b.String()
}
