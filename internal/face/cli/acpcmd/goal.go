package acpcmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// The answers to a request for agreement before money is spent or a change lands.
const (
	yes     = "yes"
	always  = "always"
	andLand = "land"
	no      = "no"
	other   = "other" // no, and the person gives a reason
)

// errNobody means that a person did not answer within the time limit of questions.
var errNobody = errors.New("there was no answer in time")

// settings reads the configuration, for each prompt, so that the user can withdraw permissions.
func (s *session) settings() (config.Config, error) {
	at := s.agent.at(s.dir)
	c, _, err := at.Settings()
	return c, err
}

// prepare reads the configuration, and returns an error if the work cannot start, before a person
// is asked to agree to it.
func (s *session) prepare(o app.RunOptions) (config.Config, error) {
	at := s.agent.at(s.dir)
	c, err := s.settings()
	if err != nil {
		return c, err
	}
	return c, errors.Join(at.CheckModels(c, o), app.CheckTrust(s.top, at.Trust()))
}

// allowed reports whether the user agreed to an action in the configuration. An action that a
// person wants to review first is never allowed in advance.
func (o agreedOptions) allowed(c config.Config, name string) bool {
	return slices.Contains(c.Editors, name) && !o.approval.Holds(nexus.ApproveAll)
}

// consent shows an action that costs money or lands a change, asks a person to agree to it, and
// returns the answer: empty if the person gives none.
func (s *session) consent(ctx context.Context, title, what string, answers ...acpserver.Answer) (string, error) {
	id := "consent-" + strings.ToLower(rand.Text()) // a session that is loaded again knows no earlier IDs
	call := acpserver.Call{ID: id, Title: title, Kind: "think", Status: acpserver.CallPending}
	call.Content = []any{acpserver.Block(s.agent.Console.Mask.Text(what))}
	s.show(call)
	wait, end := s.patient(ctx)
	defer end()
	answer, err := s.c.Permit(wait, call, append(answers, acpserver.Answer{ID: no, Name: "No", Kind: "reject_once"}))
	call.Status = acpserver.CallDone
	if answer == "" || answer == no {
		call.Status = acpserver.CallFailed
	}
	call.Content = nil // as before
	s.show(call)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if errors.Is(err, errNobody) {
		s.say("Nothing was done: there was no answer.")
		return "", nil
	}
	if err != nil { // the client cannot ask
		return "", &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: "you have to agree first, and the client could not ask you: " + err.Error() + "; nothing was done",
			Hint: s.agent.Beforehand("acp.serve.allow", []string{"run"}),
		}
	}
	if answer == "" || answer == no {
		s.say("Nothing was done: you did not agree.")
		return "", nil
	}
	return answer, nil
}

// patient returns a context that ends when the time limit of questions has passed, and a function
// that ends it earlier.
func (s *session) patient(ctx context.Context) (wait context.Context, end func()) {
	wait, cancel := context.WithCancelCause(ctx)
	c, err := s.settings()
	if err != nil || c.Patience == 0 {
		return wait, func() { cancel(nil) }
	}
	t := time.AfterFunc(c.Patience, func() { cancel(errNobody) })
	return wait, func() { t.Stop(); cancel(nil) }
}

func once(name string) acpserver.Answer {
	return acpserver.Answer{ID: yes, Name: name, Kind: "allow_once"}
}

// goal makes a plan for a goal, and works on it once a person agrees to it.
func (s *session) goal(ctx context.Context, text string) (acpserver.Stop, error) {
	c, err := s.prepare(app.RunOptions{})
	if err != nil {
		return "", err
	}
	if with := s.chosen(c); with.allowed(c, "run") {
		flags, err := s.flags(with)
		if err != nil {
			return "", err
		}
		o := s.order(false, append([]string{"run", "--json", "--file=-"}, flags...)...)
		o.Stdin = text
		return s.conduct(ctx, o)
	}
	p, stop, err := s.makePlan(ctx, c, text)
	if p == nil || err != nil {
		return stop, err
	}
	return s.start(ctx, *p)
}

