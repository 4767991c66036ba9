package diagnosecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/runexplanation"
)

// modelExplanation is a model's explanation, limited to statements that name events.
type modelExplanation struct {
	Model      string                            `json:"model"` // the model that wrote it
	Money      nexus.Money                       `json:"money"`
	Statements []runexplanation.SourcedStatement `json:"statements"`
	Dropped    []string                          `json:"dropped"` // statements without valid evidence, with the reason
}

// explainDiagnosis lets a model explain a diagnosis, after it showed the price.
func explainDiagnosis(ctx context.Context, a *console.Console, p *app.Repository, d diagnosisAnswer) (*modelExplanation, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	c := explanationCase(d)
	sitting, ctx, err := a.OpenAdhocSessions(ctx, settings, nexus.Explainer, provider.TrafficRecordingOptions{}, nil)
	if err != nil {
		return nil, err
	}
	defer sitting.Close(ctx)
	model, err := sitting.PickModel("")
	if err != nil {
		return nil, err
	}
	tokens := c.EstimateInputTokens()
	price := "at an unknown price"
	if m := model.Price(nexus.Usage{Input: tokens, Output: runexplanation.Output}, llm.BillingTerms{}); m > 0 {
		price = "about " + m.String()
	}
	a.Say("the explanation reads about %s tokens with %s, %s; at most %s", view.FormatNumber(tokens),
		view.EscapeForTerminal(model.Name), price, settings.Limits.RunMoney)
	said, err := sitting.Ask(ctx, app.AdhocSessionRequest{Session: runexplanation.Session, Dir: p.Repo.Work, Text: c.ExplainerMessage(), Handin: runexplanation.SubmissionSchema()})
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
	x := &modelExplanation{Model: said.Model, Money: sitting.SpentMoney(), Statements: []runexplanation.SourcedStatement{}, Dropped: []string{}}
	kept, dropped, err := c.ReadExplanation(said.Handin)
	x.Statements, x.Dropped = append(x.Statements, kept...), append(x.Dropped, dropped...)
	return x, err
}

// explanationCase returns the case to explain: the events of the run, or of the task.
func explanationCase(d diagnosisAnswer) runexplanation.ExplanationSubject {
	c := runexplanation.ExplanationSubject{About: "why the run is " + d.Status}
	if d.Task != "" {
		c.About = "why task " + string(d.Task) + " is " + d.Status
	}
	for _, k := range d.Causes {
		c.Causes = append(c.Causes, fmt.Sprintf("%s: %s: %s (events %s)", k.Pattern, view.EscapeForTerminal(k.Symptom),
			view.EscapeForTerminal(k.Why), eventNumbers(k.Events)))
	}
	for _, e := range d.events {
		if d.Task != "" && !view.IsAboutTask(e.Fact, d.Task) {
			continue
		}
		about, text := view.DescribeFact(e.Fact)
		c.Events = append(c.Events, runexplanation.EventDescription{Seq: e.Seq, Text: strings.TrimSpace(view.EscapeForTerminal(about + " " + text))})
	}
	return c
}

// drawExplanation draws a model's explanation, marked so that nobody mistakes it for a fact.
func drawExplanation(s view.OutputStyle, x *modelExplanation) string {
	if x == nil {
		return ""
	}
	text := "\n" + s.Bold("explanation by "+view.EscapeForTerminal(x.Model)) + " " + s.Dim("(a model: verify it with the events; "+x.Money.String()+")") + "\n"
	for _, st := range x.Statements {
		text += s.Wrap(view.EscapeForTerminal(st.Text)+" "+s.Dim("[events "+eventNumbers(st.Events)+"]"), "  ") + "\n"
	}
	if len(x.Statements) == 0 {
		text += "  none of its statements names an event\n"
	}
	for _, why := range x.Dropped {
		text += s.Wrap(s.Dim("dropped: "+view.EscapeForTerminal(why)), "  ") + "\n"
	}
	return text
}
