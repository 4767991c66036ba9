package plan

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// TaskDivision describes the division of a task.
type TaskDivision struct {
	Task  nexus.TaskID      `json:"task"`
	Why   string            `json:"why"` // the limit that the task exceeded
	By    DivisionCriterion `json:"by"`
	Parts []nexus.TaskID    `json:"parts"`
}

// DivisionCriterion is the criterion by which a task is divided.
type DivisionCriterion string

// The ways of dividing a task.
const (
	ByFiles  DivisionCriterion = "files"  // each part has its own files
	ByLayers DivisionCriterion = "layers" // each part has the files of one or more layers, such as the data or the screens
	ByTime   DivisionCriterion = "time"   // all parts have the same files, and each does a share of the work
)

// DivideLargeTasks divides each task of a plan that is too large into parts that land one after another.
// A task has at most parts parts each time it is divided, and is divided at most depth times.
// Every file and criterion of a task is in exactly one of the parts with their own files, and
// tasks that waited for the task wait for its last part. No model is called. If a task cannot
// be divided, or the plan has another problem, the error is that of [CheckPlan], and the plan is
// returned unchanged.
func DivideLargeTasks(p nexus.Plan, most nexus.TaskSizeLimits, parts, depth int) (nexus.Plan, []TaskDivision, error) {
	if err := CheckPlan(p, most); err == nil || !hasOnlySizeProblems(p, most) {
		return p, nil, err
	}
	most = prompt.TaskSizeWithDefaults(most)
	var why []string
	out := p
	out.Tasks = nil
	taken := make([]nexus.TaskID, 0, len(p.Tasks))
	for _, t := range p.Tasks {
		taken = append(taken, t.ID)
	}
	var divisions []TaskDivision
	for i, t := range p.Tasks {
		large := oversizeReasons(t, i, most)
		if len(large) == 0 {
			out.Tasks = append(out.Tasks, t)
			continue
		}
		into, by := divideTask(t, most, maxPartCount(parts, depth-t.Depth))
		if into == nil {
			why = append(why, large...)
			continue
		}
		for k := range into {
			into[k].Depth = t.Depth + divisionDepth(len(into), parts)
		}
		renameParts(into, t.ID, taken)
		into[0].Needs, into[0].Wants, into[0].Ties = t.Needs, t.Wants, t.Ties
		d := TaskDivision{Task: t.ID, Why: strings.Join(large, "; "), By: by}
		for _, part := range into {
			d.Parts = append(d.Parts, part.ID)
		}
		taken = append(taken, d.Parts...)
		out.Tasks, divisions = append(out.Tasks, into...), append(divisions, d)
	}
	if len(why) > 0 {
		return p, nil, indivisibleTasksError(why)
	}
	for _, d := range divisions {
		for i := range out.Tasks {
			redirectDependency(&out.Tasks[i], d.Task, d.Parts[len(d.Parts)-1])
		}
	}
	if err := CheckPlan(out, most); err != nil {
		return p, nil, fmt.Errorf("divide the tasks that are too large: %w", err)
	}
	return out, divisions, nil
}

// indivisibleTasksError returns an error about tasks that are too large and cannot be divided.
func indivisibleTasksError(why []string) error {
	e := newPlanError(nexus.CodeOversize, why...)
	e.Message += "\nand cannot be divided: a paragraph, a criterion, or what the parts of one task share is too large on its own"
	e.Hint = "Divide it by hand, or let the planner plan it: give the file as a goal with -f."
	return e
}

// hasOnlySizeProblems reports whether sizes are a plan's only problems.
func hasOnlySizeProblems(p nexus.Plan, most nexus.TaskSizeLimits) bool {
	return !slices.ContainsFunc(FindProblems(p, most), func(f PlanProblem) bool { return f.Code != nexus.CodeOversize })
}

// oversizeReasons returns the limits that a task exceeds.
func oversizeReasons(t nexus.Task, at int, most nexus.TaskSizeLimits) []string {
	c := planChecker{most: most, task: at + 1}
	c.checkTaskSize(t)
	texts := make([]string, 0, len(c.problems))
	for _, f := range c.problems {
		texts = append(texts, f.Text)
	}
	return texts
}

// maxPartCount returns how many parts a task may have after a number of divisions: never more than a
// plan has tasks.
func maxPartCount(parts, times int) int {
	n, parts := 1, max(1, parts)
	for range max(0, times) {
		if n > MaxTasks/parts {
			return MaxTasks
		}
		n *= parts
	}
	return n
}

// divisionDepth returns how many times a task is divided to have n parts.
func divisionDepth(n, parts int) int {
	times := 0
	for maxPartCount(parts, times) < n {
		times++
	}
	return times
}

