package parserbase

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IsBlocking reports whether a finding is an error and not a warning or a remark.
func IsBlocking(f nexus.Finding) bool {
	return f.Severity != nexus.Minor && f.Severity != nexus.Suggestion
}

// CheckerReport returns the report of a tool that checks code: a compiler, a linter, a formatter. Known
// is true if its output is the one that it prints when all is well.
func (in ToolOutput) CheckerReport(found []nexus.Finding, known bool) ParsedToolOutput {
	r := ParsedToolOutput{Findings: found}
	switch {
	case in.WasKilled():
		r.State, r.Why = nexus.Environmental, "it was killed"
	case in.Exit == 0 && slices.ContainsFunc(found, IsBlocking):
		r.State = nexus.Fail
	case in.Exit == 0 && !known:
		r.State, r.Why = nexus.Unverifiable, "the output was not understood"
	case in.Exit == 0:
		r.State = nexus.Pass
	case len(found) > 0:
		r.State = nexus.Fail
	default:
		return in.UnexplainedFailure()
	}
	return r
}

// WasKilled reports whether the tool was killed from outside.
func (in ToolOutput) WasKilled() bool { return in.Exit < 0 || in.Exit == 137 }

// UnexplainedFailure returns the report of a tool that failed and named nothing in the code.
func (in ToolOutput) UnexplainedFailure() ParsedToolOutput {
	if f, ok := MissingFileFinding(in, in.AllLines()); ok {
		return ParsedToolOutput{State: nexus.Environmental, Why: f.Message, Findings: []nexus.Finding{f}}
	}
	if f, ok := MachineFaultFinding(in.AllLines()); ok {
		return ParsedToolOutput{State: nexus.Environmental, Why: f.Message, Findings: []nexus.Finding{f}}
	}
	return ParsedToolOutput{State: nexus.Fail, Findings: []nexus.Finding{{Code: CodeExit, Message: in.LastLines()}}}
}

// UnexplainedTestFailure returns the report of a runner that failed and named no test. If it
// could not load a file, it ran none.
func (in ToolOutput) UnexplainedTestFailure() ParsedToolOutput {
	all := in.AllLines()
	if _, ok := MachineFaultFinding(all); ok {
		return in.UnexplainedFailure()
	}
	if _, ok := MissingFileFinding(in, all); ok {
		return in.UnexplainedFailure()
	}
	if f, ok := UnloadableFile(all); ok {
		return ParsedToolOutput{State: nexus.NotRun, Why: NoTestsReason([]nexus.Finding{f}, nexus.TestCounts{}), Findings: []nexus.Finding{f}}
	}
	return in.UnexplainedFailure()
}

// ParsedTestRun is a runner's output about the tests that it ran.
type ParsedTestRun struct {
	Findings []nexus.Finding
	Counts   nexus.TestCounts
	Counted  bool // it printed their number
	Partly   bool // its output may be incomplete
	Planned  int  // planned number of tests; 0 is unknown
	Empty    bool // it reports that there are none
	Flaky    []nexus.FlakyTestCount
	Tests    []TestResult
	Green    bool // all its summaries, one at each end, are without failures
}

// dropPrintedFailures removes findings that only look like failed tests because a test printed them: the
// runner's own summary has no failure, and it exits with code 0.
func (in ToolOutput) dropPrintedFailures(r *ParsedTestRun) {
	if in.Exit == 0 && !in.Guess && !in.Cut && r.Green && r.Counted && r.Counts.Failed == 0 && r.Counts.Passed > 0 {
		r.Findings = slices.DeleteFunc(r.Findings, func(f nexus.Finding) bool { return IsBlocking(f) && f.Code != CodeVanished && f.Code != "unhandled" })
	}
}

