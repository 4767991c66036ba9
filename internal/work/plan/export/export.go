// Package export writes plans as the files of other tools, with remarks about the data that a
// format cannot represent.
package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// WritableFormats returns the formats that can be written.
func WritableFormats() []foreign.PlanFormat { return foreign.SupportedFormats() }

// WritePlan writes a plan in a format. The remarks list the data that the format cannot represent.
// Except for these, [foreign.ReadPlan] parses the result as the same plan.
func WritePlan(p nexus.Plan, f foreign.PlanFormat) ([]byte, []foreign.ImportRemark, error) {
	if _, err := taskgraph.NewTaskGraph(p.Tasks); err != nil {
		return nil, nil, err
	}
	w := &planExporter{plan: p, waves: taskWaves(p.Tasks), ids: map[nexus.TaskID]string{}}
	for _, t := range p.Tasks {
		w.ids[t.ID] = string(t.ID)
	}
	var data []byte
	var err error
	switch f {
	case foreign.Nexus:
		data, err = encodeJSON(p)
	case foreign.Nax:
		data, err = w.writeNax()
	case foreign.Ralph:
		data, err = w.writeRalph()
	case foreign.TaskMaster:
		data, err = w.writeTaskMaster()
	case foreign.Polka:
		data, err = w.writePolka()
	case foreign.SpecKit:
		data = w.writeSpecKit()
	case foreign.Stories:
		data = w.writeStories()
	default:
		return nil, nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("a plan cannot be written as %s", f),
			Hint: "Use one of " + nexus.JoinWords(WritableFormats()) + ".",
		}
	}
	if w.remarks == nil {
		w.remarks = []foreign.ImportRemark{}
	}
	return data, w.remarks, err
}

type planExporter struct {
	plan    nexus.Plan
	waves   [][]nexus.Task
	ids     map[nexus.TaskID]string // names of the tasks in the format
	remarks []foreign.ImportRemark
}

// taskWaves arranges tasks without cycles in waves: the needs of each are in the waves before it.
func taskWaves(tasks []nexus.Task) [][]nexus.Task {
	level := map[nexus.TaskID]int{}
	for range tasks {
		settled := true
		for _, t := range tasks {
			deep := 1
			for _, id := range t.Prerequisites() {
				deep = max(deep, level[id]+1)
			}
			settled = settled && level[t.ID] == deep
			level[t.ID] = deep
		}
		if settled {
			break
		}
	}
	var out [][]nexus.Task
	for _, t := range tasks {
		for len(out) < level[t.ID] {
			out = append(out, nil)
		}
		out[level[t.ID]-1] = append(out[level[t.ID]-1], t)
	}
	return out
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

func (w *planExporter) addRemark(kind foreign.ImportRemarkKind, item, what, why string) {
	w.remarks = append(w.remarks, foreign.ImportRemark{Kind: kind, Item: item, What: what, Why: why})
}

// remarkUnsupportedFields sets the optional task fields that the format can represent. The others are listed in
// a remark.
func (w *planExporter) remarkUnsupportedFields(names ...string) {
	for _, t := range w.plan.Tasks {
		var lost []string
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"kind", t.Kind != "" && t.Kind != nexus.CodeTask},
			{"group", t.Group != ""},
			{"priority", t.Priority != ""},
			{"wants", len(t.Wants) > 0},
			{"ties", len(t.Ties) > 0},
			{"covers", len(t.Covers) > 0},
			{"files", len(t.Files) > 0},
			{"minutes", t.Minutes > 0},
			{"complexity", t.Complexity != ""},
			{"tier", t.Tier != ""},
			{"model", t.Model != ""},
			{"strategy", t.Strategy != ""},
			{"tags", len(t.Tags) > 0},
			{"depth", t.Depth > 0},
			{"keep", len(t.Keep) > 0},
		} {
			if f.set && !slices.Contains(names, f.name) {
				lost = append(lost, f.name)
			}
		}
		if len(lost) > 0 {
			w.addRemark(foreign.Lost, string(t.ID), strings.Join(lost, ", "), "this format has no place for it")
		}
	}
}

// exportedNeeds returns the needs of a task by their names in the format.
func (w *planExporter) exportedNeeds(t nexus.Task) []string {
	out := make([]string, 0, len(t.Needs))
	for _, id := range t.Needs {
		out = append(out, w.ids[id])
	}
	return out
}

// numberTasks numbers the tasks in their order, in the given format.
func (w *planExporter) numberTasks(format string, keep func(string) bool) {
	if !slices.ContainsFunc(w.plan.Tasks, func(t nexus.Task) bool { return !keep(string(t.ID)) }) {
		return
	}
	var renamed []string
	for i, t := range w.plan.Tasks {
		w.ids[t.ID] = fmt.Sprintf(format, i+1)
		if w.ids[t.ID] != string(t.ID) {
			renamed = append(renamed, string(t.ID)+" is "+w.ids[t.ID])
		}
	}
	w.addRemark(foreign.Changed, "", "ids: "+joinFirst(renamed), "this format has ids of another form")
}

