package roadmap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
)

// MilestoneDraft is a milestone to be added.
type MilestoneDraft struct {
	Title, About, Tag string

	Specs, Goals, Criteria []string // a criterion may end in (check: `command`)
}

// newRoadmapLines returns the first lines of a new roadmap.
func newRoadmapLines() []string { return []string{"# Roadmap"} }

// FileText returns the roadmap as in its file.
func (r Roadmap) FileText() []byte { return r.textOf(r.lines) }

func (r Roadmap) textOf(lines []string) []byte {
	return []byte(strings.TrimRight(strings.Join(lines, r.end), "\r\n \t") + r.end)
}

// Add returns the text of the roadmap with a new milestone before the one with an index, or
// after the last open one if the index is too large. An empty roadmap gets a title first.
func (r Roadmap) Add(d MilestoneDraft, before int) []byte {
	lines, at := r.lines, r.open
	if strings.TrimSpace(strings.Join(lines, "")) == "" {
		lines = newRoadmapLines()
		at = len(lines)
	} else if before >= 0 && before < len(r.Milestones) {
		at = r.Milestones[before].from
	}
	return r.textOf(insertBlock(lines, at, d.formatLines()))
}

func (d MilestoneDraft) formatLines() []string {
	all := []string{"## " + spec.SingleLine(d.Title), ""}
	if about := strings.TrimSpace(d.About); about != "" {
		all = append(append(all, strings.Split(about, "\n")...), "")
	}
	if d.Tag != "" {
		all = append(all, "Tag: "+d.Tag, "")
	}
	for _, s := range d.Specs {
		all = append(all, "- spec: "+s)
	}
	for _, g := range d.Goals {
		all = append(all, "- goal: "+spec.SingleLine(g))
	}
	for i, c := range d.Criteria {
		all = append(all, fmt.Sprintf("- [ ] AC-%d: %s", i+1, spec.SingleLine(c)))
	}
	return all
}

// insertBlock inserts a block before a line, with an empty line on both sides.
func insertBlock(lines []string, at int, block []string) []string {
	before, after := trimEmptyLines(lines[:at]), lines[at:]
	all := slices.Clone(before)
	if len(all) > 0 {
		all = append(all, "")
	}
	all = append(all, trimEmptyLines(block)...)
	if len(trimEmptyLines(after)) > 0 {
		all = append(append(all, ""), after...)
	}
	return all
}

// trimEmptyLines removes empty lines at the end.
func trimEmptyLines(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// splitOut removes a milestone.
func (r Roadmap) splitOut(m Milestone) (rest, block []string) {
	block = slices.Clone(r.lines[m.from:m.to])
	rest = slices.Delete(slices.Clone(r.lines), m.from, m.to)
	return rest, block
}

// Remove returns the text without the milestone with an index.
func (r Roadmap) Remove(i int) []byte {
	rest, _ := r.splitOut(r.Milestones[i])
	return r.textOf(rest)
}

// Move returns the text with one open milestone moved before another, or after the last open
// one.
func (r Roadmap) Move(i, before int) []byte {
	m := r.Milestones[i]
	if i == before {
		return r.FileText()
	}
	at := r.open
	if before >= 0 && before < len(r.Milestones) {
		at = r.Milestones[before].from
	}
	rest, block := r.splitOut(m)
	if at > m.from {
		at -= len(block)
	}
	return r.textOf(insertBlock(rest, at, block))
}

// Accept returns the text with a person's approval of a criterion, which replaces an earlier
// one.
func (r Roadmap) Accept(i, criterion int, a PersonAcceptance) []byte {
	c := r.Milestones[i].Criteria[criterion]
	said := fmt.Sprintf("  - accepted: %s by %s of %s: %s", a.Date, personName(a.By), c.TextFingerprint(), spec.SingleLine(a.Reason))
	if c.Accepted != nil {
		lines := slices.Clone(r.lines)
		lines[c.Accepted.line-1] = said
		return r.textOf(lines)
	}
	return r.textOf(slices.Insert(slices.Clone(r.lines), c.last+1, said))
}

// personName formats a name so that it can be parsed again.
func personName(name string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c == ':' || c == '\n' || c == '\r' {
			return ' '
		}
		return c
	}, name))
}

// Close returns the text with a milestone closed and moved to the end.
func (r Roadmap) Close(i int, c ClosedMilestone) []byte {
	rest, block := r.splitOut(r.Milestones[i])
	said := fmt.Sprintf("Closed: %s %s %s", c.Date, c.Tag, c.Commit)
	block = slices.Concat(block[:1], []string{"", said}, block[1:])
	if r.closed < 0 {
		rest = insertBlock(rest, len(rest), []string{"# " + closedPart})
	}
	return r.textOf(insertBlock(rest, len(rest), block))
}

// SourceOf returns the lines of a milestone in the file.
func (r Roadmap) SourceOf(i int) string {
	m := r.Milestones[i]
	return strings.Join(trimEmptyLines(r.lines[m.from:m.to]), "\n") + "\n"
}
