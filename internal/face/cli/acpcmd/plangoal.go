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
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
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

// readSettings reads the configuration, for each prompt, so that the user can withdraw permissions.
func (s *editorSession) readSettings() (config.Config, error) {
	at := s.agent.appIn(s.dir)
	c, _, err := at.LoadSettings()
	return c, err
}

// checkStart reads the configuration, and returns an error if the work cannot start, before a person
// is asked to agree to it.
func (s *editorSession) checkStart(o app.RunOptions) (config.Config, error) {
	at := s.agent.appIn(s.dir)
	c, err := s.readSettings()
	if err != nil {
		return c, err
	}
	return c, errors.Join(at.CheckModels(c, o), app.CheckTrust(s.top, at.TrustStore()))
}

// isPreapproved reports whether the user agreed to an action in the configuration. An action that a
// person wants to review first is never allowed in advance.
func (o agreedOptions) isPreapproved(c config.Config, name string) bool {
	return slices.Contains(c.Editors, name) && !o.approval.NeedsApproval(nexus.ApproveAll)
}

// askConsent shows an action that costs money or lands a change, asks a person to agree to it, and
// returns the answer: empty if the person gives none.
func (s *editorSession) askConsent(ctx context.Context, title, what string, answers ...acpserver.PermissionOption) (string, error) {
	id := "consent-" + strings.ToLower(rand.Text()) // a session that is loaded again knows no earlier IDs
	call := acpserver.ToolCallView{ID: id, Title: title, Kind: "think", Status: acpserver.CallPending}
	call.Content = []any{acpserver.ContentBlock(s.agent.Console.Mask.MaskText(what))}
	s.showCall(call)
	wait, end := s.withAnswerTimeout(ctx)
	defer end()
	answer, err := s.c.AskPermission(wait, call, append(answers, acpserver.PermissionOption{ID: no, Name: "No", Kind: "reject_once"}))
	call.Status = acpserver.CallDone
	if answer == "" || answer == no {
		call.Status = acpserver.CallFailed
	}
	call.Content = nil // as before
	s.showCall(call)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if errors.Is(err, errNobody) {
		s.sendMarkdown("Nothing was done: there was no answer.")
		return "", nil
	}
	if err != nil { // the client cannot ask
		return "", &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: "you have to agree first, and the client could not ask you: " + err.Error() + "; nothing was done",
			Hint: s.agent.PreapprovalHint("acp.serve.allow", []string{"run"}),
		}
	}
	if answer == "" || answer == no {
		s.sendMarkdown("Nothing was done: you did not agree.")
		return "", nil
	}
	return answer, nil
}

// withAnswerTimeout returns a context that ends when the time limit of questions has passed, and a function
// that ends it earlier.
func (s *editorSession) withAnswerTimeout(ctx context.Context) (wait context.Context, end func()) {
	wait, cancel := context.WithCancelCause(ctx)
	c, err := s.readSettings()
	if err != nil || c.Patience == 0 {
		return wait, func() { cancel(nil) }
	}
	t := time.AfterFunc(c.Patience, func() { cancel(errNobody) })
	return wait, func() { t.Stop(); cancel(nil) }
}

func allowOnce(name string) acpserver.PermissionOption {
	return acpserver.PermissionOption{ID: yes, Name: name, Kind: "allow_once"}
}

// planAndRunGoal makes a plan for a goal, and works on it once a person agrees to it.
func (s *editorSession) planAndRunGoal(ctx context.Context, text string) (acpserver.PromptStopReason, error) {
	c, err := s.checkStart(app.RunOptions{})
	if err != nil {
		return "", err
	}
	if with := s.chosenOptions(c); with.isPreapproved(c, "run") {
		flags, err := s.agreedFlags(with)
		if err != nil {
			return "", err
		}
		o := s.newInvocation(false, append([]string{"run", "--json", "--file=-"}, flags...)...)
		o.Stdin = text
		return s.runAndReport(ctx, o)
	}
	p, stop, err := s.makePlan(ctx, c, text)
	if p == nil || err != nil {
		return stop, err
	}
	return s.startPlan(ctx, *p)
}

