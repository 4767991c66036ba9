package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadJavac reads javac, whose column is that of the caret, and kotlinc.
func ReadJavac(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	return in.CheckerReport(JavaFindings(in, in.AllLines()), true)
}

// JavaFindings returns the findings of the JVM compilers, alone and within Maven, Gradle and
// Ant.
func JavaFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	plain := regexp.MustCompile(`^(?:\[javac\]\s*|(?::[\w.-]+)+)?([^\s:].*?\.(?:java|kts?|groovy|scala)):(\d+):(?:(\d+):)? ([^\s:][^:]{0,40}): ?(.*)$`)
	maven := regexp.MustCompile(`^\[(ERROR|WARNING)\] (\S.*?\.(?:java|kt|groovy|scala)):\[(\d+),(\d+)\] (.*)$`)
	kotlin := regexp.MustCompile(`^([ew]): (?:file://)?(\S+?\.kts?):(?: ?\((\d+), (\d+)\):|(\d+):(\d+):?) (.*)$`)
	lintCode := regexp.MustCompile(`^\[([\w-]+)\] `)
	var found []nexus.Finding
	for i, l := range all {
		l = l[:min(len(l), longest)]
		var f nexus.Finding
		if m := plain.FindStringSubmatch(l); m != nil && wordSeverity(m[4]) != "" {
			f = nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: cmp.Or(parserbase.ParseNumber(m[3]), caretColumn(all[i+1:])), Severity: wordSeverity(m[4]), Message: m[5]}
		} else if m := maven.FindStringSubmatch(l); m != nil {
			f = nexus.Finding{File: in.RelativePath(m[2]), Line: parserbase.ParseNumber(m[3]), Column: parserbase.ParseNumber(m[4]), Severity: parseSeverity(m[1]), Message: strings.TrimPrefix(m[5], "error: ")}
		} else if m := kotlin.FindStringSubmatch(l); m != nil {
			f = nexus.Finding{File: in.RelativePath(m[2]), Line: parserbase.ParseNumber(m[3] + m[5]), Column: parserbase.ParseNumber(m[4] + m[6]), Severity: letterSeverity(rune(m[1][0])), Message: m[7]}
		} else {
			continue
		}
		if m := lintCode.FindStringSubmatch(f.Message); m != nil {
			f.Code, f.Message = m[1], f.Message[len(m[0]):]
		}
		found = append(found, f)
	}
	return found
}

// caretColumn returns the column of a caret in the lines below, 0 if there is none.
func caretColumn(next []string) int {
	for i, l := range next {
		if i > 6 {
			break
		}
		if strings.TrimSpace(l) == "^" {
			return strings.IndexByte(l, '^') + 1
		}
	}
	return 0
}

// ReadMaven reads the findings of the compiler and of checkstyle within Maven; Gradle's lines
// differ only in their frame.
func ReadMaven(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := in.AllLines()
	found := slices.Concat(JavaFindings(in, all), parseCheckstyleText(in, all), spotlessFindings(in, all), classFindings(in, all))
	if _, ok := parserbase.MachineFaultFinding(all); !ok && in.Exit != 0 && len(found) == 0 {
		found = append(MavenGoalErrors(in, all), GradleProblemFindings(in, all)...)
	}
	return in.CheckerReport(found, hasMatchingLine(all, `BUILD SUCCESS(?:FUL)?`) || len(all) == 0)
}

func parseCheckstyleText(in parserbase.ToolOutput, all []string) []nexus.Finding {
	row := regexp.MustCompile(`^\[(ERROR|WARN|WARNING|INFO)\] (\S.*?):(\d+)(?::(\d+))?: (.*?)\s+\[([\w.]+)\]$`)
	var found []nexus.Finding
	for _, l := range all {
		if m := row.FindStringSubmatch(l[:min(len(l), longest)]); m != nil {
			found = append(found, nexus.Finding{File: in.RelativePath(m[2]), Line: parserbase.ParseNumber(m[3]), Column: parserbase.ParseNumber(m[4]), Severity: parseSeverity(m[1]), Code: m[6], Message: m[5]})
		}
	}
	return found
}

// ReadCheckstyleText reads the output of checkstyle without -f xml.
func ReadCheckstyleText(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := in.AllLines()
	return in.CheckerReport(parseCheckstyleText(in, all), hasMatchingLine(all, `^Audit done\.`))
}

