package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

const (
	maxHiddenPaths = 2000 // files and directories that are hidden from a command
	maxSaid        = 5    // files that are explained at once
)

// hiddenPaths are the files of a tree that commands may not open.
type hiddenPaths struct {
	env   AgentToolEnvironment
	rules files.HiddenPathRules

	mu    sync.Mutex // guards the fields below
	found files.HiddenFileSearchResult
	was   []os.FileInfo // state of each file when it was found
	born  []time.Time   // creation times; zero if unknown
	done  bool
	back  []string // files that were moved back and not reported yet
}

func newHiddenPaths(e AgentToolEnvironment) *hiddenPaths {
	return &hiddenPaths{env: e, rules: e.Hidden}
}

// currentPaths returns the paths that a command must not open. The tree is searched before the first
// command, and again if one of the files is not at its place: a command may have moved it.
func (l *hiddenPaths) currentPaths() []string {
	if l == nil || l.env.Root == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.done || l.hasMovedFile() {
		l.moveHiddenFilesBack() // a background command may have moved them
		l.recordHiddenFiles()
	}
	return l.matchingPaths(func(files.HiddenFile) bool { return true })
}

// matchingPaths returns the paths of some of the files. The caller holds mu.
func (l *hiddenPaths) matchingPaths(which func(files.HiddenFile) bool) []string {
	var all []string
	for _, f := range l.found.Files {
		if which(f) {
			all = append(all, l.absolutePath(f.Name))
		}
	}
	return all
}

// hiddenReason returns why a file is hidden from agents, or "".
func (l *hiddenPaths) hiddenReason(name string) string {
	if l == nil || name == "" || name == "." {
		return ""
	}
	if why := l.rules.NameReason(name); why != "" {
		return why
	}
	if l.env.Root != nil && l.rules.IsIgnored(l.env.Root, name) { // even if it no longer exists
		return files.WhyIgnored
	}
	l.currentPaths()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.found.Files {
		if f.Name == name || strings.HasPrefix(name, f.Name+"/") {
			return f.Why
		}
	}
	return ""
}

// hasMovedFile reports whether a file is no longer at its place.
func (l *hiddenPaths) hasMovedFile() bool {
	linked := map[string]bool{}
	for i, f := range l.found.Files {
		info, err := l.lstatWithoutLinks(f.Name, linked)
		if err != nil || !os.SameFile(info, l.was[i]) {
			return true
		}
	}
	return false
}