// TestRunReport returns the report of a tool that runs tests.
func (in ToolOutput) TestRunReport(r ParsedTestRun) ParsedToolOutput {
	in.dropPrintedFailures(&r)
	out := ParsedToolOutput{Findings: r.Findings, Counts: r.Counts, Counted: r.Counted, Partly: r.Partly, Flaky: r.Flaky, Tests: r.Tests}
	ran := r.Counts.Passed + r.Counts.Failed + r.Counts.Skipped
	if short := lowCoverageFinding(in); short != nil {
		out.Findings = append(out.Findings, *short)
	}
	if r.Counted && r.Planned > ran && !in.Cut {
		out.Findings = append(out.Findings, nexus.Finding{Code: CodeVanished, Message: fmt.Sprintf("%d of %d tests did not report how they ended", r.Planned-ran, r.Planned)})
	}
	red := r.Counts.Failed > 0 || slices.ContainsFunc(out.Findings, IsBlocking)
	none := ""
	if red && len(r.Flaky) == 0 {
		none = NoTestsReason(out.Findings, r.Counts)
	}
	switch {
	case none != "":
		out.State, out.Why, out.Counts.Failed = nexus.NotRun, none, 0 // the failures are files
	case red:
		out.State = nexus.Fail
		if len(out.Findings) == 0 {
			message := fmt.Sprintf("%d tests failed", r.Counts.Failed)
			if in.Exit == 0 && !in.Guess {
				message += ", though the command exits 0"
			}
			out.Findings = []nexus.Finding{{Code: CodeTest, Message: message}}
		}
	case in.WasKilled():
		out.State, out.Why = nexus.Environmental, "it was killed"
	case in.Exit > 0 && (r.Empty || !r.Counted) && in.hasMissingFile():
		return in.UnexplainedFailure()
	case in.Exit != 0 && (r.Empty || r.Counted && ran == 0):
		out.State, out.Why = nexus.NotRun, nexus.NoTests
	case in.Exit != 0 && r.Counted:
		out.State, out.Why = nexus.Environmental, fmt.Sprintf("every test passed, yet its exit code is %d", in.Exit)
		out.Findings = append(out.Findings, nexus.Finding{Code: CodeExit, Message: in.LastLines()})
	case in.Exit != 0:
		return in.UnexplainedTestFailure()
	case r.Empty || r.Counted && r.Counts.Passed == 0 && len(r.Flaky) == 0:
		out.State, out.Why = nexus.NotRun, nexus.NoTests
	case !r.Counted:
		out.State, out.Why = nexus.Unverifiable, "nothing in its output says how many tests ran"
	case len(r.Flaky) > 0:
		out.State, out.Why = nexus.Flaky, fmt.Sprintf("%d tests failed and passed when they were tried again", len(r.Flaky))
	default:
		out.State = nexus.Pass
	}
	return out
}

func (in ToolOutput) hasMissingFile() bool {
	_, ok := MissingFileFinding(in, in.AllLines())
	return ok
}

// lowCoverageFinding returns the error of a runner whose test coverage is too low: it fails although
// every test passed.
func lowCoverageFinding(in ToolOutput) *nexus.Finding {
	if in.Exit == 0 {
		return nil
	}
	pattern := regexp.MustCompile(`(?i)coverage threshold for .* not met|coverage for .* does not meet .*threshold|^FAIL Required test coverage of|^ERROR: Coverage for \w+ \(|Coverage failure: total of`)
	for _, l := range in.AllLines() {
		if len(l) < 400 && pattern.MatchString(l) {
			return &nexus.Finding{Code: CodeCoverage, Message: strings.TrimSpace(l)}
		}
	}
	return nil
}

// MachineFaultFinding returns a message that blames the machine and not the code: a missing
// program, a full disk, no memory, no network.
func MachineFaultFinding(all []string) (nexus.Finding, bool) {
	missing := missingToolPatterns()
	var other nexus.Finding
	for i, l := range all {
		l = l[:min(len(l), 400)]
		if !strings.ContainsAny(l, " :") {
			continue
		}
		for _, re := range missing {
			if m := re.FindStringSubmatch(l); m != nil {
				tool := strings.Trim(m[1][strings.LastIndexByte(m[1], '/')+1:], "'\"`")
				return MissingToolFinding(tool, strings.TrimSpace(l)), true
			}
		}
		if other.Message == "" && namesMachineFault(l) {
			other = nexus.Finding{Code: CodeEnvironment, Message: strings.TrimSpace(l)}
			if strings.HasPrefix(l, "As a reminder, you're using offline mode") {
				other = unfetchedFinding(all[:i], other)
			}
		}
	}
	return other, other.Message != ""
}

