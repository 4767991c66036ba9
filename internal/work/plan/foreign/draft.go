package foreign

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

var (
	taskIDPattern = pattern.Lazy(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	checkAtEnd    = pattern.Lazy("(?s)^(.*?)\\s*\\(check: (?:`` (.+) ``|`([^`]+)`)\\)$")
)

const (
	maxTitle    = 120
	maxTags     = 10
	maxProblems = 50
	maxNamed    = 5 // files that are extracted from a sentence
)

// ref is a need in the file's notation: the name or title of another item.
type ref struct {
	place

	name string
	soft bool // optional: the task waits for it only if it will land
}

// item is one entry of a file that may become a task.
type item struct {
	place

	name  string // its name in the file
	brief []string
	task  nexus.Task // without ID, needs and brief
	needs []ref
	out   Kind     // Lost or Done if it does not become a task; empty: it does
	why   string   // reason for that
	parts []string // names of the items that replace it
	rank  int      // a priority that is a number: smaller comes first
}

// called returns the name of an item in errors.
func (it *item) called() string {
	switch {
	case it.name == "":
		return "a task"
	case it.name[0] >= '0' && it.name[0] <= '9':
		return "task " + it.name
	default:
		return it.name
	}
}

type problem struct {
	place

	text string
}

// draft is a plan that is being read.
type draft struct {
	format   Format
	source   Source
	most     nexus.Size // size limit of a task
	goal     string
	items    []*item
	names    map[string]*item // items by their folded names
	titles   map[string]*item // items by their folded titles; built once all are read
	remarks  []Remark
	problems []problem
	needs    int  // number of needs
	full     bool // the limit of tasks or needs was exceeded
}

// maxBefore limits for how many tasks each task of a group waits if one group waits for
// another.
const maxBefore = 50

// fits reports whether more tasks and needs are allowed. If not, the plan is refused.
func (d *draft) fits(at place, tasks, needs int) bool {
	d.needs += needs
	if d.full || len(d.items)+tasks <= plan.MaxTasks && d.needs <= plan.MaxNeeds {
		return !d.full
	}
	d.full = true
	d.wrong(at, "there are more than %d tasks, or more than %d needs among them; split them into several plans", plan.MaxTasks, plan.MaxNeeds)
	return false
}

// after makes each task of a group wait for all of another. In a large group the last task
// waits for the others of its group, and represents them: there is no need from each to each.
func (d *draft) after(before, group []*item) {
	if n := len(before) - 1; n >= maxBefore && len(group) > 1 {
		last := before[n]
		d.after(before[:n], []*item{last})
		what := fmt.Sprintf("it waits for the %d tasks that may run beside it", n)
		d.remark(Changed, last.place, last.name, what, "what follows waits for it alone")
		before = []*item{last}
	}
	for _, it := range group {
		if !d.fits(it.place, 0, len(before)) {
			return
		}
		known := make(map[string]bool, len(it.needs))
		for _, r := range it.needs {
			known[r.name] = true
		}
		for _, o := range before {
			if !known[o.name] {
				it.needs = append(it.needs, ref{place: it.place, name: o.name})
			}
		}
	}
}

// wrong records a mistake in a file, with its correction.
func (d *draft) wrong(at place, format string, args ...any) {
	d.problems = append(d.problems, problem{at, fmt.Sprintf(format, args...)})
}

func (d *draft) remark(kind Kind, at place, item, what, why string) {
	d.remarks = append(d.remarks, Remark{Kind: kind, File: at.file, Line: at.line, Item: item, What: what, Why: why})
}

// add adds an item.
func (d *draft) add(it *item) {
	if !d.fits(it.place, 1, len(it.needs)) {
		return
	}
	if o := d.names[folded(it.name)]; o != nil {
		d.wrong(it.place, "the id %q is used twice, first at %s; give one of them another id", it.name, o.place)
		return
	}
	if d.names == nil {
		d.names = map[string]*item{}
	}
	if it.name != "" {
		d.names[folded(it.name)] = it
	}
	d.items = append(d.items, it)
}

// open returns the items that become tasks.
func (d *draft) open() []*item {
	var out []*item
	for _, it := range d.items {
		if it.out == "" {
			out = append(out, it)
		}
	}
	return out
}

// finish makes the plan from the items.
func (d *draft) finish(ctx context.Context) (Import, error) {
	i := Import{Format: d.format, File: d.source.name, places: map[nexus.TaskID]place{}}
	if len(d.items) == 0 && len(d.problems) == 0 {
		d.wrong(place{file: d.source.name}, "no task was found that is written as %s writes it; docs/plan.md shows how", d.format)
	}
	if d.full {
		return Import{}, d.refuse()
	}
	d.sort()
	ids := d.identify()
	freed := map[*item][]string{}
	for _, it := range d.open() {
		if err := context.Cause(ctx); err != nil {
			return Import{}, err
		}
		t := it.task
		t.ID = ids[it]
		t.Needs, t.Wants = d.resolve(it, ids, freed)
		d.entitle(&t, it)
		d.criteria(&t, it, d.most.Criteria)
		if len(t.Tags) > maxTags {
			d.remark(Lost, it.place, it.name, fmt.Sprintf("%d tags", len(t.Tags)-maxTags), fmt.Sprintf("a task has at most %d", maxTags))
			t.Tags = t.Tags[:maxTags]
		}
		i.places[t.ID] = it.place
		i.Plan.Tasks = append(i.Plan.Tasks, t)
	}
	d.leave(freed)
	if err := d.refuse(); err != nil {
		return Import{}, err
	}
	if len(i.Plan.Tasks) == 0 {
		return Import{}, &nexus.Error{
			Code: nexus.CodeInvalidPlan, Message: fmt.Sprintf("%s: nothing is left to do: %s", d.source.name, d.all()),
			Hint: "Add a task that is open, or change the status of one.",
		}
	}
	i.Plan.Version, i.Plan.Goal = plan.Version, strings.TrimSpace(cmp.Or(strings.TrimSpace(d.goal), d.base()))
	i.Plan.Tasks = plan.Normalise(i.Plan.Tasks)
	plan.DropSoftCycles(i.Plan.Tasks, func(of, to nexus.TaskID) {
		d.remark(Lost, i.places[of], string(of), "the soft need of "+string(to), "it closes a cycle")
	})
	i.Remarks = d.ordered()
	return i, nil
}

// sort sorts the items by numeric priority, smaller numbers first.
func (d *draft) sort() {
	before := d.open()
	slices.SortStableFunc(d.items, func(a, b *item) int { return cmp.Compare(a.rank, b.rank) })
	if d.format != Ralph && !slices.Equal(before, d.open()) {
		d.remark(Changed, place{before[0].file, 1}, "", "the priorities became the order of the tasks", "they are numbers, and a plan has words")
	}
}

// all returns, in one line, why there is no task.
func (d *draft) all() string {
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

// refuse returns the problems of the files as one error, by their lines.
func (d *draft) refuse() error {
	if len(d.problems) == 0 {
		return nil
	}
	files := d.files()
	slices.SortStableFunc(d.problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(files[a.file], files[b.file]), cmp.Compare(a.line, b.line))
	})
	e := &nexus.Error{Code: nexus.CodeInvalidPlan}
	e.Hint = fmt.Sprintf("Correct these lines; docs/plan.md says how Nexus reads the format %s.", d.format)
	if len(d.problems) == 1 {
		e.Message = d.problems[0].String() + ": " + d.problems[0].text
		return e
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the plan cannot be read, for %d reasons:", len(d.problems))
	for _, p := range d.problems[:min(len(d.problems), maxProblems)] {
		fmt.Fprintf(&b, "\n- %s: %s", p.place, p.text)
	}
	if more := len(d.problems) - maxProblems; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	e.Message = b.String()
	return e
}

// files numbers the files in the order in which they were read.
func (d *draft) files() map[string]int {
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

// ordered returns the remarks in the order of the files.
func (d *draft) ordered() []Remark {
	files := d.files()
	slices.SortStableFunc(d.remarks, func(a, b Remark) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line))
	})
	if d.remarks == nil {
		return []Remark{}
	}
	return d.remarks
}

