package parse

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/raw"
)

// readExit reads a command that exits 0 when all is well. Where it runs
// tests, it must also say how many. Its output is read as that of the tool
// that speaks in it, as far as one is recognised.
func readExit(in Input) Report {
	all := in.Text()
	f, sure, known := Recognise(in)
	var r Report
	if known && f.Name != Exit {
		r = f.read(in)
	}
	believed := slices.ContainsFunc(r.Findings, raw.Blocks)
	switch {
	case known && f.Tests && r.State == nexus.NotRun && believed: // it says why none of its tests ran
	case in.Exit == 0 && (r.Counts.Failed > 0 || believed && (sure || f.Tests)):
		r.State, r.Why = nexus.Fail, ""
		if len(r.Findings) == 0 {
			r.Findings = []nexus.Finding{{Code: raw.CodeTest, Message: fmt.Sprintf("%d tests failed, though the command exits 0", r.Counts.Failed)}}
		}
	case in.Exit == 0 && !in.Tests:
		r.State, r.Why = nexus.Pass, ""
		if in.Guess && !known {
			r.State, r.Why = nexus.Unverifiable, "its exit code is not known, and nothing in the output says that all is well"
		}
		r.Findings = slices.DeleteFunc(r.Findings, raw.Blocks)
	case in.Exit == 0 && !r.Counted:
		r.State, r.Why = nexus.Unverifiable, "it exits 0, but nothing in its output says how many tests ran"
	case in.Exit == 0:
		r.State = cmp.Or(r.State, nexus.Pass) // settle wants at least one that passed
	case known && (r.State == nexus.NotRun || r.State == nexus.Environmental || believed && r.State == nexus.Fail && r.Findings[0].Code != raw.CodeExit):
	case in.Killed():
		r.State, r.Why = nexus.Environmental, "it was killed"
	default:
		return failed(in, r, all)
	}
	return r
}

// failed is the report of a command that exits with an error, and whose words
// no format explains.
func failed(in Input, r Report, all []string) Report {
	if in.Tests {
		if unran := in.Unran(); unran.State == nexus.NotRun {
			return unran
		}
	}
	r.State, r.Why = nexus.Fail, ""
	if general := findings(in, all); len(general) > 0 {
		r.Findings = general
		return r
	}
	silent := in.Silent()
	r.State, r.Why, r.Findings = silent.State, silent.Why, silent.Findings
	return r
}

// findings looks for the ways in which most tools name a place or a test.
func findings(in Input, all []string) []nexus.Finding {
	pos := anyPositions()
	arrow := regexp.MustCompile(`^\s*--> ([^:]+):(\d+):(\d+)$`)
	python := regexp.MustCompile(`^\s*File "([^"]+)", line (\d+)`)
	rust := regexp.MustCompile(`^(?:error|warning)(?:\[(\w+)\])?: (.*)$`)
	test := regexp.MustCompile(`^(?:FAILED (\S+?)(?: - (.*))?|test (\S+) \.\.\. FAILED|--- FAIL: (\S+) \(.*|not ok \d+ -? ?(.*)|\s+\x{25cf} (.+ \x{203a} .+))$`)
	var found []nexus.Finding
	var said nexus.Finding // the message that waits for its place
	for i, l := range all {
		l = l[:min(len(l), 4096)]
		switch {
		case len(found) >= raw.Enough:
			return found
		case rust.MatchString(l):
			m := rust.FindStringSubmatch(l)
			said = nexus.Finding{Code: m[1], Message: m[2]}
		case arrow.MatchString(l):
			m := arrow.FindStringSubmatch(l)
			f := said
			f.File, f.Line, f.Column = in.Place(m[1]), raw.Number(m[2]), raw.Number(m[3])
			f.Message, said = cmp.Or(f.Message, strings.TrimSpace(l)), nexus.Finding{}
			found = append(found, f)
		case python.MatchString(l):
			m := python.FindStringSubmatch(l)
			if file := in.Place(m[1]); file != "" && raw.Raised(all[i+1:]) != "" {
				found = append(found, nexus.Finding{File: file, Line: raw.Number(m[2]), Message: raw.Raised(all[i+1:])})
			}
		case test.MatchString(l):
			m := test.FindStringSubmatch(l)
			name := cmp.Or(m[1], m[3], m[4], m[5], m[6])
			found = append(found, nexus.Finding{Code: raw.CodeTest, Test: name, Message: cmp.Or(m[2], strings.TrimSpace(l))})
		default:
			if f, ok := pos.at(in, l); ok && f.File != "" && !harmless(l) {
				found = append(found, f)
			}
		}
	}
	return found
}

func harmless(l string) bool {
	l = strings.ToLower(l)
	return strings.Contains(l, ": warning") || strings.Contains(l, ": note:") || strings.Contains(l, "://")
}
