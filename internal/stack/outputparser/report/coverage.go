package report

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// coverageReport returns the report of a coverage file.
func coverageReport(in parserbase.ToolOutput, c parserbase.CoverageTotals, whole bool) parserbase.ParsedToolOutput {
	r := parserbase.ParsedToolOutput{Coverage: c, State: nexus.Pass}
	switch {
	case in.Exit != 0:
		r = in.UnexplainedFailure()
		r.Coverage = c
	case c.Lines.Total == 0 && c.Branches.Total == 0:
		r.State, r.Why = nexus.Unverifiable, "it says nothing of any line"
	case !whole:
		r.State, r.Why = nexus.Unverifiable, "the report is incomplete"
	default:
		r.Why = fmt.Sprintf("%.1f%% of %d lines", 100*float64(c.Lines.Covered)/float64(max(1, c.Lines.Total)), c.Lines.Total)
	}
	return r
}

// ParsePercent parses the covered percentage in a coverage report's summary, and returns false for
// any other text.
func ParsePercent(why string) (float64, bool) {
	var percent float64
	var lines int
	n, err := fmt.Sscanf(why, "%f%% of %d lines", &percent, &lines)
	return percent, n == 2 && err == nil && lines > 0
}

// ReadLCOV reads a tracefile.
func ReadLCOV(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var c parserbase.CoverageTotals
	var lines, branches, functions, have parserbase.CoverageCount
	open, summed := false, false
	sum := func(to *parserbase.CoverageCount, counted, said parserbase.CoverageCount) {
		if said.Total > 0 {
			counted = said
		}
		to.Covered += counted.Covered
		to.Total += counted.Total
	}
	var said [3]parserbase.CoverageCount
	for _, l := range in.AllLines() {
		key, value, _ := strings.Cut(l, ":")
		switch key {
		case "SF":
			open, summed = true, false
			lines, branches, functions, said = have, have, have, [3]parserbase.CoverageCount{}
		case "DA":
			_, hits, _ := strings.Cut(value, ",")
			hits, _, _ = strings.Cut(hits, ",")
			countHit(&lines, hits)
		case "BRDA":
			countHit(&branches, strings.TrimLeft(value[strings.LastIndexByte(value, ',')+1:], "-"))
		case "FNDA":
			hits, _, _ := strings.Cut(value, ",")
			countHit(&functions, hits)
		case "LF", "LH", "BRF", "BRH", "FNF", "FNH":
			at := map[string]*int{"LF": &said[0].Total, "LH": &said[0].Covered, "BRF": &said[1].Total, "BRH": &said[1].Covered, "FNF": &said[2].Total, "FNH": &said[2].Covered}[key]
			*at = parserbase.ParseNumber(value)
		case "end_of_record":
			if !summed {
				sum(&c.Lines, lines, said[0])
				sum(&c.Branches, branches, said[1])
				sum(&c.Functions, functions, said[2])
			}
			open, summed = false, true
		}
	}
	return coverageReport(in, c, !open)
}

func countHit(s *parserbase.CoverageCount, hits string) {
	s.Total++
	if parserbase.ParseNumber(hits) > 0 {
		s.Covered++
	}
}

// ReadCobertura reads its XML; JaCoCo's and Clover's are others.
func ReadCobertura(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var c, counted parserbase.CoverageTotals
	root, whole, class := false, false, false
	for t := range xmlTokens(in, `coverage`) {
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "coverage":
				root = true
				c.Lines = parserbase.CoverageCount{Covered: countAttribute(e, "lines-covered"), Total: countAttribute(e, "lines-valid")}
				c.Branches = parserbase.CoverageCount{Covered: countAttribute(e, "branches-covered"), Total: countAttribute(e, "branches-valid")}
			case "method":
				class = true
			case "line":
				if !class { // lines of a method are repeated in its class
					countHit(&counted.Lines, xmlAttribute(e, "hits"))
				}
			}
		case xml.EndElement:
			class = class && e.Name.Local != "method"
			whole = whole || e.Name.Local == "coverage"
		}
	}
	if c.Lines.Total == 0 {
		c.Lines = counted.Lines
	}
	return coverageReport(in, c, root && whole)
}

// ReadJaCoCo reads its XML, of several modules one after the other. A line is covered if one of its
// instructions is.
func ReadJaCoCo(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var c parserbase.CoverageTotals
	open, whole := 0, false
	for t := range xmlTokens(in, `report`) {
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "report":
				open++
			case "line":
				c.Lines.Total++
				if countAttribute(e, "ci") > 0 {
					c.Lines.Covered++
				}
				c.Branches.Covered += countAttribute(e, "cb")
				c.Branches.Total += countAttribute(e, "cb") + countAttribute(e, "mb")
			}
		case xml.EndElement:
			if e.Name.Local == "report" {
				open, whole = open-1, true
			}
		}
	}
	return coverageReport(in, c, whole && open == 0)
}

// ReadGoCover reads the profile of go test -coverprofile. It counts statements.
func ReadGoCover(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	row := regexp.MustCompile(`^(\S.*:\d+\.\d+,\d+\.\d+) (\d+) (\d+)$`)
	type part struct{ statements, hits int }
	parts := map[string]part{}
	whole, broken := false, false
	for _, l := range parserbase.SplitLines(in.Stdout) {
		m := row.FindStringSubmatch(l)
		switch {
		case strings.HasPrefix(l, "mode: "):
			whole = true
		case m != nil:
			parts[m[1]] = part{parserbase.ParseNumber(m[2]), parts[m[1]].hits + parserbase.ParseNumber(m[3])}
		case l != "":
			broken = true
		}
	}
	var c parserbase.CoverageTotals
	for _, p := range parts {
		c.Lines.Total += p.statements
		if p.hits > 0 {
			c.Lines.Covered += p.statements
		}
	}
	return coverageReport(in, c, whole && !broken)
}