// onlyPlan makes a plan and shows it.
func (s *session) onlyPlan(ctx context.Context, text string) (acpserver.Stop, error) {
	c, err := s.prepare(app.RunOptions{})
	if err != nil {
		return "", err
	}
	p, stop, err := s.makePlan(ctx, c, text)
	if p == nil || err != nil {
		return stop, err
	}
	s.say("%s\n\n`/run` starts this plan. Or type what you want instead.", fenced(p.drawn))
	return acpserver.Done, nil
}

// proposedPlan is a plan with its rendered form.
type proposedPlan struct {
	nexus.Plan

	run   nexus.RunID // the run that made it
	drawn string      // rendered, with its estimate
	spent nexus.Money // cost of this plan and of the refused plans before it
}

// makePlan makes a plan for a goal, once a person agrees to that. It returns nil if there is no
// plan.
func (s *session) makePlan(ctx context.Context, c config.Config, text string) (*proposedPlan, acpserver.Stop, error) {
	with := s.chosen(c)
	s.mu.Lock()
	agreed := s.planning && !with.approval.Holds(nexus.ApproveAll)
	s.mu.Unlock()
	if !agreed && !with.allowed(c, "plan") {
		what := "Make a plan for:\n\n" + s.goalText(text) + "\n\n" + host.Price{Most: c.Limits.RunMoney}.String() +
			" You see the plan and its price before work starts." + with.String()
		answer, err := s.consent(ctx, "Make a plan", what, once("Make a plan"),
			acpserver.Answer{ID: always, Name: "Make plans without asking, in this session", Kind: "allow_always"})
		if answer == "" || err != nil {
			return nil, acpserver.Done, err
		}
		agreed = true
		s.mu.Lock()
		s.planning = answer == always
		s.mu.Unlock()
	}
	o := s.order(agreed, append([]string{"plan", "--json", "--file=-", budget(c.Limits.RunMoney)}, with.tiers()...)...)
	o.Stdin = text
	return s.planner(ctx, o)
}

// planner makes a plan by running a command line.
func (s *session) planner(ctx context.Context, o host.Invocation) (*proposedPlan, acpserver.Stop, error) {
	work, drain := context.WithCancelCause(ctx)
	defer drain(nil)
	t := s.track(work)
	t.stop = drain
	o.Told, o.Began, o.Watched = s.think, t.begin, true
	r := s.agent.Run(work, o)
	t.finish(ctx)
	// The planner's question is answered later.
	if ctx.Err() == nil && errors.Is(context.Cause(work), errLater) {
		s.report(t.view())
		return nil, acpserver.Done, nil
	}
	if stop, err := t.unless(ctx, r); stop != "" || err != nil {
		return nil, stop, err
	}
	p := &proposedPlan{run: t.state.Run, spent: t.spent()}
	if err := p.read(r); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	s.plan = p
	s.mu.Unlock()
	s.c.Plan(s.entries(p.Tasks))
	return p, "", nil
}

// read decodes the output of nexus plan.
func (p *proposedPlan) read(r host.Result) error {
	if r.Failure != nil {
		return failed(r)
	}
	p.drawn, p.Plan = r.Text, nexus.Plan{}
	if err := json.Unmarshal(r.Data, &p.Plan); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	return nil
}

// draw renders a plan that was made earlier, with a new estimate.
func (s *session) draw(ctx context.Context, p *proposedPlan) error {
	return p.read(s.agent.Run(ctx, s.order(false, "plan", "--json", "--run="+string(p.run))))
}

