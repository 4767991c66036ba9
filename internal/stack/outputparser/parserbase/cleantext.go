package parserbase

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SplitLines splits output into lines without line ends, colours and other control characters; a
// carriage return starts its line again, as on a terminal.
func SplitLines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	var all []string
	for l := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		all = append(all, CleanLine(l))
	}
	return all
}

// longest is the length of the longest line that is not cut.
const longest = 64 << 10

// CleanLine returns one line without control characters.
func CleanLine(l []byte) string {
	l = bytes.TrimSuffix(l, []byte("\r"))
	if i := bytes.LastIndexByte(l, '\r'); i >= 0 {
		l = l[i+1:]
	}
	if len(l) > longest {
		l = l[:longest]
	}
	return PlainText(string(l))
}

// PlainText removes escape sequences, control characters except the tab, and bytes that are not
// UTF-8.
func PlainText(s string) string {
	if isPrintable(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escapeSequenceLength(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if (r == utf8.RuneError && n == 1) || (r < ' ' && r != '\t' && r != '\n') || (r >= 0x7f && r < 0xa0) {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\t' && c != '\n') || c >= 0x7f {
			return false
		}
	}
	return true
}

// escapeSequenceLength returns the length of the escape sequence at the start of s.
func escapeSequenceLength(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[': // control sequence: ends with a letter or one of @[\]^_`{|}~
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']': // title or link: ends with BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	default:
		return 2
	}
}

const maxMessage = 2000

// ClipMessage limits the length of a message.
func ClipMessage(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxMessage {
		return s
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + " ..."
}

// RelativePath returns a file name relative to the root, "" for a file outside of it.
func (in ToolOutput) RelativePath(file string) string {
	file = strings.TrimPrefix(filepath.ToSlash(strings.TrimSpace(file)), "file://")
	if begin, _, ok := strings.Cut(file, "?"); ok && !strings.Contains(begin, "://") {
		file = begin // a suffix that a loader adds to a module
	}
	absolute := path.IsAbs(file)
	if root := strings.TrimSuffix(in.Root, "/"); root != "" {
		if rest, ok := strings.CutPrefix(file, root+"/"); ok {
			file = rest
		}
	}
	if !path.IsAbs(file) && in.Dir != "" && !absolute {
		file = path.Join(in.Dir, file)
	}
	file = path.Clean(file)
	if path.IsAbs(file) || file == "." || file == ".." || strings.HasPrefix(file, "../") || strings.Contains(file, "://") {
		return ""
	}
	return file
}

// ParseNumber parses a number; it returns 0 if the text is none.
func ParseNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n
}

// AllLines returns all lines, those of standard output first.
func (in ToolOutput) AllLines() []string {
	return append(SplitLines(in.Stdout), SplitLines(in.Stderr)...)
}

// LastLines returns the end of the output, to show if a tool failed without a known message.
func (in ToolOutput) LastLines() string {
	all := slices.DeleteFunc(in.AllLines(), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(all) == 0 {
		return fmt.Sprintf("exit code %d without a message", in.Exit)
	}
	return strings.TrimSpace(strings.Join(all[max(0, len(all)-20):], "\n"))
}

// TextHeadAndTail stores the beginning and the end of a long text.
type TextHeadAndTail struct {
	head, end []byte
	lost      bool
}

const keep = 64 << 10

// Add appends text.
func (t *TextHeadAndTail) Add(s string) {
	if room := keep - len(t.head); room > 0 && len(t.end) == 0 {
		n := min(room, len(s))
		t.head = append(t.head, s[:n]...)
		s = s[n:]
	}
	t.end = append(t.end, s...)
	if len(t.end) > 2*keep {
		t.end = append(t.end[:0], t.end[len(t.end)-keep:]...)
		t.lost = true
	}
}

// KeptText returns the stored parts.
func (t *TextHeadAndTail) KeptText() []byte {
	if t.lost {
		return bytes.Join([][]byte{t.head, t.end}, []byte("\n...\n"))
	}
	return append(t.head[:len(t.head):len(t.head)], t.end...)
}

// RaisedException returns the exception that ends a Python traceback, if this was its innermost frame.
func RaisedException(rest []string) string {
	for i, l := range rest {
		switch {
		case strings.HasPrefix(strings.TrimSpace(l), "File \"") || i > 4:
			return ""
		case l != "" && l[0] != ' ' && l[0] != '\t':
			return l
		}
	}
	return ""
}
