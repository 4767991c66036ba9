package verdict

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string          `xml:"name,attr"`
	Tests    int             `xml:"tests,attr"`
	Failures int             `xml:"failures,attr"`
	Errors   int             `xml:"errors,attr"`
	Skipped  int             `xml:"skipped,attr"`
	Time     string          `xml:"time,attr"`
	Cases    []junitTestCase `xml:"testcase"`
}

type junitTestCase struct {
	Class   string              `xml:"classname,attr"`
	Name    string              `xml:"name,attr"`
	File    string              `xml:"file,attr,omitempty"`
	Line    int                 `xml:"line,attr,omitempty"`
	Time    string              `xml:"time,attr,omitempty"`
	Failure *junitFailureReason `xml:"failure"`
	Error   *junitFailureReason `xml:"error"`
	Skipped *junitFailureReason `xml:"skipped"`
}

type junitFailureReason struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// FormatJUnit writes a verdict as JUnit XML: a suite for each gate, with a case for the gate itself and
// one for each finding.
func FormatJUnit(v TreeVerdict) (string, error) {
	all := junitSuites{Name: "nexus check"}
	total := 0.0
	for i, e := range v.Gates {
		s := junitSuite{Name: e.Gate, Time: fmt.Sprintf("%.3f", e.Duration.Seconds())}
		total += e.Duration.Seconds()
		whole := junitTestCase{Class: e.Gate, Name: cmp.Or(e.Command, e.Gate), Time: s.Time}
		switch e.State {
		case nexus.Pass:
		case nexus.Unverifiable, nexus.Environmental:
			why := &junitFailureReason{Message: strings.TrimSuffix(string(e.State)+": "+e.Why, ": "), Type: string(e.State)}
			if whole.Error = why; v.isInformational(i) {
				whole.Error, whole.Skipped = nil, why
			}
		case nexus.Fail, nexus.Timeout, nexus.Exceeded:
			if len(e.Findings) == 0 {
				whole.Failure = &junitFailureReason{Message: strings.TrimSuffix(string(e.State)+": "+e.Why, ": "), Type: string(e.State)}
			}
		case nexus.NotRun:
			whole.Skipped = &junitFailureReason{Message: e.Why}
		default:
			whole.Error = &junitFailureReason{Message: strings.TrimSuffix(string(e.State)+": "+e.Why, ": "), Type: string(e.State)}
		}
		s.add(whole)
		for _, f := range e.Findings {
			first, _, _ := strings.Cut(f.Message, "\n")
			c := junitTestCase{Class: e.Gate, Name: strings.TrimSpace(findingLocation(f) + " " + f.Test + f.Code), File: f.File, Line: f.Line}
			if f.Test != "" {
				c.Name = f.Test
			}
			if r := (&junitFailureReason{Message: first, Type: f.Code, Text: strings.TrimSpace(strings.TrimSpace(findingLocation(f)+"\n"+f.Message) + "\n" + f.Stack)}); severityWord(f) == "error" {
				c.Failure = r
			} else if f.Code == flaky.QuarantineCode {
				c.Skipped = &junitFailureReason{Message: f.Advice, Type: f.Code, Text: r.Text}
			}
			s.add(c)
		}
		all.Suites = append(all.Suites, s)
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	for _, name := range v.Off {
		s := junitSuite{Name: name, Time: "0.000"}
		s.add(junitTestCase{Class: name, Name: name, Time: s.Time, Skipped: &junitFailureReason{Message: DisabledText}})
		all.Suites, all.Tests, all.Skipped = append(all.Suites, s), all.Tests+1, all.Skipped+1
	}
	all.Time = fmt.Sprintf("%.3f", total)
	data, err := xml.MarshalIndent(all, "", "  ")
	return xml.Header + string(data) + "\n", err
}

func (s *junitSuite) add(c junitTestCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

type sarifDocument struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Automation  sarifID           `json:"automationDetails"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifID struct {
	ID string `json:"id"`
}

type sarifTool struct {
	Driver struct {
		Name  string    `json:"name"`
		URI   string    `json:"informationUri"`
		Rules []sarifID `json:"rules"`
	} `json:"driver"`
}

type sarifInvocation struct {
	Successful bool   `json:"executionSuccessful"`
	Command    string `json:"commandLine,omitzero"`
	Exit       int    `json:"exitCode"`
}

type sarifResult struct {
	RuleID    string           `json:"ruleId"`
	Level     string           `json:"level"`
	Message   sarifMessageText `json:"message"`
	Locations []sarifLocation  `json:"locations,omitempty"`

	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
}

// sarifSuppression marks a result as known, with the reason why it does not count.
type sarifSuppression struct {
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Why    string `json:"justification"`
}

type sarifMessageText struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitzero"`
	EndLine     int `json:"endLine,omitzero"`
	EndColumn   int `json:"endColumn,omitzero"`
}

// FormatSARIF writes a verdict as SARIF 2.1.0: a run for each gate.
func FormatSARIF(v TreeVerdict) (string, error) {
	out := sarifDocument{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{}}
	for i, e := range v.Gates {
		r := sarifRun{Automation: sarifID{"nexus/" + e.Gate}, Results: []sarifResult{}}
		r.Tool.Driver.Name, r.Tool.Driver.URI, r.Tool.Driver.Rules = "nexus "+e.Gate, "https://github.com/nexus-ai-builder/nexus", []sarifID{}
		r.Invocations = []sarifInvocation{{Successful: e.State == nexus.Pass || e.State == nexus.Fail || v.isInformational(i), Command: e.Command, Exit: e.Exit}}
		seen := map[string]bool{}
		for _, f := range e.Findings {
			rule := f.Code
			if rule == "" {
				rule = e.Gate
			}
			if !seen[rule] {
				seen[rule] = true
				r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, sarifID{rule})
			}
			text := f.Message
			if f.Test != "" {
				text = f.Test + ": " + text
			}
			x := sarifResult{RuleID: rule, Level: severityWord(f), Message: sarifMessageText{text}}
			if f.Code == flaky.QuarantineCode {
				x.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted", Why: f.Advice}}
			}
			if f.File != "" {
				var at sarifLocation
				at.Physical.Artifact.URI = escapePath(f.File)
				if f.Line > 0 {
					at.Physical.Region = &sarifRegion{StartLine: f.Line, StartColumn: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn}
				}
				x.Locations = []sarifLocation{at}
			}
			r.Results = append(r.Results, x)
		}
		out.Runs = append(out.Runs, r)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return string(data) + "\n", err
}

// escapePath turns a path into a URL path.
func escapePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/-._~@+", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
