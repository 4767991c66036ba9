package tool

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	maxQuoted      = 6   // lines of the middle that are quoted
	maxQuotedWidth = 160 // most bytes of each
)

// cutMiddle returns a text cut to little more than most bytes. A note in the middle describes
// the omitted part: its position, its size, and its lines that look like errors. More is where
// all of it can be read, "" if nowhere.
func cutMiddle(text string, most int, more string) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	from, to := len(head), len(text)-len(tail)
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	var b strings.Builder
	b.WriteString(head)
	if !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	first := strings.Count(text[:from], "\n") + 1
	last := strings.Count(text[:to], "\n")
	if last < first {
		last = first // within one line
	}
	all := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		all++
	}
	fmt.Fprintf(&b, "[lines %d-%d of %d left out, %d bytes", first, last, all, to-from)
	b.WriteString(quoteErrorLines(text[from:to], first))
	if more != "" {
		fmt.Fprintf(&b, "\n%s, offset %d continues]\n", more, first)
	} else {
		b.WriteString("; ask for less at a time]\n")
	}
	b.WriteString(tail)
	return b.String()
}

// quoteErrorLines quotes the lines that look like errors.
func quoteErrorLines(text string, first int) string {
	wrong := regexp.MustCompile(`(?i)\b(?:error|errors|fail|fails|failed|failure|panic|fatal|exception|traceback|undefined|denied|warning|segmentation|assertion)\b|--- FAIL|^E  |\berror\[`)
	var told []string
	n, line := 0, first
	for l := range strings.Lines(text) {
		if wrong.MatchString(l) {
			if n++; len(told) < maxQuoted {
				l = strings.TrimRight(l, "\r\n")
				if len(l) > maxQuotedWidth {
					l = strings.ToValidUTF8(l[:maxQuotedWidth], "") + "..."
				}
				told = append(told, fmt.Sprintf("\n%d: %s", line, l))
			}
		}
		line++
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of them look like errors, the first:%s", n, strings.Join(told, ""))
}
