package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
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

// PlanProblem is one problem with a plan.
type PlanProblem struct {
	Code  nexus.ErrorCode  // CodeInvalidPlan, CodeOversize or CodeCycle
	Text  string           // names the task
	Task  int              // its number, from 1; 0: the plan as a whole
	Field WrittenTaskField // its field; the zero value: the task as a whole
}

// WrittenTaskField names a part of a task that a person wrote.
type WrittenTaskField struct {
	Name string // name as in a plan file
	At   int    // index among several, from 1; 0: all of them
}

// CheckPlan returns the problems of a plan, whose tasks may be as large as most, as one error that
// lists all of them, nil for a valid plan. Its code is that of the gravest: invalid, then a
// cycle, then a task that is too large.
func CheckPlan(p nexus.Plan, most nexus.TaskSizeLimits) error {
	return ProblemsError(FindProblems(p, most), most)
}

// ProblemsError returns problems as one error, nil if there are none.
func ProblemsError(problems []PlanProblem, most nexus.TaskSizeLimits) error {
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
	e := newPlanError(code, texts...)
	if code == nexus.CodeOversize {
		most = prompt.TaskSizeWithDefaults(most)
		e.Hint = fmt.Sprintf("Split it: a task has at most %d minutes, %d files, %d criteria and %d characters.", most.Minutes, most.Files, most.Criteria, most.Characters)
	}
	return e
}

// FindProblems returns the problems of a plan.
func FindProblems(p nexus.Plan, most nexus.TaskSizeLimits) []PlanProblem {
	c := planChecker{most: prompt.TaskSizeWithDefaults(most)}
	switch {
	case len(p.Tasks) == 0:
		c.addInvalidTaskProblem(WrittenTaskField{}, "it has no tasks")
	case len(p.Tasks) > MaxTasks:
		c.addInvalidTaskProblem(WrittenTaskField{}, "it has %d tasks, the maximum is %d", len(p.Tasks), MaxTasks)
		return c.problems
	}
	if len(p.Goal) > maxGoal {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "goal"}, "its goal has %d bytes, the maximum is %d", len(p.Goal), maxGoal)
	}
	if hasInvisibleCharacter(p.Goal) {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "goal"}, "its goal has an invisible character")
	}
	c.checkTaskIDs(p.Tasks)
	c.checkGoalCoverage(p)
	for i, t := range p.Tasks {
		c.task = i + 1
		c.checkTaskFields(t)
		c.checkTaskSize(t)
	}
	c.task = 0
	if len(c.problems) == 0 || !slices.ContainsFunc(c.problems, func(f PlanProblem) bool { return f.Code == nexus.CodeInvalidPlan }) {
		if _, err := taskgraph.NewTaskGraph(p.Tasks); err != nil {
			at := firstTaskInCycle(p.Tasks, err)
			c.problems = append(c.problems, PlanProblem{Code: nexus.CodeCycle, Text: err.Error(), Task: at, Field: WrittenTaskField{Name: "needs"}})
		}
	}
	return c.problems
}

// firstTaskInCycle returns the number of the first task in the error about a cycle, 0 if there is none.
func firstTaskInCycle(tasks []nexus.Task, circle error) int {
	_, path, _ := strings.Cut(circle.Error(), ": ")
	return 1 + slices.IndexFunc(tasks, func(t nexus.Task) bool { return strings.HasPrefix(path, string(t.ID)+" needs ") })
}

type planChecker struct {
	most     nexus.TaskSizeLimits
	task     int // task being checked, from 1; 0: the plan as a whole
	problems []PlanProblem
}

func (c *planChecker) addInvalidTaskProblem(f WrittenTaskField, format string, args ...any) {
	c.problems = append(c.problems, PlanProblem{nexus.CodeInvalidPlan, fmt.Sprintf(format, args...), c.task, f})
}

