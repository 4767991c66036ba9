package files

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ReplacedLineHunk is a range of replaced lines.
type ReplacedLineHunk struct {
	From, Old int // first line of the old text, from 0, and number of lines
	To, New   int // first line of the new text, from 0, and number of lines
}

// diffEffort limits the differing lines of two texts above which all text between the first
// and the last of them counts as one replacement.
const diffEffort = 1000

// ComputeHunks returns the hunks that turn a into b, in order.
func ComputeHunks[T comparable](a, b []T) []ReplacedLineHunk {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) == 0 && len(y) == 0 {
		return nil
	}
	hunks := []ReplacedLineHunk{{0, len(x), 0, len(y)}}
	if len(x) > 0 && len(y) > 0 {
		if found, ok := shortestEdit(x, y); ok {
			hunks = found
		}
	}
	for i := range hunks {
		hunks[i].From += head
		hunks[i].To += head
	}
	return hunks
}

// shortestEdit is Myers' algorithm, given up after diffEffort steps.
func shortestEdit[T comparable](a, b []T) ([]ReplacedLineHunk, bool) {
	most := min(len(a)+len(b), diffEffort)
	v := make([]int, 2*most+2) // furthest x on each diagonal, around most
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, slices.Clone(v[most-d:most+d+1]))
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && v[most+k-1] < v[most+k+1] {
				x = v[most+k+1]
			} else {
				x = v[most+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[most+k] = x
			if x >= len(a) && x-k >= len(b) {
				return collectHunks(trace, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// collectHunks goes back from the ends of both texts and collects the steps.
func collectHunks(trace [][]int, x, y int) []ReplacedLineHunk {
	var hunks []ReplacedLineHunk
	for d := len(trace) - 1; d > 0; d-- {
		v := trace[d] // before step d, for diagonals -d to d
		k := x - y
		down := k == -d || k != d && v[d+k-1] < v[d+k+1]
		px, py := 0, 0
		if down {
			px = v[d+k+1]
			py = px - (k + 1)
		} else {
			px = v[d+k-1]
			py = px - (k - 1)
		}
		h := ReplacedLineHunk{From: px, To: py, Old: 1}
		if down {
			h.Old, h.New = 0, 1
		}
		if n := len(hunks); n > 0 && hunks[n-1].From == h.From+h.Old && hunks[n-1].To == h.To+h.New {
			h.Old, h.New = h.Old+hunks[n-1].Old, h.New+hunks[n-1].New
			hunks[n-1] = h
		} else {
			hunks = append(hunks, h)
		}
		x, y = px, py
	}
	slices.Reverse(hunks)
	return hunks
}

// splitLines returns the lines of a text, without their ends. A last line without a newline is
// marked.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	lines[len(lines)-1] += noNewline
	return lines
}

// noNewline marks a last line without a newline.
const noNewline = " [no newline at the end]"

// contextLines is the number of context lines around a hunk.
const contextLines = 2

// unifiedDiff shows the change from a to b as hunks with a little context, in at most so many
// bytes.
func unifiedDiff(a, b string, most int) string {
	x, y := splitLines(a), splitLines(b)
	hunks := ComputeHunks(x, y)
	var out strings.Builder
	for i := 0; i < len(hunks); {
		last := i + 1
		for last < len(hunks) && hunks[last].From-hunks[last-1].From-hunks[last-1].Old <= 2*contextLines {
			last++
		}
		text := formatHunkGroup(x, y, hunks[i:last])
		if out.Len()+len(text) > most {
			if i == 0 {
				out.WriteString(cutDiff(text, most))
			}
			fmt.Fprintf(&out, "[%s of %d cut]\n", pluralCount(len(hunks)-i, "change"), len(hunks))
			break
		}
		out.WriteString(text)
		i = last
	}
	return out.String()
}

func pluralCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// cutDiff returns the whole lines within the limit, or a part of the first one.
func cutDiff(text string, most int) string {
	text = text[:min(len(text), most)]
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		return text[:i+1]
	}
	for !utf8.ValidString(text) && text != "" {
		text = text[:len(text)-1]
	}
	return text + "\n"
}

// formatHunkGroup shows hunks that are close together.
func formatHunkGroup(a, b []string, hunks []ReplacedLineHunk) string {
	first, last := hunks[0], hunks[len(hunks)-1]
	from := max(0, first.From-contextLines)
	to := min(len(a), last.From+last.Old+contextLines)
	start := first.To - (first.From - from)
	end := last.To + last.New + (to - last.From - last.Old)
	var out strings.Builder
	fmt.Fprintf(&out, "@@ -%s +%s @@\n", lineRange(from, to-from), lineRange(start, end-start))
	for _, h := range hunks {
		writeLines(&out, " ", a[from:h.From])
		writeLines(&out, "-", a[h.From:h.From+h.Old])
		writeLines(&out, "+", b[h.To:h.To+h.New])
		from = h.From + h.Old
	}
	writeLines(&out, " ", a[from:to])
	return out.String()
}

func lineRange(from, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}

func writeLines(out *strings.Builder, sign string, all []string) {
	for _, l := range all {
		out.WriteString(sign)
		out.WriteString(l)
		out.WriteByte('\n')
	}
}
