package outputparser_test

import (
	"fmt"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// TestBoth holds that a report adds what it knows to what was printed, and takes
// nothing bad of it away.
func TestBoth(t *testing.T) {
	said := func(s nexus.GateState, passed, failed int, findings ...nexus.Finding) outputparser.ParsedToolOutput {
		return outputparser.ParsedToolOutput{State: s, Counted: true, Counts: nexus.TestCounts{Passed: passed, Failed: failed}, Findings: findings}
	}
	red := func(test string) nexus.Finding { return nexus.Finding{Code: parserbase.CodeTest, Test: test} }
	compile := nexus.Finding{File: "a.java", Line: 1, Severity: nexus.Major, Message: "no"}
	partly := said(nexus.NotRun, 0, 0)
	partly.Partly = true
	some := said(nexus.Pass, 1, 0)
	some.Partly = true
	for name, tt := range map[string]struct {
		printed, report outputparser.ParsedToolOutput
		want            string
	}{
		"no report":                         {said(nexus.Pass, 2, 0), outputparser.ParsedToolOutput{}, "pass 2/0 0"},
		"nothing printed":                   {outputparser.ParsedToolOutput{State: nexus.Unverifiable}, said(nexus.Pass, 2, 0), "pass 2/0 0"},
		"a report of what did not run":      {said(nexus.NotRun, 0, 0), said(nexus.Pass, 2, 0), "not-run 0/0 0"},
		"a report of more than ran":         {said(nexus.Pass, 2, 0), said(nexus.Pass, 5, 0), "pass 2/0 0"},
		"only skipped ones were printed":    {partly, said(nexus.Pass, 5, 0), "pass 5/0 0"},
		"only some were printed":            {some, said(nexus.Pass, 5, 0), "pass 5/0 0"},
		"a report of skipped ones alone":    {said(nexus.Pass, 2, 0), said(nexus.NotRun, 0, 0), "pass 2/0 0"},
		"red in the report alone":           {said(nexus.Pass, 2, 0), said(nexus.Fail, 1, 1, red("a")), "fail 1/1 1"},
		"red in print alone":                {said(nexus.Fail, 1, 1, red("a")), said(nexus.Pass, 2, 0), "fail 1/1 1"},
		"the report names them better":      {said(nexus.Fail, 1, 1, red("A.a")), said(nexus.Fail, 1, 1, red("p.A.a")), "fail 1/1 1"},
		"the report knows of fewer":         {said(nexus.Fail, 1, 2, red("a"), red("b")), said(nexus.Fail, 1, 1, red("p.a")), "fail 1/2 2"},
		"what does not compile is kept":     {said(nexus.Fail, 0, 0, compile), said(nexus.Fail, 1, 1, red("a")), "fail 1/1 2"},
		"green reports beside compile":      {outputparser.ParsedToolOutput{State: nexus.Fail, Findings: []nexus.Finding{compile}}, said(nexus.Pass, 3, 0), "fail 3/0 1"},
		"red where the machine seems to be": {said(nexus.Environmental, 1, 0), said(nexus.Fail, 1, 1, red("a")), "fail 1/1 1"},
	} {
		r := parserbase.JoinReports(tt.printed, tt.report)
		if got := fmt.Sprintf("%s %d/%d %d", r.State, r.Counts.Passed, r.Counts.Failed, len(r.Findings)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
