package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

func cardOf(id nexus.TaskID, lane projection.BoardLane, stage string) BoardCard {
	return BoardCard{TaskCard: projection.TaskCard{TaskView: view.TaskView{ID: id}, Lane: lane, Stage: stage}}
}

// TestSwims puts tasks into a row for each group, with the lanes that have any.
func TestSwims(t *testing.T) {
	lanes := []BoardColumn{
		{Name: "running", Cards: []BoardCard{cardOf("T1", projection.LaneRunning, "work"), cardOf("T4", projection.LaneRunning, "work")}},
		{Name: "review"},
		{Name: "done", Cards: []BoardCard{cardOf("T2", projection.LaneDone, "done"), cardOf("T3", projection.LaneDone, "done")}},
	}
	group := map[nexus.TaskID]string{"T1": "b", "T2": "a / x", "T4": "b"}
	var got []string
	for _, s := range boardRows(lanes, func(id nexus.TaskID) string { return group[id] }) {
		line := fmt.Sprintf("%s %d/%d:", s.title(), s.Landed, s.Total)
		for _, l := range s.Lanes {
			line += " " + l.Name
			for _, c := range l.Cards {
				line += " " + string(c.ID)
			}
		}
		got = append(got, line)
	}
	want := []string{"a / x 1/1: running done T2", "b 0/2: running T1 T4 done", "Without a group 1/1: running done T3"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestPace says how many tasks are worked on, and how many wait for a place.
func TestPace(t *testing.T) {
	for want, b := range map[string]Board{
		"": {Most: 4}, "0 of at most 1 attempt at once": {Most: 1, Total: 2}, "3 of at most 3 attempts at once; 1 task waits for a free place": {Most: 3, Active: 3, Total: 9, Waiting: 1},
		"4 of at most 4 attempts at once; 2 tasks wait for a free place": {Most: 4, Active: 4, Total: 9, Waiting: 2},
	} {
		if got := b.parallelismText(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStageColumns has what waits for a person apart from what a reviewer reads, and
// says of each column what dropping a card there does.
func TestStageColumns(t *testing.T) {
	for want, c := range map[string]BoardCard{
		"person": cardOf("T1", projection.LaneNeedsYou, "review"), "review": cardOf("T1", projection.LaneReview, "review"),
		"plan": cardOf("T1", projection.LaneReady, "plan"), "work": cardOf("T1", projection.LaneStopped, "work"),
	} {
		if got := stageColumnOf(c.TaskCard); got != want {
			t.Errorf("%s is in %s", want, got)
		}
	}
	drops := cardOf("T1", projection.LaneReady, "plan").dropResultsJSON()
	for _, c := range stageColumns() {
		if !strings.Contains(drops, fmt.Sprintf("%q:{", c.Name)) {
			t.Errorf("nothing says what dropping a card on %s does: %s", c.Name, drops)
		}
	}
	for _, l := range projection.Lanes {
		if !strings.Contains(drops, fmt.Sprintf("%q:{", l)) {
			t.Errorf("nothing says what dropping a card on %s does", l)
		}
	}
}

// TestWhatIsAboutNoTaskIsOnTheBoard holds that a board has as many things that wait as
// the inbox: one that is about no card is a line in the lane of what waits, in each way to
// draw a board.
func TestWhatIsAboutNoTaskIsOnTheBoard(t *testing.T) {
	items := []projection.InboxItem{
		{WaitingItem: humaninput.WaitingItem{Run: "r", ID: "q1", Trigger: nexus.PlanTrigger}, Kind: projection.KindApproval, Title: "Is the plan right?"},
		{WaitingItem: humaninput.WaitingItem{Run: "r", ID: "q2"}, Task: "T1", Title: "about one task"},
		{WaitingItem: humaninput.WaitingItem{Run: "r", ID: "quota"}, Title: "a notice", Notice: true},
	}
	for by, lanes := range map[string][]BoardColumn{
		"need":  {{Name: "needs-you", Empty: "Nothing needs you.", Cards: []BoardCard{cardOf("T1", projection.LaneNeedsYou, "work")}}, {Name: "done"}},
		"stage": {{Name: "plan"}, {Name: "person", Empty: "Nothing waits for you.", Cards: []BoardCard{cardOf("T1", projection.LaneNeedsYou, "work")}}},
		"alone": {{Name: "needs-you", Empty: "Nothing needs you."}, {Name: "done"}},
	} {
		if by == "alone" {
			items = items[:1]
		}
		addInboxItems(lanes, items)
		for _, rows := range []bool{false, true} {
			b := Board{By: by, Rows: rows, GroupRows: []TaskGroupRow{{Lanes: lanes}}}
			if rows {
				b.GroupRows = boardRows(lanes, func(nexus.TaskID) string { return "" })
			}
			var page strings.Builder
			if err := boardScreen(PageFrame{}, b).Render(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`<span class="n">%d</span>`, len(lanes[0].Cards)+len(lanes[1].Cards)+1)
			if text := page.String(); !strings.Contains(text, `href="/r/r/inbox#i-r-q1" data-open>Is the plan right?`) || strings.Contains(text, "a notice") ||
				strings.Contains(text, "about one task") || strings.Contains(text, "Nothing needs you") || !strings.Contains(text, want) {
				t.Errorf("by %s, rows %v:\n%s", by, rows, text[strings.Index(text, "<main"):])
			}
		}
	}
}

// TestMoneyIsRead holds that who hears a page hears money as people write it.
func TestMoneyIsRead(t *testing.T) {
	var page strings.Builder
	c := projection.RunCostView{RunMoney: view.RunMoney{Spent: nexus.Dollar / 24, Limit: 5 * nexus.Dollar}}
	if err := costScreen(PageFrame{}, c, nil).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	_, meter, _ := strings.Cut(page.String(), `aria-label="Budget spent"`)
	if meter, _, _ = strings.Cut(meter, "</meter>"); meter != ` aria-valuetext="$0.0417 of $5.00">$0.0417 of $5.00` {
		t.Errorf("the meter is read as %s", meter)
	}
}

// TestRedStays holds that every screen of a run says what was red before and is red still.
func TestRedStays(t *testing.T) {
	red := "gate test: failed before the work, and fails now: m.TestA"
	var page strings.Builder
	if err := boardScreen(PageFrame{Run: view.RunView{ID: "r", Red: []string{red}}}, Board{}).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); !strings.Contains(text, "look at: "+red) {
		t.Error(text)
	}
}
