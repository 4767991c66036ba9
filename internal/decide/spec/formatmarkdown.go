package spec

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Headings of a spec, in the order in which they are written.
const (
	problemTitle    = "Problem"
	requireTitle    = "Requirements"
	criteriaTitle   = "Acceptance Criteria"
	assumptionTitle = "Assumptions"
	answersTitle    = "Answers"
	notesTitle      = "Technical Notes"
	outTitle        = "Out of Scope"
	laterTitle      = "Later"
	critiqueTitle   = "Critique"
)

func knownHeadings() []string {
	return []string{problemTitle, requireTitle, criteriaTitle, assumptionTitle, answersTitle, notesTitle, outTitle, laterTitle, critiqueTitle}
}

// FormatMarkdown formats a spec as a text that people edit and [ReadSpec] parses. It contains all of
// the spec; requirements for later versions come after those of the first version.
func FormatMarkdown(s Spec) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", strings.Join(strings.Fields(s.Title), " "))
	if s.Depth != "" {
		fmt.Fprintf(&b, "\nDepth: %s\n", s.Depth)
	}
	if p := strings.TrimSpace(s.Problem); p != "" {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", problemTitle, escapeItemText(p))
	}
	var now, later []string
	for _, r := range s.Requirements {
		if r.Later {
			later = append(later, formatRequirement(r))
		} else {
			now = append(now, formatRequirement(r))
		}
	}
	writeSection(&b, requireTitle, now)
	writeSection(&b, criteriaTitle, formatAll(s.Criteria, formatCriterion))
	writeSection(&b, assumptionTitle, formatAll(s.Assumptions, formatAssumption))
	writeSection(&b, answersTitle, formatAll(s.Answers, formatNote))
	writeSection(&b, notesTitle, formatAll(s.Notes, formatNote))
	writeSection(&b, outTitle, formatAll(s.OutOfScope, formatNote))
	writeSection(&b, laterTitle, later)
	writeSection(&b, critiqueTitle, formatAll(s.Critique, formatNote))
	return b.Bytes()
}

func writeSection(b *bytes.Buffer, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, i := range items {
		b.WriteString(i)
	}
}

func formatAll[T any](items []T, write func(T) string) (all []string) {
	for _, i := range items {
		all = append(all, write(i))
	}
	return all
}

func formatRequirement(r nexus.Requirement) string {
	head := r.ID
	if r.Priority != "" {
		head += fmt.Sprintf(" (%s)", r.Priority)
	}
	var about []string
	if r.Category != "" {
		about = append(about, "category: "+string(r.Category))
	}
	if r.Area != "" {
		about = append(about, "area: "+formatValue(r.Area))
	}
	if r.Confidence != 0 {
		about = append(about, "confidence: "+strconv.FormatFloat(r.Confidence, 'g', -1, 64))
	}
	if r.Quote != "" {
		about = append(about, "quote: "+formatValue(r.Quote))
	}
	return formatItem("- "+head+": ", r.Text, about...)
}

func formatCriterion(c SpecCriterion) string {
	head := c.ID
	if len(c.Of) > 0 {
		head += " (" + strings.Join(c.Of, ", ") + ")"
	}
	text := strings.TrimSpace(c.Text)
	var about []string
	switch {
	case c.Check == "":
		text = escapeCheck(text)
	case strings.ContainsAny(c.Check, "`"):
		text = escapeCheck(text)
		about = append(about, "check: "+quoteBackquoted(c.Check))
	default:
		text += " (check: `" + c.Check + "`)"
	}
	return formatItem("- [ ] "+head+": ", text, about...)
}

func formatAssumption(a SpecAssumption) string {
	head := a.ID
	if a.Locked {
		head += " [locked]"
	}
	return formatItem("- "+head+": ", a.Text)
}

