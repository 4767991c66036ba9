package changemetrics

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The formats.
const (
	LCOV      = "lcov"
	Cobertura = "cobertura"
	JaCoCo    = "jacoco"
	GoCover   = "go-cover"
)

// CoverageReport is the contents of a coverage report.
type CoverageReport struct {
	Files []*FileCoverage
}

// CoverageSums is the coverage of several files. Values in no report are unknown.
type CoverageSums struct {
	Lines, Branches, Functions, Statements nexus.CoverageShare
}

// CoverageReportModule is the part of a report about one module, for formats with modules: all names in
// it begin in directories of that module. Other reports have none.
type CoverageReportModule struct {
	Number int    // number of the part, from 1; zero: no part
	Name   string // name of the module, in its tool's notation
	Dir    string // directory of the module; empty if unknown
}

// FileCoverage is the coverage of one file.
type FileCoverage struct {
	Of    CoverageReportModule
	Names []string    // possible paths, in the tool's notation, the likeliest first
	Lines map[int]int // how often each executable line was run

	Branches, Functions, Statements nexus.CoverageShare
}

// ReadCoverageReport parses a report, as far as possible. Other text is skipped.
func ReadCoverageReport(format, text string) CoverageReport {
	var r CoverageReport
	switch format {
	case LCOV:
		r = readLCOV(text)
	case Cobertura:
		r = readCobertura(text)
	case JaCoCo:
		r = readJaCoCo(text)
	case GoCover:
		r = readGoProfile(text)
	}
	return r
}

// maxCount limits line numbers and hits: a larger number is invalid.
const maxCount = 1 << 30

func parseCount(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > maxCount {
		return 0
	}
	return n
}

// WithDirectory sets the directory of the tree in which the command ran: names may be relative to it.
func (r CoverageReport) WithDirectory(dir string) CoverageReport {
	for _, f := range r.Files {
		if n := f.Names[0]; dir != "" && dir != "." && !path.IsAbs(n) {
			f.Names = append([]string{path.Join(dir, n)}, f.Names...)
		}
		if f.Of.Dir != "" {
			f.Of.Dir = path.Join(dir, f.Of.Dir)
		}
	}
	return r
}

// addHits records how often a line was run.
func (f *FileCoverage) addHits(line, hits int) {
	if line > 0 {
		f.Lines[line] = min(f.Lines[line]+hits, maxCount)
	}
}

// coverageReportBuilder collects files by their names.
type coverageReportBuilder struct {
	report CoverageReport
	byName map[string]*FileCoverage
}

func (b *coverageReportBuilder) coveredFileNamed(names ...string) *FileCoverage {
	return b.coveredFileInPart(CoverageReportModule{}, names...)
}

// coveredFileInPart returns the file of a part, creating it if necessary.
func (b *coverageReportBuilder) coveredFileInPart(of CoverageReportModule, names ...string) *FileCoverage {
	key := strconv.Itoa(of.Number) + "\x00" + names[0]
	if f := b.byName[key]; f != nil {
		return f
	}
	f := &FileCoverage{Of: of, Names: names, Lines: map[int]int{}}
	if b.byName == nil {
		b.byName = map[string]*FileCoverage{}
	}
	b.byName[key] = f
	b.report.Files = append(b.report.Files, f)
	return f
}

func countHit(s *nexus.CoverageShare, hits string) {
	s.Total++
	if parseCount(hits) > 0 {
		s.Covered++
	}
}

// readLCOV parses a tracefile. Functions and branches are counted from its lines FNDA and BRDA,
// or, if those are missing, from its sums.
func readLCOV(text string) CoverageReport {
	var b coverageReportBuilder
	var file *FileCoverage
	var branches, functions, saidBranches, saidFunctions nexus.CoverageShare
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case key == "SF" && value != "":
			file = b.coveredFileNamed(cleanName(value))
			branches, functions, saidBranches, saidFunctions = nexus.CoverageShare{}, nexus.CoverageShare{}, nexus.CoverageShare{}, nexus.CoverageShare{}
		case file == nil:
		case key == "DA":
			parts := strings.Split(value, ",")
			if len(parts) > 1 {
				file.addHits(parseCount(parts[0]), parseCount(parts[1]))
			}
		case key == "BRDA":
			countHit(&branches, value[strings.LastIndexByte(value, ',')+1:])
		case key == "FNDA":
			hits, _, _ := strings.Cut(value, ",")
			countHit(&functions, hits)
		case key == "BRF":
			saidBranches.Total = parseCount(value)
		case key == "BRH":
			saidBranches.Covered = parseCount(value)
		case key == "FNF":
			saidFunctions.Total = parseCount(value)
		case key == "FNH":
			saidFunctions.Covered = parseCount(value)
		case key == "end_of_record":
			addCoverageSums(&file.Branches, branches, saidBranches)
			addCoverageSums(&file.Functions, functions, saidFunctions)
			file = nil
		}
	}
	return b.report
}

func addCoverageSums(to *nexus.CoverageShare, counted, said nexus.CoverageShare) {
	if counted.Total == 0 {
		counted = said
	}
	to.Total = min(to.Total+counted.Total, maxCount)
	to.Covered = min(to.Covered+min(counted.Covered, counted.Total), maxCount)
}

// readGoProfile parses the output of go test -coverprofile. A line was run if one of its blocks
// was: the block of a condition includes the beginning of the code that it guards, too.
func readGoProfile(text string) CoverageReport {
	row := regexp.MustCompile(`^(\S.*):(\d+)\.\d+,(\d+)\.\d+ (\d+) (\d+)$`)
	type part struct {
		of               *FileCoverage
		statements, hits int
	}
	parts := map[string]part{}
	var b coverageReportBuilder
	left := maxLines
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		key := line[:strings.LastIndexByte(line[:strings.LastIndexByte(line, ' ')], ' ')]
		was, seen := parts[key]
		statements, hits := parseCount(m[4]), parseCount(m[5])
		from, to := parseCount(m[2]), parseCount(m[3])
		if left -= to - from; statements == 0 || from == 0 || left < 0 {
			continue
		}
		f := b.coveredFileNamed(cleanName(m[1]))
		parts[key] = part{f, statements, max(was.hits, hits)}
		if seen && hits == 0 {
			continue
		}
		for n := from; n <= to; n++ {
			f.addHits(n, hits)
		}
	}
	for _, p := range parts {
		all := nexus.CoverageShare{Total: p.statements}
		if p.hits > 0 {
			all.Covered = p.statements
		}
		addCoverageSums(&p.of.Statements, all, nexus.CoverageShare{})
	}
	return b.report
}

// maxLines limits the lines of all blocks of a profile: a broken profile may list any number.
const maxLines = 50_000_000

func cleanName(name string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(name), `\`, "/"), "./")
}
