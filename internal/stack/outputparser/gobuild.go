package outputparser

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// goCommandOutput is the parsed text of the go command.
type goCommandOutput struct {
	findings    []nexus.Finding
	environment bool // the cause is the machine
	empty       bool // there is nothing to build, vet or test
}

// readGoCommandText reads the output of go build, go vet and the compiler. An indented line continues
// the finding before it.
func readGoCommandText(in ToolOutput, all []string, code string) goCommandOutput {
	var t goCommandOutput
	pos := goPositionPatterns()
	var rest []string
	open := false // the last line belongs to a finding
	for i, l := range all {
		f, found := pos.findingAt(in, l)
		if cycle, ok := importCycleFinding(in, all[:i], l); ok {
			f, found = cycle, true
		}
		switch {
		case found:
			f.Code = code
			f.Advice = networkAdvice(f.Message)
			t.findings, open = append(t.findings, f), true
			t.environment = t.environment || blamesMachine(f.Message)
		case strings.HasPrefix(l, "\t") && open:
			last := &t.findings[len(t.findings)-1]
			last.Message += "\n" + strings.TrimSpace(l)
		case strings.Contains(l, "matched no packages") || strings.HasPrefix(l, "no packages to "):
			t.empty = true
		case strings.HasPrefix(l, "# "):
			open = false
			if strings.HasPrefix(l, "# [") {
				code = parserbase.CodeVet
			}
		case strings.TrimSpace(l) == "" || strings.HasPrefix(l, "go: downloading ") || strings.HasPrefix(l, "go: warning: "):
			open = false
		case blamesMachine(l):
			t.environment, open = true, false
			t.findings = append(t.findings, nexus.Finding{File: fileInGoError(l), Code: parserbase.CodeEnvironment, Message: l, Advice: networkAdvice(l)})
		case strings.TrimSpace(l) != "too many errors":
			rest, open = append(rest, l), false
		}
	}
	if gone, ok := parserbase.MissingFileFinding(in, rest); ok && len(t.findings) == 0 && in.Exit > 0 {
		t.findings, t.environment = []nexus.Finding{gone}, true
	}
	if len(t.findings) == 0 && len(rest) > 0 {
		text := strings.Join(rest[max(0, len(rest)-20):], "\n")
		t.findings = []nexus.Finding{{Code: code, Message: text, Advice: networkAdvice(text)}}
	}
	return t
}

// isUnfetchedModule reports whether a message means that a module in go.mod and go.sum is not on this
// machine and cannot be fetched now.
func isUnfetchedModule(message string) bool {
	return strings.HasPrefix(message, "module lookup disabled by ") ||
		regexp.MustCompile(`^(?:go: )?\S+@v\S+: (?:module lookup disabled by |Get "|dial tcp)`).MatchString(message)
}

// blamesMachine reports whether a line names a fault of the machine and not of the code.
func blamesMachine(l string) bool {
	return isUnfetchedModule(l) || slices.ContainsFunc([]string{
		"no space left on device", "cannot allocate memory", "too many open files", "resource temporarily unavailable",
		"(running go 1.", "GOTOOLCHAIN=local", "signal: killed", "failed to initialize build cache", "build cache is required",
		"could not create module cache", "cannot find GOROOT", "executable file not found in $PATH", "module cache not found",
	}, func(s string) bool { return strings.Contains(l, s) })
}

// fileInGoError returns the file of an error of the go command.
func fileInGoError(l string) string {
	if strings.HasPrefix(l, "go: go.mod ") {
		return "go.mod"
	}
	return ""
}

// networkAdvice returns a remedy for an error that the tool prints because there is no network.
func networkAdvice(message string) string {
	switch {
	case isUnfetchedModule(message):
		return "The modules that go.mod names are not on this machine: run go mod download once where there is a network."
	case strings.Contains(message, "lookup disabled by"):
		return "There is no network here: use the standard library or a module that go.mod already requires."
	case strings.Contains(message, "missing go.sum entry"), strings.Contains(message, "updates to go.mod needed"):
		return "Gates run with -mod=readonly and without network: go.mod and go.sum must already name every module that is used."
	default:
		return ""
	}
}

