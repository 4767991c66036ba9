package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/face/web/gatererun"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// FailedGate is a gate that did not pass, with the relevant part of its output.
type FailedGate struct {
	projection.GateView

	Task    nexus.TaskID
	Excerpt string
}

// maxExcerpt limits the lines of a gate's output on a page.
const maxExcerpt = 30

func (s *PageHandlers) checksPage(r *http.Request) (templ.Component, error) {
	var c projection.GateResultTable
	f, err := s.newFrame(r, "checks", "Checks", func(p *projection.RunProjection, _ *PageFrame) error {
		c = p.GateResults()
		return nil
	})
	var failed []FailedGate
	for _, row := range c.Rows {
		for _, g := range row.Gates {
			if g.State != nexus.Pass {
				failed = append(failed, FailedGate{g, row.Task, s.gateExcerpt(g)})
			}
		}
	}
	return checksScreen(f, c, failed, s.gates.RerunsOf(f.Run.ID)), err
}

// gateExcerpt returns the end of a gate's output if it has no findings, which are more precise.
func (s *PageHandlers) gateExcerpt(g projection.GateView) string {
	if g.Raw == "" || len(g.Findings) > 0 {
		return ""
	}
	data, err := s.Blob(g.Raw)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return truncatePart(strings.Join(lines[max(0, len(lines)-maxExcerpt):], "\n"))
}

func (s *PageHandlers) costPage(r *http.Request) (templ.Component, error) {
	var c projection.RunCostView
	f, err := s.newFrame(r, "cost", "Cost", func(p *projection.RunProjection, f *PageFrame) error {
		c = p.Cost(f.Now)
		return nil
	})
	var others []ModelCostAlternative
	if len(c.Models) > 0 && err == nil {
		var known commandjson.ModelsOutput
		_ = s.runCommand(r.Context(), "models", "--json").Read(&known) // without prices there is nothing to compare
		others = modelAlternatives(c, known.Models)
	}
	return costScreen(f, c, others), err
}

// ModelCostAlternative is the cost of a run's tokens with one model.
type ModelCostAlternative struct {
	Model string
	For   string // use of the model by the run or the settings; empty: none
	Costs nexus.Money
}

// modelAlternatives prices the tokens of a run with each model that it used or that is configured, and with
// the cheapest and the most expensive of each provider, the cheapest first.
func modelAlternatives(c projection.RunCostView, known []commandjson.ModelFacts) (all []ModelCostAlternative) {
	var usage nexus.Usage
	used := map[string]bool{}
	for _, m := range c.Models {
		usage, used[m.Of] = usage.Add(m.Usage), true
	}
	slices.SortStableFunc(known, func(a, b commandjson.ModelFacts) int { return cmp.Compare(modelCost(a, usage), modelCost(b, usage)) })
	provider := func(m commandjson.ModelFacts) string {
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
		why := joinComma(m.Serves)
		if used[m.Name] {
			why = strings.TrimPrefix(why+", this run", ", ")
		}
		first := !seen[provider(m)]
		if seen[provider(m)] = true; why != "" || first || last[provider(m)] == i {
			all = append(all, ModelCostAlternative{m.Name, why, modelCost(m, usage)})
		}
	}
	return all
}

// modelCost returns the price of tokens with a model; a missing rate counts as 0.
func modelCost(m commandjson.ModelFacts, u nexus.Usage) nexus.Money {
	if m.Price == nil {
		return 0
	}
	return m.Price.Cost(u)
}

// rerunGate runs one gate of a task again in the background.
func (s *PageHandlers) rerunGate(w http.ResponseWriter, r *http.Request) {
	f, ok := readForm(w, r)
	if !ok {
		return
	}
	run := nexus.RunID(r.PathValue("run"))
	one := gatererun.GateRerun{Run: run, Task: nexus.TaskID(f.Get("task")), Gate: f.Get("gate")}
	said := ActionResult{Text: fmt.Sprintf("%s of %s is run again.", one.Gate, one.Task), at: s.Now()}
	if _, err := s.gates.Start(r.Context(), s.WebBackend, one); err != nil {
		said.Text, said.Bad = err.Error(), true
	}
	http.Redirect(w, r, s.returnURL(runPath(run, "/checks"), s.said.storeResult(said)), http.StatusSeeOther)
}

// hasUnfinished reports whether one of the reruns has not ended.
func hasUnfinished(all []gatererun.GateRerun) bool {
	return slices.ContainsFunc(all, func(r gatererun.GateRerun) bool { return r.Ended.IsZero() })
}
