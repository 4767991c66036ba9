package stack

import (
	_ "embed"
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/report"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func nodeStack() Stack {
	npm := []string{"npm", "run", "--silent"}
	return Stack{
		Name: "node", Skeleton: nodeSkeleton(), Markers: []string{"package.json"},
		Unmarked:   splitWords("*.test.js *.test.mjs *.test.cjs test/*.js test/*.mjs test/*.cjs"),
		Offers:     nodeScriptFiles,
		Expands:    expandNodeScripts,
		Handles:    jestOpenHandles,
		HandleName: nodeHandleText,
		Lent:       []DependencyDir{{Dir: "node_modules"}},
		Syntax:     nodeSyntax,
		Counts:     []string{"npm test", "vitest", "jest", "playwright test", "bun test"},
		Sources:    nodeSources, Names: nodePackageNaming,
		Licences: []LicenceFinder{{KindNode, nodeLicence}},
		Runners: []InstalledToolRunner{
			{If: "file:pnpm-lock.yaml", Args: []string{"pnpm", "exec"}, Script: npm},
			{If: "file:yarn.lock", Args: []string{"yarn", "run"}, Script: npm},
			{If: "file:bun.lock|file:bun.lockb", Args: []string{"bunx", "--no-install"}, Script: []string{"bun", "run", "--silent"}},
			{Args: []string{"npx", "--no-install"}, Script: npm},
		},
		Installs: nodeInstalls, Programs: splitWords("node npm npx pnpm pnpx yarn bun bunx corepack tsc tsx ts-node eslint biome prettier vitest jest mocha ava tap playwright cypress vite webpack rollup esbuild next nuxt ng turbo nx lerna"),
		covers: judgesNodePackage,
		refine: splitScripts,
		Tests: LanguageTestSyntax{
			Weak:     `toBeTruthy|toBeDefined|not\.toThrow|not\.toBeNull|not\.toBeUndefined|toBeInstanceOf\(Object|anything\(\)|expect\.any\(`,
			Swallows: `\bprocess\.exit\(\s*\)|\bprocess\.exitCode\s*=\s*0|\bprocess\.exit\(0\)|--passWithNoTests|--pass-with-no-tests|^-\s*npm test`,
			Quiets:   `eslint-disable|biome-ignore|oxlint-disable|@ts-(?:ignore|nocheck|expect-error)`,
			Mocks:    `(?:jest|vi|vitest|mock)\.(?:mock|doMock|module|patch)\(\s*['"]([^'"]+)`,
			Reports:  `\.currentTest\b.*=[^=]|expect\.extend\(`,
			Inverts:  `\b(?:it|test)\.fails\b`,
			Ends:     scriptExtensions(),
			Declares: "\\b(?:it|test|describe|context|specify|suite)(?:\\.\\w+)*\\(\\s*['\"`]([^'\"`]+)",
			Skips:    `\b(?:it|test|describe|context|suite)\.(?:skip|todo|fixme|failing)(?:If)?\b|\b(?:xit|xtest|xdescribe|xcontext)\s*\(|\bthis\.skip\(|\{\s*(?:skip|todo):\s*(?:true|['"])`,
			Focuses:  `\b(?:it|test|describe|context|suite)\.only\b|\b(?:fit|fdescribe)\s*\(`,
			Asserts:  `\bexpect\(|\bassert(?:\.\w+)*\(|\.should\b|\bt\.(?:is|deepEqual|true|false|throws|equal)\(`,
			Only:     true,
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml"}, Loads: `(?i)script-?shell|node-?options|^\s*preload`},
			{Files: []string{"package.json", "biome.json", "biome.jsonc", "jest.config.*", "vitest.config.*", "vitest.workspace.*", "playwright.config.*", "karma.conf.*", "cypress.config.*", ".mocharc*", ".eslintrc*", "eslint.config.*", "tsconfig*"}},
		},
		Environment: nodeEnvironment(),
		Namings: func() []TestNameConverter {
			return []TestNameConverter{{NameTitles, testrunners.FullTitlePattern}, {NameInFile, testrunners.FileAndTitleArgument}, {NameLast, testrunners.LastTitleArgument}, {NamePlay, testrunners.PlaywrightTestArgument}}
		},
		Hosts:        []RegistryHosts{{"npm", splitWords("registry.npmjs.org registry.yarnpkg.com")}},
		Servers:      []LanguageServer{{Name: "typescript", Commands: [][]string{{"typescript-language-server", "--stdio"}}, Ends: splitWords(".ts .tsx .mts .cts .js .jsx .mjs .cjs"), Watch: splitWords("package.json tsconfig.json jsconfig.json")}},
		Written:      splitWords("package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb"),
		CommandRules: nodeCommandRules,
		Outlines:     nodeOutlines,
		Needs:        nodePackageSourceDirs,
		Listings:     []PackageListFormat{{[]string{"package-lock.json", "npm-shrinkwrap.json"}, npmPackages}, {[]string{"pnpm-lock.yaml"}, pnpmPackages}, {[]string{"yarn.lock"}, yarnPackages}, {[]string{"bun.lock"}, bunPackages}},
		Stores: []PackageDownloadCache{
			{Name: "npm", Tools: []string{"npm", "npx"}, Home: ".npm/_cacache", Below: "_cacache", Var: "npm_config_cache"},
			{Name: "pnpm", Tools: []string{"pnpm", "pnpx"}, Home: ".local/share/pnpm/store", Var: "npm_config_store_dir"},
			{Name: "yarn", Tools: []string{"yarn"}, Home: ".cache/yarn", From: "YARN_CACHE_FOLDER", Var: "YARN_CACHE_FOLDER"},
			{Name: "yarn-berry", Tools: []string{"yarn"}, Home: ".yarn/berry", From: "YARN_GLOBAL_FOLDER", Var: "YARN_GLOBAL_FOLDER"},
			{Name: "bun", Tools: []string{"bun", "bunx"}, Home: ".bun/install/cache", From: "BUN_INSTALL_CACHE_DIR", Var: "BUN_INSTALL_CACHE_DIR"},
		},
		Formats: nodeFormats,
		Steps:   nodeSteps,
	}
}

