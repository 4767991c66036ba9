package changemetrics

import (
	"encoding/xml"
	"io"
	"iter"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// xmlTokens yields the tokens of XML, up to the first error.
func xmlTokens(text string) iter.Seq[xml.Token] {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return func(yield func(xml.Token) bool) {
		for {
			t, err := d.Token()
			if err != nil || !yield(t) {
				return
			}
		}
	}
}

// readCobertura parses Cobertura XML. A file's name is relative to one of the sources, and the
// file does not state to which.
func readCobertura(text string) CoverageReport {
	var b coverageReportBuilder
	var x coberturaParserPosition
	for t := range xmlTokens(text) {
		switch e := t.(type) {
		case xml.StartElement:
			x.openElement(&b, e)
		case xml.CharData:
			if x.inSource {
				x.source += string(e)
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "source":
				if s := cleanName(x.source); s != "" {
					x.sources = append(x.sources, s)
				}
				x.inSource = false
			case "method":
				x.endMethod()
			case "class":
				x.file = nil
			case "coverage":
				return b.report // the rest belongs to another file
			}
		}
	}
	return b.report
}

// coberturaParserPosition is the position in the XML.
type coberturaParserPosition struct {
	sources  []string
	source   string
	inSource bool
	file     *FileCoverage
	method   bool
	ran      bool // a line of the method was run
	lines    int  // number of lines of the method
}

func (x *coberturaParserPosition) openElement(b *coverageReportBuilder, e xml.StartElement) {
	switch e.Name.Local {
	case "source":
		x.inSource, x.source = true, ""
	case "class":
		name := cleanName(xmlAttr(e, "filename"))
		if name == "" {
			return
		}
		names := []string{name}
		for _, s := range x.sources {
			if !path.IsAbs(name) {
				names = append(names, path.Join(s, name))
			}
		}
		x.file = b.coveredFileNamed(names...)
	case "method":
		x.method, x.ran, x.lines = true, false, 0
	case "line":
		hits := parseCount(xmlAttr(e, "hits"))
		switch {
		case x.method: // the lines are repeated in the class
			x.ran = x.ran || hits > 0
			x.lines++
		case x.file != nil:
			x.file.addHits(parseCount(xmlAttr(e, "number")), hits)
			x.addBranches(e)
		}
	}
}

// addBranches counts the branches of a line.
func (x *coberturaParserPosition) addBranches(e xml.StartElement) {
	if m := regexp.MustCompile(`\((\d+)/(\d+)\)`).FindStringSubmatch(xmlAttr(e, "condition-coverage")); m != nil {
		addCoverageSums(&x.file.Branches, nexus.CoverageShare{Covered: parseCount(m[1]), Total: parseCount(m[2])}, nexus.CoverageShare{})
	}
}

func (x *coberturaParserPosition) endMethod() {
	if x.method && x.lines > 0 && x.file != nil {
		x.file.Functions.Total++
		if x.ran {
			x.file.Functions.Covered++
		}
	}
	x.method = false
}

// readJaCoCo parses JaCoCo XML, of several modules in sequence, or in groups. A line was run if
// one of its instructions was; a name consists of the package and the file. A processing
// instruction before a report may name the directory of its module: <?nexus ./core?>.
func readJaCoCo(text string) CoverageReport {
	var b coverageReportBuilder
	var file *FileCoverage
	of, at, pkg := CoverageReportModule{}, "", ""
	next := func(name, dir string) { of = CoverageReportModule{Number: of.Number + 1, Name: name, Dir: dir} }
	for t := range xmlTokens(text) {
		switch e := t.(type) {
		case xml.ProcInst:
			if e.Target == "nexus" {
				at = path.Clean(string(e.Inst))
			}
		case xml.StartElement:
			switch name := xmlAttr(e, "name"); e.Name.Local {
			case "report":
				next(name, at)
				at = ""
			case "group":
				next(name, "")
			case "package":
				pkg = name
			case "sourcefile":
				file = b.coveredFileInPart(of, cleanName(path.Join(pkg, name)))
			default:
				file.addJaCoCoElement(e)
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "sourcefile":
				file = nil
			case "group":
				next("", "")
			}
		}
	}
	return b.report
}

// addJaCoCoElement adds the coverage of an element to a file, if f is not nil.
func (f *FileCoverage) addJaCoCoElement(e xml.StartElement) {
	switch {
	case f == nil:
	case e.Name.Local == "line":
		f.addHits(parseCount(xmlAttr(e, "nr")), parseCount(xmlAttr(e, "ci")))
	case e.Name.Local == "counter":
		share := nexus.CoverageShare{Covered: parseCount(xmlAttr(e, "covered"))}
		share.Total = share.Covered + parseCount(xmlAttr(e, "missed"))
		switch xmlAttr(e, "type") {
		case "BRANCH":
			addCoverageSums(&f.Branches, share, nexus.CoverageShare{})
		case "METHOD":
			addCoverageSums(&f.Functions, share, nexus.CoverageShare{})
		}
	}
}

func xmlAttr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
