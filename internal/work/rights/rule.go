package rights

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/work/tool/ignore"
)

// Shown says what may be written in a tree where .nexusignore keeps files from
// agents: a command would not ask. It is nil where no such file is.
func Shown(root *os.Root) func(name string) error {
	if _, err := root.Lstat(ignore.File); err != nil {
		return nil
	}
	return func(name string) error {
		if path.Base(name) == ignore.File || ignore.Hidden(root, name) {
			return fmt.Errorf("%s is refused (path.ignored): .nexusignore keeps it from agents", name)
		}
		return nil
	}
}

// Both returns the rule that allows what two rules allow; nil allows all.
func Both(a, b func(name string) error) func(name string) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(name string) error { return cmp.Or(a(name), b(name)) }
}

// Breaches returns the files that are against a rule.
func Breaches(files []string, rule func(name string) error) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool { return rule == nil || rule(name) == nil })
}
