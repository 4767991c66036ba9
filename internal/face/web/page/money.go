package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/face/web/rerun"
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
	return checksScreen(f, c, failed, s.gates.Of(f.Run.ID)), err
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

// rerun runs one gate of a task again, beside all else.
func (s *Site) rerun(w http.ResponseWriter, r *http.Request) {
	f, ok := form(w, r)
	if !ok {
		return
	}
	run := nexus.RunID(r.PathValue("run"))
	one := rerun.Rerun{Run: run, Task: nexus.TaskID(f.Get("task")), Gate: f.Get("gate")}
	said := Said{Text: fmt.Sprintf("%s of %s is run again.", one.Gate, one.Task), at: s.Now()}
	if _, err := s.gates.Start(r.Context(), s.Site, one); err != nil {
		said.Text, said.Bad = err.Error(), true
	}
	http.Redirect(w, r, s.back(runPath(run, "/checks"), s.said.put(said)), http.StatusSeeOther)
}

// underWay reports whether one of some has not ended.
func underWay(all []rerun.Rerun) bool {
	return slices.ContainsFunc(all, func(r rerun.Rerun) bool { return r.Ended.IsZero() })
}
