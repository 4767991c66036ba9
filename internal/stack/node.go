package stack

import "strings"

func nodeStack() Stack {
	// A type check needs what a build makes where packages refer to each other or
	// code is generated.
	const alone = "!has:tsconfig.json:\"references\" !has:tsconfig.json:\"composite\" !has:package.json:\"workspaces\" !has:package.json:generate !script:prebuild"
	npm := []string{"npm", "run", "--silent"}
	return Stack{
		Name: "node", Markers: []string{"package.json"},
		Runners: []Runner{
			{If: "file:pnpm-lock.yaml", Args: []string{"pnpm", "exec"}, Script: npm},
			{If: "file:yarn.lock", Args: []string{"yarn", "run"}, Script: npm},
			{If: "file:bun.lock|file:bun.lockb", Args: []string{"bunx", "--no-install"}, Script: []string{"bun", "run", "--silent"}},
			{Args: []string{"npx", "--no-install"}, Script: npm},
		},
		Steps: []Step{
			{Gate: "build", If: "script:build", Args: []string{"{script}", "build"}, Format: "exit"},
			{Gate: "type", If: "script:typecheck", Args: []string{"{script}", "typecheck"}, Format: "exit", Early: "runs:typecheck:tsc " + alone},
			{Gate: "type", If: "script:type-check", Args: []string{"{script}", "type-check"}, Format: "exit", Early: "runs:type-check:tsc " + alone},
			{Gate: "type", If: "file:tsconfig.json", Args: []string{"{run}", "tsc", "--noEmit", "--pretty", "false"}, Format: "tsc", Early: alone},
			{Gate: "lint", If: "script:lint", Args: []string{"{script}", "lint"}, Format: "exit", Fix: []Fixer{eslint("runs:lint:eslint"), biome("runs:lint:biome")}},
			{Gate: "lint", If: "file:eslint.config.*|file:.eslintrc*|has:package.json:\"eslintConfig\"", Args: []string{"{run}", "eslint", "--format", "json", "."}, Format: "eslint", Fix: []Fixer{eslint("")}},
			{Gate: "lint", If: "file:biome.json|file:biome.jsonc", Args: []string{"{run}", "biome", "lint", "--reporter=json", "."}, Format: "biome", Fix: []Fixer{biome("")}},
			{Gate: "format", If: "file:.prettierrc*|file:prettier.config.*|has:package.json:\"prettier\":_{", Args: []string{"{run}", "prettier", "--check", "."}, Format: "prettier", Fix: []Fixer{prettierFix()}},
			{Gate: "test", If: "script:test !has:package.json:no_test_specified", Args: []string{"{script}", "test"}, Format: "exit", Tests: true, Related: scriptParts(), Alone: scriptLone(), Held: scriptHeld(), Cover: scriptCover()},
			{Gate: "test", If: "dep:vitest", Args: []string{"{run}", "vitest", "run", "--reporter=default"}, Format: "vitest", Tests: true, Related: []Part{vitestPart("")}, Alone: []Lone{vitestLone("")}, Held: []Held{vitestHeld("")}, Cover: vitestCover("", "{run}", "vitest", "run")},
			{Gate: "test", If: "dep:jest", Args: []string{"{run}", "jest"}, Format: "jest", Tests: true, Related: []Part{{By: ByRunner, Args: []string{"{run}", "jest", "--findRelatedTests", "{changed}"}}}, Alone: []Lone{jestLone("")}, Held: []Held{jestHeld("")}, Cover: []Cover{jestCover("", "{run}", "jest")}},
			{Gate: "test", If: "dep:mocha", Args: []string{"{run}", "mocha"}, Format: "mocha", Tests: true, Related: []Part{mochaPart("!file:.mocharc*")}, Alone: []Lone{mochaLone("")}, Held: []Held{mochaHeld("")}, Cover: append(byTool("mocha"), lacking("", "c8", "npm install --save-dev c8"))},
			{Gate: "test", If: "dep:@playwright/test file:playwright.config.*", Args: playwright(), Format: "playwright", Tests: true, Alone: playwrightLone()},
			{Gate: "e2e", If: "dep:@playwright/test file:playwright.config.* script:test|dep:vitest|dep:jest|dep:mocha !has:package.json:no_test_specified|dep:vitest|dep:jest|dep:mocha !runs:test:playwright !runs:test:npx_playwright", Args: playwright(), Format: "playwright", Tests: true, Alone: playwrightLone()},
			{Gate: "test", If: ofBun + " " + bunTests(), Args: []string{"bun", "test"}, Format: "bun", Tests: true, Related: []Part{bunPart("")}, Alone: []Lone{bunLone("")}, Cover: []Cover{bunCover("")}},
			{Gate: "test", If: "file:*.test.js|file:*.test.mjs|file:*.test.cjs|file:test/*.js|file:test/*.mjs|file:test/*.cjs", Args: []string{"node", "--test", "--test-reporter=tap"}, Format: "tap", Tests: true, Related: []Part{nodePart("")}, Alone: []Lone{nodeLone("")}, Held: []Held{nodeHeld("")}, Cover: []Cover{nodeCover("", "node", "--test")}},
		},
	}
}

