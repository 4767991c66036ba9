package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandoutput"
	"github.com/nexus-ai-builder/nexus/internal/face/web/rerun"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Failure is a gate that did not pass, with the relevant part of its output.
type Failure struct {
	projection.Gate

	Task    nexus.TaskID
	Excerpt string
}

// maxExcerpt limits the lines of a gate's output on a page.
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

// excerpt returns the end of a gate's output if it has no findings, which are more precise.
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
	var others []Instead
	if len(c.Models) > 0 && err == nil {
		var known commandoutput.Models
		_ = s.run(r.Context(), "models", "--json").Read(&known) // without prices there is nothing to compare
		others = instead(c, known.Models)
	}
	return costScreen(f, c, others), err
}

// Instead is the cost of a run's tokens with one model.
type Instead struct {
	Model string
	For   string // use of the model by the run or the settings; empty: none
	Costs nexus.Money
}

// instead prices the tokens of a run with each model that it used or that is configured, and with
// the cheapest and the most expensive of each provider, the cheapest first.
func instead(c projection.Cost, known []commandoutput.Model) (all []Instead) {
	var usage nexus.Usage
	used := map[string]bool{}
	for _, m := range c.Models {
		usage, used[m.Of] = usage.Add(m.Usage), true
	}
	slices.SortStableFunc(known, func(a, b commandoutput.Model) int { return cmp.Compare(costs(a, usage), costs(b, usage)) })
	provider := func(m commandoutput.Model) string {
		name, _, _ := strings.Cut(m.Name, "/")
		return name
	}
	last := map[string]int{}
	for i, m := range known {
		if m.Price != nil {
			last[provider(m)] = i
		}
	}
	seen := map[string]bool{}
	for i, m := range known {
		if m.Price == nil {
			continue
		}
		why := list(m.Serves)
		if used[m.Name] {
			why = strings.TrimPrefix(why+", this run", ", ")
		}
		first := !seen[provider(m)]
		if seen[provider(m)] = true; why != "" || first || last[provider(m)] == i {
			all = append(all, Instead{m.Name, why, costs(m, usage)})
		}
	}
	return all
}

// costs returns the price of tokens with a model; a missing rate counts as 0.
func costs(m commandoutput.Model, u nexus.Usage) nexus.Money {
	if m.Price == nil {
		return 0
	}
	return m.Price.Cost(u)
}

// rerun runs one gate of a task again in the background.
func (s *Site) rerun(w http.ResponseWriter, r *http.Request) {
	f, ok := form(w, r)
	if !ok {
		return
	}
	run := nexus.RunID(r.PathValue("run"))
	one := rerun.Rerun{Run: run, Task: nexus.TaskID(f.Get("task")), Gate: f.Get("gate")}
	said := ActionResult{Text: fmt.Sprintf("%s of %s is run again.", one.Gate, one.Task), at: s.Now()}
	if _, err := s.gates.Start(r.Context(), s.Site, one); err != nil {
		said.Text, said.Bad = err.Error(), true
	}
	http.Redirect(w, r, s.back(runPath(run, "/checks"), s.said.put(said)), http.StatusSeeOther)
}

// underWay reports whether one of the reruns has not ended.
func underWay(all []rerun.Rerun) bool {
	return slices.ContainsFunc(all, func(r rerun.Rerun) bool { return r.Ended.IsZero() })
}
