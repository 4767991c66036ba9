package read

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/report"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/suite"
)

// Format is a kind of output that can be read.
type Format struct {
	Name  string
	About string // whose output it is
	Tests bool   // it tells of tests; none is no pass
	Go    bool   // of a tool that comes with Go, or reads its code alone
	Zero  bool   // its exit code is 0 whatever it finds
	Warns bool   // warnings among its findings do not make the tool fail
	// Commands are the words of a command line that lead to it.
	Commands []string
	// Starts are commands that start any tool: it is theirs where no other speaks.
	Starts []string
	// Marks is a pattern of text that only this format has.
	Marks string
	// Well is a pattern of a line with which the tool says that it found
	// nothing; empty where it says nothing then.
	Well string
	// Over is a pattern of a line with which the tool says how all its tests
	// ended; empty where it may run more after that.
	Over string

	read func(raw.Input) raw.Report
}

// The formats that others name.
const (
	GoBuild    = "go-build"
	GoVet      = "go-vet" // text or -json
	GoTestJSON = "go-test-json"
	GoFmt      = "gofmt" // gofmt -l
	GolangCI   = "golangci"
	JUnit      = "junit"
	Exit       = "exit" // any command that exits 0 when all is well

	tally = "tally"
)

// Formats returns all formats. Those of machines come first, because their
// text may quote any other.
func Formats() []Format {
	return slices.Concat(machineFormats(), goFormats(), checkFormats(), looseFormats(), testFormats(), []Format{
		{Name: Exit, About: "any command that exits 0 when all is well", read: readExit},
	})
}

func machineFormats() []Format {
	return []Format{
		{Name: JUnit, About: "JUnit's XML, as nearly every test runner can write", Tests: true, Marks: `<testsuites?[\s>]`, read: report.JUnit},
		{Name: "tap", About: "the Test Anything Protocol", Tests: true, Commands: []string{"prove", "bats", "tap"}, Marks: `(?m)^TAP version \d+|^1\.\.0\b|^1\.\.\d+\s*$(?s:.*)^(?:not )?ok \d|^(?:not )?ok 1 (?s:.*)^1\.\.\d+\s*$`, Over: `^# duration_ms [\d.]+$`, read: report.TAP},
		{Name: "teamcity", About: "the messages that runners print for TeamCity", Tests: true, Marks: `(?m)^\s*##teamcity\[test`, read: report.TeamCity},
		{Name: "sarif", About: "SARIF 2.1", Warns: true, Marks: `"runs"\s*:\s*\[(?s:.*)"results"`, read: report.SARIF},
		{Name: "checkstyle-xml", About: "Checkstyle's XML, as many linters can write", Warns: true, Marks: `<checkstyle[\s>]`, read: report.Checkstyle},
		{Name: "lcov", About: "a tracefile of LCOV", Marks: `(?m)^SF:(?s:.*)^(?:end_of_record|DA:)`, read: report.LCOV},
		{Name: "cobertura", About: "Cobertura's XML", Marks: `<coverage[\s>]`, read: report.Cobertura},
		{Name: "jacoco", About: "JaCoCo's XML", Marks: `<!DOCTYPE report PUBLIC "-//JACOCO|<report name="[^"]*">\s*<sessioninfo`, read: report.JaCoCo},
		{Name: "go-cover", About: "a profile of go test -coverprofile", Marks: `(?m)^mode: (?:set|count|atomic)$`, read: report.GoCover},
	}
}

func goFormats() []Format {
	return []Format{
		{Name: GoTestJSON, About: "go test -json", Tests: true, Go: true, Marks: `(?m)^\{(?:"Time":"[^"]*",)?"Action":"`, read: readTests},
		{Name: GolangCI, About: "golangci-lint with JSON on standard output", Go: true, Marks: `(?m)^\{"Issues":`, read: readGolangCI},
		{Name: GoBuild, About: "go build", Go: true, Commands: []string{"go build", "go install", "go mod"}, Marks: `(?m)^# \S+\n\S+\.go:\d+:\d+: |^\{"ImportPath":"[^"]*","Action":"build-|^\timports \S+ from \S+: import cycle`, read: func(in Input) Report { return readBuild(in, raw.CodeCompile) }},
		{Name: GoVet, About: "go vet, with and without -json", Go: true, Zero: true, Commands: []string{"go vet"}, Marks: `(?m)^\t"[^"]+": \{\n\t\t"\w+": \[\n\t+\{\n\t+"posn": `, read: readVet},
		{Name: "gopls", About: "gopls check", Go: true, Zero: true, Commands: []string{"gopls check"}, Marks: `(?m)^\S+\.go:\d+:\d+-(?:\d+:)?\d+: `, read: func(in Input) Report { return in.Check(guess(in, in.Text(), false), true) }},
		{Name: GoFmt, About: "gofmt -l", Go: true, Commands: []string{"gofmt -l", "gofumpt -l", "goimports -l"}, read: readFmt},
	}
}

