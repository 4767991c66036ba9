package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

var update = flag.Bool("update", false, "write the golden files again")

// begun is when the recorded run began.
var begun = time.Date(2026, 11, 26, 15, 0, 0, 0, time.UTC)

// recorded is a run in which one task works, one waits for a person, one waits for
// the first and one is planned after both.
func recorded(tb testing.TB) *projection.RunProjection {
	tb.Helper()
	p := projection.NewProjection("261126-1500-abc", projection.Options{})
	seq := int64(0)
	add := func(f nexus.Fact) {
		seq++
		e := nexus.Event{Seq: seq, Run: "261126-1500-abc", At: begun.Add(time.Duration(seq) * 3 * time.Second), Fact: f}
		if err := p.Apply(e); err != nil {
			tb.Fatalf("%T: %v", f, err)
		}
	}
	add(nexus.GoalAccepted{Goal: nexus.Goal{Text: "Teach units to write sizes and durations"}, Limits: nexus.Limits{RunMoney: 5 * nexus.Dollar}})
	add(nexus.RunStarted{})
	for _, task := range []nexus.Task{
		{ID: "T1", Title: "Write sizes in binary units", Files: []string{"size.go"}, Criteria: []nexus.Criterion{{Text: "Size(1536) is 1.5 KiB", Check: "go test"}}},
		{ID: "T2", Title: "Write durations in words", Files: []string{"age.go"}, Criteria: []nexus.Criterion{{Text: "Age(90) is 1m30s"}}},
		{ID: "T3", Title: "Add the size command", Needs: []nexus.TaskID{"T1"}, Files: []string{"main.go"}},
		{ID: "T4", Title: "Describe the commands in the README", Needs: []nexus.TaskID{"T2", "T3"}},
	} {
		add(nexus.TaskPlanned{Task: task})
	}
	add(nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "abcdef", Tier: nexus.Fast})
	add(nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Base: "abcdef", Tier: nexus.Balanced})
	add(nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1", Role: nexus.Coder, Model: "anthropic/claude-haiku-5-5"})
	add(nexus.SessionStarted{Session: "T2.1/coder.1", Attempt: "T2.1", Role: nexus.Coder, Model: "anthropic/claude-sonnet-5-5"})
	add(nexus.QuestionAsked{ID: "q1", Attempt: "T2.1", Text: "Are days written, too?", Fallback: "no"})
	return p
}

// stage is a source with one projection, and verbs that keep what they were told.
type stage struct {
	p      *projection.RunProjection
	did    [][]string
	typed  []string // what was given on standard input
	drafts []changereview.DraftComment
	patch  string // the change of T1; empty: changedFile
	asks   string // whether it may land, the question
	fails  string // why nothing that is done works
	err    error
	snap   *RunSnapshot
}

func (s *stage) Changed(nexus.RunID) <-chan struct{} { return make(chan struct{}) }

func (s *stage) Read(_ context.Context, ask SnapshotRequest) (RunSnapshot, error) {
	if s.err != nil {
		return RunSnapshot{}, s.err
	}
	if s.snap != nil {
		return *s.snap, nil
	}
	return TakeSnapshot(s.p, ask, begun.Add(2*time.Minute))
}

