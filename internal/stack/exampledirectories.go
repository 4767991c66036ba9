package stack

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// isExampleDirectory reports whether a directory below another package of the stack contains an example or a
// demo, which is not meant to be checked with the rest.
func isExampleDirectory(rel string) bool {
	return slices.ContainsFunc(strings.Split(rel, "/"), func(name string) bool {
		switch name {
		case "example", "examples", "sample", "samples", "template", "templates", "demo", "demos", "playground", "playgrounds", "benchmark", "benchmarks", "bench", "test", "tests", "__tests__", "__fixtures__", "fixture":
			return true
		}
		return strings.HasPrefix(name, "template-")
	})
}

// matchesPatterns reports whether a directory matches one of the patterns and none of those that begin
// with an exclamation mark.
func matchesPatterns(patterns []string, dir string) bool {
	is := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(strings.TrimSpace(p), "!")
		p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
		if ok, err := doublestar.Match(p, dir); err == nil && ok {
			if not {
				return false
			}
			is = true
		}
	}
	return is
}