func nodeSteps() []PackageCheckCommand {
	// A type check needs the results of a build if packages refer to each other or code is
	// generated.
	const alone = "!has:tsconfig.json:\"references\" !has:tsconfig.json:\"composite\" !has:package.json:\"workspaces\" !has:package.json:generate !script:prebuild"
	return []PackageCheckCommand{
		{Gate: "build", If: "script:build", Args: []string{"{script}", "build"}, Format: "exit"},
		{Gate: "type", If: "script:typecheck", Args: []string{"{script}", "typecheck"}, Format: "exit", Early: "runs:typecheck:tsc " + alone},
		{Gate: "type", If: "script:type-check", Args: []string{"{script}", "type-check"}, Format: "exit", Early: "runs:type-check:tsc " + alone},
		{Gate: "type", If: "file:tsconfig.json", Args: []string{"{run}", "tsc", "--noEmit", "--pretty", "false"}, Format: "tsc", Early: alone},
		{Gate: "lint", If: "script:lint", Args: []string{"{script}", "lint"}, Format: "exit", Fix: []FixCommand{eslintFixer("runs:lint:eslint"), biomeFixer("runs:lint:biome")}},
		{Gate: "lint", If: "file:eslint.config.*|file:.eslintrc*|has:package.json:\"eslintConfig\"", Args: []string{"{run}", "eslint", "--format", "json", "."}, Format: "eslint", Fix: []FixCommand{eslintFixer("")}},
		{Gate: "lint", If: "file:biome.json|file:biome.jsonc", Args: []string{"{run}", "biome", "lint", "--reporter=json", "."}, Format: "biome", Fix: []FixCommand{biomeFixer("")}},
		{Gate: "format", If: "file:.prettierrc*|file:prettier.config.*|has:package.json:\"prettier\":_{", Args: []string{"{run}", "prettier", "--check", "."}, Format: "prettier", Fix: []FixCommand{prettierFix()}},
		{Gate: "test", If: "script:test !has:package.json:no_test_specified", Args: []string{"{script}", "test"}, Format: "exit", Tests: true, Related: scriptPartialRuns(), Alone: scriptSingleTests(), Held: scriptHandleChecks(), Cover: scriptCoverageCommands()},
		{Gate: "test", If: "dep:vitest", Args: []string{"{run}", "vitest", "run", "--reporter=default"}, Format: "vitest", Tests: true, Related: []PartialTestCommand{vitestPartialRun("")}, Alone: []SingleTestCommand{vitestSingleTest("")}, Held: []OpenResourceTestCommand{vitestHandleCheck("")}, Cover: vitestCoverageCommands("", "{run}", "vitest", "run")},
		{Gate: "test", If: "dep:jest", Args: []string{"{run}", "jest"}, Format: "jest", Tests: true, Related: []PartialTestCommand{{By: "node", Args: []string{"{run}", "jest", "--findRelatedTests", "{changed}"}}}, Alone: []SingleTestCommand{jestSingleTest("")}, Held: []OpenResourceTestCommand{jestHandleCheck("")}, Cover: []CoverageCommand{jestCoverageCommand("", "{run}", "jest")}},
		{Gate: "test", If: "dep:mocha", Args: []string{"{run}", "mocha"}, Format: "mocha", Tests: true, Related: []PartialTestCommand{mochaPartialRun("!file:.mocharc*")}, Alone: []SingleTestCommand{mochaSingleTest("")}, Held: []OpenResourceTestCommand{mochaHandleCheck("")}, Cover: append(nodeCoverageTools("mocha"), coverageIfToolMissing("", "c8", "npm install --save-dev c8"))},
		{Gate: "test", If: "dep:@playwright/test file:playwright.config.*", Args: playwrightCommand(), Format: "playwright", Tests: true, Alone: playwrightSingleTest()},
		{Gate: "e2e", If: "dep:@playwright/test file:playwright.config.* script:test|dep:vitest|dep:jest|dep:mocha !has:package.json:no_test_specified|dep:vitest|dep:jest|dep:mocha !runs:test:playwright !runs:test:npx_playwright", Args: playwrightCommand(), Format: "playwright", Tests: true, Alone: playwrightSingleTest()},
		{Gate: "test", If: ofBun + " " + bunTestsCondition(), Args: []string{"bun", "test"}, Format: "bun", Tests: true, Related: []PartialTestCommand{bunPartialRun("")}, Alone: []SingleTestCommand{bunSingleTest("")}, Cover: []CoverageCommand{bunCoverageCommand("")}},
		{Gate: "test", If: "file:*.test.js|file:*.test.mjs|file:*.test.cjs|file:test/*.js|file:test/*.mjs|file:test/*.cjs", Args: []string{"node", "--test", "--test-reporter=tap"}, Format: "tap", Tests: true, Related: []PartialTestCommand{nodePartialRun("")}, Alone: []SingleTestCommand{nodeSingleTest("")}, Held: []OpenResourceTestCommand{nodeHandleCheck("")}, Cover: []CoverageCommand{nodeCoverageCommand("", "node", "--test")}},
	}
}

