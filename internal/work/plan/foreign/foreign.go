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

// Format is a file format of another tool.
type Format string

// The formats. [plan.Load] reads the format of Nexus.
const (
	Nexus      Format = "nexus"
	Nax        Format = "nax"        // prd.json with needs, status and routing
	Ralph      Format = "ralph"      // prd.json: one story after another
	TaskMaster Format = "taskmaster" // tasks.json, with tags or without
	SpecKit    Format = "spec-kit"   // specs/NNN-name with tasks.md
	GSD        Format = "gsd"        // .planning with phases and their plans
	OpenSpec   Format = "openspec"   // openspec/changes/NAME with tasks.md
	Polka      Format = "polka"      // tasks as JSON, or tasks/pending/*.md
	Stories    Format = "stories"    // Markdown: ## US-1: title
)

// Formats lists the formats that can be read.
func Formats() []Format {
	return []Format{Nexus, Nax, Ralph, TaskMaster, SpecKit, GSD, OpenSpec, Polka, Stories}
}

// ParseFormat returns the format of that name. The name of a tag may follow: taskmaster:TAG.
func ParseFormat(name string, among []Format) (f Format, tag string, err error) {
	word, tag, tagged := strings.Cut(name, ":")
	f = Format(word)
	if !slices.Contains(among, f) || tagged && f != TaskMaster {
		return "", "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("unknown format %q", name),
			Hint: "Use one of " + nexus.Join(among) + "; taskmaster:TAG names a tag of its file.",
		}
	}
	return f, tag, nil
}

// Kind is the kind of a remark.
type Kind string

// The kinds of remark.
const (
	Lost     Kind = "lost"     // not in the plan
	Done     Kind = "done"     // an omitted task, as it is done
	Changed  Kind = "changed"  // in the plan, but changed
	Question Kind = "question" // a question for a person
)

// Remark is a remark about a part of a file, or of a plan that is written for another tool.
type Remark struct {
	Kind Kind   `json:"kind"`
	File string `json:"file,omitzero"`
	Line int    `json:"line,omitzero"` // line number, from 1; 0 if unknown
	Item string `json:"item,omitzero"` // the task's name in the file; empty: it is about the file
	What string `json:"what"`
	Why  string `json:"why,omitzero"`
}

// Import is a plan that was read, with remarks about lost and changed data.
type Import struct {
	Format  Format     `json:"format"`
	File    string     `json:"file"`
	Remarks []Remark   `json:"remarks"` // remarks in the order of the file
	Plan    nexus.Plan `json:"-"`

	places map[nexus.TaskID]place
}

