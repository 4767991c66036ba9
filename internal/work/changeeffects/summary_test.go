package changeeffects

import (
	"slices"
	"strings"
	"testing"
)

// TestMarks holds what counts as the same line: what it says, where it stands among lines
// that say the same, and for which reason.
func TestMarks(t *testing.T) {
	a := strings.Split("alpha one\n\tbeta two\n}\nbeta  two\n", "\n")
	got := lineMarks("lint", "f", a)
	if got[0] == "" || got[2] != "" || got[1] == got[3] || got[4] != "" {
		t.Error(got)
	}
	moved := lineMarks("lint", "f", append([]string{"something else", ""}, a...))
	if moved[2] != got[0] || moved[3] != got[1] {
		t.Error("a line that moved is another", moved)
	}
	if lineMarks("todo", "f", a)[0] == got[0] || lineMarks("lint", "g", a)[0] == got[0] {
		t.Error("the reason, or the file, makes no difference")
	}
}

// TestDiffering holds that a change back touches the lines that the change touched.
func TestDiffering(t *testing.T) {
	before, after := []string{"func a()", "tabs", "same", "moves"}, []string{"moves", "func a()", "spaces", "same"}
	there, back := differingLineMarks("r", "f", before, after), differingLineMarks("r", "f", after, before)
	slices.Sort(there)
	slices.Sort(back)
	if len(there) != 2 || !slices.Equal(there, back) {
		t.Error(there, back)
	}
}
