package foreign

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

var (
	taskIDPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	checkAtEnd    = regexp.MustCompile("(?s)^(.*?)\\s*\\(check: (?:`` (.+) ``|`([^`]+)`)\\)$")
)

const (
	maxTitle    = 120
	maxTags     = 10
	maxProblems = 50
	maxNamed    = 5 // files that are extracted from a sentence
)

// foreignNeed is a need in the file's notation: the name or title of another item.
type foreignNeed struct {
	importFilePosition

	name string
	soft bool // optional: the task waits for it only if it will land
}

// importItem is one entry of a file that may become a task.
type importItem struct {
	importFilePosition

	name  string // its name in the file
	brief []string
	task  nexus.Task // without ID, needs and brief
	needs []foreignNeed
	out   ImportRemarkKind // Lost or Done if it does not become a task; empty: it does
	why   string           // reason for that
	parts []string         // names of the items that replace it
	rank  int              // a priority that is a number: smaller comes first
}

// displayName returns the name of an item in errors.
func (it *importItem) displayName() string {
	switch {
	case it.name == "":
		return "a task"
	case it.name[0] >= '0' && it.name[0] <= '9':
		return "task " + it.name
	default:
		return it.name
	}
}

type importProblem struct {
	importFilePosition

	text string
}

// importedPlanDraft is a plan that is being read.
type importedPlanDraft struct {
	format   PlanFormat
	source   PlanSource
	most     nexus.TaskSizeLimits // size limit of a task
	goal     string
	items    []*importItem
	names    map[string]*importItem // items by their folded names
	titles   map[string]*importItem // items by their folded titles; built once all are read
	remarks  []ImportRemark
	problems []importProblem
	needs    int  // number of needs
	full     bool // the limit of tasks or needs was exceeded
}

// maxBefore limits for how many tasks each task of a group waits if one group waits for
// another.
const maxBefore = 50

// hasRoomFor reports whether more tasks and needs are allowed. If not, the plan is refused.
func (d *importedPlanDraft) hasRoomFor(at importFilePosition, tasks, needs int) bool {
	d.needs += needs
	if d.full || len(d.items)+tasks <= plan.MaxTasks && d.needs <= plan.MaxNeeds {
		return !d.full
	}
	d.full = true
	d.addProblem(at, "there are more than %d tasks, or more than %d needs among them; split them into several plans", plan.MaxTasks, plan.MaxNeeds)
	return false
}

// addGroupNeeds makes each task of a group wait for all of another. In a large group the last task
// waits for the others of its group, and represents them: there is no need from each to each.
func (d *importedPlanDraft) addGroupNeeds(before, group []*importItem) {
	if n := len(before) - 1; n >= maxBefore && len(group) > 1 {
		last := before[n]
		d.addGroupNeeds(before[:n], []*importItem{last})
		what := fmt.Sprintf("it waits for the %d tasks that may run beside it", n)
		d.addRemark(Changed, last.importFilePosition, last.name, what, "what follows waits for it alone")
		before = []*importItem{last}
	}
	for _, it := range group {
		if !d.hasRoomFor(it.importFilePosition, 0, len(before)) {
			return
		}
		known := make(map[string]bool, len(it.needs))
		for _, r := range it.needs {
			known[r.name] = true
		}
		for _, o := range before {
			if !known[o.name] {
				it.needs = append(it.needs, foreignNeed{importFilePosition: it.importFilePosition, name: o.name})
			}
		}
	}
}

// addProblem records a mistake in a file, with its correction.
func (d *importedPlanDraft) addProblem(at importFilePosition, format string, args ...any) {
	d.problems = append(d.problems, importProblem{at, fmt.Sprintf(format, args...)})
}

func (d *importedPlanDraft) addRemark(kind ImportRemarkKind, at importFilePosition, item, what, why string) {
	d.remarks = append(d.remarks, ImportRemark{Kind: kind, File: at.file, Line: at.line, Item: item, What: what, Why: why})
}

