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

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Measures of the graph, in pixels.
const (
	boxWidth, boxHeight = 200, 52
	gapX, gapY          = 70, 20
	margin              = 8
)

// Drawing is a graph with positions.
type Drawing struct {
	Width, Height int
	Boxes         []Box
	Lines         []Line
	Tasks         []projection.Node // including those in folded groups
	Groups        []Fold
	Folded        []string // groups
	Without       nexus.TaskID
}

// Fold is a group of tasks that can be shown as one box.
type Fold struct {
	Name   string
	Tasks  int
	Folded bool
}

// groups returns the groups that can be folded or unfolded: not those within a folded one.
func groups(g projection.Graph, folded []string) (all []Fold) {
	names, tasks := g.Groups()
	for _, name := range names {
		in := nexus.Groups(name)
		if !slices.ContainsFunc(in[:len(in)-1], func(o string) bool { return slices.Contains(folded, o) }) {
			all = append(all, Fold{name, tasks[name], slices.Contains(folded, name)})
		}
	}
	return all
}

// path returns the address of the graph with a group's folding toggled.
func (d Drawing) path(run nexus.RunID, turn string) string {
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

// to returns the link of a box: its task, or the graph with its group unfolded.
func (d Drawing) to(run nexus.RunID, b Box) string {
	if len(b.Tasks) > 0 {
		return d.path(run, b.Group)
	}
	return taskPath(run, b.ID, "")
}

// small reports whether the graph fits a wide screen.
func (d Drawing) small() bool { return d.Width <= 900 && d.Height <= 500 }

// open reports whether there is a task that could be skipped.
func (d Drawing) open() bool {
	return slices.ContainsFunc(d.Tasks, func(n projection.Node) bool { return n.Lane != projection.LaneDone })
}

// landed reports whether a task has landed.
func (d Drawing) landed(id nexus.TaskID) bool {
	return slices.ContainsFunc(d.Tasks, func(n projection.Node) bool { return n.ID == id && n.Lane == projection.LaneDone })
}

// Box is a task of a graph, or a folded group.
type Box struct {
	projection.Node

	X, Y int
	Gone bool // it could not be done any more
}

// Line joins two boxes.
type Line struct {
	projection.Edge

	Path  string // in the form of SVG
	Title string
}

// holds describes the content of a folded group.
func (b Box) holds() string {
	return plural(len(b.Tasks), "task") + ", " + number(b.Landed) + " landed"
}

// head returns the first line of a box.
func (b Box) head() string {
	if len(b.Tasks) > 0 {
		return foldGlyph(true) + " " + laneGlyph(b.Lane) + " " + b.holds()
	}
	return laneGlyph(b.Lane) + " " + view.Clean(string(b.ID)) + " " + laneLabel(b.Lane)
}

func foldGlyph(folded bool) string {
	if folded {
		return "\u25b8"
	}
	return "\u25be"
}

func expanded(folded bool) string { return strconv.FormatBool(!folded) }

// says describes the box in words.
func (b Box) says() string {
	text := view.Clean(string(b.ID)+" "+b.Title) + ", " + laneLabel(b.Lane)
	if len(b.Tasks) > 0 {
		text = "group " + view.Clean(b.Title) + ": " + b.holds() + ", " + laneLabel(b.Lane)
	}
	if b.Critical {
		text += ", on the critical path"
	}
	if b.Seconds > 0 {
		text += ", " + clock(b.Seconds)
	}
	if b.Gone {
		text += ", could not be done"
	}
	return text
}

// layOut assigns each task of a graph a position: layers from left to right.
func layOut(g projection.Graph, gone []nexus.TaskID) Drawing {
	var d Drawing
	at := map[nexus.TaskID]Box{}
	for _, n := range g.Nodes {
		b := Box{Node: n, X: margin + n.Layer*(boxWidth+gapX), Y: margin + n.Row*(boxHeight+gapY), Gone: slices.Contains(gone, n.ID)}
		if len(n.Tasks) > 0 {
			b.Gone = !slices.ContainsFunc(n.Tasks, func(id nexus.TaskID) bool { return !slices.Contains(gone, id) })
		}
		at[n.ID] = b
		d.Boxes = append(d.Boxes, b)
		d.Width, d.Height = max(d.Width, b.X+boxWidth+margin), max(d.Height, b.Y+boxHeight+margin)
	}
	for _, e := range g.Edges {
		from, to := at[e.From], at[e.To]
		l := Line{Edge: e}
		x1, y1, x2, y2 := from.X+boxWidth, from.Y+boxHeight/2, to.X, to.Y+boxHeight/2
		switch e.Kind {
		case "collides":
			l.Title = fmt.Sprintf("%s and %s touch the same files: %s", e.From, e.To, list(e.Files))
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

func (s *Site) graph(r *http.Request) (templ.Component, error) {
	without, folded := nexus.TaskID(r.URL.Query().Get("without")), r.URL.Query()["folded"]
	var d Drawing
	var blocked []nexus.TaskID
	f, err := s.frame(r, "graph", "Graph", func(p *projection.Projection, f *Frame) error {
		var gone []nexus.TaskID
		if without != "" {
			w, ok := p.WithoutTask(without, f.Now)
			if !ok {
				return missing("task", string(without))
			}
			blocked = w.Blocked
			gone = append([]nexus.TaskID{without}, blocked...)
		}
		g := p.Graph(f.Now)
		all := groups(g, folded)
		d = layOut(g.Fold(folded), gone)
		d.Tasks, d.Groups, d.Folded, d.Without = g.Nodes, all, folded, without
		return nil
	})
	return graphScreen(f, d, without, blocked), err
}

// Chart is a timeline with positions.
type Chart struct {
	Width, Height, Zoom int
	Ticks               []Tick
	Rows                []ChartRow
}

// Tick is a time on the axis.
type Tick struct {
	X     int
	Label string
}

// ChartRow is an attempt.
type ChartRow struct {
	Y     int
	Label string
	Bars  []Bar
}

// Bar is a period of time.
type Bar struct {
	X, Width     int
	Stage, Title string
	Bad          bool
}

func zooms() []int { return []int{1, 2, 4, 8} }

func stages() []string {
	return []string{"plan", "work", "gate", "review", "land", "person", "quota", "setup"}
}

// stageWord returns the name of a stage, for the legend.
func stageWord(stage string) string {
	return cmp.Or(map[string]string{"person": "waits for a person", "quota": "waits for a provider", "setup": "setup, idle"}[stage], stage)
}

// Measures of the timeline, in pixels.
const (
	labelWidth = 190
	rowHeight  = 28
	axisHeight = 24
	baseWidth  = 900
)

// plot assigns each span of a timeline a position.
func plot(t projection.Timeline, zoom int, now time.Time) Chart {
	c := Chart{Zoom: zoom, Width: labelWidth + baseWidth*zoom + margin}
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
			c.Ticks = append(c.Ticks, Tick{x(t.From.Add(after)), "+" + view.Clock(after.Seconds())})
		}
	}
	for n, row := range t.Rows {
		r := ChartRow{Y: axisHeight + n*rowHeight, Label: row.Label}
		for _, s := range row.Spans {
			end := s.To
			if end.IsZero() {
				end = now
			}
			if end.After(t.To) {
				end = t.To
			}
			from, to := x(s.From), x(end)
			begun, took := view.Clock(s.From.Sub(t.From).Seconds()), view.Clock(max(end.Sub(s.From).Seconds(), 0))
			title := fmt.Sprintf("%s %s, from +%s for %s", s.Stage, s.Label, begun, took)
			if s.State != "" {
				title += ", " + s.State
			}
			r.Bars = append(r.Bars, Bar{X: from, Width: max(to-from, 2), Stage: s.Stage, Title: title, Bad: s.State == string(nexus.Fail)})
		}
		c.Rows = append(c.Rows, r)
	}
	c.Height = axisHeight + len(c.Rows)*rowHeight + margin
	return c
}

func (s *Site) timeline(r *http.Request) (templ.Component, error) {
	zoom, _ := strconv.Atoi(r.URL.Query().Get("zoom")) // an unknown one means the first
	if !slices.Contains(zooms(), zoom) {
		zoom = 1
	}
	var c Chart
	f, err := s.frame(r, "timeline", "Timeline", func(p *projection.Projection, f *Frame) error {
		c = plot(p.Timeline(f.Now), zoom, f.Now)
		return nil
	})
	return timelineScreen(f, c), err
}