// ReadMSBuild reads dotnet build and msbuild.
func ReadMSBuild(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := in.AllLines()
	return in.CheckerReport(MSBuildFindings(in, all), hasMatchingLine(all, strings.Join(BuildSucceededTexts(), "|")+`|\d+ Error\(s\)`) || len(all) == 0)
}

// MSBuildFindings returns the findings of the .NET compilers. It prints each of them twice,
// with the project.
func MSBuildFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	row := regexp.MustCompile(`^\s*(?:\d+>)?(\S.*?)\((\d+)(?:,(\d+))?(?:,(\d+),(\d+))?\)\s*: (error|warning) (\w+): (.*?)(?: \[\S+proj(?:::\S+)?\])?$`)
	bare := regexp.MustCompile(`^\s*(?:\d+>)?(\S+)\s*: (error|warning) ([A-Z]+\d+): (.*?)(?: \[\S+proj\])?$`)
	var found []nexus.Finding
	for _, l := range all {
		l = l[:min(len(l), longest)]
		if m := row.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{
				File: in.RelativePath(strings.ReplaceAll(m[1], `\`, "/")), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), EndLine: parserbase.ParseNumber(m[4]),
				EndColumn: parserbase.ParseNumber(m[5]), Severity: parseSeverity(m[6]), Code: m[7], Message: m[8],
			})
		} else if m := bare.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{File: in.RelativePath(m[1]), Severity: parseSeverity(m[2]), Code: m[3], Message: m[4]})
		}
	}
	return found
}

type rubocopReport struct {
	Files []struct {
		Path     string
		Offenses []struct {
			Severity, Message string
			CopName           string `json:"cop_name"`
			Location          struct {
				StartLine   int `json:"start_line"`
				StartColumn int `json:"start_column"`
				LastLine    int `json:"last_line"`
				LastColumn  int `json:"last_column"`
			}
		}
	}
}

// ReadRuboCop reads rubocop, with -f json, emacs, or its default output.
func ReadRuboCop(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var r rubocopReport
	ok, broken := in.DecodeDocument(&r)
	var found []nexus.Finding
	if !ok {
		row := regexp.MustCompile(`^(\S.*?):(\d+):(\d+): ([CRWEFI]): (?:\[\w+\] )?(?:([A-Z]\w+(?:/\w+)+): )?(.*)$`)
		for _, l := range in.AllLines() {
			if m := row.FindStringSubmatch(l[:min(len(l), longest)]); m != nil {
				found = append(found, nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Severity: letterSeverity(rune(m[4][0])), Code: m[5], Message: m[6]})
			}
		}
		return jsonReport(in, found, broken)
	}
	for _, file := range r.Files {
		for _, o := range file.Offenses {
			found = append(found, nexus.Finding{
				File: in.RelativePath(file.Path), Line: o.Location.StartLine, Column: o.Location.StartColumn, EndLine: o.Location.LastLine,
				EndColumn: o.Location.LastColumn, Severity: parseSeverity(o.Severity), Code: o.CopName, Message: parserbase.PlainText(o.Message),
			})
		}
	}
	return in.CheckerReport(found, true)
}

// ReadRuby reads ruby -c.
func ReadRuby(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	return textReport(in, lintTextFormat{places: []string{`%f:%l: %m`}, usual: nexus.Major})
}

type phpstanReport struct {
	Files  json.RawMessage // an object, and an empty list if there is none
	Errors []string
}

type phpstanFile struct {
	Messages []struct {
		Message    string
		Line       *int
		Identifier string
	}
}

// ReadPHPStan reads phpstan analyse, with --error-format=json, raw, or as a table.
func ReadPHPStan(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var p phpstanReport
	ok, broken := in.DecodeDocument(&p)
	if !ok {
		all := in.AllLines()
		d := lintTextFormat{places: []string{`%f:%l:%m`}, usual: nexus.Major}
		found := append(phpstanTable(in, all), d.findings(in, all)...)
		return jsonReport(in, found, broken)
	}
	var found []nexus.Finding
	var files map[string]phpstanFile
	if json.Unmarshal(p.Files, &files) != nil && string(p.Files) != "[]" {
		return jsonReport(in, nil, true)
	}
	for name, file := range files {
		for _, m := range file.Messages {
			f := nexus.Finding{File: in.RelativePath(name), Severity: nexus.Major, Code: m.Identifier, Message: parserbase.PlainText(m.Message)}
			if m.Line != nil {
				f.Line = *m.Line
			}
			found = append(found, f)
		}
	}
	for _, e := range p.Errors {
		found = append(found, nexus.Finding{Severity: nexus.Major, Message: parserbase.PlainText(e)})
	}
	return in.CheckerReport(found, true)
}

func phpstanTable(in parserbase.ToolOutput, all []string) []nexus.Finding {
	head := regexp.MustCompile(`^ {2}Line {2,}(\S.*)$`)
	row := regexp.MustCompile(`^ {2,3}(\d+) {2,}(\S.*)$`)
	code := regexp.MustCompile(`^ {9}\S+ +([a-z]\w*(?:\.\w+)+)$`)
	var found []nexus.Finding
	file := ""
	for _, l := range all {
		l = strings.TrimRight(l[:min(len(l), longest)], " ")
		h, r, c := head.FindStringSubmatch(l), row.FindStringSubmatch(l), code.FindStringSubmatch(l)
		more, indented := strings.CutPrefix(l, "         ")
		switch {
		case h != nil:
			file = h[1]
		case r != nil && file != "":
			found = append(found, nexus.Finding{File: in.RelativePath(file), Line: parserbase.ParseNumber(r[1]), Severity: nexus.Major, Message: r[2]})
		case c != nil && len(found) > 0:
			found[len(found)-1].Code = c[1]
		case indented && len(found) > 0 && file != "":
			found[len(found)-1].Message += " " + strings.TrimSpace(more)
		case !strings.HasPrefix(l, " ---"):
			file = ""
		}
	}
	return found
}

// ReadPHP reads php -l.
func ReadPHP(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	return in.CheckerReport(PHPFindings(in), true)
}

// PHPFindings returns the errors of PHP itself.
func PHPFindings(in parserbase.ToolOutput) []nexus.Finding {
	row := regexp.MustCompile(`^(?:PHP )?(Parse error|Fatal error|Warning|Deprecated):\s+(.*) in (\S.*?) on line (\d+)$`)
	var found []nexus.Finding
	for _, l := range in.AllLines() {
		if m := row.FindStringSubmatch(l[:min(len(l), longest)]); m != nil {
			s := nexus.Minor
			if strings.HasSuffix(m[1], "error") {
				s = nexus.Major
			}
			found = append(found, nexus.Finding{File: in.RelativePath(m[3]), Line: parserbase.ParseNumber(m[4]), Severity: s, Code: strings.ToLower(strings.ReplaceAll(m[1], " ", "-")), Message: m[2]})
		}
	}
	return found
}

type shellcheckComment struct {
	File, Level, Message             string
	Line, EndLine, Column, EndColumn int
	Code                             int
}

// ReadShellCheck reads shellcheck, with -f json, json1, gcc, or its default output.
func ReadShellCheck(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var one struct{ Comments []shellcheckComment }
	var list []shellcheckComment
	ok, broken := in.DecodeDocument(&one)
	if !ok {
		ok, _ = in.DecodeDocument(&list)
	}
	if !ok {
		d := lintTextFormat{places: []string{`%f:%l:%c: %m`}, code: `\s+\[(SC\d+)\]$`}
		return jsonReport(in, append(d.findings(in, in.AllLines()), shellcheckText(in)...), broken)
	}
	var found []nexus.Finding
	for _, c := range append(one.Comments, list...) {
		found = append(found, nexus.Finding{
			File: in.RelativePath(c.File), Line: c.Line, Column: c.Column, EndLine: c.EndLine, EndColumn: c.EndColumn,
			Severity: parseSeverity(c.Level), Code: fmt.Sprintf("SC%d", c.Code), Message: parserbase.PlainText(c.Message),
		})
	}
	return in.CheckerReport(found, true)
}

func shellcheckText(in parserbase.ToolOutput) []nexus.Finding {
	head := regexp.MustCompile(`^In (\S.*) line (\d+):$`)
	row := regexp.MustCompile(`^(\s*)(?:\^-+\^?|\^)-* (SC\d+) \((\w+)\): (.*)$`)
	var found []nexus.Finding
	file, line := "", 0
	for _, l := range in.AllLines() {
		l = l[:min(len(l), longest)]
		if m := head.FindStringSubmatch(l); m != nil {
			file, line = m[1], parserbase.ParseNumber(m[2])
		} else if m := row.FindStringSubmatch(l); m != nil && file != "" {
			found = append(found, nexus.Finding{File: in.RelativePath(file), Line: line, Column: len(m[1]) + 1, Severity: parseSeverity(m[3]), Code: m[2], Message: m[4]})
		}
	}
	return found
}