// unfetchedFinding returns cargo's message about a dependency that it does not have: its name is in a
// line before the one about the offline mode.
func unfetchedFinding(before []string, f nexus.Finding) nexus.Finding {
	for _, l := range before {
		if rest, ok := strings.CutPrefix(l, "error: "); ok && len(rest) < 400 {
			f.Message = strings.TrimSpace(rest)
			break
		}
	}
	f.Advice = "Gates have no network: run cargo fetch here once, and keep Cargo.lock."
	return f
}

// MissingToolFinding returns the finding that a tool is not installed.
func MissingToolFinding(tool, said string) nexus.Finding {
	return nexus.Finding{Code: CodeMissing, Message: said, Advice: "Install " + tool + installHint(tool) + ", or turn the gate off in nexus.toml."}
}

func missingToolPatterns() []*regexp.Regexp {
	re := regexp.MustCompile
	return []*regexp.Regexp{
		re(`^(?:\S+: (?:line )?\d+|(?:/[\w/.-]*/)?\w*sh): (?:line )?(?:\d+: )?((?:/[\w./-]*/)?[\w.@+-]+): (?:command )?not found$`),
		re("^(?:/usr/bin/)?env: ['\"\u2018]?([\\w./+-]+)['\"\u2019]?: No such file or directory$"),
		re(`python[\d.]*: No module named ([\w.]+)$`),
		re("^error: no such (?:sub)?command: `([\\w-]+)`"),
		re(`^error: '([\w-]+)' is not installed for the toolchain`),
		re(`^bundler: command not found: ([\w-]+)`),
		re(`^Command not found: ([\w.-]+)$`), // poetry run
		re(`^Error: the command ([\w.-]+) could not be found within PATH or Pipfile's \[scripts\]`),
		re("^error: Failed to spawn: `(?:[^`]*/)?([\\w.-]+)`"), // uv run
		re(`^Could not open input file: (?:vendor/bin/)?([\w-]+)$`),
		re(`^\s*This is not the (tsc) command you are looking for`),
		re(`^(?:\w*sh): (?:\d+: )?exec: ([\w./@+-]+): not found$`),
		re(`npx canceled due to missing packages and no YES option: \["?((?:@[\w.-]+/)?[\w.-]+)`),
		re(`^npm (?:ERR!|error) could not determine executable to (run)$`),
		re(`^npm (?:ERR!|error) request to \S+(?:/|%2f)([\w.-]+) failed: cache mode is 'only-if-cached'`), // npx, offline
		re(`^error: Could not find an existing '((?:@[\w.-]+/)?[\w.-]+)' binary to run`),
		re(`^g?make(?:\[\d+\])?: ([\w./+-]+): No such file or directory$`),
	}
}

// CommandNotFoundByShell returns the command that a shell did not find, in any language of the shell,
// and the message. It is valid only for exit code 127.
func CommandNotFoundByShell(all []string) (tool, said string) {
	shell := regexp.MustCompile(`^(?:\S*/)?\w*sh: (?:[^\s:]+ \d+[ \x{a0}]?: |\d+: )?([\w./@+-]+)[ \x{a0}]?: \S.*$`)
	for _, l := range all {
		if m := shell.FindStringSubmatch(l[:min(len(l), 400)]); m != nil {
			return m[1][strings.LastIndexByte(m[1], '/')+1:], strings.TrimSpace(l)
		}
	}
	return "", ""
}