// leave adds remarks about the omitted items, and the tasks that needed them.
func (d *draft) leave(freed map[*item][]string) {
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
			why += "; " + some(by, 5) + " " + verb + " it no longer"
		}
		d.remark(it.out, it.place, it.name, quoteTitle(it.task.Title), why)
	}
}

func quoteTitle(title string) string { return `"` + sanitize.Cut(title, 60) + `"` }

// entitle sets the title of a task to one line. The rest is in its brief.
func (d *draft) entitle(t *nexus.Task, it *item) {
	full := strings.Join(strings.Fields(strings.Map(visible, it.task.Title)), " ")
	if full == "" {
		d.wrong(it.place, "%s has no title; say in one line what it does", it.called())
		return
	}
	brief := it.brief
	if t.Title = full; utf8.RuneCountInString(full) > maxTitle {
		t.Title = short(full)
		if !slices.ContainsFunc(brief, func(p string) bool { return strings.Contains(p, full) }) {
			brief = slices.Concat([]string{full}, brief)
		}
	}
	brief, said := doneWhen(brief)
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

// doneWhen cuts the criteria off the end of a text, where Nexus writes them if a format has no
// other field for them.
func doneWhen(brief []string) ([]string, []nexus.Criterion) {
	if len(brief) == 0 {
		return brief, nil
	}
	before, list, found := strings.Cut("\n"+brief[0], "\n"+Mark+"\n- ")
	if !found {
		return brief, nil
	}
	var out []nexus.Criterion
	for text := range strings.SplitSeq(list, "\n- ") {
		out = append(out, checked(text))
	}
	return slices.Concat([]string{before}, brief[1:]), out
}

// visible drops characters that are not allowed in a title.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case sanitize.Hidden(r):
		return -1
	default:
		return r
	}
}

