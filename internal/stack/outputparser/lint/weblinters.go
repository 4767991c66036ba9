package lint

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadTsc reads the TypeScript compiler, with and without --pretty.
func ReadTsc(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	d := lintTextFormat{places: []string{`%f(%l\,%c): %m`, `%f:%l:%c - %m`}, code: `^(TS\d+):\s*`}
	all := in.AllLines()
	found := d.findings(in, all)
	global := regexp.MustCompile(`^error (TS\d+): (.*)`)
	for _, l := range all { // errors in its configuration have no position
		if m := global.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{Severity: nexus.Major, Code: m[1], Message: m[2]})
		}
	}
	if in.Exit > 0 && len(found) == 0 && hasMatchingLine(all, `^tsc: The TypeScript Compiler|^Version \d+\.\d`) { // it prints its usage
		f := nexus.Finding{Code: parserbase.CodeEnvironment, Message: "tsc has no project here, and the command names no file", Advice: "Make a tsconfig.json, or name one with -p."}
		return parserbase.ParsedToolOutput{State: nexus.Environmental, Why: f.Message, Findings: []nexus.Finding{f}}
	}
	return in.CheckerReport(found, true)
}

type eslintFile struct {
	FilePath string `json:"filePath"`
	Messages []struct {
		RuleID                           string `json:"ruleId"`
		Severity                         int    `json:"severity"`
		Message                          string `json:"message"`
		Line, Column, EndLine, EndColumn int
	} `json:"messages"`
}

// ReadESLint reads eslint, with -f json or as text.
func ReadESLint(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var files []eslintFile
	ok, broken := in.DecodeDocument(&files)
	if !ok {
		found := stylishFindings(in, in.AllLines())
		d := lintTextFormat{places: []string{`%f:%l:%c: %m`}, code: `\s*\[(?:Error|Warning)/([^\]]+)\]$`}
		found = append(found, d.findings(in, in.AllLines())...)
		return jsonReport(in, found, broken)
	}
	var found []nexus.Finding
	for _, file := range files {
		for _, m := range file.Messages {
			found = append(found, nexus.Finding{
				File: in.RelativePath(file.FilePath), Line: m.Line, Column: m.Column, EndLine: m.EndLine, EndColumn: m.EndColumn,
				Severity: parseSeverity(fmt.Sprint(m.Severity)), Code: m.RuleID, Message: parserbase.PlainText(m.Message),
			})
		}
	}
	return in.CheckerReport(found, true)
}

// jsonReport returns the report of a tool whose JSON may be truncated: then it has not passed.
func jsonReport(in parserbase.ToolOutput, found []nexus.Finding, broken bool) parserbase.ParsedToolOutput {
	r := in.CheckerReport(found, !broken)
	if broken && r.State == nexus.Unverifiable {
		r.Why = "its JSON is incomplete"
	}
	return r
}

// stylishFindings reads the default format of eslint: the name of a file, and its findings below.
func stylishFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	row := regexp.MustCompile(`^\s+(\d+):(\d+)\s+(error|warning)\s+(.*?)(?:\s{2,}(\S+))?$`)
	var found []nexus.Finding
	file := ""
	for _, l := range all {
		l = l[:min(len(l), longest)]
		switch m := row.FindStringSubmatch(l); {
		case m != nil:
			f := nexus.Finding{File: in.RelativePath(file), Line: parserbase.ParseNumber(m[1]), Column: parserbase.ParseNumber(m[2]), Severity: parseSeverity(m[3]), Message: m[4], Code: m[5]}
			if f.File == "" {
				f.Line, f.Column, f.Message = 0, 0, strings.TrimSpace(file+": "+f.Message)
			}
			found = append(found, f)
		case l != "" && l[0] != ' ' && l[0] != '\t':
			file = l
		}
	}
	return found
}

type biomeReport struct {
	Diagnostics []struct {
		Severity, Message, Category string
		Location                    struct {
			Path       any
			Start, End struct{ Line, Column int }
		}
	}
}