// makeAndShowPlan makes a plan and shows it.
func (s *editorSession) makeAndShowPlan(ctx context.Context, text string) (acpserver.PromptStopReason, error) {
	c, err := s.checkStart(app.RunOptions{})
	if err != nil {
		return "", err
	}
	p, stop, err := s.makePlan(ctx, c, text)
	if p == nil || err != nil {
		return stop, err
	}
	s.sendMarkdown("%s\n\n`/run` starts this plan. Or type what you want instead.", fenceText(p.drawn))
	return acpserver.PromptDone, nil
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
func (s *editorSession) makePlan(ctx context.Context, c config.Config, text string) (*proposedPlan, acpserver.PromptStopReason, error) {
	with := s.chosenOptions(c)
	s.mu.Lock()
	agreed := s.planning && !with.approval.NeedsApproval(nexus.ApproveAll)
	s.mu.Unlock()
	if !agreed && !with.isPreapproved(c, "plan") {
		what := "Make a plan for:\n\n" + s.goalText(text) + "\n\n" + host.WorkPrice{Most: c.Limits.RunMoney}.String() +
			" You see the plan and its price before work starts." + with.String()
		answer, err := s.askConsent(ctx, "Make a plan", what, allowOnce("Make a plan"),
			acpserver.PermissionOption{ID: always, Name: "Make plans without asking, in this session", Kind: "allow_always"})
		if answer == "" || err != nil {
			return nil, acpserver.PromptDone, err
		}
		agreed = true
		s.mu.Lock()
		s.planning = answer == always
		s.mu.Unlock()
	}
	o := s.newInvocation(agreed, append([]string{"plan", "--json", "--file=-", budgetFlag(c.Limits.RunMoney)}, with.tierFlags()...)...)
	o.Stdin = text
	return s.runPlanner(ctx, o)
}

// runPlanner makes a plan by running a command line.
func (s *editorSession) runPlanner(ctx context.Context, o host.Invocation) (*proposedPlan, acpserver.PromptStopReason, error) {
	work, drain := context.WithCancelCause(ctx)
	defer drain(nil)
	t := s.newTracker(work)
	t.stop = drain
	o.Told, o.Began, o.Watched = s.sendThoughts, t.startFollowing, true
	r := s.agent.Run(work, o)
	t.showRemaining(ctx)
	// The planner's question is answered later.
	if ctx.Err() == nil && errors.Is(context.Cause(work), errLater) {
		s.reportRun(t.runView())
		return nil, acpserver.PromptDone, nil
	}
	if stop, err := t.stopWithoutResult(ctx, r); stop != "" || err != nil {
		return nil, stop, err
	}
	p := &proposedPlan{run: t.state.Run, spent: t.planCost()}
	if err := p.readOutput(r); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	s.plan = p
	s.mu.Unlock()
	s.c.SendPlan(s.pendingEntries(p.Tasks))
	return p, "", nil
}

// readOutput decodes the output of nexus plan.
func (p *proposedPlan) readOutput(r host.Result) error {
	if r.Failure != nil {
		return failureError(r)
	}
	p.drawn, p.Plan = r.Text, nexus.Plan{}
	if err := json.Unmarshal(r.Data, &p.Plan); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	return nil
}

// drawPlan renders a plan that was made earlier, with a new estimate.
func (s *editorSession) drawPlan(ctx context.Context, p *proposedPlan) error {
	return p.readOutput(s.agent.Run(ctx, s.newInvocation(false, "plan", "--json", "--run="+string(p.run))))
}

// showPlan shows the plan of a run that was continued or recalled.
func (s *editorSession) showPlan(ctx context.Context, of *state.State) error {
	p := &proposedPlan{run: of.Run, spent: app.PlanningCost(of)}
	if err := s.drawPlan(ctx, p); err != nil {
		return err
	}
	s.mu.Lock()
	s.plan = p
	s.mu.Unlock()
	s.sendMarkdown("%s\n\n`/run` starts this plan. Or type what you want instead.", fenceText(p.drawn))
	return nil
}

// pendingEntries returns the tasks of a plan that has not been started.
func (s *editorSession) pendingEntries(tasks []nexus.Task) []acpserver.AgentPlanEntry {
	needed := map[nexus.TaskID]bool{}
	for _, t := range tasks {
		for _, id := range t.Needs {
			needed[id] = true
		}
	}
	all := []acpserver.AgentPlanEntry{}
	for _, t := range tasks {
		all = append(all, acpserver.AgentPlanEntry{Content: s.escapeText(string(t.ID) + ": " + t.Title), Priority: entryPriority(needed[t.ID]), Status: "pending"})
	}
	return all
}

// entryPriority is high for a task that other tasks depend on.
func entryPriority(needed bool) string {
	if needed {
		return "high"
	}
	return "medium"
}

// startPlan works on a plan once a person agrees to it.
func (s *editorSession) startPlan(ctx context.Context, p proposedPlan) (acpserver.PromptStopReason, error) {
	if p.drawn == "" {
		if err := s.drawPlan(ctx, &p); err != nil {
			return "", err
		}
	}
	c, err := s.checkStart(app.RunOptions{Plan: &p.Plan})
	if err != nil {
		return "", err
	}
	most := max(c.Limits.RunMoney-p.spent, 0) // the cost of the plan counts
	// The run subtracts the cost of its plan.
	args := []string{"run", "--json", "--plan=-", budgetFlag(c.Limits.RunMoney)}
	agreed, with := false, s.chosenOptions(c)
	if !with.isPreapproved(c, "run") {
		more, err := s.agreeToStart(ctx, p, with, most)
		if errors.Is(err, errOther) {
			return s.askReplan(ctx, p)
		}
		if more == nil || err != nil {
			return acpserver.PromptDone, err
		}
		agreed, args = true, append(args, more...)
	}
	data, err := json.Marshal(p.Plan)
	if err != nil {
		return "", err
	}
	flags, err := s.agreedFlags(with)
	if err != nil {
		return "", err
	}
	o := s.newInvocation(agreed, append(args, flags...)...)
	o.Began = func(nexus.RunID) { // a failed start can be tried again
		s.mu.Lock()
		defer s.mu.Unlock()
		s.plan = nil
	}
	if o.Stdin = string(data); slices.Contains(args, "--land") {
		delete(o.Set, "land")
	}
	return s.runAndReport(ctx, o)
}

// agreeToStart asks a person to agree to a plan, and returns the flags that record the agreement;
// nil if the person did not agree.
func (s *editorSession) agreeToStart(ctx context.Context, p proposedPlan, with agreedOptions, most nexus.Money) ([]string, error) {
	price := host.WorkPrice{Most: most}
	outline, err := host.PlanOutline(p.Goal, p.Tasks)
	if err != nil {
		return nil, err
	}
	what := "Carry out this plan:\n\n" + fenceText(outline) + "\n\n" + fenceText(p.drawn) + "\n\n" + s.escapeText(price.String()) +
		" The result is a separate branch; your files stay as they are." + with.String()
	target := s.targetBranch(ctx)
	answers := []acpserver.PermissionOption{allowOnce("Start")}
	if target != "" {
		name := "Start, and move " + view.EscapeForTerminal(target) + " to the result at the end"
		answers = append(answers, acpserver.PermissionOption{ID: andLand, Name: name, Kind: "allow_once"})
	}
	anew := fmt.Sprintf("Make another plan, for at most %s; I type what should be different", most)
	answers = append(answers, acpserver.PermissionOption{ID: other, Name: anew, Kind: "reject_once"})
	title := fmt.Sprintf("Start this plan: %s, at most %s", view.CountWithNoun(len(p.Tasks), "task"), most)
	answer, err := s.askConsent(ctx, title, what, answers...)
	switch {
	case err != nil:
		return nil, err
	case answer == "":
		s.sendMarkdown("Type `/run` to start this plan, or type what you want instead.")
		return nil, nil
	case answer == other:
		return nil, errOther
	case answer != andLand:
		return []string{"--yes"}, nil
	}
	if now := s.targetBranch(ctx); now != target {
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

// askReplan asks a person for the changes to a plan, and makes another one. If the client has no
// forms, or the person sends none, the next message counts as the reason.
func (s *editorSession) askReplan(ctx context.Context, p proposedPlan) (acpserver.PromptStopReason, error) {
	if s.c.SupportsForms() {
		wait, end := s.withAnswerTimeout(ctx)
		why, err := s.c.AskText(wait, "What should be different in the plan?", nil)
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
	s.sendMarkdown("Type what should be different: your next message goes to the planner. `/run` starts this plan as it is.")
	return acpserver.PromptDone, nil
}

// replan replaces a plan that a person refused with a new one, and asks about that. The refusal
// was the agreement to make it.
func (s *editorSession) replan(ctx context.Context, run nexus.RunID, why string) (acpserver.PromptStopReason, error) {
	c, err := s.checkStart(app.RunOptions{})
	if err != nil {
		return "", err
	}
	o := s.newInvocation(true, "plan", "--json", "--run="+string(run), "--why="+why, budgetFlag(c.Limits.RunMoney))
	p, stop, err := s.runPlanner(ctx, o)
	if p == nil || err != nil {
		return stop, err
	}
	return s.startPlan(ctx, *p)
}

// targetBranch returns the branch that a run may move; empty if there is none.
func (s *editorSession) targetBranch(ctx context.Context) string {
	c, err := s.readSettings()
	if err != nil || c.Target != "" {
		return c.Target
	}
	at := s.agent.appIn(s.dir)
	p, err := at.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return ""
	}
	defer p.Close()
	_, branch, _ := p.Repo.Head(ctx) // without a branch, the run prints the next step
	return branch
}

// runQuickTask does one task, once a person agrees to it.
func (s *editorSession) runQuickTask(ctx context.Context, text string) (acpserver.PromptStopReason, error) {
	c, err := s.checkStart(app.RunOptions{Plan: &nexus.Plan{}})
	if err != nil {
		return "", err
	}
	with := s.chosenOptions(c)
	args, agreed := []string{"quick", "--json", "--file=-", budgetFlag(c.Limits.RunMoney)}, false
	if !with.isPreapproved(c, "quick") {
		what := "Do this task:\n\n" + s.goalText(text) + "\n\n" + host.WorkPrice{Most: c.Limits.RunMoney}.String() +
			" The result is a separate branch; your files stay as they are." + with.String()
		answer, err := s.askConsent(ctx, fmt.Sprintf("Do this task, for at most %s", c.Limits.RunMoney), what, allowOnce("Do it"))
		if answer == "" || err != nil {
			return acpserver.PromptDone, err
		}
		agreed, args = true, append(args, "--yes")
	}
	flags, err := s.agreedFlags(with)
	if err != nil {
		return "", err
	}
	o := s.newInvocation(agreed, append(args, flags...)...)
	o.Stdin = text
	return s.runAndReport(ctx, o)
}

// goalText formats a goal for the person who agrees to it.
func (s *editorSession) goalText(text string) string {
	return fenceText(host.ShownText(s.agent.Console.Mask.MaskText(text)))
}

// budgetFlag returns the flag with the agreed amount.
func budgetFlag(most nexus.Money) string {
	return "--budget=" + strconv.FormatFloat(most.Dollars(), 'f', -1, 64)
}
