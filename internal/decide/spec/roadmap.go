package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RoadmapFile is the path of a repository's roadmap, relative to its root.
const RoadmapFile = ".nexus/roadmap.md"

// Roadmap is an ordered list of milestones.
type Roadmap struct {
	Title      string
	Milestones []Milestone
}

// Milestone is a group of specs, goals and criteria that is reached as a whole.
type Milestone struct {
	Name     string               `json:"name"` // the words of its title; its name on the command line
	Title    string               `json:"title"`
	About    string               `json:"about,omitzero"` // a person's description of it
	Tag      string               `json:"tag,omitzero"`   // git tag for the commit that reaches it
	Specs    []string             `json:"specs,omitempty"`
	Goals    []string             `json:"goals,omitempty"`
	Criteria []MilestoneCriterion `json:"criteria,omitempty"`
	Commit   string               `json:"-"` // commit of the tag, if a line "Closed:" records it
}

// MilestoneCriterion is a criterion of a milestone.
type MilestoneCriterion struct {
	SpecCriterion

	Accepted string `json:"accepted,omitzero"` // by whom a criterion without a check is accepted, in words; empty: it is not
	Earlier  string `json:"-"`                 // who accepted an earlier text of it
}

// Fingerprint returns a hash of everything that a milestone asks for.
func (m Milestone) Fingerprint() string {
	text := slices.Concat(m.Specs, []string{"goals"}, m.Goals)
	for _, c := range m.Criteria {
		text = append(text, c.Text, c.Check)
	}
	return nexus.TextFingerprint(strings.Join(text, "\n"), "")
}

// Find returns the milestone with a name, a title or a number, which counts from 1.
func (r Roadmap) Find(name string) (Milestone, bool) {
	for i, m := range r.Milestones {
		if m.Name == name || strings.EqualFold(m.Title, name) || strconv.Itoa(i+1) == name {
			return m, true
		}
	}
	return Milestone{}, false
}

// NearestName returns the name that is closest to a mistyped one, or "" if none is close.
func (r Roadmap) NearestName(name string) string {
	var names []string
	for _, m := range r.Milestones {
		names = append(names, m.Name)
	}
	return nearestWord(name, names)
}