func scriptExtensions() []string {
	return []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"}
}

func eslintFixer(cond string) FixCommand {
	return FixCommand{If: cond, Args: []string{"{run}", "eslint", "--fix", "--no-warn-ignored", "{files}"}, Ends: scriptExtensions()}
}

func biomeFixer(cond string) FixCommand {
	return FixCommand{If: cond, Args: []string{"{run}", "biome", "check", "--write", "{files}"}, Ends: append(scriptExtensions(), ".json", ".css")}
}

func prettierFix() FixCommand {
	return FixCommand{Args: []string{"{run}", "prettier", "--write", "--ignore-unknown", "--log-level=warn", "{files}"}}
}

// scriptPartialRuns returns the commands that run some tests of the script "test" of package.json.
// The script shows which runner it starts.
func scriptPartialRuns() []PartialTestCommand {
	return []PartialTestCommand{
		{If: "runs:test:jest", By: "node", Args: []string{"{script}", "test", "--", "--findRelatedTests", "{changed}"}, Format: "jest"},
		vitestPartialRun("runs:test:vitest$|runs:test:vitest_run$|runs:test:vitest_--run$"),
		mochaPartialRun("runs:test:mocha$ !file:.mocharc*"),
		nodePartialRun("runs:test:node_--test$"),
		bunPartialRun("runs:test:bun_test$"),
	}
}

// scriptSingleTests returns the commands that run one of its tests.
func scriptSingleTests() []SingleTestCommand {
	return []SingleTestCommand{
		jestSingleTest("runs:test:jest$"),
		vitestSingleTest("runs:test:vitest$|runs:test:vitest_run$|runs:test:vitest_--run$"),
		mochaSingleTest("runs:test:mocha$"),
		nodeSingleTest("runs:test:node_--test$"),
		bunSingleTest("runs:test:bun_test$"),
	}
}

