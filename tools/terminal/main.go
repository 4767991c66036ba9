// Command terminal draws the content of a terminal, in the format of tmux capture-pane -e -p,
// as an SVG on standard output: terminal COLUMNS TITLE <CAPTURE.
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"
)

// Size of a cell, and of the margins.
const (
	cell, line = 8.4, 19
	margin     = 14
	bar        = 30
)

// colors are the first sixteen, on a dark background.
var colors = []string{
	"#3b434c", "#ff8a4c", "#2cc79a", "#e69f00", "#7cc6f2", "#e29ac4", "#56c7d6", "#d7dce2",
	"#7d8894", "#ffa877", "#6fdcb9", "#f2c45c", "#a4d8f7", "#eebbd8", "#8fdde8", "#ffffff",
}

const ground, ink = "#14171b", "#d7dce2"

// pen is the style of letters.
type pen struct {
	fore, back                        string
	bold, dim, italic, under, reverse bool
}

func main() {
	if err := draw(os.Args, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		os.Exit(1)
	}
}

func draw(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: terminal COLUMNS TITLE <CAPTURE")
	}
	columns, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var body strings.Builder
	rows := 0
	p := pen{}
	for s := bufio.NewScanner(in); ; rows++ {
		if !s.Scan() {
			if err := s.Err(); err != nil {
				return err
			}
			break
		}
		p = row(&body, p, s.Text(), rows)
	}
	width, height := int(cell*float64(columns))+2*margin, rows*line+bar+margin
	title := html.EscapeString(args[2])
	_, err = fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">
<title>%s</title>
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
<g fill="%s"><circle cx="18" cy="15" r="5"/><circle cx="36" cy="15" r="5"/><circle cx="54" cy="15" r="5"/></g>
%s</svg>
`, width, height, width, height, title, title, ground, colors[0], body.String())
	return err
}

// row draws a line of the screen, and returns the pen at its end.
func row(b *strings.Builder, p pen, text string, n int) pen {
	column := 0
	for text != "" {
		at := strings.Index(text, "\x1b[")
		if at < 0 {
			at = len(text)
		}
		write(b, p, text[:at], column, n)
		column += len([]rune(text[:at]))
		if text = text[at:]; text == "" {
			break
		}
		end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			break
		}
		if text[2+end] == 'm' {
			p = p.set(text[2 : 2+end])
		}
		text = text[2+end+1:]
	}
	return p
}

// write draws letters of one style.
func write(b *strings.Builder, p pen, text string, column, row int) {
	fore, back := p.fore, p.back
	if fore == "" {
		fore = ink
	}
	if p.reverse {
		if back == "" {
			back = ground
		}
		fore, back = back, fore
	}
	length := float64(len([]rune(text))) * cell
	x, y := margin+float64(column)*cell, bar+row*line
	if back != "" && text != "" {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y, length, line, back)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	text = strings.ReplaceAll(text, " ", "\u00a0") // SVG renderers collapse or drop other spaces
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"%s\"", x, y+14, length, fore)
	for _, a := range []struct {
		is   bool
		text string
	}{{p.bold, ` font-weight="700"`}, {p.dim, ` opacity=".65"`}, {p.italic, ` font-style="italic"`}, {p.under, ` text-decoration="underline"`}} {
		if a.is {
			b.WriteString(a.text)
		}
	}
	b.WriteString(">" + html.EscapeString(text) + "</text>\n")
}

// set changes the pen by an escape sequence.
func (p pen) set(sequence string) pen {
	all := strings.Split(sequence, ";")
	for i := 0; i < len(all); i++ {
		n, _ := strconv.Atoi(all[i]) // an empty text is 0
		switch {
		case n == 0:
			p = pen{}
		case n == 1:
			p.bold = true
		case n == 2:
			p.dim = true
		case n == 3:
			p.italic = true
		case n == 4:
			p.under = true
		case n == 7:
			p.reverse = true
		case n == 22:
			p.bold, p.dim = false, false
		case n == 23:
			p.italic = false
		case n == 24:
			p.under = false
		case n == 27:
			p.reverse = false
		case n >= 30 && n <= 37:
			p.fore = colors[n-30]
		case n >= 90 && n <= 97:
			p.fore = colors[n-90+8]
		case n >= 40 && n <= 47:
			p.back = colors[n-40]
		case n >= 100 && n <= 107:
			p.back = colors[n-100+8]
		case n == 39:
			p.fore = ""
		case n == 49:
			p.back = ""
		case (n == 38 || n == 48) && i+2 < len(all) && all[i+1] == "5":
			c, _ := strconv.Atoi(all[i+2])
			if n == 38 {
				p.fore = cube(c)
			} else {
				p.back = cube(c)
			}
			i += 2
		}
	}
	return p
}

// cube returns a colour of the 256-colour cube.
func cube(n int) string {
	switch {
	case n < 16:
		return colors[max(n, 0)]
	case n >= 232:
		v := 8 + (min(n, 255)-232)*10
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
