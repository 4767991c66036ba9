// Package foreign reads plans that other tools wrote, with remarks about all data that was
// lost or changed.
package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// PlanFormat is a file format of another tool.
type PlanFormat string

// The formats. [readPlanFile.LoadPlan] reads the format of Nexus.
const (
	Nexus      PlanFormat = "nexus"
	Nax        PlanFormat = "nax"        // prd.json with needs, status and routing
	Ralph      PlanFormat = "ralph"      // prd.json: one story after another
	TaskMaster PlanFormat = "taskmaster" // tasks.json, with tags or without
	SpecKit    PlanFormat = "spec-kit"   // specs/NNN-name with tasks.md
	Polka      PlanFormat = "polka"      // tasks as JSON, or tasks/pending/*.md
	Stories    PlanFormat = "stories"    // Markdown: ## US-1: title
)

// SupportedFormats lists the formats that can be read.
func SupportedFormats() []PlanFormat {
	return []PlanFormat{Nexus, Nax, Ralph, TaskMaster, SpecKit, Polka, Stories}
}

// ParseFormat returns the format of that name. The name of a tag may follow: taskmaster:TAG.
func ParseFormat(name string, among []PlanFormat) (f PlanFormat, tag string, err error) {
	word, tag, tagged := strings.Cut(name, ":")
	f = PlanFormat(word)
	if !slices.Contains(among, f) || tagged && f != TaskMaster {
		return "", "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("unknown format %q", name),
			Hint: "Use one of " + nexus.JoinWords(among) + "; taskmaster:TAG names a tag of its file.",
		}
	}
	return f, tag, nil
}

// ImportRemarkKind is the kind of a remark.
type ImportRemarkKind string

// The kinds of remark.
const (
	Lost     ImportRemarkKind = "lost"     // not in the plan
	Done     ImportRemarkKind = "done"     // an omitted task, as it is done
	Changed  ImportRemarkKind = "changed"  // in the plan, but changed
	Question ImportRemarkKind = "question" // a question for a person
)

// ImportRemark is a remark about a part of a file, or of a plan that is written for another tool.
type ImportRemark struct {
	Kind ImportRemarkKind `json:"kind"`
	File string           `json:"file,omitzero"`
	Line int              `json:"line,omitzero"` // line number, from 1; 0 if unknown
	Item string           `json:"item,omitzero"` // the task's name in the file; empty: it is about the file
	What string           `json:"what"`
	Why  string           `json:"why,omitzero"`
}

// ImportedPlan is a plan that was read, with remarks about lost and changed data.
type ImportedPlan struct {
	Format  PlanFormat     `json:"format"`
	File    string         `json:"file"`
	Remarks []ImportRemark `json:"remarks"` // remarks in the order of the file
	Plan    nexus.Plan     `json:"-"`

	places map[nexus.TaskID]importFilePosition
}