var (
	roadmapItem  = regexp.MustCompile(`^([ \t]*)(?:[-*+]|[0-9]{1,3}[.)])(?:[ \t]+|$)`)
	roadmapValue = regexp.MustCompile("^[*_`]*([A-Za-z]+)[*_`]*[ \t]*:[*_`]*(?:[ \t]+(.*)|)$")
	tickedBox    = regexp.MustCompile(`^[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+\[[xX]\]`)
	tagName      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,99}$`)
	specFileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	innerCheck   = regexp.MustCompile("(?i)\\(check:[ \t]*`")
	closedLine   = regexp.MustCompile(`^[0-9-]{10}[ \t]+(\S+)[ \t]+([0-9a-f]{40}(?:[0-9a-f]{24})?)$`)
	acceptedLine = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]+by[ \t]+([^:\n]+?)(?:[ \t]+of[ \t]+([0-9a-f]{12}))?[ \t]*:[ \t]*(\S.*)$`)
)

// ReadRoadmap parses a roadmap. A milestone starts with a heading of the second level; its list
// items are "spec: NAME", "goal: TEXT" and criteria. Other text is for people. If there are
// problems, the roadmap has what could be parsed.
func ReadRoadmap(text []byte) (Roadmap, []TextProblem) {
	r := roadmapReader{}
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\uFEFF")) {
		r.line++
		r.readLine(strings.TrimRight(line, "\r\n"))
	}
	r.endMilestone()
	switch {
	case r.comment:
		r.addProblemAt(r.opened, "a comment starts here and does not end; write --> where it ends")
	case r.fence != "":
		r.addProblemAt(r.opened, "a block of code starts here and does not end; write %s below it", r.fence)
	}
	for i, m := range r.Milestones {
		if j := slices.IndexFunc(r.Milestones[:i], func(o Milestone) bool { return o.Name == m.Name }); j >= 0 {
			r.addProblemAt(r.lines[i], "%q has the name %s, which a milestone in line %d has already; choose another title", m.Title, m.Name, r.lines[j])
		}
		if j := slices.IndexFunc(r.Milestones[:i], func(o Milestone) bool { return o.Tag == m.Tag && m.Tag != "" }); j >= 0 {
			r.addProblemAt(r.lines[i], "the tag %s is that of %s already; choose another", m.Tag, r.Milestones[j].Name)
		}
	}
	slices.SortStableFunc(r.problems, func(a, b TextProblem) int { return a.Line - b.Line })
	return r.Roadmap, r.problems
}

type roadmapReader struct {
	Roadmap

	problems []TextProblem
	lines    []int // of the titles of milestones
	line     int
	fence    string   // opening mark of the open code block
	comment  bool     // a comment is open
	opened   int      // line where the code block or the comment starts
	items    []string // lines of the milestone from its title on; those that are not of a criterion are empty
	about    []string
	inside   bool // the line before belongs to a criterion
	goal     bool // the line before belongs to a goal
	ticked   map[int]bool
	accepted map[int]string // values of lines "accepted:"
}

func (r *roadmapReader) addProblemAt(line int, format string, args ...any) {
	r.problems = append(r.problems, TextProblem{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (r *roadmapReader) addProblem(format string, args ...any) {
	r.addProblemAt(r.line, format, args...)
}

// milestone returns the milestone that is read; nil before the first.
func (r *roadmapReader) milestone() *Milestone {
	if len(r.Milestones) == 0 {
		return nil
	}
	return &r.Milestones[len(r.Milestones)-1]
}

func (r *roadmapReader) readLine(line string) {
	if why := IllegibleReason(line); why != "" {
		r.addProblem("%s", why)
	}
	text, level := strings.TrimSpace(line), headingLevel(line)
	prose := r.isBlockOrComment(text)
	if level != 2 || prose {
		r.items = append(r.items, "")
	}
	switch m := r.milestone(); {
	case prose || text == "":
		r.goal = false
		if r.inside = r.inside && text == ""; text != "" && !r.comment && r.fence != "" {
			r.about = append(r.about, line)
		}
	case level == 1:
		if r.Title == "" {
			r.Title = strings.TrimSpace(text[1:])
		} else if r.inside, r.goal = false, false; !strings.EqualFold(strings.TrimSpace(text[1:]), "Closed") {
			r.addProblem("a roadmap has one title; write ## for a milestone")
		}
	case level == 2:
		r.beginMilestone(singleLine(text[2:]))
	case m == nil:
		if v := roadmapValue.FindStringSubmatch(text[len(roadmapItem.FindString(text)):]); v != nil && isRoadmapWord(v[1]) || isCriterionLine(line) {
			r.addProblem("%q is before the first milestone; write \"## \" and the title of the milestone above it", text)
		}
	default:
		r.readMilestoneLine(m, line, text)
	}
}

func isCriterionLine(line string) bool {
	kind, ok := ListItemKind(line)
	return ok && kind == "AC"
}

func isRoadmapWord(word string) bool {
	return slices.Contains([]string{"spec", "goal", "tag", "closed"}, strings.ToLower(word))
}

// isBlockOrComment reports whether a line belongs to a code block or a comment.
func (r *roadmapReader) isBlockOrComment(text string) bool {
	switch {
	case r.comment:
		r.comment = !strings.Contains(text, "-->")
	case r.fence != "":
		if strings.HasPrefix(text, r.fence) && strings.Trim(text, r.fence[:1]) == "" {
			r.fence = ""
		}
	case strings.HasPrefix(text, "<!--"):
		r.comment, r.opened = !strings.Contains(text, "-->"), r.line
	default:
		r.fence, r.opened = openFence("", text), r.line
		return r.fence != ""
	}
	return true
}

// beginMilestone ends the milestone before, and starts the next one.
func (r *roadmapReader) beginMilestone(title string) {
	r.endMilestone()
	r.items, r.about, r.inside, r.goal = []string{""}, nil, false, false
	r.ticked, r.accepted = map[int]bool{}, map[int]string{}
	r.Milestones, r.lines = append(r.Milestones, Milestone{Title: title, Name: milestoneName(title)}), append(r.lines, r.line)
	if r.milestone().Name == "" {
		r.addProblem("the milestone needs a title with letters or digits, such as \"## First version\"")
	}
}

// milestoneName derives a name from a title.
func milestoneName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	const longest = 50
	name := ""
	for _, w := range words {
		next := strings.TrimPrefix(name+"-"+w, "-")
		if name != "" && len(next) > longest {
			break
		}
		name = next[:min(len(next), longest)]
	}
	return name
}

// readMilestoneLine parses a line of a milestone that is not empty.
func (r *roadmapReader) readMilestoneLine(m *Milestone, line, text string) {
	mark := roadmapItem.FindStringSubmatch(line)
	indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
	value := roadmapValue.FindStringSubmatch(strings.TrimSpace(line[len(roadmapItem.FindString(line)):]))
	word := ""
	if value != nil {
		word = strings.ToLower(value[1])
	}
	switch {
	case mark != nil && !indented && isCriterionLine(line) && word != "spec" && word != "goal":
		r.inside, r.goal = true, false
		r.items[len(r.items)-1], r.ticked[r.line] = line, tickedBox.MatchString(line)
	case mark != nil && !indented:
		r.inside, r.goal = false, false
		r.readItem(m, text, word, value)
	case r.inside && mark != nil && word == "accepted":
		r.accepted[r.line] = value[2]
	case r.inside && mark != nil && nearestWord(word, []string{"accepted"}) != "":
		r.addProblem("%q is not known here; write accepted", value[1])
	case mark == nil && !indented && r.readKey(m, word, value):
		r.inside, r.goal = false, false
	case r.inside && (indented || r.items[len(r.items)-2] != ""):
		r.items[len(r.items)-1] = line
	case r.goal && mark == nil:
		m.Goals[len(m.Goals)-1] = singleLine(m.Goals[len(m.Goals)-1] + " " + text)
	case r.goal:
		r.addProblem("nothing goes below a goal; make it another \"- goal: \"")
	default:
		r.inside = false
		r.about = append(r.about, line)
	}
}

// readItem parses a list item that is not a criterion.
func (r *roadmapReader) readItem(m *Milestone, text, word string, value []string) {
	switch {
	case word == "spec":
		name := strings.TrimSuffix(strings.TrimPrefix(strings.Trim(strings.TrimSpace(value[2]), "`"), ".nexus/specs/"), ".md")
		if !specFileName.MatchString(name) {
			r.addProblem("%q cannot name a spec; write the name of a file in .nexus/specs, such as login", name)
		} else if !slices.Contains(m.Specs, name) {
			m.Specs = append(m.Specs, name)
		}
	case word == "goal" && strings.TrimSpace(value[2]) == "":
		r.addProblem("the goal is empty; write what is wanted after the colon")
	case word == "goal":
		m.Goals, r.goal = append(m.Goals, singleLine(value[2])), true
	case word == "tag" || word == "closed":
		r.addProblem("write \"%s: \" without a dash, in a line of its own", strings.ToUpper(word[:1])+word[1:])
	default:
		r.addProblem("%q is not a part of a milestone; write \"- spec: NAME\", \"- goal: TEXT\" or \"- [ ] AC-1: TEXT\", or text without a dash", text)
	}
}

