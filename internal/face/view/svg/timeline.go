package svg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
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

// stages returns the stages of spans, in the order of a legend, with colours that people with
// colour blindness can distinguish.
func stages() []stage {
	return []stage{
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

type stage struct{ name, word, color, pattern string }

func stageOf(name string) stage {
	all := stages()
	if i := slices.IndexFunc(all, func(s stage) bool { return s.name == name }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}

// Timeline draws the activities over time: a row for each attempt, a bar for each period. Time in
// which only a person could act is hatched, and time without quota is grey. A timeline without
// rows is empty.
func Timeline(t projection.Timeline, o Options) string {
	if len(t.Rows) == 0 {
		return ""
	}
	to := t.To
	for _, r := range t.Rows {
		for _, s := range r.Spans {
			to = latestTime(to, s.From, s.To)
		}
	}
	a := axis{from: t.From, long: max(to.Sub(t.From), time.Second), width: cmp.Or(max(o.Width, 0), plotWidth)}
	rows := t.Rows[:min(len(t.Rows), o.most())]
	key := presentStages(rows)
	lines := a.legendLines(key)
	left := len(t.Rows) - len(rows)
	height := axisHeight + len(rows)*barRow + margin + lines*20
	if left > 0 {
		height += 20
	}
	var d drawing
	name := cmp.Or(o.Name, "timeline")
	d.open(name, "nx-timeline", labelWidth+a.width+3*margin+endRoom, height,
		"Timeline of "+view.Duration(a.long), a.describeTimeline(rows, left))
	d.patterns(name)
	a.draw(&d, axisHeight+len(rows)*barRow)
	for i, r := range rows {
		d.linked(o, r.Task, func() { a.row(&d, name, r, axisHeight+i*barRow) })
		d.WriteByte('\n')
	}
	y := axisHeight + len(rows)*barRow + margin
	if left > 0 {
		d.note(margin, y+10, "and "+view.Count(left, "more row"))
		y += 20
	}
	a.legend(&d, name, key, y)
	return d.close()
}

func latestTime(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// axis maps times to columns.
type axis struct {
	from  time.Time
	long  time.Duration
	width int
}

func (a axis) x(t time.Time) float64 {
	share := float64(t.Sub(a.from)) / float64(a.long)
	return float64(labelWidth+margin) + float64(a.width)*min(max(share, 0), 1)
}

// end returns the end of a span: the end of the drawing if it is open.
func (a axis) end(s projection.Span) time.Time {
	if s.To.IsZero() {
		return a.from.Add(a.long)
	}
	return s.To
}

// step returns the time between two ticks: at most twelve of them, at round times.
func (a axis) step() time.Duration {
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

// draw draws the ticks, and lines down to the last row.
func (a axis) draw(d *drawing, bottom int) {
	step := a.step()
	for at := time.Duration(0); at <= a.long; at += step {
		x := a.x(a.from.Add(at))
		d.put(`<path class="tick" d="M%.1f %dV%d" stroke="#d0d5dd" stroke-width="1"/>`, x, axisHeight-6, bottom)
		d.put(`<text class="note" x="%.1f" y="%d" text-anchor="middle" font-size="11">%s</text>`+"\n", x, axisHeight-10, elapsed(at))
	}
}

// elapsed formats a time since the start for the axis.
func elapsed(d time.Duration) string {
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

// row draws a row: its label, and a bar for each span that is wide enough to be visible or has no
// neighbour of its stage.
func (a axis) row(d *drawing, name string, r projection.TimeRow, y int) {
	d.put(`<g class="row"><title>%s</title>`, clean(r.Label))
	d.put(`<text class="label" x="%d" y="%d">%s</text>`, margin, y+barHeight, short(r.Label, 23))
	last, stage := -1.0, ""
	for _, s := range r.Spans {
		from, to := a.x(s.From), a.x(a.end(s))
		if to-from < 1 && s.Stage == stage && to-last < 1 {
			continue
		}
		last, stage = max(to, from+1), s.Stage
		a.bar(d, name, s, y, from, last)
	}
	d.WriteString("</g>")
}

func (a axis) bar(d *drawing, name string, s projection.Span, y int, from, to float64) {
	st := stageOf(s.Stage)
	class := "span stage-" + st.name
	if s.To.IsZero() {
		class += " open"
	}
	if isFailed(s.State) {
		class += " bad"
	}
	d.put(`<g class="%s"><title>%s</title>`, class, a.spanText(s, st))
	d.put(`<rect x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`, from, y+4, to-from, barHeight, st.color)
	if st.pattern != "" {
		d.put(`<rect class="pattern" x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="url(#%s-%s)"/>`,
			from, y+4, to-from, barHeight, name, st.pattern)
	}
	if isFailed(s.State) { // a sign as well as a colour
		d.put(`<path class="mark" d="M%.1f %dv%d" stroke="#b42318" stroke-width="3"/>`, max(to-1.5, from), y+2, barHeight+4)
	}
	d.WriteString("</g>")
}

// isFailed reports whether a gate's state is a failure.
func isFailed(state string) bool { return nexus.GateState(state).Red() }

// spanText describes a bar in words.
func (a axis) spanText(s projection.Span, st stage) string {
	parts := []string{st.word}
	if s.Label != "" {
		parts = append(parts, clean(s.Label))
	}
	if s.State != "" {
		parts = append(parts, clean(s.State))
	}
	long := "not over"
	if !s.To.IsZero() {
		long = view.Duration(s.To.Sub(s.From))
	}
	return strings.Join(parts, ": ") + ", " + long + ", from " + elapsed(s.From.Sub(a.from).Truncate(time.Second))
}

// presentStages returns the stages that occur in rows.
func presentStages(rows []projection.TimeRow) []stage {
	seen := map[string]bool{}
	for _, r := range rows {
		for _, s := range r.Spans {
			seen[stageOf(s.Stage).name] = true
		}
	}
	return slices.DeleteFunc(stages(), func(s stage) bool { return !seen[s.name] })
}

// describeTimeline describes the duration of each stage in words, for readers who cannot see the
// drawing.
func (a axis) describeTimeline(rows []projection.TimeRow, left int) string {
	took := map[string]time.Duration{}
	for _, r := range rows {
		for _, s := range r.Spans {
			took[stageOf(s.Stage).name] += a.end(s).Sub(s.From)
		}
	}
	var parts []string
	for _, s := range presentStages(rows) {
		parts = append(parts, s.word+" "+view.Duration(took[s.name]))
	}
	text := view.Count(len(rows), "row") + ". Over all rows: " + strings.Join(parts, ", ") + "."
	if left > 0 {
		text += fmt.Sprintf(" %d more rows are not drawn.", left)
	}
	return text
}

// patterns defines the fill patterns of idle time.
func (d *drawing) patterns(name string) {
	d.put(`<defs><pattern id="%s-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`, name)
	d.WriteString(`<path class="line" d="M0 0V6" stroke="#fff" stroke-width="3"/></pattern>`)
	d.put(`<pattern id="%s-dots" width="6" height="6" patternUnits="userSpaceOnUse">`, name)
	d.WriteString(`<circle class="dot" cx="2" cy="2" r="1.2" fill="#fff"/></pattern></defs>` + "\n")
}

// legendWidth returns the width of a stage in a legend.
func legendWidth(s stage) int { return 34 + 7*len(s.word) }

// legendLines returns the number of lines that a legend needs.
func (a axis) legendLines(key []stage) int {
	lines, x := 1, margin
	for _, s := range key {
		if x+legendWidth(s) > labelWidth+a.width && x > margin {
			lines, x = lines+1, margin
		}
		x += legendWidth(s)
	}
	return lines
}

func (a axis) legend(d *drawing, name string, key []stage, y int) {
	x := margin
	for _, s := range key {
		if x+legendWidth(s) > labelWidth+a.width && x > margin {
			x, y = margin, y+20
		}
		d.put(`<g class="span stage-%s"><rect x="%d" y="%d" width="14" height="12" rx="2" fill="%s"/>`, s.name, x, y, s.color)
		if s.pattern != "" {
			d.put(`<rect class="pattern" x="%d" y="%d" width="14" height="12" rx="2" fill="url(#%s-%s)"/>`,
				x, y, name, s.pattern)
		}
		d.WriteString("</g>")
		d.note(x+20, y+10, s.word)
		x += legendWidth(s)
	}
}
