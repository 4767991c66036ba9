package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// reviewed returns what keys in the change of T1 make of command lines, without
// those that read.
func reviewed(t *testing.T, s *stage, keys string) (*play, []string) {
	t.Helper()
	p := begin(t, s, view.OutputStyle{}, 120, 40)
	p.keys("2jd" + keys)
	p.check(t)
	var all []string
	for _, args := range s.did {
		if !slices.Contains(args, "--json") {
			all = append(all, strings.Join(args, " "))
		}
	}
	return p, all
}

// TestReview holds which command lines keys in a change are, and what they send.
func TestReview(t *testing.T) {
	const run = "review --run 261126-1500-abc "
	place := func(start, end int, side nexus.DiffSide, hunk string) nexus.ReviewComment {
		return nexus.ReviewComment{File: "size.go", Side: side, Start: start, End: end, Hunk: hunk, Kind: nexus.ShouldComment, Commit: "0123456789abcdef"}
	}
	said := func(c nexus.ReviewComment, body string) *nexus.ReviewComment {
		c.Body = body
		return &c
	}
	old, added := "-func Size() string { return \"1024\" }\n", "+func Size() string { return \"1 KiB\" } // so far\n+func Unit() string { return \"KiB\" }\n"
	suggestion := place(2, 3, nexus.NewSide, added)
	suggestion.Replace = &nexus.SuggestedReplacement{Text: "func Size() string { return \"1 KiB\" } // so far\nfunc Unit() string { return \"KiB\" }\nvar x int\n"}
	must := place(2, 2, nexus.OldSide, old)
	must.Kind = nexus.QuestionComment
	drafts := []changereview.DraftComment{{ReviewComment: nexus.ReviewComment{ID: "d4", File: "size.go", Side: nexus.NewSide, Start: 3, Kind: nexus.MustComment, Body: "More."}, Line: 3}}
	for _, c := range []struct {
		keys   string
		drafts []changereview.DraftComment
		want   []string
		sent   *nexus.ReviewComment
	}{
		{keys: "cAll fine.<enter>", want: []string{run + "--draft --batch - -- T1"}, sent: &nexus.ReviewComment{Kind: nexus.ShouldComment, Body: "All fine.", Commit: "0123456789abcdef"}},
		{keys: "njjjcWhy?<tab><enter>", want: []string{run + "--draft --batch - -- T1"}, sent: said(must, "Why?")},
		{keys: "n}cA hunk<esc>"},
		{keys: "ncOf the file<enter>", want: []string{run + "--draft --batch - -- T1"}, sent: &nexus.ReviewComment{File: "size.go", Kind: nexus.ShouldComment, Body: "Of the file", Commit: "0123456789abcdef"}},
		{keys: "njjjjjjjjvjjjjcBoth.<ctrl+j>Lines.<enter>", want: []string{run + "--draft --batch - -- T1"}, sent: said(place(2, 3, nexus.NewSide, added), "Both.\nLines.")},
		{keys: "njjjjjjjjvjjjjC<ctrl+j>var x int<enter>", want: []string{run + "--draft --batch - -- T1"}, sent: &suggestion},
		{keys: "nC"},
		{keys: "n<space>", want: []string{run + "--viewed=size.go -- T1"}},
		{keys: "nn<space>", want: []string{run + "--unviewed=age.go -- T1"}},
		{keys: "njjjjjjjjjz", want: []string{run + "--resolve c1 -- T1"}},
		{keys: "njjjjz", want: []string{run + "--resolve c3 -- T1"}},
		{keys: "njjjjZ", want: []string{run + "--apply c3 -- T1"}},
		{keys: "njjjjjjjjjZ"},
		{keys: "z"},
		{keys: "b"},
		{keys: "b", drafts: drafts, want: []string{run + "--send -- T1"}},
		{keys: "njjjjjjjjjjjjjxy", drafts: drafts, want: []string{run + "--discard d4 -- T1"}},
		{
			keys: "njjjjjjjjjjjjj<enter> Much.<tab><enter>", drafts: drafts, want: []string{run + "--draft --batch - -- T1", run + "--discard d4 -- T1"},
			sent: &nexus.ReviewComment{File: "size.go", Side: nexus.NewSide, Start: 3, Kind: nexus.ShouldComment, Body: "More. Much."},
		},
		{keys: "ay", want: []string{run + "--batch - -- T1"}},
		{keys: "<esc>", want: nil},
		{keys: "msoon<enter>", want: []string{"tell --run 261126-1500-abc -- T1 soon"}}, // other keys are as elsewhere
	} {
		s := &stage{p: recorded(t), drafts: c.drafts}
		p, got := reviewed(t, s, c.keys)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q; the screen says %q\n%s", c.keys, got, c.want, p.notice, strings.Join(p.ScreenLines(), "\n"))
			continue
		}
		if c.sent == nil {
			continue
		}
		var batch nexus.ChangeReview
		if err := json.Unmarshal([]byte(s.typed[0]), &batch); err != nil || len(batch.Comments) != 1 {
			t.Fatal(err, s.typed)
		}
		if diff := cmp.Diff(*c.sent, batch.Comments[0]); diff != "" {
			t.Errorf("%s: %s", c.keys, diff)
		}
	}
}

