package script

import (
	_ "embed" // the modules of Python
	"regexp"
	"slices"
	"strings"
)

//go:embed pythonmodules.txt
var pythonModules string

// ImportsProject reports whether Python code imports a module that is not part of Python:
// then a search path has a visible purpose.
func ImportsProject(code string) bool {
	_, list, _ := strings.Cut(pythonModules, "\n")
	known := strings.Fields(list)
	for _, m := range regexp.MustCompile(`(?:^|[;\n:])\s*(?:import\s+([\w., ]+)|from\s+(\w[\w.]*)\s+import\b)`).FindAllStringSubmatch(code, -1) {
		for name := range strings.SplitSeq(m[1]+m[2], ",") {
			words := strings.Fields(name)
			if len(words) == 0 {
				continue
			}
			top, _, _ := strings.Cut(words[0], ".")
			if top != "sitecustomize" && top != "usercustomize" && !slices.Contains(known, top) {
				return true
			}
		}
	}
	return false
}
