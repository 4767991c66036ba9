package projection

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The roles that a person may have, each with all that those before it may.
const (
	RoleAnswer = "answer"
	RoleSteer  = "steer"
	RoleAdmin  = "admin"
)

// refuse returns the action as one that cannot be done now.
func (a Action) refuse(format string, args ...any) Action {
	a.Refused, a.Args = fmt.Sprintf(format, args...), nil
	return a
}

// ItemActions returns what can be done about an item of the inbox, the usual one
// first. It is empty for one that is not in it.
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
	case i.About() != "":
		return p.leftActions(i.About())
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

// leftActions are for a task that was left.
func (p *Projection) leftActions(id nexus.TaskID) []Action {
	return []Action{p.retry(id), p.retryTelling(id), p.skip(id)}
}

func (p *Projection) retry(id nexus.TaskID) Action {
	args := []string{"retry", "--run", string(p.state.Run), "--", string(id)}
	a := Action{Name: "retry", Label: "Retry", Key: "r", Role: RoleSteer, Args: args}
	switch t := p.state.Task(id); {
	case t == nil:
		return a.refuse("there is no task %s", id)
	case t.Status != nexus.Parked && t.Status != nexus.Failed && t.Status != nexus.Skipped:
		return a.refuse("it is %s, not parked, failed or skipped", p.state.StatusOf(t))
	}
	return a
}

func (p *Projection) retryTelling(id nexus.TaskID) Action {
	a := p.retry(id)
	a.Name, a.Label, a.Key = "retry-tell", "Retry with a message", "R"
	if a.Refused == "" {
		a.Input, a.Ask = InputText, "a message for its agent"
		a.Args = []string{"retry", "--tell", "{}", "--run", string(p.state.Run), "--", string(id)}
	}
	return a
}

func (p *Projection) skip(id nexus.TaskID) Action {
	a := Action{
		Name: "skip", Label: "Skip", Key: "s", Role: RoleSteer, Danger: true,
		Args: []string{"skip", "--run", string(p.state.Run), "--", string(id)},
	}
	t := p.state.Task(id)
	switch {
	case t == nil:
		return a.refuse("there is no task %s", id)
	case t.Status == nexus.Landed || t.Status == nexus.Skipped || t.Status == nexus.Split:
		return a.refuse("it is %s", t.Status)
	}
	if blocked := p.blockedWithout(id); len(blocked) > 0 {
		a.Confirm = fmt.Sprintf("Skip %s? It blocks %s.", id, nexus.Join(blocked))
	} else {
		a.Confirm = fmt.Sprintf("Skip %s?", id)
	}
	return a
}

// undo reverts what a task landed.
func (p *Projection) undo(id nexus.TaskID) Action {
	a := Action{
		Name: "undo", Label: "Undo", Key: "U", Role: RoleAdmin, Danger: true,
		Args:    []string{"undo", "--run", string(p.state.Run), "--", string(id)},
		Confirm: fmt.Sprintf("Revert what %s landed, as a new commit?", id),
	}
	switch t := p.state.Task(id); {
	case t == nil:
		return a.refuse("there is no task %s", id)
	case t.Status != nexus.Landed:
		return a.refuse("it has not landed")
	case !p.state.Status.Ended() && !p.Interrupted():
		return a.refuse("the run is in progress: stop it first")
	}
	return a
}

// TaskActions returns what can be done with a task now, and why not what cannot.
func (p *Projection) TaskActions(id nexus.TaskID) []Action {
	tell := Action{
		Name: "tell", Label: "Message to its agent", Key: "m", Role: RoleSteer, Input: InputText, Ask: "the message",
		Args: []string{"tell", "--run", string(p.state.Run), "--", string(id), "{}"},
	}
	switch t := p.state.Task(id); {
	case t == nil:
		tell = tell.refuse("there is no task %s", id)
	case p.state.Status.Ended():
		tell = tell.refuse("the run is over")
	case p.state.StatusOf(t).Ended():
		tell = tell.refuse("it is %s", p.state.StatusOf(t))
	}
	return []Action{tell, p.interrupt(id), p.pauseTask(id), p.unpause(id), p.retry(id), p.retryTelling(id), p.skip(id), p.undo(id)}
}

