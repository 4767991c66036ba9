package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// toolDirs returns the directories outside of the system's with the programs on PATH and their
// libraries, but never a home directory itself.
func toolDirs(env []string) []string {
	home, _ := lookupVar(env, "HOME")
	path, _ := lookupVar(env, "PATH")
	tools := stack.MergedEnvironment()
	var dirs []string
	for _, s := range tools.Shows {
		dirs = append(dirs, s.Resolve(envLookup(env)))
	}
	for _, program := range tools.Roots {
		if real, err := exec.LookPath(program); err == nil {
			if real, err = filepath.EvalSymlinks(real); err == nil {
				dirs = append(dirs, filepath.Dir(filepath.Dir(real)))
			}
		}
	}
	for _, dir := range filepath.SplitList(path) {
		dirs = append(dirs, toolDir(dir, home, tools.HomeBins))
	}
	var keep []string
	for _, dir := range dirs {
		if isUsableToolDir(dir, home) && !isCovered(keep, dir) {
			keep = slices.DeleteFunc(keep, func(k string) bool { return isWithin(dir, k) })
			keep = append(keep, dir)
		}
	}
	return keep
}

// toolDir returns the directory that must be visible for the programs in a directory of PATH: that
// directory, or the installation around it.
func toolDir(dir, home string, bins []string) string {
	parent := filepath.Dir(dir)
	switch {
	case parent == home || parent == filepath.Join(home, ".local"), filepath.Dir(parent) == home && slices.Contains(bins, filepath.Base(parent)):
		return dir // the rest of the parent is not a toolchain
	case filepath.Base(dir) == "shims" || isDir(filepath.Join(parent, "lib")) || isDir(filepath.Join(parent, "libexec")):
		return parent
	}
	return dir
}

func isUsableToolDir(dir, home string) bool {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir || !isDir(dir) {
		return false
	}
	if home != "" && isWithin(dir, home) || isWithin(dir, "/tmp") || isWithin(dir, "/root") || isWithin(dir, "/home") {
		return false // a home directory or one around it
	}
	return !isCovered([]string{"/usr", "/bin", "/sbin", "/lib", "/nix/store", "/proc", "/dev", "/sys"}, dir)
}

// isCovered reports whether a path is in one of the directories.
func isCovered(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return isWithin(d, path) })
}

// isWithin reports whether path is dir or inside of it, both clean.
func isWithin(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// isDir reports whether a path is a directory.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// NoPagingVars returns variables that turn off paging and colors, for commands whose output a model
// reads. A project's own tests may depend on them, so gates do not have them.
func NoPagingVars() []string {
	return []string{"PAGER=cat", "GIT_PAGER=cat", "NO_COLOR=1", "TERM=dumb"}
}

// boxToolEnv returns the environment for a command in a box on a host with this one. Each variable in
// it has one of four reasons: a tool is not found or does not work without it, it keeps a tool
// from the network or from asking questions, it makes messages English, or the host sets it and
// the project may depend on it (CI, TZ and the like). TERM has the same value on every machine.
func boxToolEnv(host, extra []string) []string {
	tools := stack.MergedEnvironment()
	env := append([]string{"GIT_TERMINAL_PROMPT=0", "TERM=xterm"}, tools.Sets...)
	for _, name := range append([]string{"PATH", "TZ", "CI", "SOURCE_DATE_EPOCH"}, tools.Keeps...) {
		if v, ok := lookupVar(host, name); ok {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, localeVars(host)...)
	for _, add := range tools.Adds {
		name, value, _ := strings.Cut(add, "=")
		had, _ := lookupVar(host, name)
		env = append(env, name+"="+strings.TrimSpace(had+" "+value))
	}
	for _, s := range tools.Shows {
		if dir := s.Resolve(envLookup(host)); isDir(dir) {
			env = append(env, s.Var+"="+dir)
		}
	}
	return append(env, extra...)
}

// localeVars returns the locale variables of a host, except for the language of messages: machines
// parse the output of tools.
func localeVars(host []string) []string {
	env := []string{"LC_MESSAGES=C"}
	all, _ := lookupVar(host, "LC_ALL")
	for _, name := range []string{"LANG", "LC_CTYPE", "LC_COLLATE"} {
		v, ok := lookupVar(host, name)
		if all != "" {
			v, ok = all, true // it would override the one for messages
		}
		if ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// lookupVar returns the last value of a variable, and whether it is set.
func lookupVar(env []string, name string) (string, bool) {
	for _, e := range slices.Backward(env) {
		if k, v, _ := strings.Cut(e, "="); k == name {
			return v, true
		}
	}
	return "", false
}

// envLookup returns a function that looks up variables in an environment.
func envLookup(env []string) func(name string) string {
	return func(name string) string { v, _ := lookupVar(env, name); return v }
}

// keepLastValues removes all but the last value of each variable: programs disagree which one counts.
// It modifies env.
func keepLastValues(env []string) []string {
	at := make(map[string]int, len(env))
	kept := env[:0]
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if i, ok := at[name]; ok {
			kept[i] = e
			continue
		}
		at[name] = len(kept)
		kept = append(kept, e)
	}
	return kept
}

// IsInstalled reports whether a program of that name is in PATH.
func IsInstalled(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
