package tamper

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/quarantine"
)

// language is how tests of a language are written.
type language struct {
	endings  []string       // of its files
	declares *regexp.Regexp // a test; its last group that matched is the name
	skipping *regexp.Regexp // one that does not run
	focusing *regexp.Regexp // one that runs alone; nil where there is none
	assert   *regexp.Regexp // a line that checks something
}

// names returns the tests that a text declares.
func (l language) names(text string) []string {
	if l.declares == nil {
		return nil
	}
	var all []string
	for _, m := range l.declares.FindAllStringSubmatch(text, -1) {
		for i := len(m) - 1; i > 0; i-- {
			if m[i] != "" {
				all = append(all, m[i])
				break
			}
		}
	}
	return all
}

// skip returns what keeps a test from running in a line, empty for nothing.
func (l language) skip(text string) string {
	if l.skipping == nil || comment(text) {
		return ""
	}
	return l.skipping.FindString(text)
}

// skips counts what is skipped in a text.
func (l language) skips(text string) int {
	n := 0
	for t := range strings.Lines(text) {
		if l.skip(strings.TrimSpace(t)) != "" {
			n++
		}
	}
	return n
}

// focus returns what keeps other tests from running in a line.
func (l language) focus(text string) string {
	if l.focusing == nil || comment(text) {
		return ""
	}
	return l.focusing.FindString(text)
}

// languages are how tests are written; the last is for all that no other is for.
var languages = []language{ //nolint:gochecknoglobals // a table that is never written
	{
		endings:  []string{".go"},
		declares: regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(|\.Run\("([^"]+)"`),
		skipping: regexp.MustCompile(`\b[a-z]{1,2}\.Skip(?:f|Now)?\(|^//go:build |^func Test\w*\((?:_ )?\*testing\.T\)`),
		assert:   regexp.MustCompile(`\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt|c)\.[A-Z]\w+\(|cmp\.(?:Diff|Equal)\(|// (?:Unordered )?[Oo]utput:`),
	},
	{
		endings:  []string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"},
		declares: regexp.MustCompile("\\b(?:it|test|describe|context|specify|suite)(?:\\.\\w+)*\\(\\s*['\"`]([^'\"`]+)"),
		skipping: regexp.MustCompile(`\b(?:it|test|describe|context|suite)\.(?:skip|todo|fixme|failing)(?:If)?\b|\b(?:xit|xtest|xdescribe|xcontext)\s*\(|\bthis\.skip\(|\{\s*(?:skip|todo):\s*(?:true|['"])`),
		focusing: regexp.MustCompile(`\b(?:it|test|describe|context|suite)\.only\b|\b(?:fit|fdescribe)\s*\(`),
		assert:   regexp.MustCompile(`\bexpect\(|\bassert(?:\.\w+)*\(|\.should\b|\bt\.(?:is|deepEqual|true|false|throws|equal)\(`),
	},
	{
		endings:  []string{".py"},
		declares: regexp.MustCompile(`(?m)^\s*(?:async )?def (test\w*)\(|^class (Test\w*)`),
		skipping: regexp.MustCompile(`pytest\.mark\.(?:skip|skipif|xfail)|unittest\.(?:skip|expectedFailure)|pytest\.(?:skip|xfail|importorskip)\(|self\.skipTest\(|__test__\s*=\s*False|collect_ignore|pytest_ignore_collect`),
		assert:   regexp.MustCompile(`^\s*assert\b|\bself\.assert\w+\(|pytest\.raises\(|\.assert_(?:called|not_called|has_calls|any_call)`),
	},
	{
		endings:  []string{".rs"},
		declares: regexp.MustCompile(`#\[(?:\w+::)?test[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub )?(?:async )?fn (\w+)`),
		skipping: regexp.MustCompile(`#\[ignore`),
		assert:   regexp.MustCompile(`\b(?:debug_)?assert(?:_eq|_ne|_matches)?!|should_panic|\.unwrap_err\(`),
	},
	{
		endings:  []string{".java", ".kt", ".kts", ".scala", ".groovy", ".cs", ".fs"},
		declares: regexp.MustCompile(`(?:@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)|\[(?:Test|Fact|Theory|TestMethod|TestCase)\b[^\]]*\])[^{;]{0,300}?\b(\w+)\s*\(`),
		skipping: regexp.MustCompile(`@(?:Disabled|Ignore)\b|\b[Aa]ssume(?:True|False|That)\(|\bSkip\s*=|\[Ignore`),
		assert:   regexp.MustCompile(`\b[Aa]ssert\w*[.(]|\bverify\(|\.should`),
	},
	{
		endings:  []string{".rb"},
		declares: regexp.MustCompile(`(?m)^\s*(?:it|specify|scenario|test|describe|context)\s*\(?\s*['"]([^'"]+)|^\s*def (test_\w+)`),
		skipping: regexp.MustCompile(`^\s*(?:skip|pending|xit|xdescribe|xcontext|xspecify)\b`),
		focusing: regexp.MustCompile(`^\s*(?:fit|fdescribe|fcontext)\b|,\s*:?focus\b`),
		assert:   regexp.MustCompile(`\bexpect[ ({]|\b(?:assert|refute)\w*\b|\.should\b|\.must_\w+`),
	},
	{
		endings:  []string{".php"},
		declares: regexp.MustCompile(`function (test\w+)\s*\(|\b(?:it|test)\(\s*['"]([^'"]+)`),
		skipping: regexp.MustCompile(`markTest(?:Skipped|Incomplete)|->skip\(`),
		assert:   regexp.MustCompile(`->assert\w+\(|::assert\w+\(|\bexpect\(|->expectException`),
	},
	{
		endings:  []string{".sh", ".bash", ".bats"},
		declares: regexp.MustCompile(`(?m)^@test ["']([^"']+)|^(?:function )?(test_\w+)\s*\(\)`),
		skipping: regexp.MustCompile(`^\s*skip\b`),
		assert:   regexp.MustCompile(`^\s*(?:test|\[\[?|grep|diff|cmp|assert\w*|refute\w*|expect\w*)\s`),
	},
	{
		endings:  []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"},
		declares: regexp.MustCompile(`\b(?:TYPED_)?TEST(?:_F|_P|_CASE)?\(\s*"?([^")]+)`),
		skipping: regexp.MustCompile(`GTEST_SKIP|DISABLED_|\bdoctest::skip|\[!?(?:hide|\.)`),
		assert:   regexp.MustCompile(`\b(?:\w+_)?(?:ASSERT|EXPECT|CHECK|REQUIRE)\w*\(|\b(?:[a-z]+_)?assert\w*\(`),
	},
	{
		assert: regexp.MustCompile(`(?i)\b(?:assert|expect|should)\w*\b`),
	},
}

