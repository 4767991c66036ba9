package roadmap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

var (
	// entry matches the start of a list item.
	entry = pattern.Lazy(`^([ \t]*)(?:[-*+]|[0-9]{1,3}[.)])(?:[ \t]+|$)(?:\[[ xX]?\](?:[ \t]+|$))?`)
	// named matches a word with a value.
	named = pattern.Lazy("^[*_`]*([A-Za-z]+)[*_`]*[ \t]*:[*_`]*(?:[ \t]+(.*)|)$")
	// tagged matches possible tags: git refuses a few more.
	tagged = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,99}$`)
	// versioned matches texts that look like a tag.
	versioned = pattern.Lazy(`^[A-Za-z/-]*[0-9][A-Za-z0-9._/+-]*$`)
	// specName matches possible names of specs.
	specName = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	// hidden matches a check within a text.
	hidden   = pattern.Lazy("(?i)\\(check:[ \t]*`")
	closedAs = pattern.Lazy(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]+(\S+)[ \t]+([0-9a-f]{40}(?:[0-9a-f]{24})?)$`)
	accepted = pattern.Lazy(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]+by[ \t]+([^:\n]+?)(?:[ \t]+of[ \t]+([0-9a-f]{12}))?[ \t]*:[ \t]*(.*)$`)
)

const (
	untitled   = `a roadmap starts with its title: write "# Roadmap" in the first line`
	closedPart = "Closed" // the heading above the closed milestones
)

// Read parses a roadmap, and returns problems with it. If there are any, the roadmap contains
// the parts that could be parsed.
func Read(text []byte) (Roadmap, []spec.Problem) {
	r := reader{road: Roadmap{closed: -1, end: "\n"}, names: map[string]int{}, tags: map[string]int{}}
	all := strings.TrimPrefix(string(text), "\uFEFF")
	if strings.Contains(all, "\r\n") {
		r.road.end = "\r\n"
	}
	for line := range strings.SplitSeq(strings.TrimRight(all, "\r\n \t"), "\n") {
		r.road.lines = append(r.road.lines, strings.TrimRight(line, "\r"))
	}
	for i, line := range r.road.lines {
		r.at = i
		r.legible(line)
		if r.m != nil {
			r.items = append(r.items, "")
		}
		r.line(line)
	}
	r.finish()
	return r.road, r.problems
}

type reader struct {
	road     Roadmap
	problems []spec.Problem
	at       int  // index of the present line
	titled   bool // the title was read
	m        *Milestone
	items    []string // lines of the milestone from which criteria are parsed; other lines are empty
	about    []string
	goes     goesOn         // owner of an indented line
	names    map[string]int // names and their lines
	tags     map[string]int
	fence    string // opening mark of the open code block
	opened   int    // its line, or the line of the open comment
	comment  bool
	blank    bool // the previous line was empty
	accepts  []acceptLine
}

type acceptLine struct {
	line int
	text string
}

// goesOn is the part to which a further line belongs.
type goesOn int

const (
	toProse goesOn = iota
	toGoal
	toCriterion
	toNothing // the part was wrong and is already reported
)