// Check returns the problems of the plan, whose tasks may be as large as most, with their
// positions in the files.
func (i ImportedPlan) Check(most nexus.TaskSizeLimits) error {
	type placed struct {
		importFilePosition
		plan.PlanProblem
	}
	var all []placed
	for _, f := range plan.FindProblems(i.Plan, most) {
		at, ok := importFilePosition{file: i.File}, f.Task > 0
		if f.Code == nexus.CodeCycle {
			at, ok = i.firstNamedTask(f.Text)
		} else if ok {
			at, ok = i.places[i.Plan.Tasks[f.Task-1].ID]
		}
		if !ok {
			at = importFilePosition{file: i.File}
		}
		f.Text = at.String() + ": " + f.Text
		all = append(all, placed{at, f})
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	problems := make([]plan.PlanProblem, 0, len(all))
	for _, f := range all {
		problems = append(problems, f.PlanProblem)
	}
	return plan.ProblemsError(problems, most)
}

// firstNamedTask returns the position of the first task that a text names.
func (i ImportedPlan) firstNamedTask(text string) (importFilePosition, bool) {
	for word := range strings.FieldsSeq(text) {
		if at, ok := i.places[nexus.TaskID(word)]; ok {
			return at, true
		}
	}
	return importFilePosition{}, false
}

// importFilePosition is a position in a file.
type importFilePosition struct {
	file   string
	line   int // line number, from 1; 0 if unknown
	column int // in characters, from 1; 0 if unknown
}

func (p importFilePosition) String() string {
	switch {
	case p.line == 0:
		return p.file
	case p.column == 0:
		return fmt.Sprintf("%s:%d", p.file, p.line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
	}
}

// maxFile limits the bytes of a file that is read, and maxFiles the number of files of a
// folder.
const (
	maxFile  = 16 << 20
	maxFiles = 5_000
)

// PlanSource is a file or a folder that may contain a plan. Nothing outside of the folder is read,
// not even through links.
type PlanSource struct {
	name string // name as the person typed it
	dir  string // directory of the files, in the person's notation
	data []byte // contents of the file; nil for a folder
	file string // its name in the folder; empty for a folder
	root string // the folder that is read; empty for standard input
	sub  string // subfolder of the files; empty: the folder itself
}

// NewFileSource returns the source for a file whose content was read.
func NewFileSource(name string, data []byte) PlanSource {
	s := PlanSource{name: name, data: data, file: filepath.Base(name), dir: filepath.Dir(name)}
	if data == nil {
		s.data = []byte{}
	}
	if name == "-" {
		s.name = "standard input"
		return s
	}
	s.root = s.dir
	return s
}

// NewFolderSource returns the source for a folder.
func NewFolderSource(name string) PlanSource { return PlanSource{name: name, dir: name, root: name} }

func (s PlanSource) isDir() bool { return s.data == nil }

// displayPath returns the path of a file of the source in the person's notation.
func (s PlanSource) displayPath(name string) string {
	if !s.isDir() && name == s.file || name == "" {
		return s.name
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// readScenarios returns a file next to the source's own, or in its folder. A missing file is no error.
// An unreadable one is.
func (s PlanSource) readFile(name string) (text string, ok bool, err error) {
	if !s.isDir() && name == s.file {
		return string(s.data), true, nil
	}
	if s.root == "" {
		return "", false, nil
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return "", false, s.unreadableError("", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	at := path.Join(s.sub, name)
	switch info, err := root.Stat(at); {
	case isNotExist(err):
		if _, err := root.Lstat(at); err == nil {
			return "", false, s.unreadableError(name, errors.New("it is a link to a missing file"))
		}
		return "", false, nil
	case err != nil:
		return "", false, s.unreadableError(name, err)
	case !info.Mode().IsRegular(): // opening a pipe would block until somebody writes to it
		return "", false, s.unreadableError(name, errors.New("it is not a regular file"))
	}
	f, err := root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false, s.unreadableError(name, err)
	}
	defer func() { _ = f.Close() }() // it was opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", false, s.unreadableError(name, err)
	case len(data) > maxFile:
		return "", false, &nexus.Error{
			Code: nexus.CodeInvalidPlan,
			Message: fmt.Sprintf("%s has more than %d bytes", s.displayPath(name),
				maxFile), Hint: "That is too large for a plan; give the file with the plan.",
		}
	}
	return string(data), true, nil
}

// unreadableError returns the error about an existing file or folder that cannot be read: without
// it, a part of the plan would be missing.
func (s PlanSource) unreadableError(name string, err error) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "read " + s.displayPath(name), Cause: err,
		Hint: "Give a plan whose files are readable and regular files in its folder, not links to files outside it.",
	}
}

// isNotExist reports whether an error means that there is no such file.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// hasFile reports whether a file or folder exists. One that cannot be examined counts as existing,
// so that reading it reports the reason.
func (s PlanSource) hasFile(name string) bool {
	if !s.isDir() && name == s.file {
		return true
	}
	if s.root == "" {
		return false
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	_, err = root.Lstat(path.Join(s.sub, name))
	return !isNotExist(err)
}

// subfolder returns the same source with its files in a subfolder.
func (s PlanSource) subfolder(name string) PlanSource {
	dir := filepath.Join(s.dir, filepath.FromSlash(name))
	return PlanSource{name: dir, dir: dir, root: s.root, sub: path.Join(s.sub, name)}
}

// filesMatchingPattern returns the files of the source whose path matches a pattern of [path.Match]. Unlike
// [fs.Glob] it does not skip unreadable directories.
func (s PlanSource) filesMatchingPattern(pattern string) ([]string, error) {
	if s.root == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, s.unreadableError("", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	found := []string{""}
	for part := range strings.SplitSeq(pattern, "/") {
		var next []string
		for _, dir := range found {
			names, err := s.matchingEntries(root, dir, part)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				next = append(next, path.Join(dir, name))
			}
			if len(next) > maxFiles {
				return nil, &nexus.Error{
					Code:    nexus.CodeInvalidPlan,
					Message: fmt.Sprintf("%s has more than %d files such as %s", s.displayPath(dir), maxFiles, pattern),
					Hint:    "That is too many for a plan; give the folder or the file of the plan.",
				}
			}
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

// filesMatchingPatterns returns the files that match one of several patterns, in their order.
func (s PlanSource) filesMatchingPatterns(patterns ...string) ([]string, error) {
	var all []string
	for _, pattern := range patterns {
		found, err := s.filesMatchingPattern(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// matchingEntries returns the names in a folder that match one part of a pattern.
func (s PlanSource) matchingEntries(root *os.Root, dir, part string) ([]string, error) {
	at := path.Join(".", s.sub, dir)
	if !strings.ContainsAny(part, "*?[") {
		switch _, err := root.Lstat(path.Join(at, part)); {
		case isNotExist(err):
			return nil, nil
		case err != nil:
			return nil, s.unreadableError(path.Join(dir, part), err)
		}
		return []string{part}, nil
	}
	switch info, err := root.Stat(at); {
	case isNotExist(err) || err == nil && !info.IsDir():
		return nil, nil
	case err != nil:
		return nil, s.unreadableError(dir, err)
	}
	all, err := fs.ReadDir(root.FS(), at)
	if err != nil {
		return nil, s.unreadableError(dir, err)
	}
	var names []string
	for _, e := range all {
		if fits, _ := path.Match(part, e.Name()); fits { // the patterns are constants
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// ReadPlan reads a plan. Most is the size limit of a task: it decides whether another criterion is
// allowed. The error is about the file itself; [ImportedPlan.Check] returns the problems of the
// plan.
func ReadPlan(ctx context.Context, s PlanSource, f PlanFormat, tag string, most nexus.TaskSizeLimits) (ImportedPlan, error) {
	d := &importedPlanDraft{format: f, source: s, most: prompt.TaskSizeWithDefaults(most)}
	if !s.isDir() && len(s.data) > maxFile {
		return ImportedPlan{}, &nexus.Error{
			Code:    nexus.CodeInvalidPlan,
			Message: fmt.Sprintf("%s has more than %d bytes", s.name, maxFile), Hint: "That is too large for a plan; give the file with the plan.",
		}
	}
	var err error
	switch f {
	case Nax, Ralph:
		err = d.readPRDStories()
	case TaskMaster:
		err = d.readTaskMaster(tag)
	case Polka:
		err = d.readPolka(ctx)
	case SpecKit:
		err = d.readSpecKit()
	case Stories:
		err = d.readStories()
	default:
		return ImportedPlan{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the format %q is not another tool's", f),
			Hint: "Use one of " + nexus.JoinWords(SupportedFormats()) + ".",
		}
	}
	if err != nil {
		return ImportedPlan{}, err
	}
	return d.buildImport(ctx)
}

// readMainFile returns the text of the source's file, or of the first of these files
// that its folder has.
func (d *importedPlanDraft) readMainFile(names ...string) (text, name string, err error) {
	if !d.source.isDir() {
		return string(d.source.data), d.source.file, nil
	}
	for _, n := range names {
		text, ok, err := d.source.readFile(n)
		if err != nil || ok {
			return text, n, err
		}
	}
	return "", "", &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("%s has no %s", d.source.name, strings.Join(names, ", ")),
		Hint: "Give the folder or the file that has the plan.",
	}
}

// sourceBaseName returns the last part of the folder's or file's name, without its extension.
func (d *importedPlanDraft) sourceBaseName() string {
	name := filepath.Base(d.source.dir)
	if abs, err := filepath.Abs(d.source.dir); err == nil {
		name = filepath.Base(abs)
	}
	if !d.source.isDir() && d.source.file != "tasks.md" {
		name = strings.TrimSuffix(d.source.file, path.Ext(d.source.file))
	}
	return name
}
