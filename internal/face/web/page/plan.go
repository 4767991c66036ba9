package page

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/face/view/estimate"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// maxPlan is the largest plan that a form may have, in bytes.
const maxPlan = 1 << 20

// Planner is the plan of a run, and what somebody makes of it.
type Planner struct {
	Tasks    []projection.Task
	Waiting  []projection.Item
	About    projection.Plan
	Question string // that asks about the plan; empty: none does
	Text     string // the plan as Markdown
	Before   string // which plans were refused or edited, and what differs

	Edited  string // what somebody wrote in its place; empty: nobody did
	Looked  bool   // Goal and Changes are what would be different
	Goal    string // another one
	Changes []plandiff.Change
	Wrong   string // why what was written cannot be used
	Line    int    // which line of it is wrong; 0: nobody can say
	Near    []NearLine
}

// NearLine is a line around one that is wrong.
type NearLine struct {
	N    int
	Text string
	Here bool
}

func (s *Site) plan(r *http.Request) (templ.Component, error) {
	f, p, err := s.planner(r)
	return planScreen(f, p), err
}

// planner reads the plan of a run as the terminal shows it.
func (s *Site) planner(r *http.Request) (Frame, Planner, error) {
	var p Planner
	f, err := s.frame(r, "plan", "Plan", func(run *projection.Projection, f *Frame) error {
		for _, c := range run.Cards(f.Now) {
			if t, ok := run.Task(c.ID, f.Now); ok {
				p.Tasks = append(p.Tasks, t)
			}
		}
		p.About = run.Plan()
		for _, i := range run.Inbox(f.Now) {
			if i.Trigger == nexus.PlanTrigger {
				p.Waiting, p.Question = append(p.Waiting, i), i.ID
			}
		}
		return nil
	})
	if err != nil || len(p.Tasks) == 0 {
		return f, p, err
	}
	if result := s.run(r.Context(), "plan", "--run", string(f.Run.ID), "--markdown"); !result.Failed() {
		p.Text = result.Text
	}
	var said struct {
		Drafts []json.RawMessage `json:"drafts"`
	}
	if result := s.run(r.Context(), "plan", "--run", string(f.Run.ID), "--diff", "--json"); result.Read(&said) == "" && len(said.Drafts) > 0 {
		p.Before = result.Text
	}
	return f, p, nil
}

// edit takes a plan that somebody wrote in place of the one that the run asks about: it says
// what would be different, or lets the run have it.
func (s *Site) edit(w http.ResponseWriter, r *http.Request) {
	in, ok := form(w, r)
	if !ok {
		return
	}
	text := strings.ReplaceAll(in.Get("plan"), "\r\n", "\n")
	run, approve := r.PathValue("run"), in.Get("do") == "approve"
	args := []string{"plan", "--run", run, "--json", "--diff", "--edited", "-"}
	if approve {
		args = []string{"approve", "--run", run, "--plan", "-", "--", in.Get("question")}
	}
	result := s.Act(context.WithoutCancel(r.Context()), access.From(r.Context()), access.Order{Args: args, Stdin: text})
	if approve && !result.Failed() {
		said := ActionResult{Text: cmp.Or(strings.TrimSpace(result.Text), "The plan is approved."), at: s.Now()}
		http.Redirect(w, r, s.back(runPath(nexus.RunID(run), "/plan"), s.said.put(said)), http.StatusSeeOther)
		return
	}
	s.show(func(r *http.Request) (templ.Component, error) {
		f, p, err := s.planner(r)
		f.Live = false // what was written and what is said of it stay
		p.Edited = text
		p.weigh(result)
		return planScreen(f, p), err
	}).ServeHTTP(w, r)
}

// wrongLine is where an error says which line of a plan is wrong.
var wrongLine = pattern.Lazy(`\bline (\d+)`)

// weigh takes what a command said of the edited plan.
func (p *Planner) weigh(result access.Result) {
	if result.Failed() {
		p.Wrong = strings.TrimSpace(cmp.Or(result.Text, "It cannot be used.") + "\n" + result.Hint)
		if m := wrongLine().FindStringSubmatch(result.Text); m != nil {
			p.Line, _ = strconv.Atoi(m[1]) // it is digits; too many of them name no line
		}
		p.Near = near(p.Edited, p.Line)
		return
	}
	var told struct {
		Goal    string
		Changes []plandiff.Change
	}
	if p.Wrong = result.Read(&told); p.Wrong == "" {
		p.Looked, p.Goal, p.Changes = true, told.Goal, told.Changes
	}
}

// near returns a line of a text with those around it.
func near(text string, line int) []NearLine {
	const around = 2
	var some []NearLine
	for i, t := range strings.Split(text, "\n") {
		if n := i + 1; line > 0 && n >= line-around && n <= line+around {
			some = append(some, NearLine{n, t, n == line})
		}
	}
	return some
}

// now is the text that is edited.
func (p Planner) now() string { return cmp.Or(p.Edited, p.Text) }

// beside is something that a person should know who agrees to a plan.
type beside struct{ Name, Title, Text string }

// notes are what the terminal says around the table of a plan.
func (p Planner) notes() (all []beside) {
	add := func(name, title string, lines ...string) {
		if text := strings.Trim(strings.Join(lines, "\n"), "\n"); text != "" {
			all = append(all, beside{name, title, text})
		}
	}
	if p.About.Estimate != nil {
		w := estimate.Of(*p.About.Estimate)
		add("estimate", "Estimate", takes(*p.About.Estimate))
		var tasks []string
		for _, t := range w.Tasks {
			tasks = append(tasks, strings.TrimSuffix(t.Text+"\n  "+t.Parts, "\n  "))
		}
		add("by-task", "Estimate of each task", tasks...)
	}
	add("critical", "Critical path", taskList(p.About.Critical))
	var assumed []string
	for n, a := range p.About.Assumed {
		assumed = append(assumed, "P-"+number(n+1)+": "+a)
	}
	add("assumed", "Assumptions", assumed...)
	add("risks", "Risks", p.About.Dangers()...)
	add("before", "Earlier plans", p.Before)
	return all
}

// takes says what a plan is thought to take, as the terminal does when it asks.
func takes(e nexus.Estimate) string {
	w := estimate.Of(e)
	return strings.TrimSpace(cleanText("time: " + w.Time + "\nmoney: " + w.Money + "\n" + w.From))
}