func checkFormats() []Format {
	built := strings.Join(lint.Built(), "|")
	return []Format{
		{Name: "tsc", About: "the TypeScript compiler", Commands: []string{"tsc", "vue-tsc"}, Marks: `\berror TS\d+: |(?m)^Found \d+ errors? in (?:the same file|\d+ files\.|\S+:\d+$)`, Well: `Found 0 errors`, read: lint.Tsc},
		{Name: "bun-build", About: "bun build", Warns: true, Commands: []string{"bun build"}, Marks: `(?m)^(?:error|warn): .*\n {4}at \S+:\d+:\d+$|^Bundled \d+ modules? in \d`, Well: `^Bundled \d+ modules? in `, read: suite.BunBuild},
		{Name: "eslint", About: "ESLint: text or -f json", Warns: true, Commands: []string{"eslint"}, Marks: `\x{2716} \d+ problems? \(|"filePath":"[^"]*","messages":`, read: lint.ESLint},
		{Name: "biome", About: "Biome: text or --reporter=json", Warns: true, Commands: []string{"biome"}, Marks: `(?m)^\S+ (?:lint/\S+|format|organizeImports|parse) .*\x{2501}{3}|"suggestedFixesSkipped"|^Checked \d+ files? in `, Well: `^Checked \d+ files? in `, read: lint.Biome},
		{Name: "prettier", About: "prettier --check or --list-different", Commands: []string{"prettier"}, Marks: `(?m)^Checking formatting\.\.\.|^\[warn\] Code style issues`, Well: `All matched files use Prettier code style`, read: lint.Prettier},
		{Name: "ruff", About: "Ruff check and format: text or JSON", Commands: []string{"ruff"}, Marks: `"noqa_row"|(?m)^All checks passed!|^Would reformat: |^\[\*\] \d+ (?:potentially )?fixable|\n\s+--> \S+\.pyi?:\d+:\d+\n`, Well: `^All checks passed!|already formatted`, read: lint.Ruff},
		{Name: "flake8", About: "Flake8 and pycodestyle", Commands: []string{"flake8", "pycodestyle", "pyflakes"}, Marks: `(?m)^\S+\.py:\d+:\d+: [EFWC]\d{3} `, read: lint.Flake8},
		{Name: "mypy", About: "mypy", Warns: true, Commands: []string{"mypy", "dmypy"}, Marks: `(?m)^Found \d+ errors? in \d+ files? \(|^Success: no issues found in `, Well: `^Success: no issues found`, read: lint.Mypy},
		{Name: "pyright", About: "Pyright: text or --outputjson", Warns: true, Commands: []string{"pyright", "basedpyright"}, Marks: `"generalDiagnostics"|(?m)^\d+ errors?, \d+ warnings?, \d+ (?:informations?|notes?)`, Well: `^0 errors, `, read: lint.Pyright},
		{Name: "cargo", About: "cargo build, check and clippy, and rustc: text or JSON", Warns: true, Commands: []string{"cargo build", "cargo check", "cargo clippy", "cargo b", "cargo c", "rustc"}, Marks: `"reason":"(?:compiler|build)-|(?m)^(?:error|warning)(?:\[\w+\])?: .*\n\s*--> `, Well: `^\s+Finished `, read: lint.Cargo},
		{Name: "javac", About: "javac and kotlinc", Warns: true, Commands: []string{"javac", "kotlinc"}, Marks: `(?m)^\S+\.java:\d+: [^\s:][^:\n]{0,40}: ?\S|^[ew]: (?:file://)?\S+\.kts?:|^\S+\.kts?:\d+:\d+: (?:error|warning): `, read: lint.Javac},
		{Name: "maven", About: "mvn compile, checkstyle, PMD, SpotBugs and Spotless, and Gradle's compilation", Warns: true, Commands: []string{"mvn compile", "mvn checkstyle:check", "mvn pmd:check", "mvn spotbugs:check", "mvn spotless:check", "mvnw compile", "gradle assemble", "gradlew assemble"}, Marks: `(?m)^\[ERROR\] \S+\.(?:java|kt):\[\d+,\d+\]|^\[ERROR\] +The project .*\) has \d+ errors?$|^\[ERROR\] Failed to execute goal \S+:(?:maven-pmd|spotbugs-maven|spotless-maven)-plugin:\S+:check |^\* What went wrong:$`, Well: `BUILD SUCCESS`, read: lint.Maven},
		{Name: "checkstyle", About: "Checkstyle's text", Warns: true, Commands: []string{"checkstyle"}, Marks: `(?m)^Audit done\.`, read: lint.CheckstyleText},
		{Name: "gcc", About: "gcc, clang, the linker, make and CMake", Warns: true, Commands: []string{"gcc", "g++", "cc", "c++", "clang", "clang++"}, Starts: []string{"make", "cmake", "ninja"}, Marks: `(?m)^\S+\.(?:c|cc|cpp|cxx|h|hpp|m):\d+:\d+: [^\s:][^:\n]{0,40}: |^g?make(?:\[\d+\])?: \*\*\*|: undefined reference to|^\S+\.(?:c|cc|cpp|cxx):\(\.\w+[^)\n]*\)[ \x{a0}]?: `, read: lint.GCC},
		{Name: "dotnet", About: "dotnet build and msbuild", Warns: true, Commands: []string{"dotnet build", "dotnet format", "msbuild"}, Marks: `\(\d+,\d+\)\s*: (?:error|warning) [A-Z]+\d+: |(?m)^(?:` + built + `)\W`, Well: built, read: lint.MSBuild},
		{Name: "rubocop", About: "RuboCop: text, emacs or -f json", Commands: []string{"rubocop", "standardrb"}, Marks: `"cop_name"|"rubocop_version"|(?m)^\d+ files? inspected, |^\S+\.rb:\d+:\d+: [CRWEF]: `, Well: `no offenses detected`, read: lint.RuboCop},
		{Name: "ruby", About: "ruby -c", Commands: []string{"ruby -c", "ruby -wc"}, Marks: `(?m)^Syntax OK$|^\S+\.rb:\d+: syntax error`, Well: `^Syntax OK`, read: lint.Ruby},
		{Name: "phpstan", About: "PHPStan: table, raw or JSON", Commands: []string{"phpstan"}, Marks: `"file_errors"|\[ERROR\] Found \d+ errors?|\[OK\] No errors`, Well: `\[OK\] No errors`, read: lint.PHPStan},
		{Name: "php", About: "php -l", Commands: []string{"php -l"}, Marks: `(?m)^(?:PHP )?Parse error:  |^No syntax errors detected`, Well: `^No syntax errors detected`, read: lint.PHP},
		{Name: "shellcheck", About: "ShellCheck: text, gcc or JSON", Commands: []string{"shellcheck"}, Marks: `\[SC\d{4}\]|\^-+\^? SC\d{4} |"fix":.*"code":\d{4}|"code":\d{4},.*"fix":`, read: lint.ShellCheck},
		{Name: "esbuild", About: "esbuild, and what bundles with it", Warns: true, Commands: []string{"esbuild"}, Marks: `(?m)^(?:\x{2718}|\x{25b2}) \[(?:ERROR|WARNING)\] `, read: lint.Esbuild},
	}
}

