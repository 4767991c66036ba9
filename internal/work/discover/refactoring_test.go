package discover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack/function"
)

// nested is code in which so many conditions are within each other, opened and closed like this.
func nested(indent string, n int, opens, closes, inner string) string {
	text := strings.Repeat(indent, n+1) + inner + "\n"
	for i := n; i > 0; i-- {
		at := strings.Repeat(indent, i)
		text = at + opens + "\n" + text
		if closes != "" {
			text += at + closes + "\n"
		}
	}
	return text
}

// TestTangled finds long and deep functions of every language that the map of the code knows, and no other. What it
// finds is red, and its check passes once the function is shorter, less deep, or gone.
func TestTangled(t *testing.T) {
	for _, c := range []struct{ file, head, indent, line, opens, closes, end string }{
		{"a.go", "func (s *Site) look(a int) {", "\t", "use(a)", "if a {", "}", "}"},
		{"a.py", "async def look(a):", "    ", "use(a)", "if a:", "", ""},
		{"b.py", "def look(\n    a,\n):", "    ", "use(a)", "for b in a:", "", ""},
		{"a.rs", "pub(crate) fn look<T>(a: T) -> T\nwhere\n    T: Copy,\n{", "    ", "use(a);", "while a {", "}", "}"},
		{"a.js", "async function look(a) {", "  ", "use(a);", "for (const b of a) {", "}", "}"},
		{"b.js", "exports.look = function (a) {", "  ", "use(a)", "if (a)\n  {", "}", "};"},
		{"a.ts", "export const look: F = ({\n  a,\n}: P) => {", "  ", "use(a)", "if (a) {", "}", "}"},
		{"a.java", "public static <T> void look(List<T> a) throws E {", "    ", "use(a);", "try {", "}", "}"},
		{"a.cs", "public async Task<int> Look(int a)\n{", "    ", "Use(a);", "foreach (var b in a)\n{", "}", "}"},
		{"a.kt", "override suspend fun look(a: Int): Int {", "    ", "use(a)", "if (a) {", "}", "}"},
		{"a.php", "public static function look($a)\n{", "    ", "use($a);", "if ($a) {", "}", "}"},
		{"a.rb", "def look(a)", "  ", "use(a)", "if a", "end", "end"},
		{"a.swift", "public func look(a: Int) -> Int {", "    ", "use(a)", "while a {", "}", "}"},
		{"a.ex", "defp look(a) do", "  ", "use(a)", "if a do", "end", "end"},
		{"a.c", "static const char *look(int a, int b)\n{", "\t", "use(a);", "switch (a) {", "}", "}"},
		{"a.cpp", "std::string Site::look(int a,\n                       int b) {", "  ", "use(a);", "do {", "}", "}"},
	} {
		body := func(n int) string { return strings.Repeat(c.indent+c.line+"\n", n) }
		comment := c.indent + "// why\n\n"
		if syntax(t, c.file).Dented {
			comment = c.indent + "# why\n\n"
		}
		whole := func(inner string) string {
			return "\n" + c.head + "\n" + inner + c.end + "\n\n" + c.head[:3] + "\n"
		}
		deep := func(n int) string {
			inner := nested(c.indent, n, c.opens, c.closes, c.line)
			if strings.Contains(c.opens, "\n") { // each brace stands as far as what it belongs to
				inner = ""
				for i := 1; i <= n; i++ {
					at := strings.Repeat(c.indent, i)
					first, _, _ := strings.Cut(c.opens, "\n")
					inner += at + first + "\n" + at + "{\n"
				}
				inner += strings.Repeat(c.indent, n+1) + c.line + "\n"
				for i := n; i > 0; i-- {
					inner += strings.Repeat(c.indent, i) + "}\n"
				}
			}
			return whole(inner)
		}
		lines := function.Long
		if strings.HasSuffix(c.head, "\n{") { // its own brace, and what stands before it, are lines, too
			lines -= strings.Count(c.head, "\n")
		} else if n := strings.Count(c.head, "\n"); n > 0 {
			lines -= n
		}
		for what, try := range map[string]struct{ text, done, id string }{
			"long":           {whole(body(lines + 1)), whole(body(lines)), "long"},
			"long, comments": {whole(strings.Repeat(comment, 60) + body(lines+1)), whole(strings.Repeat(comment, 60) + body(lines)), "long"},
			"deep":           {deep(function.Deep + 1), deep(function.Deep), "deep"},
		} {
			f, ok := only(t, c.file, try.text)
			if !ok {
				t.Errorf("%s: %s is not found:\n%s", c.file, what, try.text)
				continue
			}
			if !red(t, f.Check, map[string]string{c.file: try.text}) {
				t.Errorf("%s: %s: %s is not red", c.file, what, f.Check)
			}
			if red(t, f.Check, map[string]string{c.file: try.done}) {
				t.Errorf("%s: %s: %s stays red for\n%s", c.file, what, f.Check, try.done)
			}
			if red(t, f.Check, map[string]string{c.file: "\n"}) || red(t, strings.ReplaceAll(f.Check, "2>", ""), map[string]string{c.file: ""}) {
				t.Errorf("%s: %s: %s stays red when the function is gone", c.file, what, f.Check)
			}
			if less, ok := only(t, c.file, try.done); ok {
				t.Errorf("%s: %s: what is done is found: %s", c.file, what, less.Title)
			}
			if moved, ok := only(t, c.file, "\n\n"+try.text); !ok || moved.ID != f.ID {
				t.Errorf("%s: %s: lines that move change its ID from %s to %s", c.file, what, f.ID, moved.ID)
			}
		}
	}
}

