package tamper

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// habits are how tests are written and what keeps them from telling. They are
// learned for one look at a change: every process of Nexus starts with this
// package, most of them for a command in a sandbox, and compiling took a quarter
// of such a start.
type habits struct {
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
		expected: regexp.MustCompile(`^// (?:Unordered )?[Oo]utput:`),
		opens:    regexp.MustCompile(`^\s*#\s*if(?:n?def)?\b`),
		closes:   regexp.MustCompile(`^\s*#\s*endif\b`),
		others:   regexp.MustCompile(`^\s*#\s*el(?:se|if)`),
		never:    regexp.MustCompile(`^\s*#\s*if\s+(?:0|false)\s*(?:$|//|/\*)`),
		weakens:  ofAll(func(t stack.Tests) string { return t.Weak }, `assert_?!?\(true`),
		swallows: ofAll(func(t stack.Tests) string { return t.Swallows }, `^\s*\.IGNORE\b|\|\|\s*(?:true|:|exit 0|echo\b)|;\s*(?:true|exit 0)\s*(?:$|["'])|^\s*set \+e\b|`+
			`continue-on-error:\s*true|allow_failure:\s*true|^-\s*make test`),
		dash:       regexp.MustCompile(`^@?-`),
		suppresses: ofAll(func(t stack.Tests) string { return t.Quiets }),
		mocks:      ofAll(func(t stack.Tests) string { return t.Mocks }, `^(\w+)\.\w+\s*=[^=]`),
		reports:    ofAll(func(t stack.Tests) string { return t.Reports }, `^\s*\S*assert\S*\.\w+\s*=[^=]`),
		inverts:    ofAll(func(t stack.Tests) string { return t.Inverts }),
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

// ofAll joins what all stacks say of their tests, and what languages share.
func ofAll(of func(t stack.Tests) string, shared ...string) *regexp.Regexp {
	var all []string
	for _, s := range stack.All() {
		if pattern := of(s.Tests); pattern != "" && !slices.Contains(all, pattern) {
			all = append(all, pattern)
		}
	}
	return regexp.MustCompile(strings.Join(append(all, shared...), "|"))
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
