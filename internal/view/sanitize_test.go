package view

import (
	"strings"
	"testing"
)

// TestSafe lets the colours of the style through, and nothing else that a terminal
// obeys: not what conceals a text, or paints its ground.
func TestSafe(t *testing.T) {
	s := OutputStyle{Color: true}
	for _, own := range []string{s.Bold("a"), s.Dim("a"), s.Good("a"), s.Bad("a"), s.Warn("a"), s.Busy("a"), s.Warn(s.Bold("a")), "\x1b[1;31ma\x1b[m", "\x1b[7ma\x1b[27m"} {
		if got := s.Sanitize(own); got != own {
			t.Errorf("%q becomes %q", own, got)
		}
	}
	for _, foreign := range []string{
		"\x1b[8ma", "\x1b[5ma", "\x1b[40ma", "\x1b[30ma", "\x1b[38;5;0ma", "\x1b[1;8ma", "\x1b[31;40ma", "\x1b[2Ja", "\x1b[31", "\x1b[", "\x1b", "\x1b]0;a\x07",
		"\x1b[" + strings.Repeat("1;", 30) + "8ma", "\x1b[31:8ma",
	} {
		if got := s.Sanitize(foreign); strings.ContainsRune(got, '\x1b') || got == "" {
			t.Errorf("%q stays %q", foreign, got)
		}
		if got := (OutputStyle{}).Sanitize(foreign); strings.ContainsRune(got, '\x1b') {
			t.Errorf("without colours %q stays %q", foreign, got)
		}
	}
	if own := s.Bold("a"); (OutputStyle{}).Sanitize(own) == own {
		t.Error("colours are drawn where none are wanted")
	}
}
