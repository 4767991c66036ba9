package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

var (
	naxField  = regexp.MustCompile(`"(?:routing|contextFiles|expectedFiles|escalations|priorErrors|dependencies)"\s*:`)
	specBox   = regexp.MustCompile(`^[-*+]?\s*\[[^\]]{0,2}\]\s*\**T\d{3}\b`)
	storyPart = regexp.MustCompile(`(?mi)acceptance|^\W*(?:tags|dependencies|done when):`)
)

// RecogniseFormat returns the format of a source, and the source itself or the folder in it that
// contains the plan. The format of an unknown file is empty. A folder without a plan, or with
// several, is an error.
func RecogniseFormat(s PlanSource) (PlanFormat, PlanSource, error) {
	if !s.isDir() {
		f, err := recogniseFileFormat(s)
		return f, s, err
	}
	type candidate struct {
		format PlanFormat
		dir    string
	}
	var found []candidate
	add := func(f PlanFormat, dir string) { found = append(found, candidate{f, dir}) }
	folder := func(dir string) {
		at := s
		if dir != "." {
			at = s.subfolder(dir)
		}
		if at.hasFile("tasks.md") && !at.hasFile("proposal.md") { // with it, the folder is a change of OpenSpec
			add(SpecKit, dir)
		}
	}
	folder(".")
	if s.hasFile(".taskmaster/tasks/tasks.json") || s.hasFile("tasks/tasks.json") || s.hasFile("tasks.json") {
		add(TaskMaster, ".")
	}
	if s.hasFile("tasks/pending") {
		add(Polka, ".")
	}
	if text, ok, err := s.readFile("prd.json"); err != nil {
		return "", s, err
	} else if ok {
		f, err := recogniseFileFormat(PlanSource{name: s.displayPath("prd.json"), file: "prd.json", data: []byte(text)})
		if err != nil {
			return "", s, err
		}
		if f != Nax {
			f = Ralph
		}
		add(f, ".")
	}
	changes, err := s.filesMatchingPatterns("specs/*/tasks.md")
	if err != nil {
		return "", s, err
	}
	for _, name := range changes {
		folder(path.Dir(name))
	}
	switch len(found) {
	case 1:
		if found[0].dir != "." {
			s = s.subfolder(found[0].dir)
		}
		return found[0].format, s, nil
	case 0:
		return "", s, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "the folder " + s.name + " has no plan that Nexus knows",
			Hint: "It knows specs/NNN-name of spec-kit, .taskmaster, tasks/pending of polka, and a prd.json; docs/plan.md lists them. " +
				"Any other file is read as a goal: give it with -f.",
		}
	default:
		var names []string
		for _, c := range found {
			names = append(names, fmt.Sprintf("%s (%s)", s.displayPath(c.dir), c.format))
		}
		return "", s, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the folder " + s.name + " has several plans: " + joinFirst(names, 8),
			Hint: "Give the folder or file of one of them, or choose with --format.",
		}
	}
}

// beginsAsObject reports whether a text begins as an object of JSON does. A goal may begin with "{{name}}".
func beginsAsObject(data []byte) bool {
	rest, ok := bytes.CutPrefix(data, []byte("{"))
	rest = bytes.TrimSpace(rest)
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte("\"}/#"), rest[0]) >= 0)
}

// recogniseFileFormat returns the format of a file, or "" if it is unknown. A file that is meant as JSON and is none is
// an error: what it was meant to say is not guessed.
func recogniseFileFormat(s PlanSource) (PlanFormat, error) {
	data := bytes.TrimSpace(bytes.TrimPrefix(s.data, []byte("\ufeff")))
	if meant := path.Ext(s.file) == ".json" || beginsAsObject(data); meant && len(data) > 0 && !json.Valid(data) {
		d := &importedPlanDraft{source: s}
		d.parseJSONTree(string(s.data), s.name)
		return "", d.problemsError()
	}
	if len(data) > 0 && (data[0] == '{' || data[0] == '[') {
		return recogniseJSONFormat(data), nil
	}
	if plan.IsMarkdown(data) {
		return Nexus, nil
	}
	return recogniseMarkdownFormat(string(data)), nil
}