func (c *planChecker) addOversizeProblem(f WrittenTaskField, format string, args ...any) {
	c.problems = append(c.problems, PlanProblem{nexus.CodeOversize, fmt.Sprintf(format, args...), c.task, f})
}

// checkTaskIDs checks that the IDs of tasks are distinct, also ignoring case, and that their needs
// exist.
func (c *planChecker) checkTaskIDs(tasks []nexus.Task) {
	fit := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	known, folded := map[nexus.TaskID]bool{}, map[string]nexus.TaskID{}
	for i, t := range tasks {
		c.task = i + 1
		lower := strings.ToLower(string(t.ID))
		switch twin, twice := folded[lower]; {
		case !fit.MatchString(string(t.ID)):
			c.addInvalidTaskProblem(WrittenTaskField{Name: "id"}, "the id %s is not a letter followed by at most 31 letters, digits, - or _", quoteShort(string(t.ID)))
		case lower == "plan" || lower == "train" || lower == "result":
			c.addInvalidTaskProblem(WrittenTaskField{Name: "id"}, "the id %q is reserved; choose another", t.ID)
		case twice && twin == t.ID:
			c.addInvalidTaskProblem(WrittenTaskField{Name: "id"}, "the id %q is used twice", t.ID)
		case twice:
			c.addInvalidTaskProblem(WrittenTaskField{Name: "id"}, "the ids %q and %q differ only in case", twin, t.ID)
		}
		known[t.ID], folded[lower] = true, t.ID
	}
	in := groupMembers(tasks)
	for i, t := range tasks {
		c.task = i + 1
		c.checkNeeds(t, known, in)
	}
	c.task = 0
}

// checkNeeds checks that the needs, wants and ties of a task exist.
func (c *planChecker) checkNeeds(t nexus.Task, known map[nexus.TaskID]bool, in map[string][]nexus.TaskID) {
	for _, f := range []struct {
		name string
		ids  []nexus.TaskID
	}{{"needs", t.Needs}, {"wants", t.Wants}} {
		for k, n := range f.ids {
			all := in[groupKey(string(n))]
			switch {
			case n == t.ID:
				c.addInvalidTaskProblem(WrittenTaskField{f.name, k + 1}, "%s %s itself", t.ID, f.name)
			case !known[n] && slices.Contains(all, t.ID):
				c.addInvalidTaskProblem(WrittenTaskField{f.name, k + 1}, "%s %s the group %s, which it is in", shortTaskID(t), f.name, quoteShort(string(n)))
			case !known[n] && len(all) > 0:
				c.addInvalidTaskProblem(WrittenTaskField{f.name, k + 1}, "%s %s the group %s: the plan would have more than %d needs; split it into several plans",
					shortTaskID(t), f.name, quoteShort(string(n)), MaxNeeds)
			case !known[n]:
				c.addInvalidTaskProblem(WrittenTaskField{f.name, k + 1}, "%s %s %s, which is not in the plan", shortTaskID(t), f.name, quoteShort(string(n)))
			}
		}
	}
	after := t.Prerequisites()
	if t.Group != "" && len(nexus.EnclosingGroups(t.Group)) > maxGroups {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "group"}, "%s: its group is nested in more than %d others", shortTaskID(t), maxGroups-1)
	}
	for _, id := range slices.Sorted(maps.Keys(t.Ties)) {
		switch tie := t.Ties[id]; {
		case !slices.Contains(after, id):
			c.addInvalidTaskProblem(WrittenTaskField{Name: "ties"}, "%s has a tie to %s, which it neither needs nor wants", shortTaskID(t), quoteShort(string(id)))
		case !slices.Contains(nexus.AllDependencyReasons(), tie):
			c.addInvalidTaskProblem(WrittenTaskField{Name: "ties"}, "%s: the tie %s is not one of %s", shortTaskID(t), quoteShort(string(tie)), nexus.JoinWords(nexus.AllDependencyReasons()))
		}
	}
}

