package bounds

import (
	"fmt"
	stdpath "path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// buildOutput names what a change adds that programs wrote and people do not commit, and
// the plan of its task does not name, each with what its submission says: compiled
// files, core dumps, caches, logs, backups, and large binary files. A word of the
// task that is the file's name is not one of the plan's: a program is called as the
// task calls it, and is made by whoever tries it. Of a cache the directory counts
// once, and none that the base has, too. Data that nothing names is asked about, too.
func buildOutput(m MeasuredChange) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		if !f.New || m.planned(f.Path) {
			continue
		}
		by := "the task's plan does not name"
		name, what := leftover(f)
		if what == "" && slices.Contains(m.Unnamed, f.Path) {
			name, what, by = f.Path, "a file", "neither the task nor another file names"
		}
		if what == "" || slices.Contains(m.Caches, name) || slices.ContainsFunc(found, func(o nexus.Finding) bool { return o.Name == name }) {
			continue
		}
		found = append(found, nexus.Finding{
			File: name, Name: name, Message: "the change adds " + what + " that " + by,
			Advice: "Delete it. To try a program, build and run it below /tmp. If it is meant to be there, explain it.",
		})
	}
	if m.Task != nil {
		found = tamper.Explain(found, m.Task.Said)
	}
	return found
}

// Data returns the new files that are, by their names, neither source nor configuration nor text, and that
// neither the plan nor the words of the task name. Whether another file names one is for the caller to see.
// What people add without a task is theirs to know: nil.
func (m MeasuredChange) Data() []string {
	if m.Task == nil {
		return nil
	}
	var all []string
	for _, f := range m.Files {
		_, what := leftover(f)
		if !f.New || what != "" || !stack.IsData(f.Path) || stack.ServesTests(f.Path) || m.planned(f.Path) {
			continue
		}
		if !slices.ContainsFunc(m.Task.Texts, func(text string) bool { return strings.Contains(text, stdpath.Base(f.Path)) }) {
			all = append(all, f.Path)
		}
	}
	return all
}

// mostBinary is the size in bytes up to which a binary file needs no reason.
const mostBinary = 512 << 10

// leftover returns what a new file is that nobody commits, and the name by which that
// is explained: its own, or that of the cache that it is in. Empty for any other.
func leftover(f FileChange) (name, what string) {
	if dir := stack.CacheDir(f.Path); dir != "" {
		return dir, "a cache or installed packages"
	}
	base := strings.ToLower(stdpath.Base(f.Path))
	start := ""
	if len(f.Added) > 0 {
		start = f.Added[0].Text
	}
	switch {
	case stack.IsJunk(base):
		return f.Path, "a file of an editor, a system or a cache"
	case compiled(start) && (base == "core" || strings.HasPrefix(base, "core.") || strings.HasSuffix(base, ".core")):
		return f.Path, "a core dump"
	case stack.ServesTests(f.Path):
	case compiled(start):
		return f.Path, "a compiled file"
	case strings.HasSuffix(base, ".log") || strings.HasSuffix(base, ".pid") || base == "nohup.out":
		return f.Path, "what a program printed"
	case binary(f):
		return f.Path, fmt.Sprintf("a binary file of more than %d KB", mostBinary>>10)
	}
	return "", ""
}

// binary reports whether a file is large, and no text.
func binary(f FileChange) bool {
	size, zero := 0, false
	for _, l := range f.Added {
		size += len(l.Text) + 1
		zero = zero || strings.ContainsRune(l.Text, 0)
	}
	return zero && size > mostBinary
}

// Caches returns the directories of caches in which files of a change are new.
func Caches(files []FileChange) []string {
	var all []string
	for _, f := range files {
		if dir := stack.CacheDir(f.Path); f.New && dir != "" && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

// compiled reports whether a file starts as what compilers and linkers write.
func compiled(start string) bool {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\x00asm", "!<arch>"} {
		if strings.HasPrefix(start, magic) {
			return true
		}
	}
	return strings.HasPrefix(start, "MZ") && strings.Contains(start, "\x00")
}
