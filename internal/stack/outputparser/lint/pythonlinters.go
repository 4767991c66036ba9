package lint

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

type ruffFinding struct {
	Filename, Message     string
	Code                  *string
	Location, EndLocation struct{ Row, Column int }
	End                   struct{ Row, Column int } `json:"end_location"`
}

// ReadRuff reads ruff check and ruff format --check, with --output-format=json or
// as text.
func ReadRuff(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var all []ruffFinding
	ok, broken := in.DecodeDocument(&all)
	if !ok {
		return jsonReport(in, parseRuffText(in), broken)
	}
	var found []nexus.Finding
	for _, r := range all {
		f := nexus.Finding{
			File: in.RelativePath(r.Filename), Line: r.Location.Row, Column: r.Location.Column, EndLine: r.End.Row, EndColumn: r.End.Column,
			Severity: nexus.Major, Message: parserbase.PlainText(r.Message),
		}
		if r.Code != nil {
			f.Code = *r.Code
		}
		found = append(found, f)
	}
	return in.CheckerReport(found, true)
}

func parseRuffText(in parserbase.ToolOutput) []nexus.Finding {
	all := in.AllLines()
	d := lintTextFormat{places: []string{`%f:%l:%c: %m`}, code: `^([A-Z]+\d+|invalid-syntax|SyntaxError):?\s+(?:\[\*\]\s+)?`, usual: nexus.Major}
	found := append(d.findings(in, all), arrowFindings(in, all, `^([A-Z]+\d+|invalid-syntax|unformatted)(?: \[\*\])?:? (.*)$`)...)
	for _, l := range all {
		if name, ok := strings.CutPrefix(l, "Would reformat: "); ok {
			found = append(found, nexus.Finding{File: in.RelativePath(name), Severity: nexus.Major, Code: parserbase.CodeFormat, Message: "is not formatted"})
		}
	}
	return found
}

// ReadFlake8 reads flake8 and pycodestyle.
func ReadFlake8(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	return textReport(in, lintTextFormat{places: []string{`%f:%l:%c: %m`, `%f:%l: %m`}, code: `^([A-Z]+\d+)\s+`, usual: nexus.Major})
}

// ReadMypy reads mypy. A note belongs to the error before it.
func ReadMypy(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	d := lintTextFormat{
		places: []string{`%f:%l:%c:%e:%k: %m`, `%f:%l:%c: %m`, `%f:%l: %m`, `%f: %trror: %m`}, code: `\s+\[([a-z][a-z0-9-]*)\]$`,
		clean: `^Success: no issues found|^Found \d+ error`,
	}
	r := textReport(in, d)
	if r.State == nexus.Unverifiable && len(in.AllLines()) == 0 {
		r.State, r.Why = nexus.Pass, "" // --no-error-summary
	}
	return r
}

type pyrightReport struct {
	GeneralDiagnostics []struct {
		File, Severity, Message, Rule string
		Range                         struct {
			Start, End struct{ Line, Character int }
		}
	}
}

// ReadPyright reads pyright and basedpyright, with --outputjson or as text.
func ReadPyright(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var p pyrightReport
	ok, broken := in.DecodeDocument(&p)
	if !ok {
		return parsePyrightText(in, broken)
	}
	var found []nexus.Finding
	for _, d := range p.GeneralDiagnostics {
		found = append(found, nexus.Finding{ // its lines and columns start at 0
			File: in.RelativePath(d.File), Line: d.Range.Start.Line + 1, Column: d.Range.Start.Character + 1, EndLine: d.Range.End.Line + 1,
			EndColumn: d.Range.End.Character + 1, Severity: parseSeverity(d.Severity), Code: d.Rule, Message: parserbase.PlainText(d.Message),
		})
	}
	return in.CheckerReport(found, true)
}

func parsePyrightText(in parserbase.ToolOutput, broken bool) parserbase.ParsedToolOutput {
	d := lintTextFormat{places: []string{`%f:%l:%c - %m`}, code: `\s+\((report\w+)\)$`}
	var joined []string
	for _, l := range in.AllLines() { // a finding continues in lines that are indented further
		l = strings.ReplaceAll(l, "\u00a0", " ")
		if t := strings.TrimSpace(l); strings.HasPrefix(l, "    ") && len(joined) > 0 {
			joined[len(joined)-1] += " " + t
		} else {
			joined = append(joined, t)
		}
	}
	r := in.CheckerReport(d.findings(in, joined), !broken && hasMatchingLine(joined, `^\d+ errors?, \d+ warnings?`))
	return r
}
