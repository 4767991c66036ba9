package spec

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sampleRoadmap = `# Roadmap

What we want to reach, and when.

## First version

People can log in.
They need one password.

Tag: v0.1.0

- spec: login
- goal: Say hello in
  three languages
- [ ] AC-1: The tests pass (check: ` + "`go test ./...`" + `)
- [ ] AC-2: The help reads well
  - accepted: 2026-11-26 by Ada of 02c705e284eb: looked at it
- [ ] AC-3: It starts
  within a second
  - check: sh fast.sh
- [x] AC-4: It prints
- [ ] AC-5: It is small
  - accepted: 2026-11-26 by Bob of 000000000000: weighed it

### Later, perhaps

Nothing yet. Note: this is text.

## Second version

- spec: .nexus/specs/logout.md

# Closed

## Zero

Closed: 2026-10-01 v0.0.1 0123456789012345678901234567890123456789

Tag: v0.0.1
`

func readRoadmap(t *testing.T, text string) Roadmap {
	t.Helper()
	r, problems := ReadRoadmap([]byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v in\n%s", problems, text)
	}
	return r
}

func TestReadRoadmap(t *testing.T) {
	want := Roadmap{Title: "Roadmap", Milestones: []Milestone{
		{
			Name: "first-version", Title: "First version", Tag: "v0.1.0",
			About: "People can log in.\nThey need one password.\n### Later, perhaps\nNothing yet. Note: this is text.",
			Specs: []string{"login"}, Goals: []string{"Say hello in three languages"},
			Criteria: []MilestoneCriterion{
				{SpecCriterion: SpecCriterion{ID: "AC-1", Text: "The tests pass", Check: "go test ./..."}},
				{SpecCriterion: SpecCriterion{ID: "AC-2", Text: "The help reads well"}, Accepted: "accepted by Ada on 2026-11-26: looked at it"},
				{SpecCriterion: SpecCriterion{ID: "AC-3", Text: "It starts\nwithin a second", Check: "sh fast.sh"}},
				{SpecCriterion: SpecCriterion{ID: "AC-4", Text: "It prints"}, Accepted: "marked as done in .nexus/roadmap.md"},
				{SpecCriterion: SpecCriterion{ID: "AC-5", Text: "It is small"}, Earlier: "Bob"},
			},
		},
		{Name: "second-version", Title: "Second version", Specs: []string{"logout"}},
		{Name: "zero", Title: "Zero", Tag: "v0.0.1", Commit: "0123456789012345678901234567890123456789"},
	}}
	r := readRoadmap(t, sampleRoadmap)
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, readRoadmap(t, "\uFEFF"+strings.ReplaceAll(sampleRoadmap, "\n", "\r\n"))); diff != "" {
		t.Errorf("with Windows line ends: %s", diff)
	}
	for name, want := range map[string]string{
		"first-version": "first-version", "1": "first-version", "second version": "second-version", "3": "zero", "4": "", "0": "", "third": "", "": "",
	} {
		if m, ok := r.Find(name); m.Name != want || ok != (want != "") {
			t.Errorf("%q is milestone %q, want %q", name, m.Name, want)
		}
	}
	if near := r.NearestName("first-verson"); near != "first-version" {
		t.Errorf("near is %q", near)
	}
	done := readRoadmap(t, strings.Replace(sampleRoadmap, "- [ ] AC-5", "- [x] AC-5", 1))
	changed := readRoadmap(t, strings.Replace(sampleRoadmap, "It prints", "It prints fast", 1))
	if one := r.Milestones[0].Fingerprint(); one != done.Milestones[0].Fingerprint() || one == changed.Milestones[0].Fingerprint() {
		t.Error("the fingerprint is of what a milestone asks for, and of nothing else")
	}
}

