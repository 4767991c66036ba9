package tui

import (
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestShown holds that nothing but ASCII is sent where the locale has nothing else, and
// that columns stay where they are.
func TestShown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"as it is", "as it is"},
		{"f\u00fcr \u201calle\u201d \u2014 \u2026", `f?r "alle" - ~`},
		{"fu\u0308r", "fur"},
		{"\x1b[1m\u4e2d\u6587\x1b[m|", "\x1b[1m????\x1b[m|"},
		{"\U0001f468\u200d\U0001f469\u200d\U0001f467|", "??|"},
		{"\xff\xc3|", "??|"},
	} {
		got := ASCIIText(view.OutputStyle{ASCII: true}, c.text)
		if got != c.want || ansi.StringWidth(got) != ansi.StringWidth(c.text) && c.text[0] != 0xff {
			t.Errorf("%q is shown as %q, %d wide, and not as %q, %d wide", c.text, got, ansi.StringWidth(got), c.want, ansi.StringWidth(c.text))
		}
		if plain := ASCIIText(view.OutputStyle{}, c.text); plain != c.text {
			t.Errorf("%q is shown as %q in UTF-8", c.text, plain)
		}
	}
}
