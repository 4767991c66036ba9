package outputparser

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/report"
)

// OutputFormat is a kind of output that can be read.
type OutputFormat struct {
	Name  string
	About string // the tool that prints it
	Tests bool   // it reports tests; a run without tests does not pass
	Go    bool   // of a tool that comes with Go, or reads only Go code
	Zero  bool   // its exit code is 0 whatever it finds
	Warns bool   // warnings among its findings do not make the tool fail
	// Commands are the words of a command line that choose this format.
	Commands []string
	// Starts are commands that can start any tool: the output has this format if it has no
	// other.
	Starts []string
	// Versions are commands whose first line contains the versions of the tools that affect the
	// findings; empty: none are run.
	Versions []string
	// Marks is a pattern of text that only this format has.
	Marks string
	// Well is a pattern of a line with which the tool reports that it found nothing; empty if
	// it then prints nothing.
	Well string
	// Over is a pattern of a line with which the tool reports the result of all its tests;
	// empty if it may run more after that.
	Over string

	// Read converts the output to a report. Nil: [Exit], which reads it by other formats.
	Read func(parserbase.ToolOutput) parserbase.ParsedToolOutput
}

// The formats that other packages name.
const (
	GoBuild    = "go-build"
	GoVet      = "go-vet" // text or -json
	GoTestJSON = "go-test-json"
	GoFmt      = "gofmt" // gofmt -l
	GolangCI   = "golangci"
	JUnit      = "junit"
	Exit       = "exit" // any command that exits with 0 when all is well

	tally = "tally"
)

// OutputFormatSet holds all known formats. Machine-readable ones come first, because their text may quote
// any other.
type OutputFormatSet []OutputFormat

// NewFormatSet joins the common formats and those of languages: of Go's tools, of checkers, and of
// test runners.
func NewFormatSet(golang, checks, tests []OutputFormat) OutputFormatSet {
	return slices.Concat(machineFormats(), golang, checks, looseFormats(), tests, []OutputFormat{
		{Name: tally, About: "any runner that says how many tests passed and failed", Tests: true, Marks: tallyMarks, Read: TallyOutput},
		{Name: Exit, About: "any command that exits 0 when all is well"},
	})
}

func machineFormats() []OutputFormat {
	return []OutputFormat{
		{Name: JUnit, About: "JUnit's XML, as nearly every test runner can write", Tests: true, Marks: `<testsuites?[\s>]`, Read: report.ReadJUnit},
		{Name: "tap", About: "the Test Anything Protocol", Tests: true, Commands: []string{"prove", "bats", "tap"}, Marks: `(?m)^TAP version \d+|^1\.\.0\b|^1\.\.\d+\s*$(?s:.*)^(?:not )?ok \d|^(?:not )?ok 1 (?s:.*)^1\.\.\d+\s*$`, Over: `^# duration_ms [\d.]+$`, Read: report.ReadTAP},
		{Name: "teamcity", About: "the messages that runners print for TeamCity", Tests: true, Marks: `(?m)^\s*##teamcity\[test`, Read: report.ReadTeamCity},
		{Name: "json-tests", About: "JSON with a summary and a list of tests: the Common Test Report Format, pytest-json-report", Tests: true, Marks: `"summary"\s*:\s*\{[^{}]*"(?:passed|failed|total|tests)"\s*:\s*\d+[^{}]*\}(?s:.*)"(?:status|outcome)"\s*:\s*"(?:passed|failed|skipped|pending|error)"`, Read: report.ReadJSONTests},
		{Name: "sarif", About: "SARIF 2.1", Warns: true, Marks: `"runs"\s*:\s*\[(?s:.*)"results"`, Read: report.ReadSARIF},
		{Name: "checkstyle-xml", About: "Checkstyle's XML, as many linters can write", Warns: true, Marks: `<checkstyle[\s>]`, Read: report.ReadCheckstyle},
		{Name: "lcov", About: "a tracefile of LCOV", Marks: `(?m)^SF:(?s:.*)^(?:end_of_record|DA:)`, Read: report.ReadLCOV},
		{Name: "cobertura", About: "Cobertura's XML", Marks: `<coverage[\s>]`, Read: report.ReadCobertura},
		{Name: "jacoco", About: "JaCoCo's XML", Marks: `<!DOCTYPE report PUBLIC "-//JACOCO|<report name="[^"]*">\s*<sessioninfo`, Read: report.ReadJaCoCo},
		{Name: "go-cover", About: "a profile of go test -coverprofile", Marks: `(?m)^mode: (?:set|count|atomic)$`, Read: report.ReadGoCover},
	}
}

// looseFormats returns machine-readable formats that many tools share. They come last: the
// formats of specific tools have more information.
func looseFormats() []OutputFormat {
	return []OutputFormat{
		{Name: "github", About: "the annotations that tools print for GitHub's runners", Warns: true, Marks: `(?m)^\s*::(?:error|warning) [^\n]*\bfile=`, Read: report.ReadGitHubAnnotations},
		{Name: "json", About: "JSON of any kind that names files, lines and what is wrong there", Warns: true, Marks: `(?m)^\s*[\[{](?s:.*)"(?i:line|line_?number|line_?start|start_?line|row|begin)"\s*:\s*\d`, Read: report.ReadLooseJSON},
		{Name: "csv", About: "a table of comma-separated values that names files and lines", Warns: true, Marks: `(?mi)^(?:.*,)?"?(?:file_?(?:name|path)?|path)"?,(?:.*,)?"?line(?:_?number)?"?(?:,|$)`, Read: report.ReadCSV},
		{Name: "xml", About: "XML of any kind that names files, lines and what is wrong there", Warns: true, Marks: `(?m)^<\?xml (?s:.*)<\w+ [^<>]*\b(?:begin)?line="\d`, Read: report.ReadLooseXML},
	}
}