// ReadBiome reads biome lint, format, check and ci, with --reporter=json or as
// text.
func ReadBiome(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var b biomeReport
	ok, broken := in.DecodeDocument(&b)
	if !ok {
		return jsonReport(in, parseBiomeText(in), broken)
	}
	var found []nexus.Finding
	for _, d := range b.Diagnostics {
		p := d.Location.Path
		if o, is := p.(map[string]any); is {
			p = o["file"]
		}
		name, _ := p.(string)
		found = append(found, nexus.Finding{
			File: in.RelativePath(name), Line: d.Location.Start.Line, Column: d.Location.Start.Column, EndLine: d.Location.End.Line,
			EndColumn: d.Location.End.Column, Severity: parseSeverity(d.Severity), Code: d.Category, Message: parserbase.PlainText(d.Message),
		})
	}
	return in.CheckerReport(found, true)
}

func parseBiomeText(in parserbase.ToolOutput) []nexus.Finding {
	head := regexp.MustCompile(`^(\S.*?)(?::(\d+):(\d+))? ((?:lint|assist|parse|suppressions|syntax|configuration)\S*|format|organizeImports)(?: .*)?\x{2501}{3,}$`)
	said := regexp.MustCompile(`^  ([\x{00d7}!i\x{2139}]) (.*)$`)
	var found []nexus.Finding
	open := false
	for _, l := range in.AllLines() {
		l = l[:min(len(l), longest)]
		if m := head.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Code: m[4], Severity: nexus.Major})
			open = true
			continue
		}
		if m := said.FindStringSubmatch(l); m != nil && open {
			f := &found[len(found)-1]
			f.Message, open = m[2], false
			switch m[1] {
			case "!":
				f.Severity = nexus.Minor
			case "i", "\u2139":
				f.Severity = nexus.Suggestion
			}
		}
	}
	return found
}

// ReadPrettier reads prettier --check and --list-different.
func ReadPrettier(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	place := regexp.MustCompile(`^\[error\] ([^:]+): (\w*Error): (.*?)(?: \((\d+):(\d+)\))?$`)
	bare := regexp.MustCompile(`^[\w@./-]+\.\w+$`)
	var found []nexus.Finding
	for _, l := range in.AllLines() {
		l = l[:min(len(l), longest)]
		name, warned := strings.CutPrefix(l, "[warn] ")
		switch m := place.FindStringSubmatch(l); {
		case m != nil:
			found = append(found, nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[4]), Column: parserbase.ParseNumber(m[5]), Severity: nexus.Major, Code: m[2], Message: m[3]})
		case warned && !strings.Contains(name, "Code style issues") && !strings.HasPrefix(name, "Ignored unknown option"), in.Exit != 0 && bare.MatchString(l):
			found = append(found, nexus.Finding{File: in.RelativePath(name), Severity: nexus.Major, Code: parserbase.CodeFormat, Message: "is not formatted"})
		}
	}
	return in.CheckerReport(found, true)
}

// ReadEsbuild reads esbuild: the message, and its position below. The positions of notes belong to
// the finding before them.
func ReadEsbuild(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	head := regexp.MustCompile(`^(?:\S+ )?\[(ERROR|WARNING)\] (.*?)(?: \[([\w-]+)\])?$`)
	place := regexp.MustCompile(`^ {4}(\S.*?):(\d+):(\d+):$`)
	var found []nexus.Finding
	open := false
	for _, l := range in.AllLines() {
		l = l[:min(len(l), longest)]
		if m := head.FindStringSubmatch(l); m != nil {
			found, open = append(found, nexus.Finding{Severity: parseSeverity(m[1]), Message: m[2], Code: m[3]}), true
		} else if m := place.FindStringSubmatch(l); m != nil && open {
			f := &found[len(found)-1]
			f.File, f.Line, f.Column, open = in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3]), false
		}
		if len(found) == parserbase.Enough {
			break
		}
	}
	if gone, ok := parserbase.MissingFileFinding(in, in.AllLines()); ok && in.Exit > 0 && len(found) == 1 && found[0].File == "" {
		return parserbase.ParsedToolOutput{State: nexus.Environmental, Why: gone.Message, Findings: []nexus.Finding{gone}}
	}
	return in.CheckerReport(found, true)
}
