package spec

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// TextProblem is a mistake in the text of a spec.
type TextProblem struct {
	Line int    `json:"line"` // from 1
	Text string `json:"text"` // the mistake, and the correct form
}

func (p TextProblem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// LooksLikeSpec reports whether a text is meant as a spec: its first line is a title, and it has a
// requirement with an id. [ReadIfValid] checks whether it is valid.
func LooksLikeSpec(text string) bool {
	first, found, comment := "", false, false
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		line = strings.TrimSpace(line)
		found = found || item.MatchString(line) && strings.Contains(strings.ToUpper(line[:min(len(line), 16)]), "REQ-")
		for first == "" && (comment || strings.HasPrefix(line, "<!--")) {
			_, rest, closed := strings.Cut(line, "-->")
			if comment = !closed; comment {
				break
			}
			line = strings.TrimSpace(rest)
		}
		if first == "" && !comment {
			first = line
		}
	}
	return found && (strings.HasPrefix(first, "# ") || comment)
}

// ReadIfValid returns the spec in a text, or false for any other text and for a spec with
// mistakes, which count as goals in plain words.
func ReadIfValid(text string) (Spec, bool) {
	if !LooksLikeSpec(text) {
		return Spec{}, false
	}
	s, problems := ReadSpec([]byte(text))
	return s, len(problems) == 0
}

// ReadSpec parses a spec that [FormatMarkdown] formatted and a person edited, or that a person wrote.
// With problems, the spec contains the parts that could be parsed.
func ReadSpec(text []byte) (Spec, []TextProblem) {
	r := specParser{seen: map[string]int{}, ids: map[string]int{}}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(text), "\uFEFF"), "\n") {
		r.line++
		line = strings.TrimSuffix(line, "\r")
		r.checkLegible(line)
		r.readLine(line)
	}
	r.finishSpec()
	return r.spec, r.problems
}

// specListItem is a list item while it is parsed.
type specListItem struct {
	line  int
	text  string
	about []specItemAttribute
}

type specItemAttribute struct {
	line        int
	name, value string
}

type specParser struct {
	spec     Spec
	problems []TextProblem
	line     int
	titled   bool
	begun    bool              // a line with content was read
	section  string            // heading of the present lines; empty before the first
	seen     map[string]int    // headings and their lines
	ids      map[string]int    // ids and their lines
	refs     []specIDReference // references in the criteria
	problem  []string          // lines of the problem section
	fence    string            // opening mark of the open code block
	opened   int               // its line
	comment  int               // line of the open comment; 0: none
	item     *specListItem     // the item that is being read
	blank    bool              // the previous line was empty
}

type specIDReference struct {
	line     int
	from, to string
}

