package acpcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

const (
	// maxFiles limits the files of a change that are shown.
	maxFiles = 30
	// maxFile limits the size of a file that is shown, and maxShown the size of all files of a
	// change, before and after it together, in bytes.
	maxFile  = 128 << 10
	maxShown = 512 << 10
)

// readTaskDiffs reads a task's change, as far as it can be shown.
func (t *runTracker) readTaskDiffs(ctx context.Context, task *state.TaskState) {
	from, to := task.ChangedCommits()
	if to == "" {
		return
	}
	repo := git.Repo{Dir: cloneDir(t.place)}
	files, err := repo.ChangedFiles(ctx, from, to)
	if err != nil {
		return // /diff prints the reason
	}
	c := t.taskCall(task.ID)
	before := c.diffs
	c.diffs, c.left, c.size = nil, "", 0
	var left []string
	for _, f := range files {
		d, ok := acpserver.FileDiff{}, len(c.diffs) < maxFiles && c.size < maxShown
		if ok {
			d, ok = t.readFileDiff(ctx, repo, from, to, f)
		}
		if !ok {
			left = append(left, view.EscapeForTerminal(f.Path))
			continue
		}
		c.diffs, c.size = append(c.diffs, d), c.size+diffSize(d)
	}
	if !slices.EqualFunc(before, c.diffs, equalDiffs) {
		c.version++
	}
	if len(left) > 0 {
		c.left = fmt.Sprintf("\nalso changed: %s", strings.Join(left[:min(len(left), maxFiles)], ", "))
		if len(left) > maxFiles {
			c.left += " and " + view.CountWithNoun(len(left)-maxFiles, "more file")
		}
	}
}

// diffSize returns the number of bytes that a diff sends.
func diffSize(d acpserver.FileDiff) int {
	if d.Old == nil {
		return len(d.New)
	}
	return len(d.New) + len(*d.Old)
}

func equalDiffs(a, b acpserver.FileDiff) bool {
	if (a.Old == nil) != (b.Old == nil) || a.Old != nil && *a.Old != *b.Old {
		return false
	}
	return a.Path == b.Path && a.New == b.New
}

// readFileDiff returns the change of a file, unless it is not text that can be shown.
func (t *runTracker) readFileDiff(ctx context.Context, repo git.Repo, from, to string, f git.ChangedTreeFile) (acpserver.FileDiff, bool) {
	read := func(commit string) (string, bool) {
		text, cut, err := repo.ReadFile(ctx, commit, f.Path, maxFile)
		return t.mask(text), err == nil && !cut && utf8.ValidString(text) && !strings.Contains(text, "\x00")
	}
	old, now, ok := "", "", true
	if f.Status != "A" {
		old, ok = read(from)
	}
	if f.Status != "D" && ok {
		now, ok = read(to)
	}
	before := &old
	if f.Status == "A" {
		before = nil
	}
	return acpserver.NewFileDiff(filepath.Join(t.s.top, filepath.FromSlash(f.Path)), before, now), ok
}

// firstLine returns the number of the first changed line, counted from 1.
func firstLine(d acpserver.FileDiff) int {
	if d.Old == nil {
		return 1
	}
	line := 1
	for i := 0; i < len(d.New) && i < len(*d.Old) && d.New[i] == (*d.Old)[i]; i++ {
		if d.New[i] == '\n' {
			line++
		}
	}
	return line
}
