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
func (a PersonAction) asRefused(format string, args ...any) PersonAction {
	a.Refused, a.Args = fmt.Sprintf(format, args...), nil
	return a
}

// ItemActions returns the actions for an inbox item, the usual one first. It is empty for an
// unknown item.
func (p *RunProjection) ItemActions(id string, now time.Time) []PersonAction {
	for _, i := range p.InboxItems(now) {
		if i.ID == id {
			return i.Actions
		}
	}
	return []PersonAction{}
}

func (p *RunProjection) itemActions(i InboxItem) []PersonAction {
	run := string(p.state.Run)
	approve := PersonAction{Name: "approve", Label: "Approve", Key: "a", Role: RoleAnswer, Args: []string{"approve", "--run", run, "--", i.ID}}
	reject := PersonAction{
		Name: "reject", Label: "Reject", Key: "x", Role: RoleAnswer, Input: InputReason, Ask: "why not", Danger: true,
		Args: []string{"reject", "--why", "{}", "--run", run, "--", i.ID},
	}
	answer := func(label, text string) PersonAction {
		return PersonAction{Name: "answer", Label: label, Role: RoleAnswer, Args: []string{"answer", "--run", run, "--", i.ID, text}}
	}
	write := answer("Answer", "{}")
	write.Key, write.Input, write.Ask = "i", InputText, "the answer"
	switch {
	case i.Kind == KindSignOff:
		approve.Name, approve.Label, approve.Input = "waive", "Accept as it is", InputText
		approve.Ask = "your evidence, or the reason why it needs none"
		approve.Args = []string{"approve", "--why", "{}", "--run", run, "--", i.ID}
		return []PersonAction{approve}
	case i.WaitingTask() != "":
		return p.unlandedTaskActions(i.WaitingTask())
	case i.Trigger == nexus.StepTrigger:
		return []PersonAction{answer("Begin it", "yes"), answer("Skip it", "skip"), answer("Stop here", "stop"), write}
	case i.Kind == KindApproval || len(i.Choices) > 0:
		if i.Trigger == nexus.PlanTrigger {
			reject.Ask = "what to change: another plan is made; empty ends the run"
		}
		return []PersonAction{approve, reject}
	}
	var all []PersonAction
	for _, o := range i.Offers {
		all = append(all, answer(o.Label, o.Answer))
	}
	return append(all, write)
}

// unlandedTaskActions returns the actions for a parked or skipped task.
func (p *RunProjection) unlandedTaskActions(id nexus.TaskID) []PersonAction {
	return []PersonAction{p.retryAction(id), p.retryWithMessageAction(id), p.skipAction(id)}
}

func (p *RunProjection) retryAction(id nexus.TaskID) PersonAction {
	args := []string{"retry", "--run", string(p.state.Run), "--", string(id)}
	a := PersonAction{Name: "retry", Label: "Retry", Key: "r", Role: RoleSteer, Args: args}
	switch t := p.state.TaskByID(id); {
	case t == nil:
		return a.asRefused("there is no task %s", id)
	case t.Status != nexus.Parked && t.Status != nexus.Failed && t.Status != nexus.Skipped:
		return a.asRefused("it is %s, not parked, failed or skipped", p.taskStatus(t))
	}
	return a
}

// taskStatus returns the status of a task as it is shown.
func (p *RunProjection) taskStatus(t *state.TaskState) nexus.TaskStatus {
	status := p.state.StatusOf(t)
	if p.IsInterrupted() && !status.HasEnded() && status != nexus.Blocked {
		return nexus.Pending
	}
	return status
}

func (p *RunProjection) retryWithMessageAction(id nexus.TaskID) PersonAction {
	a := p.retryAction(id)
	a.Name, a.Label, a.Key = "retry-tell", "Retry with a message", "R"
	if a.Refused == "" {
		a.Input, a.Ask = InputText, "a message for its agent"
		a.Args = []string{"retry", "--tell", "{}", "--run", string(p.state.Run), "--", string(id)}
	}
	return a
}

func (p *RunProjection) skipAction(id nexus.TaskID) PersonAction {
	a := PersonAction{
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
func (p *RunProjection) undoAction(id nexus.TaskID) PersonAction {
	a := PersonAction{
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
func (p *RunProjection) TaskActions(id nexus.TaskID) []PersonAction {
	tell := PersonAction{
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
	return []PersonAction{tell, p.interruptAction(id), p.pauseTaskAction(id), p.unpauseAction(id), p.retryAction(id), p.retryWithMessageAction(id), p.skipAction(id), p.undoAction(id)}
}

// interruptAction returns the action that interrupts the agent of a task.
func (p *RunProjection) interruptAction(id nexus.TaskID) PersonAction {
	a := PersonAction{
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
func (p *RunProjection) pauseTaskAction(id nexus.TaskID) PersonAction {
	a := PersonAction{
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
func (p *RunProjection) unpauseAction(id nexus.TaskID) PersonAction {
	a := PersonAction{
		Name: "unpause", Label: "Continue the task", Key: "p", Role: RoleSteer,
		Args: []string{"resume", "--run", string(p.state.Run), "--", string(id)},
	}
	if t := p.state.TaskByID(id); t == nil || !t.IsPaused() {
		return a.asRefused("it is not paused")
	}
	return a
}

// RunActions returns the actions for the run; impossible ones have the reason.
func (p *RunProjection) RunActions() []PersonAction { return p.runActions() }

// runActions returns the actions of the run, all or the named ones.
func (p *RunProjection) runActions(names ...string) []PersonAction {
	all := []PersonAction{p.pauseAction(), p.resumeAction(), p.stopAction(), p.landAction()}
	if len(names) == 0 {
		return all
	}
	var some []PersonAction
	for _, a := range all {
		for _, name := range names {
			if a.Name == name {
				some = append(some, a)
			}
		}
	}
	return some
}

func (p *RunProjection) pauseAction() PersonAction {
	a := PersonAction{Name: "pause", Label: "Pause", Key: "P", Role: RoleSteer, Args: []string{"stop", "--pause", "--run", string(p.state.Run)}}
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

func (p *RunProjection) resumeAction() PersonAction {
	a := PersonAction{Name: "resume", Label: "Continue", Key: "P", Role: RoleSteer, Args: []string{"resume", string(p.state.Run), "--detach"}}
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

func (p *RunProjection) stopAction() PersonAction {
	a := PersonAction{
		Name: "stop", Label: "Stop the run", Key: "S", Role: RoleSteer, Danger: true, Args: []string{"stop", "--run", string(p.state.Run)},
		Confirm: "Stop the run? Agents finish their turn, and what landed stays. It can be continued later.",
	}
	if p.state.Status.HasEnded() {
		return a.asRefused("the run is over")
	}
	return a
}

func (p *RunProjection) landAction() PersonAction {
	a := PersonAction{
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