// looseFormats are those of machines that many tools share. They come last: what
// is known of a tool tells more.
func looseFormats() []Format {
	return []Format{
		{Name: "github", About: "the annotations that tools print for GitHub's runners", Warns: true, Marks: `(?m)^\s*::(?:error|warning) [^\n]*\bfile=`, read: report.GitHub},
		{Name: "json", About: "JSON of any kind that names files, lines and what is wrong there", Warns: true, Marks: `(?m)^\s*[\[{](?s:.*)"(?i:line|line_?number|line_?start|start_?line|row|begin)"\s*:\s*\d`, read: report.JSON},
		{Name: "csv", About: "a table of comma-separated values that names files and lines", Warns: true, Marks: `(?mi)^(?:.*,)?"?(?:file_?(?:name|path)?|path)"?,(?:.*,)?"?line(?:_?number)?"?(?:,|$)`, read: report.CSV},
		{Name: "xml", About: "XML of any kind that names files, lines and what is wrong there", Warns: true, Marks: `(?m)^<\?xml (?s:.*)<\w+ [^<>]*\b(?:begin)?line="\d`, read: report.XML},
	}
}

func testFormats() []Format {
	return []Format{
		{Name: "vitest", About: "Vitest: text or --reporter=json", Tests: true, Commands: []string{"vitest"}, Marks: `(?m)^ (?:RUN|DEV)  v\d|^\s*Test Files +\d+ |^No test files found, exiting|^ FAIL  \S|^\s*Tests +\d+ \w+.*\(\d+\)$`, Over: `^\s*Duration +[\d.]+m?s`, read: either(suite.JestJSON, suite.Vitest)},
		{Name: "jest", About: "Jest: text or --json", Tests: true, Commands: []string{"jest", "react-scripts test"}, Marks: `"numTotalTests":|(?m)^Test Suites: .*\d+ total|^Tests: +.*\d+ total|^No tests found, exiting with code`, Over: `^Ran all test suites`, read: either(suite.JestJSON, suite.Jest)},
		{Name: "playwright", About: "Playwright: text or --reporter=json", Tests: true, Commands: []string{"playwright"}, Marks: `(?m)^Running \d+ tests? using \d+ worker|"unexpected": \d+`, Over: `^ {2}\d+ (?:passed|failed|flaky|skipped|did not run)\b`, read: suite.Browsers(either(suite.PlaywrightJSON, suite.Playwright))},
		{Name: "mocha", About: "Mocha: spec, dot, list or json", Tests: true, Commands: []string{"mocha"}, Marks: `(?m)^\["start",\{"total":\d|^  \d+ passing\b|"pending": \d+,\s+"failures": \d+`, Over: `^ {2}\d+ passing \(`, read: either(suite.MochaJSON, suite.Mocha)},
		{Name: "node", About: "node --test: spec, dot or TAP", Tests: true, Commands: []string{"node --test"}, Marks: `(?m)^(?:\x{2139}|#) pass \d+\n(?:\x{2139}|#) fail \d+$`, Over: `^(?:\x{2139}|#) duration_ms [\d.]+`, read: readNode},
		{Name: "bun", About: "bun test", Tests: true, Commands: []string{"bun test"}, Marks: `(?m)^bun test v\d|^Ran \d+ tests? across \d+ files?\. \[`, Over: `^Ran \d+ tests? across \d+ files?\. \[`, read: suite.Bun},
		{Name: "pytest", About: "pytest", Tests: true, Commands: []string{"pytest", "py.test"}, Marks: `(?m)^=+ test session starts =+|^(?:=+ .*)?(?:\d+ (?:passed|failed|skipped|errors?|xfailed)|no tests ran).* in [\d.]+s`, Over: `^(?:=+ )?(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+ in [\d.]+s`, read: suite.Pytest},
		{Name: "unittest", About: "Python's unittest, also through Django", Tests: true, Commands: []string{"unittest", "manage.py test"}, Marks: `(?m)^Ran \d+ tests? in [\d.]+s$`, Over: `^Ran \d+ tests? in [\d.]+s$`, read: suite.Unittest},
		{Name: "cargo-test", About: "cargo test and cargo nextest", Tests: true, Commands: []string{"cargo test", "cargo nextest", "cargo t"}, Marks: `(?m)^test result: \w+\. \d+ passed|^running \d+ tests?$|^\s+Summary \[ *[\d.]+s\] `, Over: `^\s+Summary \[ *[\d.]+s\] `, read: suite.Cargo},
		{Name: "ctest", About: "ctest", Tests: true, Commands: []string{"ctest"}, Marks: `(?m)^\d+% tests passed, \d+ tests? failed out of|^No tests were found!!!|^Test project /`, Over: `^\d+% tests passed, `, read: suite.CTest},
		{Name: "maven-test", About: "Surefire and Failsafe within Maven", Tests: true, Commands: []string{"mvn test", "mvn verify", "mvnw test", "mvnw verify"}, Marks: `Tests run: \d+, Failures: \d+, Errors: \d+|(?m)^\[INFO\] --- \S*surefire\S*:test `, Over: `^(?:\[INFO\] )?BUILD (?:SUCCESS|FAILURE)`, read: suite.Maven},
		{Name: "gradle-test", About: "Gradle's test tasks", Tests: true, Commands: []string{"gradle test", "gradlew test", "gradle check", "gradlew check"}, Marks: `(?m)^\d+ tests? completed, |^> Task :\S*test|^:(?:[\w.-]+:)*test(?: [A-Z-]+)?$`, Over: `^BUILD (?:SUCCESSFUL|FAILED)`, read: suite.Gradle},
		{Name: "rspec", About: "RSpec: text or -f json", Tests: true, Commands: []string{"rspec"}, Marks: `(?m)^\d+ examples?, \d+ failures?|"summary_line":`, Over: `^\d+ examples?, \d+ failures?`, read: suite.RSpec},
		{Name: "minitest", About: "Minitest and test-unit, also through Rails", Tests: true, Commands: []string{"rails test", "rake test"}, Marks: `(?m)^\d+ (?:runs|tests), \d+ assertions, \d+ failures`, Over: `^\d+ (?:runs|tests), \d+ assertions, \d+ failures`, read: suite.Minitest},
		{Name: "phpunit", About: "PHPUnit", Tests: true, Commands: []string{"phpunit", "pest"}, Marks: `(?m)^PHPUnit \d+\.|^Tests: \d+, Assertions: \d+|^OK \(\d+ tests?, `, Over: `^OK \(\d+ tests?, |^Tests: \d+, Assertions: \d+`, read: suite.PHPUnit},
		{Name: "dotnet-test", About: "dotnet test", Tests: true, Commands: []string{"dotnet test"}, Marks: `(?:Passed|Failed)! +- Failed: +\d+, Passed: +\d+|(?m)^Total tests: \d+|^Test summary: total: \d+|! *[-:\x{2013}\x{2014}].*\d.* - \S.*\.dll(?: \(|$)`, read: suite.DotNet},
		{Name: "deno", About: "deno test", Tests: true, Commands: []string{"deno test"}, Marks: `(?m)^(?:ok|FAILED) \| \d+ passed\b.*\| \d+ failed`, Over: `^(?:ok|FAILED) \| \d+ passed\b`, read: suite.Deno},
		{Name: "gotestsum", About: "gotestsum in any of its formats", Tests: true, Commands: []string{"gotestsum"}, Marks: `(?m)^DONE \d+ tests?\b.* in [\d.]+s$`, read: readTally},
		{Name: "go-test", About: "go test without -json", Tests: true, Commands: []string{"go test"}, Marks: goTestMarks, read: readGoTest},
		{Name: tally, About: "any runner that says how many tests passed and failed", Tests: true, Marks: tallyMarks, read: readTally},
	}
}