// Check returns the problems of the plan, whose tasks may be as large as most, with their
// positions in the files.
func (i Import) Check(most nexus.Size) error {
	type placed struct {
		place
		plan.Problem
	}
	var all []placed
	for _, f := range plan.Problems(i.Plan, most) {
		at, ok := place{file: i.File}, f.Task > 0
		if f.Code == nexus.CodeCycle {
			at, ok = i.first(f.Text)
		} else if ok {
			at, ok = i.places[i.Plan.Tasks[f.Task-1].ID]
		}
		if !ok {
			at = place{file: i.File}
		}
		f.Text = at.String() + ": " + f.Text
		all = append(all, placed{at, f})
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	problems := make([]plan.Problem, 0, len(all))
	for _, f := range all {
		problems = append(problems, f.Problem)
	}
	return plan.Refuse(problems, most)
}

// first returns the position of the first task that a text names.
func (i Import) first(text string) (place, bool) {
	for word := range strings.FieldsSeq(text) {
		if at, ok := i.places[nexus.TaskID(word)]; ok {
			return at, true
		}
	}
	return place{}, false
}

// place is a position in a file.
type place struct {
	file string
	line int // line number, from 1; 0 if unknown
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// maxFile limits the bytes of a file that is read, and maxFiles the number of files of a
// folder.
const (
	maxFile  = 16 << 20
	maxFiles = 5_000
)

// Source is a file or a folder that may contain a plan. Nothing outside of the folder is read,
// not even through links.
type Source struct {
	name string // name as the person typed it
	dir  string // directory of the files, in the person's notation
	data []byte // contents of the file; nil for a folder
	file string // its name in the folder; empty for a folder
	root string // the folder that is read; empty for standard input
	sub  string // subfolder of the files; empty: the folder itself
}

// File returns the source for a file whose content was read.
func File(name string, data []byte) Source {
	s := Source{name: name, data: data, file: filepath.Base(name), dir: filepath.Dir(name)}
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

// Dir returns the source for a folder.
func Dir(name string) Source { return Source{name: name, dir: name, root: name} }

func (s Source) isDir() bool { return s.data == nil }

// shown returns the path of a file of the source in the person's notation.
func (s Source) shown(name string) string {
	if !s.isDir() && name == s.file || name == "" {
		return s.name
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// read returns a file next to the source's own, or in its folder. A missing file is no error.
// An unreadable one is.
func (s Source) read(name string) (text string, ok bool, err error) {
	if !s.isDir() && name == s.file {
		return string(s.data), true, nil
	}
	if s.root == "" {
		return "", false, nil
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return "", false, s.unreadable("", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	at := path.Join(s.sub, name)
	switch info, err := root.Stat(at); {
	case absent(err):
		if _, err := root.Lstat(at); err == nil {
			return "", false, s.unreadable(name, errors.New("it is a link to a missing file"))
		}
		return "", false, nil
	case err != nil:
		return "", false, s.unreadable(name, err)
	case !info.Mode().IsRegular(): // opening a pipe would block until somebody writes to it
		return "", false, s.unreadable(name, errors.New("it is not a regular file"))
	}
	f, err := root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false, s.unreadable(name, err)
	}
	defer func() { _ = f.Close() }() // it was opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", false, s.unreadable(name, err)
	case len(data) > maxFile:
		return "", false, &nexus.Error{
			Code: nexus.CodeInvalidPlan,
			Message: fmt.Sprintf("%s has more than %d bytes", s.shown(name),
				maxFile), Hint: "That is too large for a plan; give the file with the plan.",
		}
	}
	return string(data), true, nil
}

// unreadable returns the error about an existing file or folder that cannot be read: without
// it, a part of the plan would be missing.
func (s Source) unreadable(name string, err error) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "read " + s.shown(name), Cause: err,
		Hint: "Give a plan whose files are readable and regular files in its folder, not links to files outside it.",
	}
}

// absent reports whether an error means that there is no such file.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// has reports whether a file or folder exists. One that cannot be examined counts as existing,
// so that reading it reports the reason.
func (s Source) has(name string) bool {
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
	return !absent(err)
}

// below returns the same source with its files in a subfolder.
func (s Source) below(name string) Source {
	dir := filepath.Join(s.dir, filepath.FromSlash(name))
	return Source{name: dir, dir: dir, root: s.root, sub: path.Join(s.sub, name)}
}

// list returns the files of the source whose path matches a pattern of [path.Match]. Unlike
// [fs.Glob] it does not skip unreadable directories.
func (s Source) list(pattern string) ([]string, error) {
	if s.root == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, s.unreadable("", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	found := []string{""}
	for part := range strings.SplitSeq(pattern, "/") {
		var next []string
		for _, dir := range found {
			names, err := s.entries(root, dir, part)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				next = append(next, path.Join(dir, name))
			}
			if len(next) > maxFiles {
				return nil, &nexus.Error{
					Code:    nexus.CodeInvalidPlan,
					Message: fmt.Sprintf("%s has more than %d files such as %s", s.shown(dir), maxFiles, pattern),
					Hint:    "That is too many for a plan; give the folder or the file of the plan.",
				}
			}
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

// lists returns the files that match one of several patterns, in their order.
func (s Source) lists(patterns ...string) ([]string, error) {
	var all []string
	for _, pattern := range patterns {
		found, err := s.list(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// entries returns the names in a folder that match one part of a pattern.
func (s Source) entries(root *os.Root, dir, part string) ([]string, error) {
	at := path.Join(".", s.sub, dir)
	if !strings.ContainsAny(part, "*?[") {
		switch _, err := root.Lstat(path.Join(at, part)); {
		case absent(err):
			return nil, nil
		case err != nil:
			return nil, s.unreadable(path.Join(dir, part), err)
		}
		return []string{part}, nil
	}
	switch info, err := root.Stat(at); {
	case absent(err) || err == nil && !info.IsDir():
		return nil, nil
	case err != nil:
		return nil, s.unreadable(dir, err)
	}
	all, err := fs.ReadDir(root.FS(), at)
	if err != nil {
		return nil, s.unreadable(dir, err)
	}
	var names []string
	for _, e := range all {
		if fits, _ := path.Match(part, e.Name()); fits { // the patterns are constants
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Read reads a plan. Most is the size limit of a task: it decides whether another criterion is
// allowed. The error is about the file itself; [Import.Check] returns the problems of the
// plan.
func Read(ctx context.Context, s Source, f Format, tag string, most nexus.Size) (Import, error) {
	d := &draft{format: f, source: s, most: prompt.SizeWithDefaults(most)}
	if !s.isDir() && len(s.data) > maxFile {
		return Import{}, &nexus.Error{
			Code:    nexus.CodeInvalidPlan,
			Message: fmt.Sprintf("%s has more than %d bytes", s.name, maxFile), Hint: "That is too large for a plan; give the file with the plan.",
		}
	}
	var err error
	switch f {
	case Nax, Ralph:
		err = d.readPRD()
	case TaskMaster:
		err = d.readTaskMaster(tag)
	case Polka:
		err = d.readPolka(ctx)
	case SpecKit:
		err = d.readSpecKit()
	case OpenSpec:
		err = d.readOpenSpec(ctx)
	case GSD:
		err = d.readGSD(ctx)
	case Stories:
		err = d.readStories()
	default:
		return Import{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the format %q is not another tool's", f),
			Hint: "Use one of " + nexus.Join(Formats()) + ".",
		}
	}
	if err != nil {
		return Import{}, err
	}
	return d.finish(ctx)
}

// main returns the text of the source's file, or of the first of these files
// that its folder has.
func (d *draft) main(names ...string) (text, name string, err error) {
	if !d.source.isDir() {
		return string(d.source.data), d.source.file, nil
	}
	for _, n := range names {
		text, ok, err := d.source.read(n)
		if err != nil || ok {
			return text, n, err
		}
	}
	return "", "", &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("%s has no %s", d.source.name, strings.Join(names, ", ")),
		Hint: "Give the folder or the file that has the plan.",
	}
}

// base returns the last part of the folder's or file's name, without its extension.
func (d *draft) base() string {
	name := filepath.Base(d.source.dir)
	if abs, err := filepath.Abs(d.source.dir); err == nil {
		name = filepath.Base(abs)
	}
	if !d.source.isDir() && d.source.file != "tasks.md" {
		name = strings.TrimSuffix(d.source.file, path.Ext(d.source.file))
	}
	return name
}
