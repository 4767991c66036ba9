package spec

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// What people make of a spec in an editor, and what they are told.
func TestMistakes(t *testing.T) {
	const head = "# Title\n\n## Requirements\n\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no title", "## Requirements\n- REQ-1: a\n", []string{`line 1: a spec starts with its title: write "# " and the title in the first line`}},
		{"text first", "Hello\n# Title\n## Requirements\n- REQ-1: a\n", []string{
			`line 1: a spec starts with its title: write "# " and the title in the first line`, `line 2: the title comes first: put it into the first line`,
		}},
		{"empty title", "#\n## Requirements\n- REQ-1: a\n", []string{`line 1: the title is empty`}},
		{"two titles", head + "- REQ-1: a\n# Notes\n- b\n", []string{`line 6: a spec has one title; write ## for a heading`}},
		{"used twice", head + "- REQ-1: a\n- REQ-2: b\n- REQ-1: c\n", []string{`line 7: REQ-1 is used twice, first in line 5; the next free id is REQ-3`}},
		{"unknown", head + "- REQ-1: a\n## Acceptance Criteria\n- [ ] AC-1 (REQ-1, REQ-7): b\n", []string{`line 7: AC-1 names REQ-7, which is not a requirement; there are REQ-1`}},
		{"no id in brackets", head + "- REQ-1: a\n## Acceptance Criteria\n- [ ] AC-1 (must): b\n", []string{`line 7: AC-1 names "MUST"; put ids of requirements in brackets, such as (REQ-1, REQ-2)`}},
		{"no number", head + "- REQ-4: a\n- REQ: b\n- REQ-: c\n", []string{
			`line 6: "REQ: b" has no number; the next free id is REQ-5`, `line 7: "REQ-: c" has no number; the next free id is REQ-5`,
		}},
		{"no id", head + "- it adds\n", []string{`line 5: "it adds" has no id; write "- REQ-1: it adds"`}},
		{"no colon", head + "- REQ-1 it adds\n", []string{`line 5: "REQ-1 it adds" has no colon after its id; write "- REQ-1: " and the text`}},
		{"no text", head + "- REQ-1:\n", []string{`line 5: REQ-1 is empty; write the text after the colon`}},
		{"misspelled", "# Title\n## Requirments\n- REQ-1: a\n## Aceptance criteria\n- AC-1: b\n", []string{
			`line 2: "Requirments" is not a heading of a spec; write "## Requirements"`, `line 4: "Aceptance criteria" is not a heading of a spec; write "## Acceptance Criteria"`,
		}},
		{"unknown heading", head + "- REQ-1: a\n## Marketing\n- b\n", []string{
			`line 6: "Marketing" is not a heading of a spec; the headings are Problem, Requirements, Acceptance Criteria, Assumptions, Answers, Technical Notes, Out of Scope, Later, Critique`,
		}},
		{"heading twice", head + "- REQ-1: a\n## requirements\n- REQ-2: b\n", []string{`line 6: the heading "Requirements" occurs twice, first in line 3; put everything below one`}},
		{"priority", head + "- REQ-1 (mist): a\n- REQ-2 (soon): b\n- REQ-3 (must, could): c\n", []string{
			`line 5: "mist" is not a priority; write must`, `line 6: "soon" is not a priority; write one of must, should, could, wont`, `line 7: REQ-3 has two priorities, must and could; keep one`,
		}},
		{"attributes", head + "- REQ-1: a\n  - catgory: design\n  - category: designn\n  - confidence: 90%\n  - area: x\n  - area: y\n  - check: make\n", []string{
			`line 6: "catgory" is not known here; write category`, `line 7: "designn" is not a category; write one of functional, non-functional, ui-ux, technical, business-logic, integration, constraint, assumption`,
			`line 8: the confidence is a number from 0 to 1, such as 0.8, not "90%"`, `line 10: REQ-1 has area twice; keep one`,
			`line 11: a requirement has no check; write it to a criterion of REQ-1 below "## Acceptance Criteria"`,
		}},
		{"wrong place", head + "- REQ-1: a\n- AC-1: b\n", []string{`line 6: AC-1 is below "Requirements", whose ids start with REQ-; move it below "Acceptance Criteria"`}},
		{"two checks", head + "- REQ-1: a\n## Acceptance Criteria\n- [ ] AC-1: b (check: `make`)\n  - check: make\n", []string{`line 8: AC-1 has two checks; make two criteria of it`}},
		{"no item", head + "It adds.\n- REQ-1: a\n", []string{`line 5: a requirement starts with "- REQ-1: ", and what belongs to it is indented below it`}},
		{"after an empty line", head + "- REQ-1: a\n\nIt adds.\n", []string{`line 7: a requirement starts with "- REQ-1: ", and what belongs to it is indented below it`}},
		{"nothing", "# Title\n\n## Problem\n\nx\n", []string{`line 1: a spec has at least one requirement: write "- REQ-1: TEXT" below "## Requirements"`}},
		{"no requirement", "# Title\n\n## Requirements\n", []string{`line 3: a spec has at least one requirement: write "- REQ-1: TEXT" below "## Requirements"`}},
		{"invisible", head + "- REQ-1: a\u202eb\n", []string{`line 5: it has an invisible character, U+202E; delete it`}},
		{"hidden in a quote", head + "- REQ-1: a\n  - quote: \"\\u202e\"\n", []string{`line 6: it has an invisible character, U+202E; delete it`}},
		{"not UTF-8", head + "- REQ-1: a\xff\n", []string{`line 5: it is not UTF-8; save the file as UTF-8`}},
		{"open code", "# Title\n## Problem\n```\nx\n## Requirements\n- REQ-1: a\n", []string{"line 3: a block of code starts here and does not end; write ``` below it"}},
		{"open comment", head + "- REQ-1: a\n<!-- later\n- REQ-2: b\n", []string{"line 6: a comment starts here and does not end; write --> where it ends"}},
		{"behind a comment", head + "<!-- a --> - REQ-1: a\n<!-- b\n--> <!-- c --> - b\n", []string{`line 7: "b" has no id; write "- REQ-2: b"`}},
		{"depth", "# Title\nDepth: deeep\n" + head[8:] + "- REQ-1: a\n", []string{`line 2: the depth is quick, standard or deep, not " deeep"`}},
		{"lost text", "# Title\nIt adds.\n" + head[8:] + "- REQ-1: a\n", []string{`line 2: there is text before the first heading; put it below "## Problem"`}},
		{"locked", head + "- REQ-1: a\n## Assumptions\n- A-1 [lokced]: b\n", []string{`line 7: "lokced" is not known here; write [locked] after the id of an assumption that a person agreed to`}},
		{"empty note", head + "- REQ-1: a\n## Technical Notes\n-\n", []string{`line 7: this is empty; write a text, or delete the line`}},
	} {
		_, problems := ReadSpec([]byte(c.text))
		var got []string
		for _, p := range problems {
			got = append(got, p.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// What people write in another way, and mean the same by.
func TestLenient(t *testing.T) {
	want := Spec{
		Title: "Title", Depth: Deep, Problem: "It is slow.\n\n### Why\nNobody knows.",
		Requirements: []nexus.Requirement{
			{ID: "REQ-1", Text: "one\nand more", Priority: nexus.Must, Category: nexus.ReqDesign},
			{ID: "REQ-2", Text: "two\n- with a part\n- and another", Quote: "I said so"},
			{ID: "REQ-3", Text: "three", Priority: nexus.Could, Later: true},
		},
		Criteria:   []SpecCriterion{{ID: "AC-1", Text: "it works", Check: "make test", Of: []string{"REQ-1", "REQ-2"}}},
		Notes:      []string{"a paragraph\nof two lines", "another", "an item\nwrapped"},
		OutOfScope: []string{"speed"},
	}
	text := "\ufeff<!-- a template\nof two lines -->\n# Title\n**Depth:** Deep\n\n## problem statement\nIt is slow.\n\n### Why\nNobody knows.\n\n" +
		"## REQUIREMENTS\n### Basics\n* **REQ-1** (P0, ui_ux): one\nand more\n1. [x] req-2 : two\n\t- with a part\n\t- and another\n\t- Quote: \"I said so\"\n\n" +
		"## Later:\n- `REQ-3` (could): three\n\n## Acceptance criteria\n\n+ [X] **AC-1 (req-1; REQ-2):** it works\n    - check: `make test`\n\n" +
		"## Technical notes\na paragraph\nof two lines\n\nanother\n\n- an item\nwrapped\n## Out-of-scope\n- speed\n"
	for _, text := range []string{text, strings.Replace(text, "\n# Title", " # Title", 1), strings.ReplaceAll(text, "\n", "\r\n")} {
		got, problems := ReadSpec([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%v (-want +got)\n%s", problems, diff)
		}
		if _, ok := ReadIfValid(text); !ok {
			t.Errorf("it is no spec:\n%s", text)
		}
	}
}

// The example in the docs is a spec, as it is written.
func TestDocsShowASpec(t *testing.T) {
	page, err := os.ReadFile("../../../docs/plan-and-approve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```markdown\n")
	example, _, _ := strings.Cut(rest, "```\n")
	s, problems := ReadSpec([]byte(example))
	if len(problems) > 0 || len(s.Requirements) != 3 || string(FormatMarkdown(s)) != example {
		t.Errorf("%v\n%s", problems, cmp.Diff(example, string(FormatMarkdown(s))))
	}
}

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		name, goal string
		want       []string
	}{
		{"one", "Add a function that sums numbers", []string{"Add a function that sums numbers"}},
		{"one with a dot", "Add sum.go.", []string{"Add sum.go."}},
		{"two", "Add sum. Fix the parser!", []string{"Add sum.", "Fix the parser!"}},
		{"wrapped", "Add sum to\nmath.go. It takes\nnumbers.", []string{"Add sum to math.go.", "It takes numbers."}},
		{"urls", "See https://a.example/x.html?q=1. Then add v1.2 of it.", []string{"See https://a.example/x.html?q=1.", "Then add v1.2 of it."}},
		{"short", "Use a map, e.g. of strings, i.e. no list, vs. sets etc. and so on. Also, no. 5 and J. Doe.", []string{
			"Use a map, e.g. of strings, i.e. no list, vs. sets etc. and so on.", "Also, no. 5 and J. Doe.",
		}},
		{"no at the end", "Is it fast? No. Then fix it.", []string{"Is it fast?", "No.", "Then fix it."}},
		{"code in a line", "Run `a. b`. Then stop.", []string{"Run `a. b`.", "Then stop."}},
		{"dots", "Wait... then go. Stop... Now.", []string{"Wait... then go.", "Stop...", "Now."}},
		{"bullets", "Build a tool:\n\n- it adds\n  numbers\n- [ ] it divides. And multiplies.\n\nKeep it small.", []string{"it adds numbers", "it divides.", "And multiplies.", "Keep it small."}},
		{"numbers", "# Tool\n1. Add\n2. Divide\n10) Stop", []string{"Add", "Divide", "Stop"}},
		{"nested", "- a\n  - b\n- c", []string{"a", "b", "c"}},
		{"code", "Make this work.\n```\nx := 1. y\nFoo. Bar.\n```\nAnd test it.", []string{"Make this work.", "And test it."}},
		{"heading alone", "# Add a sum", []string{"Add a sum"}},
		{"quote", "> Add. It\n> works.", []string{"Add.", "It works."}},
		{"quoted end", `Print "done." Then end.`, []string{`Print "done."`, "Then end."}},
		{"nothing", " \n--\n...", nil},
		{"windows", "Add.\r\n\r\nFix.\r\n", []string{"Add.", "Fix."}},
		{"a spec with a mistake", "# T\n## Requirements\n- REQ-1: a\n- REQ-1: b\n", []string{"REQ-1: a", "REQ-1: b"}},
		{"a spec in an open comment", "<!--\n# T\n## Requirements\n- REQ-1: a\n", []string{"REQ-1: a"}},
		{"a spec", "# T\n## Requirements\n- REQ-1: a\n  b\n- REQ-2 (wont): c\n- REQ-4: d\n## Later\n- REQ-3: e\n## Acceptance Criteria\n- AC-1: f\n- AC-2 (REQ-3): g\n- AC-3 (REQ-3, REQ-4): h\n", []string{
			"REQ-1 a b", "REQ-4 d", "AC-1 f", "AC-3 h",
		}},
	} {
		var got []string
		for i, s := range StatementsOf(c.goal) {
			if strings.HasPrefix(s.ID, "S") {
				if s.ID != "S"+string(rune('1'+i)) {
					t.Errorf("%s: id %s", c.name, s.ID)
				}
				got = append(got, s.Text)
			} else {
				got = append(got, s.ID+" "+s.Text)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// A spec that was read without a problem is the same when it is written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("# T\n## Requirements\n- REQ-1 (must): a\n  - quote: \"b\"\n## Acceptance Criteria\n- [ ] AC-1 (REQ-1): c (check: `d`)\n"))
	f.Add([]byte("# T\nDepth: deep\n## Problem\n```\n#\n```\n## Technical Notes\n- [x] a\n\n  b\n## Later\n- REQ-2: c\n"))
	f.Add([]byte("## Requirments\n- REQ: x\n\tREQ-1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := strings.Count(string(text), "\n") + 1
		s, problems := ReadSpec(text)
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines || p.Text == "" {
				t.Fatalf("a problem in line %d of %d: %q", p.Line, lines, p.Text)
			}
		}
		seen := map[string]bool{}
		for _, st := range StatementsOf(string(text)) {
			if len(problems) == 0 && seen[st.ID] {
				t.Fatalf("%s is there twice", st.ID)
			}
			seen[st.ID] = true
		}
		if len(problems) > 0 {
			return
		}
		again, problems := ReadSpec(FormatMarkdown(s))
		if diff := cmp.Diff(s, again); diff != "" || len(problems) > 0 {
			t.Fatalf("%v (-was +is)\n%s\n%s", problems, diff, FormatMarkdown(s))
		}
	})
}
