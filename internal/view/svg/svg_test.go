package svg_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/svg"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// start is when the runs of these tests begin.
func start() time.Time { return time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC) }

func plan() projection.PlanGraph {
	return projection.PlanGraph{
		Layers: 3,
		Nodes: []projection.PlanGraphNode{
			{ID: "T1", Title: "Read the sizes", Lane: projection.LaneDone, Critical: true, Seconds: 31},
			{ID: "T2", Title: "Read the durations", Lane: projection.LaneStopped, Row: 1, Seconds: 66},
			{ID: "T3", Title: "Add the command that prints both of them", Lane: projection.LaneRunning, Layer: 1, Critical: true, Seconds: 90},
			{ID: "T4", Title: "Describe the command", Lane: projection.LaneBlocked, Layer: 2, Critical: true},
		},
		Edges: []projection.PlanGraphEdge{
			{From: "T1", To: "T3", Kind: "needs", Critical: true},
			{From: "T2", To: "T3", Kind: "follows"},
			{From: "T3", To: "T4", Kind: "needs", Critical: true},
			{From: "T1", To: "T2", Kind: "collides", Files: []string{"size.go", "go.mod"}},
		},
	}
}

func times() projection.RunTimeline {
	at := func(s int) time.Time { return start().Add(time.Duration(s) * time.Second) }
	return projection.RunTimeline{From: at(0), To: at(100), Rows: []projection.TimelineRow{
		{Label: "the run", Spans: []projection.TimelineSpan{
			{Stage: "plan", From: at(0), To: at(9)},
			{Stage: "person", From: at(9), To: at(30), Label: "consent to the plan"},
		}},
		{Task: "T1", Attempt: "T1.1", Label: "T1.1 coder", Spans: []projection.TimelineSpan{
			{Stage: "work", From: at(30), To: at(50), Label: "coder"},
			{Stage: "gate", From: at(50), To: at(54), Label: "test", State: "fail"},
			{Stage: "quota", From: at(54), To: at(70)},
			{Stage: "work", From: at(70)},
		}},
	}}
}

