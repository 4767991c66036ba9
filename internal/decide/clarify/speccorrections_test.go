package clarify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// draftOf is a first round of an interview in which there is one of each.
func draftOf() InterviewSubmission {
	return InterviewSubmission{
		Requirements: []RequirementDraft{{Text: "Notes are kept", Confidence: sure(1)}, {Text: "Notes are listed", Confidence: sure(1), Priority: "must"}},
		Assumptions:  []string{"One person uses it", "Notes are in memory"},
		Criteria:     []CriterionDraft{{Text: "A note is found again", Of: []string{"REQ-1"}}, {Text: "The list is sorted", Of: []string{"REQ-2"}}},
		Notes:        []string{"Use the standard library"}, OutOfScope: []string{"Printing"},
	}
}

// TestCorrection withdraws what a person calls wrong and locks the rest, whatever the interviewer submits, and shows
// what came of it.
func TestCorrection(t *testing.T) {
	c := begin(t, "notes")
	c.hear(draftOf())
	c.answer("A-2: Notes are in memory", "A2 is wrong: they must be in a file; the rest is fine")
	c.settle()
	if d := cmp.Diff([]string{"REQ-1", "REQ-2", "A-1", "AC-1", "AC-2"}, c.i.Corrections[0].Locked); d != "" || c.i.unreplacedParts()[0].Instead != "they must be in a file" {
		t.Error(d, c.i.unreplacedParts())
	}
	no, yes := 0.2, true
	bad := InterviewSubmission{
		Withdraw: []string{"REQ-1", "A-1", "AC-1", "Printing"}, Replace: []SpecPartReplacement{{"A-1", "Two use it"}, {"AC-2", "It is not sorted"}},
		Assumptions: []string{"notes are in memory."}, Notes: []string{"Notes are in memory"}, OutOfScope: []string{"Colours"},
		Requirements: []RequirementDraft{{ID: "REQ-2", Text: "Notes are listed", Priority: "could"}, {ID: "REQ-1", Text: "Notes are dropped"}, {Text: "notes are KEPT", Confidence: &no}, {Text: "Notes are kept", Later: &yes}, {Text: "Notes are in memory"}, {Text: "x", InsteadOf: "REQ-1"}},
		Criteria:     []CriterionDraft{{Text: "Notes are in memory"}, {Text: "a note is found again", Check: "false"}},
	}
	objections := c.i.ObjectionsTo(bad)
	for n, want := range []string{
		`withdraw[0]: REQ-1 is locked`, `withdraw[1]: A-1`, `withdraw[2]: AC-1`, `withdraw[3]: Printing`, `replace[0]: A-1`, `replace[1]: AC-2`,
		"requirements[0]: REQ-2 is locked", "requirements[1]: REQ-1", "requirements[2]: REQ-1", "requirements[3]: REQ-1", "requirements[4]: it repeats", "requirements[5]: REQ-1 is locked, a person agreed to it; it cannot",
		"assumptions[0]: it repeats what a person called wrong (A-2", "criteria[0]: it repeats", "criteria: AC-2", "notes[0]: it repeats", `notes: a person agreed to Use the`, `out_of_scope: a person agreed to Printing`, `nothing replaces A-2: a person said instead they must`,
	} {
		if n >= len(objections) || !strings.HasPrefix(objections[n], want) {
			t.Fatalf("objection %d is not %q: %q", n, want, objections)
		}
	}
	before := c.i.BuildSpec()
	c.hear(bad)
	after := c.i.BuildSpec()
	want := append(slices.Clone(before.Requirements), nexus.Requirement{ID: "REQ-3", Text: "they must be in a file", Category: nexus.ReqFunctional, Priority: nexus.Should, Confidence: 1, Quote: "they must be in a file"})
	if d := cmp.Diff(want, after.Requirements) + cmp.Diff(before.Assumptions, after.Assumptions) + cmp.Diff(before.Criteria, after.Criteria) + cmp.Diff(before.Notes, after.Notes) + cmp.Diff([]string{"Colours", "Printing"}, after.OutOfScope); d != "" {
		t.Error(d)
	}
	c.answer("withdrawn A-2: Notes are in memory\n  instead REQ-3: they must be in a file\n  locked REQ-1, REQ-2, A-1, AC-1, AC-2, notes and out of scope\nIs that right?", "1")
	c.settle()
	if step := c.i.NextStep(false); step.Do != Over || !slices.Contains(after.Answers, "Are the assumptions right? A2 is wrong: they must be in a file; the rest is fine") || !slices.Equal(after.Answers, c.i.BuildSpec().Answers) {
		t.Errorf("%+v %q", step, c.i.BuildSpec().Answers)
	}
}

