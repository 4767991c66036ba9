// Package runrequest puts requests of people into the journal of a run and waits for the answer. The
// conductor of the run settles them; without one they wait for the next.
package runrequest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ErrPatience is the cause of a context that ended because a run did not answer in time.
var ErrPatience = errors.New("there was no answer in time")

// Result is the JSON output of a command that makes a request.
type Result struct {
	Run     nexus.RunID `json:"run"`
	Seq     int64       `json:"seq"`     // of the request in the journal
	Held    bool        `json:"held"`    // the run has a conductor
	Settled bool        `json:"settled"` // the conductor answered
	Granted bool        `json:"granted"`
	Why     string      `json:"why,omitzero"`
}

// Send makes a request to the run that is named, or the default run, and prints its result.
func Send(ctx context.Context, a *console.Console, run string, wish nexus.Request) error {
	return a.ChangeSubject(ctx, run, "", func(p *app.Repository, s app.RunSubject) error {
		return SendTo(ctx, a, p, s, wish)
	})
}

// SendToTask is [Send] about a task, which may be named by one of its attempts.
func SendToTask(ctx context.Context, a *console.Console, run, task string, wish nexus.Request) error {
	return a.ChangeSubject(ctx, run, task, func(p *app.Repository, s app.RunSubject) error {
		if err := s.RequireTask(task); err != nil {
			return err
		}
		wish.Task = s.Task
		return SendTo(ctx, a, p, s, wish)
	})
}

// SendTo makes a request and prints its result.
func SendTo(ctx context.Context, a *console.Console, p *app.Repository, to app.RunSubject, wish nexus.Request) error {
	r, s := to.RecordedRun, to.State
	if why, hint := Problem(s, wish); why != "" && r.Holder == nil {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: why, Hint: hint}
	}
	wish.By = a.UserName()
	if wish.Verb == nexus.VerbStop && r.Holder == nil {
		if done, err := stopRun(ctx, a, p, r.ID, wish); done || err != nil {
			return err
		}
	}
	e, err := p.Journal.Ask(ctx, r.ID, wish)
	if err != nil {
		return err
	}
	told := Result{Run: r.ID, Seq: e.Seq, Held: r.Holder != nil}
	if told.Held {
		told, err = AwaitReply(ctx, p, told)
	}
	// Its conductor may have ended the run, and released the lease without an answer.
	if err == nil && !told.Settled {
		told, err = deliverUnanswered(ctx, a, p, told, wish)
	}
	if err != nil {
		return err
	}
	told.Why = cmp.Or(told.Why, consentEffect(s, wish))
	if told.Settled && !told.Granted {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s was refused: %s", wish.Verb, told.Why),
			Hint: "See nexus status.",
		}
	}
	return a.Answer(told, func(view.OutputStyle) string {
		switch t := s.TaskByID(wish.Task); {
		case wish.Verb == nexus.VerbRetry && (told.Granted || !told.Held):
			return retryText(t, wish, told)
		case wish.Verb == nexus.VerbTell && t.Status.HasEnded() && (told.Granted || !told.Held):
			return fmt.Sprintf("tell: kept for the next attempt at %s, which is %s; start one with: nexus retry %s\n", t.ID, t.Status, t.ID)
		case told.Granted:
			return fmt.Sprintf("%s: %s\n", wish.Verb, cmp.Or(told.Why, effect(wish)))
		case told.Held:
			return fmt.Sprintf("%s: requested; run %s has not answered yet\n", wish.Verb, r.ID)
		case isAlreadySatisfied(wish):
			return fmt.Sprintf("%s: run %s is not in progress; it stays so until nexus resume\n", wish.Verb, r.ID)
		default:
			return fmt.Sprintf("%s: recorded; run %s is not in progress, continue it with: nexus resume\n", wish.Verb, r.ID)
		}
	})
}

// isAlreadySatisfied reports whether a run without a conductor already satisfies the request.
func isAlreadySatisfied(wish nexus.Request) bool {
	return wish.Verb == nexus.VerbPause && wish.Task == "" || wish.Verb == nexus.VerbStop
}

