package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Problem is a mistake in the text of a spec.
type Problem struct {
	Line int    `json:"line"` // from 1
	Text string `json:"text"` // the mistake, and the correct form
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// Is reports whether a text is meant as a spec: its first line is a title, and it has a
// requirement with an id. [ReadIfValid] checks whether it is valid.
func Is(text string) bool {
	first, found, comment := "", false, false
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		line = strings.TrimSpace(line)
		found = found || item().MatchString(line) && strings.Contains(strings.ToUpper(line[:min(len(line), 16)]), "REQ-")
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
	if !Is(text) {
		return Spec{}, false
	}
	s, problems := Read([]byte(text))
	return s, len(problems) == 0
}

// Read parses a spec that [Markdown] formatted and a person edited, or that a person wrote.
// With problems, the spec contains the parts that could be parsed.
func Read(text []byte) (Spec, []Problem) {
	r := reader{seen: map[string]int{}, ids: map[string]int{}}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(text), "\uFEFF"), "\n") {
		r.line++
		line = strings.TrimSuffix(line, "\r")
		r.legible(line)
		r.read(line)
	}
	r.end()
	return r.spec, r.problems
}

// entryText is a list item while it is parsed.
type entryText struct {
	line  int
	text  string
	about []aboutLine
}

type aboutLine struct {
	line        int
	name, value string
}

type reader struct {
	spec     Spec
	problems []Problem
	line     int
	titled   bool
	begun    bool           // a line with content was read
	section  string         // heading of the present lines; empty before the first
	seen     map[string]int // headings and their lines
	ids      map[string]int // ids and their lines
	refs     []ref          // references in the criteria
	problem  []string       // lines of the problem section
	fence    string         // opening mark of the open code block
	opened   int            // its line
	comment  int            // line of the open comment; 0: none
	item     *entryText     // the item that is being read
	blank    bool           // the previous line was empty
}

type ref struct {
	line     int
	from, to string
}

func (r *reader) failAt(line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) fail(format string, args ...any) { r.failAt(r.line, format, args...) }

// legible reports invisible characters.
func (r *reader) legible(line string) {
	if why := Illegible(line); why != "" {
		r.fail("%s", why)
	}
}

// Illegible returns why a line of a file that people edit may differ from its appearance,
// and the remedy: it is not UTF-8, or has invisible characters. It returns "" for
// a good line.
func Illegible(line string) string {
	if !utf8.ValidString(line) {
		return "it is not UTF-8; save the file as UTF-8"
	}
	for _, c := range line {
		if sanitize.Hidden(c) {
			return fmt.Sprintf("it has an invisible character, U+%04X; delete it", c)
		}
	}
	return ""
}

func (r *reader) read(line string) {
	empty := strings.TrimSpace(line) == ""
	defer func() { r.blank = empty }()
	switch {
	case r.comment > 0:
		r.uncomment(line)
	case r.section == problemTitle && (r.fence != "" || fence("", line) != ""):
		if r.fence == "" {
			r.opened = r.line
		}
		r.fence = fence(r.fence, line)
		r.problem = append(r.problem, line)
	case strings.HasPrefix(line, "<!--"):
		r.comment = r.line
		r.uncomment(line)
	case heading(line) == 3 && r.section == problemTitle:
		r.problem = append(r.problem, line)
	case heading(line) > 0:
		r.heading(heading(line), strings.TrimSpace(line[heading(line):]))
	case r.section == problemTitle:
		r.problem = append(r.problem, unescape(line))
	case empty:
		if r.item != nil {
			r.item.text += "\n" + strings.TrimPrefix(line, "  ")
		}
	case r.section == "":
		r.before(strings.TrimSpace(line))
	default:
		r.entry(line)
	}
}

// uncomment parses the text after the end of a comment.
func (r *reader) uncomment(line string) {
	_, rest, closed := strings.Cut(line, "-->")
	if !closed {
		return
	}
	r.comment = 0
	if rest = strings.TrimLeft(rest, " \t"); rest != "" {
		r.read(rest)
	}
}