// only returns the one finding that a file has.
func only(t *testing.T, name, text string) (one struct{ ID, Title, Check string }, ok bool) {
	t.Helper()
	x := syntax(t, name)
	for _, f := range function.FunctionsIn(x, strings.Split(text, "\n")) {
		got, is := largeFunctionFinding(f, name, x.Dented)
		if is && ok {
			t.Errorf("%s: two findings, %s and %s", name, one.Title, got.Title)
		}
		if is {
			one.ID, one.Title, one.Check, ok = got.ID, got.Title, got.Check, true
		}
	}
	return one, ok
}

// TestCalm leaves alone what only looks long or deep.
func TestCalm(t *testing.T) {
	long := func(line string) string { return strings.Repeat(line+"\n", function.Long+1) }
	for name, text := range map[string]string{
		"doc.py":       "def look(a):\n    \"\"\"Look.\n\n" + long("    It looks.") + "    \"\"\"\n    return a\n",
		"text.py":      "def look(a):\n    x = \"\"\"\n" + long("It looks.") + "\"\"\"\n    return x\n",
		"prototype.c":  "static int look(int a);\nint b[] = {\n" + long("\t1,") + "};\n",
		"overload.ts":  "export function look(a: string): void;\nexport const b = [\n" + long("  1,") + "];\n",
		"one.go":       "func look() int { return 1 }\n\nvar b = []int{\n" + long("\t1,") + "}\n",
		"else.go":      "func look(a int) {\n" + strings.Repeat("\tif a {\n\t\tuse(a)\n\t} else if b {\n\t\tuse(b)\n\t}\n", 6) + "}\n",
		"cases.go":     "func look(a int) {\n\tif a {\n\t\tfor b {\n\t\t\tswitch a {\n\t\t\tcase 1:\n\t\t\t\tif c {\n\t\t\t\t\tuse(a)\n\t\t\t\t}\n\t\t\t}\n\t\t}\n\t}\n}\n",
		"args.go":      "func look(a int) {\n" + nested("\t", 6, "use(func() {", "})", "use(a)") + "}\n",
		"macros.c":     "int look(int a)\n{\n" + strings.Repeat("#ifdef A\n\tuse(a);\n#endif\n", 20) + "}\n",
		"record.java":  "public record Look(int a) {\n" + long("    static int b;") + "}\n",
		"class.cs":     "public class Look(int a)\n{\n" + long("    int b;") + "}\n",
		"tested.rs":    "#[cfg(test)]\nmod tests {\n    fn look() {\n" + long("        use(a);") + "    }\n}\n",
		"call.js":      "  if (look(a)) {\n" + long("    use(a)") + "  }\n",
		"abstract.kt":  "abstract fun look(a: Int): Int\n\nval b = listOf(\n" + long("    1,") + ")\n",
		"endless.rb":   "def look(a) = a\n\n" + long("B = 1"),
		"rescue.rb":    "def look(a)\n  use(a)\nrescue\n  1\nensure\n  2\nend\n" + long("B = 1"),
		"statement.cs": "        else if (look(a)) {\n" + long("            use(a);") + "        }\n",
	} {
		if f, ok := only(t, name, text); ok {
			t.Errorf("%s: %s", name, f.Title)
		}
	}
}

// FuzzFunctions measures any text without an end or a panic, and makes checks that can be written down.
func FuzzFunctions(f *testing.F) {
	f.Add("a.go", "func a() {\n\tif b {\n}\n")
	f.Add("a.py", "def a(\n):\n  '''\n x")
	f.Fuzz(func(t *testing.T, name, text string) {
		name = "a" + name
		if !isSafeInCheck(name) {
			return
		}
		all := strings.Split(text, "\n")
		for _, ending := range []string{".go", ".py", ".ts", ".java", ".c", ".rb"} {
			x := syntax(t, "a"+ending)
			for _, one := range function.FunctionsIn(x, all) {
				if one.Line < 1 || one.Line > len(all) || one.Lines > len(all) || one.Depth > one.Lines || one.Name == "" {
					t.Errorf("%+v of %d lines", one, len(all))
				}
				if found, ok := largeFunctionFinding(one, name, x.Dented); ok && (found.Check == "" || strings.ContainsAny(found.Check, "\n\r")) {
					t.Errorf("%q", found.Check)
				}
			}
		}
	})
}

// TestAlike takes the largest of the functions whose first lines begin alike, as the check does.
func TestAlike(t *testing.T) {
	text := ""
	for _, n := range []int{3, function.Long + 5, function.Long + 2} {
		text += "    public void look(int a) {\n" + strings.Repeat("        use(a);\n", n) + "    }\n"
	}
	f, ok := only(t, "A.java", text)
	if want := fmt.Sprintf("%d lines", function.Long+5); !ok || !strings.Contains(f.Title, want) || !strings.Contains(f.Title, "A.java:6") {
		t.Errorf("found %q", f.Title)
	}
}
