package tamper

import "regexp"

// habits are how tests are written and what keeps them from telling. They are
// learned for one look at a change: every process of Nexus starts with this
// package, most of them for a command in a sandbox, and compiling took a quarter
// of such a start.
type habits struct {
	// rubyBlock is a comment of several lines.
	rubyBlock *regexp.Regexp
	// expected is a comment of Go's that is compared with what an example says.
	expected *regexp.Regexp
	// opens and closes are lines of the preprocessor of C.
	opens  *regexp.Regexp
	closes *regexp.Regexp
	others *regexp.Regexp
	never  *regexp.Regexp
	// weakens are assertions that hold for almost anything.
	weakens *regexp.Regexp
	// swallows turns a failure into none.
	swallows *regexp.Regexp
	// dash is what a line of a Makefile begins with whose failure does not count.
	dash *regexp.Regexp
	// suppresses tells a checker to look away.
	suppresses *regexp.Regexp
	// mocks replaces a module with a stand-in.
	mocks *regexp.Regexp
	// reports are hooks of runners that decide what runs and what is said of it.
	reports *regexp.Regexp
	// inverts are marks of tests that are to fail.
	inverts *regexp.Regexp
	// forgives catches what an assertion throws.
	forgives *regexp.Regexp
	// leaves is the end of a test, whatever is the case.
	leaves *regexp.Regexp
	// another begins a block that is reached without what stands before it.
	another *regexp.Regexp
	// runs is a line of a configuration that says what is run.
	runs *regexp.Regexp
	// loads is a line of a configuration that names what comes before the tests.
	loads *regexp.Regexp
	// alone is a narrowing that a file can have from the start.
	alone *regexp.Regexp
	// narrows is a line of a configuration that runs less.
	narrows *regexp.Regexp
	// jvmLess is a line of a build of Maven's or Gradle's that runs less, or ends
	// before it can tell.
	jvmLess *regexp.Regexp
	// jvmActs is one that lets a build do more than it says.
	jvmActs *regexp.Regexp
	// checks are the scripts of a package.json that judge.
	checks *regexp.Regexp
	// languages are how tests are written; the last is for all that no other is for.
	languages []language
}