// either reads a runner that prints JSON or text.
func either(native func(raw.Input) (raw.Report, bool, bool), text func(raw.Input) raw.Report) func(raw.Input) raw.Report {
	return func(in raw.Input) raw.Report {
		r, ok, broken := native(in)
		if ok {
			return r
		}
		r = text(in)
		if broken && r.State == nexus.Unverifiable {
			r.Why = "its JSON is not whole"
		}
		return r
	}
}

func readNode(in raw.Input) raw.Report {
	if regexp.MustCompile(`(?m)^TAP version \d+`).Match(in.Stdout) {
		return report.TAP(in)
	}
	return suite.Node(in)
}

// Find returns the format of a name.
func Find(name string) (Format, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return all[i], true
}

// Named is an input with the format that its command or its text tells. A text
// of tests that the command does not tell is read as [Exit] is, with care.
func Named(in Input) (Input, string) {
	in.Format = Exit
	speak, sure := recognise(in)
	if len(speak) == 0 {
		return in, Exit
	}
	f := speak[0]
	if sure || !f.Tests && in.Exit == 0 {
		in.Format = f.Name
	}
	in.Tests = f.Tests && !sure
	return in, f.Name
}

// clean reports whether the output of a tool whose exit code is not known
// says that all is well: in its words, as JSON, or by saying nothing.
func (f Format) clean(in Input) bool {
	var any any
	if ok, _ := in.Document(&any); ok {
		return true
	}
	all := in.Text()
	if !slices.ContainsFunc(all, func(l string) bool { return strings.TrimSpace(l) != "" }) {
		return f.Name != Exit
	}
	return f.Coverage() || f.Well != "" && slices.ContainsFunc(all, regexp.MustCompile(f.Well).MatchString)
}

