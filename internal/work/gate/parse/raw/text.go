package parse

import (
	"bytes"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// lines splits output into lines without line ends, colours and other control
// characters; a carriage return starts its line anew, as on a terminal.
func lines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	var all []string
	for l := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		all = append(all, clean(l))
	}
	return all
}

// longest is the longest line that is kept whole.
const longest = 64 << 10

func clean(l []byte) string {
	l = bytes.TrimSuffix(l, []byte("\r"))
	if i := bytes.LastIndexByte(l, '\r'); i >= 0 {
		l = l[i+1:]
	}
	if len(l) > longest {
		l = l[:longest]
	}
	return plain(string(l))
}

// plain drops escape sequences, control characters but the tab, and bytes
// that are not UTF-8.
func plain(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escape(s[i:])
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

func printable(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\t' && c != '\n') || c >= 0x7f {
			return false
		}
	}
	return true
}

// escape returns the length of the escape sequence at the start of s.
func escape(s string) int {
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

func clip(s string) string {
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

// place makes a file name relative to the root. What lies outside has none.
func (in Input) place(file string) string {
	file = filepath.ToSlash(strings.TrimSpace(file))
	if root := strings.TrimSuffix(in.Root, "/"); root != "" {
		if rest, ok := strings.CutPrefix(file, root+"/"); ok {
			file = rest
		}
	}
	file = path.Clean(file)
	if path.IsAbs(file) || file == "." || file == ".." || strings.HasPrefix(file, "../") || strings.Contains(file, "://") {
		return ""
	}
	return file
}

// positions knows how tools write where something is.
type positions struct {
	colon, paren *regexp.Regexp
}

func goPositions() positions {
	return positions{colon: regexp.MustCompile(`^(?:vet: )?([^\s:][^:]*\.(?:go|mod|work|sum|s|c|h|cc|cpp|cxx|m)):(\d+)(?::(\d+))?:? `)}
}

func anyPositions() positions {
	return positions{
		colon: regexp.MustCompile(`^\s{0,4}((?:[A-Za-z]:[\\/])?[^\s:()'"]+\.[A-Za-z][A-Za-z0-9]{0,9}):(\d+)(?::(\d+))?(?::|\s+-)?\s+`),
		paren: regexp.MustCompile(`^([^\s:()]+\.[A-Za-z][A-Za-z0-9]{0,9})\((\d+)(?:,(\d+))?\): `),
	}
}

// at returns the finding that a line begins.
func (p positions) at(in Input, line string) (nexus.Finding, bool) {
	head := line[:min(len(line), 512)] // no place is longer, and matching is slow
	m := p.colon.FindStringSubmatch(head)
	if m == nil && p.paren != nil {
		m = p.paren.FindStringSubmatch(head)
	}
	if m == nil || strings.TrimSpace(line[len(m[0]):]) == "" {
		return nexus.Finding{}, false
	}
	f := nexus.Finding{File: in.place(m[1]), Line: number(m[2]), Column: number(m[3]), Message: line[len(m[0]):]}
	if f.File == "" {
		f.Line, f.Column, f.Message = 0, 0, line
	}
	return f, true
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n
}

// tail keeps the beginning and the end of a long text.
type tail struct {
	head, end []byte
	lost      bool
}

const keep = 64 << 10

func (t *tail) add(s string) {
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

func (t *tail) text() []byte {
	if t.lost {
		return bytes.Join([][]byte{t.head, t.end}, []byte("\n...\n"))
	}
	return append(t.head[:len(t.head):len(t.head)], t.end...)
}
