package plan

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IsMarkdown reports whether a plan file is in Markdown.
func IsMarkdown(data []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF"))), []byte("\n"))
	return strings.TrimSpace(string(first)) == goalTitle
}

// LoadMarkdown parses a plan that [FormatMarkdown] wrote and a person edited, and checks it.
// Problems name their line.
func LoadMarkdown(data []byte, most nexus.TaskSizeLimits) (nexus.Plan, error) {
	if len(data) > maxFile {
		return nexus.Plan{}, newPlanError(nexus.CodeInvalidPlan, fmt.Sprintf("the plan file has %d bytes, the maximum is %d", len(data), maxFile))
	}
	r := planMarkdownParser{at: map[taskFieldPosition]int{}, plan: nexus.Plan{Version: Version}}
	for text := range strings.SplitSeq(string(data), "\n") {
		r.line++
		if !utf8.ValidString(text) {
			r.addLineError("it is not UTF-8")
		}
		r.parseLine(strings.TrimSuffix(text, "\r"))
	}
	r.endTask()
	if !r.begun {
		return nexus.Plan{}, newPlanError(nexus.CodeInvalidPlan, fmt.Sprintf("line 1: a plan starts with %q", goalTitle))
	}
	if len(r.wrong) > 0 {
		return nexus.Plan{}, newPlanError(nexus.CodeInvalidPlan, r.wrong...)
	}
	r.plan.Goal = strings.TrimSpace(r.plan.Goal)
	r.plan.Tasks = NormaliseTasks(r.plan.Tasks)
	normaliseAssumptionsAndRisks(&r.plan)
	problems := FindProblems(r.plan, most)
	for i, p := range problems {
		if line := r.problemLine(p); line > 0 {
			problems[i].Text = fmt.Sprintf("line %d: %s", line, p.Text)
		}
	}
	return r.plan, ProblemsError(problems, most)
}

// CopyTrialResults copies the results of a plan's checks to the same checks of another plan,
// which was made from it.
func CopyTrialResults(p *nexus.Plan, from nexus.Plan) {
	known := map[nexus.Criterion]nexus.Criterion{}
	bare := func(c nexus.Criterion) nexus.Criterion {
		return nexus.Criterion{Text: c.Text, Check: c.Check, Red: c.Red, Kind: c.Kind}
	}
	for _, t := range from.Tasks {
		for _, c := range t.Criteria {
			known[bare(c)] = c
		}
	}
	for i := range p.Tasks {
		for j, c := range p.Tasks[i].Criteria {
			if was, ok := known[bare(c)]; ok {
				p.Tasks[i].Criteria[j] = was
			}
		}
	}
}

// taskFieldPosition identifies a part of a task that a person wrote; see [PlanProblem].
type taskFieldPosition struct {
	task  int
	field WrittenTaskField
}

// planFilePart is the part of the file that is being parsed.
type planFilePart string

const (
	before   planFilePart = "" // the title of the plan
	goal     planFilePart = "goal"
	assumed  planFilePart = "assumptions"
	foreseen planFilePart = "risks"
	begun    planFilePart = "task" // only its title has been read
	listed   planFilePart = "fields"
	brief    planFilePart = "brief"
	criteria planFilePart = "criteria"
)

// planMarkdownParser parses a plan line by line.
type planMarkdownParser struct {
	plan  nexus.Plan
	begun bool
	part  planFilePart
	line  int
	task  nexus.Task  // the current task
	set   []string    // fields of the task that were set
	like  headingLine // a heading in it that may be a misspelt title of the criteria
	at    map[taskFieldPosition]int
	wrong []string
}

func (r *planMarkdownParser) addLineError(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf("line %d: ", r.line)+fmt.Sprintf(format, args...))
}

// problemLine returns the line of a problem's cause; 0 if unknown.
func (r *planMarkdownParser) problemLine(p PlanProblem) int {
	for _, f := range []WrittenTaskField{p.Field, {Name: p.Field.Name}, {}} {
		if line := r.at[taskFieldPosition{p.Task, f}]; line > 0 {
			return line
		}
	}
	return 0
}

