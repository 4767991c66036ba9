package roadmap

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
)

const sample = `# Roadmap

What we want to reach, and when.

## First version

People can log in.
They need one password.

Tag: v0.1.0

- spec: login
- goal: Say hello in
  three languages
- [ ] AC-1: The tests pass (check: ` + "`go test ./...`" + `)
- [x] AC-2: The page looks right
  - accepted: 2026-11-26 by Ada of 7bd9bfbf1024: looked at it
- [ ] AC-3: It starts
  within a second
  - check: sh fast.sh

### Later, perhaps

Nothing yet. Note: this is text.

## Second version

- spec: .nexus/specs/logout.md

# Closed

## Zero

Closed: 2026-10-01 v0.0.1 0123456789012345678901234567890123456789
`

func read(t *testing.T, text string) Roadmap {
	t.Helper()
	r, problems := ReadRoadmap([]byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v in\n%s", problems, text)
	}
	return r
}

func TestRead(t *testing.T) {
	want := []Milestone{
		{
			Name: "first-version", Number: 1, Title: "First version", Tag: "v0.1.0",
			About: "People can log in.\nThey need one password.\n\n### Later, perhaps\n\nNothing yet. Note: this is text.",
			Specs: []MilestonePart{{"login", 12}}, Goals: []MilestonePart{{"Say hello in three languages", 13}},
			Criteria: []MilestoneCriterion{
				{SpecCriterion: spec.SpecCriterion{ID: "AC-1", Text: "The tests pass", Check: "go test ./..."}, Line: 15},
				{
					SpecCriterion: spec.SpecCriterion{ID: "AC-2", Text: "The page looks right"}, Line: 16,
					Accepted: &PersonAcceptance{Date: "2026-11-26", By: "Ada", Reason: "looked at it", Of: "7bd9bfbf1024"},
				},
				{SpecCriterion: spec.SpecCriterion{ID: "AC-3", Text: "It starts\nwithin a second", Check: "sh fast.sh"}, Line: 18},
			},
		},
		{Name: "second-version", Number: 2, Title: "Second version", Specs: []MilestonePart{{"logout", 28}}},
		{Name: "zero", Title: "Zero", Tag: "v0.0.1", Closed: &ClosedMilestone{"2026-10-01", "v0.0.1", "0123456789012345678901234567890123456789"}},
	}
	alike := []cmp.Option{cmpopts.IgnoreUnexported(Milestone{}, MilestoneCriterion{}, PersonAcceptance{})}
	if diff := cmp.Diff(want, read(t, sample).Milestones, alike...); diff != "" {
		t.Error(diff)
	}
	windows := read(t, "\uFEFF"+strings.ReplaceAll(sample, "\n", "\r\n"))
	if diff := cmp.Diff(want, windows.Milestones, alike...); diff != "" {
		t.Errorf("with Windows line ends: %s", diff)
	}
	r := read(t, sample)
	for name, want := range map[string]int{"first-version": 0, "1": 0, "second version": 1, "2": 1, "zero": 2, "3": -1, "0": -1, "third": -1} {
		if got := r.Find(name); got != want {
			t.Errorf("%q is milestone %d, want %d", name, got, want)
		}
	}
	if near := r.NearestName("first-verson"); near != "first-version" {
		t.Errorf("near is %q", near)
	}
}

func texts(problems []spec.TextProblem) (all []string) {
	for _, p := range problems {
		all = append(all, p.String())
	}
	return all
}

