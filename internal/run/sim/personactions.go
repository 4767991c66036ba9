package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// makeRequest lets a person make a request, whether or not a process is running to receive it.
func (s *runSimulator) makeRequest() {
	if s.over {
		return
	}
	r := nexus.Request{By: "ann"}
	if tasks := s.scenario.Tasks; len(tasks) > 0 {
		r.Task = tasks[s.dice.IntN(len(tasks))].ID
	}
	switch n := s.dice.IntN(20); {
	case n < 4:
		r.Verb, r.Task = nexus.VerbPause, ""
		if s.dice.IntN(8) > 0 {
			s.scheduleWithoutProcess(s.drawDuration(4*time.Hour), func() { s.appendRequest(nexus.Request{Verb: nexus.VerbResume}) })
		}
	case n < 5:
		r.Verb, r.Task = nexus.VerbResume, ""
	case n < 6:
		r.Verb, r.Now = nexus.VerbStop, s.dice.IntN(2) == 0
	case n < 9:
		r.Verb = nexus.VerbSkip
	case n < 12 && n != 9:
		r.Verb = nexus.VerbRetry
	case n < 10:
		r.Verb, r.Task, r.Plan = nexus.VerbAdd, "", &nexus.Plan{Tasks: []nexus.Task{s.addedTask(r.Task)}}
	case n < 15:
		r.Verb, r.Text = nexus.VerbTell, "mind the gap"
	case n >= 18:
		r.Verb, r.Text = nexus.VerbInterrupt, []string{"", "not like that"}[s.dice.IntN(2)]
	case n >= 16:
		r.Verb = nexus.VerbPause
		s.scheduleWithoutProcess(s.drawDuration(4*time.Hour), func() { s.appendRequest(nexus.Request{Verb: nexus.VerbResume, Task: r.Task}) })
	default:
		r.Verb, r.ID = nexus.VerbAnswer, fmt.Sprintf("Q%d", s.dice.IntN(400))
	}
	s.appendRequest(r)
}

// addedTask returns a person's addition: a task like another one, or more than one task.
func (s *runSimulator) addedTask(like nexus.TaskID) nexus.Task {
	i := max(0, slices.IndexFunc(s.scenario.Tasks, func(t nexus.Task) bool { return t.ID == like }))
	t := s.scenario.Tasks[i]
	t.ID, t.Needs, t.Wants, t.Ties, t.Brief = "", nil, nil, nil, "Fix what main.go prints."
	switch s.dice.IntN(4) {
	case 0:
		t.Needs = []nexus.TaskID{like}
	case 1:
		t.Brief += " Write its tests. Describe it in README.md."
	default:
	}
	return t
}

// appendRequest appends a request, which reaches the process a little later. Requests arrive in their
// order.
func (s *runSimulator) appendRequest(r nexus.Request) {
	e := s.journal.appendForeign(nexus.RequestMade{Request: r})[0]
	if at := s.now.Add(s.drawDuration(time.Second)); at.After(s.delivered) {
		s.delivered = at
	}
	hear := func() {
		if s.core != nil {
			s.handleError(s.core.ApplyRequest(e))
		}
	}
	s.scheduleAt(s.delivered, 0, hear)
	if s.dice.IntN(4) == 0 {
		s.scheduleAt(s.delivered.Add(s.drawDuration(time.Minute)), 0, hear) // once more, as a follower may
	}
}

// appendBetween lets another process append between two appends of the process.
func (s *runSimulator) appendBetween() {
	switch {
	case s.scenario.Requests == 0:
	case s.dice.IntN(200) == 0:
		s.makeRequest()
	case s.core != nil && len(s.core.State.Queue) > 0 && s.dice.IntN(30) == 0:
		// At a moment when it may land any time.
		s.appendRequest(nexus.Request{Verb: nexus.VerbSkip, Task: s.core.State.Queue[0].Task})
	}
}

// answerPlanQuestion lets a person answer the plan that a question is about, even if there is another plan
// by now.
func (s *runSimulator) answerPlanQuestion(id string) {
	if s.over {
		return
	}
	r := nexus.Request{Verb: nexus.VerbAnswer, ID: id, Text: "yes", By: "ann"}
	edited := &nexus.Plan{Goal: "an edited goal", Tasks: s.scenario.DraftPlan(100 + s.dice.IntN(100))}
	switch n := s.dice.IntN(20); {
	case n < 6:
	case n < 12:
		r.Text = "no: smaller"
	case n < 15:
		r.Verb, r.Text, r.Plan = nexus.VerbAmend, "", edited
	case n < 17:
		r.Plan = edited
	case n < 18:
		r.Text = "no"
	case n < 19:
		edited.Tasks[0].Needs = []nexus.TaskID{edited.Tasks[0].ID} // an invalid plan
		r.Plan = edited
	default:
		return
	}
	s.appendRequest(r)
	if s.dice.IntN(3) == 0 {
		s.appendRequest(nexus.Request{Verb: nexus.VerbAnswer, ID: id, Text: "yes", By: "bob"}) // too late
	}
}

// interruptProcess tells the process to stop; a second time it dies.
func (s *runSimulator) interruptProcess() {
	if s.core == nil {
		return
	}
	s.addTapeNote("process %d is interrupted", s.lives)
	s.core.DrainWorkers()
	s.interrupted = true
	if s.dice.IntN(4) == 0 {
		s.scheduleAfter(s.drawDuration(time.Minute), func() { s.dead = true })
	}
}

// unblockRun does the step of a person without which nothing else will happen: an answer, or a
// resume. It reports whether there is one.
func (s *runSimulator) unblockRun() bool {
	if s.core == nil {
		s.reportViolation("the run is no longer in progress")
		return false
	}
	st := s.core.State
	for _, q := range st.Questions {
		if q.By == "" && q.Trigger == nexus.PlanTrigger && st.Status != nexus.StatusPaused {
			s.appendRequest(nexus.Request{Verb: nexus.VerbAnswer, ID: q.ID, Text: "yes"})
			return true
		}
		if q.By == "" && q.Trigger == nexus.AddTrigger && st.Status != nexus.StatusPaused {
			s.appendRequest(nexus.Request{Verb: nexus.VerbAnswer, ID: q.ID, Text: []string{"yes", "no", "no: later"}[s.dice.IntN(3)], By: "ann"})
			return true
		}
		if q.Trigger == nexus.PlanTrigger || q.Trigger == nexus.AddTrigger {
			continue
		}
		if q.By == "" && q.Deadline.IsZero() && st.Status != nexus.StatusPaused && st.AttemptByID(q.Attempt).Stage == state.Working {
			s.appendRequest(nexus.Request{Verb: nexus.VerbAnswer, ID: q.ID, Text: "yes"})
			return true
		}
	}
	if st.Status == nexus.StatusPaused {
		if s.dice.IntN(2) == 0 {
			s.over, s.status = true, st.Status
			return false
		}
		s.appendRequest(nexus.Request{Verb: nexus.VerbResume, By: "bob"})
		return true
	}
	for _, t := range st.Tasks {
		if t.IsPaused() {
			s.appendRequest(nexus.Request{Verb: nexus.VerbResume, Task: t.ID, By: "bob"})
			return true
		}
	}
	s.reportViolation("nothing happens any more; the run is %s", st.Status)
	return false
}