// planned shows the plan of a run that was continued or recalled.
func (s *session) planned(ctx context.Context, of *state.State) error {
	p := &proposedPlan{run: of.Run, spent: app.PlanCost(of)}
	if err := s.draw(ctx, p); err != nil {
		return err
	}
	s.mu.Lock()
	s.plan = p
	s.mu.Unlock()
	s.say("%s\n\n`/run` starts this plan. Or type what you want instead.", fenced(p.drawn))
	return nil
}

// entries returns the tasks of a plan that has not been started.
func (s *session) entries(tasks []nexus.Task) []acpserver.Entry {
	needed := map[nexus.TaskID]bool{}
	for _, t := range tasks {
		for _, id := range t.Needs {
			needed[id] = true
		}
	}
	all := []acpserver.Entry{}
	for _, t := range tasks {
		all = append(all, acpserver.Entry{Content: s.plain(string(t.ID) + ": " + t.Title), Priority: priority(needed[t.ID]), Status: "pending"})
	}
	return all
}

// priority is high for a task that other tasks depend on.
func priority(needed bool) string {
	if needed {
		return "high"
	}
	return "medium"
}

// start works on a plan once a person agrees to it.
func (s *session) start(ctx context.Context, p proposedPlan) (acpserver.Stop, error) {
	if p.drawn == "" {
		if err := s.draw(ctx, &p); err != nil {
			return "", err
		}
	}
	c, err := s.prepare(app.RunOptions{Plan: &p.Plan})
	if err != nil {
		return "", err
	}
	most := max(c.Limits.RunMoney-p.spent, 0) // the cost of the plan counts
	// The run subtracts the cost of its plan.
	args := []string{"run", "--json", "--plan=-", budget(c.Limits.RunMoney)}
	agreed, with := false, s.chosen(c)
	if !with.allowed(c, "run") {
		more, err := s.agreeToStart(ctx, p, with, most)
		if errors.Is(err, errOther) {
			return s.refuse(ctx, p)
		}
		if more == nil || err != nil {
			return acpserver.Done, err
		}
		agreed, args = true, append(args, more...)
	}
	data, err := json.Marshal(p.Plan)
	if err != nil {
		return "", err
	}
	flags, err := s.flags(with)
	if err != nil {
		return "", err
	}
	o := s.order(agreed, append(args, flags...)...)
	o.Began = func(nexus.RunID) { // a failed start can be tried again
		s.mu.Lock()
		defer s.mu.Unlock()
		s.plan = nil
	}
	if o.Stdin = string(data); slices.Contains(args, "--land") {
		delete(o.Set, "land")
	}
	return s.conduct(ctx, o)
}

// agreeToStart asks a person to agree to a plan, and returns the flags that record the agreement;
// nil if the person did not agree.
func (s *session) agreeToStart(ctx context.Context, p proposedPlan, with agreedOptions, most nexus.Money) ([]string, error) {
	price := host.Price{Most: most}
	outline, err := host.Outline(p.Goal, p.Tasks)
	if err != nil {
		return nil, err
	}
	what := "Carry out this plan:\n\n" + fenced(outline) + "\n\n" + fenced(p.drawn) + "\n\n" + s.plain(price.String()) +
		" The result is a separate branch; your files stay as they are." + with.String()
	target := s.target(ctx)
	answers := []acpserver.Answer{once("Start")}
	if target != "" {
		name := "Start, and move " + view.Clean(target) + " to the result at the end"
		answers = append(answers, acpserver.Answer{ID: andLand, Name: name, Kind: "allow_once"})
	}
	anew := fmt.Sprintf("Make another plan, for at most $%.2f; I type what should be different", most.Float())
	answers = append(answers, acpserver.Answer{ID: other, Name: anew, Kind: "reject_once"})
	title := fmt.Sprintf("Start this plan: %s, at most $%.2f", view.Count(len(p.Tasks), "task"), most.Float())
	answer, err := s.consent(ctx, title, what, answers...)
	switch {
	case err != nil:
		return nil, err
	case answer == "":
		s.say("Type `/run` to start this plan, or type what you want instead.")
		return nil, nil
	case answer == other:
		return nil, errOther
	case answer != andLand:
		return []string{"--yes"}, nil
	}
	if now := s.target(ctx); now != target {
		return nil, &nexus.Error{
			Code: nexus.CodeTargetMoved, Message: "you agreed to move " + target +
				", and " + cmp.Or(now, "no branch") + " is checked out now; nothing was done",
			Hint: "Type /run to be asked again.",
		}
	}
	return []string{"--yes", "--land", "--target=" + target}, nil
}

