package roadmap

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

var (
	// entry matches the start of a list item.
	entry = regexp.MustCompile(`^([ \t]*)(?:[-*+]|[0-9]{1,3}[.)])(?:[ \t]+|$)(?:\[[ xX]?\](?:[ \t]+|$))?`)
	// named matches a word with a value.
	named = regexp.MustCompile("^[*_`]*([A-Za-z]+)[*_`]*[ \t]*:[*_`]*(?:[ \t]+(.*)|)$")
	// tagged matches possible tags: git refuses a few more.
	tagged = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,99}$`)
	// versioned matches texts that look like a tag.
	versioned = regexp.MustCompile(`^[A-Za-z/-]*[0-9][A-Za-z0-9._/+-]*$`)
	// specName matches possible names of specs.
	specName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	// hidden matches a check within a text.
	hidden   = regexp.MustCompile("(?i)\\(check:[ \t]*`")
	closedAs = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]+(\S+)[ \t]+([0-9a-f]{40}(?:[0-9a-f]{24})?)$`)
	accepted = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]+by[ \t]+([^:\n]+?)(?:[ \t]+of[ \t]+([0-9a-f]{12}))?[ \t]*:[ \t]*(.*)$`)
)

const (
	untitled   = `a roadmap starts with its title: write "# Roadmap" in the first line`
	closedPart = "Closed" // the heading above the closed milestones
)

// ReadRoadmap parses a roadmap, and returns problems with it. If there are any, the roadmap contains
// the parts that could be parsed.
func ReadRoadmap(text []byte) (Roadmap, []spec.TextProblem) {
	r := roadmapReader{roadmap: Roadmap{closed: -1, end: "\n"}, names: map[string]int{}, tags: map[string]int{}}
	all := strings.TrimPrefix(string(text), "\uFEFF")
	if strings.Contains(all, "\r\n") {
		r.roadmap.end = "\r\n"
	}
	for line := range strings.SplitSeq(strings.TrimRight(all, "\r\n \t"), "\n") {
		r.roadmap.lines = append(r.roadmap.lines, strings.TrimRight(line, "\r"))
	}
	for i, line := range r.roadmap.lines {
		r.at = i
		r.checkLegible(line)
		if r.m != nil {
			r.items = append(r.items, "")
		}
		r.readLine(line)
	}
	r.finishRoadmap()
	return r.roadmap, r.problems
}

