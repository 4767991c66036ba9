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
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// resume continues a run of the session, once a person agrees to it.
func (s *session) resume(ctx context.Context, name string) (acpserver.Stop, error) {
	if s.unpauses(name) {
		return s.unpause(ctx)
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
	c, err := s.prepare(app.RunOptions{Run: nexus.RunID(name)})
	if err != nil {
		return "", err
	}
	v, st, err := s.look(ctx, name)
	if err != nil {
		return "", err
	}
	if stop, err := s.askAll(ctx, v, st); stop != "" || err != nil {
		return stop, err
	}
	if len(v.Asks) > 0 {
		if v, st, err = s.look(ctx, name); err != nil {
			return "", err
		}
		if v.Status == nexus.StatusDone { // it waited only for an answer
			s.report(v)
			return acpserver.Done, nil
		}
	}
	agreed, with := false, s.chosen(c, st.Limits.Approval)
	with.tier = "" // a run that has begun keeps its own
	price, more := host.PriceOf(st), raised(c, st)
	if more.money > 0 {
		price.Most = more.money - st.Goal.Planning - st.Ledger.Spent()
	}
	if !with.allowed(c, "resume") || price.Land && !with.allowed(c, "land") {
		what := fmt.Sprintf("Continue run %s:\n\n%s\n\nIts status is %s: %d of %d tasks landed, %s of %s spent. ",
			v.ID, s.goalText(v.Goal), v.Status, v.Counts.Landed, v.Counts.Total, v.Money.Spent, v.Money.Limit) +
			s.plain(price.String()) + more.String() + with.String()
		answer, err := s.consent(ctx, fmt.Sprintf("Continue the run, for at most $%.2f more", price.Most.Float()), what, once("Continue"))
		if answer == "" || err != nil {
			return acpserver.Done, err
		}
		agreed = true
	}
	flags, err := s.flags(with)
	if err != nil {
		return "", err
	}
	args := slices.Concat([]string{"resume", "--json"}, more.flags(), flags, []string{"--", string(v.ID)})
	return s.conduct(ctx, s.order(agreed, args...))
}

// askAll asks the open questions of a run, which would stop it again. It returns the reason why
// the run is not continued: empty if every question was answered.
func (s *session) askAll(ctx context.Context, v view.Run, st *state.State) (acpserver.Stop, error) {
	for _, q := range v.Asks {
		wait, end := s.patient(ctx)
		text := s.askQuestion(wait, v.ID, q, host.YesTakes(st, v.Held != nil))
		end() // the person has answered
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case text == "" && len(q.Choices) == 0:
			s.say("%s waits for you, and the run does not continue. Your next message is the answer.", q.ID)
			return acpserver.Done, nil
		case text == "":
			s.say("%s waits for your answer, and the run does not continue.", q.ID)
			return acpserver.Done, nil
		}
		if err := s.answer(ctx, v.ID, q.ID, text); err != nil {
			return "", err
		}
		s.say("Your answer to %s is recorded.", q.ID)
	}
	return "", nil
}

// limits are the new limits of a run that stopped at its own; zero: unchanged.
type limits struct {
	money   nexus.Money
	time    time.Duration
	endless bool // no time limit
}

// raised returns the configured limits that are higher than the limits that a run reached.
func raised(c config.Config, st *state.State) (l limits) {
	if st.Status != nexus.StatusLimit {
		return l
	}
	if c.Limits.RunMoney-st.Goal.Planning > st.Ledger.Limit() {
		l.money = c.Limits.RunMoney
	}
	if own := st.Limits.RunTime; own > 0 && c.Limits.RunTime > own {
		l.time = c.Limits.RunTime
	} else {
		l.endless = own > 0 && c.Limits.RunTime == 0
	}
	return l
}

func (l limits) flags() (all []string) {
	if l.money > 0 {
		all = append(all, budget(l.money))
	}
	if l.time > 0 || l.endless {
		all = append(all, "--max-time="+l.time.String())
	}
	return all
}

// String formats the limits for the person who agrees, to follow another sentence.
func (l limits) String() (text string) {
	if l.money > 0 {
		text = fmt.Sprintf(" Its budget is raised to $%.2f, as configured now.", l.money.Float())
	}
	switch {
	case l.endless:
		text += " It no longer has a time limit, as configured now."
	case l.time > 0:
		text += " Its time limit is raised to " + view.Duration(l.time) + ", as configured now."
	}
	return text
}

// unpause continues the paused run that a prompt of the session conducts. Its spending and
// landing were agreed to when it began. After an alert, a person must agree again.
func (s *session) unpause(ctx context.Context) (acpserver.Stop, error) {
	c, err := s.settings()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	run, alarm, agreed := s.held, s.alarm, false
	s.mu.Unlock()
	if run == "" {
		return acpserver.Done, nil // it has ended, and reports that
	}
	if alarm != "" {
		_, st, err := s.look(ctx, string(run))
		if err != nil {
			return "", err
		}
		if !s.chosen(c, st.Limits.Approval).allowed(c, "resume") {
			what := "Continue the run, which an alert has paused:\n\n" + fenced(alarm)
			answer, err := s.consent(ctx, "Continue the run after an alert", what, once("Continue"))
			if answer == "" || err != nil {
				return acpserver.Done, err
			}
			agreed = true
		}
	}
	at := s.agent.at(s.dir)
	p, err := at.Open(ctx, app.ChangeAccess)
	if err != nil {
		return "", err
	}
	defer p.Close()
	if err := s.still(run, alarm); err != nil {
		return "", err
	}
	if _, err := p.Journal.Ask(ctx, run, nexus.Request{Verb: nexus.VerbResume, By: s.order(agreed).Actor}); err != nil {
		return "", err
	}
	s.say("Run %s continues.", run)
	return acpserver.Done, nil
}

// still returns the error of a run whose pause changed after the person saw it.
func (s *session) still(run nexus.RunID, alarm string) error {
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

// look returns the view and the state of a run.
func (s *session) look(ctx context.Context, name string) (view.Run, *state.State, error) {
	at := s.agent.at(s.dir)
	p, err := at.Open(ctx, app.ReadAccess)
	if err != nil {
		return view.Run{}, nil, err
	}
	defer p.Close()
	r, err := p.Run(ctx, name)
	if err != nil {
		return view.Run{}, nil, err
	}
	st, err := p.Replay(ctx, r.ID)
	if err != nil {
		return view.Run{}, nil, err
	}
	return s.agent.Console.RunView(r, st), st, nil
}