// checkGoalCoverage checks that tasks cover the statements of the goal.
func (c *planChecker) checkGoalCoverage(p nexus.Plan) {
	var said []string
	for i, t := range p.Tasks {
		if c.task = i + 1; len(t.Covers) > 0 && said == nil {
			said = []string{}
			for _, s := range spec.StatementsOf(p.Goal) {
				said = append(said, s.ID)
			}
		}
		for k, id := range t.Covers {
			if !slices.Contains(said, id) {
				c.addInvalidTaskProblem(WrittenTaskField{"covers", k + 1}, "%s covers %s, which the goal does not have; it has %s", shortTaskID(t), quoteShort(id), firstIDs(said))
			}
		}
	}
	c.task = 0
}

// firstIDs names the first of many ids.
func firstIDs(ids []string) string {
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

// checkTaskFields checks one task for problems that no split would fix.
func (c *planChecker) checkTaskFields(t nexus.Task) {
	switch {
	case t.Title == "":
		c.addInvalidTaskProblem(WrittenTaskField{Name: "title"}, "%s has no title", shortTaskID(t))
	case utf8.RuneCountInString(t.Title) > maxTitle:
		c.addInvalidTaskProblem(WrittenTaskField{Name: "title"}, "%s: its title has more than %d characters", shortTaskID(t), maxTitle)
	case strings.ContainsFunc(t.Title, isForbiddenInName):
		c.addInvalidTaskProblem(WrittenTaskField{Name: "title"}, "%s: its title has an invisible character", shortTaskID(t))
	}
	for _, f := range []struct{ name, text string }{
		{"brief", t.Brief}, {"group", t.Group}, {"package", t.Package}, {"reason", t.Reason}, {"model", t.Model}, {"tags", strings.Join(t.Tags, "\n")}, {"keep", strings.Join(t.Keep, "\n")},
	} {
		if hasInvisibleCharacter(f.text) {
			c.addInvalidTaskProblem(WrittenTaskField{Name: f.name}, "%s: the text of %s has an invisible character", shortTaskID(t), f.name)
		}
	}
	for i, f := range t.Files {
		if why := invalidPathReason(f); why != "" {
			c.addInvalidTaskProblem(WrittenTaskField{"files", i + 1}, "%s: the file %s %s", shortTaskID(t), quoteShort(f), why)
		}
	}
	if !slices.Contains([]nexus.TaskKind{"", nexus.CodeTask, nexus.TestTask, nexus.DocsTask}, t.Kind) {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "kind"}, "%s: kind %s is not one of code, test, docs", shortTaskID(t), quoteShort(string(t.Kind)))
	}
	if t.Priority != "" && !t.Priority.IsKnown() {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "priority"}, "%s: priority %s is not one of %s", shortTaskID(t), quoteShort(string(t.Priority)), nexus.JoinWords(nexus.Priorities()))
	}
	if t.Complexity != "" && !t.Complexity.IsKnown() {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "complexity"}, "%s: complexity %s is not one of simple, medium, complex, expert", shortTaskID(t), quoteShort(string(t.Complexity)))
	}
	if t.Tier != "" && !t.Tier.IsKnown() {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "tier"}, "%s: tier %s is not one of fast, balanced, strong", shortTaskID(t), quoteShort(string(t.Tier)))
	}
	if provider, model, ok := strings.Cut(t.Model, "/"); t.Model != "" && (!ok || provider == "" || model == "") {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "model"}, "%s: model %s is not provider/model", shortTaskID(t), quoteShort(t.Model))
	}
	switch {
	case t.Strategy != "" && !t.Strategy.IsKnown():
		c.addInvalidTaskProblem(WrittenTaskField{Name: "strategy"}, "%s: strategy %s is not one of %s", shortTaskID(t), quoteShort(string(t.Strategy)), nexus.JoinWords(nexus.Strategies()))
	case t.Strategy == nexus.NoTest && t.Reason == "":
		c.addInvalidTaskProblem(WrittenTaskField{Name: "strategy"}, "%s: strategy no-test needs a reason", shortTaskID(t))
	}
	if t.Minutes < 0 {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "minutes"}, "%s: minutes must be 0 or more", shortTaskID(t))
	}
	if t.Depth < 0 || t.Depth > maxDepth {
		c.addInvalidTaskProblem(WrittenTaskField{Name: "depth"}, "%s: depth must be from 0 to %d", shortTaskID(t), maxDepth)
	}
	c.checkCriteria(t)
}

