package related

import (
	"path"
	"regexp"
	"strings"
)

// python is Python.
type python struct{ *survey }

func (python) mine(file string) bool {
	return path.Ext(file) == ".py" && path.Base(file) != "setup.py"
}

func (l python) test(file string) bool {
	base := path.Base(file)
	return l.mine(file) && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"))
}

// uses follows imports by their names, wherever in the tree a package of that
// name is. Importing a module runs the packages that it is in; pytest reads
// each conftest.py above a test.
func (l python) uses(file string, have map[string]bool) (files []string, sure bool) {
	text := l.read(file)
	sure = !regexp.MustCompile(`\b(?:import_module|__import__)\s*\(`).MatchString(text)
	for _, i := range pythonImports(text) {
		if i.dots == 0 {
			for _, root := range append(above(file), "src", "lib") {
				files = append(files, modules(have, root, i.name)...)
				files = append(files, modules(have, path.Join(root, "src"), i.name)...)
			}
			continue
		}
		dir := path.Dir(file)
		for range i.dots - 1 {
			dir = path.Dir(dir)
		}
		files = append(files, modules(have, dir, i.name)...)
	}
	for _, dir := range above(file) {
		for _, name := range []string{"__init__.py", "conftest.py"} {
			if f := path.Join(dir, name); have[f] && f != file && (name != "conftest.py" || l.test(file)) {
				files = append(files, f)
			}
		}
	}
	return files, sure
}

// imported is a name that a file imports, with the dots in front of it.
type imported struct {
	dots int
	name string
}

func pythonImports(text string) []imported {
	var all []imported
	for _, m := range regexp.MustCompile(`(?m)^[ \t]*import[ \t]+([^#\n]+)`).FindAllStringSubmatch(text, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			if words := strings.Fields(name); len(words) > 0 {
				all = append(all, imported{0, words[0]})
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^#\n]+)`).FindAllStringSubmatch(text, -1) {
		all = append(all, imported{len(m[1]), m[2]})
		for name := range strings.SplitSeq(strings.Trim(m[3], "() \t"), ",") {
			if words := strings.Fields(name); len(words) > 0 && words[0] != "*" {
				all = append(all, imported{len(m[1]), strings.TrimPrefix(m[2]+"."+words[0], ".")})
			}
		}
	}
	return all
}

// modules returns the files that importing a module below a directory runs.
func modules(have map[string]bool, dir, module string) []string {
	var files []string
	at := dir
	for part := range strings.SplitSeq(module, ".") {
		at = path.Join(at, part)
		for _, f := range []string{at + ".py", path.Join(at, "__init__.py")} {
			if have[f] {
				files = append(files, f)
			}
		}
	}
	return files
}
