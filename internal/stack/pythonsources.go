package stack

import (
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// pythonSources describes how files of Python depend on each other.
func pythonSources() []SourceDependencyRules {
	return []SourceDependencyRules{{
		Name: "python", Mine: isPython, Test: isPythonTest,
		Uses: func(tree fs.FS, have map[string]bool) func(string) ([]string, bool) {
			return func(file string) ([]string, bool) {
				return importedPythonFiles(gosource.ReadRegularFile(tree, file), file, have)
			}
		},
	}}
}

func isPython(file string) bool { return path.Ext(file) == ".py" && path.Base(file) != "setup.py" }

func isPythonTest(file string) bool {
	base := path.Base(file)
	return isPython(file) && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"))
}

// importedPythonFiles follows imports by their names, wherever in the tree a package of that name is.
// Importing a module runs the packages that contain it; pytest reads each conftest.py above a
// test.
func importedPythonFiles(text, file string, have map[string]bool) (files []string, sure bool) {
	sure = !regexp.MustCompile(`\b(?:import_module|__import__)\s*\(`).MatchString(text)
	for _, i := range pythonImports(text) {
		if i.dots == 0 {
			for _, root := range append(DirectoriesAbove(file), "src", "lib") {
				files = append(files, filesOfPythonModule(have, root, i.name)...)
				files = append(files, filesOfPythonModule(have, path.Join(root, "src"), i.name)...)
			}
			continue
		}
		dir := path.Dir(file)
		for range i.dots - 1 {
			dir = path.Dir(dir)
		}
		files = append(files, filesOfPythonModule(have, dir, i.name)...)
	}
	for _, dir := range DirectoriesAbove(file) {
		for _, name := range []string{"__init__.py", "conftest.py"} {
			if f := path.Join(dir, name); have[f] && f != file && (name != "conftest.py" || isPythonTest(file)) {
				files = append(files, f)
			}
		}
	}
	return files, sure
}

// pythonImport is a name that a file imports, with the dots in front of it.
type pythonImport struct {
	dots int
	name string
}

func pythonImports(text string) []pythonImport {
	var all []pythonImport
	for _, m := range regexp.MustCompile(`(?m)^[ \t]*import[ \t]+([^#\n]+)`).FindAllStringSubmatch(text, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			if words := strings.Fields(name); len(words) > 0 {
				all = append(all, pythonImport{0, words[0]})
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^#\n]+)`).FindAllStringSubmatch(text, -1) {
		all = append(all, pythonImport{len(m[1]), m[2]})
		for name := range strings.SplitSeq(strings.Trim(m[3], "() \t"), ",") {
			if words := strings.Fields(name); len(words) > 0 && words[0] != "*" {
				all = append(all, pythonImport{len(m[1]), strings.TrimPrefix(m[2]+"."+words[0], ".")})
			}
		}
	}
	return all
}

// filesOfPythonModule returns the files that run if a module below a directory is imported.
func filesOfPythonModule(have map[string]bool, dir, module string) []string {
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
