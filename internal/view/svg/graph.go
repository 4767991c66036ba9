package svg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// The measures of a graph, in pixels.
const (
	nodeWidth  = 196
	nodeHeight = 48
	layerGap   = 56
	rowGap     = 14
	margin     = 10
	legendLine = 28
)

// BoardLaneSign returns the sign and the word of a task's column, as drawings and their legends show
// them.
func BoardLaneSign(l projection.BoardLane) (sign, word string) {
	switch l {
	case projection.LaneNeedsYou:
		return "!", "needs you"
	case projection.LaneRunning:
		return "\u25cf", "running"
	case projection.LaneVerifying:
		return "\u25d1", "verifying"
	case projection.LaneReview:
		return "\u25c6", "in review"
	case projection.LaneLanding:
		return "\u2191", "landing"
	case projection.LaneReady:
		return "\u25c7", "ready"
	case projection.LaneBlocked:
		return "\u25cc", "blocked"
	case projection.LaneStopped:
		return "\u2717", "stopped"
	case projection.LaneDone:
		return "\u2713", "done"
	default:
		return "\u25cb", "planned"
	}
}

// DrawGraph draws a plan: tasks from left to right after their dependencies, the critical path bold,
// tasks that touch the same files joined by a dashed line. A graph without tasks is empty.
func DrawGraph(g projection.PlanGraph, o Options) string {
	if len(g.Nodes) == 0 {
		return ""
	}
	shown := selectNodes(g.Nodes, o.maxDrawn())
	at := map[nexus.TaskID]projection.PlanGraphNode{}
	layers, rows := 0, 0
	for _, n := range shown {
		at[n.ID] = n
		layers, rows = max(layers, n.Layer+1), max(rows, n.Row+1)
	}
	width := max(2*margin+layers*nodeWidth+(layers-1)*layerGap, 2*margin+2*nodeWidth)
	height := 2*margin + rows*(nodeHeight+rowGap) - rowGap + legendLine
	var d svgWriter
	name := cmp.Or(o.Name, "graph")
	d.beginDrawing(name, "nx-graph", width, height, fmt.Sprintf("Graph of %s", view.CountWithNoun(len(g.Nodes), "task")), describeGraph(g, len(shown)))
	d.defineArrowheads(name)
	for _, e := range g.Edges {
		from, ok := at[e.From]
		to, here := at[e.To]
		if ok && here {
			d.drawEdge(name, e, from, to)
		}
	}
	for _, n := range shown {
		d.drawLinked(o, n.ID, func() { d.drawNode(n) })
		d.WriteByte('\n')
	}
	d.drawGraphLegend(g, len(shown), height-legendLine/2)
	return d.endDrawing()
}

// selectNodes chooses up to most nodes to draw: those of the critical path first, then unfinished
// ones, in the order of the plan. It closes the gaps of the others.
func selectNodes(all []projection.PlanGraphNode, most int) []projection.PlanGraphNode {
	if len(all) <= most {
		return all
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	weight := func(n projection.PlanGraphNode) int {
		switch {
		case n.Critical:
			return 0
		case n.Lane != projection.LaneDone:
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(weight(all[x]), weight(all[y])) })
	order = order[:most]
	slices.Sort(order)
	rows := map[int]int{}
	layers := map[int]bool{}
	var shown []projection.PlanGraphNode
	for _, i := range order {
		n := all[i]
		n.Row = rows[n.Layer]
		rows[n.Layer]++
		layers[n.Layer] = true
		shown = append(shown, n)
	}
	for i, n := range shown {
		left := 0
		for l := range n.Layer {
			if layers[l] {
				left++
			}
		}
		shown[i].Layer = left
	}
	return shown
}

// describeGraph describes the drawing in words, for readers who cannot see it.
func describeGraph(g projection.PlanGraph, shown int) string {
	counts := map[projection.BoardLane]int{}
	var path []string
	for _, n := range g.Nodes {
		counts[n.Lane]++
		if n.Critical {
			path = append(path, string(n.ID))
		}
	}
	var parts []string
	for _, l := range projection.Lanes {
		if counts[l] > 0 {
			_, word := BoardLaneSign(l)
			parts = append(parts, fmt.Sprintf("%d %s", counts[l], word))
		}
	}
	text := strings.Join(parts, ", ") + "."
	if len(path) > 0 {
		more := ""
		if n := len(path) - 50; n > 0 {
			path, more = path[:50], fmt.Sprintf(" and %d more", n)
		}
		text += " The critical path: " + cleanText(strings.Join(path, ", ")) + more + "."
	}
	if shown < len(g.Nodes) {
		text += fmt.Sprintf(" %d of them are drawn.", shown)
	}
	return text
}

// defineArrowheads defines the arrowheads of lines.
func (d *svgWriter) defineArrowheads(name string) {
	d.WriteString("<defs>\n")
	for _, kind := range []string{"", "-critical"} {
		d.writeEscaped(`<marker id="%s-arrow%s" viewBox="0 0 8 8" refX="8" refY="4"`, name, kind)
		d.WriteString(` markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">`)
		d.writeEscaped(`<path class="tip%s" d="M0 0 8 4 0 8z" fill="#667085"/></marker>`+"\n", strings.ReplaceAll(kind, "-", " "))
	}
	d.WriteString("</defs>\n")
}

func nodeCorner(n projection.PlanGraphNode) (x, y int) {
	return margin + n.Layer*(nodeWidth+layerGap), margin + n.Row*(nodeHeight+rowGap)
}

func (d *svgWriter) drawEdge(name string, e projection.PlanGraphEdge, from, to projection.PlanGraphNode) {
	class, tip, wide := "needs", "", "1.4"
	if e.Critical {
		class, tip, wide = "needs critical", "-critical", "2.6"
	}
	fx, fy := nodeCorner(from)
	tx, ty := nodeCorner(to)
	x1, y1, x2, y2 := fx+nodeWidth, fy+nodeHeight/2, tx, ty+nodeHeight/2
	bend := max((x2-x1)/2, layerGap/2)
	path := fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
	d.WriteString("<g>")
	switch e.Kind {
	case "collides":
		if from.Layer == to.Layer { // on the right of both
			x2 = tx + nodeWidth
			path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+layerGap/2, y1, x2+layerGap/2, y2, x2, y2)
		}
		d.writeEscaped(`<path class="edge collides" d="%s" fill="none" stroke="#b45309" stroke-width="1.4" stroke-dasharray="5 4"/>`,
			path)
		d.writeEscaped("<title>%s and %s touch the same files%s</title>", cleanText(string(e.From)), cleanText(string(e.To)), fileListText(e.Files))
	default:
		if e.Kind == "follows" {
			class = strings.Replace(class, "needs", "follows", 1)
		}
		d.writeEscaped(`<path class="edge %s" d="%s" fill="none" stroke="#667085" stroke-width="%s" marker-end="url(#%s-arrow%s)"/>`,
			class, path, wide, name, tip)
		d.writeEscaped("<title>%s %s %s</title>", cleanText(string(e.To)), cmp.Or(cleanText(e.Kind), "needs"), cleanText(string(e.From)))
	}
	d.WriteString("</g>\n")
}

