package humaninput_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const begun = `goal.accepted goal.text=Do base=c0
run.started
plan.proposed plan=p tasks=2
task.planned task.id=T1 task.title=Add
task.planned task.id=T2 task.title=More
plan.approved by=policy
`

// play folds tapes, one a run.
func play(t *testing.T, tapes ...string) *humaninput.RepositoryInbox {
	t.Helper()
	var b humaninput.RepositoryInbox
	for n, text := range tapes {
		events, err := eventtapetest.ReadTape(nexus.RunID(fmt.Sprintf("r%d", n+1)), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			b.Apply(e)
		}
	}
	return &b
}

func lines(b *humaninput.RepositoryInbox) []string {
	var all []string
	for _, i := range b.WaitingItems() {
		all = append(all, fmt.Sprintf("%s %s %s [%s] %s | %s", i.UniqueName(), i.Trigger, i.Severity, strings.Join(i.Choices, ","), i.Text, i.Fallback))
	}
	return all
}

// TestItems finds what waits for a person, and nothing else.
func TestItems(t *testing.T) {
	const ask = "question.asked id=q1 text=\"may it?\" fallback=yes trigger=security\n"
	const red = "r1/q1 security red [yes,no] may it? | it waits for a person"
	for name, c := range map[string]struct {
		tapes []string
		want  []string
	}{
		"nothing":                   {[]string{begun}, nil},
		"a question":                {[]string{begun + ask}, []string{red}},
		"green":                     {[]string{begun + "question.asked id=q1 text=which fallback=this\n"}, []string{"r1/q1 ambiguity green [] which | this"}},
		"of a later version":        {[]string{begun + "question.asked id=q1 text=which fallback=yes trigger=odd\n"}, []string{"r1/q1 odd red [yes,no] which | it waits for a person"}},
		"hidden characters":         {[]string{begun + "question.asked id=q1 text=\"a\\u202eb\" fallback=this\n"}, []string{"r1/q1 ambiguity green [] a<U+202E>b | this"}},
		"answered":                  {[]string{begun + ask + "question.answered id=q1 text=yes by=ada\n"}, nil},
		"asked for already":         {[]string{begun + ask + "request.made request.verb=answer request.id=q1 request.text=yes\n"}, nil},
		"and refused":               {[]string{begun + ask + "request.made request.verb=answer request.id=q1 request.text=yes\nrequest.settled seq=8 why=no\n"}, []string{red}},
		"nobody is there to answer": {[]string{begun + "@7s question.asked id=q1 text=x fallback=y deadline=2026-01-01T00:00:07Z\n"}, nil},
		"a run that is over":        {[]string{begun + ask + "run.ended status=stopped why=x\n"}, nil},
		"tasks": {
			[]string{begun + "task.parked task=T1 why=\"no gate\"\ntask.parked failed=true task=T2 why=\"tried all\"\n"},
			[]string{"r1/T1 review yellow [retry,skip] T1, Add, is parked: no gate | it stays parked", "r1/T2 retries yellow [retry,skip] T2, More, is failed: tried all | it stays failed"},
		},
		"a task that is to be retried": {[]string{begun + "task.parked task=T1 why=x\nrequest.made request.verb=retry request.task=T1\n"}, nil},
		"tasks of the latest run that ended": {
			[]string{begun + "task.parked task=T1 why=x\nrun.ended status=partial\n", begun + "task.parked task=T2 why=x\nrun.ended status=partial\n"},
			[]string{"r2/T2 review yellow [retry,skip] T2, More, is parked: x | it stays parked"},
		},
		"a conflict":                   {[]string{begun + "attempt.started attempt=T1.1 task=T1 base=c0 tier=fast\nattempt.ended attempt=T1.1 outcome=conflicted\ntask.parked task=T1 why=x\n"}, []string{"r1/T1 conflict red [retry,skip] T1, Add, is parked: x | it stays parked"}},
		"over its budget":              {[]string{begun + "attempt.started attempt=T1.1 task=T1 base=c0 tier=fast\nbudget.refused task=T1 cap=task limit=1 asked=2\nattempt.lost attempt=T1.1 why=money\ntask.parked task=T1 why=x\n"}, []string{"r1/T1 cost red [retry,skip] T1, Add, is parked: x | it stays parked"}},
		"failed otherwise":             {[]string{begun + "attempt.started attempt=T1.1 task=T1 base=c0 tier=fast\nattempt.ended attempt=T1.1 outcome=exhausted\ntask.parked failed=true task=T1 why=x\n"}, []string{"r1/T1 retries yellow [retry,skip] T1, Add, is failed: x | it stays failed"}},
		"a task that is to be skipped": {[]string{begun + "task.parked task=T1 why=x\nrequest.made request.verb=skip request.task=T1\n"}, nil},
		"something else is asked of the task": {
			[]string{begun + "task.parked task=T1 why=x\nrequest.made request.verb=tell request.task=T1 request.text=a\nrequest.made request.verb=retry request.task=T2\n"},
			[]string{"r1/T1 review yellow [retry,skip] T1, Add, is parked: x | it stays parked"},
		},
		"the oldest first": {
			[]string{begun + "@20s task.parked task=T1 why=x\n@30s question.asked id=q1 text=which fallback=this\n", begun + "@10s question.asked id=q1 text=when fallback=now\n"},
			[]string{"r2/q1 ambiguity green [] when | now", "r1/T1 review yellow [retry,skip] T1, Add, is parked: x | it stays parked", "r1/q1 ambiguity green [] which | this"},
		},
		"another question is answered":        {[]string{begun + ask + "request.made request.verb=answer request.id=q2 request.text=yes\nrequest.made request.verb=tell request.id=q1 request.text=yes\n"}, []string{red}},
		"answered by what the asker calls it": {[]string{begun + "question.asked id=q1 mark=m7 text=\"may it?\" fallback=yes trigger=security\nrequest.made request.verb=answer request.id=m7 request.text=yes\n"}, nil},
		"a task that asks": {
			[]string{begun + "attempt.started attempt=T1.1 task=T1 base=c0 tier=fast\nsession.started session=T1.1/coder.1 attempt=T1.1 role=coder model=m\nquestion.asked id=q1 attempt=T1.1 text=\"may it?\" fallback=yes trigger=security\nquestion.left id=q1\nattempt.lost attempt=T1.1 why=x\ntask.parked task=T1 why=x\n"},
			[]string{red},
		},
		"events that do not follow": {[]string{begun + ask + "task.parked task=T9 why=x\n", begun + ask}, []string{"r2" + strings.TrimPrefix(red, "r1")}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, lines(play(t, c.tapes...))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRequest takes the choices of a question, and none besides.
func TestRequest(t *testing.T) {
	for name, c := range map[string]struct {
		of           string // trigger; empty: a task
		answer, want string // want: verb and text, or the error
	}{
		"yes":               {humaninput.SecurityTrigger, " YES\n", "answer yes"},
		"no":                {humaninput.PublishTrigger, "no", "answer no"},
		"no, and why":       {humaninput.PublishTrigger, "No:  not on a Friday ", "answer no: not on a Friday"},
		"yes, and more":     {humaninput.SecurityTrigger, "yes: and all others", `error "yes: and all others" is not one of the choices`},
		"almost":            {humaninput.SecurityTrigger, "y", `error "y" is not one of the choices`},
		"another's":         {humaninput.SecurityTrigger, "retry", `error "retry" is not one of the choices`},
		"empty":             {humaninput.AmbiguityTrigger, " \n", "error the answer is empty"},
		"own words":         {humaninput.AmbiguityTrigger, "the second\nof them", "answer the second\nof them"},
		"hidden characters": {humaninput.AmbiguityTrigger, "a\u202eb", "answer a<U+202E>b"},
		"NUL":               {humaninput.AmbiguityTrigger, "a\x00b", "error the answer is not text"},
		"as long as it may": {humaninput.AmbiguityTrigger, strings.Repeat("a", humaninput.MaxAnswer), "answer " + strings.Repeat("a", humaninput.MaxAnswer)},
		"long":              {humaninput.AmbiguityTrigger, strings.Repeat("a", humaninput.MaxAnswer+1), "error the answer has more than 8192 bytes"},
		"retry":             {"", "Retry", "retry T1"},
		"skip":              {"", "skip", "skip T1"},
		"yes to a task":     {"", "yes", `error "yes" is not one of the choices`},
	} {
		t.Run(name, func(t *testing.T) {
			text := begun + "task.parked task=T1 why=x\n"
			if c.of != "" {
				text = begun + "question.asked id=q1 text=x fallback=y trigger=" + c.of + "\n"
			}
			r, err := play(t, text).WaitingItems()[0].AnswerRequest(c.answer, "ada")
			got := strings.TrimSpace(string(r.Verb) + " " + r.Text + string(r.Task))
			if err != nil {
				got = "error " + err.Error()
				want := map[bool]string{true: "Answer yes, no, or no: and why.", false: "Answer retry or skip."}[c.of != ""]
				if c.of == humaninput.AmbiguityTrigger {
					want = "Answer in your own words, with 8192 bytes at most."
				}
				if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Hint != want {
					t.Errorf("hint of %v, want %q", err, want)
				}
			} else if r.By != "ada" {
				t.Errorf("by %q", r.By)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestFind says who was faster, and how.
func TestFind(t *testing.T) {
	const ask = "question.asked id=q1 text=x fallback=y\n"
	for tape, want := range map[string]string{
		"": "no open question has that name",
		ask + "question.answered id=q1 text=no by=\"file:ada\"\n":                              "already answered by file:ada: no",
		ask + "question.answered id=q1 text=y by=fallback\n":                                   "too late: there was no answer in time, and the fallback was used: y",
		ask + "request.made request.verb=answer request.id=q1 request.text=a request.by=web\n": "already answered by web: a",
		ask: "",
	} {
		_, err := play(t, begun+tape).FindItem("r1", "q1")
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", tape, err, want)
		}
	}
	if _, err := play(t, begun).FindItem("r1", "T1"); !humaninput.IsLate(err) || err.Error() != "already answered: it is pending" {
		t.Errorf("a task: %v", err)
	}
	two := play(t, begun+ask, begun+ask)
	if i, err := two.FindItem("r2", "q1"); err != nil || i.Run != "r2" || !strings.HasPrefix(i.UniqueKey(), "r2/q1@2026-01-01T00:00:") {
		t.Errorf("of another run: %+v, %v", i, err)
	}
	for _, run := range []nexus.RunID{"r3", "r1"} {
		if _, err := two.FindItem(run, "q9"); humaninput.IsLate(err) || !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			t.Errorf("what is not there in %s: %v", run, err)
		}
	}
}

// TestAgreed finds the answers about publishing that no conductor has taken.
func TestAgreed(t *testing.T) {
	const publish = "question.asked id=q1 text=x fallback=no trigger=publish\n"
	const yes = "request.made request.verb=answer request.id=q1 request.text=yes\n"
	for tape, want := range map[string][]humaninput.PublishApproval{
		publish:       nil,
		publish + yes: {{Run: "r1", Seq: 8}},
		publish + yes + "request.settled seq=8 granted=true\n":                                                                 nil,
		"attempt.started attempt=T1.1 task=T1 base=c0 tier=fast\nquestion.asked id=q1 attempt=T1.1 text=x fallback=no\n" + yes: nil,
	} {
		if diff := cmp.Diff(want, play(t, begun+tape).PublishApprovals()); diff != "" {
			t.Errorf("%s: %s", tape, diff)
		}
	}
}

// FuzzRequest never lets through what is not one of the choices, nor anything that
// cannot be seen.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{"yes", "no: why", "YES ", "retry", "a\x00", "\u202e"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i := humaninput.WaitingItem{ID: "q", Choices: []string{"yes", "no"}}
		r, err := i.AnswerRequest(text, "x")
		switch {
		case err != nil:
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
				t.Errorf("%q: %v", text, err)
			}
		case nexus.IsYes(r.Text) && !strings.EqualFold(strings.TrimSpace(text), "yes"), r.Text != "yes" && r.Text != "no" && !strings.HasPrefix(r.Text, "no: "), !utf8.ValidString(r.Text):
			t.Errorf("%q became %q", text, r.Text)
		}
	})
}
