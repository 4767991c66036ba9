package tamper

import (
	"regexp"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

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
	// reports are hooks of runners that decide what runs and what is said about it.
	reports *regexp.Regexp
	// inverts are marks of tests that are to fail.
	inverts *regexp.Regexp
	// forgives catches what an assertion throws.
	forgives *regexp.Regexp
	// leaves is the end of a test, whatever is the case.
	leaves *regexp.Regexp
	// another begins a block that is reached without what is before it.
	another *regexp.Regexp
	// runs is a line of a configuration that says what is run.
	runs *regexp.Regexp
	// loads is a line of a configuration that names what comes before the tests.
	loads *regexp.Regexp
	// alone is a narrowing that a file can have from the start.
	alone *regexp.Regexp
	// narrows is a line of a configuration that runs less.
	narrows *regexp.Regexp
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
		checks:     regexp.MustCompile(`^(?:pre|post)?(?:test|lint|build|check|type-?check|types|tsc|vet|verify|ci|format:check|coverage)(?:[:\-].*)?$`),
		languages:  learnLanguages(),
	}
}

// learnLanguages returns how tests of all stacks are written; the last is for all
// other files.
func learnLanguages() []language {
	compile := func(pattern string) *regexp.Regexp {
		if pattern == "" {
			return nil
		}
		return regexp.MustCompile(pattern)
	}
	var all []language
	for _, s := range stack.All() {
		if t := s.Tests; len(t.Ends) > 0 {
			all = append(all, language{endings: t.Ends, declares: compile(t.Declares), skipping: compile(t.Skips), focusing: compile(t.Focuses), assert: compile(t.Asserts)})
		}
	}
	return append(all, language{assert: regexp.MustCompile(`(?i)\b(?:assert|expect|should)\w*\b`)})
}
