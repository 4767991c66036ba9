package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// quits reports whether a command ends the interface. What a verb came to is handed to
// the model first.
func (p *play) quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		return slices.ContainsFunc(msg, p.quits)
	case commandDoneMsg:
		_, next := p.Update(msg)
		return p.quits(next)
	}
	return false
}

// TestLeaving holds that who leaves while something that they asked for is being done
// leaves once it is, unless it fails or they go on.
func TestLeaving(t *testing.T) {
	for _, c := range []struct {
		fails, then string
		at, end     bool // whether it ends with the last key, or once the verb has ended
	}{
		{then: "q", end: true},
		{then: "qq", at: true},
		{then: "qj"},
		{then: "j"},
		{then: "q", fails: "the disk is full"},
	} {
		p := begin(t, &stage{p: recorded(t), fails: c.fails}, view.OutputStyle{}, 120, 40)
		_, work := p.Update(keysOf("p")[0])
		at := false
		for _, k := range keysOf(c.then) {
			_, cmd := p.Update(k)
			at = p.quits(cmd)
		}
		if at != c.at {
			t.Errorf("%s ends it at once: %v", c.then, at)
		}
		if end := p.quits(work); !c.at && end != c.end {
			t.Errorf("%s ends it once it is done (%s): %v", c.then, c.fails, end)
		}
		if c.fails != "" && !strings.Contains(p.notice, c.fails) {
			t.Errorf("it says %q", p.notice)
		}
	}
}

// TestFillIsWhole holds that an answer that a question offers is sent as it is.
func TestFillIsWhole(t *testing.T) {
	fixed := projection.PersonAction{Args: []string{"answer", "--", "q1", "return T{}"}}
	lone := projection.PersonAction{Args: []string{"answer", "--", "q1", "{}"}}
	typed := projection.PersonAction{Args: []string{"answer", "--", "q1", "{}"}, Input: projection.InputText}
	for _, c := range []struct {
		a    projection.PersonAction
		want string
	}{{fixed, "return T{}"}, {lone, "{}"}, {typed, "red {}"}} {
		if got := FillActionArguments(c.a, "red {}"); got[3] != c.want {
			t.Errorf("%q, want %q", got[3], c.want)
		}
	}
}

// waits is a snapshot in which questions of T1 wait.
func waits(t *testing.T, ids ...string) *RunSnapshot {
	t.Helper()
	snap, err := TakeSnapshot(recorded(t), SnapshotRequest{Run: "261126-1500-abc", Task: "T1", View: TasksView}, begun)
	if err != nil {
		t.Fatal(err)
	}
	snap.Inbox = nil
	for _, id := range ids {
		a := projection.PersonAction{Name: "approve", Label: "Approve", Args: []string{"approve", "--", id}}
		snap.Inbox = append(snap.Inbox, projection.InboxItem{WaitingItem: humaninput.WaitingItem{ID: id}, Task: "T1", Actions: []projection.PersonAction{a}})
	}
	return &snap
}

// changed is what was done that changes something.
func (s *stage) changed() (all []string) {
	for _, args := range s.did {
		if !slices.Contains(args, "--json") {
			all = append(all, strings.Join(args, " "))
		}
	}
	return all
}

// TestApprovesWhatIsShown holds that a change is approved as it was on the screen, and
// that the question is answered that is about it.
func TestApprovesWhatIsShown(t *testing.T) {
	s := &stage{p: recorded(t)}
	reviewed(t, s, "ay")
	var batch nexus.ChangeReview
	if len(s.typed) != 1 || json.Unmarshal([]byte(s.typed[0]), &batch) != nil || !batch.Approve || batch.Commit != "0123456789abcdef" {
		t.Errorf("%q", s.typed)
	}
	s = &stage{p: recorded(t), asks: "q8", snap: waits(t, "q7", "q8", "q9")}
	p := begin(t, s, view.OutputStyle{}, 120, 40)
	p.keys("2da")
	if got := s.changed(); !slices.Equal(got, []string{"approve -- q8"}) {
		t.Errorf("%q; the screen says %q", got, p.notice)
	}
}

