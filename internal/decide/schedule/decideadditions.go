package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// settleAddRequest adds work to the run. A single task joins the plan at once.
func settleAddRequest(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	a := s.AdditionBySeq(r.Seq)
	switch {
	case a == nil:
		return no("no work to add was given")
	case !s.Goal.Goal.Mode.WorksOnTasks():
		return no("the run only makes a plan, asks questions or writes a spec: no task is worked on")
	case s.Drain != nil, s.IsDelivering(), s.IsDeliveryOnly():
		return no("the run is ending")
	}
	for _, o := range s.Additions {
		if o != a && o.Item == a.Item && a.Item != "" && o.Why == "" {
			return no("%s was added before", a.Item)
		}
	}
	if !s.Planned || !IsSingleTask(a.Task, s.Limits.Size) || !hasRoomForItem(s, a) {
		return yes()
	}
	fs, err := taskAdditionFacts(s, a, []nexus.Task{a.Task})
	if err != nil {
		return no("%v", err)
	}
	return yes(fs...)
}

// withdrawAddition removes an addition on which no work has begun: an item that is no longer wanted.
func withdrawAddition(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	switch a := s.BacklogAddition(r.Item); {
	case a == nil:
		return no("%s was not added to the run", r.Item)
	case a.IsDone() || a.Attempt != "":
		return no("work on %s has started: skip its tasks", r.Item)
	default:
		return yes(nexus.AdditionPlanningFailed{Request: a.Seq, Why: "taken back by " + requesterName(r), By: requesterName(r)})
	}
}

// IsSingleTask reports whether a request is one task as it is: it has one goal, leaves
// nothing open, and is not too large. For all others a planner makes tasks.
func IsSingleTask(t nexus.Task, most nexus.TaskSizeLimits) bool {
	_, vague := clarify.IsVague(t.Brief)
	return !vague && len(spec.StatementsOf(t.Brief)) <= 1 && len(t.Criteria) > 0 && !spec.LooksLikeSpec(t.Brief) &&
		len(t.Files) <= most.Files && len(t.Criteria) <= most.Criteria && len(t.Brief) <= most.Characters/2
}

// hasRoomForItem reports whether an addition may begin: the number of backlog items in progress is
// limited.
func hasRoomForItem(s *state.State, a *state.RunAddition) bool {
	return a.Item == "" || s.Limits.Items == 0 || len(s.ActiveItems()) < s.Limits.Items
}

// decideAdditions decides the next step for people's additions.
func decideAdditions(s *state.State, now time.Time) []nexus.Fact {
	for _, a := range s.Additions {
		if a.IsDone() {
			continue
		}
		if fs := decideAddition(s, a, now); fs != nil {
			return fs
		}
	}
	return nil
}

func decideAddition(s *state.State, a *state.RunAddition, now time.Time) []nexus.Fact {
	switch {
	case a.Proposed != nil:
		return acceptProposedTasks(s, a, now)
	case a.Attempt != "":
		return resumeAdditionPlanning(s, a)
	case !hasRoomForItem(s, a):
		return nil
	case IsSingleTask(a.Task, s.Limits.Size):
		return joinTasksOrFail(s, a, []nexus.Task{a.Task})
	case s.IsAddingTasks() || len(s.ActiveAttempts()) >= allowedParallelAttempts(s):
		return nil
	}
	return factList(nexus.AdditionPlanningStarted{Attempt: nexus.AttemptID(fmt.Sprintf("add.%d", s.AddTries+1)), Request: a.Seq})
}

// resumeAdditionPlanning resumes the attempt that makes tasks of an addition and lost its process.
func resumeAdditionPlanning(s *state.State, a *state.RunAddition) []nexus.Fact {
	at := s.AttemptByID(a.Attempt)
	switch {
	case at.Stage == state.Working:
		return nil
	case at.Stage == state.Waiting && !isLostTooOften(s, at):
		return factList(nexus.AdditionPlanningStarted{Attempt: a.Attempt, Request: a.Seq})
	default:
		return factList(nexus.AdditionPlanningFailed{Request: a.Seq, Attempt: a.Attempt, Why: "planning it was interrupted too often: " + at.Why})
	}
}

// acceptProposedTasks adds the proposed tasks of an addition to the run, after a person's approval if
// the approval level includes plans.
func acceptProposedTasks(s *state.State, a *state.RunAddition, now time.Time) []nexus.Fact {
	if !s.NeedsPlanApproval() {
		return joinTasksOrFail(s, a, a.Proposed)
	}
	q := additionQuestion(s, a)
	switch {
	case q == nil:
		return factList(askAboutAddition(s, a, s.NextQuestionID(), now))
	case q.By == "" && s.Alone && !q.Left:
		return factList(nexus.QuestionExpired{ID: q.ID})
	case q.By == "" && q.Left && q.Anew && !s.Alone:
		return factList(askAboutAddition(s, a, q.ID, now))
	case q.By == "":
		return nil
	case nexus.IsYes(q.Answer):
		return joinTasksOrFail(s, a, a.Proposed)
	}
	why := "not agreed to by " + q.By
	if objection := nexus.RequestedChangeIn(q.Answer); objection != "" {
		why += ": " + objection
	}
	return factList(nexus.AdditionPlanningFailed{Request: a.Seq, Why: why})
}

