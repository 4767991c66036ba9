package definitionofdone

import (
	"fmt"
	stdpath "path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// buildOutputFindings returns findings for added files that programs wrote and people do not commit,
// unless the plan of the task names them: compiled files, core dumps, caches, logs, backups,
// and large binary files. Each finding has the submission's explanation. A word in the task's
// text does not count as a planned file: a program has the name that the task gives it, and
// every test run creates it. A cache directory counts once, and not if the base has it too.
// Data files that nothing names are included.
func buildOutputFindings(m MeasuredChange) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		if !f.New || m.isPlanned(f.Path) {
			continue
		}
		by := "the task's plan does not name"
		name, what := leftoverFileKind(f)
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
		found = tamper.AddExplanations(found, m.Task.Said)
	}
	return found
}

// UnnamedDataFiles returns new files that are, by name, neither source nor configuration nor text, and
// that neither the plan nor the task's text names. The caller checks whether another file
// names one. It returns nil for changes without a task, whose authors are people.
func (m MeasuredChange) UnnamedDataFiles() []string {
	if m.Task == nil {
		return nil
	}
	var all []string
	for _, f := range m.Files {
		_, what := leftoverFileKind(f)
		if !f.New || what != "" || !stack.IsDataFile(f.Path) || stack.ServesTests(f.Path) || m.isPlanned(f.Path) {
			continue
		}
		if !slices.ContainsFunc(m.Task.Texts, func(text string) bool { return strings.Contains(text, stdpath.Base(f.Path)) }) {
			all = append(all, f.Path)
		}
	}
	return all
}

// mostBinary is the size in bytes up to which a binary file needs no explanation.
const mostBinary = 512 << 10

// leftoverFileKind returns the kind of a new file that should not be committed, and the name for its
// explanation: its own, or that of its cache directory. It returns "" for any other file.
func leftoverFileKind(f FileChange) (name, what string) {
	if dir := stack.EnclosingCacheDir(f.Path); dir != "" {
		return dir, "a cache or installed packages"
	}
	base := strings.ToLower(stdpath.Base(f.Path))
	start := ""
	if len(f.Added) > 0 {
		start = f.Added[0].Text
	}
	switch {
	case stack.IsJunkFileName(base):
		return f.Path, "a file of an editor, a system or a cache"
	case isCompiled(start) && (base == "core" || strings.HasPrefix(base, "core.") || strings.HasSuffix(base, ".core")):
		return f.Path, "a core dump"
	case stack.ServesTests(f.Path):
	case isCompiled(start):
		return f.Path, "a compiled file"
	case strings.HasSuffix(base, ".log") || strings.HasSuffix(base, ".pid") || base == "nohup.out":
		return f.Path, "what a program printed"
	case isLargeBinary(f):
		return f.Path, fmt.Sprintf("a binary file of more than %d KB", mostBinary>>10)
	}
	return "", ""
}

// isLargeBinary reports whether a file is large and not text.
func isLargeBinary(f FileChange) bool {
	size, zero := 0, false
	for _, l := range f.Added {
		size += len(l.Text) + 1
		zero = zero || strings.ContainsRune(l.Text, 0)
	}
	return zero && size > mostBinary
}

// CacheDirectories returns the cache directories with new files of a change.
func CacheDirectories(files []FileChange) []string {
	var all []string
	for _, f := range files {
		if dir := stack.EnclosingCacheDir(f.Path); f.New && dir != "" && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

// isCompiled reports whether a file starts like the output of a compiler or linker.
func isCompiled(start string) bool {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\x00asm", "!<arch>"} {
		if strings.HasPrefix(start, magic) {
			return true
		}
	}
	return strings.HasPrefix(start, "MZ") && strings.Contains(start, "\x00")
}