// addItem adds an item.
func (d *importedPlanDraft) addItem(it *importItem) {
	if !d.hasRoomFor(it.importFilePosition, 1, len(it.needs)) {
		return
	}
	if o := d.names[foldName(it.name)]; o != nil {
		d.addProblem(it.importFilePosition, "the id %q is used twice, first at %s; give one of them another id", it.name, o.importFilePosition)
		return
	}
	if d.names == nil {
		d.names = map[string]*importItem{}
	}
	if it.name != "" {
		d.names[foldName(it.name)] = it
	}
	d.items = append(d.items, it)
}

// itemsThatBecomeTasks returns the items that become tasks.
func (d *importedPlanDraft) itemsThatBecomeTasks() []*importItem {
	var out []*importItem
	for _, it := range d.items {
		if it.out == "" {
			out = append(out, it)
		}
	}
	return out
}

// buildImport makes the plan from the items.
func (d *importedPlanDraft) buildImport(ctx context.Context) (ImportedPlan, error) {
	i := ImportedPlan{Format: d.format, File: d.source.name, places: map[nexus.TaskID]importFilePosition{}}
	if len(d.items) == 0 && len(d.problems) == 0 {
		d.addProblem(importFilePosition{file: d.source.name}, "no task was found that is written as %s writes it; docs/plan.md shows how", d.format)
	}
	if d.full {
		return ImportedPlan{}, d.problemsError()
	}
	d.sortByPriority()
	ids := d.assignTaskIDs()
	freed := map[*importItem][]string{}
	for _, it := range d.itemsThatBecomeTasks() {
		if err := context.Cause(ctx); err != nil {
			return ImportedPlan{}, err
		}
		t := it.task
		t.ID = ids[it]
		t.Needs, t.Wants = d.resolveNeeds(it, ids, freed)
		d.setTitle(&t, it)
		d.ensureCheckableCriterion(&t, it, d.most.Criteria)
		if len(t.Tags) > maxTags {
			d.addRemark(Lost, it.importFilePosition, it.name, fmt.Sprintf("%d tags", len(t.Tags)-maxTags), fmt.Sprintf("a task has at most %d", maxTags))
			t.Tags = t.Tags[:maxTags]
		}
		i.places[t.ID] = it.importFilePosition
		i.Plan.Tasks = append(i.Plan.Tasks, t)
	}
	d.remarkOmittedItems(freed)
	if err := d.problemsError(); err != nil {
		return ImportedPlan{}, err
	}
	if len(i.Plan.Tasks) == 0 {
		return ImportedPlan{}, &nexus.Error{
			Code: nexus.CodeInvalidPlan, Message: fmt.Sprintf("%s: nothing is left to do: %s", d.source.name, d.noTaskReason()),
			Hint: "Add a task that is open, or change the status of one.",
		}
	}
	i.Plan.Version, i.Plan.Goal = plan.Version, strings.TrimSpace(cmp.Or(strings.TrimSpace(d.goal), d.sourceBaseName()))
	i.Plan.Tasks = plan.NormaliseTasks(i.Plan.Tasks)
	plan.DropSoftCycles(i.Plan.Tasks, func(of, to nexus.TaskID) {
		d.addRemark(Lost, i.places[of], string(of), "the soft need of "+string(to), "it closes a cycle")
	})
	i.Remarks = d.orderedRemarks()
	return i, nil
}

// sortByPriority sorts the items by numeric priority, smaller numbers first.
func (d *importedPlanDraft) sortByPriority() {
	before := d.itemsThatBecomeTasks()
	slices.SortStableFunc(d.items, func(a, b *importItem) int { return cmp.Compare(a.rank, b.rank) })
	if d.format != Ralph && !slices.Equal(before, d.itemsThatBecomeTasks()) {
		d.addRemark(Changed, importFilePosition{file: before[0].file, line: 1}, "", "the priorities became the order of the tasks", "they are numbers, and a plan has words")
	}
}

