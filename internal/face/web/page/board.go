package page

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Column is a lane of a board.
type Column struct {
	Name, Label, Glyph string
	Empty              string // what it says when it has no cards
	Cards              []BoardCard
}

// BoardCard is a task on a board, with what can be done with it.
type BoardCard struct {
	projection.Card

	Actions []Action
}

func (s *Site) inbox(r *http.Request) (templ.Component, error) {
	f, err := s.frame(r, "inbox", "Inbox", nil)
	if err != nil {
		return nil, err
	}
	items, err := s.Hub.Inbox(f.Now)
	if err != nil {
		f.Said = Said{Text: "Not all is shown: " + err.Error(), Bad: true}
	}
	if f.Run.ID != "" {
		var own []projection.Item
		for _, i := range items {
			if i.Run == f.Run.ID {
				own = append(own, i)
			}
		}
		items = own
	}
	var going, ended []view.Run
	runs, _ := s.Hub.Runs(f.Now) // the inbox has said what cannot be read
	for _, g := range runs {
		switch {
		case f.Run.ID != "": // what is around the screen says how it is
		case !g.Status.Ended():
			going = append(going, g.Run)
		case len(ended) < 5:
			ended = append(ended, g.Run)
		}
	}
	return inboxScreen(f, items, going, ended), nil
}

func (s *Site) board(r *http.Request) (templ.Component, error) {
	var lanes []Column
	by := r.URL.Query().Get("by")
	f, err := s.frame(r, "board", "Board", func(p *projection.Projection, f *Frame) error {
		lanes = columns(p, by, f.Now)
		return nil
	})
	return boardScreen(f, lanes, by), err
}

// columns sorts the tasks of a run into lanes.
func columns(p *projection.Projection, by string, now time.Time) []Column {
	card := func(c projection.Card) BoardCard { return BoardCard{c, p.TaskActions(c.ID)} }
	var all []Column
	if by == "stage" {
		for _, stage := range []string{"plan", "work", "gate", "review", "land", "done"} {
			l := Column{Name: stage, Label: stage, Glyph: "\u25cb"}
			for _, c := range p.Cards(now) {
				if c.Stage == stage {
					l.Cards = append(l.Cards, card(c))
				}
			}
			all = append(all, l)
		}
		return all
	}
	for _, lane := range p.Lanes(now) {
		l := Column{Name: string(lane.Lane), Label: laneLabel(lane.Lane), Glyph: laneGlyph(lane.Lane)}
		if lane.Lane == projection.LaneNeedsYou {
			l.Empty = "Nothing needs you."
		}
		for _, c := range lane.Cards {
			l.Cards = append(l.Cards, card(c))
		}
		all = append(all, l)
	}
	return all
}

// drop is what becomes of a card that somebody drops on a lane.
type drop struct {
	Do  string `json:"do,omitzero"`  // an action of the card
	Why string `json:"why,omitzero"` // why it cannot be there
}

// drops says for each lane and stage what dropping the card there does.
func (c BoardCard) drops() string {
	id := string(c.ID)
	all := map[string]drop{}
	why := func(format string, lanes ...string) {
		for _, l := range lanes {
			all[l] = drop{Why: fmt.Sprintf(format, id)}
		}
	}
	do := func(name string, lanes ...string) {
		a, ok := findAction(c.Actions, name)
		for _, l := range lanes {
			switch {
			case !ok:
				all[l] = drop{Why: id + " cannot be moved there."}
			case a.Refused != "":
				all[l] = drop{Why: fmt.Sprintf("%s cannot be moved there: %s.", id, strings.TrimSuffix(a.Refused, "."))}
			default:
				all[l] = drop{Do: name}
			}
		}
	}
	do("retry", string(projection.LaneReady), string(projection.LaneRunning), "plan", "work")
	do("skip", string(projection.LaneStopped))
	why("%s gets here by itself when it needs somebody.", string(projection.LaneNeedsYou))
	why("%s gets here when its agent submits: gates are not skipped.", string(projection.LaneVerifying), "gate")
	why("%s gets here when its gates pass: reviewers take it from there.", string(projection.LaneReview))
	why("%s gets here when it is accepted. Approve it in the inbox if it waits for that.", string(projection.LaneLanding), "land")
	why("%s waits for other tasks only where the plan says so.", string(projection.LaneBlocked))
	why("%s is done when its commit has landed, not before.", string(projection.LaneDone), "done")
	return jsonOf(all)
}

func (s *Site) task(r *http.Request) (templ.Component, error) {
	var t projection.Task
	f, err := s.frame(r, "task", r.PathValue("task"), func(p *projection.Projection, f *Frame) error {
		var ok bool
		if t, ok = p.Task(nexus.TaskID(r.PathValue("task")), f.Now); !ok {
			return missing("task", r.PathValue("task"))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	trouble := ""
	talk, err := s.latest(r.Context(), f.Run.ID, t)
	if err != nil {
		trouble = "It cannot be read: " + err.Error()
	}
	return taskScreen(f, t, talk, trouble), nil
}