// languageOf returns how tests are written in a file.
func languageOf(file string) language {
	ending := strings.ToLower(path.Ext(file))
	for _, l := range languages {
		if slices.Contains(l.endings, ending) {
			return l
		}
	}
	return languages[len(languages)-1]
}

var (
	// weakens are assertions that hold for almost anything.
	weakens = regexp.MustCompile(`toBeTruthy|toBeDefined|not\.toThrow|not\.toBeNull|not\.toBeUndefined|toBeInstanceOf\(Object|anything\(\)|expect\.any\(|` +
		`assertTrue\(True|assertIsNotNone|assert True\b|is not None\b|\b(?:assert|require)\.(?:NotNil|NotEmpty|True\(t, true|NoError)|assert_?!?\(true|is_ok\(\)|is_some\(\)|` +
		`assertNotNull|Assert\.Pass|IsNotNull|refute_nil|be_truthy|not_to be_nil|EXPECT_TRUE\(true`)
	// swallows turns a failure into none.
	swallows = regexp.MustCompile(`\braise SystemExit\b|\bprocess\.exit\(\s*\)|\bprocess\.exitCode\s*=\s*0|\bsys\.exit\(\s*\)|\bexit!|(?:^|[;{]\s*)(?:exit|die)\s*\(\s*0?\s*\)\s*;|^\s*\.IGNORE\b|` +
		`\|\|\s*(?:true|:|exit 0|echo\b)|;\s*(?:true|exit 0)\s*(?:$|["'])|^\s*set \+e\b|--passWithNoTests|--pass-with-no-tests|--exit-zero|continue-on-error:\s*true|` +
		`allow_failure:\s*true|\bos\._exit\(0\)|\bsys\.exit\(0\)|\bprocess\.exit\(0\)|\bos\.Exit\(0\)|\bsyscall\.Exit\(0\)|\bstd::process::exit\(0\)|-Dmaven\.test\.(?:skip|failure\.ignore)|ignoreFailures\s*=\s*true|^-\s*(?:go|npm|cargo|pytest|make) test`)
	// dash is what a line of a Makefile begins with whose failure does not count.
	dash = regexp.MustCompile(`^@?-`)
	// suppresses tells a checker to look away.
	suppresses = regexp.MustCompile(`//\s*nolint|eslint-disable|biome-ignore|@ts-(?:ignore|nocheck|expect-error)|#\s*noqa|#\s*type:\s*ignore|pylint:\s*disable|pyright:\s*ignore|@SuppressWarnings|#!?\[allow\(|rubocop:disable|phpcs:ignore|@phpstan-ignore|shellcheck disable|NOLINT|#pragma warning disable`)
	// mocks replaces a module with a stand-in.
	mocks = regexp.MustCompile(`(?:jest|vi|vitest|mock)\.(?:mock|doMock|module|patch)\(\s*['"]([^'"]+)|\bpatch(?:\.object)?\(\s*['"]?([\w./]+)|monkeypatch\.setattr\(\s*['"]?([\w.]+)|^(\w+)\.\w+\s*=[^=]`)
	// reports are hooks of runners that decide what runs and what is said of it.
	reports = regexp.MustCompile(`\bpytest_(?:runtest_\w+|pyfunc_call|sessionfinish|collection_modifyitems|report_teststatus|exception_interact|ignore_collect|terminal_summary)\b|\bdef load_tests\(|@example_block|\.currentTest\b.*=[^=]|expect\.extend\(|^\s*\S*assert\S*\.\w+\s*=[^=]`)
	// inverts are marks of tests that are to fail.
	inverts = regexp.MustCompile(`#\[should_panic|\b(?:it|test)\.fails\b`)
	// forgives catches what an assertion throws.
	forgives = regexp.MustCompile(`^except(?:\s+(?:AssertionError|Exception|BaseException)\b.*)?:|\bcatch\s*(?:\(\w*\))?\s*\{\s*\}|\brescue (?:Exception|RSpec)\b|^recover\(\)|\bdefer func\(\) \{ _? ?=? ?recover\(\)`)
	// leaves is the end of a test, whatever is the case.
	leaves = regexp.MustCompile(`^(?:if\s*\(?\s*(?:true|True|1|not False|!false)\s*\)?\s*:?\s*\{?\s*)?return\b[^{}]*\}?$`)
	// another begins a block that is reached without what stands before it.
	another = regexp.MustCompile(`^(?:[)}\]]|(?:case|default|else|elif|elsif|end|ensure|rescue|except|finally|when|fn|func|function|def|class|test|it|describe)\b|@|#\[|\w+:(?:$|[^:=]))`)
	// runs is a line of a configuration that says what is run.
	runs = regexp.MustCompile(`(?i)\b(?:test|tests|pytest|jest|vitest|mocha|lint|eslint|vet|check|build|gates?|strict|coverage|threshold|addopts|testpaths|include|enable|linters|rules|rspec|phpunit|ctest)\b`)
	// loads is a line of a configuration that names what comes before the tests.
	loads = regexp.MustCompile(`(?i)\bsetupFiles\w*|\bglobalSetup\b|(?:^|\s)--?(?:require|import|preload)\b|"?(?:require|import)"?\s*:|(?:^|\s)-p\s*[^n\s]\w*|\balias\b|\bbootstrap=|^(?:export )?(?:SHELL|PATH|MAKEFLAGS)\s*[:+?]?=|\s-include\s`)
	// alone is a narrowing that a file can have from the start.
	alone = regexp.MustCompile(`(?i)dry-?run|collect-only|failure-exit-code|--example\b|--tag\b|"?grep"?:|testNamePattern|passWithNoTests|-k\b|--deselect|WILL_FAIL`)
	// narrows is a line of a configuration that runs less.
	narrows = regexp.MustCompile(`(?i)(?:dry-?run|collect-only|failure-exit-code|--example\b|--tag\b|"?grep"?:|testNamePattern|python_(?:functions|classes|files)|--ignore|--deselect|--exclude|-k ['"]?not |testPathIgnorePatterns|exclude|\bskip\b|disable|= *false\b|: *false\b|: *(?:"off"|off)\b|-run\b|--testNamePattern|-short\b|failOn\w* *[:=] *false)`)
)