// TestReplacement takes what the interviewer submits instead, and changes a locked part that a person speaks of again.
func TestReplacement(t *testing.T) {
	c := begin(t, "notes")
	c.hear(draftOf())
	c.answer("A-2", "A-2 is wrong: a file. AC-1 is wrong. REQ-2 is wrong: newest first. The rest is fine.")
	c.settle()
	c.hear(InterviewSubmission{
		Requirements: []RequirementDraft{{Text: "Notes are in a file", InsteadOf: "a-2"}, {ID: "REQ-2", Text: "The newest note is first"}}, Assumptions: []string{"The disk is local"},
		Criteria: []CriterionDraft{{Text: "The list is sorted"}, {Text: "A note outlives the program", Of: []string{"REQ-2", "REQ-3"}}},
	})
	s := c.i.BuildSpec()
	var got []string
	for _, r := range s.Requirements {
		got = append(got, r.ID+" "+r.Text)
	}
	for _, k := range s.Criteria {
		got = append(got, fmt.Sprint(k.ID, " ", k.Text, k.Of))
	}
	if d := cmp.Diff([]string{"REQ-1 Notes are kept", "REQ-3 Notes are in a file", "REQ-4 The newest note is first", "AC-3 A note outlives the program[REQ-3]"}, got); d != "" {
		t.Error(d) // AC-2 is of nothing that counts
	}
	c.answer("instead REQ-4: The newest note is first", "REQ-1 needs a word more: notes are kept for ever")
	c.settle()
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{ID: "REQ-1", Text: "Notes are kept for ever"}}, Withdraw: []string{"A-1"}, Replace: []SpecPartReplacement{{"A-3", "The disk is fast"}, {"Printing", "Colours"}}})
	s = c.i.BuildSpec()
	if s.Requirements[0].Text != "Notes are kept for ever" || len(s.Assumptions) != 2 || s.Assumptions[0].ID != "A-1" || s.Assumptions[1].ID != "A-4" || !slices.Equal(s.OutOfScope, []string{"Printing"}) {
		t.Errorf("%+v", s)
	}
	c.answer("not clear REQ-1: Notes are kept\n", "2")
}

// TestDefaultIsWrong takes what a person says instead of an assumed default as the answer to its question.
func TestDefaultIsWrong(t *testing.T) {
	for words, want := range map[string]string{"A-1 is wrong: blue": "said blue", "A-1 is wrong": "denied "} {
		c := begin(t, "an app")
		c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: "x", Confidence: sure(1)}}, Questions: []QuestionDraft{query("Colour?", "red"), query("Size?", "big")}})
		c.answer("Colour?", "skip")
		c.answer("Size?", "huge")
		c.settle()
		c.hear(InterviewSubmission{})
		c.answer("A-1: Colour? red", words)
		c.settle()
		if e := c.i.Exchanges[0]; string(e.Kind)+" "+e.Answer != want || len(c.i.Assumptions) != 0 || c.i.NextStep(false).Do != Talk {
			t.Errorf("%q: %+v %+v", words, e, c.i.Assumptions)
		}
	}
}

