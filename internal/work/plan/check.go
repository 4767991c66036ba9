package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/graph"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// MaxTasks limits the tasks of a plan, and MaxNeeds the needs among them.
const (
	MaxTasks = 10_000
	MaxNeeds = 500_000
)

const (
	maxDepth    = 3
	maxTitle    = 120
	maxCheck    = 500
	maxProblems = 50
	maxGroups   = 5 // nesting depth
)

// Problem is one problem with a plan.
type Problem struct {
	Code  nexus.Code // CodeInvalidPlan, CodeOversize or CodeCycle
	Text  string     // names the task
	Task  int        // its number, from 1; 0: the plan as a whole
	Field Field      // its field; the zero value: the task as a whole
}

// Field names a part of a task that a person wrote.
type Field struct {
	Name string // name as in a plan file
	At   int    // index among several, from 1; 0: all of them
}

// Check returns the problems of a plan, whose tasks may be as large as most, as one error that
// lists all of them, nil for a valid plan. Its code is that of the gravest: invalid, then a
// cycle, then a task that is too large.
func Check(p nexus.Plan, most nexus.Size) error { return Refuse(Problems(p, most), most) }

// Refuse returns problems as one error, nil if there are none.
func Refuse(problems []Problem, most nexus.Size) error {
	if len(problems) == 0 {
		return nil
	}
	code := nexus.CodeOversize
	texts := make([]string, len(problems))
	for i, f := range problems {
		texts[i] = f.Text
		if f.Code == nexus.CodeInvalidPlan || f.Code == nexus.CodeCycle && code == nexus.CodeOversize {
			code = f.Code
		}
	}
	e := refuse(code, texts...)
	if code == nexus.CodeOversize {
		most = prompt.SizeWithDefaults(most)
		e.Hint = fmt.Sprintf("Split it: a task has at most %d minutes, %d files, %d criteria and %d characters; see plan.minutes and what follows it in docs/config.md.", most.Minutes, most.Files, most.Criteria, most.Characters)
	}
	return e
}

// Problems returns the problems of a plan.
func Problems(p nexus.Plan, most nexus.Size) []Problem {
	c := checker{most: prompt.SizeWithDefaults(most)}
	switch {
	case len(p.Tasks) == 0:
		c.invalid(Field{}, "it has no tasks")
	case len(p.Tasks) > MaxTasks:
		c.invalid(Field{}, "it has %d tasks, the maximum is %d", len(p.Tasks), MaxTasks)
		return c.problems
	}
	if len(p.Goal) > maxGoal {
		c.invalid(Field{Name: "goal"}, "its goal has %d bytes, the maximum is %d", len(p.Goal), maxGoal)
	}
	if unseen(p.Goal) {
		c.invalid(Field{Name: "goal"}, "its goal has an invisible character")
	}
	c.ids(p.Tasks)
	c.covers(p)
	for i, t := range p.Tasks {
		c.task = i + 1
		c.fields(t)
		c.size(t)
	}
	c.task = 0
	if len(c.problems) == 0 || !slices.ContainsFunc(c.problems, func(f Problem) bool { return f.Code == nexus.CodeInvalidPlan }) {
		if _, err := graph.New(p.Tasks); err != nil {
			at := firstOf(p.Tasks, err)
			c.problems = append(c.problems, Problem{Code: nexus.CodeCycle, Text: err.Error(), Task: at, Field: Field{Name: "needs"}})
		}
	}
	return c.problems
}

// firstOf returns the number of the first task in the error about a cycle, 0 if there is none.
func firstOf(tasks []nexus.Task, circle error) int {
	_, path, _ := strings.Cut(circle.Error(), ": ")
	return 1 + slices.IndexFunc(tasks, func(t nexus.Task) bool { return strings.HasPrefix(path, string(t.ID)+" needs ") })
}

type checker struct {
	most     nexus.Size
	task     int // task being checked, from 1; 0: the plan as a whole
	problems []Problem
}

func (c *checker) invalid(f Field, format string, args ...any) {
	c.problems = append(c.problems, Problem{nexus.CodeInvalidPlan, fmt.Sprintf(format, args...), c.task, f})
}

func (c *checker) large(f Field, format string, args ...any) {
	c.problems = append(c.problems, Problem{nexus.CodeOversize, fmt.Sprintf(format, args...), c.task, f})
}

// ids checks that the IDs of tasks are distinct, also ignoring case, and that their needs
// exist.
func (c *checker) ids(tasks []nexus.Task) {
	fit := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	known, folded := map[nexus.TaskID]bool{}, map[string]nexus.TaskID{}
	for i, t := range tasks {
		c.task = i + 1
		lower := strings.ToLower(string(t.ID))
		switch twin, twice := folded[lower]; {
		case !fit.MatchString(string(t.ID)):
			c.invalid(Field{Name: "id"}, "the id %s is not a letter followed by at most 31 letters, digits, - or _", quote(string(t.ID)))
		case lower == "plan" || lower == "train" || lower == "result":
			c.invalid(Field{Name: "id"}, "the id %q is reserved; choose another", t.ID)
		case twice && twin == t.ID:
			c.invalid(Field{Name: "id"}, "the id %q is used twice", t.ID)
		case twice:
			c.invalid(Field{Name: "id"}, "the ids %q and %q differ only in case", twin, t.ID)
		}
		known[t.ID], folded[lower] = true, t.ID
	}
	in := members(tasks)
	for i, t := range tasks {
		c.task = i + 1
		c.needs(t, known, in)
	}
	c.task = 0
}

