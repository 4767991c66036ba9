package projection

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The roles of a person, each with the permissions of those before it.
const (
	RoleAnswer = "answer"
	RoleSteer  = "steer"
	RoleAdmin  = "admin"
)

// asRefused returns the action with the reason why it is not possible now.
func (a Action) asRefused(format string, args ...any) Action {
	a.Refused, a.Args = fmt.Sprintf(format, args...), nil
	return a
}

// ItemActions returns the actions for an inbox item, the usual one first. It is empty for an
// unknown item.
func (p *Projection) ItemActions(id string, now time.Time) []Action {
	for _, i := range p.Inbox(now) {
		if i.ID == id {
			return i.Actions
		}
	}
	return []Action{}
}

func (p *Projection) itemActions(i Item) []Action {
	run := string(p.state.Run)
	approve := Action{Name: "approve", Label: "Approve", Key: "a", Role: RoleAnswer, Args: []string{"approve", "--run", run, "--", i.ID}}
	reject := Action{
		Name: "reject", Label: "Reject", Key: "x", Role: RoleAnswer, Input: InputReason, Ask: "why not", Danger: true,
		Args: []string{"reject", "--why", "{}", "--run", run, "--", i.ID},
	}
	answer := func(label, text string) Action {
		return Action{Name: "answer", Label: label, Role: RoleAnswer, Args: []string{"answer", "--run", run, "--", i.ID, text}}
	}
	write := answer("Answer", "{}")
	write.Key, write.Input, write.Ask = "i", InputText, "the answer"
	switch {
	case i.Kind == KindSignOff:
		approve.Name, approve.Label, approve.Input = "waive", "Accept as it is", InputText
		approve.Ask = "your evidence, or the reason why it needs none"
		approve.Args = []string{"approve", "--why", "{}", "--run", run, "--", i.ID}
		return []Action{approve}
	case i.WaitingTask() != "":
		return p.leftActions(i.WaitingTask())
	case i.Trigger == nexus.StepTrigger:
		return []Action{answer("Begin it", "yes"), answer("Skip it", "skip"), answer("Stop here", "stop"), write}
	case i.Kind == KindApproval || len(i.Choices) > 0:
		if i.Trigger == nexus.PlanTrigger {
			reject.Ask = "what to change: another plan is made; empty ends the run"
		}
		return []Action{approve, reject}
	}
	var all []Action
	for _, o := range i.Offers {
		all = append(all, answer(o.Label, o.Answer))
	}
	return append(all, write)
}

// leftActions returns the actions for a parked or skipped task.
func (p *Projection) leftActions(id nexus.TaskID) []Action {
	return []Action{p.retryAction(id), p.retryWithMessageAction(id), p.skipAction(id)}
}

func (p *Projection) retryAction(id nexus.TaskID) Action {
	args := []string{"retry", "--run", string(p.state.Run), "--", string(id)}
	a := Action{Name: "retry", Label: "Retry", Key: "r", Role: RoleSteer, Args: args}
	switch t := p.state.TaskByID(id); {
	case t == nil:
		return a.asRefused("there is no task %s", id)
	case t.Status != nexus.Parked && t.Status != nexus.Failed && t.Status != nexus.Skipped:
		return a.asRefused("it is %s, not parked, failed or skipped", p.taskStatus(t))
	}
	return a
}

// taskStatus returns the status of a task as it is shown.
func (p *Projection) taskStatus(t *state.Task) nexus.TaskStatus {
	status := p.state.StatusOf(t)
	if p.IsInterrupted() && !status.HasEnded() && status != nexus.Blocked {
		return nexus.Pending
	}
	return status
}

func (p *Projection) retryWithMessageAction(id nexus.TaskID) Action {
	a := p.retryAction(id)
	a.Name, a.Label, a.Key = "retry-tell", "Retry with a message", "R"
	if a.Refused == "" {
		a.Input, a.Ask = InputText, "a message for its agent"
		a.Args = []string{"retry", "--tell", "{}", "--run", string(p.state.Run), "--", string(id)}
	}
	return a
}

func (p *Projection) skipAction(id nexus.TaskID) Action {
	a := Action{
		Name: "skip", Label: "Skip", Key: "s", Role: RoleSteer, Danger: true,
		Args: []string{"stop", "--skip", "--run", string(p.state.Run), "--", string(id)},
	}
	t := p.state.TaskByID(id)
	switch {
	case t == nil:
		return a.asRefused("there is no task %s", id)
	case t.Status == nexus.Landed || t.Status == nexus.Skipped || t.Status == nexus.Split:
		return a.asRefused("it is %s", t.Status)
	}
	if blocked := p.blockedWithout(id); len(blocked) > 0 {
		a.Confirm = fmt.Sprintf("Skip %s? It blocks %s.", id, nexus.JoinWords(blocked))
	} else {
		a.Confirm = fmt.Sprintf("Skip %s?", id)
	}
	return a
}

// undoAction returns the action that reverts a task's landed change.
func (p *Projection) undoAction(id nexus.TaskID) Action {
	a := Action{
		Name: "undo", Label: "Undo", Key: "U", Role: RoleAdmin, Danger: true,
		Args:    []string{"undo", "--run", string(p.state.Run), "--", string(id)},
		Confirm: fmt.Sprintf("Revert what %s landed, as a new commit?", id),
	}
	switch t := p.state.TaskByID(id); {
	case t == nil:
		return a.asRefused("there is no task %s", id)
	case t.Status != nexus.Landed:
		return a.asRefused("it has not landed")
	case !p.state.Status.HasEnded() && !p.IsInterrupted():
		return a.asRefused("the run is in progress: stop it first")
	}
	return a
}

