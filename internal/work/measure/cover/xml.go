package cover

import (
	"encoding/xml"
	"io"
	"iter"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// tokens yields what XML says, as far as it goes.
func tokens(text string) iter.Seq[xml.Token] {
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

// cobertura reads its XML. A file's name is relative to one of the sources,
// and nobody says to which.
func cobertura(text string) Report {
	var b builder
	var x document
	for t := range tokens(text) {
		switch e := t.(type) {
		case xml.StartElement:
			x.open(&b, e)
		case xml.CharData:
			if x.inSource {
				x.source += string(e)
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "source":
				if s := clean(x.source); s != "" {
					x.sources = append(x.sources, s)
				}
				x.inSource = false
			case "method":
				x.endMethod()
			case "class":
				x.file = nil
			case "coverage":
				return b.report // what follows is another's
			}
		}
	}
	return b.report
}

// document is where in the XML one is.
type document struct {
	sources  []string
	source   string
	inSource bool
	file     *File
	method   bool
	ran      bool // a line of the method was run
	lines    int  // of the method
}

func (x *document) open(b *builder, e xml.StartElement) {
	switch e.Name.Local {
	case "source":
		x.inSource, x.source = true, ""
	case "class":
		name := clean(attr(e, "filename"))
		if name == "" {
			return
		}
		names := []string{name}
		for _, s := range x.sources {
			if !path.IsAbs(name) {
				names = append(names, path.Join(s, name))
			}
		}
		x.file = b.file(names...)
	case "method":
		x.method, x.ran, x.lines = true, false, 0
	case "line":
		hits := number(attr(e, "hits"))
		switch {
		case x.method: // it stands in the class once more
			x.ran = x.ran || hits > 0
			x.lines++
		case x.file != nil:
			x.file.add(number(attr(e, "number")), hits)
			x.branches(e)
		}
	}
}

// branches counts those of a line.
func (x *document) branches(e xml.StartElement) {
	if m := regexp.MustCompile(`\((\d+)/(\d+)\)`).FindStringSubmatch(attr(e, "condition-coverage")); m != nil {
		sum(&x.file.Branches, nexus.Share{Covered: number(m[1]), Total: number(m[2])}, nexus.Share{})
	}
}

func (x *document) endMethod() {
	if x.method && x.lines > 0 && x.file != nil {
		x.file.Functions.Total++
		if x.ran {
			x.file.Functions.Covered++
		}
	}
	x.method = false
}

// jacoco reads its XML, of several modules one after the other, or in groups. A
// line was run when an instruction of it was; a name is that of the package and
// of the file. A processing instruction before a report may name the directory
// of its module: <?nexus ./core?>.
func jacoco(text string) Report {
	var b builder
	var file *File
	of, at, pkg := Part{}, "", ""
	next := func(name, dir string) { of = Part{Number: of.Number + 1, Name: name, Dir: dir} }
	for t := range tokens(text) {
		switch e := t.(type) {
		case xml.ProcInst:
			if e.Target == "nexus" {
				at = path.Clean(string(e.Inst))
			}
		case xml.StartElement:
			switch name := attr(e, "name"); e.Name.Local {
			case "report":
				next(name, at)
				at = ""
			case "group":
				next(name, "")
			case "package":
				pkg = name
			case "sourcefile":
				file = b.in(of, clean(path.Join(pkg, name)))
			default:
				file.jacoco(e)
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

// jacoco adds what an element says of a file; nil is none.
func (f *File) jacoco(e xml.StartElement) {
	switch {
	case f == nil:
	case e.Name.Local == "line":
		f.add(number(attr(e, "nr")), number(attr(e, "ci")))
	case e.Name.Local == "counter":
		share := nexus.Share{Covered: number(attr(e, "covered"))}
		share.Total = share.Covered + number(attr(e, "missed"))
		switch attr(e, "type") {
		case "BRANCH":
			sum(&f.Branches, share, nexus.Share{})
		case "METHOD":
			sum(&f.Functions, share, nexus.Share{})
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