// TestLastCorrection makes a requirement of a person's words where no interviewer hears them any more.
func TestLastCorrection(t *testing.T) {
	c := begin(t, "notes")
	c.hear(draftOf())
	c.i.Rounds = MaxRounds
	c.answer("A-2", "A-2 is wrong: a file")
	c.settle()
	if s := c.i.BuildSpec(); len(s.Requirements) != 3 || s.Requirements[2].Text != "a file" {
		t.Errorf("%+v", s.Requirements)
	}
	c.answer("instead REQ-3: a file", "yes")
}

// TestOldCriteria gives criteria of journals from before they had ids some.
func TestOldCriteria(t *testing.T) {
	i := &InterviewState{}
	for _, texts := range [][]string{{"a", "b"}, {"b", "c"}} {
		f := nexus.InterviewRoundEnded{Attempt: attempt, Round: 1}
		for _, text := range texts {
			f.Draft.Criteria = append(f.Draft.Criteria, nexus.InterviewCriterion{Text: text})
		}
		i.Apply(f)
	}
	if c := i.BuildSpec().Criteria; len(c) != 2 || c[0].ID != "AC-2" || c[1].ID != "AC-3" {
		t.Errorf("%+v", c)
	}
}

// TestCorrections holds of every sequence of submissions and answers: what a person called wrong is in no part
// of the spec, what a person agreed to stays as it is, and no id comes back.
func TestCorrections(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		i := &InterviewState{}
		i.Apply(nexus.GoalAccepted{Goal: nexus.Goal{Text: "notes", Mode: nexus.Interview}})
		gone := map[string]bool{}
		apply := func(f nexus.Fact) {
			was := i.specParts()
			i.Apply(f)
			now := map[string]bool{}
			for _, p := range i.specParts() {
				if now[p.id] = true; p.id != "" && gone[p.id] {
					r.Fatalf("%s came back with %+v", p.id, f)
				}
			}
			for _, p := range was {
				gone[p.id] = gone[p.id] || !now[p.id]
			}
			for _, w := range i.withdrawn {
				if w.id != "" && now[w.id] {
					r.Fatalf("%s is withdrawn and there", w.id)
				}
			}
		}
		for n := range 25 {
			switch step := i.NextStep(false); step.Do {
			case Talk:
				h := handins(r, i)
				if len(i.SubmissionProblems(h)) > 0 {
					h = draftOf()
				}
				before := i.Clone()
				apply(nexus.InterviewRoundStarted{Attempt: attempt, Round: step.Round})
				for _, f := range before.SubmissionFacts(step.Round, h) {
					apply(f)
				}
				unchanged(r, before, i)
				absent(r, before, i)
			case Ask:
				q := i.QuestionFact(step.Question, fmt.Sprintf("q%d", n), "interview")
				apply(q)
				apply(nexus.QuestionAnswered{ID: q.ID, Text: answers(r), By: "ada"})
			case State:
				for _, f := range step.Facts {
					apply(f)
				}
			default:
				return
			}
		}
	})
}

// unchanged holds that the interviewer changed nothing that is locked.
func unchanged(r *rapid.T, before, after *InterviewState) {
	of := func(i *InterviewState) map[string]nexus.Requirement {
		all := map[string]nexus.Requirement{}
		for _, q := range i.Requirements {
			all[q.ID] = q
		}
		return all
	}
	was, is := of(before), of(after)
	for _, p := range before.specParts() {
		if now, ok := after.partByName(cmp2(p.id, p.text)); before.isLockedPart(p) && (!ok || now != p || was[p.id] != is[p.id]) {
			r.Fatalf("%+v is locked and became %+v", p, now)
		}
	}
}

