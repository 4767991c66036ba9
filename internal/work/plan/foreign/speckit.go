package foreign

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var (
	phaseNoise    = regexp.MustCompile(`\p{So}\x{fe0f}?|\(Priority: ?P\d\)`)
	specBrokenBox = regexp.MustCompile(`^[-*+]?\s*\[[^\]]*\]\s*\**T\d`)
	specNoBox     = regexp.MustCompile(`^[-*+] \**T\d+[a-z]?\**:? +\[(?:P|US ?\d+)\]`)
	specTask      = regexp.MustCompile(`^\**(T\d+[A-Za-z]?)\**[:.]?\**\s+(.*)$`)
	specMark      = regexp.MustCompile(`^\[(P|US ?\d+|Story ?\d+)\]\s*(.*)$`)
	barePhase     = regexp.MustCompile(`^Phase \d+$`)
	dependsOn     = regexp.MustCompile(`(?i)depends on:?\**:?\s+((?:T\d+[a-z]?(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*|\s*\+\s*)?)+)`)
	specID        = regexp.MustCompile(`T\d+[A-Za-z]?`)
	clarification = regexp.MustCompile(`\[NEEDS CLARIFICATION:?\s*([^\]]*)\]`)
	userStory     = regexp.MustCompile(`(?i)^User Story (\d+)`)
	requirementID = regexp.MustCompile(`^\**((?:FR|SC|NFR)-\d+)\**:`)
)

// readSpecKit reads the tasks.md of a feature, and the additions in spec.md next to it.
func (d *importedPlanDraft) readSpecKit() error {
	text, name, err := d.readMainFile("tasks.md")
	if err != nil {
		return err
	}
	c := &taskChecklistReader{d: d, file: d.source.displayPath(name)}
	c.readTasks(text)
	c.addPhaseNeeds()
	d.goal = c.title
	if name != "spec.md" {
		if err := d.readSpec(c); err != nil {
			return err
		}
	}
	return nil
}

// taskChecklistReader parses tasks that are lines with a checkbox, in phases.
type taskChecklistReader struct {
	d        *importedPlanDraft
	file     string
	title    string                 // title of the document
	phase    string                 // the current phase
	fresh    bool                   // a heading ended the tasks that may run in parallel
	current  *importItem            // the task whose lines are being read
	indent   int                    // indentation of its line
	parallel bool                   // whether it may run in parallel to those before it
	groups   [][]*importItem        // open tasks that may run in parallel, one group after another
	stories  map[string]*importItem // the last open task of each user story
	count    int                    // number of tasks
}

func (c *taskChecklistReader) readTasks(text string) {
	c.stories = map[string]*importItem{}
	for _, l := range scanMarkdownLines(text) {
		at := importFilePosition{file: c.file, line: l.no}
		c.d.remarkOpenQuestions(l, c.file)
		if level, title, ok := l.parseHeading(); ok {
			c.current, c.fresh = nil, true
			switch rest, isTitle := cutPrefixFold(title, "Tasks:"); {
			case level == 1 && c.title == "":
				c.title = title
				if isTitle {
					c.title = rest
				}
			case level <= 2:
				c.phase = strings.Join(strings.Fields(phaseNoise.ReplaceAllString(title, "")), " ")
			}
			continue
		}
		body, done, ok := l.parseCheckbox()
		id, rest, named := cutTaskID(body)
		switch {
		case ok && named:
			c.addTask(at, id, rest, done)
			c.indent = l.indent
		case l.isMalformedCheckbox() && specBrokenBox.MatchString(l.text):
			c.d.addProblem(at, "the checkbox of this task cannot be read; write - [ ] before a task to do, or - [x] before one that is done")
		case specNoBox.MatchString(l.text) && !l.code:
			c.d.addProblem(at, "this task has no checkbox; write - [ ] before its id")
		case c.current != nil && (l.indent > c.indent || l.text == ""):
			c.readTaskDetail(l)
		case ok && c.count > 0 && c.phase != "":
			c.current = nil
			c.d.addRemark(Lost, at, "", "the line "+quoteTitle(body), "it has no id such as T014, so it is not a task")
		default:
			c.current = nil
		}
	}
}