// noTaskReason returns, in one line, why there is no task.
func (d *importedPlanDraft) noTaskReason() string {
	done := 0
	for _, it := range d.items {
		if it.out == Done {
			done++
		}
	}
	if done == len(d.items) {
		return "all tasks are done"
	}
	return fmt.Sprintf("of %d tasks %d are done, and the others are left out", len(d.items), done)
}

// problemsError returns the problems of the files as one error, by their lines.
func (d *importedPlanDraft) problemsError() error {
	if len(d.problems) == 0 {
		return nil
	}
	files := d.numberFiles()
	slices.SortStableFunc(d.problems, func(a, b importProblem) int {
		return cmp.Or(cmp.Compare(files[a.file], files[b.file]), cmp.Compare(a.line, b.line))
	})
	e := &nexus.Error{Code: nexus.CodeInvalidPlan}
	e.Hint = fmt.Sprintf("Correct these lines; docs/plan.md says how Nexus reads the format %s.", d.format)
	if d.format == "" {
		e.Hint = "Correct this line; a plan of another tool is valid JSON, or Markdown."
	}
	if len(d.problems) == 1 {
		e.Message = d.problems[0].String() + ": " + d.problems[0].text
		return e
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the plan cannot be read, for %d reasons:", len(d.problems))
	for _, p := range d.problems[:min(len(d.problems), maxProblems)] {
		fmt.Fprintf(&b, "\n- %s: %s", p.importFilePosition, p.text)
	}
	if more := len(d.problems) - maxProblems; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	e.Message = b.String()
	return e
}

// numberFiles numbers the files in the order in which they were read.
func (d *importedPlanDraft) numberFiles() map[string]int {
	order := map[string]int{}
	meet := func(file string) {
		if _, met := order[file]; !met {
			order[file] = len(order)
		}
	}
	for _, it := range d.items {
		meet(it.file)
	}
	for _, r := range d.remarks {
		meet(r.File)
	}
	for _, p := range d.problems {
		meet(p.file)
	}
	return order
}

// orderedRemarks returns the remarks in the order of the files.
func (d *importedPlanDraft) orderedRemarks() []ImportRemark {
	files := d.numberFiles()
	slices.SortStableFunc(d.remarks, func(a, b ImportRemark) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line))
	})
	if d.remarks == nil {
		return []ImportRemark{}
	}
	return d.remarks
}

// remarkOmittedItems adds remarks about the omitted items, and the tasks that needed them.
func (d *importedPlanDraft) remarkOmittedItems(freed map[*importItem][]string) {
	for _, it := range d.items {
		if it.out == "" || it.why == "" {
			continue
		}
		why := it.why
		if by := freed[it]; len(by) > 0 {
			verb := "needs"
			if len(by) > 1 {
				verb = "need"
			}
			why += "; " + joinFirst(by, 5) + " " + verb + " it no longer"
		}
		d.addRemark(it.out, it.importFilePosition, it.name, quoteTitle(it.task.Title), why)
	}
}

func quoteTitle(title string) string { return `"` + sanitize.TruncateText(title, 60) + `"` }

