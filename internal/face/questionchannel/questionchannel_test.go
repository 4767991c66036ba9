package questionchannel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// sit opens a inbox that follows a run until the test ends.
func sit(t *testing.T) (*questionruntest.InMemoryRunJournal, *questionchannel.JournalInbox) {
	t.Helper()
	j := questionruntest.NewJournal(time.Now)
	j.AskQuestion("q1", humaninput.SecurityTrigger, "may it run \"make deploy\"?")
	d, err := questionchannel.OpenInbox(t.Context(), j, j.IsConducted, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	over := make(chan error)
	go func() { over <- d.Follow(ctx) }()
	t.Cleanup(func() {
		stop(nil)
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return j, d
}

func ids(items []humaninput.WaitingItem) string {
	var all []string
	for _, i := range items {
		all = append(all, i.ID)
	}
	return strings.Join(all, " ")
}

// TestAnswer takes the first answer that is one of the choices, and tells
// everybody else who was faster.
func TestAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, d := sit(t)
		ctx := t.Context()
		if _, err := d.Answer(ctx, questionruntest.Run, "q1", "sure, go on", "web"); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
			t.Errorf("none of the choices: %v", err)
		}
		if _, err := d.Answer(ctx, questionruntest.Run, "q9", "yes", "web"); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			t.Errorf("unknown: %v", err)
		}
		if _, err := d.Answer(ctx, "other", "q1", "yes", "web"); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			t.Errorf("another run: %v", err)
		}
		said, err := d.Answer(ctx, questionruntest.Run, "q1", " No: it is late ", "file")
		if err != nil || said != "taken" {
			t.Errorf("%q, %v", said, err)
		}
		_, err = d.Answer(ctx, questionruntest.Run, "q1", "yes", "web")
		if !humaninput.IsLate(err) || err.Error() != "already answered by file: no: it is late" {
			t.Errorf("too late: %v", err)
		}
		if d := cmp.Diff([]string{"q1 by file: no: it is late"}, j.Answers()); d != "" {
			t.Error(d)
		}
	})
}

// TestNobodyConducts keeps an answer for the process that takes the run up,
// and takes no second one.
func TestNobodyConducts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, d := sit(t)
		j.StopConducting()
		said, err := d.Answer(t.Context(), questionruntest.Run, "q1", "yes", "web")
		if err != nil || !strings.HasPrefix(said, "recorded") {
			t.Errorf("%q, %v", said, err)
		}
		if _, err = d.Answer(t.Context(), questionruntest.Run, "q1", "no", "file"); !humaninput.IsLate(err) || err.Error() != "already answered by web: yes" {
			t.Errorf("a second: %v", err)
		}
		if got := ids(d.Items()); got != "" {
			t.Errorf("%s waits", got)
		}
	})
}

// TestOneOfMany lets many answer at once. One answer counts, and all others
// are told so.
func TestOneOfMany(t *testing.T) {
	t.Run("conducted", func(t *testing.T) { oneOfMany(t, true) })
	t.Run("left", func(t *testing.T) { oneOfMany(t, false) })
}

func oneOfMany(t *testing.T, conducted bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j, d := sit(t)
		if !conducted { // nor has the inbox heard of the answer yet
			j.StopConducting()
			var err error
			if d, err = questionchannel.OpenInbox(t.Context(), j, j.IsConducted, time.Now); err != nil {
				t.Fatal(err)
			}
		}
		const many = 50
		results := make(chan error, many)
		for range many {
			go func() {
				_, err := d.Answer(t.Context(), questionruntest.Run, "q1", "yes", "web")
				results <- err
			}()
		}
		taken := 0
		for range many {
			switch err := <-results; {
			case err == nil:
				taken++
			case !humaninput.IsLate(err):
				t.Error(err)
			}
		}
		requests := 0
		for e := range j.Events(t.Context(), "", 0) {
			if _, ok := e.Fact.(nexus.RequestMade); ok {
				requests++
			}
		}
		if taken != 1 || requests != 1 {
			t.Errorf("%d were taken, %d requests made", taken, requests)
		}
	})
}

// TestSeat asks the next channel later, and none about what was answered
// meanwhile or fell back.
func TestSeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, d := sit(t)
		begin := time.Now()
		hears := func(s *questionchannel.InboxSubscription) string {
			t.Helper()
			items, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return time.Since(begin).String() + " " + ids(items)
		}
		first, second := d.Subscribe(0), d.Subscribe(time.Minute)
		var got []string
		got = append(got, hears(first), hears(second), hears(second))
		j.Append(nexus.QuestionAsked{ID: "q2", Text: "which?", Fallback: "this", Deadline: time.Now().Add(90 * time.Second), Trigger: humaninput.AmbiguityTrigger})
		j.Append(nexus.QuestionAsked{ID: "q3", Text: "which?", Fallback: "this", Deadline: time.Now(), Trigger: humaninput.AmbiguityTrigger})
		got = append(got, hears(first), hears(second))
		if _, err := d.Answer(t.Context(), questionruntest.Run, "q1", "yes", "web"); err != nil {
			t.Error(err)
		}
		got = append(got, hears(second), hears(second))
		want := []string{"0s q1", "0s ", "1m0s q1", "1m0s q1 q2", "2m0s q1 q2", "2m0s q2", "2m30s "}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		_, err := d.Answer(t.Context(), questionruntest.Run, "q2", "that", "web")
		if !humaninput.IsLate(err) || !strings.Contains(err.Error(), "the fallback was used: this") {
			t.Errorf("after its time: %v", err)
		}
		ctx, stop := context.WithTimeoutCause(t.Context(), time.Second, errors.New("over"))
		defer stop()
		if _, err := first.Next(ctx); err != nil { // what changed meanwhile
			t.Error(err)
		}
		if _, err := first.Next(ctx); err == nil || err.Error() != "over" {
			t.Errorf("the end: %v", err)
		}
	})
}
