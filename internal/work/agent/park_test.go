package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// TestUsedUpQuotaIsAFact lets a window be used up for an hour: that is
// recorded, and leave is asked for at once, since the desk holds the call.
func TestUsedUpQuotaIsAFact(t *testing.T) {
	b := newBench(t, nexus.Coder, llmtest.Script{})
	b.brief.Retry = llm.CallRetryPolicy{}
	synctest.Test(t, func(t *testing.T) {
		b.brief.Now = time.Now
		start := time.Now()
		b.model = &busy{errs: []*llm.ModelCallError{
			{Class: llm.Quota, Status: 429, After: "3600", Cause: errors.New("used up")},
			{Class: llm.Quota, Status: 429, After: "2", Empty: true, Cause: errors.New("used up")},
			{Class: llm.Quota, Status: 429, After: "2", Cause: errors.New("slow down")},
		}}
		out, err := b.run(t.Context())
		if err != nil || out.Outcome != nexus.Accepted {
			t.Fatalf("%+v, %v", out, err)
		}
		var until []time.Duration
		for _, f := range b.desk.RecordedFacts() {
			if f, ok := f.(nexus.QuotaExhausted); ok {
				until = append(until, f.Until.Sub(start))
			}
		}
		if len(until) != 2 || until[0] != time.Hour || until[1] != 2*time.Second {
			t.Errorf("parked for %v", until)
		}
	})
	settled(t, b)
}

// failing is a model of which every call fails the same way.
type failing struct {
	err  *llm.ModelCallError
	seen []llm.Request
}

func (m *failing) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	m.seen = append(m.seen, r)
	return llm.Response{}, m.err
}

// TestNextModelOfTheChain lets the first model be overloaded: after at most a
// minute of waits the second is asked, with its own price, and without what
// only the first can read.
func TestNextModelOfTheChain(t *testing.T) {
	for class, calls := range map[llm.CallFailureClass]int{llm.Overload: 6, llm.Transient: 6, llm.Billing: 1, llm.Auth: 1} {
		t.Run(string(class), func(t *testing.T) {
			b := newBench(t, nexus.Coder, llmtest.Script{})
			b.brief.Retry = llm.CallRetryPolicy{}
			b.brief.Next = ""
			b.brief.Messages = []llm.Message{
				llm.UserMessage("Do it."),
				{From: llm.Assistant, Parts: []llm.MessagePart{{Raw: json.RawMessage(`{"type":"thinking"}`)}, {Text: "Well."}}},
				llm.UserMessage("Go on."),
			}
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				first, second := &failing{err: &llm.ModelCallError{Class: class, Status: 500, Cause: errors.New("no")}}, &busy{}
				b.model, b.brief.Model = first, "one/a"
				b.brief.Choices = []agent.SessionModel{{Model: first, Name: "one/a"}, {Model: second, Name: "two/b", Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 7 }}}
				out, err := b.run(t.Context())
				if len(first.seen) != calls {
					t.Errorf("%d calls of the first", len(first.seen))
				}
				if !class.IsRetryable() {
					if err == nil || second.calls > 0 {
						t.Errorf("%+v, %v, %d calls of the second", out, err, second.calls)
					}
					return
				}
				if err != nil || out.Outcome != nexus.Accepted || time.Since(start) > time.Minute {
					t.Fatalf("%+v, %v after %s", out, err, time.Since(start))
				}
				if n := len(second.last.Messages[1].Parts); n != 1 || len(out.Messages[1].Parts) != 2 {
					t.Errorf("%d parts are sent and %d kept", n, len(out.Messages[1].Parts))
				}
				var last nexus.BudgetSettled
				switched := 0
				for _, f := range b.desk.RecordedFacts() {
					switch f := f.(type) {
					case nexus.BudgetSettled:
						last = f
					case nexus.SessionModelSwitched:
						switched++
					default:
					}
				}
				if last.Money != 7 || switched != 1 {
					t.Errorf("spent %+v, switched %d times", last, switched)
				}
			})
		})
	}
}

// TestATooLongWaitIsReported checks that a provider which asks for more than
// anybody waits ends the session, and that people are told until when.
func TestATooLongWaitIsReported(t *testing.T) {
	now := time.Date(2026, 11, 6, 8, 0, 0, 0, time.UTC)
	for task, code := range map[nexus.TaskID]nexus.ErrorCode{"T3": nexus.CodeNeedsPerson, "": nexus.CodeLimit} {
		b := newBench(t, nexus.Coder, script(llmtest.ScriptTurn{Say: "x", Fault: llmtest.RateLimit, After: "90000", Times: -1}))
		b.brief.Task, b.brief.Retry = task, llm.CallRetryPolicy{Now: func() time.Time { return now }}
		_, err := b.run(t.Context())
		e, ok := errors.AsType[*nexus.Error](err)
		if !ok || e.Code != code || !strings.Contains(e.Message, "is out of quota, and refused 1 calls in a row, and asks for no calls until 2026-11-07T09:00:00Z") {
			t.Errorf("%+v", err)
		}
		if n := len(b.server.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		settled(t, b)
	}
}

// TestAnAbsurdWaitIsNotBelieved: nobody is told to come back in decades.
func TestAnAbsurdWaitIsNotBelieved(t *testing.T) {
	now := time.Date(2026, 11, 6, 8, 0, 0, 0, time.UTC)
	b := newBench(t, nexus.Coder, script(llmtest.ScriptTurn{Say: "x", Fault: llmtest.RateLimit, After: "100000000000000000000", Times: -1}))
	b.brief.Retry, b.brief.Now = llm.CallRetryPolicy{Now: func() time.Time { return now }}, func() time.Time { return now }
	_, err := b.run(t.Context())
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || !strings.Contains(e.Message, "asks for a pause of more than a year; its account is left alone for at most a day") || strings.Contains(e.Message, "2058") {
		t.Errorf("%+v", err)
	}
	for _, f := range b.desk.RecordedFacts() {
		if q, ok := f.(nexus.QuotaExhausted); ok && q.Until.After(now.Add(llm.LongestPause)) {
			t.Errorf("the account is parked until %s", q.Until)
		}
	}
}
