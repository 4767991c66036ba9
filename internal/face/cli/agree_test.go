package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/face/metrics"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/linemode"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// TestFacesAgree folds recorded runs event by event, and compares what each face says:
// what waits, how many tasks landed, what it costs, which tasks are worked on, how long it worked.
func TestFacesAgree(t *testing.T) {
	for _, name := range []string{"life1.tape", "life2.tape"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "decide", "state", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		events, err := eventtapetest.ReadTape("r", string(text))
		if err != nil {
			t.Fatal(err)
		}
		shown, told, inbox, waited := projection.NewProjection("r", projection.Options{}), state.NewState("r"), humaninput.RepositoryInbox{}, 0
		for _, e := range events {
			if err := shown.Apply(e); err != nil {
				t.Fatal(err)
			}
			if err := told.Apply(e); err != nil {
				t.Fatal(err)
			}
			inbox.Apply(e)
			all := faces(shown, told, inbox.WaitingItems(), e)
			for face, says := range all {
				if want := all["screen"].over(says); says != want {
					t.Fatalf("%s, event %d, %s: %s says %+v, the screen %+v", name, e.Seq, nexus.FactKind(e.Fact), face, says, want)
				}
			}
			waited = max(waited, all["screen"].waiting)
		}
		if waited == 0 {
			t.Errorf("%s: nothing ever waited", name)
		}
	}
}

// figures are what a face says of a run; -1 and "-" is what it does not say.
type figures struct {
	waiting, questions, landed, total, open int
	money                                   string
	active                                  string
	worked                                  string // without pauses, waits for consent, and times without a process
}

// over returns the figures without those that another face does not say.
func (f figures) over(other figures) figures {
	for _, n := range []struct{ mine, its *int }{
		{&f.waiting, &other.waiting}, {&f.questions, &other.questions}, {&f.landed, &other.landed}, {&f.total, &other.total}, {&f.open, &other.open},
	} {
		if *n.its < 0 {
			*n.mine = -1
		}
	}
	for _, n := range []struct{ mine, its *string }{{&f.money, &other.money}, {&f.active, &other.active}, {&f.worked, &other.worked}} {
		if *n.its == "-" {
			*n.mine = "-"
		}
	}
	return f
}

// faces returns what each face says after an event.
func faces(p *projection.RunProjection, s *state.State, inbox []humaninput.WaitingItem, e nexus.Event) map[string]figures {
	now := e.At
	items, run := p.InboxItems(now), p.Run(now)
	screen := figures{waiting: projection.CountWaiting(items), total: run.Counts.Total, money: p.Cost(now).Spent.String(), worked: view.FormatSeconds(s.WorkedTime(now).Seconds())}
	var active []nexus.TaskID
	for _, c := range p.TaskCards(now) {
		switch c.Status {
		case nexus.Landed:
			screen.landed++
		case nexus.Pending, nexus.Running, nexus.Reviewing, nexus.Boarding:
			screen.open++
		default:
		}
		if c.Status == nexus.Running || c.Status == nexus.Reviewing || c.Status == nexus.Boarding {
			active = append(active, c.ID)
		}
	}
	screen.active = nexus.JoinWords(active)
	for _, i := range items {
		if !i.Notice && i.WaitingTask() == "" {
			screen.questions++
		}
	}
	file := statusfile.NewStatusFile(s, statusfile.Options{}, now)
	status := projection.BuildRunView(s, projection.RunFactsOutsideJournal{}, now)
	all := map[string]figures{
		"screen": screen, "run": of(run), "status": of(status),
		"channels": {len(inbox), -1, -1, -1, -1, "-", "-", "-"},
		"status file": {
			-1, len(file.Questions), file.Progress.Passed, file.Progress.Total, file.Progress.Pending, file.Cost.Spent.String(),
			nexus.JoinWords(file.Parallel.ActiveStories), view.FormatSeconds(float64(file.DurationMs) / 1000),
		},
	}
	if run.Status != "" {
		all["metrics"] = measured(status)
		all["line mode"] = said(status, p, e)
	}
	return all
}