// redirectDependency makes a task that waited for a divided task wait for the last of its parts.
func redirectDependency(t *nexus.Task, whole, last nexus.TaskID) {
	for _, ids := range []*[]nexus.TaskID{&t.Needs, &t.Wants} {
		if i := slices.Index(*ids, whole); i >= 0 {
			*ids = slices.Clone(*ids)
			(*ids)[i] = last
		}
	}
	if tie, ok := t.Ties[whole]; ok {
		ties := nexus.DependencyReasons{last: tie}
		for id, tie := range t.Ties {
			if id != whole {
				ties[id] = tie
			}
		}
		t.Ties = ties
	}
}

// divideTask returns the parts of a task, as few as are small enough, in the order in which they
// land; nil if there are none. It tries no more parts than there are files or criteria, and of
// many numbers only some.
func divideTask(t nexus.Task, most nexus.TaskSizeLimits, ways int) ([]nexus.Task, DivisionCriterion) {
	paragraphs := splitParagraphs(t.Brief)
	text := 0
	for k, p := range paragraphs {
		n := utf8.RuneCountInString(p)
		if k > 0 && n+utf8.RuneCountInString(paragraphs[0]) > most.Characters || n > most.Characters {
			return nil, ""
		}
		text += n
	}
	for _, c := range t.Criteria {
		text += utf8.RuneCountInString(c.Text)
	}
	least := 2
	for _, m := range [][2]int{{len(t.Files), most.Files}, {len(t.Criteria), most.Criteria}, {t.Minutes, most.Minutes}, {text, most.Characters}} {
		least = max(least, (m[0]-1)/m[1]+1)
	}
	ways = min(ways, MaxTasks, max(least, len(t.Files), len(paragraphs), len(t.Criteria)))
	for n := least; n <= ways; n += 1 + (n-least)/32 {
		for _, by := range []DivisionCriterion{ByLayers, ByFiles, ByTime} {
			shares := distributeFiles(t.Files, n, most.Files, by)
			if shares == nil {
				continue
			}
			if parts := buildParts(t, shares, most, by); parts != nil {
				return parts, by
			}
		}
	}
	return nil, ""
}

// distributeFiles distributes files over n parts: at most so many each, in the order of their
// dependencies. It returns nil if that is impossible.
func distributeFiles(files []string, n, most int, by DivisionCriterion) [][]string {
	units := groupFilesWithTests(files)
	shares := make([][]string, 0, n)
	switch by {
	case ByTime:
		if len(files) > most {
			return nil
		}
		for range n {
			shares = append(shares, files)
		}
		return shares
	case ByLayers:
		var layers [][]string
		for i, u := range units {
			if i == 0 || layerOf(u[0]) != layerOf(units[i-1][0]) {
				layers = append(layers, nil)
			}
			layers[len(layers)-1] = append(layers[len(layers)-1], u...)
		}
		for i, l := range layers {
			if i == 0 || len(shares[len(shares)-1])+len(l) > most {
				shares = append(shares, nil)
			}
			shares[len(shares)-1] = append(shares[len(shares)-1], l...)
		}
	case ByFiles:
		if len(units) < n {
			return nil
		}
		for i := range n {
			shares = append(shares, slices.Concat(units[i*len(units)/n:(i+1)*len(units)/n]...))
		}
	}
	if len(shares) != n || slices.ContainsFunc(shares, func(s []string) bool { return len(s) > most }) {
		return nil
	}
	return shares
}

// groupFilesWithTests returns files by layer, each with its tests. A test without its tested file is
// alone.
func groupFilesWithTests(files []string) [][]string {
	var units [][]string
	for _, f := range files {
		if !stack.IsTest(f) {
			units = append(units, []string{f})
		}
	}
	for _, f := range files {
		if !stack.IsTest(f) {
			continue
		}
		if i := slices.IndexFunc(units, func(u []string) bool { return isTestOf(f, u[0]) }); i >= 0 {
			units[i] = append(units[i], f)
		} else {
			units = append(units, []string{f})
		}
	}
	slices.SortStableFunc(units, func(a, b []string) int { return layerOf(a[0]) - layerOf(b[0]) })
	return units
}

// isTestOf reports whether a test is named after a file.
func isTestOf(test, file string) bool {
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return path.Ext(test) == path.Ext(file) && slices.Contains([]string{
		stem + "_test", "test_" + stem, stem + ".test", stem + ".spec", stem, stem + "Test", stem + "Tests",
	}, strings.TrimSuffix(path.Base(test), path.Ext(test)))
}

