package statuscmd

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/common/transcript"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/taskdetail"
)

// showTask prints the details of a task, or of one attempt at it.
func showTask(a *console.Console, p *app.Repository, s app.RunSubject) error {
	t := s.State.TaskByID(s.Task)
	v := taskdetail.NewTaskDetail(s.State, a.RunView(s.RecordedRun, s.State), t, s.Attempt)
	v.Report = escalationReport(p, t.Report)
	return a.Answer(v, func(s view.OutputStyle) string { return taskdetail.DrawTaskDetail(s, v) })
}

// sessionDetails is the JSON output about a session.
type sessionDetails struct {
	Run nexus.RunID `json:"run"`
	transcript.ConversationTranscript
}

// showSession prints a session's messages, or its raw requests.
func showSession(ctx context.Context, o *Options, p *app.Repository, s app.RunSubject) error {
	store, err := p.OpenBlobStore()
	if err != nil {
		return err
	}
	t, ok, err := transcript.ReadConversation(s.Session, p.Journal.Events(ctx, s.ID, 0), store.Get)
	if err != nil {
		return err
	}
	if !ok {
		return app.NotFoundError("session", string(s.Session), "Use a name such as T1.1/coder.1. nexus status TASK lists the sessions of a task.")
	}
	switch o.Form {
	case Overview, Result:
		return o.Console.Answer(sessionDetails{s.ID, t}, t.Draw)
	case Raw:
		return printRequests(o.Console, t)
	case Report, Evidence, Trace, Health:
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "--" + string(o.Form) + " is about a whole run, and " + view.QuoteForTerminal(o.Name) + " is a part of one",
		Hint: "Leave out the name, or the flag.",
	}
}

// printRequests prints the requests of a session as they were sent.
func printRequests(a *console.Console, t transcript.ConversationTranscript) error {
	for _, request := range t.Requests {
		line, err := json.Marshal(request)
		if err != nil {
			return fmt.Errorf("encode what %s sent: %w", t.Session, err)
		}
		if err := a.Print(string(line) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// showResult prints how a run ended, or stands, and the next steps.
func showResult(ctx context.Context, a *console.Console, p *app.Repository, s app.RunSubject) error {
	v := a.RunView(s.RecordedRun, s.State)
	if err := console.AddCauses(ctx, p, s.State, &v); err != nil {
		return err
	}
	return a.Answer(v, func(s view.OutputStyle) string { return view.DrawReport(s, v, true) })
}

// escalationReport returns the text of a task's escalation report; empty if there is none.
func escalationReport(p *app.Repository, hash string) string {
	if hash == "" {
		return ""
	}
	store, err := p.OpenBlobStore()
	if err != nil {
		return ""
	}
	text, _ := store.Get(hash)
	return string(text)
}
