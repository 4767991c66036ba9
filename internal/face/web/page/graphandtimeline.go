package page

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// Measures of the graph, in pixels.
const (
	boxWidth, boxHeight = 200, 52
	gapX, gapY          = 70, 20
	margin              = 8
)

// GraphDrawing is a graph with positions.
type GraphDrawing struct {
	Width, Height int
	Boxes         []GraphBox
	Lines         []GraphEdge
	Tasks         []projection.PlanGraphNode // including those in folded groups
	Groups        []FoldableGroup
	Folded        []string // groups
	Without       nexus.TaskID
}

// FoldableGroup is a group of tasks that can be shown as one box.
type FoldableGroup struct {
	Name   string
	Tasks  int
	Folded bool
}

// foldableGroups returns the groups that can be folded or unfolded: not those within a folded one.
func foldableGroups(g projection.PlanGraph, folded []string) (all []FoldableGroup) {
	names, tasks := g.GroupNames()
	for _, name := range names {
		in := nexus.EnclosingGroups(name)
		if !slices.ContainsFunc(in[:len(in)-1], func(o string) bool { return slices.Contains(folded, o) }) {
			all = append(all, FoldableGroup{name, tasks[name], slices.Contains(folded, name)})
		}
	}
	return all
}

// foldURL returns the address of the graph with a group's folding toggled.
func (d GraphDrawing) foldURL(run nexus.RunID, turn string) string {
	folded := slices.DeleteFunc(slices.Clone(d.Folded), func(name string) bool { return name == turn })
	if len(folded) == len(d.Folded) {
		folded = append(folded, turn)
	}
	q := url.Values{"folded": folded}
	if d.Without != "" {
		q.Set("without", string(d.Without))
	}
	return strings.TrimSuffix(runPath(run, "/graph?"+q.Encode()), "?")
}

// boxURL returns the link of a box: its task, or the graph with its group unfolded.
func (d GraphDrawing) boxURL(run nexus.RunID, b GraphBox) string {
	if len(b.Tasks) > 0 {
		return d.foldURL(run, b.Group)
	}
	return taskPath(run, b.ID, "")
}

// fitsScreen reports whether the graph fits a wide screen.
func (d GraphDrawing) fitsScreen() bool { return d.Width <= 900 && d.Height <= 500 }

// hasSkippableTask reports whether there is a task that could be skipped.
func (d GraphDrawing) hasSkippableTask() bool {
	return slices.ContainsFunc(d.Tasks, func(n projection.PlanGraphNode) bool { return n.Lane != projection.LaneDone })
}

// isLanded reports whether a task has landed.
func (d GraphDrawing) isLanded(id nexus.TaskID) bool {
	return slices.ContainsFunc(d.Tasks, func(n projection.PlanGraphNode) bool { return n.ID == id && n.Lane == projection.LaneDone })
}

// GraphBox is a task of a graph, or a folded group.
type GraphBox struct {
	projection.PlanGraphNode

	X, Y int
	Gone bool // it could not be done any more
}

// GraphEdge joins two boxes.
type GraphEdge struct {
	projection.PlanGraphEdge

	Path  string // in the form of SVG
	Title string
}

// foldedGroupText describes the content of a folded group.
func (b GraphBox) foldedGroupText() string {
	return countNoun(len(b.Tasks), "task") + ", " + formatInt(b.Landed) + " landed"
}

// headLine returns the first line of a box.
func (b GraphBox) headLine() string {
	if len(b.Tasks) > 0 {
		return foldGlyph(true) + " " + laneGlyph(b.Lane) + " " + b.foldedGroupText()
	}
	return laneGlyph(b.Lane) + " " + view.EscapeForTerminal(string(b.ID)) + " " + laneLabel(b.Lane)
}

func foldGlyph(folded bool) string {
	if folded {
		return "\u25b8"
	}
	return "\u25be"
}

func ariaExpanded(folded bool) string { return strconv.FormatBool(!folded) }

// describeBox describes the box in words.
func (b GraphBox) describeBox() string {
	text := view.EscapeForTerminal(string(b.ID)+" "+b.Title) + ", " + laneLabel(b.Lane)
	if len(b.Tasks) > 0 {
		text = "group " + view.EscapeForTerminal(b.Title) + ": " + b.foldedGroupText() + ", " + laneLabel(b.Lane)
	}
	if b.Critical {
		text += ", on the critical path"
	}
	if b.Seconds > 0 {
		text += ", " + formatSeconds(b.Seconds)
	}
	if b.Gone {
		text += ", could not be done"
	}
	return text
}

// layOutGraph assigns each task of a graph a position: layers from left to right.
func layOutGraph(g projection.PlanGraph, gone []nexus.TaskID) GraphDrawing {
	var d GraphDrawing
	at := map[nexus.TaskID]GraphBox{}
	for _, n := range g.Nodes {
		b := GraphBox{PlanGraphNode: n, X: margin + n.Layer*(boxWidth+gapX), Y: margin + n.Row*(boxHeight+gapY), Gone: slices.Contains(gone, n.ID)}
		if len(n.Tasks) > 0 {
			b.Gone = !slices.ContainsFunc(n.Tasks, func(id nexus.TaskID) bool { return !slices.Contains(gone, id) })
		}
		at[n.ID] = b
		d.Boxes = append(d.Boxes, b)
		d.Width, d.Height = max(d.Width, b.X+boxWidth+margin), max(d.Height, b.Y+boxHeight+margin)
	}
	for _, e := range g.Edges {
		from, to := at[e.From], at[e.To]
		l := GraphEdge{PlanGraphEdge: e}
		x1, y1, x2, y2 := from.X+boxWidth, from.Y+boxHeight/2, to.X, to.Y+boxHeight/2
		switch e.Kind {
		case "collides":
			l.Title = fmt.Sprintf("%s and %s touch the same files: %s", e.From, e.To, joinComma(e.Files))
			if from.Layer == to.Layer {
				x1, x2 = from.X+boxWidth, to.X+boxWidth
				l.Path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+gapX/2, y1, x2+gapX/2, y2, x2, y2)
			}
		default:
			l.Title = fmt.Sprintf("%s %s %s", e.To, e.Kind, e.From)
		}
		if l.Path == "" {
			half := max((x2-x1)/2, gapX/2)
			l.Path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+half, y1, x2-half, y2, x2, y2)
		}
		d.Lines = append(d.Lines, l)
	}
	return d
}

