// Package lint reads the output of compilers, type checkers, linters and formatters: JSON if
// they have it, and text.
package lint

import (
	"regexp"
	"strings"

	"github.com/reviewdog/errorformat"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// lintTextFormat is the text form of a tool's findings.
type lintTextFormat struct {
	places []string // errorformat patterns; the first that fits counts
	code   string   // pattern in the message whose group is the code
	clean  string   // pattern of a line that reports success; empty: the tool then prints nothing
	usual  nexus.Severity
}

// longest is the number of bytes of a line that are read.
const longest = 4 << 10

// findings returns the findings in lines.
func (d lintTextFormat) findings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	formats, err := errorformat.NewErrorformat(d.places)
	if err != nil {
		return nil // the patterns are constants, and tested
	}
	var text strings.Builder
	for _, l := range all {
		text.WriteString(l[:min(len(l), longest)])
		text.WriteByte('\n')
	}
	split := newMessageSplitter(d.code)
	var found []nexus.Finding
	s := formats.NewScanner(strings.NewReader(text.String()))
	for s.Scan() {
		e := s.Entry()
		if !e.Valid || e.Lnum <= 0 && e.Filename == "" {
			continue
		}
		if len(found) == parserbase.Enough {
			break
		}
		f := nexus.Finding{File: in.RelativePath(e.Filename), Line: e.Lnum, Column: e.Col, EndLine: e.EndLnum, EndColumn: e.EndCol, Message: e.Text}
		f.Severity = letterSeverity(e.Type)
		split.splitMessage(&f)
		if f.Severity == "" {
			f.Severity = d.usual
		}
		if f.File == "" && len(e.Lines) > 0 {
			f.Line, f.Column, f.EndLine, f.EndColumn, f.Message = 0, 0, 0, 0, e.Lines[0] // it is not in the tree
		}
		if f.Message != "" {
			found = append(found, f)
		}
	}
	return found
}

// lintMessageSplitter extracts severity and code from messages.
type lintMessageSplitter struct {
	severity, code *regexp.Regexp
}

func newMessageSplitter(code string) lintMessageSplitter {
	s := lintMessageSplitter{severity: regexp.MustCompile(`^(?i)\s*(fatal error|fatal|error|warning|warn|note|information|info|hint|remark|style|refactor|convention|performance|portability|help)\b(?:\s*:\s*|\s+)`)}
	if code != "" {
		s.code = regexp.MustCompile(code)
	}
	return s
}

func (s lintMessageSplitter) splitMessage(f *nexus.Finding) {
	if m := s.severity.FindStringSubmatchIndex(f.Message); m != nil {
		f.Severity = parseSeverity(f.Message[m[2]:m[3]])
		f.Message = f.Message[m[1]:]
	}
	if s.code != nil {
		if m := s.code.FindStringSubmatchIndex(f.Message); m != nil && m[2] >= 0 {
			f.Code = f.Message[m[2]:m[3]]
			f.Message = strings.TrimSpace(f.Message[:m[0]] + f.Message[m[1]:])
		}
	}
	f.Message = strings.TrimSpace(f.Message)
}

// parseSeverity translates the words of tools.
func parseSeverity(word string) nexus.Severity {
	switch strings.ToLower(word) {
	case "fatal", "fatal error", "error", "critical", "blocker", "failure", "2":
		return nexus.Major
	case "warning", "warn", "1", "minor", "major":
		return nexus.Minor
	case "":
		return ""
	default:
		return nexus.Suggestion
	}
}

func letterSeverity(r rune) nexus.Severity {
	switch r {
	case 'E', 'e', 'F', 'f':
		return nexus.Major
	case 'W', 'w':
		return nexus.Minor
	case 'N', 'n', 'I', 'i', 'C', 'c', 'R', 'r':
		return nexus.Suggestion
	default:
		return ""
	}
}

// textReport returns the report of a tool that has only text.
func textReport(in parserbase.ToolOutput, d lintTextFormat) parserbase.ParsedToolOutput {
	all := in.AllLines()
	found := d.findings(in, all)
	return in.CheckerReport(found, d.clean == "" || hasMatchingLine(all, d.clean))
}

// hasMatchingLine reports whether a line matches the pattern.
func hasMatchingLine(all []string, pattern string) bool {
	re := regexp.MustCompile(pattern)
	for _, l := range all {
		if re.MatchString(l[:min(len(l), longest)]) {
			return true
		}
	}
	return false
}
