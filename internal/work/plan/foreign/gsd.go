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
	"github.com/nexus-ai-builder/nexus/internal/nexus/frontmatter"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

var (
	phaseTitle      = pattern.LazyRegexp(`(?i)^\**Phase (\d+(?:\.\d+)*)\**:?\**\s*(.*?)\**$`)
	phaseBox        = pattern.LazyRegexp(`^\**Phase (\d+(?:\.\d+)*)`)
	planBox         = pattern.LazyRegexp(`^\**(\d+(?:\.\d+)*-\d+)`)
	phaseNeeds      = pattern.LazyRegexp(`(?i)Phases? (\d+(?:\.\d+)*)`)
	leadingZeros    = pattern.LazyRegexp(`\b0+(\d)`)
	leadingNumber   = pattern.LazyRegexp(`^(\d+(?:\.\d+)*)`)
	planNumber      = pattern.LazyRegexp(`^(\d+(?:\.\d+)*)-(\d+)$`)
	onlyDigits      = pattern.LazyRegexp(`^\d+$`)
	yamlLine        = pattern.LazyRegexp(`line (\d+)`)
	yamlPrefix      = pattern.LazyRegexp(`^.*line \d+: ?`)
	taskOpen        = pattern.LazyRegexp(`(?m)^[ \t]*<task\b([^>]*)>`)
	taskNumber      = pattern.LazyRegexp(`(?i)^Task \d+[a-z]?(?: \([^)]*\))?:\s*`)
	startsWithDigit = pattern.LazyRegexp(`^\d`)
	planName        = pattern.LazyRegexp(`^(\d+(?:\.\d+)*)-.*?-?(\d+)$`)
)

// gsdPlan is a NN-MM-PLAN.md: some tasks, one after another.
type gsdPlan struct {
	filePosition

	name  string // 1-2: phase and number, without leading zeros
	phase string
	needs []needReference
	tasks []*importItem
	done  string // why it is done; empty if it is open
	title string
}

// gsdPhase is a phase in ROADMAP.md.
type gsdPhase struct {
	filePosition

	number, title string
	needs         []string // numbers of phases
	free          bool     // it states that it needs none
}

// gsdFolder is a .planning folder that is being read.
type gsdFolder struct {
	d      *planDraft
	plans  []*gsdPlan
	phases []*gsdPhase
	ticked map[string]bool // plans and phases that are done according to the roadmap
	alone  bool            // one plan is read, without the others
}

// readGSD reads a .planning folder: the roadmap and the plans of its phases, or
// one plan alone.
func (d *planDraft) readGSD(ctx context.Context) error {
	g := &gsdFolder{d: d, ticked: map[string]bool{}}
	if !d.source.isDir() {
		g.alone = true
		g.readPlanFile(string(d.source.data), d.source.displayPath(d.source.file), d.source.file, false)
		g.addTaskNeeds()
		return nil
	}
	if d.source.has(".planning") {
		d.source = d.source.subfolder(".planning")
	}
	found, err := d.source.listPatterns("phases/*/*-PLAN.md", "phases/*/PLAN.md")
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b string) int { return compareNumbers(gsdPlanName(a), gsdPlanName(b)) })
	if len(found) == 0 {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: d.source.name + " has no plan such as phases/01-name/01-01-PLAN.md",
			Hint: "Plan the phases first, or say what you want with nexus plan GOAL.",
		}
	}
	if err := g.readRoadmap(); err != nil {
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
			g.readPlanFile(text, d.source.displayPath(name), name, d.source.has(strings.TrimSuffix(name, "PLAN.md")+"SUMMARY.md"))
		}
	}
	g.addTaskNeeds()
	for _, p := range g.phases {
		if !g.ticked[p.number] && !slices.ContainsFunc(g.plans, func(o *gsdPlan) bool { return o.phase == p.number }) {
			d.addRemark(Lost, p.filePosition, "phase "+p.number, quoteTitle(p.title), "it has no plans yet")
		}
	}
	return nil
}

