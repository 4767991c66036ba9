// Package plan turns a goal or a plan file into a valid task graph, or reports all its
// problems.
package plan

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// Version is the version of the plan file that this package reads.
const Version = 1

const (
	maxFile   = 16 << 20  // bytes of a plan file
	maxHandin = 1 << 20   // bytes of a planner's submission
	maxGoal   = 100 << 10 // bytes of a goal
)

//go:embed file.json
var fileSchema []byte

//go:embed handin.json
var handinSchema []byte

// FileSchema returns the JSON Schema of a plan file.
func FileSchema() json.RawMessage { return bytes.Clone(fileSchema) }

// SubmissionSchema returns the JSON Schema of a planner's submission.
func SubmissionSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, handinSchema) != nil { // a test parses it
		return handinSchema
	}
	return b.Bytes()
}

// LoadPlan parses a plan file and checks it. If [CheckPlan] finds problems, the plan is also returned,
// and the problems have their lines, so that it can be shown.
func LoadPlan(data []byte, most nexus.TaskSizeLimits) (nexus.Plan, error) {
	if len(data) > maxFile {
		return nexus.Plan{}, newPlanError(nexus.CodeInvalidPlan, fmt.Sprintf("the plan file has %d bytes, the maximum is %d", len(data), maxFile))
	}
	var p nexus.Plan
	if problems := agent.DecodeStrictly(data, fileSchema, &p); len(problems) > 0 {
		return nexus.Plan{}, newPlanError(nexus.CodeInvalidPlan, problems...)
	}
	p.Goal, p.Cover = strings.TrimSpace(p.Goal), nil // the file may have been edited since
	p.Tasks = NormaliseTasks(p.Tasks)
	normaliseAssumptionsAndRisks(&p)
	if p.Version != Version {
		return p, &nexus.Error{
			Code: nexus.CodeInvalidPlan, Message: fmt.Sprintf("the plan file has version %d, this nexus reads version %d", p.Version, Version),
			Hint: fmt.Sprintf(`Set "version": %d and see docs/plan.md for what it means.`, Version),
		}
	}
	problems := FindProblems(p, most)
	addProblemLines(problems, data, p.Tasks)
	return p, ProblemsError(problems, most)
}

// plannerSubmission is a planner's submission.
type plannerSubmission struct {
	Tasks  []nexus.Task `json:"tasks"`
	Reason string       `json:"reason"` // why there are no tasks
	// tasks and amend are changes of the plan before; the rest stays
	Keep  bool            `json:"keep"`
	Amend []taskAmendment `json:"amend"`

	Assumptions []string         `json:"assumptions"`
	Risks       []nexus.PlanRisk `json:"risks"`
}

// parseAndCheckSubmission parses a planner's submission for a goal, which may amend the plan before, and checks
// it. It is also returned with the problems of [CheckPlan].
func parseAndCheckSubmission(data []byte, goal string, most nexus.TaskSizeLimits, before nexus.Plan) (nexus.Plan, error) {
	p, err := parsePlanSubmission(data, before)
	p.Goal = strings.TrimSpace(goal)
	if err != nil {
		return p, err
	}
	return p, CheckPlan(p, most)
}

// parsePlanSubmission parses a planner's submission, which may amend the plan before, if that has tasks.
func parsePlanSubmission(data []byte, before nexus.Plan) (nexus.Plan, error) {
	p := nexus.Plan{Version: Version}
	if len(data) > maxHandin {
		return p, newPlanError(nexus.CodeInvalidPlan, fmt.Sprintf("the plan has %d bytes, the maximum is %d", len(data), maxHandin))
	}
	var h plannerSubmission
	if problems := agent.DecodeStrictly(tool.CoerceInputToSchema(handinSchema, data), handinSchema, &h); len(problems) > 0 {
		return p, newPlanError(nexus.CodeInvalidPlan, problems...)
	}
	amends := h.Keep || len(h.Amend) > 0
	if amends && len(before.Tasks) == 0 {
		return p, newPlanError(nexus.CodeInvalidPlan, "there is no plan before that it could amend: submit all tasks in tasks, without keep and amend")
	}
	if amends {
		var problems []string
		if p, problems = applyAmendments(before, h); len(problems) > 0 {
			return nexus.Plan{Version: Version}, newPlanError(nexus.CodeInvalidPlan, problems...)
		}
		h.Tasks = p.Tasks
	}
	if len(h.Tasks) == 0 {
		why := "the planner proposed no task"
		if reason := strings.TrimSpace(h.Reason); reason != "" {
			why += ": " + reason
		}
		return p, newPlanError(nexus.CodeNothingProposed, why)
	}
	p.Tasks = NormaliseTasks(h.Tasks)
	if h.Assumptions != nil {
		p.Assumptions = h.Assumptions
	}
	if h.Risks != nil {
		p.Foreseen = h.Risks
	}
	normaliseAssumptionsAndRisks(&p)
	return p, nil
}

// Limits of a plan's assumptions and risks.
const (
	maxAssumptions = 50
	maxForeseen    = 20
)

// normaliseAssumptionsAndRisks puts the texts of a plan besides its tasks on one line each, and drops empty
// ones.
func normaliseAssumptionsAndRisks(p *nexus.Plan) {
	var said []string
	for _, text := range p.Assumptions {
		if text = prompt.SingleLine(text); text != "" && !slices.Contains(said, text) && len(said) < maxAssumptions {
			said = append(said, text)
		}
	}
	var risks []nexus.PlanRisk
	for _, r := range p.Foreseen {
		r.Text, r.Mitigation, r.Task = prompt.SingleLine(r.Text), prompt.SingleLine(r.Mitigation), nexus.TaskID(prompt.SingleLine(string(r.Task)))
		if !slices.ContainsFunc(p.Tasks, func(t nexus.Task) bool { return t.ID == r.Task }) {
			r.Task = "" // the plan as a whole
		}
		if r.Text != "" && !slices.Contains(risks, r) && len(risks) < maxForeseen {
			risks = append(risks, r)
		}
	}
	p.Assumptions, p.Foreseen = said, risks
}

