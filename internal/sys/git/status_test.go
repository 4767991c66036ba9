package git

import (
	"slices"
	"strings"
	"testing"
)

// FuzzParseStatus takes from what git says of a checkout only paths that it named.
func FuzzParseStatus(f *testing.F) {
	f.Add("1 .M N... 100644 100644 100644 0a 0b a b\x001 A. N... 0 1 2 3 4 new\x00u UU N... 1 2 3 4 5 6 7 both\x00? d/\x00")
	f.Add("1 .M\x00# branch\x002 R. N... 1 2 3 4 5 R100 to\x00from\x00")
	f.Fuzz(func(t *testing.T, out string) {
		c := parseStatus(out)
		for _, name := range slices.Concat(c.Changed, c.Staged, c.New) {
			if name == "" || strings.Contains(name, "\x00") || !strings.Contains("\x00"+out+"\x00", " "+name+"\x00") {
				t.Errorf("%q in %q", name, out)
			}
		}
	})
}

func TestParseStatus(t *testing.T) {
	c := parseStatus("1 .M N... 100644 100644 100644 0a 0b a b\x001 MD N... 0 1 2 3 4 both\x00u UU N... 1 2 3 4 5 6 7 merged\x00? d/\x00")
	if strings.Join(c.Changed, "|") != "a b|both|merged" || strings.Join(c.Staged, "|") != "both" || strings.Join(c.New, "|") != "d/" {
		t.Errorf("%+v", c)
	}
}
