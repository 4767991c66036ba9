package diffreview_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const patch = `diff --git a/a.go b/a.go
index 1111111..2222222 100644
--- a/a.go
+++ b/a.go
@@ -1,4 +1,5 @@ package a
 package a
-func Old() {}
+func New() {}
+func more() {}
 // c
 
@@ -10 +11 @@ func z
-x
+y
\ No newline at end of file
diff --git "a/odd \303\244.txt" "b/odd \303\244.txt"
new file mode 100644
--- /dev/null
+++ "b/odd \303\244.txt"
@@ -0,0 +1 @@
+--- a/trap
diff --git a/old.md b/new.md
similarity index 100%
rename from old.md
rename to new.md
diff --git a/gone_test.go b/gone_test.go
deleted file mode 100644
--- a/gone_test.go
+++ /dev/null
@@ -1 +0,0 @@
-package a
diff --git a/go.sum b/go.sum
--- a/go.sum
+++ b/go.sum
@@ -1 +1 @@
-a
+b
diff --git a/p.png b/p.png
new file mode 100644
Binary files /dev/null and b/p.png differ
`

// TestParse holds what is read of a patch.
func TestParse(t *testing.T) {
	var got []string
	files := diffreview.ParseDiff(patch)
	for _, f := range files {
		got = append(got, strings.Join([]string{f.Path, f.Old, f.Status}, "|"))
	}
	want := []string{"a.go||modified", "odd ä.txt||added", "new.md|old.md|renamed", "gone_test.go||deleted", "go.sum||modified", "p.png||added"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	a := files[0]
	if a.Added != 3 || a.Deleted != 2 || len(a.Hunks) != 2 || !files[5].Binary {
		t.Errorf("%+v", a)
	}
	if last := a.Hunks[1].Lines[1]; !last.Bare || last.New != 11 || last.Text != "y" {
		t.Errorf("%+v", last)
	}
	if files[1].Hunks[0].Lines[0].Text != "--- a/trap" {
		t.Errorf("%+v", files[1])
	}
}

// TestShift holds where lines go, and which are touched.
func TestShift(t *testing.T) {
	f := diffreview.ParseDiff(patch)[0]
	for name, c := range map[string]struct {
		start, end, to int
		ok, touched    bool
	}{
		"before":          {1, 1, 1, true, false},
		"replaced":        {2, 2, 0, false, true},
		"after":           {3, 4, 4, true, true},
		"between":         {5, 6, 6, true, false},
		"around a change": {1, 3, 0, false, true},
	} {
		to, ok := f.ShiftLines(c.start, c.end)
		if ok != c.ok || ok && to != c.to {
			t.Errorf("%s: %d %v", name, to, ok)
		}
		touched := diffreview.ChangesCommentSubject(diffreview.ParseDiff(patch), nexus.ReviewComment{File: "a.go", Start: c.start, End: c.end})
		if touched != c.touched {
			t.Errorf("%s is touched: %v", name, touched)
		}
	}
	if diffreview.ChangesCommentSubject(diffreview.ParseDiff(patch), nexus.ReviewComment{File: "other.go"}) {
		t.Error("a file that is not in the diff is touched")
	}
}

// TestOrder holds which files come first, and why.
func TestOrder(t *testing.T) {
	weigh := func(f diffreview.DiffFile, found ...nexus.Finding) diffreview.RatedFileRisk {
		return diffreview.RateFile(f, found)
	}
	removed := func(text string) []diffreview.DiffHunk {
		return []diffreview.DiffHunk{{Lines: []diffreview.DiffLine{{Kind: "-", Old: 1, Text: text}}}}
	}
	for name, c := range map[string]struct {
		file diffreview.DiffFile
		risk diffreview.FileRisk
		why  string
	}{
		"public function":   {diffreview.DiffFile{Path: "a.go", Hunks: removed("func (x T) Run() {")}, diffreview.HighRisk, "func Run"},
		"internal function": {diffreview.DiffFile{Path: "internal/a.go", Hunks: removed("func Run() {")}, diffreview.NormalRisk, ""},
		"private function":  {diffreview.DiffFile{Path: "a.go", Hunks: removed("func run() {")}, diffreview.NormalRisk, ""},
		"export":            {diffreview.DiffFile{Path: "a.ts", Hunks: removed("export const a = 1")}, diffreview.HighRisk, "export const a"},
		"migration":         {diffreview.DiffFile{Path: "db/migrations/1.go"}, diffreview.HighRisk, "migration"},
		"authentication":    {diffreview.DiffFile{Path: "pkg/auth/check.go"}, diffreview.HighRisk, "auth in its name"},
		"deleted test":      {diffreview.DiffFile{Path: "a_test.go", Status: "deleted"}, diffreview.HighRisk, "deleted"},
		"CI":                {diffreview.DiffFile{Path: ".github/workflows/ci.yml"}, diffreview.HighRisk, "runs in CI"},
		"prose":             {diffreview.DiffFile{Path: "README.md"}, diffreview.LowRisk, ""},
		"generated":         {diffreview.DiffFile{Path: "a.pb.go"}, diffreview.NoRisk, "written by a program"},
	} {
		w := weigh(c.file)
		if w.Risk != c.risk || !strings.Contains(strings.Join(w.Reasons, "; "), c.why) {
			t.Errorf("%s: %s %q", name, w.Risk, w.Reasons)
		}
	}
	weaker := weigh(diffreview.DiffFile{Path: "a_test.go"}, nexus.Finding{File: "a_test.go", Message: "fewer asserts"})
	if weaker.Risk != diffreview.HighRisk || !strings.Contains(weaker.Reasons[0], "fewer asserts") {
		t.Errorf("%+v", weaker)
	}
	lock := weigh(diffreview.DiffFile{Path: "go.sum"})
	api := weigh(diffreview.DiffFile{Path: "z.go", Hunks: removed("type T struct {")})
	if !lock.Collapsed || lock.Risk != diffreview.HighRisk || diffreview.CompareRisk(api, lock, "z.go", "go.sum") >= 0 {
		t.Errorf("a lock file is not last: %+v", lock)
	}
	if got := diffreview.RiskyFiles(patch, nil); len(got) != 3 {
		t.Errorf("risky: %q", got)
	}
}

// TestHidden holds that the author of a change cannot hide a file of it by saying that
// a program wrote it, or behind so much that the rest is left out.
func TestHidden(t *testing.T) {
	says := func(kind string) []diffreview.DiffHunk {
		head := diffreview.DiffLine{Kind: kind, New: 1, Text: "// Code generated by x. DO NOT EDIT."}
		return []diffreview.DiffHunk{{Lines: []diffreview.DiffLine{head, {Kind: "+", New: 2, Text: "run()"}}}}
	}
	public := []diffreview.DiffHunk{{Lines: []diffreview.DiffLine{{Kind: "-", Old: 1, Text: "type T struct {"}}}}
	for name, c := range map[string]struct {
		file      diffreview.DiffFile
		risk      diffreview.FileRisk
		collapsed bool
	}{
		"it was before":   {diffreview.DiffFile{Path: "a.go", Status: "modified", Hunks: says(" ")}, diffreview.NoRisk, true},
		"it is new":       {diffreview.DiffFile{Path: "a.go", Status: "added", Hunks: says("+")}, diffreview.NoRisk, true},
		"it says so now":  {diffreview.DiffFile{Path: "a.go", Status: "modified", Hunks: says("+")}, diffreview.NormalRisk, false},
		"it runs in CI":   {diffreview.DiffFile{Path: ".github/workflows/ci.yml", Status: "added", Hunks: says("+")}, diffreview.HighRisk, false},
		"it guards":       {diffreview.DiffFile{Path: "pkg/auth/check_gen.go", Status: "modified"}, diffreview.HighRisk, false},
		"it changes data": {diffreview.DiffFile{Path: "dist/migrations/1.sql", Status: "added"}, diffreview.HighRisk, false},
		"a test is gone":  {diffreview.DiffFile{Path: "vendor/a_test.go", Status: "deleted"}, diffreview.HighRisk, false},
		"others use it":   {diffreview.DiffFile{Path: "a.pb.go", Status: "modified", Hunks: public}, diffreview.NoRisk, true},
	} {
		w := diffreview.RateFile(c.file, nil)
		if w.Risk != c.risk || w.Collapsed != c.collapsed {
			t.Errorf("%s: %+v", name, w)
		}
	}
	long := "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+" + strings.Repeat("x", diffreview.MostPatch)
	if got := diffreview.RiskyFiles(long, nil); len(got) != 1 || !strings.Contains(got[0], "not all of it") {
		t.Errorf("a change that is cut: %q", got)
	}
}

// TestReadPatch holds what people may write into a patch.
func TestReadPatch(t *testing.T) {
	text := diffreview.ReviewPatch("T1 Do it", "c0ffee", patch)
	if diffreview.PatchCommit(text) != "c0ffee" {
		t.Error("it does not say its commit")
	}
	at := func(line, more string) string {
		return strings.Replace(text, "\n"+line+"\n", "\n"+line+"\n"+more+"\n", 1)
	}
	for name, c := range map[string]struct {
		text string
		want []nexus.ReviewComment
		err  string
	}{
		"nothing": {text, nil, ""},
		"must":    {at("+func New() {}", "#> must: why\n#> so"), []nexus.ReviewComment{{File: "a.go", Side: "new", Start: 2, End: 2, Hunk: "+func New() {}", Kind: "must", Body: "why\nso"}}, ""},
		"old":     {at("-func Old() {}", "#> keep it"), []nexus.ReviewComment{{File: "a.go", Side: "old", Start: 2, End: 2, Hunk: "-func Old() {}", Kind: "should", Body: "keep it"}}, ""},
		"lines":   {at(" // c", "#> question 2-3: why?"), []nexus.ReviewComment{{File: "a.go", Side: "new", Start: 2, End: 3, Kind: "question", Body: "why?"}}, ""},
		"file":    {at("rename to new.md", "#> praise: good name"), []nexus.ReviewComment{{File: "new.md", Kind: "praise", Body: "good name"}}, ""},
		"whole":   {strings.Replace(text, "# commit", "#> must: all of it\n# commit", 1), []nexus.ReviewComment{{Kind: "must", Body: "all of it"}}, ""},
		"suggestion": {at("+func more() {}", "#> shorter\n#>= func m() {}"), []nexus.ReviewComment{{
			File: "a.go", Side: "new", Start: 3, End: 3, Hunk: "+func more() {}", Kind: "should", Body: "shorter", Replace: &nexus.SuggestedReplacement{Text: "func m() {}\n"},
		}}, ""},
		"blanks cut":       {strings.Replace(text, "\n \n", "\n\n", 1), nil, ""},
		"changed":          {strings.Replace(text, "+func New", "+func Now", 1), nil, `line 16: it was changed from "+func New() {}" to "+func Now() {}"`},
		"deleted":          {strings.Replace(text, "+func New() {}\n", "", 1), nil, "line 16: it was changed"},
		"added":            {text + "more\n", nil, "not part of the change"},
		"cut":              {strings.Replace(text, "Binary files /dev/null and b/p.png differ\n", "", 1), nil, "missing from here on"},
		"says nothing":     {at("+y", "#> must:"), nil, "says nothing"},
		"suggests nowhere": {at("-func Old() {}", "#>= x"), nil, "put it below one of them"},
		"no lines":         {at(" // c", "#> must x-3: y"), nil, "is not a range of lines"},
	} {
		got, err := diffreview.ReadPatchComments(c.text, patch)
		if d := cmp.Diff(c.want, got); d != "" && c.err == "" {
			t.Errorf("%s: %s", name, d)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || got != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzReadPatch holds that whatever people make of a patch is read or refused with a line that
// is there, and that what is read names places of the change.
func FuzzReadPatch(f *testing.F) {
	f.Add(diffreview.ReviewPatch("T", "c", patch), patch)
	f.Add("#> must: x\n", "")
	f.Add("@@ -1,2 +1 @@\n#>= x\n", "@@ -1,2 +1 @@\n")
	f.Fuzz(func(t *testing.T, text, diff string) {
		got, err := diffreview.ReadPatchComments(text, diff)
		if err != nil {
			if p, ok := err.(*diffreview.PatchReadError); !ok || p.Line < 1 || p.Line > strings.Count(text, "\n")+2 || got != nil { //nolint:errorlint // it wraps nothing
				t.Fatalf("%v for %q", err, text)
			}
			return
		}
		for _, c := range got {
			if !nexus.IsCommentKind(c.Kind) || c.Start < 0 || c.LastLine() < c.Start || c.Body == "" && c.Replace == nil {
				t.Fatalf("%+v of %q", c, text)
			}
		}
	})
}

// FuzzParse holds that numbers of lines of a patch grow, and that answers are read of any text.
func FuzzParse(f *testing.F) {
	f.Add(patch)
	f.Add("diff --git a/x b/x\n@@ -1,99999999999 +1 @@\n+a\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range diffreview.ParseDiff(text) {
			for _, h := range file.Hunks {
				old, now := h.Old-1, h.New-1
				for _, l := range h.Lines {
					if l.Kind != "+" && h.Old > 0 && l.Old != old+1 || l.Kind != "-" && h.New > 0 && l.New != now+1 {
						t.Fatalf("line %+v after %d, %d", l, old, now)
					}
					if l.Kind != "+" {
						old++
					}
					if l.Kind != "-" {
						now++
					}
				}
			}
			file.ShiftLines(1, 3)
			diffreview.RateFile(file, nil)
		}
		for _, a := range diffreview.ReadCommentAnswers(text) {
			if !strings.HasPrefix(a.Comment, "c") {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// TestReadAnswers holds how agents without a tool answer.
func TestReadAnswers(t *testing.T) {
	want := []nexus.CommentAnswer{{Comment: "c1", Reply: "fixed"}, {Comment: "c2", Reply: "declined", Why: "no need"}}
	for _, text := range []string{
		"Done.\n- c1: fixed\n- **c2**: declined: no need\nc3 is odd\n",
		"I did it.\n```json\n{\"answers\": [{\"comment\": \"c1\", \"status\": \"fixed\"}, {\"comment\": \"C2\", \"status\": \"declined\", \"why\": \"no need\"}, {\"comment\": \"x\"}]}\n```\n",
	} {
		if d := cmp.Diff(want, diffreview.ReadCommentAnswers(text)); d != "" {
			t.Error(d)
		}
	}
	if got := diffreview.ReadCommentAnswers(`{"answers": "none"} c1 fixed`); got != nil {
		t.Errorf("%v", got)
	}
}

// TestPut holds that lines are replaced and the others kept.
func TestPut(t *testing.T) {
	for _, c := range []struct {
		text       string
		start, end int
		with, want string
	}{
		{"a\nb\nc\n", 2, 2, "x\ny", "a\nx\ny\nc\n"},
		{"a\r\nb\r\n", 1, 1, "x\n", "x\r\nb\r\n"},
		{"a\nb", 2, 2, "x\n", "a\nx"},
		{"a\nb\n", 1, 2, "", ""},
		{"a\n", 2, 2, "x", "no"},
		{"", 1, 1, "x", "no"},
	} {
		got, ok := diffreview.ReplaceLines(c.text, c.start, c.end, c.with)
		if !ok {
			got = "no"
		}
		if got != c.want {
			t.Errorf("%q %d-%d: %q", c.text, c.start, c.end, got)
		}
	}
}

// TestMessage holds that no comment can end the block that it is in.
func TestMessage(t *testing.T) {
	got := diffreview.ReviewMessage([]nexus.ReviewComment{{ID: "c1", Kind: "must", File: "a.go", Start: 1, Body: "b", Hunk: "+```\n"}, {ID: "c2", Kind: "praise", Body: "n"}})
	for _, want := range []string{"### c1 (must) a.go:1", "````diff\n+```\n````\n", "1 must (to be done before the change lands), 1 praise (nothing to do)", `"id": "c1"`, `"status": "fixed"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(diffreview.ReviewMessage([]nexus.ReviewComment{{ID: "c1", Kind: "praise", Body: "n"}}), "status") {
		t.Error("praise wants no answer")
	}
}
