package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// GoalStatement is one statement of a goal, which a plan covers or not.
type GoalStatement struct {
	ID   string `json:"id"` // REQ-1 or AC-1 of a spec; S1, S2, ... of any other goal
	Text string `json:"text"`
}

// StatementsOf returns the statements of a goal: for a spec, the requirements and criteria of
// its first version; for any other text, its sentences and list items. A spec with mistakes
// counts as other text, because parts of it would be lost. A goal of one sentence has one
// statement.
func StatementsOf(goal string) []GoalStatement {
	if s, ok := ReadIfValid(goal); ok {
		return s.VersionStatements()
	}
	var all []GoalStatement
	for _, text := range splitSentences(goal) {
		all = append(all, GoalStatement{ID: fmt.Sprintf("S%d", len(all)+1), Text: text})
	}
	return all
}

// VersionStatements returns the requirements of the first version, and their criteria.
func (s Spec) VersionStatements() []GoalStatement {
	var all []GoalStatement
	for _, r := range s.FirstVersionRequirements() {
		all = append(all, GoalStatement{ID: r.ID, Text: singleLine(r.Text)})
	}
	for _, c := range s.Criteria {
		if s.isFirstVersion(c) {
			all = append(all, GoalStatement{ID: c.ID, Text: singleLine(c.Text)})
		}
	}
	return all
}

// FirstVersionRequirements returns the requirements of the first version.
func (s Spec) FirstVersionRequirements() (now []nexus.Requirement) {
	for _, r := range s.Requirements {
		if !r.Later && r.Priority != nexus.Wont {
			now = append(now, r)
		}
	}
	return now
}

// isFirstVersion reports whether a criterion belongs to the first version.
func (s Spec) isFirstVersion(c SpecCriterion) bool {
	return len(c.Of) == 0 || slices.ContainsFunc(s.FirstVersionRequirements(), func(r nexus.Requirement) bool { return slices.Contains(c.Of, r.ID) })
}

func singleLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// splitSentences returns the sentences and items of a text. Code blocks, headings and the line
// that introduces a list are not statements, unless there is nothing else.
func splitSentences(text string) []string {
	var p goalParagraphCollector
	open := ""
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n \t")
		was := open
		if open = openFence(open, l); open != "" || was != "" {
			p.endParagraph(false)
			continue
		}
		p.readLine(l)
	}
	p.endParagraph(false)
	if len(p.said) == 0 {
		p.said = p.aside
	}
	return p.said
}

// goalParagraphCollector collects the lines of a text.
type goalParagraphCollector struct {
	said  []string
	aside []string // headings, and lines that introduce a list
	lines []string // of the present paragraph or item
	item  bool
}

func (p *goalParagraphCollector) readLine(l string) {
	t := strings.TrimSpace(l)
	mark := bullet.FindString(t)
	switch {
	case t == "" || strings.Trim(t, "-=*_ ") == "":
		p.endParagraph(false)
	case headingLevel(t) > 0:
		p.endParagraph(false)
		p.aside = append(p.aside, strings.Trim(t, "# \t"))
	case mark != "":
		p.endParagraph(true)
		t = strings.TrimSpace(t[len(mark):])
		p.lines, p.item = []string{strings.TrimSpace(t[len(box.FindString(t)):])}, true
	case strings.HasPrefix(t, ">"):
		p.lines = append(p.lines, strings.TrimLeft(t, "> "))
	default:
		p.lines = append(p.lines, t)
	}
}

// endParagraph finishes the present paragraph; a list may follow.
func (p *goalParagraphCollector) endParagraph(list bool) {
	text, item := singleLine(strings.Join(p.lines, " ")), p.item
	p.lines, p.item = nil, false
	for _, s := range splitLine(text) {
		switch {
		case !strings.ContainsFunc(s, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }):
		case !item && strings.HasSuffix(s, ":") && (list || strings.HasSuffix(text, s)):
			p.aside = append(p.aside, s)
		default:
			p.said = append(p.said, s)
		}
	}
}

var (
	// stop matches a possible end of a sentence.
	stop = regexp.MustCompile("[.!?]+[)\"'\u201d\u2019]*[ \t]+")
	// short matches a word after which a dot ends no sentence.
	short = regexp.MustCompile(`(?i)(?:^|[\s("'])` +
		`(?:e\.g|i\.e|cf|vs|approx|ca|incl|excl|resp|fig|figs|no|nr|vol|sec|mr|mrs|ms|dr|prof|st|inc|ltd|min|max|(?-i:[A-Z])|z\.b|d\.h|bzw)\.$`)
	// often matches one of these words that may also end a sentence.
	often = regexp.MustCompile(`(?i)(?:^|[\s("'])(?:no|min|max|inc|ltd|sec|st)\.$`)
)

// splitLine returns the sentences of one line.
func splitLine(text string) []string {
	var all []string
	from := 0
	for _, m := range stop.FindAllStringIndex(text, -1) {
		before, after := text[from:m[0]+1], text[m[1]:]
		if m[0] < from || endsInCode(text[from:m[0]]) || isSentenceContinued(strings.TrimRight(text[m[0]:m[1]], " \t"), before, after) {
			continue
		}
		all = append(all, strings.TrimSpace(text[from:m[1]]))
		from = m[1]
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// endsInCode reports whether a text ends inside backquotes.
func endsInCode(text string) bool { return strings.Count(text, "`")%2 == 1 }

// isSentenceContinued reports whether a sentence continues after a possible end.
func isSentenceContinued(mark, before, after string) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, "(\"'`"))
	switch {
	case mark == ".." || strings.HasPrefix(mark, "...") || strings.HasSuffix(strings.ToLower(before), "etc."):
		return unicode.IsLower(next)
	case !strings.HasPrefix(mark, "."):
		return false
	case often.MatchString(before):
		return !unicode.IsUpper(next)
	default:
		return short.MatchString(before)
	}
}

// UncheckedRequirements names the requirements with priority must that have no criterion.
func (s Spec) UncheckedRequirements() (wrong []string) {
	for _, r := range s.FirstVersionRequirements() {
		shows := func(c SpecCriterion) bool { return len(c.Of) == 0 || slices.Contains(c.Of, r.ID) }
		if r.Priority == nexus.Must && !slices.ContainsFunc(s.Criteria, shows) {
			wrong = append(wrong, r.ID+" is a must, and no criterion shows it")
		}
	}
	return wrong
}
