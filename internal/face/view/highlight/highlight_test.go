package highlight

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       [][]Span
	}{
		{"a.go", "func f() int { // x\n\treturn 0x1f\n}\n", [][]Span{
			{{"func", Keyword}, {" ", ""}, {"f", Function}, {"() ", ""}, {"int", Type}, {" { ", ""}, {"// x", Comment}},
			{{"\t", ""}, {"return", Keyword}, {" ", ""}, {"0x1f", Number}},
			{{"}", ""}},
		}},
		{"x/a.py", "def f():\n    return \"a\"", [][]Span{
			{{"def", Keyword}, {" ", ""}, {"f", Function}, {"():", ""}},
			{{"    ", ""}, {"return", Keyword}, {" ", ""}, {`"a"`, String}},
		}},
		{"a.go", "/* one\n\ntwo */ x", [][]Span{{{"/* one", Comment}}, nil, {{"two */", Comment}, {" x", ""}}}},
		{"README.md", "# Title\ntext `code`\n", [][]Span{{{"# Title", Heading}}, {{"text ", ""}, {"`code`", String}}}},
		{"Makefile", "a: b\n", [][]Span{{{"a", Function}, {": b", ""}}}},
		{"unknown.qqq", "func f", [][]Span{{{"func f", ""}}}},
		{"", "func f", [][]Span{{{"func f", ""}}}},
		{"a.go", "", [][]Span{nil}},
		{"a.go", "\xff func", [][]Span{{{"\xff ", ""}, {"func", Keyword}}}},
	} {
		if diff := cmp.Diff(c.want, Lines(c.file, c.text)); diff != "" {
			t.Errorf("%s %q:\n%s", c.file, c.text, diff)
		}
	}
}

// TestTooMuch holds that a text that nobody reads as code costs nothing.
func TestTooMuch(t *testing.T) {
	giant := strings.Repeat("x", maxLine+1)
	if diff := cmp.Diff([][]Span{{{"func", Keyword}}, {{giant, ""}}, {{"func", Keyword}}}, Lines("a.go", "func\n"+giant+"\nfunc")); diff != "" {
		t.Error(diff)
	}
	for _, spans := range Lines("a.go", strings.Repeat("func\n", maxText/5+1)) {
		if spans[0].Kind != Plain {
			t.Fatal("a text of half a megabyte is read")
		}
	}
}

// TestKinds holds that each kind is there, in languages of several families, and that no
// language loses anything of a text.
func TestKinds(t *testing.T) {
	seen := map[Kind]bool{}
	for _, c := range []struct {
		file, text, span string
		kind             Kind
	}{
		{"a.ts", "const x: number = f(1) // y", "number", Type},
		{"a.rs", "fn f<'a>(x: &'a str) {}", "fn", Keyword},
		{"a.java", "@Override void run() {}", "@Override", Name},
		{"a.c", "#include <a.h>\nint f(void);", "f", Function},
		{"a.sh", "echo ${#x} # why", "# why", Comment},
		{"a.yaml", "- name: \"x\" # y", "name", Name},
		{"a.json", "{\"a\": true}", "\"a\"", Name},
		{"a.toml", "key = 1_000", "1_000", Number},
		{"a.html", "<p class=\"x\">word</p>", "p", Keyword},
		{"a.sql", "SELECT a FROM b -- c", "SELECT", Keyword},
		{"Dockerfile", "FROM scratch", "FROM", Keyword},
		{"Makefile", "all: build\n", "all", Function},
		{"a.md", "## Title", "## Title", Heading},
		{"a.ex", "def f, do: 1", "def", Keyword},
		{"a.py", "x = \"\"\"a\nb\"\"\"", "\"\"\"a", String},
		{"go.mod", "require x v1 // indirect", "// indirect", Comment},
		{"a.go", "a <= b", "<=", Operator},
		{"a.rb", "# all\nclass Foo; end", "Foo", Type},
	} {
		found := false
		for _, line := range Lines(c.file, c.text) {
			for _, s := range line {
				seen[s.Kind] = true
				found = found || s == Span{c.span, c.kind}
			}
		}
		if !found {
			t.Errorf("%s: %q is not a %s: %v", c.file, c.span, c.kind, Lines(c.file, c.text))
		}
	}
	for _, k := range Kinds() {
		if !seen[k] {
			t.Errorf("nothing is a %s", k)
		}
	}
}