func vitestSingleTest(cond string) SingleTestCommand {
	return SingleTestCommand{If: cond, Name: NameInFile, Args: []string{"{run}", "vitest", "run", "--reporter=default", "--testNamePattern={test}", "{file}"}, Format: "vitest"}
}

func jestSingleTest(cond string) SingleTestCommand {
	return SingleTestCommand{If: cond, Name: NameInFile, Args: []string{"{run}", "jest", "--testNamePattern={test}", "--runTestsByPath", "{file}"}, Format: "jest"}
}

func mochaSingleTest(cond string) SingleTestCommand {
	return SingleTestCommand{If: cond, Name: NameTitles, Args: []string{"{run}", "mocha", "--grep={test}"}, Format: "mocha"}
}

func nodeSingleTest(cond string) SingleTestCommand {
	return SingleTestCommand{If: cond, Name: NameLast, Args: []string{"node", "--test", "--test-reporter=tap", "--test-name-pattern={test}"}, Format: "tap"}
}

func vitestPartialRun(cond string) PartialTestCommand {
	return PartialTestCommand{If: cond, By: "node", Args: []string{"{run}", "vitest", "related", "--run", "--reporter=default", "{changed}"}, Format: "vitest"}
}

func mochaPartialRun(cond string) PartialTestCommand {
	return PartialTestCommand{If: cond, By: "node", Args: []string{"{run}", "mocha", "{tests}"}, Format: "mocha"}
}

func nodePartialRun(cond string) PartialTestCommand {
	return PartialTestCommand{If: cond, By: "node", Args: []string{"node", "--test", "--test-reporter=tap", "{tests}"}, Format: "tap"}
}

// ofBun is the condition that bun runs a package.
const ofBun = "file:bun.lock|file:bun.lockb|file:bunfig.toml|dep:@types/bun|dep:bun-types"

// bunTestsCondition returns the condition that the package has test files of bun.
func bunTestsCondition() string {
	var words []string
	for _, name := range []string{"*.test.[jtcm]*", "*.spec.[jtcm]*", "*_test.[jtcm]*", "*_spec.[jtcm]*"} {
		for _, dir := range []string{"", "*/", "*/*/", "*/*/*/"} {
			words = append(words, "file:"+dir+name)
		}
	}
	return strings.Join(words, "|")
}

func bunSingleTest(cond string) SingleTestCommand {
	return SingleTestCommand{If: cond, Name: NameInFile, Args: []string{"bun", "test", "--test-name-pattern={test}", "./{file}"}, Format: "bun"}
}

func bunPartialRun(cond string) PartialTestCommand {
	return PartialTestCommand{If: cond, By: "node", Args: []string{"bun", "test", "{tests}"}, Format: "bun"}
}

func playwrightCommand(more ...string) []string {
	return append([]string{"{run}", "playwright", "test", "--reporter=list"}, more...)
}

func playwrightSingleTest() []SingleTestCommand {
	return []SingleTestCommand{{Name: NamePlay, Args: playwrightCommand("--retries=0", "--grep={test}")}}
}

func vitestCoverageCommands(cond string, words ...string) []CoverageCommand {
	const line = `"$@" --coverage.enabled --coverage.reporter=lcovonly "--coverage.reportsDirectory=$d/report" >&2 || exit; show "$d/report/lcov.info"`
	const v8, istanbul = "@vitest/coverage-v8", "@vitest/coverage-istanbul"
	return []CoverageCommand{
		{If: strings.TrimSpace(cond + " dep:" + v8 + "|dep:" + istanbul), Name: "Vitest", Format: "lcov", Args: coverageShellCommand(line, words...)},
		coverageIfToolMissing(cond, v8, "npm install --save-dev "+v8),
	}
}

func jestCoverageCommand(cond string, words ...string) CoverageCommand {
	const line = `"$@" --coverage --coverageReporters=lcovonly "--coverageDirectory=$d/report" >&2 || exit; show "$d/report/lcov.info"`
	return CoverageCommand{If: cond, Name: "Jest", Format: "lcov", Args: coverageShellCommand(line, words...)}
}

func bunCoverageCommand(cond string) CoverageCommand {
	const line = `"$@" --coverage --coverage-reporter=lcov "--coverage-dir=$d/report" >&2 || exit; show "$d/report/lcov.info"`
	return CoverageCommand{If: cond, Name: "bun test --coverage", Format: "lcov", Args: coverageShellCommand(line, "bun", "test")}
}

