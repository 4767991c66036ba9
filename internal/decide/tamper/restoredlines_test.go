package tamper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
)

// undone returns what is said of removals that were undone.
func undone(files ...tamper.MergedFileVersions) []string {
	var all []string
	for _, f := range tamper.CheckMerge(files) {
		if f.Code == tamper.Undone {
			all = append(all, fmt.Sprintf("%s:%d: %s", f.File, f.Line, strings.ReplaceAll(f.Message, "\n", " ")))
		}
	}
	return all
}

// TestUndone holds what counts as a removal that a merge took back.
func TestUndone(t *testing.T) {
	for name, c := range map[string]struct {
		base, landed, change, result string
		want                         []string
	}{
		"entries of a list": {
			"[\n  \"red\",\n  \"green\",\n  \"blue\"\n]\n", "[\n  \"blue\"\n]\n", "[\n  \"red\",\n  \"green\",\n  \"blue\",\n  \"pink\"\n]\n",
			"[\n  \"red\",\n  \"green\",\n  \"blue\",\n  \"pink\"\n]\n",
			[]string{`a.js:2: 2 lines are there again, which the landed work removed: "red", "green",`},
		},
		"they stay out": {
			"[\n  \"red\",\n  \"green\",\n  \"blue\"\n]\n", "[\n  \"blue\"\n]\n", "[\n  \"red\",\n  \"green\",\n  \"blue\",\n  \"pink\"\n]\n",
			"[\n  \"blue\",\n  \"pink\"\n]\n", nil,
		},
		"moved and indented": {
			"a = 1\nb = 2\nc = 3\n", "a = 1\nc = 3\n", "if x:\n  a = 1\n  b = 2\n  c = 3\n", "if x:\n  a = 1\n  c = 3\n  b = 2\n",
			[]string{"a.js:4: 1 line is there again, which the landed work removed: b = 2"},
		},
		"a side moved it":              {"a = 1\nb = 2\nc = 3\n", "b = 2\nc = 3\na = 1\n", "a = 1\nb = 2\nc = 3\nd = 4\n", "b = 2\nc = 3\na = 1\nd = 4\n", nil},
		"one moved, the other removed": {"a = 1\nb = 2\nc = 3\n", "b = 2\nc = 3\na = 1\n", "b = 2\nc = 3\nd = 4\n", "b = 2\nc = 3\na = 1\nd = 4\n", nil},
		"of the change":                {"a = 1\nb = 2\n", "a = 1\nb = 2\nc = 3\n", "b = 2\nd = 4\n", "a = 1\nb = 2\nc = 3\nd = 4\n", []string{"a.js:1: 1 line is there again, which the change removed: a = 1"}},
		"broken into lines, and kept whole": {
			"f(one, two)\nx = 1\n", "f(\n  one,\n  two\n)\nx = 1\n", "f(one, two)\nx = 2\n", "f(one, two)\nx = 2\n", nil,
		},
		"a return of somebody else": {
			"func a() {\n\tgo()\n\treturn nil\n}\nx = 1\n", "x = 1\n", "func a() {\n\tgo()\n\treturn nil\n}\nx = 2\n", "x = 2\nif done {\n\treturn nil\n}\n", nil,
		},
		"a return in its place": {
			"start()\nreturn nil\nrest()\n", "start()\nrest()\n", "start()\nreturn nil\nrest()\nmore()\n", "start()\nreturn nil\nrest()\nmore()\n",
			[]string{"a.js:2: 1 line is there again, which the landed work removed: return nil"},
		},
		"words of a line": {
			`colors = ["red", "green", "blue", "gold"]` + "\n", `colors = ["red", "blue"]` + "\n", `colors = ["red", "green", "blue", "gold", "pink"]` + "\n",
			`colors = ["red", "green", "blue", "gold", "pink"]` + "\n",
			[]string{`a.js:1: in the line colors = ["red", "green", "blue", "gold", "pink"] there is again what one side took out of it: gold, green`},
		},
		"words stay out": {
			`colors = ["red", "green", "blue", "gold"]` + "\n", `colors = ["red", "blue"]` + "\n", `colors = ["red", "green", "blue", "gold", "pink"]` + "\n",
			`colors = ["red", "blue", "pink"]` + "\n", nil,
		},
	} {
		got := undone(tamper.MergedFileVersions{Path: "a.js", Base: &c.base, Landed: &c.landed, Change: &c.change, Result: &c.result})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestUndoneFile: a file that one side deleted and the other left alone is not put back, and
// what moved to another file is there once.
func TestUndoneFile(t *testing.T) {
	text, moved, more := "a = 1\nb = 2\n", "a = 1\nb = 2\nc = 3\n", "a = 1\n"
	if got := undone(tamper.MergedFileVersions{Path: "a.js", Base: &text, Change: &text, Result: &text}); !slices.Equal(got, []string{"a.js:0: the file is there again, which the landed work deleted"}) {
		t.Errorf("%q", got)
	}
	if got := undone(tamper.MergedFileVersions{Path: "a.js", Base: &text, Change: &more, Result: &more}); len(got) > 0 {
		t.Errorf("a decision: %q", got)
	}
	files := []tamper.MergedFileVersions{
		{Path: "a.js", Base: &text, Landed: &more, Change: &text, Result: &text},
		{Path: "b.js", Base: &more, Landed: &moved, Change: &more, Result: &more},
	}
	if got := undone(files...); len(got) > 0 {
		t.Errorf("it is in the one file in place of the other: %q", got)
	}
}

// side is what one side of a generated merge does to a line of the base.
type side struct {
	removed []bool
	before  [][]string // lines that it adds before each line, and at the end
}

func drawSide(t *rapid.T, name string, n int) side {
	s := side{removed: make([]bool, n), before: make([][]string, n+1)}
	for i := range n + 1 {
		if i < n {
			s.removed[i] = rapid.IntRange(0, 3).Draw(t, name+" removes") == 0
		}
		for j := range rapid.IntRange(0, 1).Draw(t, name+" adds") {
			s.before[i] = append(s.before[i], fmt.Sprintf("%s(new%d, %d)", name, i, j))
		}
	}
	return s
}

// TestUndoneOfAnyMerge generates merges whose lines are all different, so that a merge line by
// line is an oracle: its result has nothing again that was removed, and lines that are put
// back into it, wherever and however indented, are all that is found.
func TestUndoneOfAnyMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "lines")
		base := make([]string, n)
		for i := range base {
			base[i] = fmt.Sprintf("old%d = value%d", i, i)
		}
		landed, change := drawSide(t, "landed", n), drawSide(t, "change", n)
		of := func(sides ...side) []string {
			var all []string
			for i := range n + 1 {
				gone := false
				for _, s := range sides {
					all = append(all, s.before[i]...)
					gone = gone || i < n && s.removed[i]
				}
				if i < n && !gone {
					all = append(all, base[i])
				}
			}
			return all
		}
		result := of(landed, change)
		var want []string
		for i := range base {
			if (landed.removed[i] || change.removed[i]) && rapid.Bool().Draw(t, "is put back") {
				want = append(want, base[i])
				at := rapid.IntRange(0, len(result)).Draw(t, "at")
				result = slices.Insert(result, at, strings.Repeat(" ", rapid.IntRange(0, 4).Draw(t, "indent"))+base[i])
			}
		}
		text := func(lines []string) *string { s := strings.Join(append(lines, ""), "\n"); return &s }
		f := tamper.MergedFileVersions{Path: "a.txt", Base: text(slices.Clone(base)), Landed: text(of(landed)), Change: text(of(change)), Result: text(result)}
		var got []string
		for _, found := range tamper.CheckMerge([]tamper.MergedFileVersions{f}) {
			if found.Code != tamper.Undone {
				t.Fatalf("%s: %s", found.Name, found.Message)
			}
			_, lines, _ := strings.Cut(found.Message, "\n")
			got = append(got, strings.Split(lines, "\n")...)
		}
		got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "and ") })
		slices.Sort(got)
		slices.Sort(want)
		if len(want) <= 8 && !slices.Equal(got, want) || len(want) > 8 && len(got) < 8 {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// TestUndoneIsNeverGits: whatever git merged alone passes, also where lines repeat and it aligns
// them in another way than we do.
func TestUndoneIsNeverGits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) *string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a = 1", "b = 2", "return nil", "}", ""}), 0, 9).Draw(t, name)
			s := strings.Join(append(lines, ""), "\n")
			return &s
		}
		f := tamper.MergedFileVersions{Path: "a.txt", Base: text("base"), Landed: text("landed"), Change: text("change"), Result: text("result")}
		f.Made = f.Result
		if got := undone(f); len(got) > 0 {
			t.Fatalf("%q", got)
		}
	})
}