// subject is what lines of a configuration say of the checks.
type subject struct {
	runs    *regexp.Regexp // what is run
	narrows *regexp.Regexp // that less is
	loads   *regexp.Regexp // what is there before anything else; nil for nothing
	whole   bool           // the file is about nothing else
}

// subjectOf returns what to look for in a configuration. Most are about checks
// alone; a manifest or a build file says much besides.
func subjectOf(file string) subject {
	re := regexp.MustCompile
	switch {
	case wrapper(file):
		return subject{runs: re(`.`), narrows: re(`.`)}
	case jvm(file):
		return subject{runs: re(`$^`), narrows: jvmLess, loads: jvmActs}
	}
	switch base := strings.ToLower(path.Base(file)); base {
	case "cmakelists.txt":
		return subject{
			runs:    re(`(?i)\b(?:add_test|set_tests_properties|enable_testing|gtest_discover_tests|catch_discover_tests)\b|include\(CTest\)`),
			narrows: re(`(?i)\bWILL_FAIL\b|\bDISABLED\s+(?:TRUE|ON|1)|(?:PASS|SKIP)_REGULAR_EXPRESSION|SKIP_RETURN_CODE`),
		}
	case "cargo.toml", "config.toml":
		return subject{
			runs:    re(`^\[\[test\]\]|^harness\b|^autotests\b|^(?:doc)?test\s*=`),
			narrows: re(`^(?:autotests|harness|(?:doc)?test)\s*=\s*false`),
			loads:   re(`^\s*(?:runner|rustc-wrapper|rustc)\s*=|^\[(?:patch|replace)\b`),
		}
	case "go.mod", "go.work":
		return subject{runs: re(`^use\b`), narrows: re(`$^`), loads: re(`^replace\b|=> \.`)}
	case ".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml":
		return subject{runs: re(`$^`), narrows: re(`$^`), loads: re(`(?i)script-?shell|node-?options|^\s*preload`)}
	case "sitecustomize.py", "usercustomize.py":
		return subject{runs: re(`$^`), narrows: re(`$^`), loads: re(`^import\b|^from\b`)}
	}
	return subject{runs: runs, narrows: narrows, loads: loads, whole: true}
}

