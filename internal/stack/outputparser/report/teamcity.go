package report

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

// ReadTeamCity reads the messages that a runner prints for TeamCity's runners.
func ReadTeamCity(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	row := regexp.MustCompile(`^\s*##teamcity\[(test\w+) (.*)\]\s*$`)
	value := regexp.MustCompile(`(\w+)='((?:[^'|]|\|.)*)'`)
	plain := strings.NewReplacer("|n", "\n", "|r", "", "|'", "'", "|[", "[", "|]", "]", "||", "|")
	var r parserbase.ParsedTestRun
	open := map[string]string{} // state of each test that has not ended
	for _, l := range in.AllLines() {
		m := row.FindStringSubmatch(l[:min(len(l), 16<<10)])
		if m == nil || len(r.Findings) >= parserbase.Enough {
			continue
		}
		attrs := map[string]string{}
		for _, a := range value.FindAllStringSubmatch(m[2], -1) {
			attrs[a[1]] = plain.Replace(a[2])
		}
		name := attrs["name"]
		switch m[1] {
		case "testStarted":
			open[name], r.Counted = "pass", true
		case "testIgnored":
			open[name], r.Counted = "skip", true
		case "testFailed":
			if open[name] == "fail" {
				continue
			}
			open[name], r.Counted = "fail", true
			f := nexus.Finding{Code: parserbase.CodeTest, Test: name, Message: strings.TrimSpace(attrs["message"])}
			testrunners.PlaceFailure(in, &f, "", strings.Split(attrs["details"], "\n"))
			r.Findings = append(r.Findings, f)
		case "testFinished":
			switch open[name] {
			case "pass":
				r.Counts.Passed++
			case "skip":
				r.Counts.Skipped++
			case "fail":
				r.Counts.Failed++
			}
			delete(open, name)
		}
	}
	for name, how := range open {
		switch how {
		case "skip":
			r.Counts.Skipped++
		case "fail":
			r.Counts.Failed++
		default:
			r.Counts.Failed++
			r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodeVanished, Test: name, Message: parserbase.Begun})
		}
	}
	return in.TestRunReport(r)
}
