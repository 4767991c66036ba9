package page

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Failure is a gate that did not pass, with the part of its output that says why.
type Failure struct {
	projection.Gate

	Task    nexus.TaskID
	Excerpt string
}

// maxExcerpt is how many lines of a gate's output a page has.
const maxExcerpt = 30

func (s *Site) checks(r *http.Request) (templ.Component, error) {
	var c projection.Checks
	f, err := s.frame(r, "checks", "Checks", func(p *projection.Projection, _ *Frame) error {
		c = p.Checks()
		return nil
	})
	var failed []Failure
	for _, row := range c.Rows {
		for _, g := range row.Gates {
			if g.State != nexus.Pass {
				failed = append(failed, Failure{g, row.Task, s.excerpt(g)})
			}
		}
	}
	return checksScreen(f, c, failed, s.again.of(f.Run.ID)), err
}

// excerpt is the end of a gate's output where it has no findings, which say
// more.
func (s *Site) excerpt(g projection.Gate) string {
	if g.Raw == "" || len(g.Findings) > 0 {
		return ""
	}
	data, err := s.Blob(g.Raw)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return limit(strings.Join(lines[max(0, len(lines)-maxExcerpt):], "\n"))
}

func (s *Site) cost(r *http.Request) (templ.Component, error) {
	var c projection.Cost
	f, err := s.frame(r, "cost", "Cost", func(p *projection.Projection, f *Frame) error {
		c = p.Cost(f.Now)
		return nil
	})
	return costScreen(f, c), err
}