// short returns the beginning of a long title.
func short(full string) string {
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

// criteria adds to a task a criterion that a machine can check, if it has none.
func (d *draft) criteria(t *nexus.Task, it *item, most int) {
	t.Criteria = slices.Clone(t.Criteria)
	if slices.ContainsFunc(t.Criteria, func(c nexus.Criterion) bool { return c.Check != "" }) {
		return
	}
	const why = "no criterion of it can be checked by a machine"
	switch n := len(t.Criteria); {
	case n > 0 && t.Kind == nexus.DocsTask:
	case t.Kind == nexus.DocsTask:
		t.Criteria = []nexus.Criterion{{Text: t.Title}}
		d.remark(Changed, it.place, it.name, "its title is its criterion", "it has no criterion")
	case n == 0:
		t.Criteria = []nexus.Criterion{{Text: t.Title, Check: "test"}}
		d.remark(Changed, it.place, it.name, "its title is its criterion, which the gate test shows", "it has no criterion")
	case n < most:
		t.Criteria = append(t.Criteria, nexus.Criterion{Text: "The tests pass", Check: "test"})
		d.remark(Changed, it.place, it.name, "the criterion that the gate test passes was added", why)
	default:
		t.Criteria[n-1].Check = "test"
		d.remark(Changed, it.place, it.name, fmt.Sprintf("the gate test shows its criterion %d", n), why)
	}
}

// checked parses a criterion. Its check may follow in brackets, as Nexus writes it: (check:
// `command`).
func checked(text string) nexus.Criterion {
	text = strings.TrimSpace(text)
	if m := checkAtEnd().FindStringSubmatch(text); m != nil {
		return nexus.Criterion{Text: m[1], Check: cmp.Or(m[2], m[3])}
	}
	return nexus.Criterion{Text: text}
}

// Criterion formats a criterion with its check in one line, as it is parsed.
func Criterion(c nexus.Criterion) string {
	switch text := strings.Join(strings.Fields(c.Text), " "); {
	case c.Check == "":
		return text
	case strings.Contains(c.Check, "`"):
		return text + " (check: `` " + c.Check + " ``)"
	default:
		return text + " (check: `" + c.Check + "`)"
	}
}
