package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// IgnoredFileWriteRule returns a rule that forbids agents to write in a tree: files that .nexusignore
// hides, and files of that name, in any directory, existing or not. A command would not ask.
func IgnoredFileWriteRule(root *os.Root, hidden files.HiddenPathRules) func(name string) error {
	return func(name string) error {
		if path.Base(name) == files.IgnoreFile {
			return fmt.Errorf("%s is refused (path.config): it says what is hidden from agents, so only people may edit it", name)
		}
		if hidden.IsIgnored(root, name) {
			return fmt.Errorf("%s is refused (path.ignored): .nexusignore hides it from agents", name)
		}
		return nil
	}
}

// ProtectedFileReason returns why no agent may write a file of the tree, nil if agents may.
func ProtectedFileReason(name string) error {
	if d := policy.JudgePath(name, true); d.Decision == policy.Deny {
		return fmt.Errorf("%s is refused (%s): %s", name, d.Rule, d.Reason)
	}
	return nil
}

// CombineWriteRules returns a rule that allows a file if both rules do; nil allows all.
func CombineWriteRules(a, b func(name string) error) func(name string) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(name string) error { return cmp.Or(a(name), b(name)) }
}

// CombineUndoFuncs returns a function that calls two undo functions; the second may be nil.
func CombineUndoFuncs(a, b func(context.Context) ([]string, error)) func(context.Context) ([]string, error) {
	if b == nil {
		return a
	}
	return func(ctx context.Context) ([]string, error) {
		files, err := a(ctx)
		more, err2 := b(ctx)
		return append(files, more...), errors.Join(err, err2)
	}
}

// FilesViolatingRule returns the files that violate a rule.
func FilesViolatingRule(files []string, rule func(name string) error) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool { return rule == nil || rule(name) == nil })
}

// UndoneChangeCollector collects the undone changes in a stretch of a conversation.
type UndoneChangeCollector struct{ files map[string]bool }

// Add adds files.
func (u *UndoneChangeCollector) Add(files []string) {
	for _, f := range files {
		if u.files == nil {
			u.files = map[string]bool{}
		}
		u.files[f] = true
	}
}

// SortedFiles returns the collected files, sorted.
func (u *UndoneChangeCollector) SortedFiles() []string {
	var all []string
	for f := range u.files {
		all = append(all, f)
	}
	slices.Sort(all)
	return all
}