var (
	// jvmLess is a line of a build of Maven's or Gradle's that runs less, or ends
	// before it can tell.
	jvmLess = regexp.MustCompile(`(?i)(?:\b|set)ignoreFailures|testFailureIgnore|test\.failure\.ignore|\bskipTests\b|maven\.test\.skip|TestsMatching|(?:in|ex)clude(?:d?Groups|Tags|Categories|Engines)\b|` +
		`\bexcludedTaskNames\b|\btaskNames\b|\bdryRun\b|\boverwrite\b|deleteAllActions|\.exit\b|\bexitProcess\b|\bhalt\b`)
	// jvmActs is one that lets a build do more than it says.
	jvmActs = regexp.MustCompile(`\bdo(?:First|Last)\b|\bfinalizedBy\b|\bbuildFinished\b|test-results|surefire-reports|\bprint(?:ln|f)?\b|\b(?:java)?exec\b|\bProcessBuilder\b|(?:exec|antrun|groovy-maven|gmavenplus)(?:-maven)?-plugin|` +
		`\bapply\s*\(?\s*from\b|javaagent|^<extension>|\bincludeBuild\b|^-f\b|^--?(?:file|settings-file|build-file|init-script)\b`)
)

// jvm reports whether a file is part of a build of Maven's or Gradle's.
func jvm(file string) bool {
	switch base := path.Base(file); {
	case base == "pom.xml", base == "gradle.properties", strings.HasSuffix(base, ".gradle"), strings.HasSuffix(base, ".gradle.kts"):
		return true
	}
	dirs := "/" + path.Dir(file) + "/"
	return strings.Contains(dirs, "/.mvn/") || strings.Contains(dirs, "/buildSrc/")
}