const patch = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,3 +1,4 @@ package a
 func a() {
--- not a header
+	return // one
+++ neither is this

diff --git "a/\303\244 b" b/old.txt
similarity index 90%
rename from "\303\244 b"
rename to new.txt
diff --git a/x b/x
new file mode 100644
Binary files /dev/null and b/x differ
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-def f(): pass
\ No newline at end of file
`

func TestDiff(t *testing.T) {
	want := []File{
		{Path: "a.go", Added: 2, Deleted: 1, Lines: []Line{
			{Mark: Hunk, Spans: []Span{{"@@ -1,3 +1,4 @@ package a", ""}}},
			{Mark: Same, Old: 1, New: 1, Spans: []Span{{"func", Keyword}, {" ", ""}, {"a", Function}, {"() {", ""}}},
			{Mark: Deleted, Old: 2, Spans: []Span{{"--", Operator}, {" not a header", ""}}},
			{Mark: Added, New: 2, Spans: []Span{{"\t", ""}, {"return", Keyword}, {" ", ""}, {"// one", Comment}}},
			{Mark: Added, New: 3, Spans: []Span{{"++", Operator}, {" neither is this", ""}}},
			{Mark: Same, Old: 3, New: 4},
		}},
		{Path: "new.txt", Before: "\u00e4 b", Lines: []Line{{Mark: Note, Spans: []Span{{"similarity index 90%", ""}}}}},
		{Path: "x", New: true, Lines: []Line{{Mark: Note, Spans: []Span{{"Binary files /dev/null and b/x differ", ""}}}}},
		{Path: "gone.py", Gone: true, Deleted: 1, Lines: []Line{
			{Mark: Hunk, Spans: []Span{{"@@ -1 +0,0 @@", ""}}},
			{Mark: Deleted, Old: 1, Spans: []Span{{"def", Keyword}, {" ", ""}, {"f", Function}, {"(): ", ""}, {"pass", Keyword}}},
			{Mark: Note, Spans: []Span{{"No newline at end of file", ""}}},
		}},
	}
	if diff := cmp.Diff(want, Diff(patch)); diff != "" {
		t.Error(diff)
	}
	if got := Diff(""); got != nil {
		t.Errorf("nothing is %v", got)
	}
}

// FuzzLines holds that the spans of a text are the text, in every language.
func FuzzLines(f *testing.F) {
	for _, name := range []string{"a.go", "a.md", "a.py", "a.js", "a.html", "a.sh", "a.rs", "a.vue", "Dockerfile", "a.yaml"} {
		f.Add(name, "if (x) { \"y\" } # z\n\t\r\n'''\n")
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		var lines []string
		for _, spans := range Lines(file, text) {
			line := ""
			for _, s := range spans {
				line += s.Text
			}
			lines = append(lines, line)
		}
		if got, want := strings.Join(lines, "\n"), strings.TrimSuffix(text, "\n"); got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}

// FuzzDiff holds that any text can be read as a diff, and that counts are what lines say.
func FuzzDiff(f *testing.F) {
	f.Add(patch)
	f.Add("@@ -1,9999999999 +1,2 @@\n+a")
	f.Add("--- a/b\n+++ b/c\n@@ -0,0 +1 @@\n+x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range Diff(text) {
			added := 0
			for _, l := range file.Lines {
				if l.Mark == Added {
					added++
				}
				if strings.Contains(l.Text(), "\n") {
					t.Errorf("a line has two: %q", l.Text())
				}
			}
			if added != file.Added {
				t.Errorf("%d lines are added, and %d counted", added, file.Added)
			}
		}
	})
}

// BenchmarkDiff highlights a change of 400 lines.
func BenchmarkDiff(b *testing.B) {
	var text strings.Builder
	text.WriteString("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,0 +1,400 @@\n")
	for range 100 {
		text.WriteString("+func f(a int, b string) error {\n+\tx := fmt.Sprintf(\"%d %s\", a, b) // why\n+\treturn errors.New(x)\n+}\n")
	}
	for b.Loop() {
		Diff(text.String())
	}
}