// recordFieldLine stores the line of a field of the task.
func (r *planMarkdownParser) recordFieldLine(f WrittenTaskField) {
	r.at[taskFieldPosition{len(r.plan.Tasks) + 1, f}] = r.line
}

func (r *planMarkdownParser) parseLine(text string) {
	named, task := strings.CutPrefix(text+" ", taskTitle)
	switch {
	case r.part == before:
		r.parsePreamble(text)
	case r.beginPlanSection(text):
	case task:
		r.endTask()
		r.beginTask(strings.TrimSpace(named))
	case strings.HasPrefix(strings.TrimLeft(text, " "), comment):
		if !strings.HasSuffix(strings.TrimRight(text, " "), "-->") {
			r.addLineError("a comment ends in its own line, with -->")
		}
		if m := maker.FindStringSubmatch(text); m != nil && r.part == goal {
			r.plan.Run = nexus.RunID(m[1])
		}
	case r.part == assumed || r.part == foreseen:
		r.parsePlanSectionLine(text)
	case r.part == goal && isCriteria(text):
		r.addLineError("%s is in no task; start a task above it with a line such as \"## T1: Title\". "+
			"If it belongs to the goal, write \\ before it", quoteShort(text))
	case r.part == goal:
		r.plan.Goal += unescapeLine(text, title) + "\n"
	case isCriteria(text) && r.part != criteria:
		r.part = criteria
		r.recordFieldLine(WrittenTaskField{Name: "criteria"})
	case r.part == begun && strings.TrimSpace(text) == "":
	case r.part == begun && strings.HasPrefix(text, "- "), r.part == listed && strings.TrimSpace(text) != "":
		r.part = listed
		r.parseTaskField(text)
	case r.part == criteria:
		r.parseCriterion(text)
	default:
		if r.part != criteria && mayBeCriteriaTitle(text) && r.like.line == 0 {
			r.like = headingLine{r.line, text}
		}
		r.addBriefLine(text)
	}
}

// headingLine is a heading and its line.
type headingLine struct {
	line int
	text string
}

// isCriteria reports whether a line begins the criteria of a task.
func isCriteria(text string) bool { return strings.EqualFold(strings.TrimSpace(text), criteriaTitle) }

// mayBeCriteriaTitle reports whether a line may be a misspelt title of the criteria.
func mayBeCriteriaTitle(text string) bool {
	text = strings.TrimSpace(text)
	words := strings.ToLower(strings.Trim(text, "#*: "))
	return strings.HasPrefix(text, "#") && (strings.HasPrefix(words, "done") || strings.Contains(words, "criteri"))
}

// parsePreamble parses the lines before the goal.
func (r *planMarkdownParser) parsePreamble(text string) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	switch {
	case text == goalTitle:
		r.begun, r.part = true, goal
	case text != "" && !r.begun && len(r.wrong) == 0:
		r.addLineError("a plan starts with %q", goalTitle)
	}
}