// review is a change of two files, in which people said something.
func (s *stage) review() changereview.TaskChangeReview {
	r := changereview.TaskChangeReview{
		Run: "261126-1500-abc", Task: "T1", Status: nexus.Running, Attempt: "T1.1", Round: 2, Base: "abcdef", Commit: "0123456789abcdef",
		Added: 2, Deleted: 1, Open: true, Must: []string{"c1"}, Seen: 1, Drafts: s.drafts,
		Since: &changereview.ChangesSinceReview{Commit: "fedcba98"}, Question: s.asks,
	}
	for i, f := range diffreview.ParseDiff(cmp.Or(s.patch, changedFile)) {
		r.Files = append(r.Files, changereview.ReviewedFile{DiffFile: f, Risk: diffreview.NormalRisk, Hash: "h", Viewed: i == 1})
		if i == 0 {
			r.Since.Files = []diffreview.DiffFile{f}
		}
	}
	r.Comments = []changereview.ShownComment{
		{
			ReviewComment: nexus.ReviewComment{ID: "c1", File: "size.go", Side: nexus.NewSide, Start: 2, Kind: nexus.MustComment, Body: "Say the unit."}, By: "ada", State: "answered", Line: 2,
			Answers: []changereview.ShownCommentAnswer{{CommentAnswer: nexus.CommentAnswer{Comment: "c1", Reply: nexus.CommentDeclined, Why: "The plan says so."}, Attempt: "T1.1", Round: 2, Commit: "0123456789abcdef"}},
		},
		{
			ReviewComment: nexus.ReviewComment{ID: "c2", Kind: nexus.PraiseComment, Body: "Nice."}, By: "bob", State: "told",
		},
		{
			ReviewComment: nexus.ReviewComment{ID: "c3", File: "size.go", Side: nexus.OldSide, Start: 2, Kind: nexus.QuestionComment, Body: "Who needs it?", Replace: &nexus.SuggestedReplacement{Text: "x\n"}}, By: "ada", State: "open", Line: 2,
		},
	}
	return r
}

const changedFile = `diff --git a/size.go b/size.go
--- a/size.go
+++ b/size.go
@@ -1,3 +1,4 @@ package units
 package units
-func Size() string { return "1024" }
+func Size() string { return "1 KiB" } // so far
+func Unit() string { return "KiB" }
 // The end.
diff --git a/age.go b/age.go
new file mode 100644
--- /dev/null
+++ b/age.go
@@ -0,0 +1 @@
+package units
`

func (s *stage) Do(_ context.Context, args []string, stdin string) CommandOutcome {
	s.did = append(s.did, args)
	switch args[0] {
	case "review":
		if slices.Contains(args, "--json") {
			data, _ := json.Marshal(s.review())
			return CommandOutcome{Data: data}
		}
		if s.fails != "" {
			return CommandOutcome{Failed: s.fails}
		}
		s.typed = append(s.typed, stdin)
	case "status":
		return CommandOutcome{Data: json.RawMessage(`{"session":"T1.1/coder.1","model":"m","messages":[
			{"why":"brief","from":"user","parts":[{"text":"Write it."}]},
			{"turn":1,"from":"model","parts":[{"text":"I look first."},{"call":{"id":"1","tool":"read_file","input":{"path":"size.go"}}}]},
			{"why":"results","from":"user","parts":[{"result":{"id":"1","text":"package units"}}]},
			{"turn":2,"from":"model","parts":[{"call":{"id":"2","tool":"shell","input":{"command":"go test ./..."}}}]}]}`)}
	}
	if s.fails != "" {
		return CommandOutcome{Failed: s.fails}
	}
	return CommandOutcome{Text: "asked: " + strings.Join(args, " ")}
}

func (s *stage) Edit(string) TerminalCommand                        { return nil }
func (s *stage) Terminal(context.Context, []string) TerminalCommand { return nil }

// play is a model with its commands done at once, one after the other.
type play struct {
	*Model
	s *stage
}

func begin(tb testing.TB, s *stage, style view.OutputStyle, width, height int) *play {
	tb.Helper()
	m := NewModel(context.Background(), Options{Run: "261126-1500-abc", Place: "units", Source: s, Verbs: s, Style: style})
	p := &play{m, s}
	p.send(tea.WindowSizeMsg{Width: width, Height: height})
	p.perform(m.readSnapshotNow(false))
	return p
}

func (p *play) send(msg tea.Msg) {
	_, cmd := p.Update(msg)
	p.perform(cmd)
}

// perform does commands. A tick comes later, and is left out.
func (p *play) perform(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	p.ticking = true
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			p.perform(c)
		}
	case nil, tea.QuitMsg:
	default:
		p.send(msg)
	}
}

// keys are pressed one after the other; names of more than a letter in brackets.
func (p *play) keys(text string) {
	for _, k := range keysOf(text) {
		p.send(k)
	}
}