// CheckGoal refuses a goal that cannot be planned.
func CheckGoal(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the goal is empty",
			Hint: "Describe what you want in one or more sentences.",
		}
	case !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the goal %q has no content", sanitize.TruncateText(text, 40)),
			Hint: "Describe what you want in one or more sentences; -f - reads it from standard input.",
		}
	case len(text) > maxGoal:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the goal has %d bytes, the maximum is %d", len(text), maxGoal),
			Hint: "Describe in a few sentences what you want, and commit long material to the repository, where the agents can read it.",
		}
	default:
		return nil
	}
}

// NormaliseTasks trims texts, cleans paths, drops repetitions and gives tasks
// without an ID the next free one of T1, T2 and so on.
func NormaliseTasks(tasks []nexus.Task) []nexus.Task {
	taken := map[nexus.TaskID]bool{}
	for i := range tasks {
		tasks[i].ID = nexus.TaskID(strings.TrimSpace(string(tasks[i].ID)))
		taken[tasks[i].ID] = true
	}
	n := 0
	for i := range tasks {
		t := &tasks[i]
		for t.ID == "" {
			if n++; !taken[nexus.TaskID(fmt.Sprintf("T%d", n))] {
				t.ID = nexus.TaskID(fmt.Sprintf("T%d", n))
			}
		}
		normaliseTask(t)
	}
	resolveTitleNeeds(tasks)
	expandGroupNeeds(tasks)
	return tasks
}

// resolveTitleNeeds replaces titles in needs by the tasks' IDs. A title of several tasks is not
// replaced.
func resolveTitleNeeds(tasks []nexus.Task) {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	named, ids := map[string][]nexus.TaskID{}, map[nexus.TaskID]bool{}
	for _, t := range tasks {
		ids[t.ID] = true
		named[fold(t.Title)] = append(named[fold(t.Title)], t.ID)
	}
	id := func(name nexus.TaskID) nexus.TaskID {
		if of := named[fold(string(name))]; !ids[name] && len(of) == 1 {
			return of[0]
		}
		return name
	}
	for i := range tasks {
		t := &tasks[i]
		t.Needs, t.Wants = cleanDistinct(t.Needs, id), cleanDistinct(t.Wants, id)
		// a need is stronger
		t.Wants = slices.DeleteFunc(t.Wants, func(w nexus.TaskID) bool { return slices.Contains(t.Needs, w) })
		if len(t.Ties) == 0 {
			t.Ties = nil
			continue
		}
		ties := nexus.DependencyReasons{}
		for name, tie := range t.Ties {
			if tie != nexus.TieBlocks {
				ties[id(trimTaskID(name))] = tie
			}
		}
		t.Ties = ties
	}
}

func trimTaskID(id nexus.TaskID) nexus.TaskID { return nexus.TaskID(strings.TrimSpace(string(id))) }

func normaliseTask(t *nexus.Task) {
	t.Title = strings.Join(strings.Fields(t.Title), " ")
	t.Brief, t.Reason, t.Model = strings.TrimSpace(t.Brief), strings.TrimSpace(t.Reason), strings.TrimSpace(t.Model)
	t.Package = strings.TrimSpace(t.Package)
	if t.Group = nexus.NormalizeGroupName(t.Group); t.Priority == nexus.PriorityMedium {
		t.Priority = ""
	}
	t.Needs, t.Wants = cleanDistinct(t.Needs, trimTaskID), cleanDistinct(t.Wants, trimTaskID)
	t.Covers = cleanDistinct(t.Covers, func(id string) string { return strings.ToUpper(strings.TrimSpace(id)) })
	t.Files = cleanDistinct(t.Files, cleanPath)
	var criteria []nexus.Criterion
	for _, c := range t.Criteria {
		c.Text, c.Check = strings.TrimSpace(c.Text), strings.TrimSpace(c.Check)
		if c.Text == "" {
			c.Text = c.Check
		}
		if c != (nexus.Criterion{}) {
			criteria = append(criteria, c)
		}
	}
	t.Criteria = criteria
}

// cleanDistinct cleans items and drops repetitions and empty ones.
func cleanDistinct[T ~string](items []T, clean func(T) T) []T {
	var out []T
	seen := map[T]bool{"": true}
	for _, s := range items {
		if s = clean(s); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// cleanPath shortens a valid path; any other stays unchanged, for [CheckPlan] to report.
func cleanPath(file string) string {
	file = strings.TrimSpace(file)
	if file == "" || invalidPathReason(file) != "" {
		return file
	}
	return path.Clean(file)
}

// invalidPathReason returns why a path cannot name a file of the repository, or "".
func invalidPathReason(file string) string {
	switch {
	case strings.HasPrefix(file, "/") || strings.HasPrefix(file, "~") || len(file) > 1 && file[1] == ':':
		return "is not relative to the root of the repository"
	case strings.Contains(file, `\`):
		return "has a backslash; paths have slashes"
	case strings.ContainsFunc(file, isForbiddenInName):
		return "has an invisible character"
	case len(file) > 1_000:
		return "is too long"
	case path.Clean(file) == ".":
		return "names the whole repository"
	}
	for part := range strings.SplitSeq(file, "/") {
		switch name := strings.TrimRight(strings.ToLower(part), ". "); {
		case part == "..":
			return "leaves the repository"
		case name == ".git" || strings.HasPrefix(name, "git~"):
			return "belongs to git"
		}
	}
	return ""
}
