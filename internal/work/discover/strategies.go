package discover

import (
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// AllStrategies returns all strategies in the order in which they run: first those that only read
// files, then types before the build, and related tests before all.
func AllStrategies() []DiscoveryStrategy {
	every := StrategyCacheInputs{Files: func(string) bool { return true }}
	code := StrategyCacheInputs{Files: func(file string) bool { return !stack.IsProse(file) }}
	const docs = "public names and directories without docs, and commands in the README that fail"
	return []DiscoveryStrategy{
		{Name: "working-dir", Short: "tasks in the task folder", Cost: Cheap, Look: findFolderTasks},
		{Name: "todo", Short: "TODO comments and other marks of unfinished work", Cost: Cheap, Reads: every, Look: findTodos},
		{Name: "security", Short: "secrets", Cost: Cheap, Reads: every, Look: findSecurityRisks},
		{Name: "documentation", Short: docs, Cost: Tools, Reads: every, Look: findMissingDocumentation},
		{Name: "type-errors", Short: "type errors", Cost: Tools, Reads: code, Look: findTypeErrors},
		{Name: "build-errors", Short: "build errors", Cost: Tools, Reads: code, Look: findBuildErrors},
		{Name: "lint-issues", Short: "lint and format findings", Cost: Tools, Reads: every, Look: findLintIssues},
		{Name: "failing-tests", Short: "failing tests", Cost: Tools, Reads: code, Look: findFailingTests},
		{Name: "flaky-tests", Short: "flaky tests", Cost: Tools, Reads: StrategyCacheInputs{Files: code.Files, Runs: true}, Look: findFlakyTests},
		{Name: "slow-tests", Short: "slow tests", Cost: Tools, Reads: code, Look: findSlowTests},
		{Name: "test-coverage", Short: "changed or risky lines that no test runs", Cost: Tools, Reads: code, Look: findUncoveredCode},
		{Name: "dependencies", Short: "dependencies with known vulnerabilities", Cost: Tools, Reads: StrategyCacheInputs{Files: listsPackages}, Look: findVulnerableDependencies},
		{
			Name: "outdated", Short: "packages that have newer versions", Cost: Asks, Named: true,
			Reads: StrategyCacheInputs{Files: listsPackages}, Look: findOutdatedDependencies,
		},
		{Name: "benchmarks", Short: "benchmarks that got worse", Cost: Tools, Named: true, Reads: StrategyCacheInputs{Files: code.Files, Base: true}, Look: findBenchmarkRegressions},
		{Name: "plugins", Short: "findings of plugins", Cost: Tools, Look: findWithPlugins},
		{Name: "issues", Short: "open issues of the forge", Cost: Asks, Named: true, Look: listForgeIssues},
		{Name: "ideas", Short: "a model's suggestions", Cost: Model, Named: true, Reads: every, Look: requestModelIdeas},
	}
}

// listsPackages reports whether a file lists the packages of a project.
func listsPackages(file string) bool {
	base := strings.ToLower(path.Base(file))
	return stack.IsManifest(file) || stack.IsToolWrittenFile(base) || strings.HasPrefix(base, "requirements")
}
