package files

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of the text that is compared and shown.
const (
	maxHave      = 20_000 // most lines of a file that are compared
	maxWant      = 200
	maxShown     = 20
	maxNearWidth = 400 // most bytes of a line that is shown
)

// explainMissingText returns why an edit's old text may not be in the file, with the most similar
// text.
func explainMissingText(text string, ed TextReplacement) string {
	if strings.TrimSpace(ed.New) != "" && strings.Contains(text, ed.New) {
		return "old is not in the file, and new already is: the edit may have been made before"
	}
	have, want := strings.Split(text, "\n"), strings.Split(strings.Trim(ed.Old, "\r\n"), "\n")
	at, equal := nearestLines(have, want)
	if at < 0 {
		return "old is not in the file, nor anything like it; read the file again"
	}
	end := min(at+len(want), len(have), at+maxShown)
	shown := quoteLines(have[at:end])
	if equal == len(want) {
		return fmt.Sprintf("old is not in the file exactly; lines %d-%d differ from it in white space only%s. They are:\n%s",
			at+1, end, whitespaceDifference(have[at:], want, at), shown)
	}
	return fmt.Sprintf("old is not in the file. The nearest lines are %d-%d%s:\n%s", at+1, end, describeFirstDifference(have[at:], want, at), shown)
}

func quoteLines(lines []string) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if len(l) > maxNearWidth {
			l = strings.ToValidUTF8(l[:maxNearWidth], "") + "[line cut]"
		}
		out[i] = l
	}
	return strings.Join(out, "\n")
}

// whitespaceDifference returns the first line whose white space differs from that of old.
func whitespaceDifference(have, want []string, at int) string {
	for i, w := range want {
		h := have[i]
		if h == w {
			continue
		}
		switch {
		case strings.TrimRight(h, "\r") == strings.TrimRight(w, "\r"):
			return fmt.Sprintf(" (line %d: %s)", at+i+1, carriageReturnDifference(h, w))
		case strings.TrimRight(h, " \t\r") == strings.TrimRight(w, " \t\r"):
			return fmt.Sprintf(" (line %d ends with %s there, with %s in old)", at+i+1, describeWhitespace(h[len(strings.TrimRight(h, " \t\r")):]), describeWhitespace(w[len(strings.TrimRight(w, " \t\r")):]))
		case leadingSpace(h) != leadingSpace(w):
			return fmt.Sprintf(" (line %d begins with %s there, with %s in old)", at+i+1, describeWhitespace(leadingSpace(h)), describeWhitespace(leadingSpace(w)))
		default:
			return fmt.Sprintf(" (within line %d)", at+i+1)
		}
	}
	return " (at the very beginning or end)"
}

func carriageReturnDifference(have, want string) string {
	if strings.HasSuffix(have, "\r") && !strings.HasSuffix(want, "\r") {
		return "it ends with CRLF there, with LF in old; the file mixes both"
	}
	return "it ends with LF there, with CRLF in old"
}

func leadingSpace(l string) string { return l[:len(l)-len(strings.TrimLeft(l, " \t"))] }

// describeWhitespace describes white space in words.
func describeWhitespace(s string) string {
	tabs, spaces, returns := strings.Count(s, "\t"), strings.Count(s, " "), strings.Count(s, "\r")
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{tabs, "tab"}, {spaces, "space"}, {returns, "CR"}} {
		if c.n == 1 {
			parts = append(parts, "1 "+c.what)
		} else if c.n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", c.n, c.what))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, " and ")
}

// describeFirstDifference returns the first line that differs from that of old.
func describeFirstDifference(have, want []string, at int) string {
	for i := 0; i < len(want) && i < len(have); i++ {
		if have[i] != want[i] {
			if i == 0 {
				return ""
			}
			return fmt.Sprintf(", the first that differs is %d", at+i+1)
		}
	}
	return ""
}

// nearestLines returns the position at which have is most similar to want, and how many lines
// are equal there except for white space; -1 if nothing is similar.
func nearestLines(have, want []string) (at, equal int) {
	if len(have) > maxHave || len(want) > maxWant {
		return -1, 0
	}
	squeeze := func(lines []string) []string {
		out := make([]string, len(lines))
		for i, l := range lines {
			out[i] = strings.Join(strings.Fields(l), " ")
		}
		return out
	}
	h, w := squeeze(have), squeeze(want)
	words := make([][]string, len(w))
	for i := range w {
		words[i] = splitEnds(w[i])
	}
	alike := newSimilarityCounter(h)
	at, best := -1, 0
	for i := range h {
		score, same := 0, 0
		for j := 0; j < len(w) && i+j < len(h); j++ {
			if h[i+j] == w[j] {
				same++
				score += 2 + 2*min(len(w[j]), 10)
			} else {
				score += alike(i+j, words[j])
			}
		}
		if score > best && (score > 2 || len(w) < 3) {
			at, best, equal = i, score, same
		}
	}
	return at, equal
}

func splitEnds(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" (){}[].,:;=\"'", r) })
}

// newSimilarityCounter returns a function that counts the words that a line shares with others: 0 if they
// are fewer than two thirds of those.
func newSimilarityCounter(lines []string) func(line int, want []string) int {
	words := make([][]string, len(lines)) // split on first use
	return func(line int, want []string) int {
		if words[line] == nil {
			words[line] = append([]string{""}, splitEnds(lines[line])...)
		}
		shared := 0
		for i, w := range want {
			if slices.Contains(words[line][1:], w) {
				shared++
			}
			if (shared+len(want)-i-1)*3 < len(want)*2 {
				return 0
			}
		}
		return shared
	}
}
