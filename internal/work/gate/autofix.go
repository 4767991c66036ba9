package gate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Limits of automatic fixes: longer work is left to the agent.
const (
	maxFixTime  = 2 * time.Minute // time limit of one command
	maxFixFiles = 200             // files per command
	maxFixBytes = 4 << 20         // largest file that is guarded, in bytes
)

// FixedChangeFile is a file of a change.
type FixedChangeFile struct {
	Path string // relative to the tree, with slashes
	New  bool   // the change added it
}

// AutoFixResult describes automatic fixes.
type AutoFixResult struct {
	Files    []string // changed files
	Commands []string // commands that changed them
}

// String returns the result as one line, or "" if nothing was fixed.
func (d AutoFixResult) String() string {
	if len(d.Files) == 0 {
		return ""
	}
	return strings.Join(d.Files, ", ") + " by " + strings.Join(d.Commands, "; ")
}

// fixCommands returns the commands that fix files, in the order of the gates that would report
// them.
func fixCommands(dir string, gates []QualityGate, files []FixedChangeFile) []QualityGate {
	var all []QualityGate
	for _, g := range gates {
		for _, f := range g.Fix {
			words := addFilesToFixCommand(f, fixableFiles(dir, g, f, files))
			if words == nil || slices.ContainsFunc(all, func(o QualityGate) bool { return o.Dir == g.Dir && slices.Equal(o.Args, words) }) {
				continue
			}
			all = append(all, QualityGate{Name: g.Name, Dir: g.Dir, Args: words, Format: g.Format, Timeout: maxFixTime})
		}
	}
	return all
}

// addFilesToFixCommand adds the files to a fixer's command; nil if there are none.
func addFilesToFixCommand(f stack.FixCommand, files []string) []string {
	if len(files) == 0 {
		return nil
	}
	var words []string
	for _, w := range f.Args {
		switch w {
		case "{files}":
			words = append(words, files...)
		case "{dirs}":
			var dirs []string
			for _, f := range files {
				dirs = append(dirs, "./"+path.Dir(f))
			}
			slices.Sort(dirs)
			words = append(words, slices.Compact(dirs)...)
		default:
			words = append(words, w)
		}
	}
	return words
}

// fixableFiles returns the files for a fixer, relative to its directory.
func fixableFiles(dir string, g QualityGate, f stack.FixCommand, files []FixedChangeFile) []string {
	var all []string
	for _, c := range files {
		at, here := c.Path, true
		if g.Dir != "" && g.Dir != "." {
			at, here = strings.CutPrefix(c.Path, path.Clean(g.Dir)+"/")
		}
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(c.Path)))
		if !here || err != nil || !info.Mode().IsRegular() || strings.HasPrefix(at, "-") || f.New && !c.New ||
			len(f.Ends) > 0 && !slices.Contains(f.Ends, path.Ext(at)) {
			continue
		}
		all = append(all, at)
	}
	return all[:min(len(all), maxFixFiles)]
}

// ApplyAutoFixes fixes the files of a change. A command that cannot be started, or does not end,
// fixes nothing; its changes to other files are reverted. An error means that the machinery
// failed.
func ApplyAutoFixes(ctx context.Context, r GateRunner, t JudgedTreeDir, gates []QualityGate, files []FixedChangeFile) (AutoFixResult, error) {
	var d AutoFixResult
	commands := fixCommands(t.Dir, gates, files)
	if len(commands) == 0 {
		return d, nil
	}
	w, err := guardChangedFiles(t.Dir, files)
	if err != nil {
		return d, err
	}
	for _, g := range commands {
		res, err := r.runCommand(ctx, t, g)
		if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return d, errors.Join(err, w.restoreFiles(func(string) bool { return true }))
		}
		if err != nil || res.TimedOut {
			if err := w.restoreFiles(func(string) bool { return true }); err != nil {
				return d, err
			}
			continue
		}
		if err := w.restoreFiles(func(name string) bool { return !w.mine[name] }); err != nil {
			return d, err
		}
		if changed := w.acceptChangedFiles(); len(changed) > 0 {
			d.Files = append(d.Files, changed...)
			d.Commands = append(d.Commands, g.Command())
		}
	}
	slices.Sort(d.Files)
	d.Files = slices.Compact(d.Files)
	return d, nil
}

// autoFixGuard stores the original files in the directories of a change.
type autoFixGuard struct {
	root *os.Root
	dirs []string
	was  map[string][]byte
	mine map[string]bool // the files of the change
}

func guardChangedFiles(dir string, files []FixedChangeFile) (*autoFixGuard, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &autoFixGuard{root: root, mine: map[string]bool{}}
	for _, f := range files {
		w.mine[f.Path] = true
		if d := path.Dir(f.Path); !slices.Contains(w.dirs, d) {
			w.dirs = append(w.dirs, d)
		}
	}
	w.was = w.readWatchedFiles()
	return w, nil
}

// readWatchedFiles reads the files in the directories of the change.
func (w *autoFixGuard) readWatchedFiles() map[string][]byte {
	all := map[string][]byte{}
	for _, dir := range w.dirs {
		f, err := w.root.Open(dir)
		if err != nil {
			continue // a directory that was deleted
		}
		entries, _ := f.ReadDir(-1) // unreadable files are not guarded
		_ = f.Close()               // it was opened for reading only
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			info, err := w.root.Lstat(name)
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxFixBytes {
				continue
			}
			if data, err := w.root.ReadFile(name); err == nil {
				all[name] = data
			}
		}
	}
	return all
}

// restoreFiles restores the files that back selects, and deleted files.
func (w *autoFixGuard) restoreFiles(back func(name string) bool) error {
	now := w.readWatchedFiles()
	var err error
	for name, data := range w.was {
		if is, ok := now[name]; !ok || back(name) && !bytes.Equal(is, data) {
			err = errors.Join(err, w.root.WriteFile(name, data, 0o644))
		}
	}
	for name := range now {
		if _, ok := w.was[name]; !ok {
			err = errors.Join(err, w.root.Remove(name)) // a formatter creates no files
		}
	}
	return err
}

// acceptChangedFiles accepts the files as they are now, and returns those that changed.
func (w *autoFixGuard) acceptChangedFiles() []string {
	now := w.readWatchedFiles()
	var changed []string
	for name, data := range now {
		if !bytes.Equal(data, w.was[name]) {
			changed = append(changed, name)
		}
	}
	w.was = now
	return changed
}
