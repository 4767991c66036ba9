package spec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestMarkdown(t *testing.T) {
	s := Spec{
		Title: "Sum of numbers", Depth: Deep, Problem: "People add by hand.\n\n```\n# no title\n```\n### Why\n\\## kept",
		Requirements: []nexus.Requirement{
			{ID: "REQ-1", Text: "Add two numbers", Priority: nexus.Must},
			{ID: "REQ-2", Text: "Say what is wrong\n- with letters\n- check: this is text", Category: nexus.ReqDesign, Area: "api", Confidence: 0.75, Quote: "be clear:\n\"no\""},
			{ID: "REQ-3", Text: "Multiply", Priority: nexus.Could, Later: true},
		},
		Criteria: []SpecCriterion{
			{ID: "AC-1", Text: "sum 1 2 prints 3", Check: "test $(sum 1 2) = 3", Of: []string{"REQ-1", "REQ-2"}},
			{ID: "AC-2", Text: "it says (check: `so`)", Check: "echo `sum` | `grep`"},
			{ID: "AC-3", Text: "it ends in (check: `so`)"},
		},
		Assumptions: []SpecAssumption{{ID: "A-1", Text: "Integers only", Locked: true}, {ID: "A-2", Text: "ASCII"}},
		Answers:     []string{"Which numbers?\n- all of them"},
		Notes:       []string{"Use the standard library.\n\nNothing else.", "[x] is no box"},
		OutOfScope:  []string{"Division"},
		Critique:    []string{"REQ-2 says little."},
	}
	text := FormatMarkdown(s)
	got, problems := ReadSpec(text)
	if len(problems) > 0 {
		t.Fatalf("%v in\n%s", problems, text)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, text)
	}
	for _, want := range []string{"# Sum of numbers\n", "\n- REQ-1 (must): Add two numbers\n", "\n- [ ] AC-1 (REQ-1, REQ-2): sum 1 2 prints 3 (check: `test $(sum 1 2) = 3`)\n", "\n- A-1 [locked]: Integers only\n", "\n## Later\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// pieces are parts of texts that could be taken for something else.
var pieces = []string{"a", "word", " ", "  ", "\n", "\n", "\n\n", "- ", "* ", "1. ", "# ", "## ", "## Later", "### x", `\`, "`", "```", "~~~", "<!-- x", "-->", "[ ] ", "[x] ", "REQ-1", "- REQ-9: x", "- AC-1", "A-1: ", "(must)", ": ", "check: x", "- check: x", "- quote: y", "- catgory: z", "(check: `x`)", `"`, "**", "__", "(", ")", "[locked]", "\t", "\u00e4", "Depth: deep", "%", "(REQ-1)", "...", "3.", "e.g. "}

func sentence(r *rand.Rand, lines bool) string {
	for {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		s := b.String()
		if !lines {
			s = strings.ReplaceAll(s, "\n", " ")
		}
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
}

func made(r *rand.Rand) Spec {
	s := Spec{Title: strings.Join(strings.Fields(sentence(r, false)), " "), Depth: []SpecDepth{"", Quick, Standard, Deep}[r.IntN(4)]}
	if r.IntN(2) == 0 {
		s.Problem = sentence(r, true)
	}
	for i := range 1 + r.IntN(4) {
		q := nexus.Requirement{ID: fmt.Sprintf("REQ-%d", i+1), Text: sentence(r, true)}
		if r.IntN(2) == 0 {
			q.Priority = nexus.RequirementPriorities()[r.IntN(4)]
			q.Category = nexus.RequirementCategories()[r.IntN(8)]
			q.Confidence = float64(r.IntN(100)) / 100
			q.Area, q.Quote = sentence(r, true), sentence(r, true)
		}
		q.Later = i > 1
		s.Requirements = append(s.Requirements, q)
	}
	for i := range r.IntN(4) {
		c := SpecCriterion{ID: fmt.Sprintf("AC-%d", i+1), Text: sentence(r, true)}
		if r.IntN(2) == 0 {
			c.Check = sentence(r, false)
		}
		if r.IntN(2) == 0 {
			c.Of = []string{"REQ-1"}
		}
		s.Criteria = append(s.Criteria, c)
	}
	for i := range r.IntN(3) {
		s.Assumptions = append(s.Assumptions, SpecAssumption{ID: fmt.Sprintf("A-%d", i+1), Text: sentence(r, true), Locked: r.IntN(2) == 0})
	}
	for _, to := range []*[]string{&s.Answers, &s.Notes, &s.OutOfScope, &s.Critique} {
		for range r.IntN(3) {
			*to = append(*to, sentence(r, true))
		}
	}
	return s
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(4_000) {
		s := made(rand.New(rand.NewPCG(seed, 1)))
		text := FormatMarkdown(s)
		got, problems := ReadSpec(text)
		if diff := cmp.Diff(s, got); diff != "" || len(problems) > 0 {
			t.Fatalf("seed %d: %v (-want +got)\n%s\n%s", seed, problems, diff, text)
		}
		if !LooksLikeSpec(string(text)) {
			t.Fatalf("seed %d: it is no spec:\n%s", seed, text)
		}
	}
}
