package highlight

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "copy the definitions of the languages from chroma again")

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
		{"Makefile", "a: b\n", [][]Span{{{"a", Function}, {":", Operator}, {" b", ""}}}},
		{"unknown.qqq", "func f", [][]Span{{{"func f", ""}}}},
		{"", "func f", [][]Span{{{"func f", ""}}}},
		{"a.go", "", [][]Span{nil}},
		{"a.go", "\xff func", [][]Span{{{"\xff func", ""}}}},
	} {
		if diff := cmp.Diff(c.want, Lines(c.file, c.text)); diff != "" {
			t.Errorf("%s %q:\n%s", c.file, c.text, diff)
		}
	}
}

// TestTooMuch holds that a text that nobody reads as code costs nothing.
func TestTooMuch(t *testing.T) {
	giant := strings.Repeat("x", maxLine+1)
	if diff := cmp.Diff([][]Span{{{"func", Keyword}}, {{giant, ""}}, {{"func", ""}}}, Lines("a.go", "func\n"+giant+"\nfunc")); diff != "" {
		t.Error(diff)
	}
	for _, spans := range Lines("a.go", strings.Repeat("func\n", maxText/5+1)) {
		if spans[0].Kind != Plain {
			t.Fatal("a text of half a megabyte is read")
		}
	}
}

// TestLexers holds that every definition is chroma's, that it can be compiled, and that
// it loses nothing of a text.
func TestLexers(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	all, err := fs.Glob(definitions, "lexers/*.xml")
	if err != nil || len(all) < 50 {
		t.Fatalf("%d definitions: %v", len(all), err)
	}
	for _, name := range all {
		theirs, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "lexers", "embedded", filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(name, theirs, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if ours, err := definitions.ReadFile(name); err != nil || !bytes.Equal(ours, theirs) {
			t.Errorf("%s is not chroma's (%v): run go test ./internal/face/view/highlight -args -update", name, err)
		}
	}
	text := "a = 'b'; # x\nif (1 < 2) { \"c\" }\n<b c=\"d\">\n"
	for _, l := range languages().Lexers {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if got := colored(l, lines, len(lines)); len(got) != len(lines) {
			t.Errorf("%s: %d lines of %d are read", l.Config().Name, len(got), len(lines))
		}
	}
	if n := len(languages().Lexers); n != len(all)+2 {
		t.Errorf("%d of %d languages can be used", n, len(all)+2)
	}
}

func TestKind(t *testing.T) {
	seen := map[Kind]bool{}
	for _, c := range []chroma.TokenType{
		chroma.KeywordType, chroma.KeywordDeclaration, chroma.NameFunction, chroma.NameTag, chroma.LiteralStringEscape,
		chroma.LiteralNumberHex, chroma.CommentPreproc, chroma.Operator, chroma.GenericHeading,
	} {
		seen[kind(c)] = true
	}
	for _, k := range Kinds() {
		if !seen[k] {
			t.Errorf("nothing is a %s", k)
		}
	}
	if seen[Plain] || kind(chroma.Text) != Plain || kind(chroma.Punctuation) != Plain {
		t.Error("text has a colour")
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