func (r *reader) failAt(line int, format string, args ...any) {
	r.problems = append(r.problems, spec.Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) fail(format string, args ...any) { r.failAt(r.at+1, format, args...) }

// legible reports invisible characters.
func (r *reader) legible(line string) {
	if why := spec.Illegible(line); why != "" {
		r.fail("%s", why)
	}
}

func (r *reader) line(line string) {
	text := strings.TrimSpace(line)
	defer func() { r.blank = text == "" }()
	if comment := r.comment || r.fence == "" && strings.HasPrefix(text, "<!--"); r.aside(line, text) {
		if r.pass(line); comment && r.m != nil {
			r.about = r.about[:len(r.about)-1]
		}
		return
	}
	switch level := heading(line); {
	case level == 1:
		r.first(strings.TrimSpace(line[1:]))
	case level == 2:
		r.begin(strings.TrimSpace(line[2:]))
	case level > 2 || text == "":
		r.pass(line)
		if level > 0 {
			r.goes = toProse
		}
	case !r.titled && r.m == nil && r.road.Title == "":
		if len(r.problems) == 0 {
			r.fail(untitled)
		}
	case r.m == nil:
		r.pass(line)
		r.outside(line)
	default:
		r.within(line)
	}
}

// aside reports whether a line belongs to a code block or a comment.
func (r *reader) aside(line, text string) bool {
	switch {
	case r.comment:
		r.comment = !strings.Contains(line, "-->")
		return true
	case r.fence != "":
		if strings.HasPrefix(text, r.fence) && strings.Trim(text, r.fence[:1]) == "" {
			r.fence = ""
		}
		return true
	case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
		r.fence, r.opened = text[:3], r.at+1
		return true
	case strings.HasPrefix(text, "<!--"):
		r.comment, r.opened = !strings.Contains(line, "-->"), r.at+1
		return true
	default:
		return false
	}
}

// pass keeps a line that is not about a milestone.
func (r *reader) pass(line string) {
	if r.m != nil {
		r.about = append(r.about, line)
	}
}

// heading returns the level of a heading, or 0 for other lines.
func heading(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || len(line) > n && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// first parses a heading of the first level.
func (r *reader) first(text string) {
	switch {
	case !r.titled && r.m == nil:
		r.titled = true
		if r.road.Title = spec.Line(text); text == "" {
			r.fail("the title is empty")
		}
	case strings.EqualFold(text, closedPart) && r.road.closed < 0:
		r.end()
		r.road.closed = r.at
	case strings.EqualFold(text, closedPart):
		r.fail("the heading %q occurs twice, first in line %d; put everything below one", closedPart, r.road.closed+1)
	default:
		r.fail("a roadmap has one title; write ## for a milestone, or \"# %s\" above those that are closed", closedPart)
	}
}

// begin parses the title of a milestone.
func (r *reader) begin(title string) {
	r.end()
	m := Milestone{Title: spec.Line(title), Name: Slug(title), from: r.at}
	at, twice := r.names[m.Name]
	switch {
	case m.Name == "":
		r.fail("the milestone needs a title with letters or digits, such as \"## First version\"")
	case twice:
		r.fail("%q has the name %s, which a milestone in line %d has already; choose another title", m.Title, m.Name, at)
	default:
		r.names[m.Name] = r.at + 1
	}
	r.m, r.items, r.about, r.accepts, r.goes = &m, []string{""}, nil, nil, toProse
}

// outside parses a line before the first milestone, or between the heading of the closed ones
// and the first of them.
func (r *reader) outside(line string) {
	if kind, ok := spec.ListItem(line); ok && kind == "AC" {
		r.fail("a criterion is before the first milestone; write \"## \" and the title of the milestone above it")
		return
	}
	text := line[len(entry().FindString(line)):]
	if m := named().FindStringSubmatch(text); m != nil && slices.Contains([]string{"spec", "goal", "tag", "closed"}, strings.ToLower(m[1])) {
		r.fail("%q is before the first milestone; write \"## \" and the title of the milestone above it", sanitize.Cut(text, 60))
	}
}

// within parses a line of a milestone.
func (r *reader) within(line string) {
	mark := entry().FindString(line)
	indent := strings.Count(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")*4 + len(line) - len(strings.TrimLeft(line, " "))
	text := strings.TrimSpace(line[len(mark):])
	goes := r.goes
	switch {
	case mark != "" && indent < 2:
		r.item(line, text)
	case goes == toProse || r.blank && indent < 2:
		r.goes = toProse
		r.prose(line)
	case goes == toCriterion:
		r.below(line, mark, text)
	case goes == toGoal && mark == "":
		if r.key(line) {
			return
		}
		last := &r.m.Goals[len(r.m.Goals)-1]
		last.Text = spec.Line(last.Text + " " + text)
	case goes == toGoal:
		r.fail("nothing goes below a goal; make it another \"- goal: \"")
	}
}

// below parses a further line of a criterion.
func (r *reader) below(line, mark, text string) {
	if mark == "" && strings.TrimLeft(line, " \t") == line && r.key(line) {
		return
	}
	if m := named().FindStringSubmatch(text); mark != "" && m != nil {
		if word := strings.ToLower(m[1]); word == "accepted" {
			r.accepts = append(r.accepts, acceptLine{r.at + 1, m[2]})
			return
		} else if spec.Nearest(word, []string{"accepted"}) != "" {
			r.fail("%q is not known here; write accepted", m[1])
		}
	}
	r.items[len(r.items)-1] = line
}

// item parses the start of a list item.
func (r *reader) item(line, text string) {
	if kind, ok := spec.ListItem(line); ok && kind == "AC" && !starts(text, "spec", "goal") {
		r.goes = toCriterion
		r.items[len(r.items)-1] = line
		return
	}
	r.goes = toNothing
	m := named().FindStringSubmatch(text)
	word := ""
	if m != nil {
		word = strings.ToLower(m[1])
	}
	switch {
	case word == "spec":
		r.spec(strings.Trim(strings.TrimSpace(m[2]), "`"))
	case word == "goal" && strings.TrimSpace(m[2]) == "":
		r.fail("the goal is empty; write what is wanted after the colon")
	case word == "goal":
		r.m.Goals = append(r.m.Goals, Part{Text: spec.Line(m[2]), Line: r.at + 1})
		r.goes = toGoal
	case word == "tag" || word == "closed":
		r.fail("write \"%s: \" without a dash, in a line of its own", strings.ToUpper(word[:1])+word[1:])
	case word != "" && spec.Nearest(word, []string{"spec", "goal"}) != "":
		r.fail("%q is not known here; write \"- %s: \"", m[1], spec.Nearest(word, []string{"spec", "goal"}))
	default:
		if kind, ok := spec.ListItem(line); ok && kind == "REQ" {
			r.fail("requirements are in specs: name the spec with \"- spec: NAME\", or write \"- goal: \" and what is wanted")
			return
		}
		r.fail("%q is not a part of a milestone; write \"- spec: NAME\", \"- goal: TEXT\" or \"- [ ] AC-1: TEXT\", "+
			"or text without a dash", sanitize.Cut(text, 60))
	}
}

func starts(text string, words ...string) bool {
	m := named().FindStringSubmatch(text)
	return m != nil && slices.Contains(words, strings.ToLower(m[1]))
}

// spec parses the name of a spec, or of its file.
func (r *reader) spec(name string) {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "./"), ".nexus/specs/"), ".md")
	switch {
	case name == "":
		r.fail("the spec has no name; write the name of a file in .nexus/specs, such as login")
	case !specName().MatchString(name):
		r.fail("%q cannot name a spec; write the name of a file in .nexus/specs, such as login", sanitize.Cut(name, 60))
	case slices.ContainsFunc(r.m.Specs, func(p Part) bool { return p.Text == name }):
		r.fail("the spec %s is named twice in this milestone; delete this line", name)
	default:
		r.m.Specs = append(r.m.Specs, Part{Text: name, Line: r.at + 1})
	}
}