// effect returns the result of a request that a run accepted, as text for people.
func effect(wish nexus.Request) string {
	task := string(wish.Task)
	switch {
	case wish.Verb == nexus.VerbPause && task != "":
		return task + " pauses at the next turn of its agent; continue it with: nexus resume " + task
	case wish.Verb == nexus.VerbPause:
		return "every agent pauses at its next turn; continue the run with: nexus resume"
	case wish.Verb == nexus.VerbResume && task != "":
		return task + " continues"
	case wish.Verb == nexus.VerbResume:
		return "the run continues"
	case wish.Verb == nexus.VerbStop && wish.Now:
		return "the run ends now"
	case wish.Verb == nexus.VerbStop:
		return "agents finish their turn, then the run ends"
	case wish.Verb == nexus.VerbSkip:
		return task + " is skipped"
	case wish.Verb == nexus.VerbTell:
		return "the agent of " + task + " gets the message before its next turn"
	case wish.Verb == nexus.VerbInterrupt:
		return "the agent of " + task + " is interrupted"
	case wish.Verb == nexus.VerbAnswer:
		return "the run has your answer to " + wish.ID
	case wish.Verb == nexus.VerbApprove:
		return wish.ID + " is waived"
	case wish.Verb == nexus.VerbRevise:
		return wish.ID + " has the new text"
	default:
		return "done"
	}
}

// Problem returns why a request is pointless in a run without a conductor, and what to do
// instead; empty if it is not.
func Problem(s *state.State, wish nexus.Request) (why, hint string) {
	resume := "Continue the run with nexus resume."
	if s.Status == nexus.StatusDone {
		resume = "Start another run."
	}
	t := s.TaskByID(wish.Task)
	if wish.Verb == nexus.VerbAnswer {
		return notAnswerableReason(s, wish.ID)
	}
	switch {
	case t != nil && t.Status == nexus.Landed:
		return fmt.Sprintf("%s: %s has landed", wish.Verb, t.ID), "There is nothing left to do. nexus status " + string(t.ID) + " shows what was done."
	case t != nil && t.Status == nexus.Split:
		return fmt.Sprintf("%s: %s is %s", wish.Verb, t.ID, t.Why), "Name one of those."
	case t != nil && wish.Verb == nexus.VerbTell && t.Status == nexus.Skipped:
		return fmt.Sprintf("tell: %s is %s, no agent works on it", t.ID, t.Status), fmt.Sprintf("Run nexus retry %s first, then nexus resume.", t.ID)
	case t != nil && wish.Verb == nexus.VerbInterrupt:
		return fmt.Sprintf("interrupt: no agent works on %s, because run %s is not in progress", t.ID, s.Run),
			fmt.Sprintf("nexus tell %s leaves its agent a message.", t.ID)
	case t != nil && t.Status.HasEnded() && wish.Verb == nexus.VerbPause:
		return fmt.Sprintf("pause: %s is %s", t.ID, t.Status), "nexus retry gives a task another chance."
	case t != nil && !t.IsPaused() && wish.Verb == nexus.VerbResume:
		return fmt.Sprintf("resume: %s is not paused", t.ID), resume
	case t != nil && wish.Verb == nexus.VerbSkip && t.Status == nexus.Skipped:
		return fmt.Sprintf("skip: %s is already skipped", t.ID), resume
	case t == nil && s.Status.HasEnded():
		return fmt.Sprintf("%s: run %s has ended: it is %s", wish.Verb, s.Run, s.Status), resume
	default:
		return "", ""
	}
}

// notAnswerableReason returns why a question cannot be answered any more in a run without a conductor, and
// what to do instead; empty if it can.
func notAnswerableReason(s *state.State, id string) (why, hint string) {
	hint = "No question is open in run " + string(s.Run) + "."
	if asks := s.OpenQuestions(); len(asks) > 0 {
		names := make([]string, len(asks))
		for i, q := range asks {
			names[i] = q.ID
		}
		hint = "Open questions: " + nexus.JoinWords(names) + ". nexus status shows them."
	}
	q := s.QuestionByID(id)
	switch {
	case q == nil:
		return "there is no question " + view.QuoteForTerminal(id), hint
	case q.By != "":
		return fmt.Sprintf("%s was answered by %s: %s", q.ID, q.By, q.Answer), hint
	case !slices.Contains(s.OpenQuestions(), q):
		return fmt.Sprintf("%s is no longer open", q.ID), hint
	}
	return "", ""
}

// isPublishRequest reports whether a request publishes the landed changes, or answers whether to publish
// them, and the run has nothing else left to do.
func isPublishRequest(s *state.State, wish nexus.Request) bool {
	q := s.QuestionByID(wish.ID)
	return app.CanDeliver(s) && (wish.Verb == nexus.VerbLand || wish.Verb == nexus.VerbAnswer && q != nil && q.AsksToPublish())
}