// nodeCoverageTools returns tools that measure the coverage of any node command.
func nodeCoverageTools(test string) []CoverageCommand {
	return []CoverageCommand{
		{If: "dep:c8", Name: "c8", Format: "lcov", Args: coverageShellCommand(`"$@" --reporter=lcovonly "--reports-dir=$d/report" "--temp-directory=$d/raw" `+test+` >&2 || exit; show "$d/report/lcov.info"`, "{run}", "c8")},
		{If: "dep:nyc", Name: "nyc", Format: "lcov", Args: coverageShellCommand(`"$@" --reporter=lcovonly "--report-dir=$d/report" "--temp-dir=$d/raw" `+test+` >&2 || exit; show "$d/report/lcov.info"`, "{run}", "nyc")},
	}
}

// nodeCoverageCommand measures the coverage of node's own runner: a node program in front of the real one
// on the search path adds the options to each call.
func nodeCoverageCommand(cond string, words ...string) CoverageCommand {
	const line = `node=$(command -v node) || lack node "see nodejs.org"
mkdir "$d/bin" && cat >"$d/bin/node" <<END
#!/bin/sh
for a; do
  [ "\$a" = --test ] && exec "$node" --experimental-test-coverage --test-reporter=spec --test-reporter-destination=stderr --test-reporter=lcov "--test-reporter-destination=$d/report.\$\$" "\$@"
done
exec "$node" "\$@"
END
chmod +x "$d/bin/node"
PATH="$d/bin:$PATH" "$@" >&2 || exit
show "$d"/report.*`
	return CoverageCommand{If: cond, Name: "node --experimental-test-coverage", Format: "lcov", Args: coverageShellCommand(line, words...)}
}

// scriptCoverageCommands measures the coverage of the script "test" of package.json.
func scriptCoverageCommands() []CoverageCommand {
	script := []string{"{script}", "test"}
	all := append(vitestCoverageCommands("runs:test:vitest", "{script}", "test", "--"), jestCoverageCommand("runs:test:jest", "{script}", "test", "--"), bunCoverageCommand("runs:test:bun_test$"))
	all = append(append(all, nodeCoverageTools("npm test --silent")...), nodeCoverageCommand("has:package.json:node_--test", script...))
	return append(all, coverageIfToolMissing("", "c8", "npm install --save-dev c8"))
}

// nodeProbe is a program for the runner's own process that reports the resources which are
// still open.
//
//go:embed probe/open.cjs
var nodeProbe string

// nodeProbeCommand runs a command with the probe in each of its processes.
func nodeProbeCommand(rest ...string) []string {
	return commandWithProbe(`NODE_OPTIONS="${NODE_OPTIONS:+$NODE_OPTIONS }--require=$d/nexus_open.cjs" exec "$@"`, nodeProbe, rest...)
}

// tested matches a line in which node's own runner reports the result of a test.
const tested = `^\s*(?:not )?ok \d+ - |^\s*[\x{2714}\x{2716}] `

func jestHandleCheck(cond string) OpenResourceTestCommand {
	return OpenResourceTestCommand{If: cond, Args: []string{"{run}", "jest", "--detectOpenHandles", "--forceExit"}, Format: "jest", Flag: "--forceExit"}
}

func mochaHandleCheck(cond string) OpenResourceTestCommand {
	return OpenResourceTestCommand{If: cond, Args: nodeProbeCommand("{run}", "mocha", "--exit"), Format: "mocha", Flag: "--exit"}
}

func vitestHandleCheck(cond string) OpenResourceTestCommand {
	return OpenResourceTestCommand{If: cond, Args: []string{"{run}", "vitest", "run", "--reporter=default", "--reporter=hanging-process", "--teardownTimeout=2000"}, Format: "vitest", Flag: "--teardownTimeout=1000"}
}

func nodeHandleCheck(cond string) OpenResourceTestCommand {
	return OpenResourceTestCommand{If: cond, Args: nodeProbeCommand("node", "--test", "--test-force-exit", "--test-reporter=tap"), Format: "tap", Flag: "--test-force-exit", Told: tested}
}

// scriptHandleChecks returns the open-handle checks for the script "test" of package.json if it
// consists of one runner only.
func scriptHandleChecks() []OpenResourceTestCommand {
	return []OpenResourceTestCommand{jestHandleCheck("runs:test:jest$"), vitestHandleCheck("runs:test:vitest$|runs:test:vitest_run$|runs:test:vitest_--run$"), mochaHandleCheck("runs:test:mocha$"), nodeHandleCheck("runs:test:node_--test$")}
}