// errOther means that a person wants another plan.
var errOther = errors.New("a new plan was requested")

// refuse asks a person for the changes to a plan, and makes another one. If the client has no
// forms, or the person sends none, the next message counts as the reason.
func (s *session) refuse(ctx context.Context, p proposedPlan) (acpserver.Stop, error) {
	if s.c.SupportsForms() {
		wait, end := s.patient(ctx)
		why, err := s.c.Elicit(wait, "What should be different in the plan?", nil)
		end()
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if why = strings.TrimSpace(why); err == nil && why != "" {
			return s.replan(ctx, p.run, why)
		}
	}
	s.mu.Lock()
	s.refused = p.run
	s.mu.Unlock()
	s.say("Type what should be different: your next message goes to the planner. `/run` starts this plan as it is.")
	return acpserver.Done, nil
}

// replan replaces a plan that a person refused with a new one, and asks about that. The refusal
// was the agreement to make it.
func (s *session) replan(ctx context.Context, run nexus.RunID, why string) (acpserver.Stop, error) {
	c, err := s.prepare(app.RunOptions{})
	if err != nil {
		return "", err
	}
	o := s.order(true, "plan", "--json", "--run="+string(run), "--why="+why, budget(c.Limits.RunMoney))
	p, stop, err := s.planner(ctx, o)
	if p == nil || err != nil {
		return stop, err
	}
	return s.start(ctx, *p)
}

// target returns the branch that a run may move; empty if there is none.
func (s *session) target(ctx context.Context) string {
	c, err := s.settings()
	if err != nil || c.Target != "" {
		return c.Target
	}
	at := s.agent.at(s.dir)
	p, err := at.Open(ctx, app.ReadAccess)
	if err != nil {
		return ""
	}
	defer p.Close()
	_, branch, _ := p.Repo.Head(ctx) // without a branch, the run prints the next step
	return branch
}

// quick does one task, once a person agrees to it.
func (s *session) quick(ctx context.Context, text string) (acpserver.Stop, error) {
	c, err := s.prepare(app.RunOptions{Plan: &nexus.Plan{}})
	if err != nil {
		return "", err
	}
	with := s.chosen(c)
	args, agreed := []string{"quick", "--json", "--file=-", budget(c.Limits.RunMoney)}, false
	if !with.allowed(c, "quick") {
		what := "Do this task:\n\n" + s.goalText(text) + "\n\n" + host.Price{Most: c.Limits.RunMoney}.String() +
			" The result is a separate branch; your files stay as they are." + with.String()
		answer, err := s.consent(ctx, fmt.Sprintf("Do this task, for at most $%.2f", c.Limits.RunMoney.Float()), what, once("Do it"))
		if answer == "" || err != nil {
			return acpserver.Done, err
		}
		agreed, args = true, append(args, "--yes")
	}
	flags, err := s.flags(with)
	if err != nil {
		return "", err
	}
	o := s.order(agreed, append(args, flags...)...)
	o.Stdin = text
	return s.conduct(ctx, o)
}

// goalText formats a goal for the person who agrees to it.
func (s *session) goalText(text string) string {
	return fenced(host.Shown(s.agent.Console.Mask.Text(text)))
}

// budget returns the flag with the agreed amount.
func budget(most nexus.Money) string {
	return "--budget=" + strconv.FormatFloat(most.Float(), 'f', -1, 64)
}
