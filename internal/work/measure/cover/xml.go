package cover

import (
	"encoding/xml"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/evidence"
)

// cobertura reads its XML. A file's name is relative to one of the sources,
// and nobody says to which.
func cobertura(text string) Report {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var b builder
	var x document
	for {
		t, err := d.Token()
		if err != nil {
			return b.report
		}
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
		sum(&x.file.Branches, evidence.Share{Covered: number(m[1]), Total: number(m[2])}, evidence.Share{})
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

// jacoco reads its XML, of several modules one after the other. A line was run
// when an instruction of it was; a name is that of the package and of the file.
func jacoco(text string) Report {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var b builder
	at := ""
	var file *File
	for {
		t, err := d.Token()
		if err != nil {
			return b.report
		}
		switch e := t.(type) {
		case xml.StartElement:
			switch name := attr(e, "name"); {
			case e.Name.Local == "package":
				at = name
			case e.Name.Local == "sourcefile" && name != "":
				file = b.file(clean(path.Join(at, name)))
			case file == nil:
			case e.Name.Local == "line":
				file.add(number(attr(e, "nr")), number(attr(e, "ci")))
			case e.Name.Local == "counter":
				share := evidence.Share{Covered: number(attr(e, "covered"))}
				share.Total = share.Covered + number(attr(e, "missed"))
				switch attr(e, "type") {
				case "BRANCH":
					sum(&file.Branches, share, evidence.Share{})
				case "METHOD":
					sum(&file.Functions, share, evidence.Share{})
				}
			}
		case xml.EndElement:
			if e.Name.Local == "sourcefile" {
				file = nil
			}
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
