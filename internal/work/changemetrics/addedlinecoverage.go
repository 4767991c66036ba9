package changemetrics

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ChangeAddedLine is a line that a change adds.
type ChangeAddedLine struct {
	Number int
	Text   string
}

// MeasureAddedLines returns how many of the executable lines that a change adds to a file were run,
// and the rows of new lines that were not: each row has no line that was run.
func MeasureAddedLines(file string, lines []ChangeAddedLine, hits map[int]int) (share nexus.CoverageShare, missed []nexus.UncoveredLines) {
	var row *nexus.UncoveredLines
	last := 0
	for _, l := range lines {
		n, told := hits[l.Number]
		if row != nil && l.Number != last+1 {
			row = nil
		}
		last = l.Number
		if !told || !isRunnable(l.Text) {
			continue
		}
		share.Total++
		if n > 0 {
			share.Covered++
			row = nil
			continue
		}
		if row == nil {
			missed = append(missed, nexus.UncoveredLines{File: file, From: l.Number, Text: shortLine(l.Text)})
			row = &missed[len(missed)-1]
		}
		row.To = l.Number
		row.Lines++
	}
	return share, missed
}

// UncoveredLines returns the numbers of the executable lines of a file that were not run.
func UncoveredLines(lines []string, hits map[int]int) (all []int) {
	for i, text := range lines {
		if n, told := hits[i+1]; told && n == 0 && isRunnable(text) {
			all = append(all, i+1)
		}
	}
	return all
}

// ConsecutiveLines splits line numbers into consecutive rows.
func ConsecutiveLines(lines []int) (all [][]int) {
	for i, n := range lines {
		if i == 0 || n != lines[i-1]+1 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], n)
	}
	return all
}

// Limits of a text that identifies a line.
const (
	shortText = 6
	longText  = 40
)

// UniqueLineText returns the beginning of a line of a row that no other line of the file has; of
// several, the one with the deepest indentation: the code around it runs before it. It is ""
// if there is none.
func UniqueLineText(lines []string, row []int) string {
	best, deepest := "", -1
	for _, n := range row {
		text := strings.TrimSpace(lines[n-1])
		indent := strings.Index(lines[n-1], text)
		if r := []rune(text); len(r) > longText {
			text = strings.TrimSpace(string(r[:longText]))
		}
		if len(text) < shortText || strings.ContainsFunc(text, unicode.IsControl) || indent <= deepest {
			continue
		}
		times := 0
		for _, line := range lines {
			times += min(strings.Count(line, text), 1)
		}
		if times == 1 {
			best, deepest = text, indent
		}
	}
	return best
}

// sortLongestFirst puts the longest rows first.
func sortLongestFirst(rows []nexus.UncoveredLines) {
	slices.SortStableFunc(rows, func(a, b nexus.UncoveredLines) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), strings.Compare(a.File, b.File), cmp.Compare(a.From, b.From))
	})
}

// isRunnable reports whether a line has more than spaces, a comment, and closing brackets.
func isRunnable(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"//", "#", "/*", "* ", "*/"} {
		if strings.HasPrefix(text, mark) {
			return false
		}
	}
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '"' || r == '\''
	}) &&
		!slices.Contains([]string{"} else {", "else:", "else", "end", "try:", "finally:", "try {", "} finally {", "default:"}, text)
}

// shortLine shortens a line for people.
func shortLine(text string) string {
	const longest = 60
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return text
}
