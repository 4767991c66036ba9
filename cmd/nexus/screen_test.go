package main

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hinshun/vt10x"
)

// screen is what a terminal shows. A program may draw a word in pieces, or only
// the letters of it that differ from what was there, so what stands on the screen
// is known only to whoever draws as a terminal does. It is safe for concurrent use.
type screen struct {
	mu     sync.Mutex // guards what follows
	parser *ansi.Parser
	drawn  vt10x.Terminal
	last   rune // that was printed, for the sequence that repeats it
}

func newScreen(columns, rows int) *screen {
	s := &screen{parser: ansi.NewParser(), drawn: vt10x.New(vt10x.WithSize(columns, rows))}
	s.parser.SetHandler(ansi.Handler{
		Print:     s.print,
		Execute:   func(b byte) { s.draw(string(rune(b))) },
		HandleCsi: s.control,
		HandleEsc: func(c ansi.Cmd) {
			if c.Prefix() == 0 && c.Intermediate() == 0 {
				s.draw("\x1b" + string(rune(c.Final())))
			}
		},
	})
	return s
}

// write draws what a program sends, which may end within a letter or a sequence.
func (s *screen) write(sent []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range sent {
		s.parser.Advance(b)
	}
}

// resize gives it so many columns and lines. What stands on it is drawn again by
// whoever draws on it, and counts no more.
func (s *screen) resize(columns, lines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn.Resize(columns, lines)
	s.draw("\x1b[2J\x1b[H")
}

// String returns the lines on the screen.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn.String()
}

func (s *screen) print(r rune) {
	s.last = r
	s.draw(string(r))
}

// control draws a control sequence. Those that ask the terminal something, or set
// how keys are sent, draw nothing, and the terminal behind this would take them for
// others that do.
func (s *screen) control(c ansi.Cmd, params ansi.Params) {
	if c.Intermediate() != 0 || c.Prefix() != 0 && c.Prefix() != '?' || c.Prefix() == '?' && c.Final() != 'h' && c.Final() != 'l' {
		return
	}
	var text []string
	params.ForEach(0, func(_, n int, _ bool) { text = append(text, strconv.Itoa(n)) })
	if c.Final() == 'b' {
		n, _, _ := params.Param(0, 1)
		s.draw(strings.Repeat(string(s.last), n))
		return
	}
	prefix := ""
	if c.Prefix() != 0 {
		prefix = string(rune(c.Prefix()))
	}
	s.draw("\x1b[" + prefix + strings.Join(text, ";") + string(rune(c.Final())))
}

func (s *screen) draw(text string) {
	_, _ = s.drawn.Write([]byte(text)) // it is memory
}

// TestScreen draws texts in pieces, over one another and with sequences that draw
// nothing.
func TestScreen(t *testing.T) {
	for _, c := range []struct{ sent, want string }{
		{"one\r\ntwo", "one\ntwo"},
		{"not sent: must\x1b[4Dshould", "not sent: should"},
		{"\x1b[2;3Hx\x1b[1;1Hy", "y\n  x"},
		{"-\x1b[4b>", "----->"},
		{"ab\x1b[?2026$p\x1b[>4;2m\x1b[>1u\x1b[?uc", "abc"},
		{"a\x1b]2;a title\x07b\x1b[1;31mc\x1b[m", "abc"},
		{"a\u2502b\u25cf", "a\u2502b\u25cf"},
		{"gone\x1b[2J\x1b[Hhere", "here"},
		{"\x1b[?1049h\x1b[Hscreen\x1b[?1049lback", "back"},
		{"long\x1b[1G\x1b[2X", "  ng"},
	} {
		s := newScreen(40, 5)
		for i := range len(c.sent) {
			s.write([]byte(c.sent[i : i+1]))
		}
		var got []string
		for line := range strings.Lines(s.String()) {
			got = append(got, strings.TrimRight(line, " \n\x00"))
		}
		if is := strings.TrimRight(strings.Join(got, "\n"), "\n"); is != c.want {
			t.Errorf("%q shows %q, want %q", c.sent, is, c.want)
		}
	}
}
