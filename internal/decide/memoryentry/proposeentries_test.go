package memoryentry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var landedAt = time.Date(2026, 11, 25, 23, 0, 0, 0, time.UTC)

// round is one whose gates said something: gate=finding, or gate alone where it
// passed.
func round(n int, said ...string) *state.AttemptRound {
	r := &state.AttemptRound{RoundStarted: nexus.RoundStarted{Round: n}, From: fmt.Sprint("c", n-1), Commit: fmt.Sprint("c", n), Verdict: &nexus.GatesVerdictGiven{State: nexus.Fail}}
	for _, s := range said {
		gate, message, failed := strings.Cut(s, "=")
		e := nexus.GateEvidence{Gate: gate, State: nexus.Pass}
		if failed {
			e.State = nexus.Fail
			for one := range strings.SplitSeq(message, "|") {
				file, text, _ := strings.Cut(one, ":")
				e.Findings = append(e.Findings, nexus.Finding{Gate: gate, File: file, Line: n, Message: text})
			}
		}
		r.Evidence = append(r.Evidence, e)
	}
	return r
}

func task(attempts ...*state.AttemptState) *state.State {
	t := &state.TaskState{Task: nexus.Task{ID: "T1", Title: "Do it", Files: []string{"a.go"}}, Ended: landedAt, Attempts: attempts}
	t.Landed = &nexus.LandingCompleted{Task: "T1", Attempt: attempts[len(attempts)-1].ID, Commit: hash}
	return &state.State{Run: "r1", Tasks: []*state.TaskState{t}}
}

// TestFailures proposes what cost two rounds or more and was ended by a change,
// once for all findings that cost the same.
func TestFailures(t *testing.T) {
	at := func(id string, rounds ...*state.AttemptRound) *state.AttemptState {
		return &state.AttemptState{ID: nexus.AttemptID(id), Rounds: rounds}
	}
	for _, c := range []struct {
		name string
		s    *state.State
		want []string // from, to, and a part of the text
	}{
		{"twice", task(at("T1.1", round(1, "test=a.go:no module 1"), round(2, "test=a.go:no module 2"), round(3, "test"))), []string{"c2 c3 failed with that 2 times"}},
		{"once", task(at("T1.1", round(1, "test=a.go:no module"), round(2, "test"))), nil},
		{"another one each time", task(at("T1.1", round(1, "test=a.go:x"), round(2, "test=a.go:y"), round(3, "test"))), nil},
		{"never ended", task(at("T1.1", round(1, "test=a.go:x"), round(2, "test=a.go:x"))), nil},
		{"another gate hid it", task(at("T1.1", round(1, "test=a.go:x"), round(2, "build=b.go:y"), round(3, "test=a.go:x"), round(4, "test"))), []string{"c3 c4 failed with that 2 times"}},
		{"two at once", task(at("T1.1", round(1, "test=a.go:x|b.go:y"), round(2, "test=a.go:x|b.go:y"), round(3, "test"))), []string{"c2 c3 test: a.go: x\n\nThe gate failed with that 2 times while \"Do it\" was worked on.\n\nAnd with:\n\n- b.go: y"}},
		{"one after the other", task(at("T1.1", round(1, "test=a.go:x|b.go:y"), round(2, "test=a.go:x|b.go:y"), round(3, "test=a.go:x"), round(4, "test"))), []string{"c2 c4 test: b.go: y\n", "c3 c4 test: a.go: x\n"}},
		{"over attempts", task(at("T1.1", round(1, "test=a.go:x")), at("T1.2", round(2, "test=a.go:x")), at("T1.3", round(7, "test"))), []string{"c6 c7 failed with that 2 times"}},
	} {
		seeds := memoryentry.ProposeEntries(c.s)
		if len(seeds) != len(c.want) {
			t.Errorf("%s: %d proposals: %+v", c.name, len(seeds), seeds)
			continue
		}
		for i, want := range c.want {
			e := seeds[i]
			words := strings.SplitN(want, " ", 3)
			if e.From != words[0] || e.To != words[1] || !strings.Contains(e.Text, words[2]) {
				t.Errorf("%s: %s %s %q, want %q", c.name, e.From, e.To, e.Text, want)
			}
			if e.Kind != memoryentry.Gotcha || e.State != memoryentry.Proposed || e.By != memoryentry.ByRun || e.Learned.String() != "2026-11-25" || e.MemoryEntry.From[0].Commit != hash {
				t.Errorf("%s: %+v", c.name, e.MemoryEntry)
			}
		}
	}
}

// TestSameFailure holds that a failure that comes again, in another task and
// with other numbers, has the same name, and another one has not.
func TestSameFailure(t *testing.T) {
	of := func(file, message string) string {
		s := task(&state.AttemptState{ID: "T1.1", Rounds: []*state.AttemptRound{round(1, "test="+file+":"+message), round(2, "test="+file+":"+message), round(3, "test")}})
		seeds := memoryentry.ProposeEntries(s)
		if len(seeds) != 1 {
			t.Fatalf("%d proposals", len(seeds))
		}
		return seeds[0].ID
	}
	one := of("a.go", "no module in line 12")
	if again := of("a.go", "no module in line 40"); again != one {
		t.Errorf("%s became %s", one, again)
	}
	if other := of("b.go", "no module in line 12"); other == one {
		t.Errorf("both are %s", one)
	}
	if !strings.HasPrefix(one, "gotcha-test-no-module-in-line") {
		t.Errorf("it is called %s", one)
	}
}