// prose parses a line that is not an item.
func (r *reader) prose(line string) {
	if !r.key(line) {
		r.about = append(r.about, line)
	}
}

// key parses "Tag: v1" and "Closed: ...", and reports whether a line is one of them.
func (r *reader) key(line string) bool {
	m := named().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	value := strings.Trim(strings.TrimSpace(m[2]), "`*_")
	switch word := strings.ToLower(m[1]); {
	case word == "tag":
		r.tag(value)
	case word == "closed":
		r.closed(value)
	case versioned().MatchString(value) && spec.Nearest(word, []string{"tag"}) != "",
		closedAs().MatchString(value) && spec.Nearest(word, []string{"closed"}) != "":
		r.fail("%q is not known here; write %s", m[1], map[bool]string{true: "Closed", false: "Tag"}[closedAs().MatchString(value)])
	default:
		return false
	}
	r.goes = toProse
	return true
}

func (r *reader) tag(value string) {
	switch {
	case r.m.Tag != "":
		r.fail("the milestone has two tags; keep one")
	case value == "":
		r.fail("the tag is empty; write a tag, such as v0.1.0, or delete the line")
	case Bad(value):
		r.fail("%q cannot be a tag; write one such as v0.1.0", sanitize.Cut(value, 60))
	case r.tags[value] > 0:
		r.fail("the tag %s is that of a milestone in line %d already; choose another", value, r.tags[value])
	default:
		r.m.Tag, r.tags[value] = value, r.at+1
	}
}

// Bad reports whether a text cannot be a tag.
func Bad(tag string) bool {
	return !tagged().MatchString(tag) || strings.Contains(tag, "..") || strings.Contains(tag, "//") || strings.Contains(tag, "/.") ||
		strings.Contains(tag+"/", ".lock/") || strings.HasSuffix(tag, ".") || strings.HasSuffix(tag, "/")
}

func (r *reader) closed(value string) {
	m := closedAs().FindStringSubmatch(value)
	switch {
	case r.m.Closed != nil:
		r.fail("the milestone is closed twice; keep one line")
	case m == nil || !day(m[1]) || Bad(m[2]):
		r.fail("\"Closed:\" is followed by a date, a tag and a commit, as nexus milestone close writes it; " +
			"to open the milestone again, delete the line")
	default:
		r.m.Closed = &Closed{Date: m[1], Tag: m[2], Commit: m[3]}
	}
}