// beginTask begins a task.
func (r *planMarkdownParser) beginTask(text string) {
	r.task, r.set, r.like, r.part = nexus.Task{Title: text}, nil, headingLine{}, begun
	if m := regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]{0,31}):\s*(.*)$`).FindStringSubmatch(text); m != nil {
		r.task.ID, r.task.Title = nexus.TaskID(m[1]), m[2]
	}
	r.recordFieldLine(WrittenTaskField{})
}

// endTask ends the current task, if there is one.
func (r *planMarkdownParser) endTask() {
	switch r.part {
	case before, goal, assumed, foreseen:
	default:
		if r.like.line > 0 && len(r.task.Criteria) == 0 {
			r.wrong = append(r.wrong, fmt.Sprintf("line %d: %s does not begin the criteria of a task; write %q",
				r.like.line, quoteShort(r.like.text), criteriaTitle))
		}
		r.plan.Tasks = append(r.plan.Tasks, r.task)
	}
}

// parseTaskField parses a field of a task.
func (r *planMarkdownParser) parseTaskField(text string) {
	name, value, ok := strings.Cut(strings.TrimPrefix(text, "- "), ":")
	name = strings.ToLower(strings.TrimSpace(name))
	known := taskFields()
	i := slices.IndexFunc(known, func(f taskFieldCodec) bool { return f.name == name })
	if !ok || !strings.HasPrefix(text, "- ") || i < 0 {
		names := make([]string, len(known))
		for k, f := range known {
			names[k] = f.name
		}
		r.addLineError("%s is not a field of a task; a field is a line such as \"- files: a.go\", and the names are %s. Text comes after an empty line", quoteShort(text), strings.Join(names, ", "))
		return
	}
	if slices.Contains(r.set, name) {
		r.addLineError("%s is in this task twice; put all in one line", name)
		return
	}
	r.set = append(r.set, name)
	r.recordFieldLine(WrittenTaskField{Name: name})
	v, err := parseFieldValues(value, known[i].many)
	if err == nil && len(v) > 0 {
		err = known[i].set(&r.task, v)
	}
	if err != nil {
		r.addLineError("%v", err)
	}
}

// addBriefLine adds a line to the brief.
func (r *planMarkdownParser) addBriefLine(text string) {
	r.part = brief
	if r.task.Brief == "" && text != "" {
		r.recordFieldLine(WrittenTaskField{Name: "brief"})
	}
	r.task.Brief += unescapeLine(text, title) + "\n"
}

// parseCriterion parses a line below the title of the criteria.
func (r *planMarkdownParser) parseCriterion(text string) {
	all := r.task.Criteria
	first, begins := strings.CutPrefix(text, "- ")
	inner, below := strings.CutPrefix(text, "  ")
	inner = strings.TrimPrefix(inner, "  ") // this indentation is also valid
	switch {
	case begins:
		if m := box.FindString(first); m != "" && !strings.HasPrefix(m, `\`) {
			first = first[len(m):]
		}
		first = unescapeLine(unescapeLine(first, box), item)
		r.task.Criteria = append(all, nexus.Criterion{Text: first})
		r.recordFieldLine(WrittenTaskField{"criteria", len(r.task.Criteria)})
		if strings.TrimSpace(first) == "" {
			r.addLineError("a criterion has a text: what must be true when the task is done")
		}
	case strings.TrimSpace(text) == "":
		if len(all) > 0 {
			all[len(all)-1].Text += "\n" + strings.TrimPrefix(text, "  ")
		}
	case len(all) == 0 || !below:
		r.addLineError("%s is not a criterion; a criterion is a line that starts with \"- \", and what belongs to it is indented below it", quoteShort(text))
	case strings.HasPrefix(inner, "- "):
		r.parseCriterionField(&all[len(all)-1], strings.TrimPrefix(inner, "- "))
	default:
		all[len(all)-1].Text += "\n" + unescapeLine(strings.TrimPrefix(text, "  "), item)
	}
}

// parseCriterionField parses a field of a criterion.
func (r *planMarkdownParser) parseCriterionField(c *nexus.Criterion, text string) {
	name, value, ok := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	switch name = strings.ToLower(strings.TrimSpace(name)); {
	case ok && name == "check" && c.Check != "":
		r.addLineError("a criterion has one check; make two criteria of it")
	case ok && name == "check":
		if len(value) > 1 && strings.HasPrefix(value, "`") && strings.HasSuffix(value, "`") {
			value = strings.TrimSpace(value[1 : len(value)-1])
		}
		c.Check = value
	case ok && name == "kind":
		if c.Kind = nexus.CriterionKind(value); !c.Kind.CanBePlanned() {
			r.addLineError("%s is not a kind of criterion; it is stays, tests or gate", quoteShort(value))
		}
	case ok && name == "red":
		c.Red = true
	default:
		r.addLineError("%s is not a field of a criterion; it has \"- check: COMMAND\"", quoteShort(text))
	}
}
