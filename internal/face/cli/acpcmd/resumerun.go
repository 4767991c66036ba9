package acpcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// resumeRun continues a run of the session, once a person agrees to it.
func (s *editorSession) resumeRun(ctx context.Context, name string) (acpserver.PromptStopReason, error) {
	if s.resumesPausedRun(name) {
		return s.resumePausedRun(ctx)
	}
	s.mu.Lock()
	name = cmp.Or(name, string(s.run))
	held := s.held
	s.mu.Unlock()
	if held != "" { // it was continued in the meantime
		return "", &nexus.Error{
			Code: nexus.CodeRunHeld, Message: "run " + string(held) + " of this session is in progress",
			Hint: "Wait until its prompt is done, or cancel it.",
		}
	}
	if name == "" {
		return "", &nexus.Error{
			Code: nexus.CodeNotFound, Message: "this session has no run yet", Hint: "Type what you want done, or name a run: /resume RUN.",
		}
	}
	c, err := s.checkStart(app.RunOptions{Run: nexus.RunID(name)})
	if err != nil {
		return "", err
	}
	v, st, err := s.readRun(ctx, name)
	if err != nil {
		return "", err
	}
	if stop, err := s.askOpenQuestions(ctx, v, st); stop != "" || err != nil {
		return stop, err
	}
	if len(v.Asks) > 0 {
		if v, st, err = s.readRun(ctx, name); err != nil {
			return "", err
		}
		if v.Status == nexus.StatusDone { // it waited only for an answer
			s.reportRun(v)
			return acpserver.PromptDone, nil
		}
	}
	agreed, with := false, s.chosenOptions(c, st.Limits.Approval)
	with.tier = "" // a run that has begun keeps its own
	price, more := host.RemainingPrice(st), readRaisedLimits(c, st)
	if more.money > 0 {
		price.Most = more.money - st.Goal.Planning - st.Ledger.SpentMoney()
	}
	if !with.isPreapproved(c, "resume") || price.Land && !with.isPreapproved(c, "land") {
		what := fmt.Sprintf("Continue run %s:\n\n%s\n\nIts status is %s: %d of %d tasks landed, %s of %s spent. ",
			v.ID, s.goalText(v.Goal), v.Status, v.Counts.Landed, v.Counts.Total, v.Money.Spent, v.Money.Limit) +
			s.escapeText(price.String()) + more.String() + with.String()
		answer, err := s.askConsent(ctx, fmt.Sprintf("Continue the run, for at most %s more", price.Most), what, allowOnce("Continue"))
		if answer == "" || err != nil {
			return acpserver.PromptDone, err
		}
		agreed = true
	}
	flags, err := s.agreedFlags(with)
	if err != nil {
		return "", err
	}
	args := slices.Concat([]string{"resume", "--json"}, more.flags(), flags, []string{"--", string(v.ID)})
	return s.runAndReport(ctx, s.newInvocation(agreed, args...))
}

// askOpenQuestions asks the open questions of a run, which would stop it again. It returns the reason why
// the run is not continued: empty if every question was answered.
func (s *editorSession) askOpenQuestions(ctx context.Context, v view.RunView, st *state.State) (acpserver.PromptStopReason, error) {
	for _, q := range v.Asks {
		wait, end := s.withAnswerTimeout(ctx)
		text := s.askQuestion(wait, v.ID, q, host.YesEffect(st, v.Held != nil))
		end() // the person has answered
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case text == "" && len(q.Choices) == 0:
			s.sendMarkdown("%s waits for you, and the run does not continue. Your next message is the answer.", q.ID)
			return acpserver.PromptDone, nil
		case text == "":
			s.sendMarkdown("%s waits for your answer, and the run does not continue.", q.ID)
			return acpserver.PromptDone, nil
		}
		if err := s.submitAnswer(ctx, v.ID, q.ID, text); err != nil {
			return "", err
		}
		s.sendMarkdown("Your answer to %s is recorded.", q.ID)
	}
	return "", nil
}

