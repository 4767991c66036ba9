package page

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// BoardColumn is a column of a board.
type BoardColumn struct {
	Name, Label, Glyph string
	Empty              string // text of an empty column
	Cards              []BoardCard
	Items              []projection.InboxItem // inbox items that belong to no card
}

// labelInRow names a column of a row; the empty row is all tasks.
func (c BoardColumn) labelInRow(row string) string {
	if row == "" {
		return c.Label
	}
	return c.Label + ", " + row
}

// BoardCard is a task on a board, with its actions.
type BoardCard struct {
	projection.TaskCard

	Actions []ItemAction
}

func (s *PageHandlers) inboxPage(r *http.Request) (templ.Component, error) {
	f, err := s.newFrame(r, "inbox", "Inbox", nil)
	if err != nil {
		return nil, err
	}
	items, err := s.Hub.Inbox(f.Now)
	if err != nil {
		f.Said = ActionResult{Text: "Not all is shown: " + err.Error(), Bad: true}
	}
	if f.Run.ID != "" {
		var own []projection.InboxItem
		for _, i := range items {
			if i.Run == f.Run.ID {
				own = append(own, i)
			}
		}
		items = own
	}
	var going, ended []view.RunView
	runs, _ := s.Hub.Runs(f.Now) // the inbox has reported read errors
	for _, g := range runs {
		switch {
		case f.Run.ID != "": // the frame shows the status of the run
		case !g.Status.HasEnded():
			going = append(going, g.RunView)
		case len(ended) < 5:
			ended = append(ended, g.RunView)
		}
	}
	return inboxScreen(f, items, going, ended), nil
}

// Board is the tasks of a run in columns, and optionally in rows.
type Board struct {
	By        string // need or stage
	Rows      bool   // a row for each group of tasks
	GroupRows []TaskGroupRow
	Total     int // tasks
	Active    int // attempts in progress
	Most      int // limit of concurrent attempts; 0: unknown
	Waiting   int // tasks that could start, while the limit is reached
}

// TaskGroupRow is a row of columns: the tasks of a group.
type TaskGroupRow struct {
	Name   string // of the group; empty: no group, or all tasks
	Lanes  []BoardColumn
	Total  int
	Landed int
}

// title returns the title of the row.
func (s TaskGroupRow) title() string { return cmp.Or(s.Name, "Without a group") }

func (s *PageHandlers) boardPage(r *http.Request) (templ.Component, error) {
	b := Board{By: r.URL.Query().Get("by"), Rows: r.URL.Query().Get("rows") == "group"}
	if b.By != "stage" {
		b.By = "need"
	}
	f, err := s.newFrame(r, "board", "Board", func(p *projection.RunProjection, f *PageFrame) error {
		b.Most, b.Total = p.State().Limits.Parallel, f.Run.Counts.Total
		if !p.IsInterrupted() {
			b.Active = len(p.State().ActiveAttempts())
		}
		lanes := boardColumns(p, b.By, f.Now)
		addInboxItems(lanes, p.InboxItems(f.Now))
		for _, l := range lanes {
			if (l.Name == string(projection.LaneReady) || l.Name == "plan") && b.Active >= b.Most {
				for _, c := range l.Cards {
					if c.Lane == projection.LaneReady {
						b.Waiting++
					}
				}
			}
		}
		b.GroupRows = []TaskGroupRow{{Lanes: lanes}}
		if b.Rows {
			b.GroupRows = boardRows(lanes, func(id nexus.TaskID) string { return p.State().TaskByID(id).Group })
		}
		return nil
	})
	return boardScreen(f, b), err
}

// addInboxItems puts items that wait for a person and belong to no card into the column for a person,
// because the inbox counts them.
func addInboxItems(lanes []BoardColumn, items []projection.InboxItem) {
	shown := map[nexus.TaskID]bool{}
	for _, l := range lanes {
		for _, c := range l.Cards {
			shown[c.ID] = true
		}
	}
	for i := range lanes {
		if l := &lanes[i]; l.Name == string(projection.LaneNeedsYou) || l.Name == "person" {
			l.Items = slices.DeleteFunc(slices.Clone(items), func(i projection.InboxItem) bool { return i.Notice || shown[i.Task] })
		}
	}
}

// boardURL returns the address of a run's board with these columns and rows.
func (b Board) boardURL(run nexus.RunID, by string, rows bool) string {
	q := url.Values{}
	if by == "stage" {
		q.Set("by", by)
	}
	if rows {
		q.Set("rows", "group")
	}
	if len(q) == 0 {
		return runPath(run, "")
	}
	return runPath(run, "") + "?" + q.Encode()
}

// parallelismText describes how many tasks are in progress, and the limit.
func (b Board) parallelismText() string {
	if b.Most == 0 || b.Total == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of at most %s at once", b.Active, view.CountWithNoun(b.Most, "attempt"))
	if b.Waiting > 0 {
		text += fmt.Sprintf("; %s for a free place", waitForText(b.Waiting))
	}
	return text
}

func waitForText(n int) string {
	if n == 1 {
		return "1 task waits"
	}
	return fmt.Sprintf("%d tasks wait", n)
}

