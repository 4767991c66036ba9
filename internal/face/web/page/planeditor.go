package page

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/estimatetext"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// maxPlan limits the plan in a form, in bytes.
const maxPlan = 1 << 20

// PlanEditorPage is the plan of a run, with a person's edits.
type PlanEditorPage struct {
	Tasks    []projection.TaskDetailView
	Waiting  []projection.InboxItem
	About    projection.PlanApprovalFacts
	Question string // the question about the plan; empty: none
	Text     string // the plan as Markdown
	Before   string // the refused or edited plans, and their differences

	Edited  string // a person's edited text; empty: none
	Looked  bool   // Goal and Changes are the differences
	Goal    string // the new goal
	Changes []plandiff.TaskChange
	Wrong   string // why the edited text cannot be used
	Line    int    // line of the error; 0: unknown
	Near    []ErrorContextLine
}

// ErrorContextLine is a line near an error.
type ErrorContextLine struct {
	N    int
	Text string
	Here bool
}

func (s *PageHandlers) planPage(r *http.Request) (templ.Component, error) {
	f, p, err := s.readPlanEditor(r)
	return planScreen(f, p), err
}

// readPlanEditor reads the plan of a run as the terminal shows it.
func (s *PageHandlers) readPlanEditor(r *http.Request) (PageFrame, PlanEditorPage, error) {
	var p PlanEditorPage
	f, err := s.newFrame(r, "plan", "Plan", func(run *projection.RunProjection, f *PageFrame) error {
		for _, c := range run.TaskCards(f.Now) {
			if t, ok := run.TaskDetailView(c.ID, f.Now); ok {
				p.Tasks = append(p.Tasks, t)
			}
		}
		p.About = run.PlanApprovalFacts()
		for _, i := range run.InboxItems(f.Now) {
			if i.Trigger == nexus.PlanTrigger {
				p.Waiting, p.Question = append(p.Waiting, i), i.ID
			}
		}
		return nil
	})
	if err != nil || len(p.Tasks) == 0 {
		return f, p, err
	}
	if result := s.runCommand(r.Context(), "plan", "--run", string(f.Run.ID), "--markdown"); !result.Failed() {
		p.Text = result.Text
	}
	var said struct {
		Drafts []json.RawMessage `json:"drafts"`
	}
	if result := s.runCommand(r.Context(), "plan", "--run", string(f.Run.ID), "--diff", "--json"); result.Read(&said) == "" && len(said.Drafts) > 0 {
		p.Before = result.Text
	}
	return f, p, nil
}

// submitPlanEdit handles a person's edited version of the plan in a question: it shows the differences, or
// submits it to the run.
func (s *PageHandlers) submitPlanEdit(w http.ResponseWriter, r *http.Request) {
	in, ok := readForm(w, r)
	if !ok {
		return
	}
	text := strings.ReplaceAll(in.Get("plan"), "\r\n", "\n")
	run, approve := r.PathValue("run"), in.Get("do") == "approve"
	args := []string{"plan", "--run", run, "--json", "--diff", "--edited", "-"}
	if approve {
		args = []string{"approve", "--run", run, "--plan", "-", "--", in.Get("question")}
	}
	result := s.Act(context.WithoutCancel(r.Context()), access.PersonFrom(r.Context()), access.CommandInput{Args: args, Stdin: text})
	if approve && !result.Failed() {
		said := ActionResult{Text: cmp.Or(strings.TrimSpace(result.Text), "The plan is approved."), at: s.Now()}
		http.Redirect(w, r, s.returnURL(runPath(nexus.RunID(run), "/plan"), s.said.storeResult(said)), http.StatusSeeOther)
		return
	}
	s.screenHandler(func(r *http.Request) (templ.Component, error) {
		f, p, err := s.readPlanEditor(r)
		f.Live = false // the edited text and the remarks stay
		p.Edited = text
		p.applyCheckResult(result)
		return planScreen(f, p), err
	}).ServeHTTP(w, r)
}

// wrongLine matches the line number in an error about a plan.
var wrongLine = regexp.MustCompile(`\bline (\d+)`)

// applyCheckResult reads the result of a command about the edited plan.
func (p *PlanEditorPage) applyCheckResult(result access.CommandLineResult) {
	if result.Failed() {
		p.Wrong = strings.TrimSpace(cmp.Or(result.Text, "It cannot be used.") + "\n" + result.Hint)
		if m := wrongLine.FindStringSubmatch(result.Text); m != nil {
			p.Line, _ = strconv.Atoi(m[1]) // it is digits; an overflow counts as no line
		}
		p.Near = surroundingLines(p.Edited, p.Line)
		return
	}
	var told struct {
		Goal    string
		Changes []plandiff.TaskChange
	}
	if p.Wrong = result.Read(&told); p.Wrong == "" {
		p.Looked, p.Goal, p.Changes = true, told.Goal, told.Changes
	}
}

// surroundingLines returns a line of a text with the lines around it.
func surroundingLines(text string, line int) []ErrorContextLine {
	const around = 2
	var some []ErrorContextLine
	for i, t := range strings.Split(text, "\n") {
		if n := i + 1; line > 0 && n >= line-around && n <= line+around {
			some = append(some, ErrorContextLine{n, t, n == line})
		}
	}
	return some
}

// currentText returns the text in the editor.
func (p PlanEditorPage) currentText() string { return cmp.Or(p.Edited, p.Text) }

// planApprovalNote is a fact for a person who is to agree to a plan.
type planApprovalNote struct{ Name, Title, Text string }

// planNotes returns the parts that the terminal shows around the table of a plan.
func (p PlanEditorPage) planNotes() (all []planApprovalNote) {
	add := func(name, title string, lines ...string) {
		if text := strings.Trim(strings.Join(lines, "\n"), "\n"); text != "" {
			all = append(all, planApprovalNote{name, title, text})
		}
	}
	if p.About.Estimate != nil {
		w := estimatetext.DescribeEstimate(*p.About.Estimate)
		add("estimate", "Estimate", estimateText(*p.About.Estimate))
		var tasks []string
		for _, t := range w.Tasks {
			tasks = append(tasks, strings.TrimSuffix(t.Text+"\n  "+t.Parts, "\n  "))
		}
		add("by-task", "Estimate of each task", tasks...)
	}
	add("critical", "Critical path", taskList(p.About.Critical))
	var assumed []string
	for n, a := range p.About.Assumed {
		assumed = append(assumed, "P-"+formatInt(n+1)+": "+a)
	}
	add("assumed", "Assumptions", assumed...)
	add("risks", "Risks", p.About.RiskLines()...)
	add("before", "Earlier plans", p.Before)
	return all
}

// estimateText describes the estimate of a plan, as the terminal does in its question.
func estimateText(e nexus.PlanEstimate) string {
	w := estimatetext.DescribeEstimate(e)
	return strings.TrimSpace(escapeLines("time: " + w.Time + "\nmoney: " + w.Money + "\n" + w.From))
}