func learn() *habits {
	return &habits{
		rubyBlock: regexp.MustCompile(`(?ms)^=begin\b.*?^=end\b`),
		expected:  regexp.MustCompile(`^// (?:Unordered )?[Oo]utput:`),
		opens:     regexp.MustCompile(`^\s*#\s*if(?:n?def)?\b`),
		closes:    regexp.MustCompile(`^\s*#\s*endif\b`),
		others:    regexp.MustCompile(`^\s*#\s*el(?:se|if)`),
		never:     regexp.MustCompile(`^\s*#\s*if\s+(?:0|false)\s*(?:$|//|/\*)`),
		weakens: regexp.MustCompile(`toBeTruthy|toBeDefined|not\.toThrow|not\.toBeNull|not\.toBeUndefined|toBeInstanceOf\(Object|anything\(\)|expect\.any\(|` +
			`assertTrue\(True|assertIsNotNone|assert True\b|is not None\b|\b(?:assert|require)\.(?:NotNil|NotEmpty|True\(t, true|NoError)|assert_?!?\(true|is_ok\(\)|is_some\(\)|` +
			`assertNotNull|Assert\.Pass|IsNotNull|refute_nil|be_truthy|not_to be_nil|EXPECT_TRUE\(true`),
		swallows: regexp.MustCompile(`\braise SystemExit\b|\bprocess\.exit\(\s*\)|\bprocess\.exitCode\s*=\s*0|\bsys\.exit\(\s*\)|\bexit!|(?:^|[;{]\s*)(?:exit|die)\s*\(\s*0?\s*\)\s*;|^\s*\.IGNORE\b|` +
			`\|\|\s*(?:true|:|exit 0|echo\b)|;\s*(?:true|exit 0)\s*(?:$|["'])|^\s*set \+e\b|--passWithNoTests|--pass-with-no-tests|--exit-zero|continue-on-error:\s*true|` +
			`allow_failure:\s*true|\bos\._exit\(0\)|\bsys\.exit\(0\)|\bprocess\.exit\(0\)|\bos\.Exit\(0\)|\bsyscall\.Exit\(0\)|\bstd::process::exit\(0\)|-Dmaven\.test\.(?:skip|failure\.ignore)|ignoreFailures\s*=\s*true|^-\s*(?:go|npm|cargo|pytest|make) test`),
		dash:       regexp.MustCompile(`^@?-`),
		suppresses: regexp.MustCompile(`//\s*nolint|eslint-disable|biome-ignore|@ts-(?:ignore|nocheck|expect-error)|#\s*noqa|#\s*type:\s*ignore|pylint:\s*disable|pyright:\s*ignore|@SuppressWarnings|#!?\[allow\(|rubocop:disable|phpcs:(?:ignore|disable)|@phpstan-ignore|@psalm-suppress|@SuppressFBWarnings|\bNOPMD\b|spotless:off|oxlint-disable|shellcheck disable|NOLINT|#pragma warning disable`),
		mocks:      regexp.MustCompile(`(?:jest|vi|vitest|mock)\.(?:mock|doMock|module|patch)\(\s*['"]([^'"]+)|\bpatch(?:\.object)?\(\s*['"]?([\w./]+)|monkeypatch\.setattr\(\s*['"]?([\w.]+)|^(\w+)\.\w+\s*=[^=]`),
		reports:    regexp.MustCompile(`\bpytest_(?:runtest_\w+|pyfunc_call|sessionfinish|collection_modifyitems|report_teststatus|exception_interact|ignore_collect|terminal_summary)\b|\bdef load_tests\(|@example_block|\.currentTest\b.*=[^=]|expect\.extend\(|^\s*\S*assert\S*\.\w+\s*=[^=]`),
		inverts:    regexp.MustCompile(`#\[should_panic|\b(?:it|test)\.fails\b`),
		forgives:   regexp.MustCompile(`^except(?:\s+(?:AssertionError|Exception|BaseException)\b.*)?:|\bcatch\s*(?:\(\w*\))?\s*\{\s*\}|\brescue (?:Exception|RSpec)\b|^recover\(\)|\bdefer func\(\) \{ _? ?=? ?recover\(\)`),
		leaves:     regexp.MustCompile(`^(?:if\s*\(?\s*(?:true|True|1|not False|!false)\s*\)?\s*:?\s*\{?\s*)?return\b[^{}]*\}?$`),
		another:    regexp.MustCompile(`^(?:[)}\]]|(?:case|default|else|elif|elsif|end|ensure|rescue|except|finally|when|fn|func|function|def|class|test|it|describe)\b|@|#\[|\w+:(?:$|[^:=]))`),
		runs:       regexp.MustCompile(`(?i)\b(?:test|tests|pytest|jest|vitest|mocha|lint|eslint|vet|check|build|gates?|strict|coverage|threshold|addopts|testpaths|include|enable|linters|rules|rspec|phpunit|ctest)\b`),
		loads:      regexp.MustCompile(`(?i)\bsetupFiles\w*|\bglobalSetup\b|(?:^|\s)--?(?:require|import|preload)\b|"?(?:require|import)"?\s*:|(?:^|\s)-p\s*[^n\s]\w*|\balias\b|\bbootstrap=|^(?:export )?(?:SHELL|PATH|MAKEFLAGS)\s*[:+?]?=|\s-include\s`),
		alone:      regexp.MustCompile(`(?i)dry-?run|collect-only|failure-exit-code|--example\b|--tag\b|"?grep"?:|testNamePattern|passWithNoTests|-k\b|--deselect|WILL_FAIL`),
		narrows:    regexp.MustCompile(`(?i)(?:dry-?run|collect-only|failure-exit-code|--example\b|--tag\b|"?grep"?:|testNamePattern|python_(?:functions|classes|files)|--ignore|--deselect|--exclude|-k ['"]?not |testPathIgnorePatterns|exclude|\bskip\b|disable|= *false\b|: *false\b|: *(?:"off"|off)\b|-run\b|--testNamePattern|-short\b|failOn\w* *[:=] *false)`),
		jvmLess: regexp.MustCompile(`(?i)(?:\b|set)ignoreFailures|testFailureIgnore|test\.failure\.ignore|\bskipTests\b|maven\.test\.skip|TestsMatching|(?:in|ex)clude(?:d?Groups|Tags|Categories|Engines)\b|` +
			`\bexcludedTaskNames\b|\btaskNames\b|\bdryRun\b|\boverwrite\b|deleteAllActions|\.exit\b|\bexitProcess\b|\bhalt\b`),
		jvmActs: regexp.MustCompile(`\bdo(?:First|Last)\b|\bfinalizedBy\b|\bbuildFinished\b|test-results|surefire-reports|\bprint(?:ln|f)?\b|\b(?:java)?exec\b|\bProcessBuilder\b|(?:exec|antrun|groovy-maven|gmavenplus)(?:-maven)?-plugin|` +
			`\bapply\s*\(?\s*from\b|javaagent|^<extension>|\bincludeBuild\b|^-f\b|^--?(?:file|settings-file|build-file|init-script)\b`),
		checks:    regexp.MustCompile(`^(?:pre|post)?(?:test|lint|build|check|type-?check|types|tsc|vet|verify|ci|format:check|coverage)(?:[:\-].*)?$`),
		languages: learnLanguages(),
	}
}

func learnLanguages() []language {
	return []language{
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
}