func (s *PageHandlers) graphPage(r *http.Request) (templ.Component, error) {
	without, folded := nexus.TaskID(r.URL.Query().Get("without")), r.URL.Query()["folded"]
	var d GraphDrawing
	var blocked []nexus.TaskID
	f, err := s.newFrame(r, "graph", "Graph", func(p *projection.RunProjection, f *PageFrame) error {
		var gone []nexus.TaskID
		if without != "" {
			w, ok := p.ForecastWithoutTask(without, f.Now)
			if !ok {
				return notFoundError("task", string(without))
			}
			blocked = w.Blocked
			gone = append([]nexus.TaskID{without}, blocked...)
		}
		g := p.PlanGraph(f.Now)
		all := foldableGroups(g, folded)
		d = layOutGraph(g.FoldGroups(folded), gone)
		d.Tasks, d.Groups, d.Folded, d.Without = g.Nodes, all, folded, without
		return nil
	})
	return graphScreen(f, d, without, blocked), err
}

// TimelineChart is a timeline with positions.
type TimelineChart struct {
	Width, Height, Zoom int
	Ticks               []TimelineTick
	Rows                []TimelineChartRow
}

// TimelineTick is a time on the axis.
type TimelineTick struct {
	X     int
	Label string
}

// TimelineChartRow is an attempt.
type TimelineChartRow struct {
	Y     int
	Label string
	Bars  []TimelineBar
}

// TimelineBar is a period of time.
type TimelineBar struct {
	X, Width     int
	Stage, Title string
	Bad          bool
}

func zoomLevels() []int { return []int{1, 2, 4, 8} }

func timelineStages() []string {
	return []string{"plan", "work", "gate", "review", "land", "person", "quota", "setup"}
}

// stageLabel returns the name of a stage, for the legend.
func stageLabel(stage string) string {
	return cmp.Or(map[string]string{"person": "waits for a person", "quota": "waits for a provider", "setup": "setup, idle"}[stage], stage)
}

// Measures of the timeline, in pixels.
const (
	labelWidth = 190
	rowHeight  = 28
	axisHeight = 24
	baseWidth  = 900
)

// layOutTimeline assigns each span of a timeline a position.
func layOutTimeline(t projection.RunTimeline, zoom int, now time.Time) TimelineChart {
	c := TimelineChart{Zoom: zoom, Width: labelWidth + baseWidth*zoom + margin}
	total := t.To.Sub(t.From)
	if total <= 0 || len(t.Rows) == 0 {
		return c
	}
	x := func(at time.Time) int {
		return labelWidth + int(float64(baseWidth*zoom)*min(max(float64(at.Sub(t.From))/float64(total), 0), 1))
	}
	step := total / time.Duration(6*zoom)
	for i := range 6*zoom + 1 {
		after := time.Duration(i) * step
		if i < 6*zoom {
			c.Ticks = append(c.Ticks, TimelineTick{x(t.From.Add(after)), "+" + view.FormatSeconds(after.Seconds())})
		}
	}
	for n, row := range t.Rows {
		r := TimelineChartRow{Y: axisHeight + n*rowHeight, Label: row.Label}
		for _, s := range row.Spans {
			end := s.To
			if end.IsZero() {
				end = now
			}
			if end.After(t.To) {
				end = t.To
			}
			from, to := x(s.From), x(end)
			begun, took := view.FormatSeconds(s.From.Sub(t.From).Seconds()), view.FormatSeconds(max(end.Sub(s.From).Seconds(), 0))
			title := fmt.Sprintf("%s %s, from +%s for %s", s.Stage, s.Label, begun, took)
			if s.State != "" {
				title += ", " + s.State
			}
			r.Bars = append(r.Bars, TimelineBar{X: from, Width: max(to-from, 2), Stage: s.Stage, Title: title, Bad: s.State == string(nexus.Fail)})
		}
		c.Rows = append(c.Rows, r)
	}
	c.Height = axisHeight + len(c.Rows)*rowHeight + margin
	return c
}

func (s *PageHandlers) timelinePage(r *http.Request) (templ.Component, error) {
	zoom, _ := strconv.Atoi(r.URL.Query().Get("zoom")) // an unknown one means the first
	if !slices.Contains(zoomLevels(), zoom) {
		zoom = 1
	}
	var c TimelineChart
	f, err := s.newFrame(r, "timeline", "Timeline", func(p *projection.RunProjection, f *PageFrame) error {
		c = layOutTimeline(p.Timeline(f.Now), zoom, f.Now)
		return nil
	})
	return timelineScreen(f, c), err
}
