// Package cover says which lines of which files tests went through, by the
// reports that tools write: LCOV, Cobertura, JaCoCo and the profiles of Go.
//
// A line of which a report says nothing is unknown, and neither tested nor
// untested.
package cover

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
	Go        = "go-cover"
)

// Report is what a report says.
type Report struct {
	Files []*File
}

// Sums is what tests go through in several files. What no file tells of is
// unknown.
type Sums struct {
	Lines, Branches, Functions, Statements nexus.Share
}

// Part is the part of a report that tells of one module, where it has such: all
// names in it begin in directories of that module. Other reports have none.
type Part struct {
	Number int    // from 1; zero is none
	Name   string // of the module, as its tool has it
	Dir    string // of the module; empty where nobody says
}

// File is what it says of one file.
type File struct {
	Of    Part
	Names []string    // paths that it may have, as the tool writes them, the likeliest first
	Lines map[int]int // how often a line was run, of those that can be

	Branches, Functions, Statements nexus.Share
}

// Read reads a report, as far as it goes. What else stands in the text is
// passed over.
func Read(format, text string) Report {
	var r Report
	switch format {
	case LCOV:
		r = lcov(text)
	case Cobertura:
		r = cobertura(text)
	case JaCoCo:
		r = jacoco(text)
	case Go:
		r = profile(text)
	}
	return r
}

// largest bounds numbers of lines and hits: what is beyond is no line.
const largest = 1 << 30

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > largest {
		return 0
	}
	return n
}

// Below says that the command ran in a directory of the tree: names may be
// relative to it.
func (r Report) Below(dir string) Report {
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

// add notes that a line was run so often.
func (f *File) add(line, hits int) {
	if line > 0 {
		f.Lines[line] = min(f.Lines[line]+hits, largest)
	}
}

// builder collects files by their names.
type builder struct {
	report Report
	byName map[string]*File
}

func (b *builder) file(names ...string) *File { return b.in(Part{}, names...) }

// in returns the file of a part.
func (b *builder) in(of Part, names ...string) *File {
	key := strconv.Itoa(of.Number) + "\x00" + names[0]
	if f := b.byName[key]; f != nil {
		return f
	}
	f := &File{Of: of, Names: names, Lines: map[int]int{}}
	if b.byName == nil {
		b.byName = map[string]*File{}
	}
	b.byName[key] = f
	b.report.Files = append(b.report.Files, f)
	return f
}

func hit(s *nexus.Share, hits string) {
	s.Total++
	if number(hits) > 0 {
		s.Covered++
	}
}

// lcov reads a tracefile. Functions and branches count as its lines FNDA and
// BRDA do, or, where those are missing, as its sums.
func lcov(text string) Report {
	var b builder
	var file *File
	var branches, functions, saidBranches, saidFunctions nexus.Share
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case key == "SF" && value != "":
			file = b.file(clean(value))
			branches, functions, saidBranches, saidFunctions = nexus.Share{}, nexus.Share{}, nexus.Share{}, nexus.Share{}
		case file == nil:
		case key == "DA":
			parts := strings.Split(value, ",")
			if len(parts) > 1 {
				file.add(number(parts[0]), number(parts[1]))
			}
		case key == "BRDA":
			hit(&branches, value[strings.LastIndexByte(value, ',')+1:])
		case key == "FNDA":
			hits, _, _ := strings.Cut(value, ",")
			hit(&functions, hits)
		case key == "BRF":
			saidBranches.Total = number(value)
		case key == "BRH":
			saidBranches.Covered = number(value)
		case key == "FNF":
			saidFunctions.Total = number(value)
		case key == "FNH":
			saidFunctions.Covered = number(value)
		case key == "end_of_record":
			sum(&file.Branches, branches, saidBranches)
			sum(&file.Functions, functions, saidFunctions)
			file = nil
		}
	}
	return b.report
}

func sum(to *nexus.Share, counted, said nexus.Share) {
	if counted.Total == 0 {
		counted = said
	}
	to.Total = min(to.Total+counted.Total, largest)
	to.Covered = min(to.Covered+min(counted.Covered, counted.Total), largest)
}

// profile reads what go test -coverprofile wrote. A line was run if one of the
// parts that it has was: that of a condition has the beginning of what it
// guards, too.
func profile(text string) Report {
	row := regexp.MustCompile(`^(\S.*):(\d+)\.\d+,(\d+)\.\d+ (\d+) (\d+)$`)
	type part struct {
		of               *File
		statements, hits int
	}
	parts := map[string]part{}
	var b builder
	left := maxLines
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		key := line[:strings.LastIndexByte(line[:strings.LastIndexByte(line, ' ')], ' ')]
		was, seen := parts[key]
		statements, hits := number(m[4]), number(m[5])
		from, to := number(m[2]), number(m[3])
		if left -= to - from; statements == 0 || from == 0 || left < 0 {
			continue
		}
		f := b.file(clean(m[1]))
		parts[key] = part{f, statements, max(was.hits, hits)}
		if seen && hits == 0 {
			continue
		}
		for n := from; n <= to; n++ {
			f.add(n, hits)
		}
	}
	for _, p := range parts {
		all := nexus.Share{Total: p.statements}
		if p.hits > 0 {
			all.Covered = p.statements
		}
		sum(&p.of.Statements, all, nexus.Share{})
	}
	return b.report
}

// maxLines bounds the lines of all parts of a profile: one that is broken may
// speak of many.
const maxLines = 50_000_000

func clean(name string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(name), `\`, "/"), "./")
}