// setTitle sets the title of a task to one line. The rest is in its brief.
func (d *importedPlanDraft) setTitle(t *nexus.Task, it *importItem) {
	full := strings.Join(strings.Fields(strings.Map(mapTitleRune, it.task.Title)), " ")
	if full == "" {
		d.addProblem(it.importFilePosition, "%s has no title; say in one line what it does", it.displayName())
		return
	}
	brief := it.brief
	if t.Title = full; utf8.RuneCountInString(full) > maxTitle {
		t.Title = shortenTitle(full)
		if !slices.ContainsFunc(brief, func(p string) bool { return strings.Contains(p, full) }) {
			brief = slices.Concat([]string{full}, brief)
		}
	}
	brief, said := cutCriteriaFromText(brief)
	t.Criteria = slices.Concat(t.Criteria, said)
	var parts []string
	for _, p := range brief {
		if p = strings.TrimSpace(p); p != "" && !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	t.Brief = strings.Join(parts, "\n\n")
}

// Mark begins the criteria in a text.
const Mark = "Done when:"

// cutCriteriaFromText cuts the criteria off the end of a text, where Nexus writes them if a format has no
// other field for them.
func cutCriteriaFromText(brief []string) ([]string, []nexus.Criterion) {
	if len(brief) == 0 {
		return brief, nil
	}
	before, list, found := strings.Cut("\n"+brief[0], "\n"+Mark+"\n- ")
	if !found {
		return brief, nil
	}
	var out []nexus.Criterion
	for text := range strings.SplitSeq(list, "\n- ") {
		out = append(out, parseCriterion(text))
	}
	return slices.Concat([]string{before}, brief[1:]), out
}

// mapTitleRune drops characters that are not allowed in a title.
func mapTitleRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case sanitize.IsHiddenCharacter(r):
		return -1
	default:
		return r
	}
}

// shortenTitle returns the beginning of a long title.
func shortenTitle(full string) string {
	runes := []rune(full)
	head := string(runes[:maxTitle-3])
	best := 0
	for _, end := range []string{". ", "; ", " (", ": ", " - ", ", "} {
		if i := strings.LastIndex(head, end); i >= 40 {
			best = i
			break
		}
	}
	if best > 0 {
		return strings.TrimRight(head[:best], " ,;:-")
	}
	if i := strings.LastIndexByte(head, ' '); i > 40 {
		head = head[:i]
	}
	return head + "..."
}

// ensureCheckableCriterion adds to a task a criterion that a machine can check, if it has none.
func (d *importedPlanDraft) ensureCheckableCriterion(t *nexus.Task, it *importItem, most int) {
	t.Criteria = slices.Clone(t.Criteria)
	if slices.ContainsFunc(t.Criteria, func(c nexus.Criterion) bool { return c.Check != "" }) {
		return
	}
	const why = "no criterion of it can be checked by a machine"
	switch n := len(t.Criteria); {
	case n > 0 && t.Kind == nexus.DocsTask:
	case t.Kind == nexus.DocsTask:
		t.Criteria = []nexus.Criterion{{Text: t.Title}}
		d.addRemark(Changed, it.importFilePosition, it.name, "its title is its criterion", "it has no criterion")
	case n == 0:
		t.Criteria = []nexus.Criterion{{Text: t.Title, Check: "test"}}
		d.addRemark(Changed, it.importFilePosition, it.name, "its title is its criterion, which the gate test shows", "it has no criterion")
	case n < most:
		t.Criteria = append(t.Criteria, nexus.Criterion{Text: "The tests pass", Check: "test"})
		d.addRemark(Changed, it.importFilePosition, it.name, "the criterion that the gate test passes was added", why)
	default:
		t.Criteria[n-1].Check = "test"
		d.addRemark(Changed, it.importFilePosition, it.name, fmt.Sprintf("the gate test shows its criterion %d", n), why)
	}
}

// parseCriterion parses a criterion. Its check may follow in brackets, as Nexus writes it: (check:
// `command`).
func parseCriterion(text string) nexus.Criterion {
	text = strings.TrimSpace(text)
	if m := checkAtEnd.FindStringSubmatch(text); m != nil {
		return nexus.Criterion{Text: m[1], Check: cmp.Or(m[2], m[3])}
	}
	return nexus.Criterion{Text: text}
}

// FormatCriterion formats a criterion with its check in one line, as it is parsed.
func FormatCriterion(c nexus.Criterion) string {
	switch text := strings.Join(strings.Fields(c.Text), " "); {
	case c.Check == "":
		return text
	case strings.Contains(c.Check, "`"):
		return text + " (check: `` " + c.Check + " ``)"
	default:
		return text + " (check: `" + c.Check + "`)"
	}
}