// boardRows puts tasks into a row for each group, in the order of the groups' first tasks; those
// without a group come last. Columns that are empty in all rows are left out.
func boardRows(lanes []BoardColumn, group func(nexus.TaskID) string) []TaskGroupRow {
	var all []TaskGroupRow
	at := map[string]int{}
	var used []BoardColumn
	for _, l := range lanes {
		if len(l.Cards)+len(l.Items) > 0 {
			used = append(used, BoardColumn{Name: l.Name, Label: l.Label, Glyph: l.Glyph})
		}
		for _, c := range l.Cards {
			if _, known := at[group(c.ID)]; !known && group(c.ID) != "" {
				at[group(c.ID)] = 0
			}
		}
	}
	names := slices.Sorted(maps.Keys(at))
	for i, name := range append(names, "") {
		at[name] = i
		all = append(all, TaskGroupRow{Name: name, Lanes: slices.Clone(used)})
	}
	n := 0
	for _, l := range lanes {
		if len(l.Cards)+len(l.Items) == 0 {
			continue
		}
		all[len(all)-1].Lanes[n].Items = l.Items
		for _, c := range l.Cards {
			s := &all[at[group(c.ID)]]
			s.Lanes[n].Cards = append(s.Lanes[n].Cards, c)
			if s.Total++; c.Lane == projection.LaneDone {
				s.Landed++
			}
		}
		n++
	}
	return slices.DeleteFunc(all, func(s TaskGroupRow) bool {
		return s.Total == 0 && !slices.ContainsFunc(s.Lanes, func(l BoardColumn) bool { return len(l.Items) > 0 })
	})
}

// stageColumns returns the columns by stage. Items that wait for a person are separate from tasks
// in review by an agent.
func stageColumns() []BoardColumn {
	return []BoardColumn{
		{Name: "plan", Label: "Queue", Empty: "Nothing waits to start."},
		{Name: "work", Label: "Work"},
		{Name: "gate", Label: "Gates"},
		{Name: "review", Label: "AI review"},
		{Name: "person", Label: "Human review", Empty: "Nothing waits for you."},
		{Name: "land", Label: "Landing"},
		{Name: "done", Label: "Done"},
	}
}

// stageColumnOf returns the stage column of a task.
func stageColumnOf(c projection.TaskCard) string {
	if c.Lane == projection.LaneNeedsYou {
		return "person"
	}
	return c.Stage
}

// boardColumns sorts the tasks of a run into columns.
func boardColumns(p *projection.RunProjection, by string, now time.Time) []BoardColumn {
	card := func(c projection.TaskCard) BoardCard { return BoardCard{c, p.TaskActions(c.ID)} }
	if by == "stage" {
		all := stageColumns()
		for i := range all {
			all[i].Glyph = "\u25cb"
			for _, c := range p.TaskCards(now) {
				if stageColumnOf(c) == all[i].Name {
					all[i].Cards = append(all[i].Cards, card(c))
				}
			}
		}
		return all
	}
	var all []BoardColumn
	for _, lane := range p.BoardLanes(now) {
		l := BoardColumn{Name: string(lane.Lane), Label: laneLabel(lane.Lane), Glyph: laneGlyph(lane.Lane)}
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

// cardDropEffect is the effect of dropping a card on a column.
type cardDropEffect struct {
	Do  string `json:"do,omitzero"`  // an action of the card
	Why string `json:"why,omitzero"` // why it is not possible
}

// dropResultsJSON returns the effect of dropping the card on each column and stage.
func (c BoardCard) dropResultsJSON() string {
	id := string(c.ID)
	all := map[string]cardDropEffect{}
	why := func(format string, lanes ...string) {
		for _, l := range lanes {
			all[l] = cardDropEffect{Why: fmt.Sprintf(format, id)}
		}
	}
	do := func(name string, lanes ...string) {
		a, ok := findAction(c.Actions, name)
		for _, l := range lanes {
			switch {
			case !ok:
				all[l] = cardDropEffect{Why: id + " cannot be moved there."}
			case a.Refused != "":
				all[l] = cardDropEffect{Why: fmt.Sprintf("%s cannot be moved there: %s.", id, strings.TrimSuffix(a.Refused, "."))}
			default:
				all[l] = cardDropEffect{Do: name}
			}
		}
	}
	do("retry", string(projection.LaneReady), string(projection.LaneRunning), "plan", "work")
	do("skip", string(projection.LaneStopped))
	why("%s moves here by itself when it needs a person.", string(projection.LaneNeedsYou), "person")
	why("%s moves here when its agent submits: gates are not skipped.", string(projection.LaneVerifying), "gate")
	why("%s moves here when its gates pass: then it is reviewed.", string(projection.LaneReview))
	why("%s moves here when it is accepted. Approve it in the inbox if it waits for that.", string(projection.LaneLanding), "land")
	why("%s waits only for tasks that the plan names.", string(projection.LaneBlocked))
	why("%s is done when its commit has landed, not before.", string(projection.LaneDone), "done")
	return jsonOf(all)
}

func (s *PageHandlers) taskPage(r *http.Request) (templ.Component, error) {
	var t projection.TaskDetailView
	f, err := s.newFrame(r, "task", r.PathValue("task"), func(p *projection.RunProjection, f *PageFrame) error {
		var ok bool
		if t, ok = p.TaskDetailView(nexus.TaskID(r.PathValue("task")), f.Now); !ok {
			return notFoundError("task", r.PathValue("task"))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	trouble := ""
	talk, err := s.latestSession(r.Context(), f.Run.ID, t)
	if err != nil {
		trouble = "It cannot be read: " + err.Error()
	}
	return taskScreen(f, t, talk, trouble), nil
}