// layerOf returns the layer of a file: lower layers, on which others depend, come first. A file
// with a neutral name is in the middle, and tests of several files and texts come last.
func layerOf(file string) int {
	if stack.IsTest(file) {
		return 5
	}
	layers := [][]string{
		{"schema", "schemas", "model", "models", "migration", "migrations", "entity", "entities", "types", "db", "sql", "proto", "store", "storage", "data"},
		{},
		{"api", "handler", "handlers", "route", "routes", "router", "controller", "controllers", "server", "cmd", "cli", "command", "commands", "main"},
		{"ui", "view", "views", "component", "components", "page", "pages", "screen", "screens", "template", "templates", "styles", "css", "html", "tsx", "jsx", "vue", "svelte"},
		{"docs", "doc", "md", "readme", "changelog", "rst"},
	}
	words := strings.FieldsFunc(strings.ToLower(file), func(r rune) bool { return strings.ContainsRune("/._-", r) })
	for _, n := range []int{4, 3, 2, 0} {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(layers[n], w) }) {
			return n
		}
	}
	return 1
}

// buildParts makes the parts of a task, each with the files of one share and a need of the part
// before. It returns nil if one is too large.
func buildParts(t nexus.Task, shares [][]string, most nexus.TaskSizeLimits, by DivisionCriterion) []nexus.Task {
	n := len(shares)
	parts := make([]nexus.Task, n)
	for i := range parts {
		p := &parts[i]
		*p = nexus.Task{
			ID: nexus.TaskID(fmt.Sprintf("P%d", i+1)), Kind: t.Kind, Complexity: t.Complexity,
			Files: slices.Clone(shares[i]),
			Title: taskPartTitle(t.Title, i+1, n), Minutes: int(math.Ceil(float64(t.Minutes) / float64(n))),
		}
		if by != ByTime && len(t.Files) > 0 {
			p.Minutes = int(math.Ceil(float64(t.Minutes*len(p.Files)) / float64(len(t.Files))))
		}
		if p.Minutes > most.Minutes {
			return nil
		}
		inheritTaskSettings(p, t)
		if i > 0 {
			p.Needs = []nexus.TaskID{parts[i-1].ID}
		}
	}
	if !distributeCriteria(parts, t.Criteria, most.Criteria, by) {
		return nil
	}
	writeBriefs(parts, t, most.Characters, by)
	for i, p := range parts {
		if len(oversizeReasons(p, i, most)) > 0 {
			return nil
		}
	}
	return parts
}

// taskPartTitle returns the title of a part.
func taskPartTitle(title string, k, n int) string {
	end := fmt.Sprintf(" (%d of %d)", k, n)
	for utf8.RuneCountInString(title+end) > maxTitle {
		_, size := utf8.DecodeLastRuneInString(title)
		title = title[:len(title)-size]
	}
	return strings.TrimSpace(title) + end
}

// distributeCriteria assigns each criterion to one part: to the last one whose files it names, as an
// earlier one cannot prove the results of a later one; otherwise to the last part, which
// builds on all others, or, if all parts have the same files, to each in turn. A part without
// a criterion that a machine can check is checked by the tests. It returns false if a part
// would have too many.
func distributeCriteria(parts []nexus.Task, criteria []nexus.Criterion, most int, by DivisionCriterion) bool {
	for i, c := range criteria {
		at := len(parts) - 1
		if by == ByTime {
			at = i * len(parts) / len(criteria)
		} else if k := lastNamedPart(parts, c.Text+" "+c.Check); k >= 0 {
			at = k
		}
		room := func(p nexus.Task) bool { return len(p.Criteria) < most }
		if later := slices.IndexFunc(parts[at:], room); later >= 0 {
			at += later
		} else {
			return false // an earlier part cannot prove the results of a later one
		}
		parts[at].Criteria = append(parts[at].Criteria, c)
	}
	for i := range parts {
		p := &parts[i]
		if p.Kind == nexus.DocsTask && len(p.Criteria) > 0 || slices.ContainsFunc(p.Criteria, func(c nexus.Criterion) bool { return c.Check != "" || c.Was != "" }) {
			continue
		}
		shown := nexus.Criterion{Text: "The work on the files of this part is done, and the tests pass", Check: "test"}
		if p.Kind == nexus.DocsTask {
			shown = nexus.Criterion{Text: "The work on the files of this part is done"}
		}
		if p.Criteria = append(p.Criteria, shown); len(p.Criteria) > most {
			return false
		}
	}
	return true
}

// taskPartIntroduction returns the first lines of a part's brief: which part of which task it is.
func taskPartIntroduction(t nexus.Task, parts []nexus.Task, i int) string {
	text := fmt.Sprintf("This is part %d of %d of: %s.", i+1, len(parts), strings.TrimSuffix(t.Title, "."))
	if len(parts[i].Files) > 0 {
		text += " Do what concerns " + strings.Join(parts[i].Files, ", ") + "."
	}
	if i > 0 {
		text += " The parts before it have landed."
	}
	if i < len(parts)-1 {
		text += " Later parts do the rest: leave that to them, and leave the build and the tests green."
	}
	return text
}