func formatNote(text string) string {
	text = strings.TrimSpace(text)
	if box.MatchString(text) {
		text = `\` + text
	}
	return formatItem("- ", text)
}

// formatItem formats a list item: its text, with further lines indented, and its attributes.
func formatItem(head, text string, about ...string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		switch {
		case i == 0:
			b.WriteString(head + line)
		case line == "":
		case isAmbiguousLine(line):
			text := strings.TrimLeft(line, " \t")
			b.WriteString("  " + line[:len(line)-len(text)] + `\` + text)
		default:
			b.WriteString("  " + line)
		}
		b.WriteString("\n")
	}
	for _, a := range about {
		b.WriteString("  - " + a + "\n")
	}
	return b.String()
}

var (
	// special matches a line of a text that would be parsed as a heading or a comment.
	special = regexp.MustCompile(`^(\\*)(?:#{1,2}(?:[ \t]|$)|<!--)`)
	// bullet matches the start of a list item.
	bullet = regexp.MustCompile(`^(?:[-*+]|[0-9]{1,3}[.)])(?:[ \t]+|$)`)
	// box matches a check box, which is not part of the text.
	box = regexp.MustCompile(`^\\*\[[ xX]?\](?:[ \t]+|$)`)
	// item matches an item with an id.
	item = regexp.MustCompile("^(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\\[[ xX]?\\][ \t]+)?[*_`]*(?i:REQ|AC|A)-[A-Za-z0-9-]*[0-9]")
	// inline matches a check at the end of a criterion.
	inline = regexp.MustCompile("(?s)^(.*?)(\\\\*)\\((?i:check):[ \\t]*`([^`\n]+)`[ \\t]*\\)$")
)

// isAmbiguousLine reports whether a line of an item's text would be parsed as an item or an attribute.
// Leading backslashes may prevent that.
func isAmbiguousLine(line string) bool {
	line = strings.TrimLeft(strings.TrimLeft(line, " \t"), `\`)
	_, _, ok := parseAttribute(line)
	return ok || item.MatchString(line)
}

// parseAttribute parses "- name: value" below an item. A name that is close to a known one is
// accepted.
func parseAttribute(line string) (name, text string, ok bool) {
	m := bullet.FindString(line)
	if m == "" {
		return "", "", false
	}
	name, text, ok = strings.Cut(line[len(m):], ":")
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), "*`"))
	return name, strings.TrimSpace(text), ok && (slices.Contains(attributeNames(), name) || nearestWord(name, attributeNames()) != "")
}

// attributeNames returns the attributes of an item.
func attributeNames() []string { return []string{"category", "area", "confidence", "quote", "check"} }

// escapeItemText marks the lines of a text that would be parsed as something else. If a code block is
// still open at the end, its mark does not count.
func escapeItemText(text string) string {
	lines := strings.Split(text, "\n")
	open := ""
	for _, l := range lines {
		open = openFence(open, l)
	}
	balanced, inside := open == "", ""
	for i, l := range lines {
		was := inside
		if balanced {
			inside = openFence(inside, l)
		}
		trimmed := strings.TrimLeft(l, `\`)
		if was == "" && (special.MatchString(l) || (!balanced || trimmed != l) && openFence("", trimmed) != "") {
			lines[i] = `\` + l
		}
	}
	return strings.Join(lines, "\n")
}

// unescapeLine removes one backslash from a line that escape marked.
func unescapeLine(line string) string {
	rest, ok := strings.CutPrefix(line, `\`)
	if ok && (special.MatchString(rest) || openFence("", strings.TrimLeft(rest, `\`)) != "") {
		return rest
	}
	return line
}

// openFence returns the mark of the code block that is open after a line, or "".
func openFence(open, line string) string {
	text := strings.TrimLeft(line, " \t")
	for _, mark := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(text, mark) || open != "" && open != mark:
		case open == "":
			return mark
		case strings.Trim(text, mark[:1]+" \t") == "":
			return ""
		}
	}
	return open
}

// escapeCheck marks the end of a text that would be parsed as a check.
func escapeCheck(text string) string {
	if m := inline.FindStringSubmatchIndex(text); m != nil {
		return text[:m[4]] + `\` + text[m[4]:]
	}
	return text
}

// formatValue formats a text in one line.
func formatValue(text string) string {
	if strings.ContainsAny(text, "\n\r") || strings.TrimSpace(text) != text || strings.HasPrefix(text, `"`) {
		return strconv.Quote(text)
	}
	return text
}

// quoteBackquoted adds backquotes around a command that already begins and ends with one.
func quoteBackquoted(s string) string {
	if len(s) > 1 && strings.HasPrefix(s, "`") && strings.HasSuffix(s, "`") {
		return "`" + s + "`"
	}
	return s
}