func readGoBuild(in ToolOutput, code string) ParsedToolOutput {
	said := parserbase.SplitLines(in.Stderr)
	said = append(said, parserbase.EachObject(in.Stdout, func(line []byte) bool {
		var e goTestEvent
		ok := json.Unmarshal(line, &e) == nil && strings.HasPrefix(e.Action, "build-")
		said = append(said, parserbase.SplitLines([]byte(e.Output))...)
		return ok
	})...)
	return readGoCommandText(in, said, code).report(in)
}

func (t goCommandOutput) report(in ToolOutput) ParsedToolOutput {
	switch {
	case in.Exit < 0:
		return ParsedToolOutput{State: nexus.Environmental, Why: "it was killed", Findings: t.findings}
	case in.Exit == 0 && t.empty, t.empty && len(t.findings) == 0:
		return ParsedToolOutput{State: nexus.NotRun, Why: "there are no Go packages"}
	case in.Exit == 0:
		return ParsedToolOutput{State: nexus.Pass} // warnings of the C compiler do not matter
	case t.environment:
		return ParsedToolOutput{State: nexus.Environmental, Why: firstMessage(t.findings), Findings: t.findings}
	default:
		return ParsedToolOutput{State: nexus.Fail, Findings: t.findings}
	}
}

func firstMessage(all []nexus.Finding) string {
	for _, f := range all {
		if blamesMachine(f.Message) || f.Code == parserbase.CodeEnvironment {
			return f.Message
		}
	}
	return ""
}

// GoVetOutput reads go vet. With -json it exits with 0 whatever it found, so its findings count
// and not its exit code.
func GoVetOutput(in ToolOutput) ParsedToolOutput {
	text, objects := separateJSONObjects(append(parserbase.SplitLines(in.Stderr), parserbase.SplitLines(in.Stdout)...))
	t := readGoCommandText(in, text, parserbase.CodeVet)
	found := false
	for _, o := range objects {
		diagnostics, ok := readVetJSON(in, o)
		if !ok {
			return ParsedToolOutput{State: nexus.Unverifiable, Why: "go vet printed JSON of a kind that is not known", Findings: t.findings}
		}
		found = found || len(diagnostics) > 0
		t.findings = append(t.findings, diagnostics...)
	}
	r := t.report(in)
	if in.Exit == 0 && r.State == nexus.Pass && (found || len(t.findings) > 0) {
		r.State, r.Findings = nexus.Fail, t.findings
	}
	return r
}

// separateJSONObjects separates JSON objects, each beginning and ending on a line with only its brace,
// from other lines.
func separateJSONObjects(all []string) (text, objects []string) {
	var open []string
	for _, l := range all {
		switch {
		case len(open) == 0 && l == "{}":
		case len(open) == 0 && l == "{":
			open = []string{l}
		case len(open) > 0 && l == "}":
			objects = append(objects, strings.Join(append(open, l), "\n"))
			open = nil
		case len(open) > 0:
			open = append(open, l)
		default:
			text = append(text, l)
		}
	}
	if len(open) > 0 {
		objects = append(objects, strings.Join(open, "\n")) // truncated: will not parse
	}
	return text, objects
}

func readVetJSON(in ToolOutput, object string) ([]nexus.Finding, bool) {
	type diagnostic struct {
		Posn    string `json:"posn"`
		Message string `json:"message"`
	}
	var packages map[string]map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &packages) != nil {
		return nil, false
	}
	pos := goPositionPatterns()
	var all []nexus.Finding
	for _, analyzers := range packages {
		for name, object := range analyzers {
			var found []diagnostic
			if json.Unmarshal(object, &found) != nil {
				var failed struct {
					Error string `json:"error"`
				}
				if json.Unmarshal(object, &failed) != nil || failed.Error == "" {
					return nil, false
				}
				found = []diagnostic{{Message: failed.Error}}
			}
			for _, d := range found {
				f, ok := pos.findingAt(in, parserbase.PlainText(d.Posn)+": "+parserbase.PlainText(d.Message))
				if !ok {
					f = nexus.Finding{Message: parserbase.PlainText(d.Message)}
				}
				f.Code = parserbase.PlainText(name)
				all = append(all, f)
			}
		}
	}
	return all, true
}