func day(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// end finishes the milestone that ends before this line.
func (r *reader) end() {
	m := r.m
	r.m = nil
	if m == nil {
		return
	}
	m.to = r.at
	all, lines, problems := spec.Criteria(r.items, m.from+1)
	r.problems = append(r.problems, problems...)
	for i, c := range all {
		one := Criterion{Criterion: c, Line: lines[i], last: lines[i] - 1}
		if len(c.Of) > 0 {
			r.failAt(one.Line, "%s is of %s; "+
				"a criterion of a milestone is of all of it: delete the brackets", c.ID, strings.Join(c.Of, ", "))
		}
		if c.Check == "" && hidden().MatchString(c.Text) && !strings.Contains(r.items[one.last-m.from], `\(`) {
			r.failAt(one.Line, "%s has text after its check, so the check would not run; "+
				"write the check at the end, or an empty line before the text", c.ID)
		}
		m.Criteria = append(m.Criteria, one)
	}
	r.accept(m)
	r.about = slices.CompactFunc(r.about, func(a, b string) bool { return strings.TrimSpace(a+b) == "" })
	m.About = strings.TrimSpace(strings.Join(r.about, "\n"))
	if r.road.closed >= 0 && m.Closed == nil {
		r.failAt(m.from+1, "%q is below \"# %s\" and has no line \"Closed:\"; move it above that heading", m.Title, closedPart)
	}
	if m.Closed != nil && m.Tag == "" {
		m.Tag = m.Closed.Tag
	}
	if r.road.closed < 0 {
		r.road.open = m.to
	}
	r.road.Milestones = append(r.road.Milestones, *m)
}

// accept adds people's approvals to the criteria.
func (r *reader) accept(m *Milestone) {
	for _, a := range r.accepts {
		var of *Criterion
		for i := range m.Criteria {
			if m.Criteria[i].Line < a.line {
				of = &m.Criteria[i]
			}
		}
		said := accepted().FindStringSubmatch(strings.TrimSpace(a.text))
		switch {
		case of == nil: // its criterion could not be parsed, which is already reported
		case said == nil || !day(said[1]) || strings.TrimSpace(said[4]) == "":
			r.failAt(a.line, "write \"- accepted: %s by NAME: \" and what was seen, or let nexus milestone accept write it", "2006-01-02")
		case of.Accepted != nil:
			r.failAt(a.line, "%s was accepted in line %d already; keep one", of.ID, of.Accepted.line)
		case of.Check != "":
			r.failAt(a.line, "%s has a check, which says whether it is met; delete the check or this line", of.ID)
		default:
			of.Accepted = &Acceptance{Date: said[1], By: strings.TrimSpace(said[2]), Of: said[3], Reason: strings.TrimSpace(said[4]), line: a.line}
		}
	}
	for i := range m.Criteria {
		c, next := &m.Criteria[i], m.to
		if i+1 < len(m.Criteria) {
			next = max(m.Criteria[i+1].Line-1, c.Line)
		}
		own := func(j int) bool { return r.items[j-m.from] != "" || c.Accepted != nil && c.Accepted.line == j+1 }
		for c.last = c.Line - 1; c.last+1 < next && own(c.last+1); c.last++ {
		}
	}
}

// finish parses the last lines, and numbers the milestones.
func (r *reader) finish() {
	r.at = len(r.road.lines)
	r.end()
	switch {
	case r.comment:
		r.failAt(r.opened, "a comment starts here and does not end; write --> where it ends")
	case r.fence != "":
		r.failAt(r.opened, "a block of code starts here and does not end; write %s below it", r.fence)
	}
	if !r.titled && !slices.ContainsFunc(r.problems, func(p spec.Problem) bool { return p.Text == untitled }) {
		r.failAt(1, untitled)
	}
	if r.road.open == 0 {
		if r.road.open = r.road.closed; r.road.closed < 0 {
			r.road.open = len(r.road.lines)
		}
	}
	slices.SortStableFunc(r.problems, func(a, b spec.Problem) int { return cmp.Compare(a.Line, b.Line) })
	n := 0
	for i := range r.road.Milestones {
		if m := &r.road.Milestones[i]; m.Closed == nil {
			n++
			m.Number = n
		}
	}
	slices.SortStableFunc(r.road.Milestones, func(a, b Milestone) int {
		return cmp.Compare(order(a), order(b))
	})
}

// order sorts closed milestones after the others.
func order(m Milestone) int {
	if m.Closed != nil {
		return 1
	}
	return 0
}