// JSONOrText returns a reader for a runner that prints JSON or text.
func JSONOrText(native func(parserbase.ToolOutput) (parserbase.ParsedToolOutput, bool, bool), text func(parserbase.ToolOutput) parserbase.ParsedToolOutput) func(parserbase.ToolOutput) parserbase.ParsedToolOutput {
	return func(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
		r, ok, broken := native(in)
		if ok {
			return r
		}
		r = text(in)
		if broken && r.State == nexus.Unverifiable {
			r.Why = "its JSON is incomplete"
		}
		return r
	}
}

// FindFormat returns the format of a name.
func (s OutputFormatSet) FindFormat(name string) (OutputFormat, bool) {
	i := slices.IndexFunc(s, func(f OutputFormat) bool { return f.Name == name })
	if i < 0 {
		return OutputFormat{}, false
	}
	return s[i], true
}

// DetectFormat returns the input, and the format that its command or its text shows. Test output whose
// command is unknown is read carefully, as by [Exit].
func (s OutputFormatSet) DetectFormat(in ToolOutput) (ToolOutput, string) {
	in.Format = Exit
	speak, sure := s.recognizedFormats(in)
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

// meansSuccess reports whether the output of a tool with an unknown exit code means success: by a
// message, by JSON, or by being empty.
func (f OutputFormat) meansSuccess(in ToolOutput) bool {
	var any any
	if ok, _ := in.DecodeDocument(&any); ok {
		return true
	}
	all := in.AllLines()
	if !slices.ContainsFunc(all, func(l string) bool { return strings.TrimSpace(l) != "" }) {
		return f.Name != Exit
	}
	return f.IsCoverage() || f.Well != "" && slices.ContainsFunc(all, regexp.MustCompile(f.Well).MatchString)
}

// IsCoverage reports whether the format contains test coverage.
func (f OutputFormat) IsCoverage() bool {
	return f.Name == "lcov" || f.Name == "cobertura" || f.Name == "jacoco" || f.Name == "go-cover"
}

// glance is the size of each end of an output that is searched to recognise its format.
const glance = 128 << 10

// RecognizeFormat returns the format of an output, by its command or by its text; the zero Format if
// neither shows it.
func (s OutputFormatSet) RecognizeFormat(in ToolOutput) OutputFormat {
	all, _ := s.recognizedFormats(in)
	if len(all) == 0 {
		return OutputFormat{}
	}
	return all[0]
}

// recognizedFormats returns all formats found in an output, the most important first.
func (s OutputFormatSet) recognizedFormats(in ToolOutput) (all []OutputFormat, sure bool) {
	named := s.FormatsByCommand(in.Command)
	begins := in.Tests && len(named) > 0 && !slices.ContainsFunc(named, func(f OutputFormat) bool { return f.Tests }) // like make, which starts tests of any kind
	if len(named) == 1 && !begins {
		return named, true
	}
	all = s
	if len(named) > 1 && !begins { // one line with several tools: the text shows which of them printed it
		all = named
	}
	text := headAndTailText(in)
	checks, tests := formatsInText(all, text)
	if len(named) > 1 && !begins && len(checks)+len(tests) == 0 { // none of them has a recognisable text
		named = nil
		checks, tests = formatsInText(s, text)
	}
	switch {
	case len(tests) > 0: // the tests matter more than their compilation
		return append(tests, checks...), len(named) > 0 && !begins
	case len(checks) > 1 && checks[0].Name == "gcc": // or make, which passes on the output of others
		return append(checks[1:], checks[0]), len(named) > 0
	case len(checks) > 0:
		return checks, len(named) > 0
	case len(named) == 1:
		return named, true
	}
	if begun := s.formatsByWords(in.Command, func(f OutputFormat) []string { return f.Starts }); len(begun) == 1 && len(named) == 0 {
		return begun, false
	}
	return nil, false
}

// headAndTailText returns the text of an output, and of a long one both its ends.
func headAndTailText(in ToolOutput) string {
	var b strings.Builder
	for _, data := range [][]byte{in.Stdout, in.Stderr} {
		if len(data) > 2*glance {
			b.WriteString(strings.Join(parserbase.SplitLines(data[:glance]), "\n") + "\n")
			data = data[len(data)-glance:]
		}
		b.WriteString(strings.Join(parserbase.SplitLines(data), "\n") + "\n")
	}
	return b.String()
}

// formatsInText returns the formats whose text is in an output: those without tests, and those with.
// Of the latter the one that contains the others comes first. A format inside of another one's
// text is omitted: one of its tests printed it.
func formatsInText(all []OutputFormat, text string) (checks, tests []OutputFormat) {
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
		s := span{at[0], at[1] + f.lastMarkEnd(text[at[1]:], re)}
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

// lastMarkEnd returns the end of the last text of a format.
func (f OutputFormat) lastMarkEnd(text string, marks *regexp.Regexp) int {
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

// FormatsByCommand returns the formats of the tools in a command line. For a tool that builds and
// tests, only the test format is returned.
func (s OutputFormatSet) FormatsByCommand(command string) []OutputFormat {
	return s.formatsByWords(command, func(f OutputFormat) []string { return f.Commands })
}

func (s OutputFormatSet) formatsByWords(command string, words func(OutputFormat) []string) []OutputFormat {
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
	var found []OutputFormat
	for _, f := range s {
		if slices.ContainsFunc(words(f), func(c string) bool { return strings.Contains(line, " "+c+" ") }) {
			found = append(found, f)
		}
	}
	return found
}