func scriptEnds() []string {
	return []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"}
}

func eslint(cond string) Fixer {
	return Fixer{If: cond, Args: []string{"{run}", "eslint", "--fix", "--no-warn-ignored", "{files}"}, Ends: scriptEnds()}
}

func biome(cond string) Fixer {
	return Fixer{If: cond, Args: []string{"{run}", "biome", "check", "--write", "{files}"}, Ends: append(scriptEnds(), ".json", ".css")}
}

func prettierFix() Fixer {
	return Fixer{Args: []string{"{run}", "prettier", "--write", "--ignore-unknown", "--log-level=warn", "{files}"}}
}

// scriptParts are the ways in which the script "test" of package.json, which
// says which runner it starts, runs some of its tests.
func scriptParts() []Part {
	return []Part{
		{If: "runs:test:jest", By: ByRunner, Args: []string{"{script}", "test", "--", "--findRelatedTests", "{changed}"}, Format: "jest"},
		vitestPart("runs:test:vitest$|runs:test:vitest_run$|runs:test:vitest_--run$"),
		mochaPart("runs:test:mocha$ !file:.mocharc*"),
		nodePart("runs:test:node_--test$"),
		bunPart("runs:test:bun_test$"),
	}
}

// scriptLone are the ways in which it runs one of its tests.
func scriptLone() []Lone {
	return []Lone{
		jestLone("runs:test:jest$"),
		vitestLone("runs:test:vitest$|runs:test:vitest_run$|runs:test:vitest_--run$"),
		mochaLone("runs:test:mocha$"),
		nodeLone("runs:test:node_--test$"),
		bunLone("runs:test:bun_test$"),
	}
}

func vitestLone(cond string) Lone {
	return Lone{If: cond, Name: NameInFile, Args: []string{"{run}", "vitest", "run", "--reporter=default", "--testNamePattern={test}", "{file}"}, Format: "vitest"}
}

func jestLone(cond string) Lone {
	return Lone{If: cond, Name: NameInFile, Args: []string{"{run}", "jest", "--testNamePattern={test}", "--runTestsByPath", "{file}"}, Format: "jest"}
}

func mochaLone(cond string) Lone {
	return Lone{If: cond, Name: NameTitles, Args: []string{"{run}", "mocha", "--grep={test}"}, Format: "mocha"}
}

func nodeLone(cond string) Lone {
	return Lone{If: cond, Name: NameLast, Args: []string{"node", "--test", "--test-reporter=tap", "--test-name-pattern={test}"}, Format: "tap"}
}

func vitestPart(cond string) Part {
	return Part{If: cond, By: ByRunner, Args: []string{"{run}", "vitest", "related", "--run", "--reporter=default", "{changed}"}, Format: "vitest"}
}

func mochaPart(cond string) Part {
	return Part{If: cond, By: ByNode, Args: []string{"{run}", "mocha", "{tests}"}, Format: "mocha"}
}

func nodePart(cond string) Part {
	return Part{If: cond, By: ByNode, Args: []string{"node", "--test", "--test-reporter=tap", "{tests}"}, Format: "tap"}
}

// ofBun says that bun runs a package.
const ofBun = "file:bun.lock|file:bun.lockb|file:bunfig.toml|dep:@types/bun|dep:bun-types"

// bunTests says that there are files which bun test takes for tests.
func bunTests() string {
	var words []string
	for _, name := range []string{"*.test.[jtcm]*", "*.spec.[jtcm]*", "*_test.[jtcm]*", "*_spec.[jtcm]*"} {
		for _, dir := range []string{"", "*/", "*/*/", "*/*/*/"} {
			words = append(words, "file:"+dir+name)
		}
	}
	return strings.Join(words, "|")
}

func bunLone(cond string) Lone {
	return Lone{If: cond, Name: NameInFile, Args: []string{"bun", "test", "--test-name-pattern={test}", "./{file}"}, Format: "bun"}
}

func bunPart(cond string) Part {
	return Part{If: cond, By: ByNode, Args: []string{"bun", "test", "{tests}"}, Format: "bun"}
}

func playwright(more ...string) []string {
	return append([]string{"{run}", "playwright", "test", "--reporter=list"}, more...)
}

func playwrightLone() []Lone {
	return []Lone{{Name: NamePlay, Args: playwright("--retries=0", "--grep={test}")}}
}