func keysOf(text string) (all []tea.KeyPressMsg) {
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "<"); ok {
			name, after, _ := strings.Cut(rest, ">")
			all = append(all, named(name))
			text = after
			continue
		}
		r := []rune(text)[0]
		all = append(all, tea.KeyPressMsg{Code: r, Text: string(r)})
		text = text[len(string(r)):]
	}
	return all
}

func named(name string) tea.KeyPressMsg {
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "delete": tea.KeyDelete,
	}[name]}
}

// check holds that the frame has the size of the screen.
func (p *play) check(t interface {
	Helper()
	Fatalf(string, ...any)
},
) []string {
	t.Helper()
	lines := strings.Split(p.View().Content, "\n")
	if len(lines) > p.height {
		t.Fatalf("%d lines on a screen of %d", len(lines), p.height)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > p.width {
			t.Fatalf("a line of %d columns on a screen of %d: %q", n, p.width, l)
		}
		if !p.b.Color && l != ansi.Strip(l) {
			t.Fatalf("there is an escape sequence in %q", l)
		}
	}
	return lines
}

// TestFrames draws a recorded run at five sizes, in all views and tabs.
func TestFrames(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {100, 30}, {120, 40}, {160, 50}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			s := &stage{p: recorded(t)}
			for _, c := range []struct{ about, keys string }{
				{"inbox", "1"},
				{"tasks", "2"},
				{"graph", "3"},
				{"timeline", "4"},
				{"agents", "5"},
				{"cost", "6"},
				{"log", "7t"},
				{"memory", "8"},
				{"overview", "2<enter>"},
				{"talk", "2l"},
				{"diff", "2jd"},
				{"checks", "2jd]"},
				{"plan", "2jd]]"},
				{"cost of a task", "2jc"},
				{"help", "?"},
				{"palette", "<ctrl+p>tim"},
				{"reject", "1x"},
				{"skip", "2s"},
				{"filter", "2/sizes<enter>"},
				{"ctrl-c", "<ctrl+c>"},
			} {
				p := begin(t, s, view.OutputStyle{ASCII: size[0] == 80}, size[0], size[1])
				p.keys(c.keys)
				b.WriteString("--- " + c.about + "\n" + strings.Join(p.check(t), "\n") + "\n")
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != b.String() {
				t.Errorf("%s is another (%v); see what changed with -update", golden, err)
			}
		})
	}
}

// TestSmall holds that a screen that is too small has counters, down to one column.
func TestSmall(t *testing.T) {
	p := begin(t, &stage{p: recorded(t)}, view.OutputStyle{}, 59, 14)
	if text := strings.Join(p.check(t), "\n"); !strings.Contains(text, "1 needs you\n0/4 landed") {
		t.Error(text)
	}
	for width := 1; width < 62; width++ {
		for height := 1; height < 17; height++ {
			p.send(tea.WindowSizeMsg{Width: width, Height: height})
			p.check(t)
		}
	}
}

// TestVerbs holds which command lines keys are.
func TestVerbs(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"1i" + "yes, too<enter>", "answer --run 261126-1500-abc -- q1 yes, too"},
		{"1i<enter>", ""},
		{"1iyes<esc>", ""},
		{"2<down>m" + "hurry<enter>", "tell --run 261126-1500-abc -- T1 hurry"},
		{"2<down>sy", "stop --skip --run 261126-1500-abc -- T1"},
		{"2<down>sn", ""},
		{"p", "stop --pause --run 261126-1500-abc -- T2"},
		{"P", "stop --pause --run 261126-1500-abc"},
		{".nexus checkpoint fork<enter>wave-1<enter>", "checkpoint fork --hold --run 261126-1500-abc -- wave-1"},
		{".nexus export<enter>a.nexus<enter>", "export -- 261126-1500-abc a.nexus"},
		{"2<down>Iwhy so<enter>", "stop --turn --run 261126-1500-abc -- T1 why so"},
		{"Sy", "stop --run 261126-1500-abc"},
		{"S<esc>", ""},
		{"<ctrl+c><down><enter>y", "stop --run 261126-1500-abc"},
		{"n" + "Sign it<enter>", "add --run 261126-1500-abc -- Sign it"},
		{":status<enter>", "status --run 261126-1500-abc"},
		{":stop --skip T3<enter>", "stop --run 261126-1500-abc --skip T3"},
		{":stop --skip --run x T3<enter>", "stop --skip --run x T3"},
		{":run x<enter>", ""},
		{"<ctrl+p>pause the run<enter>", "stop --pause --run 261126-1500-abc"},
		{"2<down>r", ""}, // it is in progress
	} {
		s := &stage{p: recorded(t)}
		p := begin(t, s, view.OutputStyle{}, 120, 40)
		p.keys(c.keys)
		got := ""
		for _, args := range s.did {
			got = strings.Join(args, " ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q; the screen says %q", c.keys, got, c.want, p.notice)
		}
	}
}

