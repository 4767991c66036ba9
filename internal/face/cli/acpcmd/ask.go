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
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
)

var (
	// errLater means that a person answers a question with the next prompt.
	errLater = errors.New("the answer comes with the next message")
	// errSettled means that a question no longer needs an answer.
	errSettled = errors.New("the question no longer needs an answer")
)

// laterID is the answer that means that the next prompt contains the answer.
const laterID = "nexus-later"

// question asks a person the run's open questions, and cancels the ones that no longer need an
// answer.
func (t *tracker) question(v view.Run) {
	for id, end := range t.asked {
		if !slices.ContainsFunc(v.Asks, func(q view.Ask) bool { return q.ID == id }) {
			end(errSettled)
			delete(t.asked, id)
		}
	}
	for _, q := range v.Asks {
		if t.asked[q.ID] != nil || t.state.Question(q.ID).Left {
			continue
		}
		var ctx context.Context
		ctx, t.asked[q.ID] = context.WithCancelCause(t.ctx)
		t.asks.Go(func() {
			text := t.s.askQuestion(ctx, v.ID, q, "")
			lost := text == ""
			if !lost {
				err := t.s.answer(ctx, v.ID, q.ID, text)
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
func (s *session) askQuestion(ctx context.Context, run nexus.RunID, q view.Ask, price string) string {
	permission := humaninput.StaysOpen(q.Trigger) && slices.Contains(q.Choices, "yes")
	if s.c.SupportsForms() && !permission {
		text, err := s.c.Elicit(ctx, s.agent.Console.Mask.Text(q.ID+": "+view.Clean(q.Text)), q.Choices)
		if err != nil {
			return ""
		}
		return text
	}
	text := s.plain(q.ID + of(q.Task) + ": " + q.Text)
	call := acpserver.Call{ID: string(run) + "/" + q.ID, Title: text, Kind: "think", Status: acpserver.CallPending}
	if permission {
		call.Kind = "execute"
		call.Content = []any{acpserver.Block(s.agent.Console.Mask.Text(strings.TrimSpace(fenced(q.Text) + "\n\n" + s.plain(price))))}
	}
	s.show(call)
	answer, err := s.c.Permit(ctx, call, answersTo(q))
	if err != nil || answer == laterID {
		answer = ""
	}
	if call.Status = acpserver.CallDone; answer == "" || answer == "no" {
		call.Status = acpserver.CallFailed
	}
	call.Content = nil // as before
	s.show(call)
	return answer
}

// agree asks a person to confirm a typed answer if it needs that. It reports whether the answer
// may be given, and whether a person was asked.
func (s *session) agree(ctx context.Context, run, id, text string) (agreed, asked bool, err error) {
	v, st, err := s.look(ctx, run)
	if err != nil {
		return false, false, err
	}
	i := slices.IndexFunc(v.Asks, func(q view.Ask) bool { return q.ID == id })
	if i < 0 {
		return false, false, app.NotFound("open question", id, "/status shows those that wait for you.")
	}
	q := v.Asks[i]
	if !humaninput.StaysOpen(q.Trigger) || host.Refuses(text) {
		return true, false, nil
	}
	title := s.plain(fmt.Sprintf("Answer %s%s with %s", q.ID, of(q.Task), view.Quote(view.Clean(text))))
	answer, err := s.consent(ctx, title, fenced(q.Text)+"\n\n"+s.plain(host.YesTakes(st, v.Held != nil)), once("Yes"))
	return answer == yes, true, err
}

// of names the task that a question comes from.
func of(t nexus.TaskID) string {
	if t == "" {
		return ""
	}
	return " of " + string(t)
}

// answersTo returns the choices of a question.
func answersTo(q view.Ask) []acpserver.Answer {
	var all []acpserver.Answer
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
		all = append(all, acpserver.Answer{ID: c, Name: name, Kind: kind})
	}
	if len(q.Choices) > 0 {
		return all
	}
	if q.Fallback != "" {
		all = append(all, acpserver.Answer{ID: q.Fallback, Name: "Continue with: " + view.Clean(q.Fallback), Kind: "allow_once"})
	}
	return append(all, acpserver.Answer{ID: laterID, Name: "Stop here; I answer in my next message", Kind: "reject_once"})
}

// answer submits a person's answer to a question.
func (s *session) answer(ctx context.Context, run nexus.RunID, id, text string) error {
	r := s.agent.Run(ctx, s.order(true, "answer", "--json", "--run="+string(run), "--", id, text))
	if r.Failure != nil {
		s.sayFailure(r)
		return failed(r)
	}
	return nil
}
