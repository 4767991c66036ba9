package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/numberedfiles"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// landNext starts the landing of the next accepted attempt, one at a time.
func landNext(s *state.State) []nexus.Fact {
	if s.CurrentLanding != nil {
		return resumeLanding(s, s.CurrentLanding)
	}
	i := slices.IndexFunc(s.Queue, func(t *state.QueuedLanding) bool {
		return s.LandingHoldReason(s.TaskByID(t.Task), s.AttemptByID(t.Attempt)) == ""
	})
	if i < 0 {
		return nil // also if the run ends, and no agent is left for people's new comments
	}
	t := s.Queue[i]
	return factList(nexus.LandingStarted{Task: t.Task, Attempt: t.Attempt, Onto: s.Tip})
}

// resumeLanding continues a landing that lost its worker. The worker finds out whether it has
// already landed, so it is never given up here.
func resumeLanding(s *state.State, b *state.QueuedLanding) []nexus.Fact {
	switch t, m := s.TaskByID(b.Task), b.Merge; {
	case m.Stage != state.Waiting:
		return nil
	case t.OverCap != nil:
		return factList(nexus.LandingRejected{Task: t.ID, Attempt: b.Attempt, Onto: b.Onto, Conflict: true, Why: ReachedCapText(*t.OverCap)})
	case s.Drain != nil && (m.LetGo || isLostTooOften(s, m)):
		return nil
	case isLostTooOften(s, m):
		return factList(nexus.RunDrainStarted{To: nexus.StatusFailed, Why: fmt.Sprintf("landing %s was interrupted %d times: %s", t.ID, m.Losses, m.Why)})
	default:
		return factList(nexus.AttemptResumed{Attempt: m.ID, Base: b.Onto})
	}
}

// startTasks starts ready tasks while slots are free: the most urgent first, then the one
// with the longest path behind it, and never two that declare the same file.
func startTasks(s *state.State, now time.Time) []nexus.Fact {
	room := allowedParallelAttempts(s) - len(s.ActiveAttempts())
	if room <= 0 {
		return nil
	}
	if n := s.Limits.Dispatches; n > 0 {
		if s.Starts >= n && slices.ContainsFunc(s.Tasks, s.IsReady) && !hasUnfinishedWork(s) {
			return factList(nexus.RunDrainStarted{To: nexus.StatusLimit, Why: fmt.Sprintf("%d attempts were started", s.Starts)})
		}
		room = min(room, n-s.Starts)
	}
	if s.Limits.Step {
		return startNextStep(s, now)
	}
	var fs []nexus.Fact
	flying := tasksInFlight(s)
	for _, t := range startCandidates(s) {
		if room <= 0 {
			break
		}
		if conflictsWithRunning(s, t, flying) || waitsInSharedSession(s, t) {
			continue
		}
		room--
		flying = append(flying, t.ID)
		fs = append(fs, nextAttempt(s, t))
	}
	return fs
}

// nextAttempt returns the start of the next attempt at a task.
func nextAttempt(s *state.State, t *state.TaskState) nexus.AttemptStarted {
	f := nexus.AttemptStarted{
		Attempt: nexus.AttemptID(fmt.Sprintf("%s.%d", t.ID, len(t.Attempts)+1)),
		Task:    t.ID, Tier: t.Tier, Strategy: repair.NextStrategy(t), Base: s.Tip,
	}
	f.Continues = sessionToContinue(s, t)
	from, ok := roundChosenByPerson(s, t)
	switch f.Asked = ok; {
	case replan.ContinuesFromLast(t):
		f.Asked = false
		from, ok = BestStartingTree(t)
	case !ok:
		if f.Tree = treeOfTestsToKeep(s, t); f.Tree != "" {
			return f
		}
		from, ok = BestStartingTree(t)
	}
	if in := t.Inherited; !ok && in != nil && in.Work != "" {
		from, ok = state.RoundResultTree{At: in.Work, Base: in.Base}, true
	}
	if f.Tree, f.From, f.Round = from.At, from.Attempt, from.Round; ok && from.Base != s.Tip {
		f.Since = from.Base
	}
	return f
}