// TestEnded tells a fix from a gotcha by where the change is.
func TestEnded(t *testing.T) {
	seed := func() memoryentry.EntryProposal {
		return memoryentry.ProposeEntries(task(&state.AttemptState{ID: "T1.1", Rounds: []*state.AttemptRound{round(1, "test=a.go:x"), round(2, "test=a.go:x"), round(3, "test")}}))[0]
	}
	s := seed()
	s.AddFix([]string{"a.go", "b.go"}, "+fixed `````\n")
	if s.Kind != memoryentry.Fix || !strings.HasPrefix(s.ID, "fix-test-x-") || !slices.Equal(s.FilePaths(), []string{"a.go", "b.go"}) || !strings.Contains(s.Text, "``````diff\n+fixed") {
		t.Errorf("%+v", s)
	}
	s = seed()
	s.AddFix([]string{"b.go", "../c"}, strings.Repeat("+long\n", 2000))
	if s.Kind != memoryentry.Gotcha || !slices.Equal(s.FilePaths(), []string{"a.go", "b.go"}) || len(s.Text) > memoryentry.MaxText {
		t.Errorf("%+v", s)
	}
	if _, err := memoryentry.ParseEntry("m.md", []byte(s.String())); err != nil {
		t.Error(err)
	}
}

// TestReadBack proposes nothing that its own parser refuses, whatever tools,
// reviewers and people write.
func TestReadBack(t *testing.T) {
	const odd = "a\x1b[31mred\fpage\rcaf\xe9\u0085"
	found := nexus.Finding{Gate: "test", File: "d\xe9.go", Test: odd, Message: odd, Severity: nexus.Major, Advice: odd}
	failed := func(n int) *state.AttemptRound {
		r := round(n, "test="+":x")
		r.Evidence[0].Findings = []nexus.Finding{found}
		return r
	}
	sent := failed(2)
	sent.Reviews = []nexus.ReviewerVerdictGiven{{Reviewed: true, SendsBack: true, Findings: []nexus.Finding{found}}}
	last := round(3, "test")
	last.Reviews = []nexus.ReviewerVerdictGiven{{Reviewed: true, Approved: true}}
	s := task(&state.AttemptState{ID: "T1.1", Rounds: []*state.AttemptRound{failed(1), sent, last}})
	s.Tasks[0].Files, s.Tasks[0].Title = []string{"a.go", "a.go"}, odd
	s.Questions = []*state.RunQuestion{{
		QuestionAsked: nexus.QuestionAsked{Attempt: "T1.1", Trigger: humaninput.AmbiguityTrigger, Text: odd}, Answer: odd, By: "ada",
	}}
	seeds := memoryentry.ProposeEntries(s)
	if len(seeds) != 3 {
		t.Fatalf("%+v", seeds)
	}
	seeds[0].AddFix([]string{"b.go"}, "+"+odd+"\n+"+strings.Repeat("\xe9\f", 2000))
	for _, e := range seeds {
		if _, err := memoryentry.ParseEntry(e.ID+".md", []byte(e.String())); err != nil || !strings.Contains(e.Text, "redpage") {
			t.Errorf("%v\n%q", err, e.String())
		}
	}
}