// GoFmtOutput reads gofmt -l, which exits with 0 after listing unformatted files.
func GoFmtOutput(in ToolOutput) ParsedToolOutput {
	t := readGoCommandText(in, parserbase.SplitLines(in.Stderr), parserbase.CodeCompile)
	for _, l := range parserbase.SplitLines(in.Stdout) {
		if f := in.RelativePath(l); strings.TrimSpace(l) != "" && f != "" {
			t.findings = append(t.findings, nexus.Finding{File: f, Code: "gofmt", Message: "is not formatted", Advice: "Run gofmt -w on it."})
		}
	}
	r := t.report(in)
	if len(t.findings) > 0 && r.State == nexus.Pass {
		r.State, r.Findings = nexus.Fail, t.findings
	}
	return r
}

// GolangCIOutput reads golangci-lint with JSON on standard output.
func GolangCIOutput(in ToolOutput) ParsedToolOutput {
	type issue struct {
		FromLinter, Text, Severity string
		Pos                        struct {
			Filename     string
			Line, Column int
		}
	}
	var out struct {
		Issues []issue
		Report *struct{ Error string }
	}
	found := false
	for l := range strings.Lines(string(in.Stdout)) {
		if strings.HasPrefix(l, "{") && json.Unmarshal([]byte(l), &out) == nil && out.Report != nil {
			found = true
			break
		}
	}
	if !found {
		return unstartedLintReport(in)
	}
	var all []nexus.Finding
	for _, i := range out.Issues {
		f := nexus.Finding{File: in.RelativePath(i.Pos.Filename), Line: clampNumber(i.Pos.Line), Column: clampNumber(i.Pos.Column), Code: parserbase.PlainText(i.FromLinter), Message: parserbase.PlainText(i.Text)}
		if f.File == "" {
			f.Line, f.Column = 0, 0
		}
		all = append(all, f)
	}
	switch {
	case len(all) > 0:
		return ParsedToolOutput{State: nexus.Fail, Findings: all}
	case in.Exit == 0 && out.Report.Error == "":
		return ParsedToolOutput{State: nexus.Pass}
	default:
		r := unstartedLintReport(in)
		if out.Report.Error != "" {
			r.Why = parserbase.ClipMessage(parserbase.PlainText(out.Report.Error))
		}
		return r
	}
}

func clampNumber(n int) int { return min(max(n, 0), 1<<30) }

// unstartedLintReport returns the report of a linter that failed before it linted.
func unstartedLintReport(in ToolOutput) ParsedToolOutput {
	t := readGoCommandText(in, append(parserbase.SplitLines(in.Stderr), parserbase.SplitLines(in.Stdout)...), "golangci")
	switch {
	case in.Exit == 0:
		return ParsedToolOutput{State: nexus.Unverifiable, Why: "golangci-lint printed no JSON"}
	case slices.ContainsFunc(t.findings, func(f nexus.Finding) bool { return f.File != "" }) && !t.environment:
		return ParsedToolOutput{State: nexus.Fail, Findings: t.findings}
	case isOtherLintVersion(string(in.Stderr)):
		return ParsedToolOutput{State: nexus.NotRun, Why: "the configuration is for another version of golangci-lint than the one installed"}
	default:
		return ParsedToolOutput{State: nexus.Environmental, Why: parserbase.ClipMessage(in.LastLines()), Findings: t.findings}
	}
}

// isOtherLintVersion reports whether golangci-lint rejected its flags or its configuration because they
// are for another major version: this counts as a missing tool.
func isOtherLintVersion(said string) bool {
	return slices.ContainsFunc([]string{
		"unknown flag: --out-format", "unknown flag: --output.", "unsupported version of the configuration",
		"you are using a configuration file for golangci-lint v",
	}, func(s string) bool { return strings.Contains(said, s) })
}

// GoBuildOutput reads go build.
func GoBuildOutput(in ToolOutput) ParsedToolOutput { return readGoBuild(in, parserbase.CodeCompile) }

// GoplsOutput reads gopls check, which exits with 0 whatever it found.
func GoplsOutput(in ToolOutput) ParsedToolOutput {
	return in.CheckerReport(guessFindings(in, in.AllLines(), false), true)
}

// GoTestJSONMarks is a pattern of text that only go test -json prints.
const GoTestJSONMarks = `(?m)^\{(?:"Time":"[^"]*",)?"Action":"`