// BestStartingTree returns the tree from which the next attempt at a task starts unless a person
// names another one, or false if there is none. See [state.BestTree].
func BestStartingTree(t *state.TaskState) (state.RoundResultTree, bool) {
	return state.BestTree(t.Attempts[min(t.Fresh, len(t.Attempts)):])
}

// UpcomingView returns the view of a task's worker. Fresh means that no attempt is open, and
// the view is that of the attempt that would begin now.
func UpcomingView(s *state.State, t *state.TaskState) (v state.WorkerView, fresh bool) {
	v = s.WorkerView(t.ID)
	if v.Attempt != nil && v.Attempt.Stage != state.Over {
		return v, false
	}
	f := nextAttempt(s, t)
	v.Attempt = &state.AttemptState{ID: f.Attempt, Task: f.Task, Tier: f.Tier, Strategy: f.Strategy, Base: f.Base, Start: f.Tree, Since: f.Since, From: f.From, FromRound: f.Round, Asked: f.Asked}
	v.Kept = s.StartingTreeOf(v.Attempt)
	v.Meanwhile = nil // it would begin at the tip
	return v, true
}

// roundChosenByPerson returns the round that a person chose as the start.
func roundChosenByPerson(s *state.State, t *state.TaskState) (state.RoundResultTree, bool) {
	if t.Back == nil {
		return state.RoundResultTree{}, false
	}
	old := s.AttemptByID(t.Back.Attempt)
	if old == nil || !haveAllFailedByMachine(t.Attempts[t.Mercy:]) {
		return state.RoundResultTree{}, false
	}
	r := old.RoundAt(t.Back.Round)
	if r == nil {
		return state.RoundResultTree{}, false
	}
	return state.RoundResultTree{Attempt: old.ID, Round: r.Round, At: r.ResultTree(), Base: r.Base}, true
}

// treeOfTestsToKeep returns the tests of an attempt that ended because it changed more than tests,
// which was undone, or "".
func treeOfTestsToKeep(s *state.State, t *state.TaskState) string {
	if a := t.CurrentAttempt(); a != nil && len(t.Attempts) > t.Mercy && a.Category == nexus.IsolationViolation && a.Base == s.Tip {
		return a.Commit
	}
	return ""
}

// tasksInFlight returns the tasks whose work is in progress or accepted, and not on the branch. A
// retried task is included once it continues.
func tasksInFlight(s *state.State) []nexus.TaskID {
	var ids []nexus.TaskID
	for _, t := range s.Tasks {
		a := t.CurrentAttempt()
		if a == nil || t.Status.HasEnded() && a.Stage != state.Working {
			continue
		}
		retried := t.Status == nexus.Pending && a.Stage == state.Waiting
		if a.Stage != state.Over && !retried || a.Outcome == nexus.Accepted && t.Status != nexus.Pending {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

func conflictsWithRunning(s *state.State, t *state.TaskState, flying []nexus.TaskID) bool {
	return slices.ContainsFunc(flying, func(id nexus.TaskID) bool {
		return id != t.ID && (s.Graph.HasConflict(id, t.ID) || numberedfiles.MayCollide(s.TaskByID(id).Files, t.Files)) || overlapsByHistory(s, t, s.TaskByID(id))
	})
}

// startCandidates returns the tasks that could start: the most urgent first, then the one with the
// longest path behind it, then in the plan's order.
func startCandidates(s *state.State) []*state.TaskState {
	var ready []*state.TaskState
	for _, t := range s.Tasks {
		if s.IsReady(t) && !t.IsUnderway() && !t.IsPaused() && !needsStartTier(s, t) {
			ready = append(ready, t)
		}
	}
	slices.SortStableFunc(ready, func(a, b *state.TaskState) int {
		return cmp.Or(cmp.Compare(s.TaskUrgency(b.ID), s.TaskUrgency(a.ID)), cmp.Compare(s.Rank(b.ID), s.Rank(a.ID)))
	})
	return ready
}
