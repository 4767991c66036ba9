package edit

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const file = `# what we agreed on
sandbox = "native" # keep it

[limits] # of a run
parallel = 3   # small machine

[limits.per_role]
coder = 2

[hooks.lint]
command = """
a = 1
[limits]
"""
points = [
  "run.ended", # the end
]
`

// TestSet changes one value and nothing around it.
func TestSet(t *testing.T) {
	for _, c := range []struct{ name, key, value, from, to string }{
		{"in its place", "limits.parallel", "5", "parallel = 3   # small", "parallel = 5   # small"},
		{"at the top", "sandbox", `"off"`, `"native" # keep`, `"off" # keep`},
		{"behind its table", "limits.turns", "9", "# small machine\n", "# small machine\nturns = 9\n"},
		{"behind a list", "hooks.lint.timeout", `"1m"`, "\n]\n", "\n]\ntimeout = \"1m\"\n"},
		{"over lines", "hooks.lint.points", `["x"]`, "[\n  \"run.ended\", # the end\n]", `["x"]`},
		{"behind the top", "land", "true", "# keep it\n", "# keep it\nland = true\n"},
		{"in a new table", `pricing."a/b".input`, "2.5", "the end\n]\n", "the end\n]\n\n[pricing.\"a/b\"]\ninput = 2.5\n"},
		{"a long text", "hooks.lint.command", `"x"`, "\"\"\"\na = 1\n[limits]\n\"\"\"", `"x"`},
	} {
		path, err := ParseKey(c.key)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(file, c.from, c.to, 1)
		if got, err := SetKey(file, path, c.value); err != nil || got != want {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
}

// TestSetEmpty begins files, and keeps how lines end.
func TestSetEmpty(t *testing.T) {
	for _, c := range []struct{ text, key, want string }{
		{"", "a", "a = 1\n"},
		{"", "a.b", "[a]\nb = 1\n"},
		{"# hi", "a", "# hi\na = 1\n"},
		{"[x]\ny = 1\n", "a", "a = 1\n\n[x]\ny = 1\n"},
		{"[x]", "x.a", "[x]\na = 1\n"},
		{"[x]\r\ny = 1\r\n", "x.a", "[x]\r\ny = 1\r\na = 1\r\n"},
		{"x.y = 1\n", "x.a", "x.y = 1\nx.a = 1\n"},
		{"x.a = 2\n", "x.a", "x.a = 1\n"},
		{"[x]\ny.z = 1\n", "x.y.a", "[x]\ny.z = 1\ny.a = 1\n"},
		{"x = {a = 2}\n", "x.a", ""},
		{"[[x]]\na = 2\n", "x.a", ""},
		{"x = 1\n", "x.a", ""},
	} {
		path, _ := ParseKey(c.key)
		got, err := SetKey(c.text, path, "1")
		if c.want == "" {
			if !errors.Is(err, ErrShape) {
				t.Errorf("%q: %v, %q", c.text, err, got)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %v, %q", c.text, err, got)
		}
	}
	if _, err := SetKey("a = ", []string{"b"}, "1"); err == nil || errors.Is(err, ErrShape) {
		t.Errorf("a broken file: %v", err)
	}
	for _, value := range []string{"", "x", "1\n[b]", "1\nb = 2", "1 # 2\n"} {
		if got, err := SetKey("", []string{"a"}, value); err == nil {
			t.Errorf("%q is a value: %q", value, got)
		}
	}
}

// TestUnset takes the line of a key away.
func TestUnset(t *testing.T) {
	got, found, err := RemoveKey(file, []string{"limits", "parallel"})
	if want := strings.Replace(file, "parallel = 3   # small machine\n", "", 1); err != nil || !found || got != want {
		t.Errorf("%v, %v\n%s", found, err, got)
	}
	if got, found, err = RemoveKey(file, []string{"limits", "turns"}); err != nil || found || got != file {
		t.Errorf("%v, %v", found, err)
	}
	if _, found, err = RemoveKey("x = {a = 2}\n", []string{"x", "a"}); !errors.Is(err, ErrShape) || !found {
		t.Errorf("%v, %v", found, err)
	}
	if got, found, err = RemoveKey("a = 1", []string{"a"}); got != "" || !found || err != nil {
		t.Errorf("%q, %v, %v", got, found, err)
	}
}

// TestPath reads names as people write them.
func TestPath(t *testing.T) {
	for name, want := range map[string][]string{
		"a": {"a"}, "a.b-c.D_1": {"a", "b-c", "D_1"}, `pricing."x/y.z".input`: {"pricing", "x/y.z", "input"}, "'a b'.c": {"a b", "c"},
		"": nil, ".": nil, "a.": nil, "a b": nil, "a=1": nil, "a\nb": nil, "[a]": nil, "a#": nil, `"a`: nil, "\xff": nil,
	} {
		if got, err := ParseKey(name); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func FuzzSet(f *testing.F) {
	for _, text := range []string{
		file, "", "a = 1", "a.b = '''x'''''\n", "[a]\n", "[[a]]\nb = {c = [1, {d = 2}]}\n", "a = \"\\\"\" # x", "\"a\\u0062\" = 1\n",
	} {
		f.Add(text, "limits.parallel", `"x"`)
		f.Add(text, `a."b/c"`, "[1, 2]")
	}
	f.Fuzz(func(t *testing.T, text, name, value string) {
		path, err := ParseKey(name)
		if err != nil {
			return
		}
		out, err := SetKey(text, path, value)
		if err != nil {
			return
		}
		again, err := SetKey(out, path, value)
		if err != nil || again != out {
			t.Errorf("set twice: %q, then %q: %v", out, again, err)
		}
		gone, found, err := RemoveKey(out, path)
		if err == nil && !found {
			t.Errorf("%q has no %q", out, path)
		}
		if err == nil {
			if _, found, _ := RemoveKey(gone, path); found {
				t.Errorf("%q still has %q", gone, path)
			}
		}
		for _, s := range []string{value, name} {
			if q, err := ParseValue(QuoteText(s)); err == nil && q != s {
				t.Errorf("%q is read as %q", s, q)
			}
		}
	})
}