// fileListText lists some files, after a colon.
func fileListText(all []string) string {
	if len(all) == 0 {
		return ""
	}
	text := ": " + strings.Join(all[:min(len(all), 5)], ", ")
	if n := len(all) - 5; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return cleanText(text)
}

func (d *svgWriter) drawNode(n projection.PlanGraphNode) {
	x, y := nodeCorner(n)
	sign, word := BoardLaneSign(n.Lane)
	class, wide, path := "node", "1.2", ""
	if slices.Contains(projection.Lanes, n.Lane) {
		class += " lane-" + string(n.Lane)
	}
	if n.Critical {
		class, wide, path = class+" critical", "2.6", ", on the critical path"
	}
	took := ""
	if n.Seconds > 0 {
		took = view.FormatDuration(time.Duration(n.Seconds * float64(time.Second)))
	}
	d.writeEscaped(`<g class="%s"><title>%s %s: %s%s</title>`, class, cleanText(string(n.ID)), cleanText(n.Title), word, path)
	d.writeEscaped(`<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="#fff" stroke="#667085" stroke-width="%s"/>`,
		x, y, nodeWidth, nodeHeight, wide)
	d.writeEscaped(`<text class="id" x="%d" y="%d" font-weight="600">%s %s</text>`, x+10, y+19, sign, truncateText(string(n.ID), 10))
	d.writeEscaped(`<text class="note" x="%d" y="%d" text-anchor="end" font-size="11">%s</text>`,
		x+nodeWidth-10, y+19, strings.TrimSpace(word+"  "+took))
	d.writeEscaped(`<text class="label" x="%d" y="%d">%s</text></g>`, x+10, y+37, truncateText(n.Title, 26))
}

// drawGraphLegend explains the lines, and shows how many tasks are not drawn.
func (d *svgWriter) drawGraphLegend(g projection.PlanGraph, shown, y int) {
	x := margin
	line := func(class, attrs, word string) {
		d.writeEscaped(`<path class="edge %s" d="M%d %dh24" fill="none" `+attrs+`/>`, class, x, y)
		d.drawNote(x+30, y+4, word)
		x += 44 + 7*len(word)
	}
	if slices.ContainsFunc(g.Nodes, func(n projection.PlanGraphNode) bool { return n.Critical }) {
		line("needs critical", `stroke="#667085" stroke-width="2.6"`, "critical path")
	}
	if slices.ContainsFunc(g.Edges, func(e projection.PlanGraphEdge) bool { return e.Kind == "collides" }) {
		line("collides", `stroke="#b45309" stroke-width="1.4" stroke-dasharray="5 4"`, "touch the same files")
	}
	if shown < len(g.Nodes) {
		d.drawNote(x, y+4, fmt.Sprintf("%d of %d tasks are drawn", shown, len(g.Nodes)))
	}
}