// isWorkspaceMember reports whether a directory is a package of the npm, Yarn, bun, pnpm or Lerna
// workspace whose root is p.
func (p packageInspector) isWorkspaceMember(rel string) bool {
	return matchesPatterns(p.workspacePatterns(), rel)
}

// workspacePatterns returns the patterns of the packages of a workspace.
func (p packageInspector) workspacePatterns() []string {
	var m struct{ Workspaces json.RawMessage }
	var patterns []string
	if json.Unmarshal([]byte(p.readText("package.json")), &m) == nil && len(m.Workspaces) > 0 {
		var named struct{ Packages []string }
		if json.Unmarshal(m.Workspaces, &patterns) != nil && json.Unmarshal(m.Workspaces, &named) == nil {
			patterns = named.Packages
		}
	}
	var listed struct{ Packages []string }
	if yaml.Unmarshal([]byte(p.readText("pnpm-workspace.yaml")), &listed) == nil {
		patterns = append(patterns, listed.Packages...)
	}
	listed.Packages = nil
	if json.Unmarshal([]byte(p.readText("lerna.json")), &listed) == nil {
		patterns = append(patterns, listed.Packages...)
	}
	return patterns
}

// judgesNodePackage reports whether a package checks one below it: one that has no checks of its own,
// or a member of its workspace.
func judgesNodePackage(outer packageInspector, rel, _ string) bool {
	inner := outer
	inner.dir = path.Join(outer.dir, rel)
	m := inner.npmManifest()
	return len(m.Scripts)+len(m.Dependencies)+len(m.DevDependencies) == 0 || outer.isWorkspaceMember(rel)
}

// nodeFormats returns the output formats of its tools.
func nodeFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "tsc", About: "the TypeScript compiler", Commands: []string{"tsc", "vue-tsc"}, Marks: `\berror TS\d+: |(?m)^Found \d+ errors? in (?:the same file|\d+ files\.|\S+:\d+$)`, Well: `Found 0 errors`, Read: lint.ReadTsc},
		{Name: "bun-build", About: "bun build", Warns: true, Commands: []string{"bun build"}, Marks: `(?m)^(?:error|warn): .*\n {4}at \S+:\d+:\d+$|^Bundled \d+ modules? in \d`, Well: `^Bundled \d+ modules? in `, Read: testrunners.ReadBunBuild},
		{Name: "eslint", About: "ESLint: text or -f json", Warns: true, Commands: []string{"eslint"}, Marks: `\x{2716} \d+ problems? \(|"filePath":"[^"]*","messages":`, Read: lint.ReadESLint},
		{Name: "biome", About: "Biome: text or --reporter=json", Warns: true, Commands: []string{"biome"}, Marks: `(?m)^\S+ (?:lint/\S+|format|organizeImports|parse) .*\x{2501}{3}|"suggestedFixesSkipped"|^Checked \d+ files? in `, Well: `^Checked \d+ files? in `, Read: lint.ReadBiome},
		{Name: "prettier", About: "prettier --check or --list-different", Commands: []string{"prettier"}, Marks: `(?m)^Checking formatting\.\.\.|^\[warn\] Code style issues`, Well: `All matched files use Prettier code style`, Read: lint.ReadPrettier},
		{Name: "esbuild", About: "esbuild, and what bundles with it", Warns: true, Commands: []string{"esbuild"}, Marks: `(?m)^(?:\x{2718}|\x{25b2}) \[(?:ERROR|WARNING)\] `, Read: lint.ReadEsbuild},
		{Name: "vitest", About: "Vitest: text or --reporter=json", Tests: true, Commands: []string{"vitest"}, Marks: `(?m)^ (?:RUN|DEV)  v\d|^\s*Test Files +\d+ |^No test files found, exiting|^ FAIL  \S|^\s*Tests +\d+ \w+.*\(\d+\)$`, Over: `^\s*Duration +[\d.]+m?s`, Read: outputparser.JSONOrText(testrunners.ReadJestJSON, testrunners.ReadVitest)},
		{Name: "jest", About: "Jest: text or --json", Tests: true, Commands: []string{"jest", "react-scripts test"}, Marks: `"numTotalTests":|(?m)^Test Suites: .*\d+ total|^Tests: +.*\d+ total|^No tests found, exiting with code`, Over: `^Ran all test suites`, Read: outputparser.JSONOrText(testrunners.ReadJestJSON, testrunners.ReadJest)},
		{Name: "playwright", About: "Playwright: text or --reporter=json", Tests: true, Commands: []string{"playwright"}, Marks: `(?m)^Running \d+ tests? using \d+ worker|"unexpected": \d+`, Over: `^ {2}\d+ (?:passed|failed|flaky|skipped|did not run)\b`, Read: testrunners.SeparateMissingBrowsers(outputparser.JSONOrText(testrunners.ReadPlaywrightJSON, testrunners.ReadPlaywright))},
		{Name: "mocha", About: "Mocha: spec, dot, list or json", Tests: true, Commands: []string{"mocha"}, Marks: `(?m)^\["start",\{"total":\d|^  \d+ passing\b|"pending":\s*\d+,\s*"failures":\s*\d+`, Over: `^ {2}\d+ passing \(`, Read: outputparser.JSONOrText(testrunners.ReadMochaJSON, testrunners.ReadMocha)},
		{Name: "node", About: "node --test: spec, dot or TAP", Tests: true, Commands: []string{"node --test"}, Marks: `(?m)^(?:\x{2139}|#) pass \d+\n(?:\x{2139}|#) fail \d+$`, Over: `^(?:\x{2139}|#) duration_ms [\d.]+`, Read: readNode},
		{Name: "bun", About: "bun test", Tests: true, Commands: []string{"bun test"}, Marks: `(?m)^bun test v\d|^Ran \d+ tests? across \d+ files?\. \[`, Over: `^Ran \d+ tests? across \d+ files?\. \[`, Read: testrunners.ReadBun},
		{Name: "deno", About: "deno test", Tests: true, Commands: []string{"deno test"}, Marks: `(?m)^(?:ok|FAILED) \| \d+ passed\b.*\| \d+ failed`, Over: `^(?:ok|FAILED) \| \d+ passed\b`, Read: testrunners.ReadDeno},
	}
}

