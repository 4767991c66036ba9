// Package svg draws the graph and the timeline of a run as SVG, for pages and for reports that
// leave the machine.
//
// A drawing has no script, no style attribute and no address of another server, so the strictest
// content security policy allows it. All its elements have classes, and colours come from
// [Style], which a page puts into its style sheet; without it the drawing is still readable. No
// information is in colour alone: states have a sign and a word, and stages that must not be
// confused have a pattern.
package svg

import (
	"fmt"
	"html"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options configure a drawing. The zero value draws everything, without addresses.
type Options struct {
	Name  string                    // prefix of the IDs, for several drawings on one page; empty: its kind
	Width int                       // width of a timeline without its labels, in pixels; 0: 720
	Most  int                       // limit of drawn tasks or rows, the most important first; 0: 400
	Link  func(nexus.TaskID) string // address of a task; nil: no links
}

// most is the default limit of drawn tasks or rows.
const most = 400

func (o Options) maxDrawn() int {
	if o.Most > 0 {
		return o.Most
	}
	return most
}

// svgWriter builds an SVG document.
type svgWriter struct{ strings.Builder }

// writeEscaped writes a constant format with untrusted values: each is cleaned and escaped. Every %s is in
// a text or between quotes.
func (d *svgWriter) writeEscaped(format string, values ...any) {
	for i, v := range values {
		if text, ok := v.(string); ok {
			values[i] = html.EscapeString(text)
		}
	}
	_, _ = fmt.Fprintf(d, format, values...) // into memory
}

// beginDrawing begins a drawing with a description for screen readers. The name is the prefix of its IDs.
func (d *svgWriter) beginDrawing(name, class string, width, height int, title, about string) {
	d.writeEscaped(`<svg xmlns="http://www.w3.org/2000/svg" class="nx %s" width="%d" height="%d" viewBox="0 0 %d %d" role="group"`,
		class, width, height, width, height)
	d.writeEscaped(` aria-labelledby="%s-title %s-about" font-family="system-ui, sans-serif" font-size="12">`+"\n", name, name)
	d.writeEscaped(`<title id="%s-title">%s</title>`+"\n"+`<desc id="%s-about">%s</desc>`+"\n", name, title, name, about)
}

func (d *svgWriter) endDrawing() string {
	d.WriteString("</svg>\n")
	return d.String()
}

// drawNote draws a small explanatory text.
func (d *svgWriter) drawNote(x, y int, text string) {
	d.writeEscaped(`<text class="note" x="%d" y="%d" font-size="11">%s</text>`+"\n", x, y, text)
}

// truncateText cuts a text to one line of so many columns.
func truncateText(text string, columns int) string {
	return ansi.Truncate(cleanText(text), columns, "\u2026")
}

// cleanText removes cursor movements and direction changes from a text, and limits its length.
func cleanText(text string) string {
	return ansi.Truncate(view.EscapeForTerminal(text[:min(len(text), 4*longest)]), longest, "\u2026")
}

// longest limits a full text, in columns.
const longest = 300

// drawLinked draws a task, as a link if it has an address.
func (d *svgWriter) drawLinked(o Options, id nexus.TaskID, draw func()) {
	to := ""
	if o.Link != nil && id != "" {
		to = o.Link(id)
	}
	if to == "" {
		draw()
		return
	}
	d.writeEscaped(`<a href="%s">`, cleanText(to))
	draw()
	d.WriteString("</a>")
}