// cutTaskID cuts the ID off the text of a task.
func cutTaskID(text string) (id, rest string, ok bool) {
	m := specTask.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// addTask adds a task: its marks, its files and its dependencies.
func (c *taskChecklistReader) addTask(at importFilePosition, id, text string, done bool) {
	it := &importItem{importFilePosition: at, name: id}
	parallel, story := false, ""
	for {
		m := specMark.FindStringSubmatch(text)
		if m == nil {
			break
		}
		if text = m[2]; m[1] == "P" {
			parallel = true
		} else {
			story = strings.ReplaceAll(m[1], " ", "")
		}
	}
	it.task.Title, it.task.Group = text, c.phase
	if barePhase.MatchString(c.phase) {
		it.task.Group = ""
	}
	if story != "" {
		it.task.Tags = []string{story}
	}
	it.task.Files = namedPaths(text)
	c.addNamedNeeds(it, text, at)
	c.count++
	c.d.addItem(it)
	c.current = it
	if done {
		it.out, it.why = Done, "its box is checked"
		return
	}
	last := len(c.groups) - 1
	if !parallel || !c.parallel || c.fresh || last < 0 {
		c.groups = append(c.groups, nil)
		last++
	}
	c.groups[last] = append(c.groups[last], it)
	c.parallel, c.fresh = parallel, false
	if story != "" {
		c.stories[story] = it
	}
}

// addNamedNeeds parses the needs that a sentence names.
func (c *taskChecklistReader) addNamedNeeds(it *importItem, text string, at importFilePosition) {
	for _, m := range dependsOn.FindAllStringSubmatch(text, -1) {
		for _, id := range specID.FindAllString(m[1], -1) {
			it.needs = append(it.needs, foreignNeed{importFilePosition: at, name: id})
		}
	}
}

// readTaskDetail adds a line below a task.
func (c *taskChecklistReader) readTaskDetail(l markdownLine) {
	it := c.current
	if bullet, ok := l.parseBullet(); ok {
		if said, found := cutPrefixFold(bullet, "Done when:"); found {
			it.task.Criteria = append(it.task.Criteria, parseCriterion(said))
			return
		}
		if said, found := cutPrefixFold(bullet, "Files:"); found {
			it.task.Files = splitInlineList(said)
			return
		}
	}
	c.addNamedNeeds(it, l.text, importFilePosition{file: c.file, line: l.no})
	if len(it.task.Files) == 0 {
		it.task.Files = namedPaths(l.text)
	}
	if len(it.brief) == 0 {
		it.brief = []string{""}
	}
	it.brief[0] = strings.TrimLeft(it.brief[0]+"\n"+l.text, "\n")
}

// addPhaseNeeds makes each group of tasks wait for the one before it: phases wait for each other,
// and so do tasks without the mark [P].
func (c *taskChecklistReader) addPhaseNeeds() {
	for i, group := range c.groups[min(1, len(c.groups)):] {
		c.d.addGroupNeeds(c.groups[i], group)
	}
	if len(c.groups) > 1 {
		c.d.addRemark(Changed, importFilePosition{file: c.file, line: 1}, "", "the order of the tasks became needs",
			"a phase waits for the one before it, and in it only tasks with [P] run at once")
	}
}

// remarkOpenQuestions adds remarks about the open questions in a line.
func (d *importedPlanDraft) remarkOpenQuestions(l markdownLine, file string) {
	for _, m := range clarification.FindAllStringSubmatch(l.text, -1) {
		d.addRemark(Question, importFilePosition{file: file, line: l.no}, "", cmp.Or(strings.TrimSpace(m[1]), legibleLine(l.text)),
			"it needs clarification; answer it in the file")
	}
}

func legibleLine(text string) string { return quoteTitle(strings.Join(strings.Fields(text), " ")) }

// readSpec reads the additions in spec.md and plan.md: the title, open questions, and the
// scenarios of each story, which are criteria of its last task.
func (d *importedPlanDraft) readSpec(c *taskChecklistReader) error {
	for _, name := range []string{"spec.md", "plan.md"} {
		text, ok, err := d.source.readFile(name)
		if err != nil {
			return err
		}
		if ok {
			s := &specKitDocumentReader{d: d, c: c, file: d.source.displayPath(name), spec: name == "spec.md"}
			s.readScenarios(text)
		}
	}
	return nil
}

type specKitDocumentReader struct {
	d            *importedPlanDraft
	c            *taskChecklistReader
	file         string
	spec         bool   // spec.md, not plan.md
	story        string // US1, whose lines are being read
	scenarios    bool   // scenarios are being read
	requirements []string
	at           importFilePosition // position of the first of them
}

func (s *specKitDocumentReader) readScenarios(text string) {
	for _, l := range scanMarkdownLines(text) {
		s.d.remarkOpenQuestions(l, s.file)
		if !s.spec {
			continue
		}
		if level, title, ok := l.parseHeading(); ok {
			s.scenarios = false
			if rest, found := cutPrefixFold(title, "Feature Specification:"); found && level == 1 && !strings.HasPrefix(rest, "[") {
				s.d.goal = rest
			}
			if m := userStory.FindStringSubmatch(title); m != nil {
				s.story = "US" + m[1]
			} else if level <= 3 {
				s.story = ""
			}
			continue
		}
		if name, _, ok := l.parseLabel(); ok {
			s.scenarios = strings.EqualFold(name, "Acceptance Scenarios")
		}
		bullet, ok := l.parseBullet()
		switch m := requirementID.FindStringSubmatch(bullet); {
		case ok && m != nil:
			if s.at.file == "" {
				s.at = importFilePosition{file: s.file, line: l.no}
			}
			s.requirements = append(s.requirements, m[1])
		case ok && s.scenarios && s.story != "":
			s.addScenarioCriterion(strings.ReplaceAll(bullet, "**", ""), importFilePosition{file: s.file, line: l.no})
		}
	}
	if n := len(s.requirements); n > 0 {
		s.d.addRemark(Lost, s.at, "", "the requirements "+joinFirst(s.requirements, 3), "they are not linked to tasks; agents can read "+s.file)
	}
}

// addScenarioCriterion makes a criterion of a scenario, if the last task of the story may have more.
func (s *specKitDocumentReader) addScenarioCriterion(text string, at importFilePosition) {
	it := s.c.stories[s.story]
	if it == nil {
		return // the story is done, or has no tasks
	}
	size := utf8.RuneCountInString(strings.Join(it.brief, "")+it.task.Title+text) + len(it.task.Title)
	for _, k := range it.task.Criteria {
		size += utf8.RuneCountInString(k.Text)
	}
	if len(it.task.Criteria)+1 >= s.d.most.Criteria || size > s.d.most.Characters {
		s.d.addRemark(Lost, at, s.story, "the scenario "+quoteTitle(text),
			fmt.Sprintf("the story's last task, %s, has no room for it", it.name))
		return
	}
	it.task.Criteria = append(it.task.Criteria, nexus.Criterion{Text: text})
}
