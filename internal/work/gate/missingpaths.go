package gate

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// mostExplained limits the findings of a gate whose missing paths are looked up.
const mostExplained = 20

// maxSearched limits the output, at its end, that is searched for missing paths.
const maxSearched = 64 << 10

// explainMissingPaths adds to findings about a missing path the rule by which git ignores it: an
// agent that wrote the file sees it in its worktree, and the gates do not. If only the output
// names such a path, the first finding gets it.
func (r GateRunner) explainMissingPaths(ctx context.Context, t JudgedTreeDir, g QualityGate, findings []nexus.Finding, res sandbox.Result) ([]nexus.Finding, error) {
	if r.Ignored == nil || len(findings) == 0 {
		return findings, nil
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return findings, fmt.Errorf("look for missing files: %w", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	gone := func(file, text string) []string {
		return slices.DeleteFunc(stack.MissingPaths(g.Dir, file, strings.ReplaceAll(text, t.Dir+"/", "")), func(p string) bool {
			_, err := root.Lstat(p)
			return err == nil
		})
	}
	named := make([][]string, min(len(findings), mostExplained)+1)
	var all []string
	for i, f := range findings[:len(named)-1] {
		named[i] = gone(f.File, f.Message+"\n"+f.Stack)
		all = append(all, named[i]...)
	}
	if len(all) == 0 {
		output := string(res.Stdout[max(0, len(res.Stdout)-maxSearched):]) + "\n" + string(res.Stderr[max(0, len(res.Stderr)-maxSearched):])
		named[len(named)-1] = gone("", output)
		all = named[len(named)-1]
	}
	if len(all) == 0 {
		return findings, nil
	}
	slices.Sort(all)
	rules, err := r.Ignored(ctx, slices.Compact(all))
	if err != nil || len(rules) == 0 {
		return findings, err
	}
	findings = slices.Clone(findings)
	for i, paths := range named {
		i %= len(named) - 1 // paths that only the output names go to the first finding
		for _, p := range paths {
			if rule, ok := rules[p]; ok {
				why := fmt.Sprintf("%s is not there: %s ignores it, so it is not part of the change. Choose another path or change the rule.", p, rule)
				findings[i].Advice = strings.TrimSpace(findings[i].Advice + " " + why)
				break
			}
		}
	}
	return findings, nil
}
