package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// addCheckpointBefore adds a checkpoint before a decision that people may want to undo: a
// publication, a risky landing, or a task's failure.
func addCheckpointBefore(s *state.State, fs []nexus.Fact) []nexus.Fact {
	for _, f := range fs {
		var reason nexus.CheckpointReason
		why := ""
		switch f := f.(type) {
		case nexus.TaskParked:
			reason, why = nexus.ByFailure, fmt.Sprintf("%s is given up: %s", f.Task, shortenReason(f.Why))
		case nexus.ResultPublishingStarted:
			if last := latestCheckpoint(s, nexus.ByPublish); last == nil || last.Tip != f.Commit {
				reason, why = nexus.ByPublish, fmt.Sprintf("the work up to %.12s is about to be published", f.Commit)
			}
		case nexus.LandingStarted:
			if what := landingRisk(s, f.Attempt); what != "" {
				reason, why = nexus.ByRisk, fmt.Sprintf("%s is about to land: %s", f.Task, what)
			}
		default:
		}
		if reason != "" && slices.Contains(s.Limits.Points.On, reason) {
			return append(makeCheckpoint(s, reason, why), fs...)
		}
	}
	return fs
}

// landingRisk returns why the landing of an attempt is risky, or "".
func landingRisk(s *state.State, id nexus.AttemptID) string {
	r := s.AttemptByID(id).LastRound()
	if r == nil {
		return ""
	}
	for _, e := range r.Evidence {
		switch {
		case len(e.Findings) == 0:
		case e.Gate == humaninput.CriticalGate:
			return "it touches " + humaninput.FindingFilesText(e.Findings)
		case e.Gate == nexus.DonePrefix+nexus.LargeBound:
			return e.Findings[0].Message
		}
	}
	return ""
}

// latestCheckpoint returns the last checkpoint with a reason, or nil before the first.
func latestCheckpoint(s *state.State, reason nexus.CheckpointReason) *state.RunCheckpoint {
	for _, c := range slices.Backward(s.Checkpoints) {
		if c.Reason == reason && !c.Undone {
			return c
		}
	}
	return nil
}

// makeCheckpoint makes an automatic checkpoint, and removes the oldest ones above the limit.
func makeCheckpoint(s *state.State, reason nexus.CheckpointReason, why string) []nexus.Fact {
	n := 1
	name := func() string { return string(reason) + "-" + strconv.Itoa(n) }
	for slices.ContainsFunc(s.Checkpoints, func(c *state.RunCheckpoint) bool { return c.Name == name() }) {
		n++
	}
	fs := factList(nexus.CheckpointMade{Name: name(), Reason: reason, Why: why, Tip: s.Tip, Trees: s.UnlandedSnapshots()})
	var own []*state.RunCheckpoint
	for _, c := range s.ActiveCheckpoints() {
		if c.Reason != nexus.ByHand {
			own = append(own, c)
		}
	}
	if most := s.Limits.Points.Keep; most > 0 {
		for _, c := range own[:max(0, len(own)+1-most)] {
			fs = append(fs, nexus.CheckpointDropped{Name: c.Name, Why: fmt.Sprintf("only the last %d automatic ones are kept", most)})
		}
	}
	return fs
}

// nextTimerCheckpoint returns when the next checkpoint of the timer is due, or zero for
// never.
func nextTimerCheckpoint(s *state.State) time.Time {
	every := s.Limits.Points.Every
	if every <= 0 || !s.ChangedSinceCheckpoint() || s.Started.IsZero() || s.Start.Stage != state.StartFree || s.Drain != nil || s.Status != nexus.StatusPlanning && s.Status != nexus.StatusExecuting {
		return time.Time{}
	}
	return s.WorkedTimeReachedAt(workedTimeAtLastCheckpoint(s) + every)
}

// workedTimeAtLastCheckpoint returns the run's working time at its last checkpoint.
func workedTimeAtLastCheckpoint(s *state.State) time.Duration {
	if n := len(s.Checkpoints); n > 0 {
		return s.Checkpoints[n-1].Worked
	}
	return 0
}

// checkpointWhenTimerDue makes a checkpoint when the timer is due.
func checkpointWhenTimerDue(s *state.State, now time.Time) []nexus.Fact {
	due := nextTimerCheckpoint(s)
	if due.IsZero() || now.Before(due) {
		return nil
	}
	return makeCheckpoint(s, nexus.ByTimer, fmt.Sprintf("the run has worked for %s", s.WorkedTime(now).Round(time.Second)))
}

// checkpointAfterWave makes a checkpoint once all tasks of a further wave have ended and something
// has landed since the last checkpoint. The first wave is the tasks without needs.
func checkpointAfterWave(s *state.State) []nexus.Fact {
	if !slices.Contains(s.Limits.Points.On, nexus.ByWave) || s.Graph == nil {
		return nil
	}
	ended, all := 0, 0
	for n, tasks := range taskWaves(s) {
		all = n + 1
		if ended == n && !slices.ContainsFunc(tasks, func(t *state.TaskState) bool { return !t.Status.HasEnded() }) {
			ended = n + 1
		}
	}
	made := 0
	if last := latestCheckpoint(s, nexus.ByWave); last != nil {
		made, _ = strconv.Atoi(strings.Fields(last.Why)[1])
	}
	if ended <= made || len(s.Checkpoints) > 0 && s.Checkpoints[len(s.Checkpoints)-1].Tip == s.Tip || len(s.Landings) == 0 {
		return nil
	}
	return makeCheckpoint(s, nexus.ByWave, fmt.Sprintf("wave %d of %d has ended", ended, all))
}

// taskWaves returns the tasks that are not split, by wave: a task is in the wave after those of
// all its needs.
func taskWaves(s *state.State) [][]*state.TaskState {
	level := map[nexus.TaskID]int{}
	var of func(t *state.TaskState) int
	of = func(t *state.TaskState) int {
		if n, ok := level[t.ID]; ok {
			return n
		}
		n := 0
		for _, id := range t.Needs {
			if other := s.TaskByID(id); other != nil {
				n = max(n, of(other)+1)
			}
		}
		level[t.ID] = n
		return n
	}
	var all [][]*state.TaskState
	for _, t := range s.Tasks {
		n := of(t)
		for len(all) <= n {
			all = append(all, nil)
		}
		all[n] = append(all[n], t)
	}
	return all
}

// makeNamedCheckpoint makes a named checkpoint for a request.
func makeNamedCheckpoint(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	if why := CheckpointNameProblem(s, r.ID); why != "" {
		return no("%s", why)
	}
	return yes(nexus.CheckpointMade{Name: r.ID, Reason: nexus.ByHand, Why: r.Text, Tip: s.Tip, Trees: s.UnlandedSnapshots(), By: requesterName(r)})
}

// CheckpointNameProblem returns why a name cannot be used for a new checkpoint, or "".
func CheckpointNameProblem(s *state.State, name string) string {
	switch digits := strings.Trim(name, "0123456789") == ""; {
	case name == "" || len(name) > mostName:
		return fmt.Sprintf("a checkpoint's name has 1 to %d characters", mostName)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" || strings.HasPrefix(name, "-"):
		return "a checkpoint's name has letters, digits, - and _, and does not begin with -"
	case digits:
		return "a checkpoint's name is not a number: that would be the number of an event"
	case slices.ContainsFunc(s.Checkpoints, func(c *state.RunCheckpoint) bool { return c.Name == name }):
		return fmt.Sprintf("a checkpoint %s exists or existed", name)
	}
	return ""
}

// mostName limits the characters of a checkpoint's name.
const mostName = 60
