package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParse reads front matter as other tools write it.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want ruleFrontMatter
		body string
	}{
		{"plain", nil, "plain"},
		{"---\nno end", nil, "---\nno end"},
		{"---\n---\nx", ruleFrontMatter{}, "x"},
		{"---\nname: a\ndescription: Use: when 'x'\n# comment\nglobs: *.ts,**/*.{a,b}\nempty:\n---\nx", ruleFrontMatter{"name": {"a"}, "description": {"Use: when 'x'"}, "globs": {"*.ts,**/*.{a,b}"}}, "x"},
		{"---\npaths:\n  - \"a/**\"\n  - b\ntools: [Read, 'Grep']\n---\n", ruleFrontMatter{"paths": {"a/**", "b"}, "tools": {"Read", "Grep"}}, ""},
		{"---\ndescription: >-\n  one\n  two: 2\nmetadata:\n  name: other\nname: n\n---\nx", ruleFrontMatter{"description": {"one", "two: 2"}, "name": {"n"}}, "x"},
		{"---\nname: a\nname: b\n---\nx", ruleFrontMatter{"name": {"b"}}, "x"},
	} {
		got, body := splitFrontMatter(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || body != c.body {
			t.Errorf("%q: %s body %q", c.text, diff, body)
		}
	}
	got := ruleFrontMatter{"globs": {"*.ts, **/*.{a,b}", "c"}}.listValues("globs")
	if diff := cmp.Diff([]string{"*.ts", "**/*.{a,b}", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzParse holds what is read of a file against the file.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "---\n", "---\na: [\n---\nx", "@a `@b` @c.", "```\n@a\n```\n@b", "---\nd: |\n  x\n- y\n---\n@../x", Begin + Begin + End, "~~~~\n~~~\n@x\n~~~~"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		meta, body := splitFrontMatter(text)
		if !strings.HasSuffix(text, body) {
			t.Errorf("the body %q is not the end", body)
		}
		for k, all := range meta {
			for _, v := range all {
				if v == "" || !strings.Contains(text, v) {
					t.Errorf("%q: %q stands nowhere", k, v)
				}
			}
		}
		for _, name := range importedPaths(body) {
			if !strings.Contains(body, "@"+name) || strings.ContainsAny(name, " \n`") {
				t.Errorf("%q is not imported", name)
			}
		}
		if rest := withoutManagedBlocks(body); len(rest) > len(body) {
			t.Errorf("%q grew", rest)
		}
	})
}
