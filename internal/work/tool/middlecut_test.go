package tool

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMiddle(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		switch i {
		case 999, 1199:
			fmt.Fprintf(&b, "line %d: FAIL it\n", i+1)
		default:
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
	}
	got := cutMiddle(b.String(), 200, "all of it: read @x")
	want := "[lines 14-1991 of 2000 left out, 18726 bytes; 2 of them look like errors, the first:\n1000: line 1000: FAIL it\n1200: line 1200: FAIL it\nall of it: read @x, offset 14 continues]\n"
	if !strings.HasPrefix(got, "line 1\nline 2\n") || !strings.HasSuffix(got, "line 1999\nline 2000\n") || !strings.Contains(got, want) {
		t.Errorf("got:\n%s", got)
	}
	if got := cutMiddle("short", 200, ""); got != "short" {
		t.Error(got)
	}
}

func FuzzMiddle(f *testing.F) {
	f.Add("a\nb\n", 2)
	f.Add(strings.Repeat("\u00e4", 50), 9)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 2 || !utf8.ValidString(text) {
			return
		}
		got := cutMiddle(text, most, "more")
		if len(text) <= most && got != text || !utf8.ValidString(got) || len(got) > max(most, 0)+maxQuoted*(maxQuotedWidth+30)+200 {
			t.Errorf("%d bytes of %d: %q", len(got), len(text), got)
		}
	})
}