// needs checks that the needs, wants and ties of a task exist.
func (c *checker) needs(t nexus.Task, known map[nexus.TaskID]bool, in map[string][]nexus.TaskID) {
	for _, f := range []struct {
		name string
		ids  []nexus.TaskID
	}{{"needs", t.Needs}, {"wants", t.Wants}} {
		for k, n := range f.ids {
			all := in[groupKey(string(n))]
			switch {
			case n == t.ID:
				c.invalid(Field{f.name, k + 1}, "%s %s itself", t.ID, f.name)
			case !known[n] && slices.Contains(all, t.ID):
				c.invalid(Field{f.name, k + 1}, "%s %s the group %s, which it is in", name(t), f.name, quote(string(n)))
			case !known[n] && len(all) > 0:
				c.invalid(Field{f.name, k + 1}, "%s %s the group %s: the plan would have more than %d needs; split it into several plans",
					name(t), f.name, quote(string(n)), MaxNeeds)
			case !known[n]:
				c.invalid(Field{f.name, k + 1}, "%s %s %s, which is not in the plan", name(t), f.name, quote(string(n)))
			}
		}
	}
	after := t.After()
	if t.Group != "" && len(nexus.Groups(t.Group)) > maxGroups {
		c.invalid(Field{Name: "group"}, "%s: its group is nested in more than %d others", name(t), maxGroups-1)
	}
	for _, id := range slices.Sorted(maps.Keys(t.Ties)) {
		switch tie := t.Ties[id]; {
		case !slices.Contains(after, id):
			c.invalid(Field{Name: "ties"}, "%s has a tie to %s, which it neither needs nor wants", name(t), quote(string(id)))
		case !slices.Contains(nexus.AllTies(), tie):
			c.invalid(Field{Name: "ties"}, "%s: the tie %s is not one of %s", name(t), quote(string(tie)), nexus.Join(nexus.AllTies()))
		}
	}
}

// covers checks that tasks cover the statements of the goal.
func (c *checker) covers(p nexus.Plan) {
	var said []string
	for i, t := range p.Tasks {
		if c.task = i + 1; len(t.Covers) > 0 && said == nil {
			said = []string{}
			for _, s := range spec.Statements(p.Goal) {
				said = append(said, s.ID)
			}
		}
		for k, id := range t.Covers {
			if !slices.Contains(said, id) {
				c.invalid(Field{"covers", k + 1}, "%s covers %s, which the goal does not have; it has %s", name(t), quote(id), some(said))
			}
		}
	}
	c.task = 0
}

// some names the first of many ids.
func some(ids []string) string {
	const most = 30
	switch more := len(ids) - most; {
	case len(ids) == 0:
		return "no statement"
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), more)
	default:
		return strings.Join(ids, ", ")
	}
}

// fields checks one task for problems that no split would fix.
func (c *checker) fields(t nexus.Task) {
	switch {
	case t.Title == "":
		c.invalid(Field{Name: "title"}, "%s has no title", name(t))
	case utf8.RuneCountInString(t.Title) > maxTitle:
		c.invalid(Field{Name: "title"}, "%s: its title has more than %d characters", name(t), maxTitle)
	case strings.ContainsFunc(t.Title, hidden):
		c.invalid(Field{Name: "title"}, "%s: its title has an invisible character", name(t))
	}
	for _, f := range []struct{ name, text string }{
		{"brief", t.Brief}, {"group", t.Group}, {"package", t.Package}, {"reason", t.Reason}, {"model", t.Model}, {"tags", strings.Join(t.Tags, "\n")}, {"keep", strings.Join(t.Keep, "\n")},
	} {
		if unseen(f.text) {
			c.invalid(Field{Name: f.name}, "%s: the text of %s has an invisible character", name(t), f.name)
		}
	}
	for i, f := range t.Files {
		if why := badPath(f); why != "" {
			c.invalid(Field{"files", i + 1}, "%s: the file %s %s", name(t), quote(f), why)
		}
	}
	if !slices.Contains([]nexus.TaskKind{"", nexus.CodeTask, nexus.TestTask, nexus.DocsTask}, t.Kind) {
		c.invalid(Field{Name: "kind"}, "%s: kind %s is not one of code, test, docs", name(t), quote(string(t.Kind)))
	}
	if t.Priority != "" && !t.Priority.Known() {
		c.invalid(Field{Name: "priority"}, "%s: priority %s is not one of %s", name(t), quote(string(t.Priority)), nexus.Join(nexus.Priorities()))
	}
	if t.Complexity != "" && !t.Complexity.Known() {
		c.invalid(Field{Name: "complexity"}, "%s: complexity %s is not one of simple, medium, complex, expert", name(t), quote(string(t.Complexity)))
	}
	if t.Tier != "" && !t.Tier.Known() {
		c.invalid(Field{Name: "tier"}, "%s: tier %s is not one of fast, balanced, strong", name(t), quote(string(t.Tier)))
	}
	if provider, model, ok := strings.Cut(t.Model, "/"); t.Model != "" && (!ok || provider == "" || model == "") {
		c.invalid(Field{Name: "model"}, "%s: model %s is not provider/model", name(t), quote(t.Model))
	}
	switch {
	case t.Strategy != "" && !t.Strategy.Known():
		c.invalid(Field{Name: "strategy"}, "%s: strategy %s is not one of %s", name(t), quote(string(t.Strategy)), nexus.Join(nexus.Strategies()))
	case t.Strategy == nexus.NoTest && t.Reason == "":
		c.invalid(Field{Name: "strategy"}, "%s: strategy no-test needs a reason", name(t))
	}
	if t.Minutes < 0 {
		c.invalid(Field{Name: "minutes"}, "%s: minutes must be 0 or more", name(t))
	}
	if t.Depth < 0 || t.Depth > maxDepth {
		c.invalid(Field{Name: "depth"}, "%s: depth must be from 0 to %d", name(t), maxDepth)
	}
	c.criteria(t)
}

