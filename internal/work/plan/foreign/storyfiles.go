package foreign

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var (
	storyTitle = regexp.MustCompile(`(?i)^(?:\[([ x])\]\s*)?(?:User Story|Story)?\s*` +
		`((?:US|STORY|TASK|T)-?\d+(?:[.-]\d+)*|\d+)\s*(?::|\.|-|\x{2013}|\x{2014})\s+(.*)$`)
	storyWord     = regexp.MustCompile(`(?i)^(?:\[[ x]\]\s*)?(?:User )?Story\b`)
	storyPriority = regexp.MustCompile(`^(.*\S)\s+[\[(](?:Priority: ?)?P\d[\])]$`)
	blankLines    = regexp.MustCompile(`\n{3,}`)
)

// readStories reads stories in Markdown:
//
//	## US-1: title
//	### Description
//	### Acceptance Criteria
//	- [ ] criterion
//	Tags: a, b
//	Dependencies: US-2
//
// The parts may be headings or labels in bold.
func (d *importedPlanDraft) readStories() error {
	text, name, err := d.readMainFile("stories.md", "user-stories.md", "spec.md", "tasks.md")
	if err != nil {
		return err
	}
	s := &storyReader{d: d, file: d.source.displayPath(name)}
	for _, l := range scanMarkdownLines(text) {
		d.remarkOpenQuestions(l, s.file)
		s.readLine(l)
	}
	s.endStory()
	return nil
}

type storyReader struct {
	d         *importedPlanDraft
	file      string
	it        *importItem // the item whose lines are being read
	level     int         // level of its heading
	section   string
	fresh     bool // the next line starts a criterion
	boxes     int  // criteria with a checkbox
	ticked    int  // ticked criteria
	paragraph []string
}

// storyHeading splits a story's heading into its parts.
func storyHeading(title string) (id, rest string, done, ok bool) {
	m := storyTitle.FindStringSubmatch(title)
	if m == nil {
		return "", "", false, false
	}
	if id = m[2]; id[0] >= '0' && id[0] <= '9' {
		if !storyWord.MatchString(title) {
			return "", "", false, false
		}
		id = "US-" + id
	}
	rest = m[3]
	if w := storyPriority.FindStringSubmatch(rest); w != nil {
		rest = w[1]
	}
	return id, rest, strings.EqualFold(m[1], "x"), true
}

func (s *storyReader) readLine(l markdownLine) {
	if level, title, ok := l.parseHeading(); ok {
		s.beginSection(l, level, title)
		return
	}
	if s.it == nil {
		return
	}
	if name, value, ok := l.parseLabel(); ok && l.indent < 4 && s.readLabelledLine(l, name, value) {
		return
	}
	if s.section != "criteria" {
		s.paragraph = append(s.paragraph, l.text)
		return
	}
	s.readCriterionLine(l)
}

// beginSection starts a story or a part of one.
func (s *storyReader) beginSection(l markdownLine, level int, title string) {
	id, rest, done, ok := storyHeading(title)
	switch {
	case ok:
		s.endStory()
		s.it, s.level, s.section = &importItem{importFilePosition: importFilePosition{file: s.file, line: l.no}, name: id}, level, ""
		if s.it.task.Title = rest; done {
			s.it.out, s.it.why = Done, "its box is checked"
		}
	case s.it != nil && level > s.level:
		s.startSection(title)
	default:
		s.endStory()
		if s.d.goal == "" && level == 1 {
			s.d.goal = title
			for _, word := range []string{"Feature:", "PRD:", "User Stories:", "Spec:"} {
				s.d.goal, _ = cutPrefixFold(s.d.goal, word)
			}
		}
	}
}

// startSection starts the part of a story with that title.
func (s *storyReader) startSection(title string) {
	s.endParagraph()
	switch lower := strings.ToLower(strings.Trim(title, ":* ")); {
	case strings.HasPrefix(lower, "acceptance"), lower == "criteria", lower == "done when":
		s.section, s.fresh = "criteria", true
	case lower == "description", lower == "story", lower == "user story":
		s.section = ""
	default:
		s.section = title
		s.paragraph = append(s.paragraph, title+":")
	}
}

// endParagraph adds the lines that were read as a paragraph.
func (s *storyReader) endParagraph() {
	if text := strings.TrimSpace(strings.Join(s.paragraph, "\n")); text != "" && s.it != nil {
		s.it.brief = append(s.it.brief, blankLines.ReplaceAllString(text, "\n\n"))
	}
	s.paragraph = nil
}

