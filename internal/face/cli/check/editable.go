package check

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// editableInstalls returns the variables that let Python find in a copy what virtual
// environments look for in the working tree: packages that are installed from
// there, as pip install -e does. Without them the copy is judged by code that
// is not its own. The environments are those that were lent, and one that is
// active; empty is none.
func editableInstalls(from, to string, lent []string, active string) []string {
	var paths []string
	for _, env := range append(slices.Clone(lent), active) {
		if env == "" {
			continue
		}
		for _, pattern := range []string{"*.pth", "__editable__*.py"} {
			files, _ := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages", pattern)) // a pattern of ours
			for _, file := range files {
				for _, dir := range sources(file) {
					rel, err := filepath.Rel(from, dir)
					if made := filepath.Join(to, rel); err == nil && filepath.IsLocal(rel) && !slices.Contains(paths, made) {
						paths = append(paths, made)
					}
				}
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return []string{"PYTHONPATH=" + strings.Join(paths, string(os.PathListSeparator))}
}

// sources returns the directories that a file of site-packages names: a .pth
// one in a line each, one of setuptools as where each package lies.
func sources(file string) []string {
	info, err := os.Stat(file)
	if err != nil || info.Size() > 1<<20 {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var all []string
	if filepath.Ext(file) == ".pth" {
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); filepath.IsAbs(line) {
				all = append(all, filepath.Clean(line))
			}
		}
		return all
	}
	for _, m := range regexp.MustCompile(`['"](/[^'"\n]+)['"]`).FindAllStringSubmatch(string(data), -1) {
		all = append(all, filepath.Dir(filepath.Clean(m[1])))
	}
	return all
}