// interrupt cuts off what the agent of a task does.
func (p *Projection) interrupt(id nexus.TaskID) Action {
	a := Action{
		Name: "interrupt", Label: "Interrupt its agent", Key: "I", Role: RoleSteer, Input: InputReason,
		Ask:  "instructions; may be empty",
		Args: []string{"interrupt", "--run", string(p.state.Run), "--", string(id), "{}"},
	}
	t := p.state.Task(id)
	switch {
	case t == nil:
		return a.refuse("there is no task %s", id)
	case p.Interrupted() || p.state.Status.Ended():
		return a.refuse("the run is not in progress")
	}
	if why := p.state.InterruptProblem(t); why != "" {
		return a.refuse("%s", why)
	}
	return a
}

// pauseTask holds one task.
func (p *Projection) pauseTask(id nexus.TaskID) Action {
	a := Action{
		Name: "pause-task", Label: "Pause the task", Key: "p", Role: RoleSteer,
		Args: []string{"pause", "--run", string(p.state.Run), "--", string(id)},
	}
	switch t := p.state.Task(id); {
	case t == nil:
		return a.refuse("there is no task %s", id)
	case p.state.Status.Ended():
		return a.refuse("the run is over")
	case t.Status.Ended():
		return a.refuse("it is %s", t.Status)
	case t.IsPaused():
		return a.refuse("it is paused by %s", t.Paused.By)
	case p.state.CurrentLanding != nil && p.state.CurrentLanding.Task == id:
		return a.refuse("it is landing")
	}
	return a
}

// unpause lets a task continue.
func (p *Projection) unpause(id nexus.TaskID) Action {
	a := Action{
		Name: "unpause", Label: "Continue the task", Key: "p", Role: RoleSteer,
		Args: []string{"unpause", "--run", string(p.state.Run), "--", string(id)},
	}
	if t := p.state.Task(id); t == nil || !t.IsPaused() {
		return a.refuse("it is not paused")
	}
	return a
}

// RunActions returns what can be done with the run now, and why not what cannot.
func (p *Projection) RunActions() []Action { return p.runActions() }

// runActions returns the actions of the run, all or the named ones.
func (p *Projection) runActions(names ...string) []Action {
	all := []Action{p.pause(), p.resume(), p.stop(), p.land()}
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

func (p *Projection) pause() Action {
	a := Action{Name: "pause", Label: "Pause", Key: "P", Role: RoleSteer, Args: []string{"pause", "--run", string(p.state.Run)}}
	switch {
	case p.state.Status.Ended():
		return a.refuse("the run is over")
	case p.Interrupted():
		return a.refuse("the run is not in progress")
	case p.state.Status == nexus.StatusPaused:
		return a.refuse("it is paused")
	}
	return a
}

func (p *Projection) resume() Action {
	a := Action{Name: "resume", Label: "Continue", Key: "P", Role: RoleSteer, Args: []string{"resume", string(p.state.Run), "--detach"}}
	switch {
	case p.state.Status == nexus.StatusDone:
		return a.refuse("the run is done")
	case p.state.Status == nexus.StatusPaused && !p.Interrupted():
		a.Args = []string{"resume", string(p.state.Run)}
	case !p.state.Status.Ended() && !p.Interrupted():
		return a.refuse("it is in progress")
	}
	return a
}

func (p *Projection) stop() Action {
	a := Action{
		Name: "stop", Label: "Stop the run", Key: "S", Role: RoleSteer, Danger: true, Args: []string{"stop", "--run", string(p.state.Run)},
		Confirm: "Stop the run? Agents finish their turn, and what landed stays. It can be continued later.",
	}
	if p.state.Status.Ended() {
		return a.refuse("the run is over")
	}
	return a
}

func (p *Projection) land() Action {
	a := Action{
		Name: "land", Label: "Land", Key: "M", Role: RoleAdmin, Args: []string{"land", string(p.state.Run)},
		Confirm: fmt.Sprintf("Move %s to the result?", p.state.Goal.Target),
	}
	switch pub := p.state.Published; {
	case p.state.Goal.Target == "":
		return a.refuse("the run has no branch to land on")
	case len(p.state.Landings) == 0:
		return a.refuse("nothing landed")
	case !p.state.Status.Ended():
		return a.refuse("the run is not over")
	case pub != nil && pub.Target != "":
		return a.refuse("%s has it", pub.Target)
	}
	return a
}
