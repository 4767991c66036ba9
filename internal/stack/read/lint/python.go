package lint

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

type ruffFinding struct {
	Filename, Message     string
	Code                  *string
	Location, EndLocation struct{ Row, Column int }
	End                   struct{ Row, Column int } `json:"end_location"`
}

// Ruff reads ruff check and ruff format --check, with --output-format=json or
// as text.
func Ruff(in raw.Input) raw.Report {
	var all []ruffFinding
	ok, broken := in.Document(&all)
	if !ok {
		return whole(in, ruffText(in), broken)
	}
	var found []nexus.Finding
	for _, r := range all {
		f := nexus.Finding{
			File: in.Place(r.Filename), Line: r.Location.Row, Column: r.Location.Column, EndLine: r.End.Row, EndColumn: r.End.Column,
			Severity: nexus.Major, Message: raw.Plain(r.Message),
		}
		if r.Code != nil {
			f.Code = *r.Code
		}
		found = append(found, f)
	}
	return in.Check(found, true)
}

func ruffText(in raw.Input) []nexus.Finding {
	all := in.Text()
	d := dialect{places: []string{`%f:%l:%c: %m`}, code: `^([A-Z]+\d+|invalid-syntax|SyntaxError):?\s+(?:\[\*\]\s+)?`, usual: nexus.Major}
	found := append(d.read(in, all), arrows(in, all, `^([A-Z]+\d+|invalid-syntax|unformatted)(?: \[\*\])?:? (.*)$`)...)
	for _, l := range all {
		if name, ok := strings.CutPrefix(l, "Would reformat: "); ok {
			found = append(found, nexus.Finding{File: in.Place(name), Severity: nexus.Major, Code: raw.CodeFormat, Message: "is not formatted"})
		}
	}
	return found
}

// Flake8 reads flake8 and pycodestyle.
func Flake8(in raw.Input) raw.Report {
	return text(in, dialect{places: []string{`%f:%l:%c: %m`, `%f:%l: %m`}, code: `^([A-Z]+\d+)\s+`, usual: nexus.Major})
}

// Mypy reads mypy. A note belongs to the error before it.
func Mypy(in raw.Input) raw.Report {
	d := dialect{
		places: []string{`%f:%l:%c:%e:%k: %m`, `%f:%l:%c: %m`, `%f:%l: %m`, `%f: %trror: %m`}, code: `\s+\[([a-z][a-z0-9-]*)\]$`,
		clean: `^Success: no issues found|^Found \d+ error`,
	}
	r := text(in, d)
	if r.State == nexus.Unverifiable && len(in.Text()) == 0 {
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

// Pyright reads pyright and basedpyright, with --outputjson or as text.
func Pyright(in raw.Input) raw.Report {
	var p pyrightReport
	ok, broken := in.Document(&p)
	if !ok {
		return pyrightText(in, broken)
	}
	var found []nexus.Finding
	for _, d := range p.GeneralDiagnostics {
		found = append(found, nexus.Finding{ // its lines and columns start at 0
			File: in.Place(d.File), Line: d.Range.Start.Line + 1, Column: d.Range.Start.Character + 1, EndLine: d.Range.End.Line + 1,
			EndColumn: d.Range.End.Character + 1, Severity: severity(d.Severity), Code: d.Rule, Message: raw.Plain(d.Message),
		})
	}
	return in.Check(found, true)
}

func pyrightText(in raw.Input, broken bool) raw.Report {
	d := dialect{places: []string{`%f:%l:%c - %m`}, code: `\s+\((report\w+)\)$`}
	var joined []string
	for _, l := range in.Text() { // a finding continues in lines that are indented further
		l = strings.ReplaceAll(l, "\u00a0", " ")
		if t := strings.TrimSpace(l); strings.HasPrefix(l, "    ") && len(joined) > 0 {
			joined[len(joined)-1] += " " + t
		} else {
			joined = append(joined, t)
		}
	}
	r := in.Check(d.read(in, joined), !broken && said(joined, `^\d+ errors?, \d+ warnings?`))
	return r
}