func (r *specParser) addProblemAt(line int, format string, args ...any) {
	r.problems = append(r.problems, TextProblem{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (r *specParser) addProblem(format string, args ...any) { r.addProblemAt(r.line, format, args...) }

// checkLegible reports invisible characters.
func (r *specParser) checkLegible(line string) {
	if why := IllegibleReason(line); why != "" {
		r.addProblem("%s", why)
	}
}

// IllegibleReason returns why a line of a file that people edit may differ from its appearance,
// and the remedy: it is not UTF-8, or has invisible characters. It returns "" for
// a good line.
func IllegibleReason(line string) string {
	if !utf8.ValidString(line) {
		return "it is not UTF-8; save the file as UTF-8"
	}
	for _, c := range line {
		if sanitize.IsHiddenCharacter(c) {
			return fmt.Sprintf("it has an invisible character, U+%04X; delete it", c)
		}
	}
	return ""
}

func (r *specParser) readLine(line string) {
	empty := strings.TrimSpace(line) == ""
	defer func() { r.blank = empty }()
	switch {
	case r.comment > 0:
		r.readAfterComment(line)
	case r.section == problemTitle && (r.fence != "" || openFence("", line) != ""):
		if r.fence == "" {
			r.opened = r.line
		}
		r.fence = openFence(r.fence, line)
		r.problem = append(r.problem, line)
	case strings.HasPrefix(line, "<!--"):
		r.comment = r.line
		r.readAfterComment(line)
	case headingLevel(line) == 3 && r.section == problemTitle:
		r.problem = append(r.problem, line)
	case headingLevel(line) > 0:
		r.readHeading(headingLevel(line), strings.TrimSpace(line[headingLevel(line):]))
	case r.section == problemTitle:
		r.problem = append(r.problem, unescapeLine(line))
	case empty:
		if r.item != nil {
			r.item.text += "\n" + strings.TrimPrefix(line, "  ")
		}
	case r.section == "":
		r.readPreamble(strings.TrimSpace(line))
	default:
		r.readListLine(line)
	}
}

// readAfterComment parses the text after the end of a comment.
func (r *specParser) readAfterComment(line string) {
	_, rest, closed := strings.Cut(line, "-->")
	if !closed {
		return
	}
	r.comment = 0
	if rest = strings.TrimLeft(rest, " \t"); rest != "" {
		r.readLine(rest)
	}
}

// readHeading parses one of the headings.
func (r *specParser) readHeading(level int, text string) {
	switch {
	case level == 3 && r.section != "": // it only groups the following items
		r.finishItem()
		return
	case level == 1 && !r.titled:
		r.readTitle(text)
		return
	case level == 1:
		r.addProblem("a spec has one title; write ## for a heading")
	}
	r.finishItem()
	r.begun = true
	name := knownHeading(text)
	if name == "" {
		hint := "the headings are " + strings.Join(knownHeadings(), ", ")
		if near := nearestWord(text, knownHeadings()); near != "" {
			hint = fmt.Sprintf("write %q", "## "+near)
			name = near
		}
		if level != 1 {
			r.addProblem("%q is not a heading of a spec; %s", text, hint)
		}
	}
	if at, twice := r.seen[name]; twice && name != "" {
		r.addProblem("the heading %q occurs twice, first in line %d; put everything below one", name, at)
	} else {
		r.seen[name] = r.line
	}
	r.section = cmp.Or(name, notesTitle)
}

const untitled = `a spec starts with its title: write "# " and the title in the first line`

func (r *specParser) readTitle(text string) {
	if r.begun {
		r.addProblem("the title comes first: put it into the first line")
	}
	if r.spec.Title = strings.Join(strings.Fields(text), " "); text == "" {
		r.addProblem("the title is empty")
	}
	r.titled, r.begun = true, true
}

// readPreamble parses the text before the first heading.
func (r *specParser) readPreamble(text string) {
	name, v, ok := strings.Cut(strings.Trim(text, "*_"), ":")
	switch depth := SpecDepth(strings.ToLower(strings.Trim(v, " \t*_"))); {
	case ok && strings.EqualFold(strings.TrimSpace(name), "depth") && (depth == Quick || depth == Standard || depth == Deep):
		r.spec.Depth = depth
	case ok && strings.EqualFold(strings.TrimSpace(name), "depth"):
		r.addProblem("the depth is quick, standard or deep, not %q", v)
	case !r.titled && !r.begun:
		r.addProblem(untitled)
	case r.titled:
		r.addProblem("there is text before the first heading; put it below \"## %s\"", problemTitle)
	}
	r.begun = true
}

// readListLine parses a line of a list.
func (r *specParser) readListLine(line string) {
	text := strings.TrimLeft(line, " \t")
	indent := strings.Count(line[:len(line)-len(text)], "\t")*4 + strings.Count(line[:len(line)-len(text)], " ")
	mark := bullet.FindString(text)
	switch {
	case mark != "" && (indent < 2 || item.MatchString(text) || r.item == nil):
		r.finishItem()
		r.item = &specListItem{line: r.line, text: strings.TrimLeft(text[len(mark):], " \t")}
	case r.item == nil || r.blank && indent < 2:
		r.finishItem()
		r.item = &specListItem{line: r.line, text: text}
		if id := idPrefix(r.section); id != "" {
			r.addProblem("%s starts with \"- %s-1: \", and what belongs to it is indented below it", sectionItemName(r.section), id)
			r.item = nil
		}
	default:
		r.readContinuation(line, text)
	}
}

// readContinuation parses a line that belongs to the item above it.
func (r *specParser) readContinuation(line, text string) {
	if name, v, ok := parseAttribute(text); ok && idPrefix(r.section) != "" {
		r.item.about = append(r.item.about, specItemAttribute{r.line, name, v})
		return
	}
	inner := strings.TrimPrefix(line, "  ")
	if inner == line {
		inner = strings.TrimPrefix(strings.TrimPrefix(line, "\t"), " ")
	}
	if rest, ok := strings.CutPrefix(text, `\`); ok && isAmbiguousLine(rest) {
		inner = inner[:len(inner)-len(text)] + rest
	}
	r.item.text += "\n" + inner
}

// finishItem parses the completed item.
func (r *specParser) finishItem() {
	i := r.item
	r.item = nil
	if i == nil {
		return
	}
	i.text = strings.TrimSpace(i.text)
	switch r.section {
	case requireTitle, laterTitle:
		r.readRequirement(*i)
	case criteriaTitle:
		r.readCriterion(*i)
	case assumptionTitle:
		r.readAssumption(*i)
	default:
		if m := box.FindString(i.text); m != "" && m[0] == '\\' {
			i.text = i.text[1:]
		} else {
			i.text = i.text[len(m):]
		}
		if i.text == "" {
			r.addProblemAt(i.line, "this is empty; write a text, or delete the line")
			return
		}
		to := map[string]*[]string{
			answersTitle: &r.spec.Answers, notesTitle: &r.spec.Notes, outTitle: &r.spec.OutOfScope, critiqueTitle: &r.spec.Critique,
		}[r.section]
		*to = append(*to, i.text)
	}
}

// idPrefix returns the prefix of a section's ids, or "" if its items have none.
func idPrefix(section string) string {
	switch section {
	case requireTitle, laterTitle:
		return "REQ"
	case criteriaTitle:
		return "AC"
	case assumptionTitle:
		return "A"
	default:
		return ""
	}
}

func sectionItemName(section string) string {
	switch section {
	case criteriaTitle:
		return "a criterion"
	case assumptionTitle:
		return "an assumption"
	default:
		return "a requirement"
	}
}

// Patterns of the start of an item: its id, the text in brackets after it, and its text.
var (
	start = regexp.MustCompile("(?s)^[_`]*((?i:REQ|AC|A)-(?:[A-Za-z]{2,4}-)?[0-9]{1,9})[_`]*[ \t]*" +
		"(?:\\(([^()\n]*)\\)|\\[([^\\[\\]\n]*)\\])?[ \t]*:[ \t]*(.*)$")
	nearly = regexp.MustCompile("^[_`]*((?i:REQ|AC|A))[-_ ]*((?:[A-Za-z]{2,4}-)?[0-9]*)\\b")
)

// readItemID parses the id of an item, and reports problems with it.
func (r *specParser) readItemID(i specListItem) (id, brackets, text string, ok bool) {
	want := idPrefix(r.section)
	t := i.text
	if m := box.FindString(t); m != "" && m[0] != '\\' {
		t = t[len(m):]
	}
	if rest, bold := strings.CutPrefix(t, "**"); bold {
		t = strings.Replace(rest, "**", "", 1)
	}
	m := start.FindStringSubmatch(t)
	if m == nil {
		r.reportMalformed(i.line, t)
		return "", "", "", false
	}
	id = strings.ToUpper(m[1])
	has, _, _ := strings.Cut(id, "-")
	if has != want {
		r.addProblemAt(i.line, "%s is below %q, whose ids start with %s-; move it below %q", id, r.section, want, sectionOfPrefix(has))
		return "", "", "", false
	}
	if at, twice := r.ids[id]; twice {
		r.addProblemAt(i.line, "%s is used twice, first in line %d; the next free id is %s", id, at, r.nextFreeID(want))
	} else {
		r.ids[id] = i.line
	}
	if text = strings.TrimSpace(m[4]); text == "" {
		r.addProblemAt(i.line, "%s is empty; write the text after the colon", id)
	}
	return id, m[2] + m[3], text, true
}

// reportMalformed reports the missing part at the start of an item.
func (r *specParser) reportMalformed(line int, text string) {
	want := idPrefix(r.section)
	first, _, _ := strings.Cut(text, "\n")
	if m := nearly.FindStringSubmatch(text); m != nil && strings.EqualFold(m[1], want) {
		if m[2] != "" {
			r.addProblemAt(line, "%q has no colon after its id; write \"- %s-%s: \" and the text", sanitize.TruncateText(first, 60), want, strings.ToUpper(m[2]))
		} else {
			r.addProblemAt(line, "%q has no number; the next free id is %s", sanitize.TruncateText(first, 60), r.nextFreeID(want))
		}
		return
	}
	r.addProblemAt(line, "%q has no id; write \"- %s: %s\"", sanitize.TruncateText(first, 60), r.nextFreeID(want), sanitize.TruncateText(first, 60))
}

// nextFreeID returns the lowest id that is higher than all parsed ones.
func (r *specParser) nextFreeID(prefix string) string {
	n := 0
	for id := range r.ids {
		if rest, ok := strings.CutPrefix(id, prefix+"-"); ok {
			k, err := strconv.Atoi(rest)
			if err == nil {
				n = max(n, k)
			}
		}
	}
	return fmt.Sprintf("%s-%d", prefix, n+1)
}

func sectionOfPrefix(prefix string) string {
	switch prefix {
	case "AC":
		return criteriaTitle
	case "A":
		return assumptionTitle
	default:
		return requireTitle
	}
}

// finishSpec parses the last lines, and checks the spec as a whole.
func (r *specParser) finishSpec() {
	r.finishItem()
	if r.fence != "" {
		r.addProblemAt(r.opened, "a block of code starts here and does not end; write %s below it", r.fence)
	}
	if r.comment > 0 {
		r.addProblemAt(r.comment, "a comment starts here and does not end; write --> where it ends")
	}
	r.spec.Problem = strings.TrimSpace(strings.Join(r.problem, "\n"))
	if !r.titled && !slices.ContainsFunc(r.problems, func(p TextProblem) bool { return p.Text == untitled }) {
		r.addProblemAt(1, untitled)
	}
	for _, f := range r.refs {
		if _, ok := r.ids[f.to]; !ok {
			r.addProblemAt(f.line, "%s names %s, which is not a requirement%s", f.from, f.to, r.requirementNames())
		}
	}
	if len(r.spec.Requirements) == 0 && len(r.problems) == 0 {
		r.addProblemAt(max(r.seen[requireTitle], 1),
			"a spec has at least one requirement: write \"- REQ-1: TEXT\" below \"## %s\"", requireTitle)
	}
	slices.SortStableFunc(r.problems, func(a, b TextProblem) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(r.spec.Requirements, func(a, b nexus.Requirement) int { return boolToInt(a.Later) - boolToInt(b.Later) })
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// requirementNames names the existing requirements.
func (r *specParser) requirementNames() string {
	var ids []string
	for _, q := range r.spec.Requirements[:min(len(r.spec.Requirements), 20)] {
		ids = append(ids, q.ID)
	}
	if len(ids) == 0 {
		return ""
	}
	return "; there are " + strings.Join(ids, ", ")
}
