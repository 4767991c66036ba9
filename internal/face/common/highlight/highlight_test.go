package highlight

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       [][]CodeSpan
	}{
		{"a.go", "func f() int { // x\n\treturn 0x1f\n}\n", [][]CodeSpan{
			{{"func", Keyword}, {" ", ""}, {"f", Function}, {"() ", ""}, {"int", Type}, {" { ", ""}, {"// x", Comment}},
			{{"\t", ""}, {"return", Keyword}, {" ", ""}, {"0x1f", Number}},
			{{"}", ""}},
		}},
		{"x/a.py", "def f():\n    return \"a\"", [][]CodeSpan{
			{{"def", Keyword}, {" ", ""}, {"f", Function}, {"():", ""}},
			{{"    ", ""}, {"return", Keyword}, {" ", ""}, {`"a"`, String}},
		}},
		{"a.go", "/* one\n\ntwo */ x", [][]CodeSpan{{{"/* one", Comment}}, nil, {{"two */", Comment}, {" x", ""}}}},
		{"README.md", "# Title\ntext `code`\n", [][]CodeSpan{{{"# Title", Heading}}, {{"text ", ""}, {"`code`", String}}}},
		{"Makefile", "a: b\n", [][]CodeSpan{{{"a", Function}, {":", Operator}, {" b", ""}}}},
		{"unknown.qqq", "func f", [][]CodeSpan{{{"func f", ""}}}},
		{"", "func f", [][]CodeSpan{{{"func f", ""}}}},
		{"a.go", "", [][]CodeSpan{nil}},
		{"a.go", "\xff func", [][]CodeSpan{{{"\xff ", ""}, {"func", Keyword}}}},
	} {
		if diff := cmp.Diff(c.want, HighlightLines(c.file, c.text)); diff != "" {
			t.Errorf("%s %q:\n%s", c.file, c.text, diff)
		}
	}
}

// TestLimits holds that a text that nobody reads as code costs nothing, and that one that takes too
// long is plain from there on, and complete.
func TestLimits(t *testing.T) {
	for _, spans := range HighlightLines("a.go", strings.Repeat("func\n", maxText/5+1)) {
		if spans[0].Kind != Plain {
			t.Fatal("a text of half a megabyte is read")
		}
	}
	calls := 0
	got := highlightUntil("a.go", "func f\nfunc g\n", func() bool { calls++; return calls > 2 })
	want := [][]CodeSpan{{{"func", Keyword}, {" f", ""}}, {{"func g", ""}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestKinds holds that each kind is there, in languages of several families, and that no
// language loses anything of a text.
func TestKinds(t *testing.T) {
	seen := map[SpanKind]bool{}
	for _, c := range []struct {
		file, text, span string
		kind             SpanKind
	}{
		{"a.ts", "const x: number = f(1) // y", "number", Type},
		{"a.rs", "fn f<'a>(x: &'a str) {}", "fn", Keyword},
		{"a.java", "@Override void run() {}", "@Override", Name},
		{"a.c", "#include <a.h>\nint f(void);", "f", Function},
		{"a.sh", "echo ${#x} # why", "# why", Comment},
		{"a.yaml", "- name: \"x\" # y", "name", Name},
		{"a.json", "{\"a\": true}", "\"a\"", Name},
		{"a.toml", "key = 1_000", "1_000", Number},
		{"a.html", "<p class=\"x\">word</p>", "p", Name},
		{"a.sql", "SELECT a FROM b -- c", "SELECT", Keyword},
		{"Dockerfile", "FROM scratch", "FROM", Keyword},
		{"Makefile", "all: build\n", "all", Function},
		{"a.md", "## Title", "## Title", Heading},
		{"a.ex", "def f, do: 1", "def", Keyword},
		{"a.py", "x = \"\"\"a\nb\"\"\"", "\"\"\"a", String},
		{"go.mod", "require x v1 // indirect", "// indirect", Comment},
		{"a.go", "a <= b", "<=", Operator},
		{"a.cs", "var x = 1;", "var", Type},
		{"a.kt", "val x: Int = 1", "val", Keyword},
		{"a.swift", "guard let x else { return }", "guard", Keyword},
		{"a.dart", "final int x;", "int", Type},
		{"a.mm", "// why", "// why", Comment},
		{"a.rake", "# why", "# why", Comment},
		{"a.rb", "# all\nclass Foo; end", "Foo", Type},
	} {
		found := false
		for _, line := range HighlightLines(c.file, c.text) {
			for _, s := range line {
				seen[s.Kind] = true
				found = found || s == CodeSpan{c.span, c.kind}
			}
		}
		if !found {
			t.Errorf("%s: %q is not a %s: %v", c.file, c.span, c.kind, HighlightLines(c.file, c.text))
		}
	}
	for _, k := range []SpanKind{Keyword, Type, Function, Name, String, Number, Comment, Operator, Heading} {
		if !seen[k] {
			t.Errorf("nothing is a %s", k)
		}
	}
}

const patch = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,4 +1,6 @@ package a
 func a() {
--- not a header
+	return // one
+++ neither is this
 /* a
+b
 c */
`

// TestDiff highlights each side of a change as one text.
func TestDiff(t *testing.T) {
	f := diffreview.ParseDiff(patch)[0]
	want := [][]CodeSpan{
		{{"func", Keyword}, {" ", ""}, {"a", Function}, {"() {", ""}},
		{{"--", Operator}, {" not a header", ""}},
		{{"\t", ""}, {"return", Keyword}, {" ", ""}, {"// one", Comment}},
		{{"++", Operator}, {" neither is this", ""}},
		{{"/* a", Comment}},
		{{"b", Comment}},
		{{"c */", Comment}},
	}
	if diff := cmp.Diff(want, HighlightDiff(f.Path, f.Hunks[0].Lines)); diff != "" {
		t.Error(diff)
	}
	if got := HighlightDiff("a.go", nil); len(got) != 0 {
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
		for _, spans := range HighlightLines(file, text) {
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

// FuzzDiff holds that the spans of each line of a diff are its text, whatever it has.
func FuzzDiff(f *testing.F) {
	f.Add("a.go", patch)
	f.Add("a.py", "diff --git a/b b/b\n@@ -0,0 +1,2 @@\n+\"\"\"x\r\n+\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		for _, file := range diffreview.ParseDiff(text) {
			for _, h := range file.Hunks {
				for i, spans := range HighlightDiff(name, h.Lines) {
					line := ""
					for _, s := range spans {
						line += s.Text
					}
					if line != h.Lines[i].Text {
						t.Errorf("%q became %q", h.Lines[i].Text, line)
					}
				}
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
	lines := diffreview.ParseDiff(text.String())[0].Hunks[0].Lines
	for b.Loop() {
		HighlightDiff("a.go", lines)
	}
}

// TestLexerThatFails holds that a text on which a lexer of the library panics is shown plain, and that
// texts are coloured at once in several pages.
func TestLexerThatFails(t *testing.T) {
	const text = "=begin pod\ntext"
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for file, text := range map[string]string{"x.raku": text, "x.md": "```raku\n" + text + "\n```"} {
				joined := ""
				for _, line := range HighlightLines(file, text) {
					for _, s := range line {
						joined += s.Text
					}
					joined += "\n"
				}
				if joined != text+"\n" {
					t.Errorf("%s: %q", file, joined)
				}
			}
		})
	}
	all.Wait()
}
