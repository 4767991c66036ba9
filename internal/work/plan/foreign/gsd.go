package foreign

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

var (
	phaseTitle      = pattern.Lazy(`(?i)^\**Phase (\d+(?:\.\d+)*)\**:?\**\s*(.*?)\**$`)
	phaseBox        = pattern.Lazy(`^\**Phase (\d+(?:\.\d+)*)`)
	planBox         = pattern.Lazy(`^\**(\d+(?:\.\d+)*-\d+)`)
	phaseNeeds      = pattern.Lazy(`(?i)Phases? (\d+(?:\.\d+)*)`)
	leadingZeros    = pattern.Lazy(`\b0+(\d)`)
	leadingNumber   = pattern.Lazy(`^(\d+(?:\.\d+)*)`)
	planNumber      = pattern.Lazy(`^(\d+(?:\.\d+)*)-(\d+)$`)
	onlyDigits      = pattern.Lazy(`^\d+$`)
	yamlLine        = pattern.Lazy(`line (\d+)`)
	yamlPrefix      = pattern.Lazy(`^.*line \d+: ?`)
	taskOpen        = pattern.Lazy(`(?m)^[ \t]*<task\b([^>]*)>`)
	taskNumber      = pattern.Lazy(`(?i)^Task \d+[a-z]?(?: \([^)]*\))?:\s*`)
	startsWithDigit = pattern.Lazy(`^\d`)
	planName        = pattern.Lazy(`^(\d+(?:\.\d+)*)-.*?-?(\d+)$`)
)

// gsdPlan is a NN-MM-PLAN.md: some tasks, one after another.
type gsdPlan struct {
	place

	name  string // 1-2: phase and number, without leading zeros
	phase string
	needs []ref
	tasks []*item
	done  string // why it is done; empty if it is open
	title string
}

// gsdPhase is a phase in ROADMAP.md.
type gsdPhase struct {
	place

	number, title string
	needs         []string // numbers of phases
	free          bool     // it states that it needs none
}

// gsdFolder is a .planning folder that is being read.
type gsdFolder struct {
	d      *draft
	plans  []*gsdPlan
	phases []*gsdPhase
	ticked map[string]bool // plans and phases that are done according to the roadmap
	alone  bool            // one plan is read, without the others
}

// readGSD reads a .planning folder: the roadmap and the plans of its phases, or
// one plan alone.
func (d *draft) readGSD(ctx context.Context) error {
	g := &gsdFolder{d: d, ticked: map[string]bool{}}
	if !d.source.isDir() {
		g.alone = true
		g.plan(string(d.source.data), d.source.shown(d.source.file), d.source.file, false)
		g.join()
		return nil
	}
	if d.source.has(".planning") {
		d.source = d.source.below(".planning")
	}
	found, err := d.source.lists("phases/*/*-PLAN.md", "phases/*/PLAN.md")
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b string) int { return compareNumbers(gsdNumber(a), gsdNumber(b)) })
	if len(found) == 0 {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: d.source.name + " has no plan such as phases/01-name/01-01-PLAN.md",
			Hint: "Plan the phases first, or say what you want with nexus plan GOAL.",
		}
	}
	if err := g.roadmap(); err != nil {
		return err
	}
	for _, name := range found {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		text, ok, err := d.source.read(name)
		if err != nil {
			return err
		}
		if ok {
			g.plan(text, d.source.shown(name), name, d.source.has(strings.TrimSuffix(name, "PLAN.md")+"SUMMARY.md"))
		}
	}
	g.join()
	for _, p := range g.phases {
		if !g.ticked[p.number] && !slices.ContainsFunc(g.plans, func(o *gsdPlan) bool { return o.phase == p.number }) {
			d.remark(Lost, p.place, "phase "+p.number, quoteTitle(p.title), "it has no plans yet")
		}
	}
	return nil
}

