package files

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func apply(a, b []string, hunks []ReplacedLineHunk) []string {
	var out []string
	from := 0
	for _, h := range hunks {
		out = append(out, a[from:h.From]...)
		out = append(out, b[h.To:h.To+h.New]...)
		from = h.From + h.Old
	}
	return append(out, a[from:]...)
}

// TestLines turns one text into the other by its hunks, and needs no more
// steps than there are lines that are not common to both.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		a, b := rapid.SliceOf(line).Draw(t, "a"), rapid.SliceOf(line).Draw(t, "b")
		hunks := ComputeHunks(a, b)
		if got := apply(a, b, hunks); strings.Join(got, "") != strings.Join(b, "") {
			t.Fatalf("%q and %q: %+v give %q", a, b, hunks, got)
		}
		steps := 0
		for i, h := range hunks {
			steps += h.Old + h.New
			if i > 0 && h.From < hunks[i-1].From+hunks[i-1].Old {
				t.Fatalf("out of order: %+v", hunks)
			}
		}
		if want := len(a) + len(b) - 2*common(a, b); steps != want {
			t.Fatalf("%q and %q: %d steps, %d would do", a, b, steps, want)
		}
	})
}

func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		corner := 0
		for j := range b {
			old := row[j+1]
			if a[i] == b[j] {
				row[j+1] = corner + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			corner = old
		}
	}
	return row[len(b)]
}

func TestUnified(t *testing.T) {
	a := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	b := strings.Replace(strings.Replace(a, "2\n", "two\n", 1), "10\n", "", 1)
	want := "@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n 4\n@@ -8,5 +8,4 @@\n 8\n 9\n-10\n 11\n 12\n"
	if got := unifiedDiff(a, b, 1000); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := unifiedDiff(a, b, 40); got != "@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n 4\n[1 change of 2 cut]\n" {
		t.Errorf("got:\n%s", got)
	}
	if got := unifiedDiff("", "x", 1000); got != "@@ -0,0 +1,1 @@\n+x [no newline at the end]\n" {
		t.Errorf("got:\n%s", got)
	}
	long := strings.Repeat("\u00e4", 500)
	if got := unifiedDiff("", long+"\n", 100); len(got) > 130 || !strings.Contains(got, "cut]") {
		t.Errorf("got:\n%s", got)
	}
	if unifiedDiff(a, a, 100) != "" {
		t.Error("a change where there is none")
	}
}

// TestManyChanges gives up on the shortest way and stays right.
func TestManyChanges(t *testing.T) {
	var a, b []string
	for i := range 3 * diffEffort {
		a, b = append(a, "x", strings.Repeat("a", i%7)), append(b, "y", strings.Repeat("a", i%5))
	}
	if got := apply(a, b, ComputeHunks(a, b)); strings.Join(got, "\n") != strings.Join(b, "\n") {
		t.Error("not the same")
	}
}
