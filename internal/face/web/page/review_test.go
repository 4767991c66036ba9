package page

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// changed is a file whose second line is another one, whose fourth changed its white space,
// and that has one line more.
func changed() diffreview.DiffFile {
	return diffreview.ParseDiff("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,4 +1,5 @@\n package a\n-var x = 1\n+var x = 2\n \n-func f() {}\n+func f()  {}\n+func g() {}\n" +
		"@@ -20,2 +21,2 @@ func z\n-\tz()\n+  z()\n // end\n")[0]
}

func said(side nexus.DiffSide, start, end, line int) ReviewPageComment {
	n := ReviewPageComment{ShownComment: changereview.ShownComment{ReviewComment: nexus.ReviewComment{File: "a.go", Side: side, Start: start, End: end, ID: "c"}, Line: line}}
	return n
}

// sketch is a table of rows in few words.
func sketch(rows []ReviewRow) []string {
	var all []string
	text := func(s *ReviewLine) string {
		var b strings.Builder
		b.WriteString(s.Kind)
		for _, x := range s.Spans {
			b.WriteString(x.Text)
		}
		return b.String() + " @" + s.At
	}
	for _, r := range rows {
		line := r.Head
		if r.A != nil {
			line = text(r.A)
		}
		if r.B != nil {
			line += " | " + text(r.B)
		}
		all = append(all, line+strings.Repeat(" <c>", len(r.Below)))
	}
	return all
}

// TestRows puts a change into one column and into two, with and without white space, and
// comments below their lines.
func TestRows(t *testing.T) {
	notes := []ReviewPageComment{said(nexus.NewSide, 1, 2, 1), said(nexus.OldSide, 2, 2, 2), said(nexus.NewSide, 9, 9, 0), said("", 0, 0, 0)}
	rows, above := layOutReviewRows(changed(), notes, false, false, true)
	want := []string{
		"@@ -1,4 +1,5 @@", " package a @a.go:1", "-var x = 1 @a.go:B2 <c>", "+var x = 2 @a.go:2 <c>", "  @a.go:3", "-func f() {} @a.go:B4", "+func f()  {} @a.go:4",
		"+func g() {} @a.go:5", "@@ -20,2 +21,2 @@ func z", "-\tz() @a.go:B20", "+  z() @a.go:21", " // end @a.go:22",
	}
	if d := cmp.Diff(want, sketch(rows)); d != "" || len(above) != 2 {
		t.Errorf("%d above\n%s", len(above), d)
	}
	rows, _ = layOutReviewRows(changed(), notes, true, false, true)
	want = []string{
		"@@ -1,4 +1,5 @@", " package a @a.go:1 |  package a @a.go:1", "-var x = 1 @a.go:B2 | +var x = 2 @a.go:2 <c> <c>", "  @a.go:3 |   @a.go:3",
		"-func f() {} @a.go:B4 | +func f()  {} @a.go:4", " @ | +func g() {} @a.go:5", "@@ -20,2 +21,2 @@ func z", "-\tz() @a.go:B20 | +  z() @a.go:21",
		" // end @a.go:22 |  // end @a.go:22",
	}
	if d := cmp.Diff(want, sketch(rows)); d != "" {
		t.Error(d)
	}
	rows, _ = layOutReviewRows(changed(), nil, false, true, true)
	if got := strings.Join(sketch(rows), "\n"); strings.Contains(got, "z()") || !strings.Contains(got, "-var x = 1") {
		t.Errorf("without white space:\n%s", got)
	}
	rows, above = layOutReviewRows(changed(), notes[1:2], false, false, false)
	if got := strings.Join(sketch(rows), "\n"); strings.Contains(got, "a.go:B") || len(above) != 1 {
		t.Errorf("lines of another base can be commented on:\n%s", got)
	}
}

// TestPlaces reads where comments are, and finds their lines on the page.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]nexus.ReviewComment{
		"": {}, " . ": {}, "a.go": {File: "a.go"}, "a.go:3": {File: "a.go", Start: 3, End: 3, Side: nexus.NewSide},
		"a.go:B3-5": {File: "a.go", Start: 3, End: 5, Side: nexus.OldSide}, "c:/a.go:L3-L5": {File: "c:/a.go", Start: 3, End: 5, Side: nexus.NewSide},
		"a:b": {File: "a:b"}, "a.go:0": {File: "a.go:0"}, "a.go:5-3": {File: "a.go:5-3"}, ":3": {File: ":3"},
	} {
		if d := cmp.Diff(want, parseCommentPosition(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	c := CommentDraftForm{Place: "a.go:2", Kind: "must", Body: "a\r\nb ", Instead: "x\r\n", Apply: true}.toComment("c0")
	if c.Body != "a\nb" || c.Commit != "c0" || c.Replace == nil || *c.Replace != (nexus.SuggestedReplacement{Text: "x\n", Apply: true}) {
		t.Errorf("%+v", c)
	}
	for value, want := range map[string]string{"a.go": "a.go", "a,b.go": `"a,b.go"`, `a"b`: `"a""b"`} {
		if got := access.QuoteListValue(value); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
}

// TestTypedStays holds that a suggestion that was refused comes back as it was written.
func TestTypedStays(t *testing.T) {
	const text = "\n  a   b\t\t// c  \n\n"
	d := ReviewPage{Form: CommentDraftForm{Place: "a.go:1", Instead: text, Body: "<b>  x"}}
	d.Open = true
	var b strings.Builder
	if err := unsentComments(PageFrame{Person: access.TokenOwner{Role: access.Steer}}, d).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`class="mono">` + "\n" + text + "</textarea>", ">\n&lt;b&gt;  x</textarea>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in %s", want, b.String())
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, text := range []string{"", ".", "a.go:3-5", "a.go:B3", "a:b:c:1", "a.go:99999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := parseCommentPosition(text)
		if c.Start > 0 && (c.File == "" || c.End < c.Start) || c.Start < 0 {
			t.Errorf("%q is %+v", text, c)
		}
		if again := parseCommentPosition(commentAnchor(c)); c.Start > 0 && (again.File != c.File || again.Start != c.LastLine() || again.Side != c.Side) {
			t.Errorf("%q is at %s, which is %+v", text, commentAnchor(c), again)
		}
	})
}
