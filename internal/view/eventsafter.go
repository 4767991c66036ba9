package view

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// EventsSince returns the effects of the events after a point: those that a rewind to the
// point would remove, and those that it would not.
func EventsSince(s *state.State, seq int64) (EventsAfter, error) {
	then, err := s.StateAt(seq)
	if err != nil {
		return EventsAfter{}, err
	}
	a := EventsAfter{Then: then, Money: s.Ledger.SpentMoney() - then.Ledger.SpentMoney()}
	for _, l := range s.Landings {
		if l.Seq > seq {
			a.Landings = append(a.Landings, l)
		}
	}
	for _, t := range s.Tasks {
		old := then.TaskByID(t.ID)
		if old == nil {
			a.Tasks = append(a.Tasks, t.ID)
			continue
		}
		for _, n := range t.Attempts[min(len(old.Attempts), len(t.Attempts)):] {
			a.Attempts = append(a.Attempts, n.ID)
		}
		if cur := old.CurrentAttempt(); cur != nil && cur.Stage != state.Over {
			a.Ended = append(a.Ended, cur.ID)
		}
	}
	err = a.collectEffects(s, seq)
	return a, err
}

// collectEffects adds the effects of the events after a point.
func (a *EventsAfter) collectEffects(s *state.State, seq int64) error {
	for e, err := range s.PastEvents() {
		if err != nil || e.Seq > s.Seq {
			return err
		}
		if e.Seq <= seq {
			continue
		}
		a.Events++
		switch f := e.Fact.(type) {
		case nexus.RequestMade:
			if f.Request.By != "" && f.Request.Verb != nexus.VerbCheckpoint {
				a.Requests = append(a.Requests, f.Request)
			}
		case nexus.ResultPublished:
			if f.Branch != "" {
				a.Published = &f
			}
		default:
		}
	}
	return nil
}

// EventsAfter describes the effects of the events after a point.
type EventsAfter struct {
	Then      *state.State // the state at the point; the caller owns it
	Events    int
	Landings  []*state.CompletedLanding // landings that the run's branch would lose; their commits stay
	Tasks     []nexus.TaskID            // tasks that were planned since
	Attempts  []nexus.AttemptID         // attempts that began since, at other tasks
	Ended     []nexus.AttemptID         // attempts that were in progress at the point: others follow them
	Requests  []nexus.Request           // people's requests
	Published *nexus.ResultPublished
	Money     nexus.Money // money spent
}