// wrapper reports whether a file is the program that runs the tests, or says
// which one does.
func wrapper(file string) bool {
	switch base := path.Base(file); base {
	case "gradlew", "mvnw", "gradle-wrapper.properties", "maven-wrapper.properties":
		return true
	default:
		return base == "rails" && path.Base(path.Dir(file)) == "bin"
	}
}

// snapshot reports whether tests compare with a file as it is.
func snapshot(file string) bool {
	switch path.Ext(file) {
	case ".snap", ".golden", ".approved", ".verified", ".ambr":
		return true
	}
	return strings.Contains("/"+file, "/__snapshots__/") || strings.Contains("/"+file, "/snapshots/") && !strings.HasSuffix(file, ".py")
}

// config reports whether a file says how checks run.
func config(file string) bool {
	if file == quarantine.File || jvm(file) || wrapper(file) {
		return true
	}
	base := strings.ToLower(path.Base(file))
	switch base {
	case "nexus.toml", "package.json", "makefile", "gnumakefile", "justfile", "taskfile.yml", "taskfile.yaml", "pytest.ini", "tox.ini", "noxfile.py", "setup.cfg",
		"pyproject.toml", ".coveragerc", "phpunit.xml", "phpunit.xml.dist", ".rspec", "ctestconfig.cmake", "rakefile", "mypy.ini", "ruff.toml", ".flake8", ".pylintrc", "pyrightconfig.json",
		"clippy.toml", "cmakelists.txt", "cargo.toml", "go.mod", "go.work", ".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", "sitecustomize.py", "usercustomize.py", "biome.json", "biome.jsonc", ".shellcheckrc", ".clang-tidy", "checkstyle.xml", "detekt.yml":
		return true
	}
	for _, prefix := range []string{"jest.config.", "vitest.config.", "vitest.workspace.", "playwright.config.", "karma.conf.", "cypress.config.", ".mocharc", ".eslintrc", "eslint.config.", ".golangci.", "tsconfig", ".rubocop"} {
		if strings.HasPrefix(base, prefix) {
			return true
		}
	}
	return strings.HasSuffix(file, ".cargo/config.toml") || strings.HasPrefix(file, ".github/workflows/") || base == ".gitlab-ci.yml" || strings.HasPrefix(file, ".circleci/")
}

// script reports whether a file is run as it stands.
func script(file string) bool {
	switch path.Ext(file) {
	case ".sh", ".bash", ".bats":
		return true
	}
	return false
}

// checks are the scripts of a package.json that judge.
var checks = regexp.MustCompile(`^(?:pre|post)?(?:test|lint|build|check|type-?check|types|tsc|vet|verify|ci|format:check|coverage)(?:[:\-].*)?$`)

// commands returns how the scripts and the set-up of the checks differ between
// two versions of a package.json.
func commands(old, now string) []string {
	var was, is struct {
		Scripts map[string]string `json:"scripts"`
		Jest    json.RawMessage   `json:"jest"`
		Mocha   json.RawMessage   `json:"mocha"`
		Vitest  json.RawMessage   `json:"vitest"`
		ESLint  json.RawMessage   `json:"eslintConfig"`
	}
	if json.Unmarshal([]byte(old), &was) != nil {
		return nil // there was nothing that could be run
	}
	if json.Unmarshal([]byte(now), &is) != nil {
		return []string{"it cannot be read any more"}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(was.Scripts)) {
		switch now, ok := is.Scripts[name]; {
		case !checks.MatchString(name) || now == was.Scripts[name]:
		case !ok:
			all = append(all, fmt.Sprintf("the script %s is gone: %s", name, short(was.Scripts[name])))
		default:
			all = append(all, fmt.Sprintf("the script %s was %q and is %q", name, short(was.Scripts[name]), short(now)))
		}
	}
	for _, c := range []struct {
		name    string
		was, is json.RawMessage
	}{{"jest", was.Jest, is.Jest}, {"mocha", was.Mocha, is.Mocha}, {"vitest", was.Vitest, is.Vitest}, {"eslintConfig", was.ESLint, is.ESLint}} {
		if len(c.was) > 0 && string(c.was) != string(c.is) {
			all = append(all, "the configuration of "+c.name+" is another one")
		}
	}
	return all
}
