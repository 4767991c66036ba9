package frontmatter_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus/frontmatter"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]frontmatter.Document{
		"":                                  {Lines: 1},
		"text\n---\na: b\n---\n":            {Body: "text\n---\na: b\n---\n", Lines: 5},
		"---\na: b\n---\n\ntext\n":          {HasHead: true, Closed: true, Head: "a: b\n", Body: "\ntext\n", Lines: 6},
		"---\n---":                          {HasHead: true, Closed: true, Lines: 2},
		"---":                               {HasHead: true, Lines: 1},
		"---\na: b\n":                       {HasHead: true, Head: "a: b\n", Lines: 3},
		"----\na: b\n---\n":                 {Body: "----\na: b\n---\n", Lines: 4},
		"---\na: |\n  ---\n---\nx":          {HasHead: true, Closed: true, Head: "a: |\n  ---\n", Body: "x", Lines: 5},
		"\ufeff--- \r\na\r\n---\t\r\nx\r\n": {HasHead: true, Closed: true, Head: "a\n", Body: "x\n", Lines: 5},
	} {
		if d := cmp.Diff(want, frontmatter.SplitHead(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestReadFields(t *testing.T) {
	names := frontmatter.AllowedFields{Known: []string{"kind", "file"}, Repeated: []string{"file"}}
	for head, want := range map[string]string{
		"kind: a: b # c\n\nfile: x\n file : y\n": "2 kind=a: b # c; 4 file=x; 5 file=y; ",
		"kind: a\nkind: b\n":                     "2 kind=a; x.md:3: kind is there twice; it was set in line 2",
		"kind:\n":                                "x.md:2: kind has no value",
		"more: a\n":                              `x.md:2: unknown field "more"`,
		"kind a\n":                               `x.md:2: "kind a" is not a field`,
		"kind: stop\nmore\n":                     "2 kind=stop; x.md:2: stopped",
	} {
		var got strings.Builder
		f := frontmatter.SplitHead("---\n"+head+"---\n").ReadFields(names, func(line int, name, value string) *frontmatter.Fault {
			got.WriteString(strings.Join([]string{string(rune('0' + line)), name + "=" + value + "; "}, " "))
			if value == "stop" {
				return frontmatter.NewMistake(line, "stopped", "")
			}
			return nil
		})
		if f != nil {
			got.WriteString(f.Error("x.md").Message)
		}
		if got.String() != want {
			t.Errorf("%q: %q, want %q", head, got.String(), want)
		}
	}
	if f := frontmatter.SplitHead("---\nkind: a\n").ReadFields(names, func(int, string, string) *frontmatter.Fault { return nil }); f == nil || f.Line != 3 {
		t.Errorf("a head without an end: %+v", f)
	}
}

func TestCheckText(t *testing.T) {
	for text, line := range map[string]int{"a\tb\r\nc": 0, "a\n\x00": 2, "\xff": 1, "a\rb": 1} {
		if f := frontmatter.CheckPlainText(text); (f == nil) != (line == 0) || f != nil && f.Line != line {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

// FuzzSplit holds that a split file is the file.
func FuzzSplit(f *testing.F) {
	f.Add("---\na: b\n---\ntext\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := frontmatter.SplitHead(text)
		plain := strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
		if got := d.Head + d.Body; !d.HasHead && got != plain || d.HasHead && !strings.HasSuffix(plain, d.Body) || !strings.Contains(plain, d.Head) {
			t.Errorf("%q: %+v", text, d)
		}
	})
}