// restoreMovedFiles undoes a command's move of files that .nexusignore names, with their
// directories, and returns the restored paths.
func (l *hiddenPaths) restoreMovedFiles() []string {
	if l == nil || l.env.Root == nil || !l.env.Writes {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done && l.hasMovedFile() {
		l.moveHiddenFilesBack()
		l.recordHiddenFiles()
	}
	back := l.back
	l.back = nil
	slices.Sort(back)
	return slices.Compact(back)
}

// moveHiddenFilesBack finds files that .nexusignore names and that are elsewhere now, where they would not
// be hidden, and moves them back. The caller holds mu.
func (l *hiddenPaths) moveHiddenFilesBack() {
	var gone []int
	linked := map[string]bool{}
	for i, f := range l.found.Files {
		info, err := l.lstatWithoutLinks(f.Name, linked)
		if f.Why == files.WhyIgnored && l.was[i] != nil && (err != nil || !os.SameFile(info, l.was[i])) {
			gone = append(gone, i)
		}
	}
	if len(gone) == 0 || !l.env.Writes {
		return
	}
	_ = fs.WalkDir(l.env.Root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == ".git" && d.IsDir():
			return fs.SkipDir
		case err != nil || name == ".git": // not readable; it may be a file
			return nil //nolint:nilerr // the others are looked at nevertheless
		}
		info, err := l.env.Root.Lstat(name)
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		at := slices.IndexFunc(gone, func(i int) bool { return l.wasMovedTo(i, name, info) })
		if at < 0 || l.rules.IsIgnored(l.env.Root, name) {
			return nil
		}
		if place := l.found.Files[gone[at]].Name; l.movePathBack(name, place) == nil {
			l.back = append(l.back, place)
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// wasMovedTo reports whether the i-th file now has this name. An equal inode number is no proof: a
// new file gets the number of a deleted one.
func (l *hiddenPaths) wasMovedTo(i int, name string, info os.FileInfo) bool {
	if !os.SameFile(info, l.was[i]) {
		return false
	}
	untouched := info.Size() == l.was[i].Size() && info.ModTime().Equal(l.was[i].ModTime())
	return untouched || !l.born[i].IsZero() && l.born[i].Equal(filewrite.BirthTime(l.absolutePath(name)))
}

// absolutePath returns the current path of a file.
func (l *hiddenPaths) absolutePath(name string) string {
	return filepath.Join(l.env.Dir, filepath.FromSlash(name))
}

// aside is the temporary path of a file while its place is freed.
const aside = ".nexus-put-back"

// movePathBack moves a file or directory back to its place. Another file in its place is removed: it
// was not readable there.
func (l *hiddenPaths) movePathBack(from, to string) error {
	root := l.env.Root
	if isBelowDirectory(from, to) || isBelowDirectory(to, from) {
		if err := errors.Join(root.RemoveAll(aside), root.Rename(from, aside)); err != nil {
			return err
		}
		from = aside
	}
	for at, c := range to {
		if c != '/' {
			continue
		}
		if info, err := root.Lstat(to[:at]); err == nil && !info.IsDir() {
			if err := root.Remove(to[:at]); err != nil {
				return err
			}
		}
	}
	if err := root.MkdirAll(path.Dir(to), 0o755); err != nil {
		return err
	}
	if info, err := root.Lstat(to); err == nil && info.IsDir() {
		if err := root.RemoveAll(to); err != nil {
			return err
		}
	}
	return root.Rename(from, to)
}

// isBelowDirectory reports whether a path is below another one.
func isBelowDirectory(name, dir string) bool { return strings.HasPrefix(name, dir+"/") }

// lstatWithoutLinks returns the file at a path itself, and not behind a link that replaces one of its
// directories. Linked caches which directories are links.
func (l *hiddenPaths) lstatWithoutLinks(name string, linked map[string]bool) (os.FileInfo, error) {
	for at, c := range name {
		if c != '/' {
			continue
		}
		dir := name[:at]
		is, known := linked[dir]
		if !known {
			info, err := l.env.Root.Lstat(dir)
			is = err == nil && info.Mode().Type() == fs.ModeSymlink
			linked[dir] = is
		}
		if is {
			return nil, fs.ErrNotExist
		}
	}
	return l.env.Root.Lstat(name)
}

// FindHiddenPathRestore finds the files that .nexusignore names in a tree, and returns a function
// that undoes their moves by programs that write to the tree directly.
func FindHiddenPathRestore(e AgentToolEnvironment) func() []string {
	l := newHiddenPaths(e)
	l.currentPaths()
	return l.restoreMovedFiles
}

func (l *hiddenPaths) recordHiddenFiles() {
	l.found, l.done = l.rules.FindHidden(l.env.Root), true
	if len(l.found.Files) > maxHiddenPaths {
		l.found.Files = l.found.HiddenPaths()
	}
	l.was, l.born = nil, nil
	for _, f := range l.found.Files {
		info, _ := l.env.Root.Lstat(f.Name) // a missing one is searched for again
		l.was, l.born = append(l.was, info), append(l.born, filewrite.BirthTime(l.absolutePath(f.Name)))
	}
	if l.env.Learn != nil {
		for _, v := range l.found.Values {
			l.env.Learn(v)
		}
	}
}

// explainDenial returns why a command could not open something, if its output reports that.
func (l *hiddenPaths) explainDenial(output string) string {
	if l == nil || !strings.Contains(strings.ToLower(output), "denied") && !strings.Contains(output, "EACCES") {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	said, text := 0, ""
	for _, f := range l.found.Files {
		if base := f.Name[strings.LastIndexByte(f.Name, '/')+1:]; said < maxSaid && strings.Contains(output, base) {
			said++
			text += "\n[" + f.String() + "]"
		}
	}
	return text
}

// redactHidden removes from a command's output quotes of files that .nexusignore hides from
// agents and that commands can open: if the command or its output names the file.
func (e AgentToolEnvironment) redactHidden(command, output string) string {
	if e.Root == nil || e.Box == nil || e.Box.HidesHost() {
		return output
	}
	const between = "\n\x00\n"
	_, output, _ = strings.Cut(e.Hidden.RedactOutput(e.Root, strings.ReplaceAll(command, "\x00", "")+between+output), between)
	return output
}

// commandsBlockedReason returns why no command may run, or "": it could open hidden files.
func (l *hiddenPaths) commandsBlockedReason() string {
	if l == nil || l.env.Root == nil || l.env.Box == nil || !l.env.Box.HidesHost() {
		return "" // no file is hidden from commands there
	}
	l.currentPaths()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch n := len(l.found.Files); {
	case n > maxHiddenPaths:
		return fmt.Sprintf("%d files and directories must be hidden from commands here; the maximum is %d", n, maxHiddenPaths)
	case l.found.Cut:
		return "the tree has too many files to find those that must be hidden from commands"
	}
	return ""
}

// HiddenFromCommands returns the paths that no program of an agent may open. If it fails, no program may
// run.
func (s *ToolSet) HiddenFromCommands() ([]string, error) {
	if why := s.env.lids.commandsBlockedReason(); why != "" {
		return nil, errors.New(why + "; " + wayBeyond)
	}
	return s.env.lids.currentPaths(), nil
}

const wayBeyond = "people can name whole directories in .nexusignore, or move them out of the repository"

// SecretPaths returns those of the hidden files that contain secrets: files that only .nexusignore
// hides from agents are still code, which language servers need to read.
func (s *ToolSet) SecretPaths() []string {
	l := s.env.lids
	l.currentPaths()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.matchingPaths(files.HiddenFile.IsSecret)
}
