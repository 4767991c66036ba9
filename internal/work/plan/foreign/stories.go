package foreign

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

var (
	storyTitle = pattern.Lazy(`(?i)^(?:\[([ x])\]\s*)?(?:User Story|Story)?\s*` +
		`((?:US|STORY|TASK|T)-?\d+(?:[.-]\d+)*|\d+)\s*(?::|\.|-|\x{2013}|\x{2014})\s+(.*)$`)
	storyWord     = pattern.Lazy(`(?i)^(?:\[[ x]\]\s*)?(?:User )?Story\b`)
	storyPriority = pattern.Lazy(`^(.*\S)\s+[\[(](?:Priority: ?)?P\d[\])]$`)
	blankLines    = pattern.Lazy(`\n{3,}`)
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
func (d *draft) readStories() error {
	text, name, err := d.main("stories.md", "user-stories.md", "spec.md", "tasks.md")
	if err != nil {
		return err
	}
	s := &stories{d: d, file: d.source.shown(name)}
	for _, l := range scan(text) {
		d.questions(l, s.file)
		s.line(l)
	}
	s.end()
	return nil
}

type stories struct {
	d         *draft
	file      string
	it        *item // the item whose lines are being read
	level     int   // level of its heading
	section   string
	fresh     bool // the next line starts a criterion
	boxes     int  // criteria with a checkbox
	ticked    int  // ticked criteria
	paragraph []string
}

// storyHeading splits a story's heading into its parts.
func storyHeading(title string) (id, rest string, done, ok bool) {
	m := storyTitle().FindStringSubmatch(title)
	if m == nil {
		return "", "", false, false
	}
	if id = m[2]; id[0] >= '0' && id[0] <= '9' {
		if !storyWord().MatchString(title) {
			return "", "", false, false
		}
		id = "US-" + id
	}
	rest = m[3]
	if w := storyPriority().FindStringSubmatch(rest); w != nil {
		rest = w[1]
	}
	return id, rest, strings.EqualFold(m[1], "x"), true
}

func (s *stories) line(l mdLine) {
	if level, title, ok := l.heading(); ok {
		s.head(l, level, title)
		return
	}
	if s.it == nil {
		return
	}
	if name, value, ok := l.label(); ok && l.indent < 4 && s.labelled(l, name, value) {
		return
	}
	if s.section != "criteria" {
		s.paragraph = append(s.paragraph, l.text)
		return
	}
	s.criterion(l)
}

// head starts a story or a part of one.
func (s *stories) head(l mdLine, level int, title string) {
	id, rest, done, ok := storyHeading(title)
	switch {
	case ok:
		s.end()
		s.it, s.level, s.section = &item{place: place{s.file, l.no}, name: id}, level, ""
		if s.it.task.Title = rest; done {
			s.it.out, s.it.why = Done, "its box is checked"
		}
	case s.it != nil && level > s.level:
		s.open(title)
	default:
		s.end()
		if s.d.goal == "" && level == 1 {
			s.d.goal = title
			for _, word := range []string{"Feature:", "PRD:", "User Stories:", "Spec:"} {
				s.d.goal, _ = cutFold(s.d.goal, word)
			}
		}
	}
}

// open starts the part of a story with that title.
func (s *stories) open(title string) {
	s.flush()
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

// flush adds the lines that were read as a paragraph.
func (s *stories) flush() {
	if text := strings.TrimSpace(strings.Join(s.paragraph, "\n")); text != "" && s.it != nil {
		s.it.brief = append(s.it.brief, blankLines().ReplaceAllString(text, "\n\n"))
	}
	s.paragraph = nil
}

// labelled parses a line such as Tags: a, b, and reports whether it is one.
func (s *stories) labelled(l mdLine, name, value string) bool {
	at, t := place{s.file, l.no}, &s.it.task
	switch lower := strings.ToLower(name); lower {
	case "tags", "labels":
		t.Tags = append(t.Tags, words(value)...)
	case "dependencies", "depends on", "needs", "blocked by":
		for _, w := range words(value) {
			w, soft := strings.CutSuffix(w, " (soft)")
			s.it.needs = append(s.it.needs, ref{place: at, name: w, soft: soft})
		}
	case "files":
		t.Files = append(t.Files, words(value)...)
	case "group", "epic":
		t.Group = value
	case "kind":
		if t.Kind = nexus.TaskKind(value); !slices.Contains([]nexus.TaskKind{nexus.CodeTask, nexus.TestTask, nexus.DocsTask}, t.Kind) {
			s.d.wrong(at, "the kind %q of %s is unknown; use one of code, test, docs", value, s.it.name)
		}
	case "complexity":
		if t.Complexity = nexus.Complexity(strings.ToLower(value)); !t.Complexity.Known() {
			s.d.wrong(at, "the complexity %q of %s is unknown; use one of simple, medium, complex, expert", value, s.it.name)
		}
	case "minutes":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			s.d.wrong(at, "%q is not a number of minutes; write Minutes: 15", value)
		}
		t.Minutes = max(n, 0)
	case "status":
		s.status(at, value)
	case "priority":
		s.priority(at, value)
	case "description":
		s.open(name)
		s.paragraph = append(s.paragraph, value)
	default:
		if !strings.HasPrefix(lower, "acceptance") && lower != "done when" {
			return false
		}
		if s.open(name); value != "" {
			s.add(value)
		}
	}
	return true
}

// priority parses a priority: a word, or a number by which stories are sorted. In prose any
// text is allowed.
func (s *stories) priority(at place, value string) {
	word := strings.Trim(value, "`*_. ")
	if p, ok := rated(word); ok {
		s.it.task.Priority = p
	} else if word != "" && !s.it.ranked(word) {
		s.d.remark(Lost, at, s.it.name, "the priority "+value, "it is neither a number nor one of "+nexus.Join(nexus.Priorities()))
	}
}

func (s *stories) status(at place, value string) {
	switch word := strings.ReplaceAll(strings.ToLower(strings.Trim(value, "`*_. ")), " ", "-"); word {
	case "done", "completed", "complete", "passed", "implemented":
		s.it.out, s.it.why = Done, "its status is "+word
	case "skipped", "cancelled", "deferred":
		s.it.out, s.it.why = Lost, "its status is "+word
	case "", "pending", "todo", "open", "draft", "not-started", "ready":
	case "in-progress", "failed", "blocked", "paused":
		s.d.remark(Changed, at, s.it.name, "the status "+word, "it starts from the beginning")
	default:
		s.d.wrong(at, "the status %q of %s is unknown; use one of pending, in-progress, done, skipped", value, s.it.name)
	}
}

// criterion parses a line of the criteria: an item of the list, or another line of the one
// before.
func (s *stories) criterion(l mdLine) {
	text, done, box := l.box()
	bullet, item := l.bullet()
	plain := strings.TrimLeft(l.text, "*_ ")
	switch {
	case l.text == "" || l.text == "---":
		s.fresh = true
	case box:
		if s.boxes++; done {
			s.ticked++
		}
		s.add(text)
	case l.almostBox():
		s.d.wrong(place{s.file, l.no}, "the checkbox of this criterion cannot be read; write - [ ] before it, or - [x] if it is met")
	case item && l.indent < 2:
		s.add(strings.ReplaceAll(bullet, "**", ""))
	case s.fresh || strings.HasPrefix(plain, "Given") || strings.HasPrefix(plain, "Scenario"):
		s.add(strings.ReplaceAll(l.text, "**", ""))
	case s.it.task.Criteria[len(s.it.task.Criteria)-1].Check != "":
		s.add(l.text)
	default:
		last := &s.it.task.Criteria[len(s.it.task.Criteria)-1]
		*last = checked(last.Text + " " + strings.ReplaceAll(cmp.Or(bullet, l.text), "**", ""))
	}
}

func (s *stories) add(text string) {
	s.it.task.Criteria = append(s.it.task.Criteria, checked(text))
	s.fresh = false
}

// end adds the current story.
func (s *stories) end() {
	if s.it == nil {
		return
	}
	s.flush()
	if s.it.out == "" && s.boxes > 0 && s.boxes == s.ticked {
		s.it.out, s.it.why = Done, "all its criteria are checked"
	}
	s.d.add(s.it)
	s.it, s.boxes, s.ticked, s.section = nil, 0, 0, ""
}
