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

// Bounds of putting things right: what takes longer is left to the agent.
const (
	maxFixTime  = 2 * time.Minute // of one command
	maxFixFiles = 200             // that one command is given
	maxFixBytes = 4 << 20         // of a file that is watched
)

// ChangedFile is a file of a change.
type ChangedFile struct {
	Path string // relative to the tree, with slashes
	New  bool   // the change brought it
}

// AutoFixResult is what was put right.
type AutoFixResult struct {
	Files    []string // that are not as they were
	Commands []string // that did it
}

// String says it in a line, empty where nothing was put right.
func (d AutoFixResult) String() string {
	if len(d.Files) == 0 {
		return ""
	}
	return strings.Join(d.Files, ", ") + " by " + strings.Join(d.Commands, "; ")
}

// fixCommands returns the commands that put files right, in the order of the
// gates that would find fault with them.
func fixCommands(dir string, gates []Gate, files []ChangedFile) []Gate {
	var all []Gate
	for _, g := range gates {
		for _, f := range g.Fix {
			words := fixCommand(f, fixableFiles(dir, g, f, files))
			if words == nil || slices.ContainsFunc(all, func(o Gate) bool { return o.Dir == g.Dir && slices.Equal(o.Args, words) }) {
				continue
			}
			all = append(all, Gate{Name: g.Name, Dir: g.Dir, Args: words, Format: g.Format, Timeout: maxFixTime})
		}
	}
	return all
}

// fixCommand fills the files into a fixer's command, nil where there are none.
func fixCommand(f stack.Fixer, files []string) []string {
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

// fixableFiles returns the files that a fixer is for, as seen from its directory.
func fixableFiles(dir string, g Gate, f stack.Fixer, files []ChangedFile) []string {
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

// AutoFix puts the files of a change right. A command that cannot be started, or
// does not end, puts nothing right; what one changes besides is put back. An
// error is the machinery's.
func AutoFix(ctx context.Context, r Runner, t Tree, gates []Gate, files []ChangedFile) (AutoFixResult, error) {
	var d AutoFixResult
	commands := fixCommands(t.Dir, gates, files)
	if len(commands) == 0 {
		return d, nil
	}
	w, err := watchFiles(t.Dir, files)
	if err != nil {
		return d, err
	}
	for _, g := range commands {
		res, err := r.runCommand(ctx, t, g)
		if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return d, errors.Join(err, w.restore(func(string) bool { return true }))
		}
		if err != nil || res.TimedOut {
			if err := w.restore(func(string) bool { return true }); err != nil {
				return d, err
			}
			continue
		}
		if err := w.restore(func(name string) bool { return !w.mine[name] }); err != nil {
			return d, err
		}
		if changed := w.settle(); len(changed) > 0 {
			d.Files = append(d.Files, changed...)
			d.Commands = append(d.Commands, g.Command())
		}
	}
	slices.Sort(d.Files)
	d.Files = slices.Compact(d.Files)
	return d, nil
}

// fixGuard knows the files in the directories of a change as they were.
type fixGuard struct {
	root *os.Root
	dirs []string
	was  map[string][]byte
	mine map[string]bool // of the change
}

func watchFiles(dir string, files []ChangedFile) (*fixGuard, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &fixGuard{root: root, mine: map[string]bool{}}
	for _, f := range files {
		w.mine[f.Path] = true
		if d := path.Dir(f.Path); !slices.Contains(w.dirs, d) {
			w.dirs = append(w.dirs, d)
		}
	}
	w.was = w.now()
	return w, nil
}

// now reads the files in the directories of the change.
func (w *fixGuard) now() map[string][]byte {
	all := map[string][]byte{}
	for _, dir := range w.dirs {
		f, err := w.root.Open(dir)
		if err != nil {
			continue // a directory that was deleted
		}
		entries, _ := f.ReadDir(-1) // what cannot be read is not watched
		_ = f.Close()               // only read
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

// restore puts the files back that back says, and those that are gone.
func (w *fixGuard) restore(back func(name string) bool) error {
	now := w.now()
	var err error
	for name, data := range w.was {
		if is, ok := now[name]; !ok || back(name) && !bytes.Equal(is, data) {
			err = errors.Join(err, w.root.WriteFile(name, data, 0o644))
		}
	}
	for name := range now {
		if _, ok := w.was[name]; !ok {
			err = errors.Join(err, w.root.Remove(name)) // a formatter makes no files
		}
	}
	return err
}

// settle takes the files as they are now, and returns those that changed.
func (w *fixGuard) settle() []string {
	now := w.now()
	var changed []string
	for name, data := range now {
		if !bytes.Equal(data, w.was[name]) {
			changed = append(changed, name)
		}
	}
	w.was = now
	return changed
}