// TestGolden compares drawings with what somebody has looked at.
func TestGolden(t *testing.T) {
	link := func(id nexus.TaskID) string { return "#task-" + string(id) }
	for name, got := range map[string]string{
		"graph.svg": svg.DrawGraph(plan(), svg.Options{Link: link}), "timeline.svg": svg.DrawTimeline(times(), svg.Options{Link: link}),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// check fails for a drawing that is no XML, or that a strict content security
// policy would not show: a script, a handler, a style, an address elsewhere.
func check(t *testing.T, text string) (texts string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in ...%.600s", err, text[max(int(d.InputOffset())-300, 0):])
		}
		switch e := token.(type) {
		case xml.CharData:
			texts += string(e)
		case xml.StartElement:
			switch e.Name.Local {
			case "svg", "title", "desc", "defs", "marker", "pattern", "path", "rect", "circle", "text", "g", "a":
			default:
				t.Errorf("an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				checkAttr(t, e.Name.Local, a)
				if a.Name.Local == "id" {
					if ids[a.Value] {
						t.Errorf("two have the id %s", a.Value)
					}
					ids[a.Value] = true
				}
			}
		}
	}
}

func checkAttr(t *testing.T, element string, a xml.Attr) {
	t.Helper()
	name := a.Name.Local
	switch {
	case name == "style" || strings.HasPrefix(name, "on"):
		t.Errorf("%s has an attribute %s", element, name)
	case name == "href" && !strings.HasPrefix(a.Value, "#"):
		t.Errorf("a link to %s", a.Value)
	case strings.Contains(a.Value, "url(") && !strings.HasPrefix(a.Value, "url(#"):
		t.Errorf("%s=%s", name, a.Value)
	}
}

// TestHostile draws what somebody wrote who wants to break out of the page.
func TestHostile(t *testing.T) {
	bad := "\x1b[31m</title><script>alert(1)</script>\" onload=\"x\u202e\x00\xff" + strings.Repeat("w", 100_000)
	g, l := plan(), times()
	for i := range g.Nodes {
		g.Nodes[i].Title, g.Nodes[i].Lane = bad, projection.BoardLane(bad)
	}
	for i := range g.Edges {
		g.Edges[i].Files, g.Edges[i].Kind = []string{bad}, "collides"
	}
	for i := range l.Rows {
		l.Rows[i].Label = bad
		for j := range l.Rows[i].Spans {
			s := &l.Rows[i].Spans[j]
			s.Stage, s.Label, s.State = bad, bad, bad
		}
	}
	for _, text := range []string{svg.DrawGraph(g, svg.Options{}), svg.DrawTimeline(l, svg.Options{})} {
		told := check(t, text)
		if !strings.Contains(told, "<script>alert(1)") {
			t.Error("the text is not told as it is")
		}
		if strings.ContainsAny(text, "\x1b\u202e\x00") {
			t.Error("a control character is left")
		}
		if n := len(text); n > 40_000 {
			t.Errorf("%d bytes", n)
		}
	}
}

// TestCrowd draws a plan of 10,000 tasks, and as many attempts: what matters
// most is there, and what is left out is said.
func TestCrowd(t *testing.T) {
	var g projection.PlanGraph
	l := projection.RunTimeline{From: start(), To: start().Add(time.Hour)}
	for i := range 10_000 {
		id := nexus.TaskID(fmt.Sprintf("T%d", i))
		g.Nodes = append(g.Nodes, projection.PlanGraphNode{ID: id, Lane: projection.LaneDone, Layer: i % 100, Row: i / 100, Critical: i/100 == 77})
		row := projection.TimelineRow{Task: id, Label: string(id)}
		for s := range 100 {
			at := start().Add(time.Duration(s) * time.Millisecond)
			row.Spans = append(row.Spans, projection.TimelineSpan{Stage: "work", From: at, To: at.Add(time.Millisecond)})
		}
		l.Rows = append(l.Rows, row)
	}
	graph, line := svg.DrawGraph(g, svg.Options{}), svg.DrawTimeline(l, svg.Options{})
	for text, want := range map[string][]string{
		graph: {"T7700 ", "T7799 ", "400 of 10000 tasks are drawn"}, line: {"T0", "and 9,600 more rows"},
	} {
		told := check(t, text)
		for _, w := range want {
			if !strings.Contains(told, w) {
				t.Errorf("nothing says %q", w)
			}
		}
		if len(text) > 400_000 {
			t.Errorf("%d bytes", len(text))
		}
	}
	if svg.DrawGraph(projection.PlanGraph{}, svg.Options{}) != "" || svg.DrawTimeline(projection.RunTimeline{}, svg.Options{}) != "" {
		t.Error("nothing is drawn as something")
	}
}

// FuzzDrawing draws any texts and times.
func FuzzDrawing(f *testing.F) {
	f.Add("T1", "a title", "work", int64(5), int64(9), 3)
	f.Add("<", "\x00\xff\u202e", "]]>", int64(-5), int64(1<<62), -1)
	f.Fuzz(func(t *testing.T, id, title, stage string, from, to int64, layer int) {
		n := projection.PlanGraphNode{ID: nexus.TaskID(id), Title: title, Lane: projection.BoardLane(stage), Layer: max(layer%1000, 0)}
		check(t, svg.DrawGraph(projection.PlanGraph{
			Nodes: []projection.PlanGraphNode{n, {ID: "X"}},
			Edges: []projection.PlanGraphEdge{{From: n.ID, To: "X", Kind: stage, Files: []string{title}}},
		}, svg.Options{}))
		began, ended := time.Unix(0, from), time.Unix(0, to)
		check(t, svg.DrawTimeline(projection.RunTimeline{From: began, To: ended, Rows: []projection.TimelineRow{{
			Label: title, Spans: []projection.TimelineSpan{{Stage: stage, State: id, From: ended, To: began}, {Stage: id, From: began}},
		}}}, svg.Options{Width: layer % 5000}))
	})
}
