package runscmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/explain"
)

// explanation is a model's explanation, limited to statements that name events.
type explanation struct {
	Model      string              `json:"model"` // the model that wrote it
	Money      nexus.Money         `json:"money"`
	Statements []explain.Statement `json:"statements"`
	Dropped    []string            `json:"dropped"` // statements without valid evidence, with the reason
}

// explained lets a model explain a diagnosis, after it showed the price.
func explained(ctx context.Context, a *console.Console, p *app.Repository, d diagnosis) (*explanation, error) {
	settings, _, err := a.Settings()
	if err != nil {
		return nil, err
	}
	c := caseOf(d)
	sitting, ctx, err := a.OpenAdhoc(ctx, settings, nexus.Explainer, provider.Traffic{}, nil)
	if err != nil {
		return nil, err
	}
	defer sitting.Close(ctx)
	model, err := sitting.Pick("")
	if err != nil {
		return nil, err
	}
	tokens := c.Input()
	price := "at an unknown price"
	if m := model.Price(nexus.Usage{Input: tokens, Output: explain.Output}, llm.Terms{}); m > 0 {
		price = "about " + m.String()
	}
	a.Say("the explanation reads about %s tokens with %s, %s; at most %s", view.Number(tokens),
		view.Clean(model.Name), price, settings.Limits.RunMoney)
	said, err := sitting.Ask(ctx, app.SessionRequest{Session: explain.Session, Dir: p.Repo.Work, Text: c.Message(), Handin: explain.Schema()})
	if err != nil {
		return nil, err
	}
	if said.Outcome != nexus.Accepted {
		code := nexus.CodeNothingProposed
		switch said.Outcome {
		case nexus.Exhausted:
			code = nexus.CodeLimit
		case nexus.Refused:
			code = nexus.CodeBudget
		default:
		}
		return nil, &nexus.Error{
			Code: code, Message: fmt.Sprintf("no explanation: %s: %s", said.Outcome, said.Why),
			Hint: "The known causes need no model: leave out --explain. Or raise --budget, or name another --model.",
		}
	}
	x := &explanation{Model: said.Model, Money: sitting.Spent(), Statements: []explain.Statement{}, Dropped: []string{}}
	kept, dropped, err := c.Read(said.Handin)
	x.Statements, x.Dropped = append(x.Statements, kept...), append(x.Dropped, dropped...)
	return x, err
}

// caseOf returns the case to explain: the events of the run, or of the task.
func caseOf(d diagnosis) explain.Case {
	c := explain.Case{About: "why the run is " + d.Status}
	if d.Task != "" {
		c.About = "why task " + string(d.Task) + " is " + d.Status
	}
	for _, k := range d.Causes {
		c.Causes = append(c.Causes, fmt.Sprintf("%s: %s: %s (events %s)", k.Pattern, view.Clean(k.Symptom),
			view.Clean(k.Why), numbers(k.Events)))
	}
	for _, e := range d.events {
		if d.Task != "" && !view.IsAbout(e.Fact, d.Task) {
			continue
		}
		about, text := view.Describe(e.Fact)
		c.Events = append(c.Events, explain.Event{Seq: e.Seq, Text: strings.TrimSpace(view.Clean(about + " " + text))})
	}
	return c
}

// drawExplanation draws a model's explanation, marked so that nobody mistakes it for a fact.
func drawExplanation(s view.Style, x *explanation) string {
	if x == nil {
		return ""
	}
	text := "\n" + s.Bold("explanation by "+view.Clean(x.Model)) + " " + s.Dim("(a model: verify it with the events; "+x.Money.String()+")") + "\n"
	for _, st := range x.Statements {
		text += s.Wrap(view.Clean(st.Text)+" "+s.Dim("[events "+numbers(st.Events)+"]"), "  ") + "\n"
	}
	if len(x.Statements) == 0 {
		text += "  none of its statements names an event\n"
	}
	for _, why := range x.Dropped {
		text += s.Wrap(s.Dim("dropped: "+view.Clean(why)), "  ") + "\n"
	}
	return text
}