// Coverage reports whether the format tells what tests went through.
func (f Format) Coverage() bool {
	return f.Name == "lcov" || f.Name == "cobertura" || f.Name == "jacoco" || f.Name == "go-cover"
}

// glance is how much of each end of an output is looked at to recognise it.
const glance = 128 << 10

// Recognise returns the format of an output, by the command that printed it
// or by its text. Sure says that the command tells.
func Recognise(in Input) (f Format, sure, ok bool) {
	all, sure := recognise(in)
	if len(all) == 0 {
		return Format{}, false, false
	}
	return all[0], sure, true
}

// recognise returns all formats that speak in an output, the one that matters
// most first.
func recognise(in Input) (all []Format, sure bool) {
	named := ByCommand(in.Command)
	begins := in.Tests && len(named) > 0 && !slices.ContainsFunc(named, func(f Format) bool { return f.Tests }) // like make, which begins tests of any kind
	if len(named) == 1 && !begins {
		return named, true
	}
	all = Formats()
	if len(named) > 1 && !begins { // one line with several tools: the text tells which of them speaks
		all = named
	}
	text := ends(in)
	checks, tests := spoken(all, text)
	if len(named) > 1 && !begins && len(checks)+len(tests) == 0 { // none of them does in a way of its own
		named = nil
		checks, tests = spoken(Formats(), text)
	}
	switch {
	case len(tests) > 0: // what it ran matters more than how that was compiled
		return append(tests, checks...), len(named) > 0 && !begins
	case len(checks) > 1 && checks[0].Name == "gcc": // or make, which hands on what others say
		return append(checks[1:], checks[0]), len(named) > 0
	case len(checks) > 0:
		return checks, len(named) > 0
	case len(named) == 1:
		return named, true
	}
	if begun := byWords(in.Command, func(f Format) []string { return f.Starts }); len(begun) == 1 && len(named) == 0 {
		return begun, false
	}
	return nil, false
}