// consentEffect describes the consequence of an answer about the start of a plan; empty for other
// answers.
func consentEffect(s *state.State, wish nexus.Request) string {
	q := s.QuestionByID(wish.ID)
	switch {
	case wish.Verb != nexus.VerbAnswer || q == nil || q.Trigger != nexus.PlanTrigger:
		return ""
	case nexus.IsYes(wish.Text):
		return "the plan starts"
	case nexus.RequestedChangeIn(wish.Text) == "":
		return "no task starts, and the run ends; its plan is kept. " +
			"To get another plan, give the reason: nexus reject ID --why TEXT"
	case s.CountPlanRefusals() >= s.Limits.Refusals:
		return "no task starts, and the run ends; its plan is kept. No further plan is made"
	default:
		return "another plan is made"
	}
}

// stopRun ends a run at once in this process, because it has no conductor. It does nothing if
// another process continued the run in the meantime, or no run may continue.
func stopRun(ctx context.Context, a *console.Console, p *app.Repository, run nexus.RunID, wish nexus.Request) (done bool, err error) {
	if loop, err := p.LoopNamed(ctx, string(run)); err != nil || loop != "" {
		return err == nil, cmp.Or(err, stopLoop(ctx, a, p, loop, wish))
	}
	quiet := a.Copy()
	quiet.Quiet = true
	v, err := progress.StopRun(ctx, quiet, p, run, stopReason(wish))
	switch {
	case errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}), errors.Is(err, &nexus.Error{Code: nexus.CodeHalted}):
		return false, nil
	case err != nil:
		return false, err
	}
	told := Result{Run: run, Settled: true, Granted: true}
	return true, a.Answer(told, func(view.OutputStyle) string { return fmt.Sprintf("stop: run %s is %s\n", run, v.Status) })
}

// stopReason returns why a run without a conductor ends.
func stopReason(wish nexus.Request) string { return "stopped by " + wish.By + wish.ReasonSuffix() }

// stopLoop ends a loop that has no conductor.
func stopLoop(ctx context.Context, a *console.Console, p *app.Repository, loop nexus.RunID, wish nexus.Request) error {
	if err := a.EndLoop(ctx, p, loop, stopReason(wish)); err != nil {
		return err
	}
	told := Result{Run: loop, Settled: true, Granted: true}
	return a.Answer(told, func(view.OutputStyle) string { return fmt.Sprintf("stop: loop %s has ended\n", loop) })
}

// deliverUnanswered does an unanswered request in this process, if that ends the run's work.
func deliverUnanswered(ctx context.Context, a *console.Console, p *app.Repository, told Result, wish nexus.Request) (Result, error) {
	s, err := p.Replay(ctx, told.Run)
	if err != nil || !isPublishRequest(s, wish) {
		return told, err
	}
	return deliverNow(ctx, a, p, told)
}

// deliverNow does the agreed publishing in this process, because the run is not in progress.
func deliverNow(ctx context.Context, a *console.Console, p *app.Repository, told Result) (Result, error) {
	v, err := progress.DeliverRun(ctx, a, p, told.Run)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) {
		told.Held = true
		return AwaitReply(ctx, p, told)
	}
	told.Settled, told.Granted, told.Why = err == nil, err == nil, v.DeliveryText()
	return told, err
}

// AwaitReply waits a while for the conductor's answer.
func AwaitReply(ctx context.Context, p *app.Repository, told Result) (Result, error) {
	f, err := progress.AwaitRequestResult(ctx, p, told.Run, told.Seq)
	if f != nil {
		told.Settled, told.Granted, told.Why = true, f.Granted, f.Why
	}
	return told, err
}

// retryText describes the result of a retry: the starting point of the next attempt and, if the run
// is not in progress, that nothing continues by itself.
func retryText(t *state.TaskState, wish nexus.Request, told Result) string {
	text := fmt.Sprintf("retry: %s is tried again", t.ID)
	if !told.Granted {
		text = fmt.Sprintf("retry: recorded; run %s is not in progress, continue it with: nexus resume", told.Run)
	}
	a := t.CurrentAttempt()
	goesOn := a != nil && (a.Stage == state.Waiting && t.Status != nexus.Failed || t.Status == nexus.Skipped && a.Outcome == nexus.Accepted)
	best, ok := schedule.BestStartingTree(t)
	switch {
	case wish.Round > 0:
		return fmt.Sprintf("%s\n%s starts from round %d of %s\n", text, t.ID, wish.Round, wish.Attempt)
	case wish.Fresh, !ok && !goesOn:
		return fmt.Sprintf("%s\n%s starts from the run's branch\n", text, t.ID)
	case goesOn:
		return text + "\n"
	}
	return fmt.Sprintf("%s\n%s starts from round %d of %s, where %s; --round N picks another one, --fresh none\n", text, t.ID, best.Round, best.Attempt, best.Reach)
}