// remarkLayeredNeeds adds a remark that needs became an order, unless each task needs all tasks of the
// wave before it, and no others.
func (w *planExporter) remarkLayeredNeeds(why string) {
	for i, wave := range w.waves {
		for _, t := range wave {
			if i == 0 || len(t.Needs) == len(w.waves[i-1]) && !slices.ContainsFunc(w.waves[i-1],
				func(o nexus.Task) bool { return !slices.Contains(t.Needs, o.ID) }) {
				continue
			}
			w.addRemark(foreign.Changed, "", "the needs became an order", why)
			return
		}
	}
}

func criterionTexts(criteria []nexus.Criterion) []string {
	out := make([]string, 0, len(criteria))
	for _, c := range criteria {
		out = append(out, foreign.FormatCriterion(c))
	}
	return out
}

// prdStory is a story of a prd.json.
type prdStory struct {
	ID           string      `json:"id"`
	Title        string      `json:"title"`
	Description  string      `json:"description"`
	Criteria     []string    `json:"acceptanceCriteria"`
	Tags         *[]string   `json:"tags,omitempty"`
	Dependencies *[]string   `json:"dependencies,omitempty"`
	Status       string      `json:"status,omitempty"`
	Priority     int         `json:"priority,omitempty"`
	Passes       bool        `json:"passes"`
	Notes        *string     `json:"notes,omitempty"`
	Routing      *naxRouting `json:"routing,omitempty"`
	ContextFiles []string    `json:"contextFiles,omitempty"`
	Escalations  *[]struct{} `json:"escalations,omitempty"`
	Attempts     *int        `json:"attempts,omitempty"`
}

type naxRouting struct {
	Complexity    string `json:"complexity,omitempty"`
	ModelTier     string `json:"modelTier,omitempty"`
	TestStrategy  string `json:"testStrategy,omitempty"`
	Justification string `json:"noTestJustification,omitempty"`
	Reasoning     string `json:"reasoning"`
}

type prdFile struct {
	Project     string     `json:"project"`
	Feature     string     `json:"feature,omitempty"`
	BranchName  string     `json:"branchName"`
	Description string     `json:"description"`
	Stories     []prdStory `json:"userStories"`
}

// branchSlug returns a goal as part of the name of a branch.
func branchSlug(goal string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(goal) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "plan"
}

func (w *planExporter) writeNax() ([]byte, error) {
	w.remarkUnsupportedFields("files", "complexity", "tier", "strategy", "tags")
	name := branchSlug(w.plan.Goal)
	out := prdFile{Project: name, Feature: name, BranchName: "feat/" + name, Description: w.plan.Goal}
	for _, t := range w.plan.Tasks {
		needs, tags, attempts := w.exportedNeeds(t), slices.Concat([]string{}, t.Tags), 0
		s := prdStory{
			ID: string(t.ID), Title: t.Title, Description: t.Brief, Criteria: criterionTexts(t.Criteria), Tags: &tags, Dependencies: &needs,
			Status: "pending", ContextFiles: t.Files, Escalations: &[]struct{}{}, Attempts: &attempts,
		}
		if t.Complexity != "" || t.Tier != "" || t.Strategy != "" {
			tier := string(t.Tier)
			if t.Tier == nexus.Strong {
				tier = "powerful"
			}
			strategy := string(t.Strategy)
			if t.Strategy == nexus.TDDLite {
				strategy = "three-session-tdd-lite"
			}
			s.Routing = &naxRouting{
				Complexity: string(t.Complexity), ModelTier: tier, TestStrategy: strategy,
				Justification: t.Reason, Reasoning: "set in the plan",
			}
		}
		out.Stories = append(out.Stories, s)
	}
	return encodeJSON(out)
}

func (w *planExporter) writeRalph() ([]byte, error) {
	w.remarkUnsupportedFields()
	w.remarkLayeredNeeds("this tool does one story after another, by priority")
	name := branchSlug(w.plan.Goal)
	out := prdFile{Project: name, BranchName: "ralph/" + name, Description: w.plan.Goal}
	for i, wave := range w.waves {
		for _, t := range wave {
			notes := ""
			out.Stories = append(out.Stories, prdStory{
				ID: string(t.ID), Title: t.Title, Description: t.Brief,
				Criteria: criterionTexts(t.Criteria), Priority: i + 1, Notes: &notes,
			})
		}
	}
	return encodeJSON(out)
}