func namesMachineFault(l string) bool {
	return slices.ContainsFunc([]string{
		"no space left on device", "No space left on device", "ENOSPC", "Cannot allocate memory", "cannot allocate memory", "ENOMEM",
		"JavaScript heap out of memory", "java.lang.OutOfMemoryError", "Too many open files", "too many open files", "EMFILE",
		"Resource temporarily unavailable", "Could not resolve host", "Temporary failure in name resolution", "getaddrinfo ENOTFOUND", "EAI_AGAIN",
		"Network is unreachable", "Could not transfer artifact", "failed to download from", "No internet connection", "offline mode",
		"--offline was specified", "GLIBC_", "rustup could not choose a version", "could not create temp file", "could not download file from 'https://static.rust-lang.org", "extensions, but the ", "error while loading shared libraries",
	}, func(s string) bool { return strings.Contains(l, s) })
}

// installHint returns how to install a tool, as far as that is known.
func installHint(tool string) string {
	npm := map[string]string{
		"tsc": "typescript", "eslint": "eslint", "prettier": "prettier", "biome": "@biomejs/biome", "vitest": "vitest", "jest": "jest",
		"mocha": "mocha", "playwright": "@playwright/test", "pyright": "pyright",
	}
	if name := npm[tool]; name != "" {
		return " (npm install, with --save-dev " + name + " where package.json does not name it)"
	}
	from := map[string]string{
		"ruff": "pip install ruff", "flake8": "pip install flake8", "mypy": "pip install mypy", "pytest": "pip install pytest",
		"nextest": "cargo install cargo-nextest", "cargo-nextest": "cargo install cargo-nextest", "clippy": "rustup component add clippy",
		"cargo-clippy": "rustup component add clippy", "rspec": "gem install rspec", "rubocop": "gem install rubocop",
		"phpunit": "composer require --dev phpunit/phpunit", "phpstan": "composer require --dev phpstan/phpstan", "shellcheck": "apt install shellcheck",
		"cmake": "apt install cmake", "ctest": "apt install cmake", "meson": "apt install meson", "make": "apt install make", "gcc": "apt install gcc", "mvn": "apt install maven",
		"golangci-lint": "see golangci-lint.run", "node": "see nodejs.org", "npm": "see nodejs.org", "cargo": "see rustup.rs",
		"dotnet": "see dotnet.microsoft.com", "uv": "see docs.astral.sh/uv", "pnpm": "npm install --global pnpm", "yarn": "npm install --global yarn", "bun": "npm install --global bun", "bunx": "npm install --global bun",
	}[tool]
	if from == "" {
		return ""
	}
	return " (" + from + ")"
}

// NormalizeFindings orders findings by position and removes duplicates.
func NormalizeFindings(all []nexus.Finding) []nexus.Finding {
	for i := range all {
		f := &all[i]
		f.Message = ClipMessage(f.Message)
		f.Expected, f.Actual, f.Stack = ClipMessage(f.Expected), ClipMessage(f.Actual), ClipMessage(f.Stack)
	}
	slices.SortStableFunc(all, func(a, b nexus.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Test, b.Test), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	enough := len(all) >= Enough // before duplicates are removed: readers stop there
	all = slices.Compact(all)
	if enough {
		all = append(all[:min(len(all), Enough-1)], nexus.Finding{Code: CodeMore, Message: fmt.Sprintf("and more findings than the %d that are looked at", Enough-1)})
	}
	return all
}

// LimitFindings returns the findings that are shown and recorded. It omits remarks first; the
// last finding contains the number of omitted ones.
func LimitFindings(all []nexus.Finding) []nexus.Finding {
	more := len(all) - MaxFindings
	if more <= 0 {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b nexus.Finding) int { return severityRank(a) - severityRank(b) })
	return append(all[:MaxFindings:MaxFindings], nexus.Finding{Code: CodeMore, Message: fmt.Sprintf("and %d more findings", more)})
}

func severityRank(f nexus.Finding) int {
	if IsBlocking(f) {
		return 0
	}
	return 1
}