// heading parses one of the headings.
func (r *reader) heading(level int, text string) {
	switch {
	case level == 3 && r.section != "": // it only groups the following items
		r.flush()
		return
	case level == 1 && !r.titled:
		r.title(text)
		return
	case level == 1:
		r.fail("a spec has one title; write ## for a heading")
	}
	r.flush()
	r.begun = true
	name := known(text)
	if name == "" {
		hint := "the headings are " + strings.Join(headings(), ", ")
		if near := nearest(text, headings()); near != "" {
			hint = fmt.Sprintf("write %q", "## "+near)
			name = near
		}
		if level != 1 {
			r.fail("%q is not a heading of a spec; %s", text, hint)
		}
	}
	if at, twice := r.seen[name]; twice && name != "" {
		r.fail("the heading %q occurs twice, first in line %d; put everything below one", name, at)
	} else {
		r.seen[name] = r.line
	}
	r.section = cmp.Or(name, notesTitle)
}

const untitled = `a spec starts with its title: write "# " and the title in the first line`

func (r *reader) title(text string) {
	if r.begun {
		r.fail("the title comes first: put it into the first line")
	}
	if r.spec.Title = strings.Join(strings.Fields(text), " "); text == "" {
		r.fail("the title is empty")
	}
	r.titled, r.begun = true, true
}

// before parses the text before the first heading.
func (r *reader) before(text string) {
	name, v, ok := strings.Cut(strings.Trim(text, "*_"), ":")
	switch depth := Depth(strings.ToLower(strings.Trim(v, " \t*_"))); {
	case ok && strings.EqualFold(strings.TrimSpace(name), "depth") && (depth == Quick || depth == Standard || depth == Deep):
		r.spec.Depth = depth
	case ok && strings.EqualFold(strings.TrimSpace(name), "depth"):
		r.fail("the depth is quick, standard or deep, not %q", v)
	case !r.titled && !r.begun:
		r.fail(untitled)
	case r.titled:
		r.fail("there is text before the first heading; put it below \"## %s\"", problemTitle)
	}
	r.begun = true
}

// entry parses a line of a list.
func (r *reader) entry(line string) {
	text := strings.TrimLeft(line, " \t")
	indent := strings.Count(line[:len(line)-len(text)], "\t")*4 + strings.Count(line[:len(line)-len(text)], " ")
	mark := bullet().FindString(text)
	switch {
	case mark != "" && (indent < 2 || item().MatchString(text) || r.item == nil):
		r.flush()
		r.item = &entryText{line: r.line, text: strings.TrimLeft(text[len(mark):], " \t")}
	case r.item == nil || r.blank && indent < 2:
		r.flush()
		r.item = &entryText{line: r.line, text: text}
		if id := prefix(r.section); id != "" {
			r.fail("%s starts with \"- %s-1: \", and what belongs to it is indented below it", one(r.section), id)
			r.item = nil
		}
	default:
		r.further(line, text)
	}
}

// further parses a line that belongs to the item above it.
func (r *reader) further(line, text string) {
	if name, v, ok := about(text); ok && prefix(r.section) != "" {
		r.item.about = append(r.item.about, aboutLine{r.line, name, v})
		return
	}
	inner := strings.TrimPrefix(line, "  ")
	if inner == line {
		inner = strings.TrimPrefix(strings.TrimPrefix(line, "\t"), " ")
	}
	if rest, ok := strings.CutPrefix(text, `\`); ok && aside(rest) {
		inner = inner[:len(inner)-len(text)] + rest
	}
	r.item.text += "\n" + inner
}

// flush parses the completed item.
func (r *reader) flush() {
	i := r.item
	r.item = nil
	if i == nil {
		return
	}
	i.text = strings.TrimSpace(i.text)
	switch r.section {
	case requireTitle, laterTitle:
		r.requirement(*i)
	case criteriaTitle:
		r.criterion(*i)
	case assumptionTitle:
		r.assumption(*i)
	default:
		if m := box().FindString(i.text); m != "" && m[0] == '\\' {
			i.text = i.text[1:]
		} else {
			i.text = i.text[len(m):]
		}
		if i.text == "" {
			r.failAt(i.line, "this is empty; write a text, or delete the line")
			return
		}
		to := map[string]*[]string{
			answersTitle: &r.spec.Answers, notesTitle: &r.spec.Notes, outTitle: &r.spec.OutOfScope, critiqueTitle: &r.spec.Critique,
		}[r.section]
		*to = append(*to, i.text)
	}
}

// prefix returns the prefix of a section's ids, or "" if its items have none.
func prefix(section string) string {
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

func one(section string) string {
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
	start = pattern.Lazy("(?s)^[_`]*((?i:REQ|AC|A)-(?:[A-Za-z]{2,4}-)?[0-9]{1,9})[_`]*[ \t]*" +
		"(?:\\(([^()\n]*)\\)|\\[([^\\[\\]\n]*)\\])?[ \t]*:[ \t]*(.*)$")
	nearly = pattern.Lazy("^[_`]*((?i:REQ|AC|A))[-_ ]*((?:[A-Za-z]{2,4}-)?[0-9]*)\\b")
)

