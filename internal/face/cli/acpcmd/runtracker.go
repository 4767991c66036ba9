package acpcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// usualWindow is the assumed context window, in tokens, of a model whose window is unknown, such
// as the model of another vendor's agent.
const usualWindow = 200_000

// runTracker shows a run to the client as its events arrive: the plan, a tool call for each task,
// the cost, and the questions to a person. Events are handled by one goroutine at a time; the
// conductor of the run calls begin and finish.
type runTracker struct {
	s       *editorSession
	ctx     context.Context //nolint:containedctx // of the prompt: when it ends, nobody is asked any more
	prices  *provider.ModelPicker
	place   *app.Repository // nil before the run's lease is held
	failed  error           // why the run cannot be shown
	end     context.CancelCauseFunc
	over    bool // the run is no longer in progress
	follows sync.WaitGroup
	asks    sync.WaitGroup

	state   *state.State
	process nexus.RunProcess // the present or last conductor
	lines   view.EventLineDrawer
	calls   map[nexus.TaskID]*taskCall
	plan    []byte                             // as shown
	paid    nexus.Money                        // as shown
	models  map[string]string                  // by reservation
	asked   map[string]context.CancelCauseFunc // questions that a person is being asked
	silent  bool                               // nothing is shown until the end: the session is being loaded
	seen    int                                // alerts raised before the run was last continued

	stop func(why error) // ends the work on the run; nil: not running
}

// newTracker returns the tracker of the run that a prompt is about to conduct.
func (s *editorSession) newTracker(ctx context.Context) *runTracker {
	t := &runTracker{s: s, ctx: ctx, calls: map[nexus.TaskID]*taskCall{}, models: map[string]string{}, asked: map[string]context.CancelCauseFunc{}}
	if c, err := s.readSettings(); err == nil {
		// Without prices, the usual context window is assumed.
		t.prices, _ = provider.NewModelPicker(c, s.agent.Console.Env, s.agent.Console.Now)
	}
	return t
}

// startFollowing follows the run once this process has its lease.
func (t *runTracker) startFollowing(id nexus.RunID) {
	t.s.mu.Lock()
	t.s.run = id
	t.s.mu.Unlock()
	at := t.s.agent.appIn(t.s.dir)
	p, err := at.OpenRepository(context.WithoutCancel(t.ctx), app.ReadAccess)
	if err != nil {
		t.stopUnshownRun(err)
		return
	}
	var follow context.Context
	follow, t.end = context.WithCancelCause(context.WithoutCancel(t.ctx))
	t.place, t.state = p, state.NewState(id).ReadPastFrom(p.Journal.Events(context.WithoutCancel(t.ctx), id, 0))
	if err := t.replayPast(follow); err != nil {
		t.stopUnshownRun(err)
		return
	}
	t.s.setCurrentRun(id, t.state.Status == nexus.StatusPaused, t.alertReason())
	t.follows.Go(func() { t.showEvents(follow, p.Journal.Follow(follow, id, t.state.Seq)) })
}

// showEvents shows events until ctx ends.
func (t *runTracker) showEvents(ctx context.Context, events iter.Seq2[nexus.Event, error]) {
	for e, err := range events {
		if err == nil {
			err = t.applyEvent(ctx, e)
		}
		if err != nil && ctx.Err() == nil {
			t.stopUnshownRun(err)
		}
		if err != nil {
			return
		}
	}
}

// stopUnshownRun ends the work on a run that can no longer be shown: it would spend money unseen, and its
// questions would not be asked.
func (t *runTracker) stopUnshownRun(err error) {
	t.failed = &nexus.Error{
		Code: nexus.CodeInternal, Message: "the run can no longer be shown, and was stopped", Cause: err,
		Hint: "Nothing that landed is lost. /status shows its state, and /resume continues it.",
	}
	if t.stop != nil {
		t.stop(t.failed)
	}
}