// hostile is a text of what breaks terminals and grids.
const hostile = "\x1b[2J\x1b]0;x\x07\u202eevil\u2066 \u4e16\u754c\u4e16\u754c \U0001f468\u200d\U0001f469\u200d\U0001f467 a\u0301\u0301 \t\r\x00\xff"

// TestHostile holds that no text breaks the grid, whichever field it is in.
func TestHostile(t *testing.T) {
	bad := hostile + strings.Repeat("x\u4e16", 3000) + "\n" + hostile
	p := projection.NewProjection("261126-1500-abc", projection.Options{})
	snap, err := TakeSnapshot(recorded(t), SnapshotRequest{Run: "261126-1500-abc", Task: "T1", View: GraphView}, begun)
	if err != nil {
		t.Fatal(err)
	}
	snap.Run.Goal, snap.Run.Why = bad, bad
	snap.Run.Quota = []view.ExhaustedQuota{{Account: bad}}
	id := nexus.TaskID(bad)
	item := projection.InboxItem{WaitingItem: humaninput.WaitingItem{ID: bad, Text: bad, Fallback: bad}, Task: id, Kind: projection.InboxItemKind("question"), Title: bad}
	item.Actions = []projection.PersonAction{{Name: "answer", Label: bad, Ask: bad, Input: projection.InputText, Args: []string{"answer", "{}"}}, {Name: "skip", Label: bad, Confirm: bad}}
	card := projection.TaskCard{TaskView: view.TaskView{ID: id, Title: bad, Why: bad}, Lane: projection.LaneRunning, Step: bad, Model: bad, Worktree: bad, Branch: bad}
	snap.Inbox, snap.Lanes = []projection.InboxItem{item}, []projection.BoardLaneCards{{Lane: projection.LaneRunning, Cards: []projection.TaskCard{card}}}
	finding := nexus.Finding{Message: bad, File: bad}
	gate := projection.GateView{Name: bad, State: nexus.Fail, Why: bad, Findings: []nexus.Finding{finding}}
	session := projection.SessionView{ID: nexus.SessionID(bad), Model: bad, Doing: bad, Task: id}
	snap.Sessions = []projection.SessionView{session}
	snap.Task = &projection.TaskDetailView{
		TaskCard: card, Text: bad, Why: []string{bad}, Files: []string{bad}, Dependents: []nexus.TaskID{id}, Guidance: []string{bad},
		Checks: []projection.CriterionView{{Text: bad, Check: bad, Evidence: bad}}, Inbox: []projection.InboxItem{item}, Actions: item.Actions,
		Tries: []projection.AttemptView{{ID: nexus.AttemptID(bad), Rounds: []projection.RoundView{{Cause: bad, Review: bad, Gates: []projection.GateView{gate}}}, Sessions: snap.Sessions}},
	}
	snap.Graph.Nodes = []projection.PlanGraphNode{{ID: id, Title: bad}}
	snap.Graph.Edges = []projection.PlanGraphEdge{{From: id, To: id, Kind: "collides"}}
	snap.Timeline.Rows = []projection.TimelineRow{{Label: bad, Spans: []projection.TimelineSpan{{Stage: bad}}}}
	snap.Cost.Tasks = []projection.RunCostPart{{Of: bad}}
	snap.Log = []projection.EventLogLine{{About: bad, Text: bad, Bad: true}}
	for _, color := range []bool{false, true} {
		for _, width := range []int{60, 81, 133} {
			m := begin(t, &stage{p: p, snap: &snap}, view.OutputStyle{Color: color}, width, 20)
			m.o.Place = bad
			for _, keys := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "1<enter>", "2<enter>", "2l", "2d", "2d]", "2d]]", "2c", "w", "y", "<esc>", "1i", "<esc>", "2s", "<esc>"} {
				m.keys(keys)
				for _, l := range m.check(t) {
					if strings.ContainsAny(ansi.Strip(l), "\x1b\x07\x00\u202e\u2066\r\t") {
						t.Fatalf("%s: %q", keys, l)
					}
				}
			}
			m.send(commandDoneMsg{what: bad, out: CommandOutcome{Text: bad}, show: true})
			m.check(t)
			m.send(commandDoneMsg{what: bad, out: CommandOutcome{Failed: bad}})
			m.check(t)
		}
	}
}

