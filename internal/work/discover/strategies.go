package discover

import (
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Strategies returns all strategies in the order in which they run: first those that only read
// files, then types before the build, and related tests before all.
func Strategies() []Strategy {
	every := CacheInputs{Files: func(string) bool { return true }}
	code := CacheInputs{Files: func(file string) bool { return !stack.IsProse(file) }}
	const docs = "public names and directories without docs, and commands in the README that fail"
	return []Strategy{
		{Name: "working-dir", Short: "tasks in the task folder", Cost: Cheap, Look: tasks},
		{Name: "todo", Short: "TODO comments and other marks of unfinished work", Cost: Cheap, Reads: every, Look: todos},
		{Name: "security", Short: "secrets and dangerous code", Cost: Cheap, Reads: every, Look: dangers},
		{Name: "duplicates", Short: "duplicated code", Cost: Cheap, Reads: code, Look: duplicates},
		{Name: "dead-code", Short: "unused code", Cost: Cheap, Reads: code, Look: deadCode},
		{Name: "refactoring", Short: "functions that are too long or too deep", Cost: Cheap, Reads: code, Look: refactoring},
		{Name: "documentation", Short: docs, Cost: Tools, Reads: every, Look: documentation},
		{Name: "type-errors", Short: "type errors", Cost: Tools, Reads: code, Look: typeErrors},
		{Name: "build-errors", Short: "build errors", Cost: Tools, Reads: code, Look: buildErrors},
		{Name: "lint-issues", Short: "lint and format findings", Cost: Tools, Reads: every, Look: lintIssues},
		{Name: "failing-tests", Short: "failing tests", Cost: Tools, Reads: code, Look: failingTests},
		{Name: "flaky-tests", Short: "flaky tests", Cost: Tools, Reads: CacheInputs{Files: code.Files, Runs: true}, Look: flakyTests},
		{Name: "slow-tests", Short: "slow tests", Cost: Tools, Reads: code, Look: slowTests},
		{Name: "test-coverage", Short: "changed or risky lines that no test runs", Cost: Tools, Reads: code, Look: uncovered},
		{Name: "performance", Short: "calls to other services within loops", Cost: Cheap, Reads: code, Look: performance},
		{Name: "dependencies", Short: "dependencies with known vulnerabilities", Cost: Tools, Reads: CacheInputs{Files: namesPackages}, Look: dependencies},
		{
			Name: "outdated", Short: "packages that have newer versions", Cost: Asks, Named: true,
			Reads: CacheInputs{Files: namesPackages}, Look: outdated,
		},
		{Name: "benchmarks", Short: "benchmarks that got worse", Cost: Tools, Named: true, Reads: CacheInputs{Files: code.Files, Base: true}, Look: benchmarks},
		{Name: "plugins", Short: "findings of plugins", Cost: Tools, Look: fromPlugins},
		{Name: "issues", Short: "open issues of the forge", Cost: Asks, Named: true, Look: issues},
		{Name: "ideas", Short: "a model's suggestions", Cost: Model, Named: true, Reads: every, Look: ideas},
	}
}

// namesPackages reports whether a file lists the packages of a project.
func namesPackages(file string) bool {
	base := strings.ToLower(path.Base(file))
	return stack.IsManifest(file) || stack.IsWritten(base) || strings.HasPrefix(base, "requirements")
}