// TestActsOnWhatWasSelected holds that a key does nothing to what took the place of
// what the person selected, and nothing at all where nothing is selected.
func TestActsOnWhatWasSelected(t *testing.T) {
	s := &stage{p: recorded(t), snap: waits(t, "q7", "q8")}
	p := begin(t, s, view.OutputStyle{}, 120, 40)
	p.keys("1j")
	if i := p.selectedItem(); i == nil || i.ID != "q8" {
		t.Fatalf("%+v", i)
	}
	s.snap = waits(t, "q7")
	p.perform(p.readSnapshotNow(false))
	p.keys("a")
	if got := s.changed(); len(got) > 0 || !strings.Contains(p.notice, "q7 is selected now") {
		t.Errorf("%q; the screen says %q", got, p.notice)
	}
	p.keys("a")
	if got := s.changed(); !slices.Equal(got, []string{"approve -- q7"}) {
		t.Errorf("%q", got)
	}
	for _, ids := range [][]string{{"q7", "q8"}, {"q7"}} {
		s := &stage{p: recorded(t), snap: waits(t, ids...)}
		begin(t, s, view.OutputStyle{}, 120, 40).keys("6a")
		if got := s.changed(); len(got) > 0 {
			t.Errorf("%q of %q", got, ids)
		}
	}
}

// TestTypedIsKept holds that what a person wrote is still there where it could not be
// sent or kept.
func TestTypedIsKept(t *testing.T) {
	for keys, want := range map[string]string{
		"2jdnjjjcWhy?<enter>": "Why?",
		"2jmsoon<enter>":      "soon",
	} {
		s := &stage{p: recorded(t), fails: "the disk is full"}
		p := begin(t, s, view.OutputStyle{}, 120, 40)
		p.keys(keys)
		if p.dialog.kind != inputDialog || p.dialog.field.text() != want || !strings.Contains(p.notice, "the disk is full") {
			t.Errorf("%s: %q; the screen says %q", keys, p.dialog.field.text(), p.notice)
		}
		s.fails = ""
		p.keys("<enter>")
		if p.dialog.kind != noDialog || len(s.changed()) != 2 {
			t.Errorf("%s: %q", keys, s.changed())
		}
	}
}

const gapped = `diff --git a/size.go b/size.go
--- a/size.go
+++ b/size.go
@@ -1,3 +1,3 @@
 
-	one
+	1
 two
@@ -20,2 +20,2 @@
-last
+end
 x
`

// TestSuggestsWholeLines holds that a suggestion begins as the lines that it replaces,
// with their tabs and blank lines, and cannot replace lines that are not shown.
func TestSuggestsWholeLines(t *testing.T) {
	s := &stage{p: recorded(t), patch: gapped}
	p := begin(t, s, view.OutputStyle{}, 120, 40)
	line := func(n int) {
		t.Helper()
		p.check(t)
		for i, r := range p.reviewing.rows {
			if r.Line.New == n && r.Line.Kind != "-" {
				p.reviewing.moveTo(i)
				return
			}
		}
		t.Fatalf("line %d is not shown", n)
	}
	p.keys("2jd")
	line(1)
	p.keys("v")
	line(2)
	p.keys("C<enter>")
	var batch nexus.ChangeReview
	if len(s.typed) != 1 || json.Unmarshal([]byte(s.typed[0]), &batch) != nil || len(batch.Comments) != 1 {
		t.Fatalf("%q; the screen says %q", s.typed, p.notice)
	}
	if c := batch.Comments[0]; c.Start != 1 || c.LastLine() != 2 || c.Replace == nil || c.Replace.Text != "\n\t1\n" {
		t.Errorf("%+v %+v", c, c.Replace)
	}
	line(2)
	p.keys("v")
	line(20)
	p.keys("C")
	if p.dialog.kind != noDialog || !strings.Contains(p.notice, "without a gap") {
		t.Errorf("it is asked for %q, and said %q", p.dialog.title, p.notice)
	}
	p.keys("<esc>d") // only what changed since the last review
	p.check(t)
	for i, r := range p.reviewing.rows {
		if r.Line.Kind == "-" {
			p.reviewing.moveTo(i)
		}
	}
	p.keys("c")
	if p.dialog.kind != noDialog || !strings.Contains(p.notice, "at your last review") {
		t.Errorf("it is asked for %q, and said %q", p.dialog.title, p.notice)
	}
}