// roadmap reads ROADMAP.md, and the project's name.
func (g *gsdFolder) roadmap() error {
	for _, name := range []string{"PROJECT.md", "ROADMAP.md"} {
		text, ok, err := g.d.source.read(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		g.roadmapLines(text, g.d.source.shown(name), name == "ROADMAP.md")
	}
	return nil
}

func (g *gsdFolder) roadmapLines(text, file string, roadmap bool) {
	var phase *gsdPhase
	for _, l := range scan(text) {
		if level, title, ok := l.heading(); ok {
			if level == 1 && g.d.goal == "" {
				g.d.goal, _ = cutFold(title, "Roadmap:")
			}
			phase = nil
			if m := phaseTitle().FindStringSubmatch(title); m != nil && roadmap {
				phase = &gsdPhase{place: place{file, l.no}, number: trimZeros(m[1]), title: m[2]}
				g.phases = append(g.phases, phase)
			}
			continue
		}
		if !roadmap {
			continue
		}
		g.tick(l)
		if name, value, ok := l.label(); ok && phase != nil && strings.EqualFold(name, "depends on") {
			for _, m := range phaseNeeds().FindAllStringSubmatch(value, -1) {
				phase.needs = append(phase.needs, trimZeros(m[1]))
			}
			phase.free = len(phase.needs) == 0
		}
	}
}

// tick records plans and phases that are done according to the roadmap.
func (g *gsdFolder) tick(l mdLine) {
	body, done, ok := l.box()
	if !ok || !done {
		return
	}
	for _, p := range []*regexp.Regexp{phaseBox(), planBox()} {
		if m := p.FindStringSubmatch(body); m != nil {
			g.ticked[trimZeros(m[1])] = true
		}
	}
}

// trimZeros drops the leading zeros of each number: 01.2-03 is 1.2-3.
func trimZeros(number string) string {
	return leadingZeros().ReplaceAllString(number, "$1")
}

// gsdNumber returns the number of the plan in a file name, or "".
func gsdNumber(name string) string {
	dir := leadingNumber().FindString(path.Base(path.Dir(name)))
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), "PLAN.md"), "-")
	if base == "" {
		base = "1"
	}
	if m := planNumber().FindStringSubmatch(base); m != nil {
		return trimZeros(base)
	}
	if onlyDigits().MatchString(base) && dir != "" {
		return trimZeros(dir + "-" + base)
	}
	return base
}

// compareNumbers compares names number by number.
func compareNumbers(a, b string) int {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '-' })
	}
	return slices.CompareFunc(split(a), split(b), func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX != nil || errY != nil {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(x, y)
	})
}

// frontMatter contains the fields of the lines between --- at the start of a plan.
type frontMatter struct {
	Phase        string   `yaml:"phase"`
	Plan         string   `yaml:"plan"`
	Type         string   `yaml:"type"`
	DependsOn    []string `yaml:"depends_on"`
	Requirements []string `yaml:"requirements"`
	MustHaves    struct {
		Truths []any `yaml:"truths"`
	} `yaml:"must_haves"`
}

// plan reads one PLAN.md.
func (g *gsdFolder) plan(text, file, name string, summary bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	p := &gsdPlan{place: place{file, 1}, name: gsdNumber(name)}
	p.phase, _, _ = strings.Cut(p.name, "-")
	head, ok := g.head(text, file)
	if !ok {
		return
	}
	number := cmp.Or(path.Base(strings.TrimSuffix(name, "-PLAN.md")), p.name)
	objective, _ := tagged(text, "objective")
	p.title, _, _ = strings.Cut(strings.TrimSpace(objective), "\n")
	if g.plans = append(g.plans, p); summary || g.ticked[p.name] {
		p.done = "its summary is there"
		if !summary {
			p.done = "its box in the roadmap is checked"
		}
		return
	}
	line := lineOf(text, "depends_on")
	for _, need := range head.DependsOn {
		if need = strings.TrimSpace(need); need != "" && !strings.EqualFold(need, "none") {
			p.needs = append(p.needs, ref{place: place{file, line}, name: need})
		}
	}
	g.gsdTasks(p, text, number, head)
	if len(p.tasks) == 0 {
		g.d.remark(Lost, p.place, number, "the plan "+quoteTitle(p.title), "no task in it can be done by an agent")
		return
	}
	g.truths(p, head)
}