// recogniseJSONFormat distinguishes the JSON formats by their fields.
func recogniseJSONFormat(data []byte) PlanFormat {
	var whole struct {
		Version     json.RawMessage              `json:"version"`
		UserStories json.RawMessage              `json:"userStories"`
		Stories     json.RawMessage              `json:"stories"`
		Tasks       []map[string]json.RawMessage `json:"tasks"`
		TaskQueue   []map[string]json.RawMessage `json:"taskQueue"`
	}
	var list []map[string]json.RawMessage
	if data[0] == '[' {
		if json.Unmarshal(data, &list) != nil || len(list) == 0 {
			return ""
		}
		return recogniseTaskFormat(list, true)
	}
	err := json.Unmarshal(data, &whole)
	switch {
	case whole.UserStories != nil, whole.Stories != nil && whole.Tasks == nil:
		if naxField.Match(data) {
			return Nax
		}
		return Ralph
	case whole.TaskQueue != nil:
		return Polka
	case err == nil && whole.Tasks != nil:
		if f := recogniseTaskFormat(whole.Tasks, false); f != "" && (whole.Version == nil || f != Nexus) {
			return f
		}
		return Nexus
	}
	var tags map[string]json.RawMessage
	if json.Unmarshal(data, &tags) == nil {
		for _, tag := range tags {
			var t struct {
				Tasks []json.RawMessage `json:"tasks"`
			}
			if json.Unmarshal(tag, &t) == nil && t.Tasks != nil {
				return TaskMaster
			}
		}
	}
	return ""
}

// taskMarks has the fields by which the tasks of a format are known, in the order in which they are tried. All fields of
// one mark must be there, in any tasks.
//
//nolint:gochecknoglobals // never written
var taskMarks = []struct {
	format PlanFormat
	marks  []string
	alone  bool // only if the file is a list of tasks
}{
	{format: Nexus, marks: []string{"criteria", "brief"}},
	{format: Ralph, marks: []string{"passes", "steps", "acceptanceCriteria"}, alone: true},
	{format: Polka, marks: []string{"estimatedTime", "workflow", "workflowInput", "type complexity files"}},
	{format: TaskMaster, marks: []string{"testStrategy", "subtasks", "details", "title status dependencies", "title priority dependencies"}},
}

// recogniseTaskFormat returns the format of tasks by their fields.
func recogniseTaskFormat(tasks []map[string]json.RawMessage, alone bool) PlanFormat {
	present := map[string]bool{}
	for _, t := range tasks {
		for name := range t {
			present[name] = true
		}
	}
	for _, row := range taskMarks {
		for _, mark := range row.marks {
			missing := slices.ContainsFunc(strings.Fields(mark), func(name string) bool { return !present[name] })
			if !missing && (alone || !row.alone) {
				return row.format
			}
		}
	}
	return ""
}

// recogniseMarkdownFormat distinguishes the Markdown formats. Two tasks, or a task below a heading
// that only this format has, make a plan.
func recogniseMarkdownFormat(text string) PlanFormat {
	spec, story, polka := 0, 0, false
	for i, l := range scanMarkdownLines(text) {
		if level, title, ok := l.parseHeading(); ok {
			if _, _, _, ok := storyHeading(title); ok {
				story++
			}
			_, task := cutPrefixFold(title, "Task:")
			polka = polka || i == 0 && level == 1 && task
			continue
		}
		body, _, ok := l.parseCheckbox()
		if _, _, named := cutTaskID(body); ok && named || specBox.MatchString(l.text) && !l.code {
			spec++
		}
	}
	switch {
	case polka && strings.Contains(text, "**Type:**"):
		return Polka
	case spec > 0:
		return SpecKit
	case story > 0 && storyPart.MatchString(text):
		return Stories
	default:
		return ""
	}
}