// TestReviewFolds holds what is shown of a change: viewed files are folded, and what
// changed since the last review alone is shown on request.
func TestReviewFolds(t *testing.T) {
	s := &stage{p: recorded(t)}
	p, _ := reviewed(t, s, "")
	has := func(want string, is bool) {
		t.Helper()
		if text := strings.Join(p.ScreenLines(), "\n"); strings.Contains(text, want) != is {
			t.Errorf("%q is shown: %v\n%s", want, !is, text)
		}
	}
	has("age.go", true)
	has("+ package units", false)
	p.keys("nn<enter>")
	has("+ package units", true)
	p.keys("<enter>d")
	has("only the changes since your review of commit fedcba98", true)
	has("age.go", false)
	p.keys("d")
	has("age.go", true)
}

// TestReviewKeepsPlace holds that the keys act on the same line after the change was
// read again with a line more before it.
func TestReviewKeepsPlace(t *testing.T) {
	s := &stage{p: recorded(t)}
	p, _ := reviewed(t, s, "njjjjjjjjvjjjj") // the second added line
	if r := p.reviewing.currentRow(); r.Line.New != 3 {
		t.Fatalf("%+v", r)
	}
	s.drafts = []changereview.DraftComment{{ReviewComment: nexus.ReviewComment{ID: "d1", File: "size.go", Kind: nexus.MustComment, Body: "First."}}}
	p.invalidateDocuments()
	p.keys("w")
	p.check(t) // it is laid out again
	if r := p.reviewing.currentRow(); r.Line.New != 3 || len(p.docs["review T1"].review.Drafts) != 1 {
		t.Errorf("%+v", r)
	}
	if r := p.reviewing.rows[p.reviewing.from]; r.Line.New != 2 {
		t.Errorf("the selection begins at %+v", r)
	}
}

// patient is a stage whose clock goes on, and whose reviews take a while.
type patient struct {
	*stage
	now   time.Time
	seq   int64
	reads int
}

func (s *patient) Do(ctx context.Context, args []string, stdin string) CommandOutcome {
	if slices.Contains(args, "--json") {
		s.reads++
		s.now = s.now.Add(40 * time.Millisecond)
	}
	return s.stage.Do(ctx, args, stdin)
}

func (s *patient) Read(ctx context.Context, ask SnapshotRequest) (RunSnapshot, error) {
	snap, err := s.stage.Read(ctx, ask)
	s.seq++
	snap.Now, snap.Seq = s.now, s.seq
	return snap, err
}

// TestReadingRests holds that a change that an agent changes all the time is read in
// a fiftieth of the time at most, and at once after something was done about it.
func TestReadingRests(t *testing.T) {
	s := &patient{stage: &stage{p: recorded(t)}, now: begun}
	m := NewModel(t.Context(), Options{Run: "261126-1500-abc", Source: s, Verbs: s, Clock: func() time.Time { return s.now }})
	p := &play{m, s.stage}
	p.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	p.perform(m.readSnapshotNow(false))
	p.keys("2jd")
	if s.reads != 1 {
		t.Fatalf("%d reads at first", s.reads)
	}
	for range 600 { // a minute of changes, ten a second
		s.now = s.now.Add(100 * time.Millisecond)
		p.perform(m.readSnapshotNow(false))
	}
	if s.reads < 25 || s.reads > 31 {
		t.Errorf("%d reads in a minute, of 40 ms each", s.reads)
	}
	before := s.reads
	p.keys("njjjjz")
	if s.reads != before+1 {
		t.Errorf("%d reads after a verb", s.reads-before)
	}
}