func cmp2(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// absent holds that the interviewer brought nothing back that a person called wrong.
func absent(r *rapid.T, before, after *InterviewState) {
	var all []string
	s := after.BuildSpec()
	for _, q := range s.Requirements {
		all = append(all, normalizeText(q.Text))
	}
	for _, a := range s.Assumptions {
		all = append(all, normalizeText(a.Text))
	}
	for _, c := range s.Criteria {
		all = append(all, normalizeText(c.Text))
	}
	all = append(all, s.Notes...)
	for _, c := range before.Corrections {
		for _, w := range c.Withdrawn {
			_, refused := before.refusedPart(w.Text)
			asked := slices.ContainsFunc(before.unreplacedParts(), func(o nexus.CorrectedSpecPart) bool { return normalizeText(o.Instead) == normalizeText(w.Text) })
			if refused && !asked && slices.Contains(all, normalizeText(w.Text)) {
				r.Fatalf("%s is back: %q in %q", w.ID, w.Text, all)
			}
		}
	}
}

// handins draws what an interviewer submits.
func handins(r *rapid.T, i *InterviewState) InterviewSubmission {
	text := rapid.SampledFrom([]string{"notes are kept", "notes are in memory", "one person uses it", "it is sorted", "it is fast", "it prints"})
	name := rapid.SampledFrom([]string{"REQ-1", "REQ-2", "REQ-3", "A-1", "A-2", "A-3", "AC-1", "AC-2", "it prints", "it is fast"})
	var h InterviewSubmission
	for range rapid.IntRange(0, 4).Draw(r, "requirements") {
		q := RequirementDraft{Text: text.Draw(r, "text"), Confidence: sure(rapid.Float64Range(0.5, 1).Draw(r, "sure")), Priority: rapid.SampledFrom([]string{"", "must", "wont"}).Draw(r, "priority")}
		if n := name.Draw(r, "id"); rapid.Bool().Draw(r, "replaces") && i.knowsPart(n) {
			if q.InsteadOf = n; i.requirementByID(n) != nil && rapid.Bool().Draw(r, "same") {
				q.ID, q.InsteadOf = n, ""
			}
		}
		h.Requirements = append(h.Requirements, q)
	}
	h.Assumptions = rapid.SliceOfN(text, 0, 3).Draw(r, "assumptions")
	h.Notes = rapid.SliceOfN(text, 0, 2).Draw(r, "notes")
	h.OutOfScope = rapid.SliceOfN(text, 0, 2).Draw(r, "out")
	for _, c := range rapid.SliceOfN(text, 0, 3).Draw(r, "criteria") {
		h.Criteria = append(h.Criteria, CriterionDraft{Text: c})
	}
	for _, n := range rapid.SliceOfN(name, 0, 3).Draw(r, "withdraw") {
		if i.knowsPart(n) {
			h.Withdraw = append(h.Withdraw, n)
		}
	}
	for _, n := range rapid.SliceOfN(name, 0, 2).Draw(r, "replace") {
		if i.knowsPart(n) {
			h.Replace = append(h.Replace, SpecPartReplacement{n, text.Draw(r, "with")})
		}
	}
	h.Questions = []QuestionDraft{query(rapid.StringMatching("[a-z]{3}").Draw(r, "question")+"?", "yes", "no")}
	return h
}

// answers draws what a person answers.
func answers(r *rapid.T) string {
	var said []string
	for range rapid.IntRange(0, 3).Draw(r, "parts") {
		id := rapid.SampledFrom([]string{"REQ-", "A-", "AC-", "assumption "}).Draw(r, "kind") + fmt.Sprint(rapid.IntRange(1, 5).Draw(r, "number"))
		said = append(said, id+" "+rapid.SampledFrom([]string{"is wrong", "is wrong: it is green", "is right", "may be wrong", "is not right, it floats"}).Draw(r, "says"))
	}
	if rapid.Bool().Draw(r, "rest") {
		said = append(said, "the rest is fine")
	}
	return cmp2(strings.Join(said, ". "), rapid.SampledFrom([]string{"1", "skip", "back", "my own words"}).Draw(r, "other"))
}