// head reads the front matter.
func (g *gsdFolder) head(text, file string) (frontMatter, bool) {
	var head frontMatter
	rest, ok := strings.CutPrefix(text, "---\n")
	front, _, closed := strings.Cut(rest, "\n---")
	if !ok {
		return head, true
	}
	if !closed {
		g.d.wrong(place{file, 1}, "the lines from --- on have no end; close them with ---")
		return head, false
	}
	if err := yaml.Unmarshal([]byte(front), &head); err != nil {
		line := 1
		if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				line = n + 1
			}
		}
		g.d.wrong(place{file, line}, "the lines between --- cannot be read as YAML: %s; correct them",
			strings.Join(strings.Fields(yamlPrefix().ReplaceAllString(err.Error(), "")), " "))
		return head, false
	}
	return head, true
}

// lineOf returns the first line of a text that has a word, or 1.
func lineOf(text, word string) int {
	i := strings.Index(text, word)
	return 1 + strings.Count(text[:max(i, 0)], "\n")
}

// tagged returns the text between <name> and </name>, and the line on which it starts.
func tagged(text, name string) (inner string, line int) {
	for from := 0; ; {
		i := strings.Index(text[from:], "<"+name)
		if i < 0 {
			return "", 0
		}
		start := from + i
		from = start + len(name) + 1
		_, rest, closed := strings.Cut(text[from:], ">")
		if !closed {
			return "", 0
		}
		if text[from] != '>' && text[from] != ' ' {
			continue // another tag, whose name starts the same
		}
		inner, _, ended := strings.Cut(rest, "</"+name+">")
		if !ended {
			return "", 0
		}
		return strings.TrimSpace(inner), strings.Count(text[:start], "\n")
	}
}

// gsdTasks reads the tasks of a plan.
func (g *gsdFolder) gsdTasks(p *gsdPlan, text, number string, head frontMatter) {
	starts := taskOpen().FindAllStringSubmatchIndex(text, -1)
	for i, m := range starts {
		at := place{p.file, 1 + strings.Count(text[:m[0]], "\n") + strings.Count(text[m[0]:m[1]], "\n")}
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		body, _, closed := strings.Cut(text[m[1]:end], "</task>")
		if !closed {
			g.d.wrong(at, "the task has no end; close it with </task>")
			continue
		}
		attributes := text[m[2]:m[3]]
		title, _ := tagged(body, "name")
		if kind := attribute(attributes, "type"); strings.HasPrefix(kind, "checkpoint") {
			g.d.remark(Lost, at, fmt.Sprintf("%s.%d", number, i+1), "the step "+quoteTitle(cmp.Or(title, kind)), "a person does it: "+kind)
			continue
		}
		it := &item{place: at, name: fmt.Sprintf("%s.%d", number, i+1)}
		it.task.Title = taskNumber().ReplaceAllString(title, "")
		g.gsdBody(it, body)
		if attribute(attributes, "tdd") == "true" || head.Type == "tdd" {
			it.task.Strategy = nexus.TDDSimple
		}
		p.tasks = append(p.tasks, it)
	}
	if feature, line := tagged(text, "feature"); len(starts) == 0 && feature != "" {
		it := &item{place: place{p.file, line}, name: number + ".1"}
		it.task.Title, _ = tagged(feature, "name")
		it.task.Strategy = nexus.TDDSimple
		g.gsdBody(it, feature)
		p.tasks = append(p.tasks, it)
	}
	for _, it := range p.tasks {
		it.task.Group = head.Phase
		if len(head.Requirements) > 0 {
			it.brief = append(it.brief, "Requirements: "+strings.Join(head.Requirements, ", "))
		}
	}
}