func (c *planChecker) checkCriteria(t nexus.Task) {
	checkable := t.Kind == nexus.DocsTask
	for i, k := range t.Criteria {
		checkable = checkable || k.Check != "" || k.Was != ""
		if hasInvisibleCharacter(k.Text) || hasInvisibleCharacter(k.Was) {
			c.addInvalidTaskProblem(WrittenTaskField{"criteria", i + 1}, "%s: criterion %d has an invisible character", shortTaskID(t), i+1)
		}
		if len(k.Check) > maxCheck || strings.ContainsFunc(k.Check, isForbiddenInName) {
			c.addInvalidTaskProblem(WrittenTaskField{"criteria", i + 1}, "%s: the check of criterion %d is not one line of at most %d characters", shortTaskID(t), i+1, maxCheck)
			continue
		}
		if k.Check == "" {
			continue
		}
		if err := shell.CheckSyntax(k.Check); err != nil {
			c.addInvalidTaskProblem(WrittenTaskField{"criteria", i + 1}, "%s: the check of criterion %d, %s, cannot be read by sh: %v", shortTaskID(t), i+1, quoteShort(k.Check), err)
		}
	}
	switch {
	case len(t.Criteria) == 0:
		c.addInvalidTaskProblem(WrittenTaskField{Name: "criteria"}, "%s has no criteria: say what must be true when it is done", shortTaskID(t))
	case !checkable:
		c.addInvalidTaskProblem(WrittenTaskField{Name: "criteria"}, "%s: no criterion can be checked by a machine; give one a check: a gate's name, or a command that exits 0", shortTaskID(t))
	}
}

// checkTaskSize checks one task for problems that a split would fix.
func (c *planChecker) checkTaskSize(t nexus.Task) {
	text := countCharacters(t)
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
			c.addOversizeProblem(WrittenTaskField{Name: m.field}, "%s is too large: %d %s, the maximum is %d", shortTaskID(t), m.have, m.unit, m.most)
		}
	}
}

// countCharacters returns the number of characters in the brief and the criteria of a task.
func countCharacters(t nexus.Task) int {
	n := utf8.RuneCountInString(t.Brief)
	for _, k := range t.Criteria {
		n += utf8.RuneCountInString(k.Text)
	}
	return n
}

// isForbiddenInName reports whether a character is not allowed in a name.
func isForbiddenInName(r rune) bool { return r == '\n' || r == '\t' || sanitize.IsHiddenCharacter(r) }

// hasInvisibleCharacter reports whether a text has a character that people do not see, or that controls their
// terminal. Its lines may end as on Windows.
func hasInvisibleCharacter(text string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", "\n"), sanitize.IsHiddenCharacter)
}

func shortTaskID(t nexus.Task) string { return truncateBytes(string(t.ID), 32) }

func quoteShort(s string) string { return fmt.Sprintf("%q", truncateBytes(s, 100)) }

// truncateBytes returns at most the first n bytes of s.
func truncateBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// newPlanError returns an error that lists problems.
func newPlanError(code nexus.ErrorCode, problems ...string) *nexus.Error {
	e := &nexus.Error{Code: code, Hint: planErrorHint(code)}
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

func planErrorHint(code nexus.ErrorCode) string {
	switch code {
	case nexus.CodeCycle:
		return "Remove one of these needs."
	case nexus.CodeNothingProposed:
		return "Describe the goal in more detail, or write a plan file; see docs/plan.md."
	default:
		return "Correct the plan; docs/plan.md describes it."
	}
}
