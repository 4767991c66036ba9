package tamper

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLost holds that any texts can be compared, always with the same answer,
// and that a side is never missing from itself.
func FuzzLost(f *testing.F) {
	f.Add("a.go", "x\n", "x\ny\n", "x\nz\n", "x\ny\nz\n")
	f.Add("a_test.py", "def test_a():\n  assert 1\n", "", "def test_b(): pass", "\x00")
	h := compilePatterns() // once: it takes longer than a comparison
	f.Fuzz(func(t *testing.T, file, base, landed, change, result string) {
		sides := MergedFileVersions{Path: file, Base: &base, Landed: &landed, Change: &change, Result: &result}
		first := h.checkMerge([]MergedFileVersions{sides})
		if diff := cmp.Diff(first, h.checkMerge([]MergedFileVersions{sides})); diff != "" {
			t.Error(diff)
		}
		sides.Change, sides.Result = &base, &landed
		for _, l := range h.checkMerge([]MergedFileVersions{sides}) {
			if l.Gate == MergeGate && strings.HasPrefix(l.Code, "merge.") {
				t.Errorf("%q lacks %s of itself", landed, l.Name)
			}
		}
	})
}
