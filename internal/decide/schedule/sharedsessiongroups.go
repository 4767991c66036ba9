package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// sharedSessionClass is the class of tasks that can share a session.
type sharedSessionClass struct {
	kind     nexus.TaskKind
	tier     nexus.Tier
	strategy nexus.WritingStrategy
	model    string
}

// formSharedSessionGroup groups the first small task that could begin with similar tasks that the same session
// can do after it. It forms no group for a single task.
func formSharedSessionGroup(s *state.State) []nexus.Fact {
	if s.Limits.Batch < 2 || allowedParallelAttempts(s) <= len(s.ActiveAttempts()) {
		return nil
	}
	flying := tasksInFlight(s)
	for _, t := range startCandidates(s) {
		of, small := sharedSessionClassOf(s, t)
		if !small || conflictsWithRunning(s, t, flying) {
			continue
		}
		if all := sharedSessionTasks(s, t, of, flying); len(all) > 1 {
			return factList(nexus.SharedSessionGroupFormed{
				Lane: fmt.Sprintf("L%d", len(s.Lanes)+1), Tasks: all,
				Why: fmt.Sprintf("simple tasks of kind %s, tier %s, %s", of.kind, of.tier, of.strategy),
			})
		}
	}
	return nil
}

// ForecastSharedSessions returns the groups of tasks that would share a session, if each task landed
// at its first attempt, and all ready tasks did before the next begin.
func ForecastSharedSessions(tasks []nexus.Task, l nexus.Limits, r nexus.StartTierRules) []nexus.SharedSessionGroupFormed {
	if l.Batch < 2 {
		return nil
	}
	s := state.NewState("")
	fold := func(all ...nexus.Fact) bool {
		for _, f := range all {
			if s.Apply(nexus.Event{Seq: s.Seq + 1, Fact: f}) != nil {
				return false
			}
		}
		return true
	}
	ok := fold(nexus.GoalAccepted{Limits: l, Routing: r}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: len(tasks)})
	for _, t := range tasks {
		ok = ok && fold(nexus.TaskPlanned{Task: t})
	}
	if !ok || !fold(nexus.PlanApproved{}) {
		return nil // the plan cannot be carried out
	}
	fold(decideStartTiers(s)...)
	for range tasks {
		for f := formSharedSessionGroup(s); f != nil && fold(f...); f = formSharedSessionGroup(s) { // each group takes tasks from the next
		}
		for _, t := range slices.Clone(startCandidates(s)) {
			t.Status = nexus.Landed
		}
	}
	return s.Lanes
}

// sharedSessionTasks returns the tasks for one session, t first: those that are similar, wait for
// nothing but each other, and change nothing that others work on.
func sharedSessionTasks(s *state.State, t *state.TaskState, of sharedSessionClass, flying []nexus.TaskID) []nexus.TaskID {
	all := []nexus.TaskID{t.ID}
	for more := true; more; {
		more = false
		for _, o := range s.Tasks {
			if len(all) >= s.Limits.Batch {
				return all
			}
			c, small := sharedSessionClassOf(s, o)
			if small && c == of && !slices.Contains(all, o.ID) && waitsOnlyFor(s, o, all) && !conflictsWithRunning(s, o, flying) {
				all, more = append(all, o.ID), true
			}
		}
	}
	return all
}

// waitsOnlyFor reports whether a task waits only for some others, which would land before it.
func waitsOnlyFor(s *state.State, t *state.TaskState, others []nexus.TaskID) bool {
	for _, id := range t.Prerequisites() {
		if n := s.TaskByID(id); !slices.Contains(others, id) && (n == nil || n.Status != nexus.Landed) {
			return false
		}
	}
	return true
}

// sharedSessionClassOf returns the class of a task for a shared session, or false for one that is not
// small, has begun, or whose strategy separates agents.
func sharedSessionClassOf(s *state.State, t *state.TaskState) (sharedSessionClass, bool) {
	c := sharedSessionClass{kind: cmp.Or(t.Kind, nexus.CodeTask), tier: t.Tier, strategy: repair.NextStrategy(t), model: t.Model}
	hard := t.Complexity
	if t.Route != nil {
		hard = t.Route.Complexity
	}
	_, laned := s.SharedSessionGroupOf(t.ID)
	begun := t.IsPaused() || t.Status != nexus.Pending || len(t.Attempts) > 0 || s.IsSplitting(t.ID) || needsStartTier(s, t)
	after := c.strategy == nexus.TestAfter || c.strategy == nexus.NoTest
	return c, !laned && !begun && hard == nexus.Simple && after && c.kind != nexus.TestTask
}

// waitsInSharedSession reports whether a task in a group must still wait: one before it is in
// progress, or could begin.
func waitsInSharedSession(s *state.State, t *state.TaskState) bool {
	lane, _ := s.SharedSessionGroupOf(t.ID)
	if t.HasLeftSharedSession() {
		return false
	}
	for _, id := range lane.Tasks[:max(0, slices.Index(lane.Tasks, t.ID))] {
		o := s.TaskByID(id)
		if o.Status.HasEnded() || o.HasLeftSharedSession() {
			continue
		}
		if len(o.Attempts) > 0 || s.IsReady(o) {
			return true
		}
	}
	return false
}

// sessionToContinue returns the session that the coder of a task's first attempt continues: that of
// the last task before it in the group that landed at its first attempt. It is empty if there
// is none, or if that session became too long.
func sessionToContinue(s *state.State, t *state.TaskState) nexus.SessionID {
	lane, _ := s.SharedSessionGroupOf(t.ID)
	if len(t.Attempts) > 0 {
		return ""
	}
	for _, id := range slices.Backward(lane.Tasks[:max(0, slices.Index(lane.Tasks, t.ID))]) {
		o := s.TaskByID(id)
		if o.Landed == nil || o.HasLeftSharedSession() || o.Landed.Attempt != o.Attempts[0].ID {
			continue
		}
		c := o.Attempts[0].LastSession(nexus.Coder)
		if c == nil || !c.Over || len(c.Compact.Messages) > 0 || c.Foreign > 0 || c.Opened.Agent != "" {
			return ""
		}
		return c.Session
	}
	return ""
}