func askAboutAddition(s *state.State, a *state.RunAddition, id string, now time.Time) nexus.QuestionAsked {
	words := make([]string, len(a.Proposed))
	for i, t := range a.Proposed {
		words[i] = string(t.ID) + " " + t.Title
	}
	text := fmt.Sprintf("may these tasks be added to the run? %s: %s", countTasks(len(words)), sanitize.TruncateText(strings.Join(words, "; "), mostPlan))
	return nexus.QuestionAsked{
		ID: id, Text: text, Fallback: nexus.Unapproved, Trigger: nexus.AddTrigger, Mark: string(a.Attempt), Deadline: questionDeadline(s, now),
	}
}

// joinTasksOrFail returns the facts that add tasks to the run, or that reject them with a reason.
func joinTasksOrFail(s *state.State, a *state.RunAddition, tasks []nexus.Task) []nexus.Fact {
	fs, err := taskAdditionFacts(s, a, tasks)
	if err != nil {
		return factList(nexus.AdditionPlanningFailed{Request: a.Seq, Why: err.Error()})
	}
	return fs
}

// taskAdditionFacts returns the facts that add tasks to the run, under unused names. Tasks without needs
// get those of the addition.
func taskAdditionFacts(s *state.State, a *state.RunAddition, tasks []nexus.Task) ([]nexus.Fact, error) {
	needs := slices.Clone(a.Task.Needs)
	for _, id := range a.Task.Needs {
		t := s.TaskByID(id)
		if t == nil {
			return nil, fmt.Errorf("it needs the task %s, which the run does not have", id)
		}
		if e := s.Splits.SplitOfTask(id); t.Status == nexus.Split && e != nil {
			needs = state.ReplaceNeedByParts(needs, id, e.Parts)
		}
	}
	names, n := map[nexus.TaskID]nexus.TaskID{}, len(s.Tasks)
	ids := make([]nexus.TaskID, len(tasks))
	for i, t := range tasks {
		for n++; s.TaskByID(nexus.TaskID(fmt.Sprintf("T%d", n))) != nil; n++ {
		}
		ids[i] = nexus.TaskID(fmt.Sprintf("T%d", n))
		names[t.ID] = ids[i]
	}
	var fs []nexus.Fact
	for i, t := range tasks {
		t.ID, t.Needs, t.Wants, t.Ties = ids[i], renameTaskIDs(t.Needs, names), renameTaskIDs(t.Wants, names), renameTies(t.Ties, names)
		if len(tasks) == 1 || len(t.Needs) == 0 {
			t.Needs = slices.Clone(needs)
		}
		t.Priority, t.Kind = cmp.Or(a.Task.Priority, t.Priority), cmp.Or(a.Task.Kind, t.Kind)
		t.SetStartTier(a.Task.Tier, a.Task.Strategy, true)
		fs = append(fs, nexus.TaskPlanned{Task: t})
	}
	fs = append(fs, nexus.TasksAdded{Request: a.Seq, Tasks: ids, By: approverOf(s, a)})
	return fs, s.CheckFacts(fs...)
}

// approverOf returns the person who approved the tasks of an addition.
func approverOf(s *state.State, a *state.RunAddition) string {
	if q := additionQuestion(s, a); q != nil {
		return q.By
	}
	return cmp.Or(a.By, "a person")
}

// additionQuestion returns the question about the tasks of an addition, or nil if there is none.
func additionQuestion(s *state.State, a *state.RunAddition) *state.RunQuestion {
	if a.Question == "" {
		return nil
	}
	return s.QuestionByID(a.Question)
}

func renameTaskIDs(ids []nexus.TaskID, names map[nexus.TaskID]nexus.TaskID) []nexus.TaskID {
	var all []nexus.TaskID
	for _, id := range ids {
		all = append(all, names[id])
	}
	return all
}

func renameTies(ties nexus.DependencyReasons, names map[nexus.TaskID]nexus.TaskID) nexus.DependencyReasons {
	if len(ties) == 0 {
		return nil
	}
	all := nexus.DependencyReasons{}
	for _, id := range slices.Sorted(maps.Keys(ties)) {
		all[names[id]] = ties[id]
	}
	return all
}