// TaskActions returns the actions for a task; impossible ones have the reason.
func (p *Projection) TaskActions(id nexus.TaskID) []Action {
	tell := Action{
		Name: "tell", Label: "Message its agent", Key: "m", Role: RoleSteer, Input: InputText, Ask: "the message",
		Args: []string{"tell", "--run", string(p.state.Run), "--", string(id), "{}"},
	}
	switch t := p.state.TaskByID(id); {
	case t == nil:
		tell = tell.asRefused("there is no task %s", id)
	case p.state.Status.HasEnded():
		tell = tell.asRefused("the run is over")
	case p.state.StatusOf(t).HasEnded():
		tell = tell.asRefused("it is %s", p.state.StatusOf(t))
	}
	return []Action{tell, p.interruptAction(id), p.pauseTaskAction(id), p.unpauseAction(id), p.retryAction(id), p.retryWithMessageAction(id), p.skipAction(id), p.undoAction(id)}
}

// interruptAction returns the action that interrupts the agent of a task.
func (p *Projection) interruptAction(id nexus.TaskID) Action {
	a := Action{
		Name: "interrupt", Label: "Interrupt its agent", Key: "I", Role: RoleSteer, Input: InputReason,
		Ask:  "instructions; may be empty",
		Args: []string{"stop", "--turn", "--run", string(p.state.Run), "--", string(id), "{}"},
	}
	t := p.state.TaskByID(id)
	switch {
	case t == nil:
		return a.asRefused("there is no task %s", id)
	case p.IsInterrupted() || p.state.Status.HasEnded():
		return a.asRefused("the run is not in progress")
	}
	if why := p.state.InterruptProblem(t); why != "" {
		return a.asRefused("%s", why)
	}
	return a
}

// pauseTaskAction returns the action that pauses one task.
func (p *Projection) pauseTaskAction(id nexus.TaskID) Action {
	a := Action{
		Name: "pause-task", Label: "Pause the task", Key: "p", Role: RoleSteer,
		Args: []string{"stop", "--pause", "--run", string(p.state.Run), "--", string(id)},
	}
	switch t := p.state.TaskByID(id); {
	case t == nil:
		return a.asRefused("there is no task %s", id)
	case p.state.Status.HasEnded():
		return a.asRefused("the run is over")
	case t.Status.HasEnded():
		return a.asRefused("it is %s", t.Status)
	case t.IsPaused():
		return a.asRefused("it is paused by %s", t.Paused.By)
	case p.state.CurrentLanding != nil && p.state.CurrentLanding.Task == id:
		return a.asRefused("it is landing")
	}
	return a
}

// unpauseAction returns the action that continues a task.
func (p *Projection) unpauseAction(id nexus.TaskID) Action {
	a := Action{
		Name: "unpause", Label: "Continue the task", Key: "p", Role: RoleSteer,
		Args: []string{"resume", "--run", string(p.state.Run), "--", string(id)},
	}
	if t := p.state.TaskByID(id); t == nil || !t.IsPaused() {
		return a.asRefused("it is not paused")
	}
	return a
}

// RunActions returns the actions for the run; impossible ones have the reason.
func (p *Projection) RunActions() []Action { return p.runActions() }

// runActions returns the actions of the run, all or the named ones.
func (p *Projection) runActions(names ...string) []Action {
	all := []Action{p.pauseAction(), p.resumeAction(), p.stopAction(), p.landAction()}
	if len(names) == 0 {
		return all
	}
	var some []Action
	for _, a := range all {
		for _, name := range names {
			if a.Name == name {
				some = append(some, a)
			}
		}
	}
	return some
}

func (p *Projection) pauseAction() Action {
	a := Action{Name: "pause", Label: "Pause", Key: "P", Role: RoleSteer, Args: []string{"stop", "--pause", "--run", string(p.state.Run)}}
	switch {
	case p.state.Status.HasEnded():
		return a.asRefused("the run is over")
	case p.IsInterrupted():
		return a.asRefused("the run is not in progress")
	case p.state.Status == nexus.StatusPaused:
		return a.asRefused("it is paused")
	}
	return a
}

func (p *Projection) resumeAction() Action {
	a := Action{Name: "resume", Label: "Continue", Key: "P", Role: RoleSteer, Args: []string{"resume", string(p.state.Run), "--detach"}}
	switch {
	case p.state.Status == nexus.StatusDone:
		return a.asRefused("the run is done")
	case p.state.Status == nexus.StatusPaused && !p.IsInterrupted():
		a.Args = []string{"resume", string(p.state.Run)}
	case !p.state.Status.HasEnded() && !p.IsInterrupted():
		return a.asRefused("it is in progress")
	}
	return a
}

func (p *Projection) stopAction() Action {
	a := Action{
		Name: "stop", Label: "Stop the run", Key: "S", Role: RoleSteer, Danger: true, Args: []string{"stop", "--run", string(p.state.Run)},
		Confirm: "Stop the run? Agents finish their turn, and what landed stays. It can be continued later.",
	}
	if p.state.Status.HasEnded() {
		return a.asRefused("the run is over")
	}
	return a
}

func (p *Projection) landAction() Action {
	a := Action{
		Name: "land", Label: "Land", Key: "M", Role: RoleAdmin, Args: []string{"land", string(p.state.Run)},
		Confirm: fmt.Sprintf("Move %s to the result?", p.state.Goal.Target),
	}
	switch pub := p.state.Published; {
	case p.state.Goal.Target == "":
		return a.asRefused("the run has no branch to land on")
	case len(p.state.Landings) == 0:
		return a.asRefused("nothing landed")
	case !p.state.Status.HasEnded():
		return a.asRefused("the run is not over")
	case pub != nil && pub.Target != "":
		return a.asRefused("%s has it", pub.Target)
	}
	return a
}