// TestMarks holds that verbs act on all that is marked, and on nothing where one of
// it does not take them.
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		keys  string
		want  []string
		notes string
	}{
		{"2g<space><space>sy", []string{"stop --skip --run 261126-1500-abc -- T2", "stop --skip --run 261126-1500-abc -- T1"}, "done for 2 of 2"},
		{"2g<space><space>sn", nil, "nothing was done"},
		{"2g<space><space>mhurry<enter>", []string{"tell --run 261126-1500-abc -- T2 hurry", "tell --run 261126-1500-abc -- T1 hurry"}, "done for 2 of 2"},
		{"2g<space><space>r", nil, "not parked"},
		{"2g<space><space>usy", []string{"stop --skip --run 261126-1500-abc -- T3"}, "asked"},
		{"2g<space>P", []string{"stop --pause --run 261126-1500-abc"}, "asked"},
		{"2g<space><space>py", []string{"stop --pause --run 261126-1500-abc -- T2", "stop --pause --run 261126-1500-abc -- T1"}, "done for 2 of 2"},
		{"1<space>ired<enter>", []string{"answer --run 261126-1500-abc -- q1 red"}, "done for 1 of 1"},
	} {
		s := &stage{p: recorded(t)}
		p := begin(t, s, view.OutputStyle{}, 120, 40)
		p.keys(c.keys)
		var got []string
		for _, args := range s.did {
			got = append(got, strings.Join(args, " "))
		}
		if !slices.Equal(got, c.want) || !strings.Contains(p.notice, c.notes) {
			t.Errorf("%s: %q, want %q; the screen says %q", c.keys, got, c.want, p.notice)
		}
	}
}

// TestField holds what keys make of a text that is typed.
func TestField(t *testing.T) {
	for keys, want := range map[string]string{
		"abc<left><left>x":                     "axbc",
		"abc<home>x<end>y":                     "xabcy",
		"ab cd<ctrl+w>x":                       "ab x",
		"ab<ctrl+j>cd<up>x":                    "abx\ncd",
		"ab<ctrl+j>c<up><home><down>y":         "ab\nyc",
		"ab<ctrl+j>cd<ctrl+u>x":                "ab\nx",
		"abc<home><ctrl+k>x":                   "x",
		"abc<left><delete><backspace>":         "a",
		"\u4e16\u754c<left>x":                  "\u4e16x\u754c",
		"<backspace><delete><up><down><left>a": "a",
	} {
		f := newTextField("", true)
		for _, k := range keysOf(keys) {
			f.handleKey(k)
		}
		if f.text() != want {
			t.Errorf("%s: %q, want %q", keys, f.text(), want)
		}
	}
	f := newTextField("", false)
	f.insertText("a\r\n\x1b[2Jb\x07")
	if got := f.text(); strings.ContainsAny(got, "\n\x1b\x07") {
		t.Errorf("%q", got)
	}
	f = newTextField(strings.Repeat("x\u4e16", 500)+"\n"+strings.Repeat("y", 50), true)
	for _, width := range []int{1, 2, 7, 60} {
		for range 3 {
			f.moveCursorByLines(-1)
			for _, l := range f.drawLines(width, 3, "_") {
				if ansi.StringWidth(l) > width {
					t.Fatalf("%d: %q", width, l)
				}
			}
		}
	}
}

// TestMatrix holds that the checks are shown by task and gate, around the selected.
func TestMatrix(t *testing.T) {
	p := recorded(t)
	snap, err := TakeSnapshot(p, SnapshotRequest{Run: "261126-1500-abc", Task: "T1", View: TasksView, Tab: ChecksTab}, begun)
	if err != nil {
		t.Fatal(err)
	}
	snap.Checks = projection.GateResultTable{Gates: []string{"build", "test"}, Rows: []projection.GateResultRow{{Task: "T1", Gates: gates("build", nexus.Pass, "test", nexus.Fail)}}}
	for i := range 103 {
		snap.Checks.Rows = append(snap.Checks.Rows, projection.GateResultRow{Task: nexus.TaskID(fmt.Sprintf("T%d", i+2)), Gates: gates("build", nexus.Pass)})
	}
	m := begin(t, &stage{p: p, snap: &snap}, view.OutputStyle{ASCII: true}, 120, 40)
	m.keys("2jd]")
	text := strings.Join(m.check(t), "\n")
	for _, want := range []string{"build   test", "T1   + pass  X fail", "T2   + pass  .", "and 93 tasks more"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
}

func gates(all ...any) (out []projection.GateView) {
	for i := 0; i < len(all); i += 2 {
		out = append(out, projection.GateView{Name: fmt.Sprint(all[i]), State: all[i+1].(nexus.GateState)})
	}
	return out
}