// replayPast reads the earlier events; their questions are not asked again.
func (t *runTracker) replayPast(ctx context.Context) error {
	t.silent = true
	defer func() { t.silent = false }()
	for e, err := range t.place.Journal.Events(ctx, t.state.Run, 0) {
		if err == nil {
			err = t.applyEvent(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	for _, task := range t.state.Tasks {
		t.readTaskDiffs(ctx, task)
	}
	return nil
}

// showRemaining shows the remaining changes after the command has ended.
func (t *runTracker) showRemaining(ctx context.Context) {
	if t.place == nil {
		return
	}
	t.end(nil)
	t.follows.Wait()
	for _, end := range t.asked {
		end(errSettled)
	}
	t.asks.Wait()
	t.over = true
	t.s.setCurrentRun("", false, "")
	ctx = context.WithoutCancel(ctx)
	t.showEvents(ctx, t.place.Journal.Events(ctx, t.state.Run, t.state.Seq))
	t.showChanges(t.runView())
	t.place.Close()
}

// runView returns the current view of the run.
func (t *runTracker) runView() view.RunView {
	return t.s.agent.Console.RunView(journal.RecordedRun{ID: t.state.Run, Holder: t.conductorProcess()}, t.state)
}

// conductorProcess returns this process while the prompt conducts the run, and nil before and after.
func (t *runTracker) conductorProcess() *nexus.RunProcess {
	if t.end == nil || t.over {
		return nil
	}
	return &t.process
}

// planCost returns the cost of the plan that the run made.
func (t *runTracker) planCost() nexus.Money {
	if t.state == nil {
		return 0
	}
	return app.PlanningCost(t.state)
}

// stopWithoutResult returns the reason why a prompt ends without a result.
func (t *runTracker) stopWithoutResult(ctx context.Context, r host.Result) (acpserver.PromptStopReason, error) {
	switch {
	case ctx.Err() != nil:
		return acpserver.PromptCancelled, nil //nolint:nilerr // that it was cancelled is the answer
	case r.Failure != nil && r.Failure.Code == nexus.CodeForbidden:
		t.s.sayFailure(r)
		return acpserver.PromptRefused, nil
	case r.Failure != nil:
		return "", failureError(r)
	}
	return "", t.failed
}

// runAndReport runs a command that conducts a run, shows the run, and reports the result.
func (s *editorSession) runAndReport(ctx context.Context, o host.Invocation) (acpserver.PromptStopReason, error) {
	work, drain := context.WithCancelCause(ctx)
	defer drain(nil)
	t := s.newTracker(work)
	t.stop = drain
	first := o.Began
	o.Told, o.Watched, o.Began = s.sendThoughts, true, func(id nexus.RunID) { //nolint:contextcheck // the tracker has its own
		if first != nil {
			first(id)
		}
		t.startFollowing(id)
	}
	told := context.AfterFunc(work, func() {
		s.c.SendThought("Stopping: nothing new starts, and answers in progress are kept.\n\n")
	})
	r := s.agent.Run(work, o)
	told()
	t.showRemaining(ctx)
	if t.failed != nil || t.state == nil || t.state.Seq == 0 { // only the command's own output is known
		if r.Text != "" {
			s.sendMarkdown("%s", fenceText(r.Text))
		}
		stop, err := t.stopWithoutResult(ctx, r)
		return cmp.Or(stop, acpserver.PromptDone), err
	}
	if r.Failure != nil {
		s.sayFailure(r)
	}
	v := t.runView()
	if v.Mode == nexus.Draft && v.Status == nexus.StatusDone {
		return acpserver.PromptDone, s.showPlan(ctx, t.state)
	}
	s.reportRun(v)
	switch {
	case ctx.Err() != nil:
		return acpserver.PromptCancelled, nil
	case v.Status == nexus.StatusLimit:
		return acpserver.PromptLimited, nil
	}
	return acpserver.PromptDone, nil
}

// reportRun shows the result of a run: the landed tasks, the others with their reasons, and the next
// steps.
func (s *editorSession) reportRun(v view.RunView) {
	text := fenceText(view.DrawReport(view.OutputStyle{}, v, false))
	free := false
	for _, q := range v.Asks {
		text += "\n\n**" + q.ID + "** " + s.escapeText(q.Text)
		switch {
		case v.Held != nil || free && len(q.Choices) == 0:
			text += "\n\n`/answer " + q.ID + " ANSWER` answers it."
		case len(q.Choices) == 0:
			free = true
			text += "\n\nYour next message is the answer."
		default:
			text += "\n\n`/resume` asks you, and continues."
		}
	}
	s.sendMarkdown("%s", text+continuationHint(v))
	if v.Branch != "" && v.Moved == "" {
		s.sendMarkdown("The result is the branch `%s`; your files are as they were. `/land` moves your branch to it.", v.Branch)
	}
}

// continuationHint returns how a run goes on; empty if it does not, or waits for an answer.
func continuationHint(v view.RunView) string {
	const resume = "\n\n`/resume` continues the run."
	switch {
	case v.Held != nil && v.Status == nexus.StatusPaused:
		return resume
	case v.Held != nil:
		return "\n\nThe run is in progress outside of this session. `/status` shows its state."
	case len(v.Asks) > 0:
		return ""
	case !v.Status.HasEnded():
		return "\n\nNothing is lost. `/resume` continues the run."
	case v.Status == nexus.StatusLimit:
		return resume + " Raise the limit before, in your configuration: `budget.run`, `limits.run_time`, or what the report names."
	case v.Counts.Active+v.Counts.Pending > 0:
		return resume
	}
	return ""
}

// applyEvent applies an event and shows the changes. After an error, no more can be shown.
func (t *runTracker) applyEvent(ctx context.Context, e nexus.Event) error {
	if e.Seq <= t.state.Seq {
		return nil
	}
	if err := t.state.Apply(e); err != nil {
		return err
	}
	switch f := e.Fact.(type) {
	case nexus.RunStarted:
		t.process = f.Process
	case nexus.RunRecovered:
		t.process = f.Process
	default:
	}
	if t.noteEvent(ctx, e); !t.silent && !t.over {
		t.updatePause(e.Fact)
	}
	if !t.silent && changesView(e.Fact) {
		v := t.runView()
		t.showChanges(v)
		if !t.over {
			t.updateQuestions(v) //nolint:contextcheck // a person is asked for as long as the prompt lasts
		}
	}
	return nil
}

// updatePause records whether the run is paused, and shows how it can be continued.
func (t *runTracker) updatePause(f nexus.Fact) {
	if t.state.Status != nexus.StatusPaused {
		t.s.setCurrentRun(t.state.Run, false, "")
	}
	if _, alert := f.(nexus.AlertRaised); alert && t.state.Status == nexus.StatusPaused {
		t.s.setCurrentRun(t.state.Run, true, t.alertReason())
	}
	p, ok := f.(nexus.RunPaused)
	if !ok {
		return
	}
	t.s.setCurrentRun(t.state.Run, true, t.alertReason())
	t.s.sendMarkdown("The run is paused: %s. `/resume` continues it. "+
		"If your editor sends nothing meanwhile, cancel this prompt and type `/resume` then.", t.s.escapeText(p.Why))
}

// alertReason returns the alert because of which a run may not continue without a person; empty if it
// may. An alert that pauses runs counts if it was raised after the run last continued, no matter
// who paused the run.
func (t *runTracker) alertReason() string {
	for _, a := range slices.Backward(t.state.Alerts.Raised[t.seen:]) {
		if a.Kind == nexus.AlertDenials && t.state.Limits.Alerts.Denied == nexus.ReactPause {
			return a.Why
		}
	}
	return ""
}

// changesView reports whether a fact may change the display.
func changesView(f nexus.Fact) bool {
	switch f.(type) {
	case nexus.ModelTurnRecorded, nexus.ToolCallStarted, nexus.ToolCallEnded, nexus.ToolResultsSent, nexus.PromptSent, nexus.BudgetReserved, nexus.GateStarted:
		return false
	default:
		return true
	}
}

// noteEvent handles the parts of an event that the state does not contain.
func (t *runTracker) noteEvent(ctx context.Context, e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.RunResumed:
		t.seen = len(t.state.Alerts.Raised)
	case nexus.BudgetReserved:
		t.models[f.ID] = f.Model
	case nexus.BudgetSettled:
		t.updateContextUsage(t.models[f.ID], f.Usage)
		delete(t.models, f.ID)
	case nexus.GatesVerdictGiven, nexus.LandingCompleted, nexus.AttemptEnded, nexus.TaskParked:
		for _, task := range t.state.Tasks {
			if !t.silent && view.IsAboutTask(f, task.ID) {
				t.readTaskDiffs(context.WithoutCancel(ctx), task) // it is shown even if the run ends in the meantime
			}
		}
	default:
	}
	text := t.lines.Draw(view.OutputStyle{}, e)
	if text == "" || isShownElsewhere(e.Fact) {
		return
	}
	for _, task := range t.state.Tasks {
		if view.IsAboutTask(e.Fact, task.ID) {
			c := t.taskCall(task.ID)
			c.said = append(c.said, text)
			c.said = c.said[max(0, len(c.said)-maxSaid):]
			return
		}
	}
	if !t.silent {
		t.s.sendThoughts(text)
	}
}

// isShownElsewhere reports whether a fact is shown in another way, or is not news for the client.
func isShownElsewhere(f nexus.Fact) bool {
	switch f.(type) {
	case nexus.GoalAccepted, nexus.RunStarted, nexus.PlanProposed, nexus.TaskPlanned, nexus.QuestionAsked, nexus.QuestionAnswered,
		nexus.QuestionExpired, nexus.RequestMade, nexus.RequestSettled, nexus.RunEnded, nexus.ResultPublished, nexus.RunReopened, nexus.RunRecovered:
		return true
	default:
		return false
	}
}

func (t *runTracker) mask(text string) string { return t.s.agent.Console.Mask.MaskText(text) }

// updateContextUsage records the context usage of a call.
func (t *runTracker) updateContextUsage(model string, u nexus.Usage) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.filled, t.s.window = u.PromptTokens(), usualWindow
	if t.prices != nil && t.prices.ContextSize(model) > 0 {
		t.s.window = t.prices.ContextSize(model)
	}
}

// showChanges shows the differences from the last display.
func (t *runTracker) showChanges(v view.RunView) {
	t.updateCost(v)
	if len(v.Tasks) == 0 || len(v.Tasks) < t.state.Proposed {
		return // no plan yet
	}
	needed := map[nexus.TaskID]bool{}
	for _, task := range v.Tasks {
		for _, id := range task.Needs {
			needed[id] = true
		}
	}
	var all []acpserver.AgentPlanEntry
	for _, task := range v.Tasks {
		if e, ok := t.planEntry(task, needed[task.ID]); ok {
			all = append(all, e)
		}
	}
	if plan, err := json.Marshal(all); err == nil && !bytes.Equal(plan, t.plan) {
		t.plan = plan
		t.s.c.SendPlan(all)
	}
	if v.Mode == nexus.Draft {
		return // not started
	}
	for _, task := range v.Tasks {
		t.showTask(v, task)
	}
}

// updateCost shows the cost of the session.
func (t *runTracker) updateCost(v view.RunView) {
	if v.Money.Spent == t.paid {
		return
	}
	t.paid = v.Money.Spent
	t.s.showCost(v.ID, v.Money.Spent)
}

// showCost shows the cost of the session after an update of one run's cost.
func (s *editorSession) showCost(run nexus.RunID, spent nexus.Money) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent == nil {
		s.spent = map[nexus.RunID]nexus.Money{}
	}
	s.spent[run] = spent
	var all nexus.Money
	for _, one := range s.spent {
		all += one
	}
	s.c.ShowUsage(min(s.filled, cmp.Or(s.window, usualWindow)), cmp.Or(s.window, usualWindow), all.Dollars())
}
