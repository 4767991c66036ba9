package report

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// covered returns the report of a coverage file.
func covered(in raw.Input, c raw.Coverage, whole bool) raw.Report {
	r := raw.Report{Coverage: c, State: nexus.Pass}
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

// Percent parses the covered percentage in a coverage report's summary, and returns false for
// any other text.
func Percent(why string) (float64, bool) {
	var percent float64
	var lines int
	n, err := fmt.Sscanf(why, "%f%% of %d lines", &percent, &lines)
	return percent, n == 2 && err == nil && lines > 0
}

// LCOV reads a tracefile.
func LCOV(in raw.Input) raw.Report {
	var c raw.Coverage
	var lines, branches, functions, have raw.Share
	open, summed := false, false
	sum := func(to *raw.Share, counted, said raw.Share) {
		if said.Total > 0 {
			counted = said
		}
		to.Covered += counted.Covered
		to.Total += counted.Total
	}
	var said [3]raw.Share
	for _, l := range in.Text() {
		key, value, _ := strings.Cut(l, ":")
		switch key {
		case "SF":
			open, summed = true, false
			lines, branches, functions, said = have, have, have, [3]raw.Share{}
		case "DA":
			_, hits, _ := strings.Cut(value, ",")
			hits, _, _ = strings.Cut(hits, ",")
			hit(&lines, hits)
		case "BRDA":
			hit(&branches, strings.TrimLeft(value[strings.LastIndexByte(value, ',')+1:], "-"))
		case "FNDA":
			hits, _, _ := strings.Cut(value, ",")
			hit(&functions, hits)
		case "LF", "LH", "BRF", "BRH", "FNF", "FNH":
			at := map[string]*int{"LF": &said[0].Total, "LH": &said[0].Covered, "BRF": &said[1].Total, "BRH": &said[1].Covered, "FNF": &said[2].Total, "FNH": &said[2].Covered}[key]
			*at = raw.Number(value)
		case "end_of_record":
			if !summed {
				sum(&c.Lines, lines, said[0])
				sum(&c.Branches, branches, said[1])
				sum(&c.Functions, functions, said[2])
			}
			open, summed = false, true
		}
	}
	return covered(in, c, !open)
}

func hit(s *raw.Share, hits string) {
	s.Total++
	if raw.Number(hits) > 0 {
		s.Covered++
	}
}

// Cobertura reads its XML; JaCoCo's and Clover's are others.
func Cobertura(in raw.Input) raw.Report {
	var c, counted raw.Coverage
	root, whole, class := false, false, false
	for t := range tokens(in, `coverage`) {
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "coverage":
				root = true
				c.Lines = raw.Share{Covered: count(e, "lines-covered"), Total: count(e, "lines-valid")}
				c.Branches = raw.Share{Covered: count(e, "branches-covered"), Total: count(e, "branches-valid")}
			case "method":
				class = true
			case "line":
				if !class { // lines of a method are repeated in its class
					hit(&counted.Lines, attr(e, "hits"))
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
	return covered(in, c, root && whole)
}

// JaCoCo reads its XML, of several modules one after the other. A line is covered if one of its
// instructions is.
func JaCoCo(in raw.Input) raw.Report {
	var c raw.Coverage
	open, whole := 0, false
	for t := range tokens(in, `report`) {
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "report":
				open++
			case "line":
				c.Lines.Total++
				if count(e, "ci") > 0 {
					c.Lines.Covered++
				}
				c.Branches.Covered += count(e, "cb")
				c.Branches.Total += count(e, "cb") + count(e, "mb")
			}
		case xml.EndElement:
			if e.Name.Local == "report" {
				open, whole = open-1, true
			}
		}
	}
	return covered(in, c, whole && open == 0)
}

// GoCover reads the profile of go test -coverprofile. It counts statements.
func GoCover(in raw.Input) raw.Report {
	row := regexp.MustCompile(`^(\S.*:\d+\.\d+,\d+\.\d+) (\d+) (\d+)$`)
	type part struct{ statements, hits int }
	parts := map[string]part{}
	whole, broken := false, false
	for _, l := range raw.Lines(in.Stdout) {
		m := row.FindStringSubmatch(l)
		switch {
		case strings.HasPrefix(l, "mode: "):
			whole = true
		case m != nil:
			parts[m[1]] = part{raw.Number(m[2]), parts[m[1]].hits + raw.Number(m[3])}
		case l != "":
			broken = true
		}
	}
	var c raw.Coverage
	for _, p := range parts {
		c.Lines.Total += p.statements
		if p.hits > 0 {
			c.Lines.Covered += p.statements
		}
	}
	return covered(in, c, whole && !broken)
}
