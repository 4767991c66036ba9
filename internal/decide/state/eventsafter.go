package state

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// EventsSince returns what happened after an event that going back to it would take away, and
// what it would not.
func (s *State) EventsSince(seq int64) (EventsAfter, error) {
	then, err := s.StateAt(seq)
	if err != nil {
		return EventsAfter{}, err
	}
	a := EventsAfter{Then: then, Money: s.Ledger.Spent() - then.Ledger.Spent()}
	for _, l := range s.Landings {
		if l.Seq > seq {
			a.Landings = append(a.Landings, l)
		}
	}
	for _, t := range s.Tasks {
		old := then.tasks[t.ID]
		if old == nil {
			a.Tasks = append(a.Tasks, t.ID)
			continue
		}
		for _, n := range t.Attempts[min(len(old.Attempts), len(t.Attempts)):] {
			a.Attempts = append(a.Attempts, n.ID)
		}
		if cur := old.Current(); cur != nil && cur.Stage != Over {
			a.Ended = append(a.Ended, cur.ID)
		}
	}
	err = s.happened(&a, seq)
	return a, err
}

// happened adds what the events after a point say.
func (s *State) happened(a *EventsAfter, seq int64) error {
	for e, err := range s.events() {
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

// EventsAfter is what happened after a point.
type EventsAfter struct {
	Then      *State // what was true at the point; nobody else has it
	Events    int
	Landings  []*Landing        // that the run's branch would lose; their commits stay
	Tasks     []nexus.TaskID    // that were planned since
	Attempts  []nexus.AttemptID // that were begun since, at other tasks
	Ended     []nexus.AttemptID // that were under way at the point: others follow them
	Requests  []nexus.Request   // that people made
	Published *nexus.ResultPublished
	Money     nexus.Money // that was spent
}