func (c *checker) criteria(t nexus.Task) {
	checkable := t.Kind == nexus.DocsTask
	for i, k := range t.Criteria {
		checkable = checkable || k.Check != "" || k.Was != ""
		if unseen(k.Text) || unseen(k.Was) {
			c.invalid(Field{"criteria", i + 1}, "%s: criterion %d has an invisible character", name(t), i+1)
		}
		if len(k.Check) > maxCheck || strings.ContainsFunc(k.Check, hidden) {
			c.invalid(Field{"criteria", i + 1}, "%s: the check of criterion %d is not one line of at most %d characters", name(t), i+1, maxCheck)
			continue
		}
		if k.Check == "" {
			continue
		}
		if err := shell.CheckSyntax(k.Check); err != nil {
			c.invalid(Field{"criteria", i + 1}, "%s: the check of criterion %d, %s, cannot be read by sh: %v", name(t), i+1, quote(k.Check), err)
		}
	}
	switch {
	case len(t.Criteria) == 0:
		c.invalid(Field{Name: "criteria"}, "%s has no criteria: say what must be true when it is done", name(t))
	case !checkable:
		c.invalid(Field{Name: "criteria"}, "%s: no criterion can be checked by a machine; give one a check: a gate's name, or a command that exits 0", name(t))
	}
}

// size checks one task for problems that a split would fix.
func (c *checker) size(t nexus.Task) {
	text := letters(t)
	for _, m := range []struct {
		have, most int
		field      string
		unit       string
	}{
		{t.Minutes, c.most.Minutes, "minutes", "minutes"},
		{len(t.Files), c.most.Files, "files", "files"},
		{len(t.Criteria), c.most.Criteria, "criteria", "criteria"},
		{text, c.most.Characters, "brief", "characters of brief and criteria"},
	} {
		if m.have > m.most {
			c.large(Field{Name: m.field}, "%s is too large: %d %s, the maximum is %d", name(t), m.have, m.unit, m.most)
		}
	}
}

// letters returns the number of characters in the brief and the criteria of a task.
func letters(t nexus.Task) int {
	n := utf8.RuneCountInString(t.Brief)
	for _, k := range t.Criteria {
		n += utf8.RuneCountInString(k.Text)
	}
	return n
}

// hidden reports whether a character is not allowed in a name.
func hidden(r rune) bool { return r == '\n' || r == '\t' || sanitize.Hidden(r) }

// unseen reports whether a text has a character that people do not see, or that controls their
// terminal. Its lines may end as on Windows.
func unseen(text string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", "\n"), sanitize.Hidden)
}

func name(t nexus.Task) string { return cut(string(t.ID), 32) }

func quote(s string) string { return fmt.Sprintf("%q", cut(s, 100)) }

// cut returns at most the first n bytes of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// refuse returns an error that lists problems.
func refuse(code nexus.Code, problems ...string) *nexus.Error {
	e := &nexus.Error{Code: code, Hint: hint(code)}
	if len(problems) == 1 {
		e.Message = "the plan cannot be used: " + problems[0]
		return e
	}
	shown := problems[:min(len(problems), maxProblems)]
	e.Message = fmt.Sprintf("the plan cannot be used, for %d reasons:\n- %s", len(problems), strings.Join(shown, "\n- "))
	if more := len(problems) - len(shown); more > 0 {
		e.Message += fmt.Sprintf("\n- and %d more", more)
	}
	return e
}

func hint(code nexus.Code) string {
	switch code {
	case nexus.CodeCycle:
		return "Remove one of these needs."
	case nexus.CodeNothingProposed:
		return "Describe the goal in more detail, or write a plan file; see docs/plan.md."
	default:
		return "Correct the plan; docs/plan.md describes it."
	}
}