// ends is the text of an output, of a long one that at both its ends.
func ends(in Input) string {
	var b strings.Builder
	for _, data := range [][]byte{in.Stdout, in.Stderr} {
		if len(data) > 2*glance {
			b.WriteString(strings.Join(raw.Lines(data[:glance]), "\n") + "\n")
			data = data[len(data)-glance:]
		}
		b.WriteString(strings.Join(raw.Lines(data), "\n") + "\n")
	}
	return b.String()
}

// spoken returns of formats those whose text it is: that tell of no tests, and
// that do. Of these the one that holds the others comes first. What lies
// within another's text was printed by one of its tests, and is left out.
func spoken(all []Format, text string) (checks, tests []Format) {
	type span struct{ begin, end int }
	var spans []span
	for _, f := range all {
		if f.Marks == "" || f.Name == tally && len(tests) > 0 {
			continue
		}
		re := regexp.MustCompile(f.Marks)
		at := re.FindStringIndex(text)
		switch {
		case at == nil:
			continue
		case !f.Tests:
			checks = append(checks, f)
			continue
		}
		s := span{at[0], at[1] + f.last(text[at[1]:], re)}
		outer := func(o span) bool { return s.begin <= o.begin && o.end < s.end }
		inner := func(o span) bool { return o.begin <= s.begin && s.end <= o.end }
		switch {
		case slices.ContainsFunc(spans, inner):
		case slices.ContainsFunc(spans, outer):
			tests, spans = slices.Insert(tests, 0, f), slices.Insert(spans, 0, s)
			for i := len(spans) - 1; i > 0; i-- {
				if outer(spans[i]) {
					tests, spans = slices.Delete(tests, i, i+1), slices.Delete(spans, i, i+1)
				}
			}
		default:
			tests, spans = append(tests, f), append(spans, s)
		}
	}
	return checks, tests
}

// last returns where in a text the last word of a format ends.
func (f Format) last(text string, marks *regexp.Regexp) int {
	if f.Name == JUnit {
		return max(strings.LastIndex(text, "</testsuite"), 0)
	}
	end := 0
	pattern := marks
	if f.Over != "" {
		pattern = regexp.MustCompile("(?m)" + f.Over)
	}
	for _, at := range pattern.FindAllStringIndex(text, -1) {
		end = at[1]
	}
	return end
}

// ByCommand returns the formats of the tools that a command line names. Tests
// of a tool that also builds come alone.
func ByCommand(command string) []Format {
	return byWords(command, func(f Format) []string { return f.Commands })
}

func byWords(command string, words func(Format) []string) []Format {
	if command == "" {
		return nil
	}
	line := " "
	for w := range strings.FieldsSeq(strings.NewReplacer("&", " ", ";", " ", "|", " ", "(", " ", ")", " ", `"`, " ", "'", " ").Replace(command)) {
		if strings.HasPrefix(w, "-") && len(w) > 2 && w != "--test" || strings.Contains(w, "=") {
			continue
		}
		line += path.Base(w) + " "
	}
	var found []Format
	for _, f := range Formats() {
		if slices.ContainsFunc(words(f), func(c string) bool { return strings.Contains(line, " "+c+" ") }) {
			found = append(found, f)
		}
	}
	return found
}