func of(r view.RunView) figures {
	var active []nexus.TaskID
	for _, t := range r.Tasks {
		if t.Status == nexus.Running || t.Status == nexus.Reviewing || t.Status == nexus.Boarding {
			active = append(active, t.ID)
		}
	}
	return figures{r.Waiting, len(r.Asks), r.Counts.Landed, r.Counts.Total, r.Counts.Pending + r.Counts.Active, r.Money.Spent.String(), nexus.JoinWords(active), view.FormatSeconds(r.Seconds)}
}

// measured reads the figures of a run as Prometheus does.
func measured(r view.RunView) figures {
	out := figures{questions: -1, total: -1, active: "-", money: "-"}
	text, err := metrics.FormatMetrics(metrics.MetricsInput{Going: []view.UnfinishedRunRow{{Repository: "here", RunView: r}}})
	if err != nil {
		return figures{money: err.Error()}
	}
	for line := range strings.Lines(text) {
		var n float64
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		_, _ = fmt.Sscan(value, &n)
		switch {
		case strings.HasPrefix(name, "nexus_waiting_for_people{"):
			out.waiting = int(n)
		case strings.HasPrefix(name, "nexus_run_seconds{"):
			out.worked = view.FormatSeconds(n)
		case strings.HasPrefix(name, "nexus_run_tasks{") && strings.Contains(name, `"landed"`):
			out.landed = int(n)
		case strings.HasPrefix(name, "nexus_run_tasks{") && (strings.Contains(name, `"pending"`) || strings.Contains(name, `"active"`)):
			out.open += int(n)
		}
	}
	return out
}

// said reads the figures of the line that says each minute that a run goes on.
func said(r view.RunView, p *projection.RunProjection, e nexus.Event) figures {
	out := figures{-1, -1, 0, 0, -1, "-", "-", "-"}
	line := (&linemode.EventLogDrawer{Style: view.OutputStyle{Plain: true}}).HeartbeatLine(r, e.At)
	for _, part := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune("|,;", c) }) {
		if i := strings.LastIndex(part, " landed"); i >= 0 {
			_, _ = fmt.Sscanf(strings.TrimSpace(part), "%d of %d", &out.landed, &out.total)
		}
	}
	if worked := view.FormatSeconds(p.Run(e.At).Seconds); strings.Contains(line, ", "+worked+", ") || strings.HasPrefix(line, worked+", ") {
		out.worked = worked
	} else {
		out.worked = line
	}
	if strings.Contains(line, p.Cost(e.At).Spent.String()) {
		out.money = p.Cost(e.At).Spent.String()
	}
	return out
}

// TestOneProjection holds that no face counts by itself: what there is to tell about a run
// is made by the projection alone, from what waits and what earlier runs took.
func TestOneProjection(t *testing.T) {
	makers := map[string][]string{"view": {"Of"}, "people": {"Waiting"}}
	allowed := map[string]bool{"view/projection": true, "view/taskdetail": true} // a task alone, which waits for what its run does
	root, files := filepath.Join("..", "..", "face"), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		in, _ := filepath.Rel(root, filepath.Dir(path))
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		if allowed[filepath.ToSlash(in)] {
			return nil
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, _ := n.(*ast.CallExpr)
			if call == nil {
				return true
			}
			sel, _ := call.Fun.(*ast.SelectorExpr)
			if sel == nil {
				return true
			}
			if sel.Sel.Name == "Expect" && len(call.Args) == 3 {
				t.Errorf("%s expects by itself how long a run takes", path)
			}
			of, _ := sel.X.(*ast.Ident)
			for pkg, names := range makers {
				for _, name := range names {
					if of != nil && of.Name == pkg && sel.Sel.Name == name {
						t.Errorf("%s calls %s.%s: projection.Of says the same everywhere", path, pkg, name)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files: %v", files, err)
	}
}