// readNode reads node --test, which prints TAP without a terminal.
func readNode(in outputparser.ToolOutput) outputparser.ParsedToolOutput {
	if regexp.MustCompile(`(?m)^TAP version \d+`).Match(in.Stdout) {
		return report.ReadTAP(in)
	}
	return testrunners.ReadNode(in)
}

// nodeOutlines returns the declaration patterns of its files.
func nodeOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "TypeScript", Members: true, Ends: []string{".ts", ".tsx", ".mts", ".cts"}, Tests: []string{"*.test.*", "*.spec.*", "*.d.ts"}, Declares: []string{"export "}, Imports: []string{"import ", "export ", "} from "}, Stands: []string{"index"}},
		{Name: "JavaScript", Members: true, Ends: []string{".js", ".jsx", ".mjs", ".cjs"}, Tests: []string{"*.test.*", "*.spec.*", "*.min.js"}, Declares: []string{"export ", "function ", "async function ", "class ", "module.exports"}, Imports: []string{"import ", "export ", "} from ", "const ", "var "}, Stands: []string{"index"}},
	}
}

// nodeCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const nodeCommandRules = `
deny  | publish  | npm pnpm yarn bun lerna | publish unpublish deprecate dist-tag owner access adduser login logout token star unstar team org hook profile stage npm:publish npm:login changeset:publish
read  | npm pnpm yarn bun lerna | publish | --dry-run !--no-dry-run
deny  | publish  | changeset | publish
deny  | publish  | vsce ovsx | publish login unpublish
ask   | deps.new | npm | install i add in link | +
ask   | deps.new | npm | update upgrade up init create innit audit:fix | +
ask   | deps.new | npm | exec x | -y --yes
ask   | deps.new | pnpm | add install i link update up upgrade create | +
ask   | deps.new | pnpm | dlx
ask   | deps.new | yarn | add link upgrade up create global | +
ask   | deps.new | yarn | dlx
ask   | deps.new | bun | add install i a link update create c x | +
ask   | deps.new | npx pnpx bunx | | -y --yes
allow | build    | npm pnpm yarn bun | test t ci run:test run:build run:lint run:typecheck run:check run:format run:unit ls list why | !--prefix !-C !--dir !--cwd !--script-shell !--userconfig !--node-options !-g !--global
allow | build    | pnpm yarn bun | build lint typecheck check
allow | build    | tsc jest vitest mocha | | !-c !--config !-r !--require !--globalSetup !--project !-p
allow | build    | eslint prettier biome | | !-c !--config !--plugin !--rulesdir !--parser !--resolve-plugins-relative-to
`

func nodeEnvironment() ToolEnvironment {
	return ToolEnvironment{
		Offline: splitWords("npm_config_offline=true npm_config_fetch_retries=0 npm_config_update_notifier=false pnpm_config_offline=true pnpm_config_fetch_retries=0 YARN_ENABLE_NETWORK=false COREPACK_ENABLE_NETWORK=0"),
		Proxied: splitWords("YARN_HTTP_PROXY={url} YARN_HTTPS_PROXY={url} NODE_USE_ENV_PROXY=1"),
		Trusts:  splitWords("NODE_EXTRA_CA_CERTS"),
		Unreached: []string{
			`ENOTCACHED`, `ERR_PNPM_NO_OFFLINE_\w+`, `Network access (?:has been )?disabled by configuration`, `Network access disabled by the environment`,
			`has been blocked because of your configuration settings`, `No cached version .* available for offline mode`, `Couldn't find any versions for .* that matches .* offline`,
		},
	}
}

