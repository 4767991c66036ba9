// Package report reads machine-readable formats: JUnit, TAP, SARIF, Checkstyle, and coverage as
// LCOV, Cobertura or the profile of go test.
package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// firstDocument returns a decoder that begins at the first element of the output, standard output
// first; nil if there is none.
func firstDocument(in parserbase.ToolOutput) *xml.Decoder {
	for _, data := range [][]byte{in.Stdout, in.Stderr} {
		for at := 0; at < len(data); at++ {
			i := bytes.IndexByte(data[at:], '<')
			if i < 0 {
				break
			}
			at += i
			if at+1 < len(data) && (data[at+1] == '?' || data[at+1] >= 'a' && data[at+1] <= 'z') {
				d := xml.NewDecoder(bytes.NewReader(data[at:]))
				d.Strict = false
				d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
				return d
			}
		}
	}
	return nil
}

// xmlTokens yields the XML tokens of reports that begin with one of the elements, standard output
// first, each as far as it can be parsed. The output before, between and after them may look
// like XML, too.
func xmlTokens(in parserbase.ToolOutput, elements string) iter.Seq[xml.Token] {
	begin := regexp.MustCompile(`<(?:` + elements + `)[\s/>]`)
	return func(yield func(xml.Token) bool) {
		for _, data := range [][]byte{in.Stdout, in.Stderr} {
			for at := begin.FindIndex(data); at != nil; at = begin.FindIndex(data) {
				data = data[at[0]:]
				n, more := readElement(data, yield)
				if !more {
					return
				}
				data = data[max(n, 1):]
			}
		}
	}
}

// readElement yields the tokens of one element at the beginning of a text, and returns the
// position of its end, or of the first broken part.
func readElement(data []byte, yield func(xml.Token) bool) (n int64, more bool) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return d.InputOffset(), true
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		if !yield(t) {
			return d.InputOffset(), false
		}
		if depth == 0 {
			return d.InputOffset(), true
		}
	}
}

func xmlAttribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return parserbase.PlainText(a.Value)
		}
	}
	return ""
}

func countAttribute(e xml.StartElement, name string) int {
	return parserbase.ParseNumber(xmlAttribute(e, name))
}

// parseSeverity translates the words of these formats.
func parseSeverity(word string) nexus.Severity {
	switch strings.ToLower(word) {
	case "error", "fatal", "critical", "blocker", "":
		return nexus.Major
	case "warning", "major":
		return nexus.Minor
	default:
		return nexus.Suggestion
	}
}

// ReadCheckstyle reads its XML, which many linters can write.
func ReadCheckstyle(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	d := firstDocument(in)
	if d == nil {
		return in.CheckerReport(nil, false)
	}
	var found []nexus.Finding
	file, root, whole := "", false, false
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "checkstyle":
				root = true
			case "file":
				file = xmlAttribute(e, "name")
			case "error":
				found = append(found, nexus.Finding{
					File: in.RelativePath(file), Line: countAttribute(e, "line"), Column: countAttribute(e, "column"), Severity: parseSeverity(xmlAttribute(e, "severity")),
					Code: xmlAttribute(e, "source")[strings.LastIndexByte(xmlAttribute(e, "source"), '.')+1:], Message: xmlAttribute(e, "message"),
				})
			}
		case xml.EndElement:
			whole = whole || e.Name.Local == "checkstyle"
		}
		if len(found) >= parserbase.Enough {
			break
		}
	}
	return in.CheckerReport(found, root && whole)
}

type sarifLog struct {
	Runs []struct {
		Results []struct {
			RuleID       string `json:"ruleId"`
			Rule         struct{ ID string }
			Level, Kind  string
			Message      struct{ Text string }
			Suppressions []struct{ Status string }
			Locations    []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
					Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
				}
			}
		}
	}
}

// ReadSARIF reads the results of all runs. A suppressed result is no finding.
func ReadSARIF(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var s sarifLog
	ok, broken := in.DecodeDocument(&s)
	if !ok || s.Runs == nil {
		r := in.CheckerReport(nil, false)
		if broken && r.State == nexus.Unverifiable {
			r.Why = "its JSON is incomplete"
		}
		return r
	}
	var found []nexus.Finding
	for _, run := range s.Runs {
		for _, x := range run.Results {
			if len(x.Suppressions) > 0 || x.Kind != "" && x.Kind != "fail" && x.Kind != "open" && x.Kind != "review" {
				continue
			}
			f := nexus.Finding{Severity: nexus.Minor, Code: parserbase.PlainText(x.RuleID + x.Rule.ID), Message: parserbase.PlainText(x.Message.Text)}
			if x.RuleID != "" {
				f.Code = parserbase.PlainText(x.RuleID)
			}
			if x.Level != "" {
				f.Severity = parseSeverity(x.Level)
			}
			if len(x.Locations) > 0 {
				p := x.Locations[0].PhysicalLocation
				f.File, f.Line, f.Column, f.EndLine, f.EndColumn = in.RelativePath(unescapeURI(p.ArtifactLocation.URI)), p.Region.StartLine, p.Region.StartColumn, p.Region.EndLine, p.Region.EndColumn
			}
			found = append(found, f)
		}
	}
	return in.CheckerReport(found, true)
}

// unescapeURI decodes percent signs in the address of a file.
func unescapeURI(uri string) string {
	var b strings.Builder
	for i := 0; i < len(uri); i++ {
		if uri[i] == '%' && i+2 < len(uri) {
			if c, err := strconv.ParseUint(uri[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(uri[i])
	}
	return parserbase.PlainText(b.String())
}