// raisedLimits are the new limits of a run that stopped at its own; zero: unchanged.
type raisedLimits struct {
	money   nexus.Money
	time    time.Duration
	endless bool // no time limit
}

// readRaisedLimits returns the configured limits that are higher than the limits that a run reached.
func readRaisedLimits(c config.Config, st *state.State) (l raisedLimits) {
	if st.Status != nexus.StatusLimit {
		return l
	}
	if c.Limits.RunMoney-st.Goal.Planning > st.Ledger.RunLimit() {
		l.money = c.Limits.RunMoney
	}
	if own := st.Limits.RunTime; own > 0 && c.Limits.RunTime > own {
		l.time = c.Limits.RunTime
	} else {
		l.endless = own > 0 && c.Limits.RunTime == 0
	}
	return l
}

func (l raisedLimits) flags() (all []string) {
	if l.money > 0 {
		all = append(all, budgetFlag(l.money))
	}
	if l.time > 0 || l.endless {
		all = append(all, "--max-time="+l.time.String())
	}
	return all
}

// String formats the limits for the person who agrees, to follow another sentence.
func (l raisedLimits) String() (text string) {
	if l.money > 0 {
		text = fmt.Sprintf(" Its budget is raised to %s, as configured now.", l.money)
	}
	switch {
	case l.endless:
		text += " It no longer has a time limit, as configured now."
	case l.time > 0:
		text += " Its time limit is raised to " + view.FormatDuration(l.time) + ", as configured now."
	}
	return text
}

// resumePausedRun continues the paused run that a prompt of the session conducts. Its spending and
// landing were agreed to when it began. After an alert, a person must agree again.
func (s *editorSession) resumePausedRun(ctx context.Context) (acpserver.PromptStopReason, error) {
	c, err := s.readSettings()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	run, alarm, agreed := s.held, s.alarm, false
	s.mu.Unlock()
	if run == "" {
		return acpserver.PromptDone, nil // it has ended, and reports that
	}
	if alarm != "" {
		_, st, err := s.readRun(ctx, string(run))
		if err != nil {
			return "", err
		}
		if !s.chosenOptions(c, st.Limits.Approval).isPreapproved(c, "resume") {
			what := "Continue the run, which an alert has paused:\n\n" + fenceText(alarm)
			answer, err := s.askConsent(ctx, "Continue the run after an alert", what, allowOnce("Continue"))
			if answer == "" || err != nil {
				return acpserver.PromptDone, err
			}
			agreed = true
		}
	}
	at := s.agent.appIn(s.dir)
	p, err := at.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return "", err
	}
	defer p.Close()
	if err := s.pauseChangedError(run, alarm); err != nil {
		return "", err
	}
	if _, err := p.Journal.Ask(ctx, run, nexus.Request{Verb: nexus.VerbResume, By: s.newInvocation(agreed).Actor}); err != nil {
		return "", err
	}
	s.sendMarkdown("Run %s continues.", run)
	return acpserver.PromptDone, nil
}

// pauseChangedError returns the error of a run whose pause changed after the person saw it.
func (s *editorSession) pauseChangedError(run nexus.RunID, alarm string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == run && s.paused && s.alarm == alarm {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "run " + string(run) + " is no longer paused for the reason that was shown; nothing was done",
		Hint: "/status shows its state. /resume asks again, if it is paused.",
	}
}

// readRun returns the view and the state of a run.
func (s *editorSession) readRun(ctx context.Context, name string) (view.RunView, *state.State, error) {
	at := s.agent.appIn(s.dir)
	p, err := at.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return view.RunView{}, nil, err
	}
	defer p.Close()
	r, err := p.FindRun(ctx, name)
	if err != nil {
		return view.RunView{}, nil, err
	}
	st, err := p.Replay(ctx, r.ID)
	if err != nil {
		return view.RunView{}, nil, err
	}
	return s.agent.Console.RunView(r, st), st, nil
}