// nodeSyntax returns the syntax of its files. Components contain more than code, so no
// mutations are made there.
func nodeSyntax() []SourceSyntax {
	const exports = `(?m)^\s*export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|const|let|var|interface|type|enum|namespace)\s+([A-Za-z_$][\w$]*)|^\s*(?:module\.)?exports\.([A-Za-z_$][\w$]*)\s*=`
	const heads = `^\s*(?:export )?(?:default )?(?:async )?function\*? ?([\w$]+)[<(]|` +
		`^\s*(?:export )?(?:const|let|var) ([\w$]+)(?:: [^=]+)? = (?:async )?(?:function\b.*|\(.*(?:=> |\()\{|\(|\(\{|[\w$]+ => \{)$|` +
		`^(?:[\w$]+\.)+([\w$]+) = (?:async )?(?:function\b|\([^)]*\) =>)|` +
		`^\s+(?:(?:public|private|protected|static|async|get|set|override) )*(#?[\w$]+)\([^;]*\{$`
	ends := splitWords(".ts .tsx .js .jsx .mjs .cjs .mts .cts")
	scripts := braceSyntax(ends, LineMutations{Calls: true, Nothing: ";", Returns: returnsEnded, None: "null"}).withFunctionHeads(heads)
	components := scripts
	components.Ends, components.Faults = splitWords(".vue .svelte"), LineMutations{}
	return []SourceSyntax{scripts.withExports(exports, "`"), components.withExports(exports, "`")}
}

// nodeSkeleton returns a module that greets, with its test; it needs no packages.
func nodeSkeleton() ProjectSkeleton {
	return ProjectSkeleton{
		Needs: splitWords("node npm"), Named: splitWords("node nodejs javascript typescript js react vue svelte"),
		Fits: splitWords("web website browser page frontend app ui game chat dashboard"), For: "what runs in a browser",
		Test: "test/greeting.test.js", Files: []SkeletonFile{
			{".gitignore", "node_modules/\n"},
			{"README.md", "# {name}\n\n    node src/index.js\n    npm test\n"},
			{"package.json", "{\n  \"name\": \"{name}\",\n  \"version\": \"0.1.0\",\n  \"private\": true,\n  \"type\": \"module\",\n  \"scripts\": {\n    \"build\": \"node --check src/index.js\",\n    \"lint\": \"node --check src/greeting.js\",\n    \"test\": \"node --test\"\n  }\n}\n"},
			{"nexus.toml", "[gates]\nbuild = \"node --check src/index.js\"\nlint = \"node --check src/greeting.js\"\ntest = \"node --test\"\n"},
			{"src/greeting.js", "// greeting returns what the program says.\nexport function greeting() {\n  return 'Hello from {name}';\n}\n"},
			{"src/index.js", "import { greeting } from './greeting.js';\n\nconsole.log(greeting());\n"},
			{"test/greeting.test.js", "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\nimport { greeting } from '../src/greeting.js';\n\ntest('greeting names the project', () => {\n  assert.equal(greeting(), 'Hello from {name}');\n});\n"},
		},
	}
}
