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
				x.endMethod(&b)
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
	summed   bool // the head says how many branches there are
	ran      bool // a line of the method was run
	lines    int  // of the method
}

func (x *document) open(b *builder, e xml.StartElement) {
	switch e.Name.Local {
	case "coverage":
		b.report.Lines = share(e, "lines-covered", "lines-valid")
		b.report.Branches = share(e, "branches-covered", "branches-valid")
		x.summed = b.report.Branches.Total > 0
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
			x.branches(b, e)
		}
	}
}

// branches counts those of a line, where the head does not say how many there
// are.
func (x *document) branches(b *builder, e xml.StartElement) {
	if m := regexp.MustCompile(`\((\d+)/(\d+)\)`).FindStringSubmatch(attr(e, "condition-coverage")); m != nil && !x.summed {
		b.report.Branches.Covered += number(m[1])
		b.report.Branches.Total += number(m[2])
	}
}

func (x *document) endMethod(b *builder) {
	if x.method && x.lines > 0 {
		b.report.Functions.Total++
		if x.ran {
			b.report.Functions.Covered++
		}
	}
	x.method = false
}

func share(e xml.StartElement, covered, total string) evidence.Share {
	s := evidence.Share{Total: number(attr(e, total))}
	s.Covered = min(number(attr(e, covered)), s.Total)
	return s
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
