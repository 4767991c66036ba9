package checkcmd

import (
	"os"
	"path/filepath"
	"strings"
)

// lentPrograms returns variables that put the programs of a virtual environment first, as in the
// worktrees of a run: the nearest environment at or above a directory of the tree. Without one,
// the variables are unchanged.
func lentPrograms(tree, dir string, vars []string) []string {
	rel := filepath.Clean(filepath.FromSlash(dir))
	if !filepath.IsLocal(rel) {
		return vars
	}
	for ; ; rel = filepath.Dir(rel) {
		home := filepath.Join(tree, rel, ".venv")
		if _, err := os.Stat(filepath.Join(home, "bin", "python")); err == nil {
			return append(vars[:len(vars):len(vars)], "PATH="+filepath.Join(home, "bin")+string(filepath.ListSeparator)+lastValue(vars, "PATH"), "VIRTUAL_ENV="+home)
		}
		if rel == "." {
			return vars
		}
	}
}

// lastValue returns the last value of a variable.
func lastValue(vars []string, name string) string {
	value := ""
	for _, v := range vars {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}