type roadmapReader struct {
	roadmap  Roadmap
	problems []spec.TextProblem
	at       int  // index of the present line
	titled   bool // the title was read
	m        *Milestone
	items    []string // lines of the milestone from which criteria are parsed; other lines are empty
	about    []string
	goes     continuationKind // owner of an indented line
	names    map[string]int   // names and their lines
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

// continuationKind is the part to which a further line belongs.
type continuationKind int

const (
	toProse continuationKind = iota
	toGoal
	toCriterion
	toNothing // the part was wrong and is already reported
)

func (r *roadmapReader) addProblemAt(line int, format string, args ...any) {
	r.problems = append(r.problems, spec.TextProblem{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (r *roadmapReader) addProblem(format string, args ...any) {
	r.addProblemAt(r.at+1, format, args...)
}

// checkLegible reports invisible characters.
func (r *roadmapReader) checkLegible(line string) {
	if why := spec.IllegibleReason(line); why != "" {
		r.addProblem("%s", why)
	}
}

func (r *roadmapReader) readLine(line string) {
	text := strings.TrimSpace(line)
	defer func() { r.blank = text == "" }()
	if comment := r.comment || r.fence == "" && strings.HasPrefix(text, "<!--"); r.isBlockOrComment(line, text) {
		if r.keepLine(line); comment && r.m != nil {
			r.about = r.about[:len(r.about)-1]
		}
		return
	}
	switch level := headingLevel(line); {
	case level == 1:
		r.readTitle(strings.TrimSpace(line[1:]))
	case level == 2:
		r.beginMilestone(strings.TrimSpace(line[2:]))
	case level > 2 || text == "":
		r.keepLine(line)
		if level > 0 {
			r.goes = toProse
		}
	case !r.titled && r.m == nil && r.roadmap.Title == "":
		if len(r.problems) == 0 {
			r.addProblem(untitled)
		}
	case r.m == nil:
		r.keepLine(line)
		r.readOutsideLine(line)
	default:
		r.readMilestoneLine(line)
	}
}

// isBlockOrComment reports whether a line belongs to a code block or a comment.
func (r *roadmapReader) isBlockOrComment(line, text string) bool {
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

// keepLine keeps a line that is not about a milestone.
func (r *roadmapReader) keepLine(line string) {
	if r.m != nil {
		r.about = append(r.about, line)
	}
}

// headingLevel returns the level of a heading, or 0 for other lines.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || len(line) > n && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// readTitle parses a heading of the first level.
func (r *roadmapReader) readTitle(text string) {
	switch {
	case !r.titled && r.m == nil:
		r.titled = true
		if r.roadmap.Title = spec.SingleLine(text); text == "" {
			r.addProblem("the title is empty")
		}
	case strings.EqualFold(text, closedPart) && r.roadmap.closed < 0:
		r.endMilestone()
		r.roadmap.closed = r.at
	case strings.EqualFold(text, closedPart):
		r.addProblem("the heading %q occurs twice, first in line %d; put everything below one", closedPart, r.roadmap.closed+1)
	default:
		r.addProblem("a roadmap has one title; write ## for a milestone, or \"# %s\" above those that are closed", closedPart)
	}
}

// beginMilestone parses the title of a milestone.
func (r *roadmapReader) beginMilestone(title string) {
	r.endMilestone()
	m := Milestone{Title: spec.SingleLine(title), Name: MilestoneName(title), from: r.at}
	at, twice := r.names[m.Name]
	switch {
	case m.Name == "":
		r.addProblem("the milestone needs a title with letters or digits, such as \"## First version\"")
	case twice:
		r.addProblem("%q has the name %s, which a milestone in line %d has already; choose another title", m.Title, m.Name, at)
	default:
		r.names[m.Name] = r.at + 1
	}
	r.m, r.items, r.about, r.accepts, r.goes = &m, []string{""}, nil, nil, toProse
}

// readOutsideLine parses a line before the first milestone, or between the heading of the closed ones
// and the first of them.
func (r *roadmapReader) readOutsideLine(line string) {
	if kind, ok := spec.ListItemKind(line); ok && kind == "AC" {
		r.addProblem("a criterion is before the first milestone; write \"## \" and the title of the milestone above it")
		return
	}
	text := line[len(entry.FindString(line)):]
	if m := named.FindStringSubmatch(text); m != nil && slices.Contains([]string{"spec", "goal", "tag", "closed"}, strings.ToLower(m[1])) {
		r.addProblem("%q is before the first milestone; write \"## \" and the title of the milestone above it", sanitize.TruncateText(text, 60))
	}
}

// readMilestoneLine parses a line of a milestone.
func (r *roadmapReader) readMilestoneLine(line string) {
	mark := entry.FindString(line)
	indent := strings.Count(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")*4 + len(line) - len(strings.TrimLeft(line, " "))
	text := strings.TrimSpace(line[len(mark):])
	goes := r.goes
	switch {
	case mark != "" && indent < 2:
		r.readItem(line, text)
	case goes == toProse || r.blank && indent < 2:
		r.goes = toProse
		r.readProse(line)
	case goes == toCriterion:
		r.readCriterionLine(line, mark, text)
	case goes == toGoal && mark == "":
		if r.readKey(line) {
			return
		}
		last := &r.m.Goals[len(r.m.Goals)-1]
		last.Text = spec.SingleLine(last.Text + " " + text)
	case goes == toGoal:
		r.addProblem("nothing goes below a goal; make it another \"- goal: \"")
	}
}

// readCriterionLine parses a further line of a criterion.
func (r *roadmapReader) readCriterionLine(line, mark, text string) {
	if mark == "" && strings.TrimLeft(line, " \t") == line && r.readKey(line) {
		return
	}
	if m := named.FindStringSubmatch(text); mark != "" && m != nil {
		if word := strings.ToLower(m[1]); word == "accepted" {
			r.accepts = append(r.accepts, acceptLine{r.at + 1, m[2]})
			return
		} else if spec.NearestWord(word, []string{"accepted"}) != "" {
			r.addProblem("%q is not known here; write accepted", m[1])
		}
	}
	r.items[len(r.items)-1] = line
}

// readItem parses the start of a list item.
func (r *roadmapReader) readItem(line, text string) {
	if kind, ok := spec.ListItemKind(line); ok && kind == "AC" && !startsWithWord(text, "spec", "goal") {
		r.goes = toCriterion
		r.items[len(r.items)-1] = line
		return
	}
	r.goes = toNothing
	m := named.FindStringSubmatch(text)
	word := ""
	if m != nil {
		word = strings.ToLower(m[1])
	}
	switch {
	case word == "spec":
		r.addSpecName(strings.Trim(strings.TrimSpace(m[2]), "`"))
	case word == "goal" && strings.TrimSpace(m[2]) == "":
		r.addProblem("the goal is empty; write what is wanted after the colon")
	case word == "goal":
		r.m.Goals = append(r.m.Goals, MilestonePart{Text: spec.SingleLine(m[2]), Line: r.at + 1})
		r.goes = toGoal
	case word == "tag" || word == "closed":
		r.addProblem("write \"%s: \" without a dash, in a line of its own", strings.ToUpper(word[:1])+word[1:])
	case word != "" && spec.NearestWord(word, []string{"spec", "goal"}) != "":
		r.addProblem("%q is not known here; write \"- %s: \"", m[1], spec.NearestWord(word, []string{"spec", "goal"}))
	default:
		if kind, ok := spec.ListItemKind(line); ok && kind == "REQ" {
			r.addProblem("requirements are in specs: name the spec with \"- spec: NAME\", or write \"- goal: \" and what is wanted")
			return
		}
		r.addProblem("%q is not a part of a milestone; write \"- spec: NAME\", \"- goal: TEXT\" or \"- [ ] AC-1: TEXT\", "+
			"or text without a dash", sanitize.TruncateText(text, 60))
	}
}

func startsWithWord(text string, words ...string) bool {
	m := named.FindStringSubmatch(text)
	return m != nil && slices.Contains(words, strings.ToLower(m[1]))
}

// addSpecName parses the name of a spec, or of its file.
func (r *roadmapReader) addSpecName(name string) {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "./"), ".nexus/specs/"), ".md")
	switch {
	case name == "":
		r.addProblem("the spec has no name; write the name of a file in .nexus/specs, such as login")
	case !specName.MatchString(name):
		r.addProblem("%q cannot name a spec; write the name of a file in .nexus/specs, such as login", sanitize.TruncateText(name, 60))
	case slices.ContainsFunc(r.m.Specs, func(p MilestonePart) bool { return p.Text == name }):
		r.addProblem("the spec %s is named twice in this milestone; delete this line", name)
	default:
		r.m.Specs = append(r.m.Specs, MilestonePart{Text: name, Line: r.at + 1})
	}
}

// readProse parses a line that is not an item.
func (r *roadmapReader) readProse(line string) {
	if !r.readKey(line) {
		r.about = append(r.about, line)
	}
}

// readKey parses "Tag: v1" and "Closed: ...", and reports whether a line is one of them.
func (r *roadmapReader) readKey(line string) bool {
	m := named.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	value := strings.Trim(strings.TrimSpace(m[2]), "`*_")
	switch word := strings.ToLower(m[1]); {
	case word == "tag":
		r.readTag(value)
	case word == "closed":
		r.readClosed(value)
	case versioned.MatchString(value) && spec.NearestWord(word, []string{"tag"}) != "",
		closedAs.MatchString(value) && spec.NearestWord(word, []string{"closed"}) != "":
		r.addProblem("%q is not known here; write %s", m[1], map[bool]string{true: "Closed", false: "Tag"}[closedAs.MatchString(value)])
	default:
		return false
	}
	r.goes = toProse
	return true
}

func (r *roadmapReader) readTag(value string) {
	switch {
	case r.m.Tag != "":
		r.addProblem("the milestone has two tags; keep one")
	case value == "":
		r.addProblem("the tag is empty; write a tag, such as v0.1.0, or delete the line")
	case IsBadTag(value):
		r.addProblem("%q cannot be a tag; write one such as v0.1.0", sanitize.TruncateText(value, 60))
	case r.tags[value] > 0:
		r.addProblem("the tag %s is that of a milestone in line %d already; choose another", value, r.tags[value])
	default:
		r.m.Tag, r.tags[value] = value, r.at+1
	}
}

// IsBadTag reports whether a text cannot be a tag.
func IsBadTag(tag string) bool {
	return !tagged.MatchString(tag) || strings.Contains(tag, "..") || strings.Contains(tag, "//") || strings.Contains(tag, "/.") ||
		strings.Contains(tag+"/", ".lock/") || strings.HasSuffix(tag, ".") || strings.HasSuffix(tag, "/")
}

func (r *roadmapReader) readClosed(value string) {
	m := closedAs.FindStringSubmatch(value)
	switch {
	case r.m.Closed != nil:
		r.addProblem("the milestone is closed twice; keep one line")
	case m == nil || !isDate(m[1]) || IsBadTag(m[2]):
		r.addProblem("\"Closed:\" is followed by a date, a tag and a commit, as nexus milestone close writes it; " +
			"to open the milestone again, delete the line")
	default:
		r.m.Closed = &ClosedMilestone{Date: m[1], Tag: m[2], Commit: m[3]}
	}
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// endMilestone finishes the milestone that ends before this line.
func (r *roadmapReader) endMilestone() {
	m := r.m
	r.m = nil
	if m == nil {
		return
	}
	m.to = r.at
	all, lines, problems := spec.ReadCriteria(r.items, m.from+1)
	r.problems = append(r.problems, problems...)
	for i, c := range all {
		one := MilestoneCriterion{SpecCriterion: c, Line: lines[i], last: lines[i] - 1}
		if len(c.Of) > 0 {
			r.addProblemAt(one.Line, "%s is of %s; "+
				"a criterion of a milestone is of all of it: delete the brackets", c.ID, strings.Join(c.Of, ", "))
		}
		if c.Check == "" && hidden.MatchString(c.Text) && !strings.Contains(r.items[one.last-m.from], `\(`) {
			r.addProblemAt(one.Line, "%s has text after its check, so the check would not run; "+
				"write the check at the end, or an empty line before the text", c.ID)
		}
		m.Criteria = append(m.Criteria, one)
	}
	r.applyAcceptances(m)
	r.about = slices.CompactFunc(r.about, func(a, b string) bool { return strings.TrimSpace(a+b) == "" })
	m.About = strings.TrimSpace(strings.Join(r.about, "\n"))
	if r.roadmap.closed >= 0 && m.Closed == nil {
		r.addProblemAt(m.from+1, "%q is below \"# %s\" and has no line \"Closed:\"; move it above that heading", m.Title, closedPart)
	}
	if m.Closed != nil && m.Tag == "" {
		m.Tag = m.Closed.Tag
	}
	if r.roadmap.closed < 0 {
		r.roadmap.open = m.to
	}
	r.roadmap.Milestones = append(r.roadmap.Milestones, *m)
}

// applyAcceptances adds people's approvals to the criteria.
func (r *roadmapReader) applyAcceptances(m *Milestone) {
	for _, a := range r.accepts {
		var of *MilestoneCriterion
		for i := range m.Criteria {
			if m.Criteria[i].Line < a.line {
				of = &m.Criteria[i]
			}
		}
		said := accepted.FindStringSubmatch(strings.TrimSpace(a.text))
		switch {
		case of == nil: // its criterion could not be parsed, which is already reported
		case said == nil || !isDate(said[1]) || strings.TrimSpace(said[4]) == "":
			r.addProblemAt(a.line, "write \"- accepted: %s by NAME: \" and what was seen, or let nexus milestone accept write it", "2006-01-02")
		case of.Accepted != nil:
			r.addProblemAt(a.line, "%s was accepted in line %d already; keep one", of.ID, of.Accepted.line)
		case of.Check != "":
			r.addProblemAt(a.line, "%s has a check, which says whether it is met; delete the check or this line", of.ID)
		default:
			of.Accepted = &PersonAcceptance{Date: said[1], By: strings.TrimSpace(said[2]), Of: said[3], Reason: strings.TrimSpace(said[4]), line: a.line}
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

// finishRoadmap parses the last lines, and numbers the milestones.
func (r *roadmapReader) finishRoadmap() {
	r.at = len(r.roadmap.lines)
	r.endMilestone()
	switch {
	case r.comment:
		r.addProblemAt(r.opened, "a comment starts here and does not end; write --> where it ends")
	case r.fence != "":
		r.addProblemAt(r.opened, "a block of code starts here and does not end; write %s below it", r.fence)
	}
	if !r.titled && !slices.ContainsFunc(r.problems, func(p spec.TextProblem) bool { return p.Text == untitled }) {
		r.addProblemAt(1, untitled)
	}
	if r.roadmap.open == 0 {
		if r.roadmap.open = r.roadmap.closed; r.roadmap.closed < 0 {
			r.roadmap.open = len(r.roadmap.lines)
		}
	}
	slices.SortStableFunc(r.problems, func(a, b spec.TextProblem) int { return cmp.Compare(a.Line, b.Line) })
	n := 0
	for i := range r.roadmap.Milestones {
		if m := &r.roadmap.Milestones[i]; m.Closed == nil {
			n++
			m.Number = n
		}
	}
	slices.SortStableFunc(r.roadmap.Milestones, func(a, b Milestone) int {
		return cmp.Compare(closedLast(a), closedLast(b))
	})
}

// closedLast sorts closed milestones after the others.
func closedLast(m Milestone) int {
	if m.Closed != nil {
		return 1
	}
	return 0
}
