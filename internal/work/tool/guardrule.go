package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// IgnoreRule says what agents may write of a tree: nothing that .nexusignore keeps
// from them, and no file of that name, in any directory, whether there is one or
// not. A command would not ask.
func IgnoreRule(root *os.Root, hidden files.HiddenRules) func(name string) error {
	return func(name string) error {
		if path.Base(name) == files.IgnoreFile {
			return fmt.Errorf("%s is refused (path.config): it says what is hidden from agents, so only people may edit it", name)
		}
		if hidden.Ignored(root, name) {
			return fmt.Errorf("%s is refused (path.ignored): .nexusignore hides it from agents", name)
		}
		return nil
	}
}

// BothRules returns the rule that allows what two rules allow; nil allows all.
func BothRules(a, b func(name string) error) func(name string) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(name string) error { return cmp.Or(a(name), b(name)) }
}

// BothUndos returns what takes back what two of its kind do; the second may be nil.
func BothUndos(a, b func(context.Context) ([]string, error)) func(context.Context) ([]string, error) {
	if b == nil {
		return a
	}
	return func(ctx context.Context) ([]string, error) {
		files, err := a(ctx)
		more, err2 := b(ctx)
		return append(files, more...), errors.Join(err, err2)
	}
}

// Breaches returns the files that are against a rule.
func Breaches(files []string, rule func(name string) error) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool { return rule == nil || rule(name) == nil })
}

// UndoneFiles gathers what was taken back in a stretch of a conversation.
type UndoneFiles struct{ files map[string]bool }

// Add notes files.
func (u *UndoneFiles) Add(files []string) {
	for _, f := range files {
		if u.files == nil {
			u.files = map[string]bool{}
		}
		u.files[f] = true
	}
}

// Files returns what was noted, sorted.
func (u *UndoneFiles) Files() []string {
	var all []string
	for f := range u.files {
		all = append(all, f)
	}
	slices.Sort(all)
	return all
}
