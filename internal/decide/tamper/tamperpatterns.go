package tamper

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// tamperPatterns are the patterns of tests and of ways to disable them. They are compiled for one
// inspection of a change: every Nexus process imports this package, most of them for a
// command in a sandbox, and compiling took a quarter of such a start.
type tamperPatterns struct {
	// expected matches a Go comment that is compared with the output of an example.
	expected *regexp.Regexp
	// opens and closes match preprocessor lines of C.
	opens  *regexp.Regexp
	closes *regexp.Regexp
	others *regexp.Regexp
	never  *regexp.Regexp
	// weakens matches assertions that are true for almost anything.
	weakens *regexp.Regexp
	// swallows matches code that ignores a failure.
	swallows *regexp.Regexp
	// dash matches the start of a Makefile line whose failure is ignored.
	dash *regexp.Regexp
	// suppresses matches comments that disable a checker.
	suppresses *regexp.Regexp
	// mocks matches code that replaces a module by a mock.
	mocks *regexp.Regexp
	// reports matches hooks of runners that change which tests run or how results are
	// reported.
	reports *regexp.Regexp
	// inverts matches marks of tests that are expected to fail.
	inverts *regexp.Regexp
	// forgives matches code that catches an assertion's exception.
	forgives *regexp.Regexp
	// leaves matches an unconditional end of a test.
	leaves *regexp.Regexp
	// another matches the start of a block that is reached without the code before it.
	another *regexp.Regexp
	// runs matches a configuration line with a command to run.
	runs *regexp.Regexp
	// loads matches a configuration line that names code to load before the tests.
	loads *regexp.Regexp
	// alone matches a restriction that a file can have from the start.
	alone *regexp.Regexp
	// narrows matches a configuration line that restricts the tests.
	narrows *regexp.Regexp
	// checks matches the scripts of a package.json that judge.
	checks *regexp.Regexp
	// languages are the test patterns of languages; the last is for all other files.
	languages []testLanguagePatterns
}

func compilePatterns() *tamperPatterns {
	return &tamperPatterns{
		expected: regexp.MustCompile(`^// (?:Unordered )?[Oo]utput:`),
		opens:    regexp.MustCompile(`^\s*#\s*if(?:n?def)?\b`),
		closes:   regexp.MustCompile(`^\s*#\s*endif\b`),
		others:   regexp.MustCompile(`^\s*#\s*el(?:se|if)`),
		never:    regexp.MustCompile(`^\s*#\s*if\s+(?:0|false)\s*(?:$|//|/\*)`),
		weakens:  joinPatterns(func(t stack.LanguageTestSyntax) string { return t.Weak }, `assert_?!?\(true`),
		swallows: joinPatterns(func(t stack.LanguageTestSyntax) string { return t.Swallows }, `^\s*\.IGNORE\b|\|\|\s*(?:true|:|exit 0|echo\b)|;\s*(?:true|exit 0)\s*(?:$|["'])|^\s*set \+e\b|`+
			`continue-on-error:\s*true|allow_failure:\s*true|^-\s*make test`),
		dash:       regexp.MustCompile(`^@?-`),
		suppresses: joinPatterns(func(t stack.LanguageTestSyntax) string { return t.Quiets }),
		mocks:      joinPatterns(func(t stack.LanguageTestSyntax) string { return t.Mocks }, `^(\w+)\.\w+\s*=[^=]`),
		reports:    joinPatterns(func(t stack.LanguageTestSyntax) string { return t.Reports }, `^\s*\S*assert\S*\.\w+\s*=[^=]`),
		inverts:    joinPatterns(func(t stack.LanguageTestSyntax) string { return t.Inverts }),
		forgives:   regexp.MustCompile(`^except(?:\s+(?:AssertionError|Exception|BaseException)\b.*)?:|\bcatch\s*(?:\(\w*\))?\s*\{\s*\}|\brescue (?:Exception|RSpec)\b|^recover\(\)|\bdefer func\(\) \{ _? ?=? ?recover\(\)`),
		leaves:     regexp.MustCompile(`^(?:if\s*\(?\s*(?:true|True|1|not False|!false)\s*\)?\s*:?\s*\{?\s*)?return\b[^{}]*\}?$`),
		another:    regexp.MustCompile(`^(?:[)}\]]|(?:case|default|else|elif|elsif|end|ensure|rescue|except|finally|when|fn|func|function|def|class|test|it|describe)\b|@|#\[|\w+:(?:$|[^:=]))`),
		runs:       regexp.MustCompile(`(?i)\b(?:test|tests|pytest|jest|vitest|mocha|lint|eslint|vet|check|build|gates?|strict|coverage|threshold|addopts|testpaths|include|enable|linters|rules|rspec|phpunit|ctest)\b`),
		loads:      regexp.MustCompile(`(?i)\bsetupFiles\w*|\bglobalSetup\b|(?:^|\s)--?(?:require|import|preload)\b|"?(?:require|import)"?\s*:|(?:^|\s)-p\s*[^n\s]\w*|\balias\b|\bbootstrap=|^(?:export )?(?:SHELL|PATH|MAKEFLAGS)\s*[:+?]?=|\s-include\s`),
		alone:      regexp.MustCompile(`(?i)dry-?run|collect-only|failure-exit-code|--example\b|--tag\b|"?grep"?:|testNamePattern|passWithNoTests|-k\b|--deselect|WILL_FAIL`),
		narrows:    regexp.MustCompile(`(?i)(?:dry-?run|collect-only|failure-exit-code|--example\b|--tag\b|"?grep"?:|testNamePattern|python_(?:functions|classes|files)|--ignore|--deselect|--exclude|-k ['"]?not |testPathIgnorePatterns|exclude|\bskip\b|disable|= *false\b|: *false\b|: *(?:"off"|off)\b|-run\b|--testNamePattern|-short\b|failOn\w* *[:=] *false)`),
		checks:     regexp.MustCompile(`^(?:pre|post)?(?:test|lint|build|check|type-?check|types|tsc|vet|verify|ci|format:check|coverage)(?:[:\-].*)?$`),
		languages:  listTestLanguages(),
	}
}

// joinPatterns joins the patterns of all stacks with shared ones.
func joinPatterns(of func(t stack.LanguageTestSyntax) string, shared ...string) *regexp.Regexp {
	var all []string
	for _, s := range stack.AllStacks() {
		if pattern := of(s.Tests); pattern != "" && !slices.Contains(all, pattern) {
			all = append(all, pattern)
		}
	}
	return regexp.MustCompile(strings.Join(append(all, shared...), "|"))
}

// listTestLanguages returns the test patterns of all stacks; the last is for all other files.
func listTestLanguages() []testLanguagePatterns {
	compile := func(pattern string) *regexp.Regexp {
		if pattern == "" {
			return nil
		}
		return regexp.MustCompile(pattern)
	}
	var all []testLanguagePatterns
	for _, s := range stack.AllStacks() {
		if t := s.Tests; len(t.Ends) > 0 {
			all = append(all, testLanguagePatterns{endings: t.Ends, declares: compile(t.Declares), skipping: compile(t.Skips), focusing: compile(t.Focuses), assert: compile(t.Asserts)})
		}
	}
	return append(all, testLanguagePatterns{assert: regexp.MustCompile(`(?i)\b(?:assert|expect|should)\w*\b`)})
}