// TestAnyKeys holds that no keys and no sizes break it.
func TestAnyKeys(t *testing.T) {
	var all []string
	for _, b := range defaultBindings() {
		key := b.key
		if len(key) > 1 {
			key = "<" + key + ">"
		}
		all = append(all, key)
	}
	all = append(all, "y", "<backspace>", "<up>", "<down>", "word", "\u4e16")
	rapid.Check(t, func(rt *rapid.T) {
		p := begin(t, &stage{p: recorded(t)}, view.OutputStyle{Color: rapid.Bool().Draw(rt, "color")}, 100, 30)
		for _, key := range rapid.SliceOfN(rapid.SampledFrom(all), 1, 40).Draw(rt, "keys") {
			p.keys(key)
			if rapid.IntRange(0, 4).Draw(rt, "resize") == 0 {
				p.send(tea.WindowSizeMsg{Width: rapid.IntRange(1, 200).Draw(rt, "width"), Height: rapid.IntRange(1, 60).Draw(rt, "height")})
			}
			p.check(rt)
		}
	})
}

func TestKeys(t *testing.T) {
	if err := (KeyBindings{}).Check(); err != nil {
		t.Error(err)
	}
	if err := (KeyBindings{"skip": None, "approve": "s"}).Check(); err != nil {
		t.Error(err)
	}
	for want, k := range map[string]KeyBindings{
		`"s" means both`: {"approve": "s"}, "keys.frobnicate": {"frobnicate": "x"}, `"ctrl+c"`: {"quit": "ctrl+c"},
	} {
		if err := k.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", k, err, want)
		}
	}
	s := &stage{p: recorded(t)}
	p := begin(t, s, view.OutputStyle{}, 100, 30)
	p.Model.keys, _ = KeyBindings{"pause": "Z"}.newKeymap()
	p.keys("p")
	p.keys("Z")
	if len(s.did) != 1 || s.did[0][1] != "--pause" {
		t.Error(s.did)
	}
}

// TestGone holds that a run that can no longer be read ends the interface, with why.
func TestGone(t *testing.T) {
	s := &stage{p: recorded(t)}
	p := begin(t, s, view.OutputStyle{}, 100, 30)
	s.err = &nexus.Error{Code: nexus.CodeNotFound, Message: "it is gone"}
	p.keys("7")
	if !errors.Is(p.fatal, s.err) {
		t.Error(p.fatal)
	}
}

// crowd is a source that changes all the time.
type crowd struct {
	*stage
	reads int
}

func (c *crowd) Changed(nexus.RunID) <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (c *crowd) Read(ctx context.Context, ask SnapshotRequest) (RunSnapshot, error) {
	c.reads++
	return c.stage.Read(ctx, ask)
}

// BenchmarkFrame draws a frame: its bytes are what a change costs.
func BenchmarkFrame(b *testing.B) {
	p := begin(b, &stage{p: recorded(b)}, view.OutputStyle{Color: true}, 160, 50)
	b.ReportAllocs()
	for b.Loop() {
		p.View()
	}
}
