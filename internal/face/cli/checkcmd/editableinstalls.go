package checkcmd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// editableInstalls returns variables that let Python find, in a copy, packages that virtual
// environments look up in the working tree because they were installed from there, as by pip
// install -e. Without them, the gates would test the working tree's code instead of the copy's.
// The environments are the linked ones, and an active one; empty means none.
func editableInstalls(from, to string, lent []string, active string) []string {
	var paths []string
	for _, env := range append(slices.Clone(lent), active) {
		if env == "" {
			continue
		}
		for _, pattern := range []string{"*.pth", "__editable__*.py"} {
			// The pattern is constant.
			files, _ := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages", pattern))
			for _, file := range files {
				for _, dir := range editableSourceDirs(file) {
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

// editableSourceDirs returns the directories that a file of site-packages names: a .pth file has one per
// line, a file of setuptools the location of each package.
func editableSourceDirs(file string) []string {
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