func (w *planExporter) writeTaskMaster() ([]byte, error) {
	w.remarkUnsupportedFields("priority")
	type task struct {
		ID           int        `json:"id"`
		Title        string     `json:"title"`
		Description  string     `json:"description"`
		Details      string     `json:"details"`
		TestStrategy string     `json:"testStrategy"`
		Priority     string     `json:"priority"`
		Dependencies []int      `json:"dependencies"`
		Status       string     `json:"status"`
		Subtasks     []struct{} `json:"subtasks"`
	}
	type list struct {
		Tasks    []task `json:"tasks"`
		Metadata struct {
			Description string `json:"description"`
		} `json:"metadata"`
	}
	numbers := map[nexus.TaskID]int{}
	var renamed []string
	for i, t := range w.plan.Tasks {
		numbers[t.ID] = i + 1
		if string(t.ID) != fmt.Sprintf("T%d", i+1) {
			renamed = append(renamed, string(t.ID)+" is "+strconv.Itoa(i+1))
		}
	}
	if len(renamed) > 0 {
		w.addRemark(foreign.Changed, "", "ids: "+joinFirst(renamed), "this format has numbers")
	}
	var all list
	all.Metadata.Description = w.plan.Goal
	for i, t := range w.plan.Tasks {
		k := task{
			ID: i + 1, Title: t.Title, Details: t.Brief, Priority: w.taskMasterPriority(t), Dependencies: []int{}, Status: "pending",
			Subtasks: []struct{}{},
		}
		for _, id := range t.Needs {
			k.Dependencies = append(k.Dependencies, numbers[id])
		}
		if k.TestStrategy = strings.Join(criterionTexts(t.Criteria), "\n- "); len(t.Criteria) > 1 {
			k.TestStrategy = "- " + k.TestStrategy
		}
		all.Tasks = append(all.Tasks, k)
	}
	return encodeJSON(map[string]list{"master": all})
}

// taskMasterPriority returns the priority of a task in Task Master's words.
func (w *planExporter) taskMasterPriority(t nexus.Task) string {
	switch p := cmp.Or(t.Priority, nexus.PriorityMedium); p {
	case nexus.PriorityTrivial:
		w.addRemark(foreign.Changed, string(t.ID), "the priority trivial is low", "this format has nothing lower")
		return string(nexus.PriorityLow)
	default:
		return string(p)
	}
}

func (w *planExporter) writePolka() ([]byte, error) {
	w.remarkUnsupportedFields("kind", "files", "minutes", "complexity", "tags", "priority")
	type task struct {
		ID           string   `json:"id"`
		Type         string   `json:"type"`
		Title        string   `json:"title"`
		Description  string   `json:"description"`
		Priority     int      `json:"priority"`
		Complexity   string   `json:"complexity,omitempty"`
		Dependencies []string `json:"dependencies"`
		Minutes      int      `json:"estimatedTime"`
		Status       string   `json:"status"`
		Files        []string `json:"files"`
	}
	out := struct {
		Goal  string `json:"goal"`
		Tasks []task `json:"tasks"`
	}{Goal: w.plan.Goal}
	for _, t := range w.plan.Tasks {
		k := task{
			ID: string(t.ID), Type: w.polkaType(t), Title: t.Title, Priority: t.Priority.NumericScore(),
			Dependencies: w.exportedNeeds(t), Minutes: t.Minutes, Status: "pending",
			Description: strings.TrimLeft(t.Brief+"\n\n"+foreign.Mark+"\n- "+strings.Join(criterionTexts(t.Criteria), "\n- "),
				"\n"), Files: slices.Concat([]string{}, t.Files),
		}
		switch t.Complexity {
		case nexus.Simple:
			k.Complexity = "low"
		case nexus.Medium:
			k.Complexity = "medium"
		case nexus.Complex:
			k.Complexity = "high"
		case nexus.Expert:
			k.Complexity = "high"
			w.addRemark(foreign.Changed, string(t.ID), "the complexity expert is high", "this format has nothing higher")
		}
		out.Tasks = append(out.Tasks, k)
	}
	return encodeJSON(out)
}

// polkaType returns the type of a task: the first of its tags that is a type.
func (w *planExporter) polkaType(t nexus.Task) string {
	kind := "other"
	switch t.Kind {
	case nexus.TestTask:
		kind = "test"
	case nexus.DocsTask:
		kind = "docs"
	default:
	}
	var lost []string
	for _, tag := range t.Tags {
		if kind == "other" && slices.Contains([]string{"feature", "bugfix", "refactor"}, tag) {
			kind = tag
		} else {
			lost = append(lost, tag)
		}
	}
	if len(lost) > 0 {
		w.addRemark(foreign.Lost, string(t.ID), "the tags "+strings.Join(lost, ", "), "a task has one type in this format")
	}
	return kind
}

// joinFirst joins the first items and adds how many more there are.
func joinFirst(items []string) string {
	const most = 3
	if len(items) <= most+1 {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}
