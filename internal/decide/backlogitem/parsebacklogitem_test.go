package backlogitem

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const whole = `---
state: waiting
reason: run r1 ended as partial; T4 is parked
priority: high
order: 2
type: docs
file: a/b.go
file: c.md
check: make docs
added: 2026-11-26
by: ada
run: r1
---

# Describe the parser

Say what it takes.

- and what not
`

// TestParse reads a file that has everything, and writes the same.
func TestParse(t *testing.T) {
	i, err := ParseBacklogItem(".nexus/backlog/describe.md", []byte(strings.ReplaceAll(whole, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := BacklogItem{
		ID: "describe", Title: "Describe the parser", Text: "Say what it takes.\n\n- and what not", State: Waiting,
		Reason:   "run r1 ended as partial; T4 is parked",
		Priority: "high", Order: 2, Kind: "docs", Files: []string{"a/b.go", "c.md"}, Check: "make docs",
		Added: "2026-11-26", By: "ada", Run: "r1",
	}
	if diff := cmp.Diff(want, i); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(whole, i.String()); diff != "" {
		t.Error(diff)
	}
	if i, err := ParseBacklogItem("x.md", []byte("\n# Only a title\n")); err != nil || i.State != Waiting || i.Title != "Only a title" || i.Text != "" {
		t.Errorf("%+v, %v", i, err)
	}
}

// TestMistakes names the line of each mistake that people make, and says what to write.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"---\nstate: later\n---\n# A\n":                        `x.md:2: unknown state "later"`,
		"---\nstates: done\n---\n# A\n":                        `x.md:2: unknown field "states"`,
		"---\nstate waiting\n---\n# A\n":                       `x.md:2: "state waiting" is not a field`,
		"---\n\nby:\n---\n# A\n":                               "x.md:3: by has no value",
		"---\nby: a\nby: b\n---\n# A\n":                        "x.md:3: by is there twice; it was set in line 2",
		"---\norder: first\n---\n# A\n":                        `x.md:2: "first" is not a place`,
		"---\npriority: urgent\n---\n# A\n":                    `x.md:2: unknown priority "urgent"`,
		"---\ntype: bug\n---\n# A\n":                           `x.md:2: unknown type "bug"`,
		"---\nfile: ../a\n---\n# A\n":                          `x.md:2: "../a" is not a path within the repository`,
		"---\nadded: today\n---\n# A\n":                        `x.md:2: added is not a day: "today"`,
		"---\nstate: done\ncommit: abc\n---\n# A\n":            `x.md:3: "abc" is not the hash of a commit`,
		"---\nstate: rejected\n---\n# A\n":                     "x.md:2: it is rejected without a reason",
		"---\ncommit: " + strings.Repeat("a", 40) + "\n---\n#": "x.md:2: it has a commit and is not done",
		"---\nstate: waiting\n# A\n":                           `x.md:3: "# A" is not a field`,
		"---\nstate: waiting\n":                                "x.md:3: the head has no end",
		"---\nstate: waiting\n---\n\n":                         "x.md:5: there is no title",
		"---\nstate: waiting\n---\n\nA title\n":                `x.md:5: "A title" is not a title`,
		"# A\x00\n":                                            "x.md:1: the line has characters that are not text",
		"# " + strings.Repeat("a", 200):                        "x.md:1: the title has more than 120 bytes",
		"---\nby: " + strings.Repeat("a", 600) + "\n---\n# A":  "x.md:2: by has more than 500 bytes",
		"": "x.md:1: there is no title",
	} {
		_, err := ParseBacklogItem("x.md", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ParseBacklogItem("X Y.md", []byte("# A")); err == nil || !strings.Contains(err.Error(), "is not the name of an item") {
		t.Error(err)
	}
}

// FuzzParse reads what anybody may write, and what it takes stays the same when it is
// written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("# A\n\n---\nb"))
	f.Add([]byte("---\nstate: done\ncommit: " + strings.Repeat("a", 40) + "\n---\n\n\n#  A  \n\n\n b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := ParseBacklogItem("x.md", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.md:") {
				t.Errorf("no line: %v", err)
			}
			return
		}
		again, err := ParseBacklogItem("x.md", []byte(i.String()))
		if diff := cmp.Diff(i, again); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", i.String(), err, diff)
		}
	})
}

// TestMove gives an item the place and the priority of another one, and leaves what need
// not change.
func TestMove(t *testing.T) {
	all := []BacklogItem{
		{ID: "h", State: Waiting, Priority: "high"},
		{ID: "a", State: Waiting, Order: 1},
		{ID: "b", State: Waiting, Order: 2},
		{ID: "c", State: Waiting},
		{ID: "old", State: Done},
	}
	show := func(all []BacklogItem) string {
		var b strings.Builder
		for _, i := range all {
			b.WriteString(i.ID + string(i.Priority) + string(rune('0'+i.Order)) + " ")
		}
		return b.String()
	}
	for _, c := range []struct {
		id, other string
		after     bool
		want      string
	}{
		{"c", "a", false, "c1 a2 b3 "},
		{"c", "a", true, "c2 b3 "},
		{"a", "c", true, "b1 c2 a3 "},
		{"c", "h", false, "chigh1 hhigh2 "},
		{"h", "b", true, "h3 c4 "},
		{"a", "a", true, ""},
		{"x", "a", true, ""},
	} {
		if got := show(MoveItem(all, c.id, c.other, c.after)); got != c.want {
			t.Errorf("%s to %s (after %v): %q, want %q", c.id, c.other, c.after, got, c.want)
		}
	}
	SortItems(all)
	if got := show(all); got != "hhigh0 a1 b2 c0 old0 " {
		t.Error(got)
	}
}

// TestName makes names that files may have, each once.
func TestName(t *testing.T) {
	taken := map[string]bool{"faster-start": true, "faster-start-2": true}
	for title, want := range map[string]string{
		"Faster start!": "faster-start-3", "Fix #12: \"a\" in b.go": "fix-12-a-in-b-go", "README": "item", "...": "item",
		strings.Repeat("word ", 20): "word-word-word-word-word-word-word-word", strings.Repeat("x", 90): strings.Repeat("x", 40),
	} {
		got := NewItemID(title, func(s string) bool { return taken[s] })
		if got != want || !name.MatchString(got) {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// TestMentions holds that the finding of a file is known also where the file cannot be read.
func TestMentions(t *testing.T) {
	for text, want := range map[string]string{
		"---\nstate: rejectd\nfinding: todo/162c4d6b25\n---\n# x\n": "todo/162c4d6b25",
		"finding:todo/a": "todo/a", "---\r\nfinding: todo/a\r\n": "todo/a",
		"": "", "finding: none": "", "finding: a/b/c": "", "findings: todo/a": "", "# finding todo/a": "",
	} {
		if got := FindingOfItemFile([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