// readLabelledLine parses a line such as Tags: a, b, and reports whether it is one.
func (s *storyReader) readLabelledLine(l markdownLine, name, value string) bool {
	at, t := importFilePosition{file: s.file, line: l.no}, &s.it.task
	switch lower := strings.ToLower(name); lower {
	case "tags", "labels":
		t.Tags = append(t.Tags, splitInlineList(value)...)
	case "dependencies", "depends on", "needs", "blocked by":
		for _, w := range splitInlineList(value) {
			w, soft := strings.CutSuffix(w, " (soft)")
			s.it.needs = append(s.it.needs, foreignNeed{importFilePosition: at, name: w, soft: soft})
		}
	case "files":
		t.Files = append(t.Files, splitInlineList(value)...)
	case "group", "epic":
		t.Group = value
	case "kind":
		if t.Kind = nexus.TaskKind(value); !slices.Contains([]nexus.TaskKind{nexus.CodeTask, nexus.TestTask, nexus.DocsTask}, t.Kind) {
			s.d.addProblem(at, "the kind %q of %s is unknown; use one of code, test, docs", value, s.it.name)
		}
	case "complexity":
		if t.Complexity = nexus.Complexity(strings.ToLower(value)); !t.Complexity.IsKnown() {
			s.d.addProblem(at, "the complexity %q of %s is unknown; use one of simple, medium, complex, expert", value, s.it.name)
		}
	case "minutes":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			s.d.addProblem(at, "%q is not a number of minutes; write Minutes: 15", value)
		}
		t.Minutes = max(n, 0)
	case "status":
		storyStatus.apply(s.d, s.it, at, strings.ReplaceAll(strings.Trim(value, "`*_. "), " ", "-"))
	case "priority":
		s.readPriority(at, value)
	case "description":
		s.startSection(name)
		s.paragraph = append(s.paragraph, value)
	default:
		if !strings.HasPrefix(lower, "acceptance") && lower != "done when" {
			return false
		}
		if s.startSection(name); value != "" {
			s.addCriterion(value)
		}
	}
	return true
}

// readPriority parses a priority: a word, or a number by which stories are sorted. In prose any
// text is allowed.
func (s *storyReader) readPriority(at importFilePosition, value string) {
	word := strings.Trim(value, "`*_. ")
	if p, number, ok := parsePriority(word); ok {
		s.it.task.Priority, s.it.rank = p, number
	} else if word != "" {
		s.d.addRemark(Lost, at, s.it.name, "the priority "+value, "it is neither a number nor one of "+nexus.JoinWords(nexus.Priorities()))
	}
}

// readCriterionLine parses a line of the criteria: an item of the list, or another line of the one
// before.
func (s *storyReader) readCriterionLine(l markdownLine) {
	text, done, box := l.parseCheckbox()
	bullet, item := l.parseBullet()
	plain := strings.TrimLeft(l.text, "*_ ")
	switch {
	case l.text == "" || l.text == "---":
		s.fresh = true
	case box:
		if s.boxes++; done {
			s.ticked++
		}
		s.addCriterion(text)
	case l.isMalformedCheckbox():
		s.d.addProblem(importFilePosition{file: s.file, line: l.no}, "the checkbox of this criterion cannot be read; write - [ ] before it, or - [x] if it is met")
	case item && l.indent < 2:
		s.addCriterion(strings.ReplaceAll(bullet, "**", ""))
	case s.fresh || strings.HasPrefix(plain, "Given") || strings.HasPrefix(plain, "Scenario"):
		s.addCriterion(strings.ReplaceAll(l.text, "**", ""))
	case s.it.task.Criteria[len(s.it.task.Criteria)-1].Check != "":
		s.addCriterion(l.text)
	default:
		last := &s.it.task.Criteria[len(s.it.task.Criteria)-1]
		*last = parseCriterion(last.Text + " " + strings.ReplaceAll(cmp.Or(bullet, l.text), "**", ""))
	}
}

func (s *storyReader) addCriterion(text string) {
	s.it.task.Criteria = append(s.it.task.Criteria, parseCriterion(text))
	s.fresh = false
}

// endStory adds the current story.
func (s *storyReader) endStory() {
	if s.it == nil {
		return
	}
	s.endParagraph()
	if s.it.out == "" && s.boxes > 0 && s.boxes == s.ticked {
		s.it.out, s.it.why = Done, "all its criteria are checked"
	}
	s.d.addItem(s.it)
	s.it, s.boxes, s.ticked, s.section = nil, 0, 0, ""
}