// begin parses the id of an item, and reports problems with it.
func (r *reader) begin(i entryText) (id, brackets, text string, ok bool) {
	want := prefix(r.section)
	t := i.text
	if m := box().FindString(t); m != "" && m[0] != '\\' {
		t = t[len(m):]
	}
	if rest, bold := strings.CutPrefix(t, "**"); bold {
		t = strings.Replace(rest, "**", "", 1)
	}
	m := start().FindStringSubmatch(t)
	if m == nil {
		r.malformed(i.line, t)
		return "", "", "", false
	}
	id = strings.ToUpper(m[1])
	has, _, _ := strings.Cut(id, "-")
	if has != want {
		r.failAt(i.line, "%s is below %q, whose ids start with %s-; move it below %q", id, r.section, want, home(has))
		return "", "", "", false
	}
	if at, twice := r.ids[id]; twice {
		r.failAt(i.line, "%s is used twice, first in line %d; the next free id is %s", id, at, r.free(want))
	} else {
		r.ids[id] = i.line
	}
	if text = strings.TrimSpace(m[4]); text == "" {
		r.failAt(i.line, "%s is empty; write the text after the colon", id)
	}
	return id, m[2] + m[3], text, true
}

// malformed reports the missing part at the start of an item.
func (r *reader) malformed(line int, text string) {
	want := prefix(r.section)
	first, _, _ := strings.Cut(text, "\n")
	if m := nearly().FindStringSubmatch(text); m != nil && strings.EqualFold(m[1], want) {
		if m[2] != "" {
			r.failAt(line, "%q has no colon after its id; write \"- %s-%s: \" and the text", sanitize.Cut(first, 60), want, strings.ToUpper(m[2]))
		} else {
			r.failAt(line, "%q has no number; the next free id is %s", sanitize.Cut(first, 60), r.free(want))
		}
		return
	}
	r.failAt(line, "%q has no id; write \"- %s: %s\"", sanitize.Cut(first, 60), r.free(want), sanitize.Cut(first, 60))
}

// free returns the lowest id that is higher than all parsed ones.
func (r *reader) free(prefix string) string {
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

func home(prefix string) string {
	switch prefix {
	case "AC":
		return criteriaTitle
	case "A":
		return assumptionTitle
	default:
		return requireTitle
	}
}

// end parses the last lines, and checks the spec as a whole.
func (r *reader) end() {
	r.flush()
	if r.fence != "" {
		r.failAt(r.opened, "a block of code starts here and does not end; write %s below it", r.fence)
	}
	if r.comment > 0 {
		r.failAt(r.comment, "a comment starts here and does not end; write --> where it ends")
	}
	r.spec.Problem = strings.TrimSpace(strings.Join(r.problem, "\n"))
	if !r.titled && !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Text == untitled }) {
		r.failAt(1, untitled)
	}
	for _, f := range r.refs {
		if _, ok := r.ids[f.to]; !ok {
			r.failAt(f.line, "%s names %s, which is not a requirement%s", f.from, f.to, r.instead())
		}
	}
	if len(r.spec.Requirements) == 0 && len(r.problems) == 0 {
		r.failAt(max(r.seen[requireTitle], 1),
			"a spec has at least one requirement: write \"- REQ-1: TEXT\" below \"## %s\"", requireTitle)
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(r.spec.Requirements, func(a, b nexus.Requirement) int { return btoi(a.Later) - btoi(b.Later) })
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// instead names the existing requirements.
func (r *reader) instead() string {
	var ids []string
	for _, q := range r.spec.Requirements[:min(len(r.spec.Requirements), 20)] {
		ids = append(ids, q.ID)
	}
	if len(ids) == 0 {
		return ""
	}
	return "; there are " + strings.Join(ids, ", ")
}