// attribute returns the value of an attribute of a tag.
func attribute(text, name string) string {
	_, rest, found := strings.Cut(text, name+"=")
	if !found || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	value, _, _ := strings.Cut(rest[1:], rest[:1])
	return value
}

// gsdBody parses the contents of a task.
func (g *gsdFolder) gsdBody(it *item, body string) {
	t := &it.task
	for _, name := range []string{"action", "behavior", "implementation"} {
		text, _ := tagged(body, name)
		it.brief = append(it.brief, html.UnescapeString(text))
	}
	if files, _ := tagged(body, "files"); files != "" {
		t.Files = gsdFiles(files)
	}
	if first, _ := tagged(body, "read_first"); first != "" {
		it.brief = append(it.brief, "Read first: "+strings.Join(gsdFiles(first), ", "))
	}
	verify, line := tagged(body, "verify")
	command, _ := tagged(verify, "automated")
	command = html.UnescapeString(command)
	const longest = 500
	switch {
	case command != "" && !strings.Contains(command, "\n") && len(command) <= longest && shell.CheckSyntax(command) == nil &&
		!strings.HasPrefix(command, "MISSING"):
		t.Criteria = append(t.Criteria, nexus.Criterion{Text: "`" + command + "` exits 0", Check: command})
	case command != "":
		t.Criteria = append(t.Criteria, checked(strings.Join(strings.Fields(command), " ")))
		g.d.remark(Changed, place{it.file, it.line + line}, it.name, "its verify command is a criterion in words",
			"it is not a line that sh can read")
	case verify != "":
		t.Criteria = append(t.Criteria, checked(strings.Join(strings.Fields(html.UnescapeString(verify)), " ")))
	}
	accepted, _ := tagged(body, "acceptance_criteria")
	for _, l := range scan(accepted) {
		if text, _, ok := l.box(); ok {
			t.Criteria = append(t.Criteria, checked(text))
		} else if text, ok := l.bullet(); ok {
			t.Criteria = append(t.Criteria, checked(html.UnescapeString(text)))
		}
	}
	if done, _ := tagged(body, "done"); done != "" {
		t.Criteria = append(t.Criteria, checked(strings.Join(strings.Fields(html.UnescapeString(done)), " ")))
	}
}

// gsdFiles splits a list of files: by commas or lines, without texts in brackets.
func gsdFiles(text string) []string {
	var out []string
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		f, _, _ = strings.Cut(strings.TrimLeft(strings.TrimSpace(f), "-*@ "), " (")
		if f = strings.Trim(strings.TrimSpace(f), "`\""); f != "" && !strings.EqualFold(f, "none") && !strings.ContainsAny(f, " \t") {
			out = append(out, f)
		}
	}
	return out
}

// truths makes criteria of the last task from the conditions that must be true after a plan,
// as many as are allowed.
func (g *gsdFolder) truths(p *gsdPlan, head frontMatter) {
	it := p.tasks[len(p.tasks)-1]
	size := utf8.RuneCountInString(strings.Join(it.brief, "\n\n"))
	for _, c := range it.task.Criteria {
		size += utf8.RuneCountInString(c.Text)
	}
	lost := 0
	for _, truth := range head.MustHaves.Truths {
		text := strings.TrimSpace(fmt.Sprint(truth))
		if size += utf8.RuneCountInString(text); len(it.task.Criteria)+1 >= g.d.most.Criteria || size > g.d.most.Characters {
			lost++
			continue
		}
		it.task.Criteria = append(it.task.Criteria, nexus.Criterion{Text: text})
	}
	if lost > 0 {
		g.d.remark(Lost, p.place, it.name, fmt.Sprintf("%d of what must be true after the plan", lost),
			"its last task has no room for more criteria")
	}
}
