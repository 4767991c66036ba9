package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// jsonTestReport is the common part of JSON test reports: a summary, and a list of tests with their
// results. The Common Test Report Format has them below results.
type jsonTestReport struct {
	Summary map[string]any  `json:"summary"`
	Tests   []jsonTestCase  `json:"tests"`
	Results *jsonTestReport `json:"results"`
}

type jsonTestCase struct {
	Name, Title, FullName, NodeID string
	Status, Outcome, State        string
	Message, Trace, File          string
	FilePath                      string
	Line                          int
	Call                          struct {
		Longrepr string
		Crash    struct {
			Path    string
			Lineno  int
			Message string
		}
	}
}

// ReadJSONTests reads JSON with a summary and a list of tests: the Common Test Report
// Format, and that of pytest-json-report.
func ReadJSONTests(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var run parserbase.ParsedTestRun
	for _, data := range [][]byte{in.Stdout, in.Stderr} {
		for {
			i := bytes.IndexByte(data, '{')
			if i < 0 {
				break
			}
			data = data[i:]
			d := json.NewDecoder(bytes.NewReader(data))
			var v jsonTestReport
			if d.Decode(&v) != nil {
				data = data[1:]
				if j := bytes.IndexByte(data, '\n'); j >= 0 { // each begins a line
					data = data[j:]
					continue
				}
				break
			}
			data = data[d.InputOffset():]
			v.addToRun(in, &run)
		}
	}
	return in.TestRunReport(run)
}

// addToRun adds the tests of a value, if it is a report.
func (v jsonTestReport) addToRun(in parserbase.ToolOutput, run *parserbase.ParsedTestRun) {
	if v.Results != nil {
		v = *v.Results
	}
	if v.Summary == nil {
		return
	}
	run.Counted = true
	for _, key := range []string{"tests", "total"} {
		if n, ok := v.Summary[key].(float64); ok && n > 0 && n < 1<<30 {
			run.Planned += int(n)
			break
		}
	}
	for _, t := range v.Tests {
		name := parserbase.PlainText(cmp.Or(t.NodeID, t.FullName, t.Name, t.Title))
		state := "skip"
		switch strings.ToLower(cmp.Or(t.Outcome, t.Status, t.State)) {
		case "passed", "pass", "ok":
			state = "pass"
			run.Counts.Passed++
		case "failed", "fail", "error", "errored", "broken", "xpassed", "timedout", "interrupted":
			state = "fail"
			run.Counts.Failed++
			if len(run.Findings) < parserbase.Enough {
				run.Findings = append(run.Findings, t.toFinding(in, name))
			}
		default:
			run.Counts.Skipped++
		}
		run.Tests = append(run.Tests, parserbase.TestResult{Name: name, State: state})
	}
}

// toFinding returns the finding of a failed test.
func (t jsonTestCase) toFinding(in parserbase.ToolOutput, name string) nexus.Finding {
	f := nexus.Finding{Code: parserbase.CodeTest, Test: name, Message: strings.TrimSpace(cmp.Or(t.Message, t.Call.Crash.Message, t.Call.Longrepr)), Stack: strings.TrimSpace(t.Trace)}
	f.Message = cmp.Or(f.Message, "failed without a message")
	file, _, _ := strings.Cut(t.NodeID, "::")
	if f.File, f.Line = in.RelativePath(cmp.Or(t.Call.Crash.Path, t.FilePath, t.File, file)), cmp.Or(t.Call.Crash.Lineno, t.Line); f.File == "" {
		f.File, f.Line = in.RelativePath(file), 0
	}
	return f
}