// TestReviews proposes findings that sent work back and stood, and none that its
// author was right about.
func TestReviews(t *testing.T) {
	found := nexus.Finding{File: "a.go", Message: "The error is dropped here", Severity: nexus.Major, Advice: "Return it."}
	small := nexus.Finding{File: "a.go", Message: "A shorter name", Severity: nexus.Minor}
	sent := func(findings ...nexus.Finding) nexus.ReviewerVerdictGiven {
		return nexus.ReviewerVerdictGiven{Reviewed: true, SendsBack: true, Findings: findings}
	}
	first := func() *state.AttemptRound {
		return &state.AttemptRound{Reviews: []nexus.ReviewerVerdictGiven{sent(found, small)}}
	}
	next := func(answer nexus.FindingAnswerStatus, r nexus.ReviewerVerdictGiven) *state.AttemptRound {
		o := &state.AttemptRound{RoundStarted: nexus.RoundStarted{Cause: repair.ReviewCause, Role: nexus.Coder}, Reviews: []nexus.ReviewerVerdictGiven{r}}
		o.Answers = []nexus.FindingAnswer{{Finding: 1, Status: answer, Why: "it is logged"}}
		return o
	}
	approved := nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true}
	for _, c := range []struct {
		name   string
		rounds []*state.AttemptRound
		want   int
	}{
		{"fixed", []*state.AttemptRound{first(), next(nexus.Fixed, approved)}, 1},
		{"disputed, and dropped", []*state.AttemptRound{first(), next(nexus.Contested, approved)}, 0},
		{"disputed in vain", []*state.AttemptRound{first(), next(nexus.Contested, sent(found)), next(nexus.Fixed, approved)}, 1},
		{"approved at once", []*state.AttemptRound{{Reviews: []nexus.ReviewerVerdictGiven{{Reviewed: true, Approved: true, Findings: []nexus.Finding{found}}}}}, 0},
	} {
		seeds := memoryentry.ProposeEntries(task(&state.AttemptState{ID: "T1.1", Rounds: c.rounds}))
		if len(seeds) != c.want {
			t.Errorf("%s: %+v", c.name, seeds)
		}
		for _, s := range seeds {
			if s.Kind != memoryentry.Review || !strings.Contains(s.Text, "a.go: The error is dropped here") || !strings.Contains(s.Text, "Advice: Return it.") || !slices.Equal(s.FilePaths(), []string{"a.go"}) {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
	}
}

// TestAnswers proposes what people answered, and nothing that nobody did.
func TestAnswers(t *testing.T) {
	s := task(&state.AttemptState{ID: "T1.1"})
	ask := func(attempt nexus.AttemptID, trigger, by string) *state.RunQuestion {
		return &state.RunQuestion{QuestionAsked: nexus.QuestionAsked{Attempt: attempt, Trigger: trigger, Text: "Which date format?"}, Answer: "RFC 3339", By: by}
	}
	s.Questions = []*state.RunQuestion{
		ask("T1.1", humaninput.AmbiguityTrigger, "fallback"), ask("T1.1", humaninput.AmbiguityTrigger, "auto"), ask("T1.1", humaninput.AmbiguityTrigger, ""),
		ask("T1.1", humaninput.PublishTrigger, "ada"), ask("T2.1", humaninput.AmbiguityTrigger, "ada"),
	}
	if seeds := memoryentry.ProposeEntries(s); len(seeds) > 0 {
		t.Errorf("%+v", seeds)
	}
	s.Questions = append(s.Questions, ask("T1.1", humaninput.AmbiguityTrigger, "ada"))
	seeds := memoryentry.ProposeEntries(s)
	if len(seeds) != 1 || seeds[0].Kind != memoryentry.Decision || !strings.Contains(seeds[0].Text, "Which date format?") || !strings.Contains(seeds[0].Text, "RFC 3339") {
		t.Errorf("%+v", seeds)
	}
}

// TestOnlyWhatLanded proposes nothing of work that nobody accepted.
func TestOnlyWhatLanded(t *testing.T) {
	s := task(&state.AttemptState{
		ID: "T1.1", Rounds: []*state.AttemptRound{round(1, "test=a.go:x"), round(2, "test=a.go:x"), round(3, "test")},
		Sessions: []*state.AgentSessionState{{SessionStarted: nexus.SessionStarted{Role: nexus.Coder}, Result: "blob"}},
	})
	if seeds := memoryentry.ProposeEntries(s); len(seeds) != 2 || seeds[1].Handin != "blob" {
		t.Errorf("%+v", seeds)
	}
	s.Tasks[0].Landed = nil
	if seeds := memoryentry.ProposeEntries(s); len(seeds) > 0 {
		t.Errorf("%+v", seeds)
	}
}

// TestLearned takes what agents submit as it may be kept: a few short texts.
func TestLearned(t *testing.T) {
	one := func(text string) []memoryentry.MemoryEntry {
		return memoryentry.ParseSubmission([]byte(`{"learned": [` + text + `]}`))
	}
	got := one(`{"kind": "Gotcha", "text": " Run \u0007make first.\r\n", "files": ["./a.go", "/etc/passwd", "../b", "c d.go"], "symbols": ["Parse", "two words", ""]}`)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	e := got[0]
	if e.Kind != memoryentry.Gotcha || e.State != memoryentry.Proposed || e.By != memoryentry.ByAgent || e.Text != "Run make first." ||
		!slices.Equal(e.FilePaths(), []string{"a.go", "c d.go"}) || !slices.Equal(e.Symbols, []string{"Parse"}) {
		t.Errorf("%+v", e)
	}
	if got := one(`{"kind": "insight", "text": "x"}`); len(got) != 1 || got[0].Kind != memoryentry.Pattern {
		t.Errorf("%+v", got)
	}
	if got := one(strings.TrimSuffix(strings.Repeat(`{"kind":"fix","text":"`+strings.Repeat("long \u00fc", 500)+`"},`, 9), ",")); len(got) != 3 || len(got[0].Text) > 610 {
		t.Errorf("%d proposals, the first of %d bytes", len(got), len(got[0].Text))
	}
	for _, odd := range []string{"", "null", "[]", `{"learned": "yes"}`, `{"learned": [{"text": ""}]}`, `{"summary": "x"}`} {
		if got := memoryentry.ParseSubmission([]byte(odd)); len(got) > 0 {
			t.Errorf("%s: %+v", odd, got)
		}
	}
}
