package acpcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

var (
	// errLater means that a person answers a question with the next prompt.
	errLater = errors.New("the answer comes with the next message")
	// errSettled means that a question no longer needs an answer.
	errSettled = errors.New("the question no longer needs an answer")
)

// laterID is the answer that means that the next prompt contains the answer.
const laterID = "nexus-later"

// updateQuestions asks a person the run's open questions, and cancels the ones that no longer need an
// answer.
func (t *runTracker) updateQuestions(v view.RunView) {
	for id, end := range t.asked {
		if !slices.ContainsFunc(v.Asks, func(q view.OpenQuestion) bool { return q.ID == id }) {
			end(errSettled)
			delete(t.asked, id)
		}
	}
	for _, q := range v.Asks {
		if t.asked[q.ID] != nil || t.state.QuestionByID(q.ID).Left {
			continue
		}
		var ctx context.Context
		ctx, t.asked[q.ID] = context.WithCancelCause(t.ctx)
		t.asks.Go(func() {
			text := t.s.askQuestion(ctx, v.ID, q, "")
			lost := text == ""
			if !lost {
				err := t.s.submitAnswer(ctx, v.ID, q.ID, text)
				// CodeInvalidInput means that another answer came first, so this one is not lost.
				lost = err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput})
			}
			if lost && ctx.Err() == nil && t.stop != nil {
				t.stop(errLater) // else it would wait for a question that was not asked
			}
		})
	}
}

// askQuestion asks a person a question of a run, and returns the answer: empty if the person, or
// the client, gives none before ctx ends. Price is the possible cost of a yes that was not agreed
// to yet.
func (s *editorSession) askQuestion(ctx context.Context, run nexus.RunID, q view.OpenQuestion, price string) string {
	permission := humaninput.StaysOpenAfterDeadline(q.Trigger) && slices.Contains(q.Choices, "yes")
	if s.c.SupportsForms() && !permission {
		text, err := s.c.AskText(ctx, s.agent.Console.Mask.MaskText(q.ID+": "+view.EscapeForTerminal(q.Text)), q.Choices)
		if err != nil {
			return ""
		}
		return text
	}
	text := s.escapeText(q.ID + ofTask(q.Task) + ": " + q.Text)
	call := acpserver.ToolCallView{ID: string(run) + "/" + q.ID, Title: text, Kind: "think", Status: acpserver.CallPending}
	if permission {
		call.Kind = "execute"
		call.Content = []any{acpserver.ContentBlock(s.agent.Console.Mask.MaskText(strings.TrimSpace(fenceText(q.Text) + "\n\n" + s.escapeText(price))))}
	}
	s.showCall(call)
	answer, err := s.c.AskPermission(ctx, call, answersTo(q))
	if err != nil || answer == laterID {
		answer = ""
	}
	if call.Status = acpserver.CallDone; answer == "" || answer == "no" {
		call.Status = acpserver.CallFailed
	}
	call.Content = nil // as before
	s.showCall(call)
	return answer
}

// confirmAnswer asks a person to confirm a typed answer if it needs that. It reports whether the answer
// may be given, and whether a person was asked.
func (s *editorSession) confirmAnswer(ctx context.Context, run, id, text string) (agreed, asked bool, err error) {
	v, st, err := s.readRun(ctx, run)
	if err != nil {
		return false, false, err
	}
	i := slices.IndexFunc(v.Asks, func(q view.OpenQuestion) bool { return q.ID == id })
	if i < 0 {
		return false, false, app.NotFoundError("open question", id, "/status shows those that wait for you.")
	}
	q := v.Asks[i]
	if !humaninput.StaysOpenAfterDeadline(q.Trigger) || host.IsRefusal(text) {
		return true, false, nil
	}
	title := s.escapeText(fmt.Sprintf("Answer %s%s with %s", q.ID, ofTask(q.Task), view.QuoteForTerminal(view.EscapeForTerminal(text))))
	answer, err := s.askConsent(ctx, title, fenceText(q.Text)+"\n\n"+s.escapeText(host.YesEffect(st, v.Held != nil)), allowOnce("Yes"))
	return answer == yes, true, err
}

// ofTask names the task that a question comes from.
func ofTask(t nexus.TaskID) string {
	if t == "" {
		return ""
	}
	return " of " + string(t)
}

// answersTo returns the choices of a question.
func answersTo(q view.OpenQuestion) []acpserver.PermissionOption {
	var all []acpserver.PermissionOption
	for _, c := range q.Choices {
		kind, name := "allow_once", c
		switch c {
		case "yes":
			name = "Yes"
		case "no":
			kind, name = "reject_once", "No"
		case "skip":
			kind = "reject_once"
		}
		all = append(all, acpserver.PermissionOption{ID: c, Name: name, Kind: kind})
	}
	if len(q.Choices) > 0 {
		return all
	}
	if q.Fallback != "" {
		all = append(all, acpserver.PermissionOption{ID: q.Fallback, Name: "Continue with: " + view.EscapeForTerminal(q.Fallback), Kind: "allow_once"})
	}
	return append(all, acpserver.PermissionOption{ID: laterID, Name: "Stop here; I answer in my next message", Kind: "reject_once"})
}

// submitAnswer submits a person's answer to a question.
func (s *editorSession) submitAnswer(ctx context.Context, run nexus.RunID, id, text string) error {
	r := s.agent.Run(ctx, s.newInvocation(true, "answer", "--json", "--run="+string(run), "--", id, text))
	if r.Failure != nil {
		s.sayFailure(r)
		return failureError(r)
	}
	return nil
}
