package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The units in which servers count characters.
const (
	utf16Unit = "utf-16"
	utf8Unit  = "utf-8"
	utf32Unit = "utf-32"
)

// runeWidth returns the number of units of a rune.
func runeWidth(unit string, r rune, size int) int {
	switch unit {
	case utf8Unit:
		return size
	case utf32Unit:
		return 1
	default: // UTF-16
		if r > 0xffff {
			return 2
		}
		return 1
	}
}

// CharOffset converts a byte offset in a line to the server's unit.
func (c *LanguageServerSession) CharOffset(line string, bytes int) int {
	n := 0
	for i, r := range line {
		if i >= bytes {
			break
		}
		n += runeWidth(c.able.Encoding, r, utf8.RuneLen(r))
	}
	return n
}

// byteColumn converts a character in the server's unit to a byte offset. Offsets after the end of the
// line become its end.
func byteColumn(unit, line string, char int) int {
	for i, r := range line {
		if char <= 0 {
			return i
		}
		char -= runeWidth(unit, r, utf8.RuneLen(r))
	}
	return len(line)
}

// TextEdit replaces a range of a text.
type TextEdit struct {
	Range Range  `json:"range"`
	New   string `json:"newText"`
}

// Limits of a server's changes.
const (
	maxChanged = 200 // files
	maxEdits   = 20_000
	maxText    = 8 << 20 // bytes of a file
)

// FileTextEdits is the change of one file.
type FileTextEdits struct {
	Name  string
	Made  bool // it is a new file
	Edits []TextEdit
	unit  string
}

// Apply returns the text with the edits applied.
func (ch FileTextEdits) Apply(text string) (string, error) {
	type span struct {
		from, to, at int
		text         string
	}
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	offset := func(p Position) (int, error) {
		switch {
		case p.Line < 0 || p.Char < 0 || p.Line > len(starts):
			return 0, errors.New("an edit of the server's lies outside of the file")
		case p.Line == len(starts):
			return len(text), nil
		}
		line := text[starts[p.Line]:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		return starts[p.Line] + byteColumn(ch.unit, line, p.Char), nil
	}
	spans := make([]span, 0, len(ch.Edits))
	for i, e := range ch.Edits {
		from, err := offset(e.Range.Start)
		if err != nil {
			return "", err
		}
		to, err := offset(e.Range.End)
		if err != nil {
			return "", err
		}
		if to < from {
			return "", errors.New("an edit of the server's ends before it begins")
		}
		spans = append(spans, span{from, to, i, e.New})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to, a.at-b.at) })
	var b strings.Builder
	last := 0
	for _, s := range spans {
		if s.from < last {
			return "", errors.New("two edits of the server's overlap")
		}
		b.WriteString(text[last:s.from])
		b.WriteString(s.text)
		if last = s.to; b.Len() > maxText {
			return "", fmt.Errorf("the file would have more than %d bytes", maxText)
		}
	}
	b.WriteString(text[last:])
	return b.String(), nil
}