// What people make of a roadmap in an editor, and what they are told.
func TestRoadmapMistakes(t *testing.T) {
	const head = "# Roadmap\n\n## One\n\n"
	for text, want := range map[string]string{
		"":                "",
		"Hello\n## One\n": "",
		"##\n## ??\n": `line 1: the milestone needs a title with letters or digits, such as "## First version"
line 2: the milestone needs a title with letters or digits, such as "## First version"
line 2: "??" has the name , which a milestone in line 1 has already; choose another title`,
		head + "# Two\n":    `line 5: a roadmap has one title; write ## for a milestone`,
		head + "## one!\n":  `line 5: "one!" has the name one, which a milestone in line 3 has already; choose another title`,
		"- spec: a\n## One": `line 1: "- spec: a" is before the first milestone; write "## " and the title of the milestone above it`,
		"- [ ] AC-1: a\n":   `line 1: "- [ ] AC-1: a" is before the first milestone; write "## " and the title of the milestone above it`,
		"Tag: v1\n":         `line 1: "Tag: v1" is before the first milestone; write "## " and the title of the milestone above it`,
		head + "- it works\n": `line 5: "- it works" is not a part of a milestone; write "- spec: NAME", "- goal: TEXT" or "- [ ] AC-1: TEXT", ` +
			`or text without a dash`,
		head + "- tag: v1\n":                          `line 5: write "Tag: " without a dash, in a line of its own`,
		head + "- spec:\n":                            `line 5: "" cannot name a spec; write the name of a file in .nexus/specs, such as login`,
		head + "- spec: ../x\n":                       `line 5: "../x" cannot name a spec; write the name of a file in .nexus/specs, such as login`,
		head + "- goal:\n":                            `line 5: the goal is empty; write what is wanted after the colon`,
		head + "- goal: a\n  - check: b\n":            `line 6: nothing goes below a goal; make it another "- goal: "`,
		head + "- [ ] it works\n":                     `line 5: "it works" has no id; write "- AC-1: it works"`,
		head + "- AC-1 (REQ-1): y\n":                  `line 5: AC-1 is of REQ-1; a criterion of a milestone is of all of it: delete the brackets`,
		head + "- AC-3: y\n\n\n- AC-3: z\n":           `line 8: AC-3 is used twice, first in line 5; the next free id is AC-4`,
		head + "- AC-2: d \\(check: `e`) f\n":         "",
		head + "- AC-1: a (check: `b`)\n\nText.\n":    "",
		head + "- AC-1: a (check: `b`)\nc\n":          `line 5: AC-1 has text after its check, so the check would not run; write the check at the end, or an empty line before the text`,
		head + "- AC-1: a\n  - acepted: h\n":          `line 6: "acepted" is not known here; write accepted`,
		head + "Tag: v1\nTag: v2\n":                   `line 6: the milestone has two tags; keep one`,
		head + "Tag: v1\n## Two\nTag: v1\n":           `line 6: the tag v1 is that of one already; choose another`,
		head + "Tag: a..b\n":                          `line 5: "a..b" cannot be a tag; write one such as v0.1.0`,
		head + "Tags: v5\n":                           `line 5: "Tags" is not known here; write Tag`,
		head + "Closed: yes\n":                        `line 5: "Closed:" is followed by a date, a tag and a commit; to open the milestone again, delete the line`,
		head + "<!-- x\n## Two\n":                     `line 5: a comment starts here and does not end; write --> where it ends`,
		head + "<!-- - spec: ../x\n-->\n- goal: a\n":  "",
		head + "```\n## Two\n":                        "line 5: a block of code starts here and does not end; write ``` below it",
		head + "```\n- x\n```\n":                      "",
		head + "a\u202eb\n":                           `line 5: it has an invisible character, U+202E; delete it`,
		head + "- AC-1: a\n  - accepted: yes\n":       `line 6: write "- accepted: 2026-01-31 by NAME: " and what was seen, or delete this line and write [x] in front of the criterion`,
		head + "- AC-1: a\n- AC-2: b\n- goal: c d: e": "",
	} {
		_, problems := ReadRoadmap([]byte(text))
		var got []string
		for _, p := range problems {
			got = append(got, p.String())
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// Each line number that is reported is one of the file, whatever the file has.
func FuzzReadRoadmap(f *testing.F) {
	for _, s := range []string{sampleRoadmap, "", "# R\n## A\n- AC-1: x\n\n  - accepted: 2026-01-02 by A: y\n", "# R\n# Closed\n## A\n```\n", "- x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, problems := ReadRoadmap(data)
		for _, p := range problems {
			if p.Line < 1 || p.Line > strings.Count(string(data), "\n")+1 || p.Text == "" {
				t.Fatalf("%+v in %q", p, data)
			}
		}
	})
}

// The roadmap that docs/plan-and-approve.md shows is one.
func TestRoadmapOfDocs(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/plan-and-approve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```markdown\n# Roadmap\n")
	text, _, _ := strings.Cut(rest, "\n```\n")
	r := readRoadmap(t, "# Roadmap\n"+text)
	if len(r.Milestones) != 2 || len(r.Milestones[0].Criteria) != 2 || r.Milestones[0].Criteria[1].Accepted == "" {
		t.Errorf("%+v", r.Milestones)
	}
}