// readRoadmap reads ROADMAP.md, and the project's name.
func (g *gsdFolder) readRoadmap() error {
	for _, name := range []string{"PROJECT.md", "ROADMAP.md"} {
		text, ok, err := g.d.source.read(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		g.readRoadmapLines(text, g.d.source.displayPath(name), name == "ROADMAP.md")
	}
	return nil
}

func (g *gsdFolder) readRoadmapLines(text, file string, roadmap bool) {
	var phase *gsdPhase
	for _, l := range scanMarkdownLines(text) {
		if level, title, ok := l.parseHeading(); ok {
			if level == 1 && g.d.goal == "" {
				g.d.goal, _ = cutPrefixFold(title, "Roadmap:")
			}
			phase = nil
			if m := phaseTitle().FindStringSubmatch(title); m != nil && roadmap {
				phase = &gsdPhase{filePosition: filePosition{file, l.no}, number: trimZeros(m[1]), title: m[2]}
				g.phases = append(g.phases, phase)
			}
			continue
		}
		if !roadmap {
			continue
		}
		g.recordTickedBox(l)
		if name, value, ok := l.parseLabel(); ok && phase != nil && strings.EqualFold(name, "depends on") {
			for _, m := range phaseNeeds().FindAllStringSubmatch(value, -1) {
				phase.needs = append(phase.needs, trimZeros(m[1]))
			}
			phase.free = len(phase.needs) == 0
		}
	}
}

// recordTickedBox records plans and phases that are done according to the roadmap.
func (g *gsdFolder) recordTickedBox(l mdLine) {
	body, done, ok := l.parseCheckbox()
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

// gsdPlanName returns the number of the plan in a file name, or "".
func gsdPlanName(name string) string {
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

// readPlanFile reads one PLAN.md.
func (g *gsdFolder) readPlanFile(text, file, name string, summary bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	p := &gsdPlan{filePosition: filePosition{file, 1}, name: gsdPlanName(name)}
	p.phase, _, _ = strings.Cut(p.name, "-")
	head, ok := g.parseFrontMatter(text, file)
	if !ok {
		return
	}
	number := cmp.Or(path.Base(strings.TrimSuffix(name, "-PLAN.md")), p.name)
	objective, _ := tagContent(text, "objective")
	p.title, _, _ = strings.Cut(strings.TrimSpace(objective), "\n")
	if g.plans = append(g.plans, p); summary || g.ticked[p.name] {
		p.done = "its summary is there"
		if !summary {
			p.done = "its box in the roadmap is checked"
		}
		return
	}
	line := firstLineWith(text, "depends_on")
	for _, need := range head.DependsOn {
		if need = strings.TrimSpace(need); need != "" && !strings.EqualFold(need, "none") {
			p.needs = append(p.needs, needReference{filePosition: filePosition{file, line}, name: need})
		}
	}
	g.readTasks(p, text, number, head)
	if len(p.tasks) == 0 {
		g.d.addRemark(Lost, p.filePosition, number, "the plan "+quoteTitle(p.title), "no task in it can be done by an agent")
		return
	}
	g.addTruthCriteria(p, head)
}

// parseFrontMatter reads the front matter.
func (g *gsdFolder) parseFrontMatter(text, file string) (frontMatter, bool) {
	var head frontMatter
	d := frontmatter.Split(text)
	if !d.HasHead {
		return head, true
	}
	if !d.Closed {
		g.d.addProblem(filePosition{file, 1}, "the lines from --- on have no end; close them with ---")
		return head, false
	}
	if err := yaml.Unmarshal([]byte(d.Head), &head); err != nil {
		line := 1
		if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				line = n + 1
			}
		}
		g.d.addProblem(filePosition{file, line}, "the lines between --- cannot be read as YAML: %s; correct them",
			strings.Join(strings.Fields(yamlPrefix().ReplaceAllString(err.Error(), "")), " "))
		return head, false
	}
	return head, true
}

// firstLineWith returns the first line of a text that has a word, or 1.
func firstLineWith(text, word string) int {
	i := strings.Index(text, word)
	return 1 + strings.Count(text[:max(i, 0)], "\n")
}

// tagContent returns the text between <name> and </name>, and the line on which it starts.
func tagContent(text, name string) (inner string, line int) {
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

// readTasks reads the tasks of a plan.
func (g *gsdFolder) readTasks(p *gsdPlan, text, number string, head frontMatter) {
	starts := taskOpen().FindAllStringSubmatchIndex(text, -1)
	for i, m := range starts {
		at := filePosition{p.file, 1 + strings.Count(text[:m[0]], "\n") + strings.Count(text[m[0]:m[1]], "\n")}
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		body, _, closed := strings.Cut(text[m[1]:end], "</task>")
		if !closed {
			g.d.addProblem(at, "the task has no end; close it with </task>")
			continue
		}
		attributes := text[m[2]:m[3]]
		title, _ := tagContent(body, "name")
		if kind := tagAttribute(attributes, "type"); strings.HasPrefix(kind, "checkpoint") {
			g.d.addRemark(Lost, at, fmt.Sprintf("%s.%d", number, i+1), "the step "+quoteTitle(cmp.Or(title, kind)), "a person does it: "+kind)
			continue
		}
		it := &importItem{filePosition: at, name: fmt.Sprintf("%s.%d", number, i+1)}
		it.task.Title = taskNumber().ReplaceAllString(title, "")
		g.parseTaskBody(it, body)
		if tagAttribute(attributes, "tdd") == "true" || head.Type == "tdd" {
			it.task.Strategy = nexus.TDDSimple
		}
		p.tasks = append(p.tasks, it)
	}
	if feature, line := tagContent(text, "feature"); len(starts) == 0 && feature != "" {
		it := &importItem{filePosition: filePosition{p.file, line}, name: number + ".1"}
		it.task.Title, _ = tagContent(feature, "name")
		it.task.Strategy = nexus.TDDSimple
		g.parseTaskBody(it, feature)
		p.tasks = append(p.tasks, it)
	}
	for _, it := range p.tasks {
		it.task.Group = head.Phase
		if len(head.Requirements) > 0 {
			it.brief = append(it.brief, "Requirements: "+strings.Join(head.Requirements, ", "))
		}
	}
}

// tagAttribute returns the value of an attribute of a tag.
func tagAttribute(text, name string) string {
	_, rest, found := strings.Cut(text, name+"=")
	if !found || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	value, _, _ := strings.Cut(rest[1:], rest[:1])
	return value
}

// parseTaskBody parses the contents of a task.
func (g *gsdFolder) parseTaskBody(it *importItem, body string) {
	t := &it.task
	for _, name := range []string{"action", "behavior", "implementation"} {
		text, _ := tagContent(body, name)
		it.brief = append(it.brief, html.UnescapeString(text))
	}
	if files, _ := tagContent(body, "files"); files != "" {
		t.Files = splitFileList(files)
	}
	if first, _ := tagContent(body, "read_first"); first != "" {
		it.brief = append(it.brief, "Read first: "+strings.Join(splitFileList(first), ", "))
	}
	verify, line := tagContent(body, "verify")
	command, _ := tagContent(verify, "automated")
	command = html.UnescapeString(command)
	const longest = 500
	switch {
	case command != "" && !strings.Contains(command, "\n") && len(command) <= longest && shell.CheckSyntax(command) == nil &&
		!strings.HasPrefix(command, "MISSING"):
		t.Criteria = append(t.Criteria, nexus.Criterion{Text: "`" + command + "` exits 0", Check: command})
	case command != "":
		t.Criteria = append(t.Criteria, parseCriterion(strings.Join(strings.Fields(command), " ")))
		g.d.addRemark(Changed, filePosition{it.file, it.line + line}, it.name, "its verify command is a criterion in words",
			"it is not a line that sh can read")
	case verify != "":
		t.Criteria = append(t.Criteria, parseCriterion(strings.Join(strings.Fields(html.UnescapeString(verify)), " ")))
	}
	accepted, _ := tagContent(body, "acceptance_criteria")
	for _, l := range scanMarkdownLines(accepted) {
		if text, _, ok := l.parseCheckbox(); ok {
			t.Criteria = append(t.Criteria, parseCriterion(text))
		} else if text, ok := l.parseBullet(); ok {
			t.Criteria = append(t.Criteria, parseCriterion(html.UnescapeString(text)))
		}
	}
	if done, _ := tagContent(body, "done"); done != "" {
		t.Criteria = append(t.Criteria, parseCriterion(strings.Join(strings.Fields(html.UnescapeString(done)), " ")))
	}
}

// splitFileList splits a list of files: by commas or lines, without texts in brackets.
func splitFileList(text string) []string {
	var out []string
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		f, _, _ = strings.Cut(strings.TrimLeft(strings.TrimSpace(f), "-*@ "), " (")
		if f = strings.Trim(strings.TrimSpace(f), "`\""); f != "" && !strings.EqualFold(f, "none") && !strings.ContainsAny(f, " \t") {
			out = append(out, f)
		}
	}
	return out
}

// addTruthCriteria makes criteria of the last task from the conditions that must be true after a plan,
// as many as are allowed.
func (g *gsdFolder) addTruthCriteria(p *gsdPlan, head frontMatter) {
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
		g.d.addRemark(Lost, p.filePosition, it.name, fmt.Sprintf("%d of what must be true after the plan", lost),
			"its last task has no room for more criteria")
	}
}
