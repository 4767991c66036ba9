package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// laneClass is the class of tasks that can share a session.
type laneClass struct {
	kind     nexus.TaskKind
	tier     nexus.Tier
	strategy nexus.Strategy
	model    string
}

// formLane groups the first small task that could begin with similar tasks that the same session
// can do after it. It forms no group for a single task.
func formLane(s *state.State) []nexus.Fact {
	if s.Limits.Batch < 2 || allowedParallelAttempts(s) <= len(s.ActiveAttempts()) {
		return nil
	}
	flying := tasksInFlight(s)
	for _, t := range startCandidates(s) {
		of, small := laneClassOf(s, t)
		if !small || conflictsWithRunning(s, t, flying) {
			continue
		}
		if all := laneTasks(s, t, of, flying); len(all) > 1 {
			return factList(nexus.LaneFormed{
				Lane: fmt.Sprintf("L%d", len(s.Lanes)+1), Tasks: all,
				Why: fmt.Sprintf("simple tasks of kind %s, tier %s, %s", of.kind, of.tier, of.strategy),
			})
		}
	}
	return nil
}

// ForecastLanes returns the groups of tasks that would share a session, if each task landed
// at its first attempt, and all ready tasks did before the next begin.
func ForecastLanes(tasks []nexus.Task, l nexus.Limits, r nexus.Routing) []nexus.LaneFormed {
	if l.Batch < 2 {
		return nil
	}
	s := state.New("")
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
	fold(decideRoutes(s)...)
	for range tasks {
		for f := formLane(s); f != nil && fold(f...); f = formLane(s) { // each group takes tasks from the next
		}
		for _, t := range slices.Clone(startCandidates(s)) {
			t.Status = nexus.Landed
		}
	}
	return s.Lanes
}

// laneTasks returns the tasks for one session, t first: those that are similar, wait for
// nothing but each other, and change nothing that others work on.
func laneTasks(s *state.State, t *state.Task, of laneClass, flying []nexus.TaskID) []nexus.TaskID {
	all := []nexus.TaskID{t.ID}
	for more := true; more; {
		more = false
		for _, o := range s.Tasks {
			if len(all) >= s.Limits.Batch {
				return all
			}
			c, small := laneClassOf(s, o)
			if small && c == of && !slices.Contains(all, o.ID) && waitsOnlyFor(s, o, all) && !conflictsWithRunning(s, o, flying) {
				all, more = append(all, o.ID), true
			}
		}
	}
	return all
}

// waitsOnlyFor reports whether a task waits only for some others, which would land before it.
func waitsOnlyFor(s *state.State, t *state.Task, others []nexus.TaskID) bool {
	for _, id := range t.Prerequisites() {
		if n := s.TaskByID(id); !slices.Contains(others, id) && (n == nil || n.Status != nexus.Landed) {
			return false
		}
	}
	return true
}

// laneClassOf returns the class of a task for a shared session, or false for one that is not
// small, has begun, or whose strategy separates agents.
func laneClassOf(s *state.State, t *state.Task) (laneClass, bool) {
	c := laneClass{kind: cmp.Or(t.Kind, nexus.CodeTask), tier: t.Tier, strategy: repair.NextStrategy(t), model: t.Model}
	hard := t.Complexity
	if t.Route != nil {
		hard = t.Route.Complexity
	}
	_, laned := s.LaneOf(t.ID)
	begun := t.IsPaused() || t.Status != nexus.Pending || len(t.Attempts) > 0 || s.IsSplitting(t.ID) || needsRoute(s, t)
	after := c.strategy == nexus.TestAfter || c.strategy == nexus.NoTest
	return c, !laned && !begun && hard == nexus.Simple && after && c.kind != nexus.TestTask
}

// waitsInLane reports whether a task in a group must still wait: one before it is in
// progress, or could begin.
func waitsInLane(s *state.State, t *state.Task) bool {
	lane, _ := s.LaneOf(t.ID)
	if t.HasLeftLane() {
		return false
	}
	for _, id := range lane.Tasks[:max(0, slices.Index(lane.Tasks, t.ID))] {
		o := s.TaskByID(id)
		if o.Status.HasEnded() || o.HasLeftLane() {
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
func sessionToContinue(s *state.State, t *state.Task) nexus.SessionID {
	lane, _ := s.LaneOf(t.ID)
	if len(t.Attempts) > 0 {
		return ""
	}
	for _, id := range slices.Backward(lane.Tasks[:max(0, slices.Index(lane.Tasks, t.ID))]) {
		o := s.TaskByID(id)
		if o.Landed == nil || o.HasLeftLane() || o.Landed.Attempt != o.Attempts[0].ID {
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
