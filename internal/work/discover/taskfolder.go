package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// TaskFolder is a directory where people put tasks as files: pending contains open tasks,
// completed the finished ones, and logs the times. The zero value is none.
type TaskFolder struct {
	Repo string // the user's checkout; empty: there is none
	Dir  string // below it, such as tasks; empty: none
}

// keptTasks limits how many files stay in completed and in logs.
const keptTasks = 100

// The subdirectories of a folder.
const (
	pendingDir   = "pending"
	completedDir = "completed"
	logsDir      = "logs"
)

// readPendingTasks returns the open tasks, by name, and the names of invalid files.
func (f TaskFolder) readPendingTasks() (all []backlogitem.BacklogItem, wrong []string, err error) {
	if f.Repo == "" || f.Dir == "" {
		return nil, nil, nil
	}
	root, err := os.OpenRoot(f.Repo)
	if err != nil {
		return nil, nil, filewrite.WrapError("read the task folder", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	dir := path.Join(f.Dir, pendingDir)
	if err := filewrite.CheckNoLinks(root, dir+"/"); err != nil {
		return nil, []string{err.Error()}, nil
	}
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, filewrite.WrapError("read the task folder", err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !isTaskFile(e.Name(), ".md") {
			continue
		}
		item, err := readTask(root, name)
		if err != nil {
			wrong = append(wrong, errorWithHint(err))
			continue
		}
		all = append(all, item)
	}
	return all, wrong, nil
}

// isTaskFile reports whether a file of the folder is a task, and not a text about the folder.
func isTaskFile(name, ending string) bool {
	return strings.HasSuffix(name, ending) && !strings.HasPrefix(name, ".") && !strings.EqualFold(name, "README.md")
}

func readTask(root *os.Root, name string) (backlogitem.BacklogItem, error) {
	if err := filewrite.CheckNoLinks(root, name); err != nil {
		return backlogitem.BacklogItem{}, err
	}
	info, err := root.Lstat(name)
	if err != nil {
		return backlogitem.BacklogItem{}, err
	}
	if info.Size() > backlogitem.MaxFile {
		return backlogitem.BacklogItem{}, fmt.Errorf("%s: the file has more than %d bytes", name, backlogitem.MaxFile)
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return backlogitem.BacklogItem{}, err
	}
	return backlogitem.ParseBacklogItem(name, data)
}

// errorWithHint returns an error with its hint, in one line.
func errorWithHint(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*nexus.Error](err); ok && e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// folderTaskFindingID returns the ID of the finding for a task of the folder.
func folderTaskFindingID(i backlogitem.BacklogItem) string {
	return discoveredwork.FindingID("working-dir", i.ID, i.Title)
}

// findFolderTasks returns the tasks in the task folder.
func findFolderTasks(_ context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	all, wrong, err := s.o.Folder.readPendingTasks()
	if errors.Is(err, fs.ErrNotExist) || s.o.Folder.Dir == "" {
		found.Skipped = "there is no folder " + path.Join(s.o.Folder.Dir, pendingDir)
		return found, nil
	}
	if err != nil {
		return found, err
	}
	found.Notes = wrong
	for _, i := range all {
		if i.State == backlogitem.Rejected || i.State == backlogitem.Done {
			continue
		}
		f := discoveredwork.WorkFinding{
			ID: folderTaskFindingID(i), Strategy: "working-dir", Kind: discoveredwork.Task, Title: i.Title, Severity: i.Priority,
			Evidence: truncateRunes(i.Text, 4000), Check: i.Check, Minutes: discoveredwork.EstimateMinutes("working-dir", len(i.Files)),
			Why: fmt.Sprintf("it is in %s", path.Join(s.o.Folder.Dir, pendingDir, i.ID+".md")),
		}
		switch i.Kind {
		case nexus.TestTask:
			f.Kind = discoveredwork.Test
		case nexus.DocsTask:
			f.Kind = discoveredwork.Docs
		case nexus.CodeTask:
		}
		for _, file := range i.Files {
			f.Places = append(f.Places, discoveredwork.FindingPlace{File: file})
		}
		found.Findings = append(found.Findings, f)
	}
	return found, nil
}

// MoveToCompleted moves finished tasks from pending to completed, adds them to the logs, and keeps
// the newest of both. Items are those of the backlog. It returns the names of the tasks. A
// process that dies in between leaves a task in both places, and the next one removes it from
// pending.
func (f TaskFolder) MoveToCompleted(items []backlogitem.BacklogItem, now time.Time) ([]string, error) {
	all, _, err := f.readPendingTasks()
	if errors.Is(err, fs.ErrNotExist) || len(all) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.Repo)
	if err != nil {
		return nil, filewrite.WrapError("write the task folder", err)
	}
	defer func() { _ = root.Close() }() // each file was closed on its own
	var done []string
	for _, task := range all {
		at := slices.IndexFunc(items, func(i backlogitem.BacklogItem) bool { return i.Finding == folderTaskFindingID(task) })
		if at < 0 || items[at].State != backlogitem.Done {
			continue
		}
		task.State, task.Run, task.Commit, task.Reason = backlogitem.Done, items[at].Run, items[at].Commit, ""
		line := fmt.Sprintf("%s done: %s", now.UTC().Format(time.RFC3339), task.Title)
		if task.Commit != "" {
			line += ", commit " + task.Commit
		}
		if task.Run != "" {
			line += ", run " + string(task.Run)
		}
		err := errors.Join(
			filewrite.WriteBelowRoot(root, path.Join(f.Dir, completedDir, task.ID+".md"), []byte(task.String()), 0o755, 0o644),
			filewrite.WriteBelowRoot(root, path.Join(f.Dir, logsDir, task.ID+".log"), []byte(line+"\n"), 0o755, 0o644),
		)
		if err == nil {
			err = root.Remove(path.Join(f.Dir, pendingDir, task.ID+".md"))
		}
		if err != nil {
			return done, filewrite.WrapError("write the task folder", err)
		}
		done = append(done, task.ID)
	}
	return done, errors.Join(f.pruneFiles(root, completedDir, ".md"), f.pruneFiles(root, logsDir, ".log"))
}

// pruneFiles removes all but the newest tasks, or log entries. Other files there belong to people.
func (f TaskFolder) pruneFiles(root *os.Root, part, ending string) error {
	dir := path.Join(f.Dir, part)
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil || len(entries) <= keptTasks {
		return nil //nolint:nilerr // there is nothing to remove
	}
	type old struct {
		name string
		at   time.Time
	}
	var all []old
	for _, e := range entries {
		if !isTaskFile(e.Name(), ending) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, old{e.Name(), info.ModTime()})
		}
	}
	slices.SortStableFunc(all, func(a, b old) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	for _, o := range all[min(len(all), keptTasks):] {
		if err := root.Remove(path.Join(dir, o.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return filewrite.WrapError("remove an old task", err)
		}
	}
	return nil
}