// readKey parses "Tag: v1" and "Closed: DATE TAG COMMIT", and reports whether a line is one of them.
func (r *roadmapReader) readKey(m *Milestone, word string, value []string) bool {
	if value == nil {
		return false
	}
	text := strings.Trim(strings.TrimSpace(value[2]), "`*_")
	switch {
	case word == "tag" && IsBadTag(text):
		r.addProblem("%q cannot be a tag; write one such as v0.1.0", text)
	case word == "tag" && m.Tag != "" && m.Tag != text:
		r.addProblem("the milestone has two tags; keep one")
	case word == "tag":
		m.Tag = text
	case word == "closed":
		parts := closedLine.FindStringSubmatch(text)
		if parts == nil || IsBadTag(parts[1]) {
			r.addProblem("\"Closed:\" is followed by a date, a tag and a commit; to open the milestone again, delete the line")
			return true
		}
		m.Tag, m.Commit = parts[1], parts[2]
	case !strings.Contains(text, " ") && nearestWord(word, []string{"tag"}) != "":
		r.addProblem("%q is not known here; write Tag", value[1])
	default:
		return false
	}
	return true
}

// IsBadTag reports whether a text cannot be a tag.
func IsBadTag(tag string) bool {
	return !tagName.MatchString(tag) || strings.Contains(tag, "..") || strings.Contains(tag, "//") || strings.Contains(tag, "/.") ||
		strings.Contains(tag+"/", ".lock/") || strings.HasSuffix(tag, ".") || strings.HasSuffix(tag, "/")
}

// endMilestone parses the criteria of the milestone that ends before this line.
func (r *roadmapReader) endMilestone() {
	m := r.milestone()
	if m == nil {
		return
	}
	first := r.lines[len(r.lines)-1]
	all, lines, problems := ReadCriteria(r.items, first)
	r.problems = append(r.problems, problems...)
	for i, c := range all {
		one, end := MilestoneCriterion{SpecCriterion: c}, first+len(r.items)
		if i+1 < len(all) {
			end = lines[i+1]
		}
		if len(c.Of) > 0 {
			r.addProblemAt(lines[i], "%s is of %s; a criterion of a milestone is of all of it: delete the brackets", c.ID, strings.Join(c.Of, ", "))
		}
		if c.Check == "" && innerCheck.MatchString(c.Text) && !strings.Contains(r.items[lines[i]-first], `\(`) {
			r.addProblemAt(lines[i], "%s has text after its check, so the check would not run; write the check at the end, or an empty line before the text", c.ID)
		}
		if r.ticked[lines[i]] {
			one.Accepted = "marked as done in " + RoadmapFile
		}
		for at := lines[i]; at < end; at++ {
			if text, ok := r.accepted[at]; ok {
				r.readAcceptance(&one, at, strings.TrimSpace(text))
			}
		}
		m.Criteria = append(m.Criteria, one)
	}
	m.About = strings.TrimSpace(strings.Join(r.about, "\n"))
}

// readAcceptance parses the value of a line "accepted:" below a criterion.
func (r *roadmapReader) readAcceptance(c *MilestoneCriterion, line int, text string) {
	switch parts := acceptedLine.FindStringSubmatch(text); {
	case parts == nil:
		r.addProblemAt(line, "write \"- accepted: 2026-01-31 by NAME: \" and what was seen, or delete this line and write [x] in front of the criterion")
	case parts[3] != "" && parts[3] != nexus.TextFingerprint(c.Text, c.Check):
		c.Earlier = parts[2]
	default:
		c.Accepted = fmt.Sprintf("accepted by %s on %s: %s", parts[2], parts[1], parts[4])
	}
}