// What people make of a roadmap in an editor, and what they are told.
func TestMistakes(t *testing.T) {
	const head = "# Roadmap\n\n## One\n\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{`line 1: a roadmap starts with its title: write "# Roadmap" in the first line`}},
		{"no title", "## One\n", []string{`line 1: a roadmap starts with its title: write "# Roadmap" in the first line`}},
		{"text first", "Hello\nyou\n# Roadmap\n", []string{`line 1: a roadmap starts with its title: write "# Roadmap" in the first line`}},
		{"empty titles", "#\n##\n## ??\n", []string{
			`line 1: the title is empty`, `line 2: the milestone needs a title with letters or digits, such as "## First version"`,
			`line 3: the milestone needs a title with letters or digits, such as "## First version"`,
		}},
		{"two titles", head + "# Two\n", []string{`line 5: a roadmap has one title; write ## for a milestone, or "# Closed" above those that are closed`}},
		{"twice", head + "## one!\n", []string{`line 5: "one!" has the name one, which a milestone in line 3 has already; choose another title`}},
		{"before", "# Roadmap\n- spec: a\n- [ ] AC-1: b\nTag: v1\n## One\n", []string{
			`line 2: "spec: a" is before the first milestone; write "## " and the title of the milestone above it`,
			`line 3: a criterion is before the first milestone; write "## " and the title of the milestone above it`,
			`line 4: "Tag: v1" is before the first milestone; write "## " and the title of the milestone above it`,
		}},
		{"items", head + "- it works\n- specs: a\n- goals: b\n- REQ-1: c\n- tag: v1\n- spec:\n- goal:\n- spec: ../x\n- spec: a\n- spec: a.md\n", []string{
			`line 5: "it works" is not a part of a milestone; write "- spec: NAME", "- goal: TEXT" or "- [ ] AC-1: TEXT", or text without a dash`,
			`line 6: "specs" is not known here; write "- spec: "`, `line 7: "goals" is not known here; write "- goal: "`,
			`line 8: requirements are in specs: name the spec with "- spec: NAME", or write "- goal: " and what is wanted`,
			`line 9: write "Tag: " without a dash, in a line of its own`,
			`line 10: the spec has no name; write the name of a file in .nexus/specs, such as login`,
			`line 11: the goal is empty; write what is wanted after the colon`,
			`line 12: "../x" cannot name a spec; write the name of a file in .nexus/specs, such as login`,
			`line 14: the spec a is named twice in this milestone; delete this line`,
		}},
		{"criteria", head + "- [ ] it works\n- AC-2 it\n- AC: x\n- AC-3 (REQ-1): y\n- AC-3: z\n- AC-4: w (check: `a`)\n  - check: b\n  - chek: b\n", []string{
			`line 5: "it works" has no id; write "- AC-1: it works"`, `line 6: "AC-2 it" has no colon after its id; write "- AC-2: " and the text`,
			`line 7: "AC: x" has no number; the next free id is AC-1`, `line 8: AC-3 is of REQ-1; a criterion of a milestone is of all of it: delete the brackets`,
			`line 9: AC-3 is used twice, first in line 8; the next free id is AC-4`, `line 11: AC-4 has two checks; make two criteria of it`,
			`line 12: "chek" is not known here; write check`,
		}},
		{"a check within", head + "- AC-1: a (check: `b`)\nc\n- AC-2: d \\(check: `e`) f\n", []string{
			`line 5: AC-1 has text after its check, so the check would not run; write the check at the end, or an empty line before the text`,
		}},
		{"acceptances", head + "- AC-1: a\n  - accepted: yes\n- AC-2: b (check: `c`)\n  - accepted: 2026-01-02 by A: d\n- AC-3: e\n  - accepted: 2026-13-02 by A: f\n- AC-4: g\n  - acepted: h\n- AC-5: i\n  - accepted: 2026-01-02 by A: j\n  - accepted: 2026-01-03 by B: k\n", []string{
			`line 6: write "- accepted: 2006-01-02 by NAME: " and what was seen, or let nexus milestone accept write it`,
			`line 8: AC-2 has a check, which says whether it is met; delete the check or this line`,
			`line 10: write "- accepted: 2006-01-02 by NAME: " and what was seen, or let nexus milestone accept write it`,
			`line 12: "acepted" is not known here; write accepted`, `line 15: AC-5 was accepted in line 14 already; keep one`,
		}},
		{"tags", head + "Tag: v1\nTag: v2\n## Two\nTag: v1\n## Three\nTag: a b\n## Four\nTag:\n## Five\nTags: v5\n## Six\nTag: a..b\n", []string{
			`line 6: the milestone has two tags; keep one`, `line 8: the tag v1 is that of a milestone in line 5 already; choose another`,
			`line 10: "a b" cannot be a tag; write one such as v0.1.0`, `line 12: the tag is empty; write a tag, such as v0.1.0, or delete the line`,
			`line 14: "Tags" is not known here; write Tag`, `line 16: "a..b" cannot be a tag; write one such as v0.1.0`,
		}},
		{"closed", head + "Closed: yes\n# Closed\n## Two\n", []string{
			`line 5: "Closed:" is followed by a date, a tag and a commit, as nexus milestone close writes it; to open the milestone again, delete the line`,
			`line 7: "Two" is below "# Closed" and has no line "Closed:"; move it above that heading`,
		}},
		{"two parts", "# Roadmap\n# Closed\n# closed\n", []string{`line 3: the heading "Closed" occurs twice, first in line 2; put everything below one`}},
		{"below a goal", head + "- goal: a\n  - check: b\n", []string{`line 6: nothing goes below a goal; make it another "- goal: "`}},
		{"open", head + "<!-- x\n## Two\n", []string{`line 5: a comment starts here and does not end; write --> where it ends`}},
		{"open code", head + "```\n## Two\n", []string{"line 5: a block of code starts here and does not end; write ``` below it"}},
		{"invisible", head + "a\u202eb\nc\xff\n", []string{`line 5: it has an invisible character, U+202E; delete it`, `line 6: it is not UTF-8; save the file as UTF-8`}},
	} {
		_, problems := ReadRoadmap([]byte(c.text))
		if diff := cmp.Diff(c.want, texts(problems)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// Every change keeps all other lines, and can be read.
func TestEdit(t *testing.T) {
	r := read(t, sample)
	lines := func(text []byte) []string {
		return slices.Sorted(slices.Values(slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool { return l == "" })))
	}
	for _, c := range []struct {
		name  string
		text  []byte
		names string
		more  []string
	}{
		{"add", r.Add(MilestoneDraft{Title: "Third", Criteria: []string{"it works (check: `true`)"}, Tag: "v3", Specs: []string{"s"}, Goals: []string{"g"}, About: "Why."}, -1), "[first-version second-version third zero]", []string{"## Third", "- [ ] AC-1: it works (check: `true`)", "Tag: v3", "- spec: s", "- goal: g", "Why."}},
		{"add before", r.Add(MilestoneDraft{Title: "Third"}, 1), "[first-version third second-version zero]", []string{"## Third"}},
		{"move down", r.Move(0, -1), "[second-version first-version zero]", nil},
		{"move up", r.Move(1, 0), "[second-version first-version zero]", nil},
		{"move nowhere", r.Move(1, 1), "[first-version second-version zero]", nil},
		{"accept", r.Accept(0, 2, PersonAcceptance{Date: "2026-01-02", By: "A: b", Reason: "it\nis"}), "[first-version second-version zero]", []string{"  - accepted: 2026-01-02 by A  b of " + r.Milestones[0].Criteria[2].TextFingerprint() + ": it is"}},
		{"close", r.Close(0, ClosedMilestone{"2026-01-02", "v0.1.0", strings.Repeat("a", 40)}), "[second-version zero first-version]", []string{"Closed: 2026-01-02 v0.1.0 " + strings.Repeat("a", 40)}},
	} {
		was := lines([]byte(sample))
		want := slices.Sorted(slices.Values(append(was, c.more...)))
		if diff := cmp.Diff(want, lines(c.text)); diff != "" {
			t.Errorf("%s: lines (-want +got)\n%s", c.name, diff)
		}
		if c.name == "accept" {
			continue // AC-3 has a check
		}
		if got := fmt.Sprint(read(t, string(c.text)).MilestoneNames()); got != c.names {
			t.Errorf("%s: %s, want %s", c.name, got, c.names)
		}
	}
	again := read(t, string(r.Accept(0, 1, PersonAcceptance{Date: "2026-12-01", By: "Bob", Reason: "again"})))
	if got := again.Milestones[0].Criteria[1].Accepted; got.By != "Bob" || again.Milestones[0].Criteria[1].TextFingerprint() != got.Of || len(again.lines) != len(r.lines) {
		t.Errorf("accepted again: %+v", got)
	}
	gone := read(t, string(r.Remove(0)))
	if fmt.Sprint(gone.MilestoneNames()) != "[second-version zero]" || gone.Milestones[0].Number != 1 || bytes.Contains(gone.FileText(), []byte("password")) {
		t.Errorf("removed:\n%s", gone.FileText())
	}
	first, _ := ReadRoadmap(nil)
	if got := string(first.Add(MilestoneDraft{Title: "One"}, -1)); got != "# Roadmap\n\n## One\n" {
		t.Errorf("the first is %q", got)
	}
	windows := read(t, strings.ReplaceAll(sample, "\n", "\r\n")).Add(MilestoneDraft{Title: "Third"}, 0)
	if bytes.Count(windows, []byte("\n")) != bytes.Count(windows, []byte("\r\n")) {
		t.Errorf("line ends are mixed: %q", windows)
	}
	closed := read(t, string(read(t, "# R\n\n## A\n\nx\n\n## B\n").Close(0, ClosedMilestone{"2026-01-02", "v1", strings.Repeat("a", 40)})))
	if got, want := string(closed.FileText()), "# R\n\n## B\n\n# Closed\n\n## A\n\nClosed: 2026-01-02 v1 "+strings.Repeat("a", 40)+"\n\nx\n"; got != want {
		t.Errorf("closed:\n%s", got)
	}
}

// Whatever somebody wrote can be read, and changing one part of what is understood loses nothing of the rest.
func FuzzRead(f *testing.F) {
	for _, s := range []string{sample, "", "# R\n## A\n- AC-1: x\n\n  - accepted: 2026-01-02 by A: y\n", "# R\n# Closed\n## A\n```\n", "# R\n## A\n<!-- -->\n- goal: x\nTag: v1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, problems := ReadRoadmap(data)
		for _, p := range problems {
			if p.Line < 1 || p.Line > len(r.lines)+1 || p.Text == "" {
				t.Fatalf("%+v in %q", p, data)
			}
		}
		if len(problems) > 0 {
			return
		}
		back, problems := ReadRoadmap(r.FileText())
		alike := []cmp.Option{cmpopts.IgnoreUnexported(Milestone{}, MilestoneCriterion{}, PersonAcceptance{})}
		if diff := cmp.Diff(r.Milestones, back.Milestones, alike...); diff != "" || len(problems) > 0 {
			t.Fatalf("%v %s in %q", problems, diff, data)
		}
		for i, m := range r.Milestones {
			if m.Closed != nil {
				continue
			}
			for what, text := range map[string][]byte{
				"move": r.Move(i, 0), "close": r.Close(i, ClosedMilestone{"2026-01-02", "v9.9", strings.Repeat("b", 40)}),
				"add": r.Add(MilestoneDraft{Title: "zz zz zz"}, i),
			} {
				after, problems := ReadRoadmap(text)
				if slices.Contains(r.MilestoneNames(), "zz-zz-zz") {
					continue
				}
				left := len(r.Milestones)
				if what == "add" {
					left++
				}
				j := after.Find(m.Name)
				if len(problems) > 0 || j < 0 || len(after.Milestones) != left || after.Milestones[j].About != m.About && what != "close" || len(after.Milestones[j].Criteria) != len(m.Criteria) {
					t.Fatalf("%s %d: %v in\n%q\nof\n%q", what, i, problems, text, data)
				}
			}
			for j, c := range m.Criteria {
				if c.Check != "" {
					continue
				}
				after, problems := ReadRoadmap(r.Accept(i, j, PersonAcceptance{Date: "2026-01-02", By: "Ada", Reason: "seen"}))
				got := after.Milestones[i].Criteria[j]
				if len(problems) > 0 || got.Accepted == nil || got.Accepted.Reason != "seen" || got.TextFingerprint() != c.TextFingerprint() {
					t.Fatalf("accept %d %d: %v in\n%q\nof\n%q", i, j, problems, after.FileText(), data)
				}
			}
		}
	})
}

// The roadmap that docs/plan-and-approve.md shows is one.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/plan-and-approve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```markdown\n# Roadmap\n")
	text, _, _ := strings.Cut(rest, "\n```\n")
	r := read(t, "# Roadmap\n"+text)
	if len(r.Milestones) != 3 || len(r.Milestones[0].Criteria) != 2 {
		t.Fatalf("%+v", r.Milestones)
	}
	if c := r.Milestones[0].Criteria[1]; c.Accepted == nil || c.Accepted.Of != c.TextFingerprint() {
		t.Errorf("%+v is not accepted: %s", c, c.TextFingerprint())
	}
}
