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

// The measures of a timeline, in pixels.
const (
	labelWidth = 168
	plotWidth  = 720
	axisHeight = 26
	barRow     = 26
	barHeight  = 16
	endRoom    = 14 // for half of the last tick's text
)

// legendStages returns the stages of spans, in the order of a legend, with colours that people with
// colour blindness can distinguish.
func legendStages() []timelineLegendEntry {
	return []timelineLegendEntry{
		{"plan", "planning", "#cc79a7", ""},
		{"setup", "setup", "#94a3b8", ""},
		{"work", "agent works", "#0072b2", ""},
		{"gate", "gates", "#56b4e9", ""},
		{"review", "review", "#8e6bbf", ""},
		{"land", "landing", "#009e73", ""},
		{"person", "waits for a person", "#d55e00", "hatch"},
		{"quota", "waits for quota", "#9ca3af", "dots"},
		{"idle", "waits", "#e5e7eb", ""},
	}
}

type timelineLegendEntry struct{ name, word, color, pattern string }

func stageOf(name string) timelineLegendEntry {
	all := legendStages()
	if i := slices.IndexFunc(all, func(s timelineLegendEntry) bool { return s.name == name }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}

// DrawTimeline draws the activities over time: a row for each attempt, a bar for each period. Time in
// which only a person could act is hatched, and time without quota is grey. A timeline without
// rows is empty.
func DrawTimeline(t projection.RunTimeline, o Options) string {
	if len(t.Rows) == 0 {
		return ""
	}
	to := t.To
	for _, r := range t.Rows {
		for _, s := range r.Spans {
			to = latestTime(to, s.From, s.To)
		}
	}
	a := timelineAxis{from: t.From, long: max(to.Sub(t.From), time.Second), width: cmp.Or(max(o.Width, 0), plotWidth)}
	rows := t.Rows[:min(len(t.Rows), o.maxDrawn())]
	key := presentStages(rows)
	lines := a.legendLines(key)
	left := len(t.Rows) - len(rows)
	height := axisHeight + len(rows)*barRow + margin + lines*20
	if left > 0 {
		height += 20
	}
	var d svgWriter
	name := cmp.Or(o.Name, "timeline")
	d.beginDrawing(name, "nx-timeline", labelWidth+a.width+3*margin+endRoom, height,
		"Timeline of "+view.FormatDuration(a.long), a.describeTimeline(rows, left))
	d.definePatterns(name)
	a.drawTicks(&d, axisHeight+len(rows)*barRow)
	for i, r := range rows {
		d.drawLinked(o, r.Task, func() { a.drawRow(&d, name, r, axisHeight+i*barRow) })
		d.WriteByte('\n')
	}
	y := axisHeight + len(rows)*barRow + margin
	if left > 0 {
		d.drawNote(margin, y+10, "and "+view.CountWithNoun(left, "more row"))
		y += 20
	}
	a.drawLegend(&d, name, key, y)
	return d.endDrawing()
}

func latestTime(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// timelineAxis maps times to columns.
type timelineAxis struct {
	from  time.Time
	long  time.Duration
	width int
}

func (a timelineAxis) columnOfTime(t time.Time) float64 {
	share := float64(t.Sub(a.from)) / float64(a.long)
	return float64(labelWidth+margin) + float64(a.width)*min(max(share, 0), 1)
}

// spanEnd returns the end of a span: the end of the drawing if it is open.
func (a timelineAxis) spanEnd(s projection.TimelineSpan) time.Time {
	if s.To.IsZero() {
		return a.from.Add(a.long)
	}
	return s.To
}

// tickInterval returns the time between two ticks: at most twelve of them, at round times.
func (a timelineAxis) tickInterval() time.Duration {
	const day = 24 * time.Hour
	for _, s := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 7 * day, 30 * day,
	} {
		if a.long/s <= 12 && int64(a.width)*int64(s)/int64(a.long) >= 50 {
			return s
		}
	}
	return max(a.long/6, 1)
}

// drawTicks draws the ticks, and lines down to the last row.
func (a timelineAxis) drawTicks(d *svgWriter, bottom int) {
	step := a.tickInterval()
	for at := time.Duration(0); at <= a.long; at += step {
		x := a.columnOfTime(a.from.Add(at))
		d.writeEscaped(`<path class="tick" d="M%.1f %dV%d" stroke="#d0d5dd" stroke-width="1"/>`, x, axisHeight-6, bottom)
		d.writeEscaped(`<text class="note" x="%.1f" y="%d" text-anchor="middle" font-size="11">%s</text>`+"\n", x, axisHeight-10, formatElapsed(at))
	}
}

// formatElapsed formats a time since the start for the axis.
func formatElapsed(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	switch h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60; {
	case h >= 48 && h%24 == 0:
		return fmt.Sprintf("%dd", h/24)
	case h > 0 && m == 0:
		return fmt.Sprintf("%dh", h)
	case h > 0:
		return fmt.Sprintf("%dh%02d", h, m)
	case m > 0 && s == 0:
		return fmt.Sprintf("%dm", m)
	case m > 0:
		return fmt.Sprintf("%dm%02d", m, s)
	default:
		return fmt.Sprintf("%ds", s)
	}
}

// drawRow draws a row: its label, and a bar for each span that is wide enough to be visible or has no
// neighbour of its stage.
func (a timelineAxis) drawRow(d *svgWriter, name string, r projection.TimelineRow, y int) {
	d.writeEscaped(`<g class="row"><title>%s</title>`, cleanText(r.Label))
	d.writeEscaped(`<text class="label" x="%d" y="%d">%s</text>`, margin, y+barHeight, truncateText(r.Label, 23))
	last, stage := -1.0, ""
	for _, s := range r.Spans {
		from, to := a.columnOfTime(s.From), a.columnOfTime(a.spanEnd(s))
		if to-from < 1 && s.Stage == stage && to-last < 1 {
			continue
		}
		last, stage = max(to, from+1), s.Stage
		a.drawBar(d, name, s, y, from, last)
	}
	d.WriteString("</g>")
}

func (a timelineAxis) drawBar(d *svgWriter, name string, s projection.TimelineSpan, y int, from, to float64) {
	st := stageOf(s.Stage)
	class := "span stage-" + st.name
	if s.To.IsZero() {
		class += " open"
	}
	if isFailed(s.State) {
		class += " bad"
	}
	d.writeEscaped(`<g class="%s"><title>%s</title>`, class, a.spanText(s, st))
	d.writeEscaped(`<rect x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`, from, y+4, to-from, barHeight, st.color)
	if st.pattern != "" {
		d.writeEscaped(`<rect class="pattern" x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="url(#%s-%s)"/>`,
			from, y+4, to-from, barHeight, name, st.pattern)
	}
	if isFailed(s.State) { // a sign as well as a colour
		d.writeEscaped(`<path class="mark" d="M%.1f %dv%d" stroke="#b42318" stroke-width="3"/>`, max(to-1.5, from), y+2, barHeight+4)
	}
	d.WriteString("</g>")
}

// isFailed reports whether a gate's state is a failure.
func isFailed(state string) bool { return nexus.GateState(state).IsRed() }

// spanText describes a bar in words.
func (a timelineAxis) spanText(s projection.TimelineSpan, st timelineLegendEntry) string {
	parts := []string{st.word}
	if s.Label != "" {
		parts = append(parts, cleanText(s.Label))
	}
	if s.State != "" {
		parts = append(parts, cleanText(s.State))
	}
	long := "not over"
	if !s.To.IsZero() {
		long = view.FormatDuration(s.To.Sub(s.From))
	}
	return strings.Join(parts, ": ") + ", " + long + ", from " + formatElapsed(s.From.Sub(a.from).Truncate(time.Second))
}

// presentStages returns the stages that occur in rows.
func presentStages(rows []projection.TimelineRow) []timelineLegendEntry {
	seen := map[string]bool{}
	for _, r := range rows {
		for _, s := range r.Spans {
			seen[stageOf(s.Stage).name] = true
		}
	}
	return slices.DeleteFunc(legendStages(), func(s timelineLegendEntry) bool { return !seen[s.name] })
}

// describeTimeline describes the duration of each stage in words, for readers who cannot see the
// drawing.
func (a timelineAxis) describeTimeline(rows []projection.TimelineRow, left int) string {
	took := map[string]time.Duration{}
	for _, r := range rows {
		for _, s := range r.Spans {
			took[stageOf(s.Stage).name] += a.spanEnd(s).Sub(s.From)
		}
	}
	var parts []string
	for _, s := range presentStages(rows) {
		parts = append(parts, s.word+" "+view.FormatDuration(took[s.name]))
	}
	text := view.CountWithNoun(len(rows), "row") + ". Over all rows: " + strings.Join(parts, ", ") + "."
	if left > 0 {
		text += fmt.Sprintf(" %d more rows are not drawn.", left)
	}
	return text
}

// definePatterns defines the fill patterns of idle time.
func (d *svgWriter) definePatterns(name string) {
	d.writeEscaped(`<defs><pattern id="%s-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`, name)
	d.WriteString(`<path class="line" d="M0 0V6" stroke="#fff" stroke-width="3"/></pattern>`)
	d.writeEscaped(`<pattern id="%s-dots" width="6" height="6" patternUnits="userSpaceOnUse">`, name)
	d.WriteString(`<circle class="dot" cx="2" cy="2" r="1.2" fill="#fff"/></pattern></defs>` + "\n")
}

// legendWidth returns the width of a stage in a legend.
func legendWidth(s timelineLegendEntry) int { return 34 + 7*len(s.word) }

// legendLines returns the number of lines that a legend needs.
func (a timelineAxis) legendLines(key []timelineLegendEntry) int {
	lines, x := 1, margin
	for _, s := range key {
		if x+legendWidth(s) > labelWidth+a.width && x > margin {
			lines, x = lines+1, margin
		}
		x += legendWidth(s)
	}
	return lines
}

func (a timelineAxis) drawLegend(d *svgWriter, name string, key []timelineLegendEntry, y int) {
	x := margin
	for _, s := range key {
		if x+legendWidth(s) > labelWidth+a.width && x > margin {
			x, y = margin, y+20
		}
		d.writeEscaped(`<g class="span stage-%s"><rect x="%d" y="%d" width="14" height="12" rx="2" fill="%s"/>`, s.name, x, y, s.color)
		if s.pattern != "" {
			d.writeEscaped(`<rect class="pattern" x="%d" y="%d" width="14" height="12" rx="2" fill="url(#%s-%s)"/>`,
				x, y, name, s.pattern)
		}
		d.WriteString("</g>")
		d.drawNote(x+20, y+10, s.word)
		x += legendWidth(s)
	}
}
