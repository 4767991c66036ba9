package notice

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// noon is a Thursday.
var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// tape is a run's events.
type tape []nexus.Event

func (t *tape) add(facts ...nexus.Fact) {
	for _, f := range facts {
		n := int64(len(*t) + 1)
		*t = append(*t, nexus.Event{Seq: n, Run: "r1", At: noon.Add(time.Duration(n) * time.Second), Fact: f})
	}
}

func (t *tape) past(nexus.RunID) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range *t {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// begun is a run of two tasks.
func begun() *tape {
	t := &tape{}
	t.add(
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Do it"}, Base: "c0", Limits: nexus.Limits{RunMoney: 5 * nexus.Dollar}},
		nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: 2},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Add\nit"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Title: "Use it"}},
		nexus.PlanApproved{By: "policy"},
	)
	return t
}

// told folds the events after one, and returns what people are told in a line each.
func told(t *testing.T, events *tape, after int) []string {
	t.Helper()
	f := NoticeCollector{Past: events.past}
	var all []string
	for _, e := range (*events)[after:] {
		notices, err := f.Apply(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range notices {
			if n.ID != fmt.Sprintf("r1/%d/%s", e.Seq, n.Kind) || n.Run != "r1" || !n.At.Equal(e.At) {
				t.Errorf("%+v", n)
			}
			all = append(all, fmt.Sprintf("%s %s: %s | %s | %s", n.Severity, n.Kind, n.Title, n.Text, n.Next))
		}
	}
	return all
}

// TestNotices tells people what matters, once, in words with a next step.
func TestNotices(t *testing.T) {
	events := begun()
	before := len(*events)
	refused := nexus.BudgetRefused{Cap: "run", Limit: 5 * nexus.Dollar, Spent: 5 * nexus.Dollar, Asked: nexus.Dollar}
	until := noon.Add(time.Hour)
	events.add(
		nexus.BudgetPercentReached{Percent: 50}, nexus.BudgetPercentReached{Percent: 75}, nexus.BudgetPercentReached{Percent: 100}, refused, refused,
		nexus.QuestionAsked{ID: "q1", Text: "which\none?", Fallback: "this"},
		nexus.QuestionAsked{ID: "q2", Text: "may it run \"x\"?", Trigger: humaninput.SecurityTrigger},
		nexus.QuestionAsked{ID: "q3", Text: "publish?", Trigger: humaninput.PublishTrigger},
		nexus.QuestionAsked{ID: "q4", Text: "2 tasks", Trigger: humaninput.PlanTrigger},
		nexus.QuotaExhausted{Account: "anthropic", Until: until, Why: "429"}, nexus.QuotaReset{Account: "anthropic"},
		nexus.AlertRaised{Kind: nexus.AlertDisk, Why: "900M are free"}, nexus.AlertCleared{Kind: nexus.AlertDisk, Why: "2G are free"},
		nexus.TaskParked{Task: "T1", Why: "a person must decide\x1b[31m"},
		nexus.RunEnded{Status: nexus.StatusPartial, Why: "a task is parked"},
	)
	want := []string{
		`yellow budget: 75 % of the budget is spent | $0.00 of $5.00 | nexus cost r1`,
		`red budget: 100 % of the budget is spent | $0.00 of $5.00 | nexus cost r1`,
		`red budget: the budget is reached: run | a call would have exceeded $5.00: $5.00 are spent or reserved | nexus cost r1`,
		`green question: q1 waits for an answer | which one? | nexus answer q1 TEXT --run r1`,
		`red question: q2 waits for an answer | may it run "x"? | nexus approve q2 --run r1, or nexus reject`,
		`red review: q3: what landed waits for your review | publish? | nexus approve q3 --run r1, or nexus reject`,
		`red plan: q4: a plan waits for your consent | 2 tasks | nexus approve q4 --run r1, or nexus reject`,
		`yellow quota: anthropic takes no calls until 13:00 UTC on 2026-11-26 | 429 | `,
		`green quota: anthropic takes calls again |  | `,
		`yellow alert: alert: disk | 900M are free | nexus status r1 --health`,
		`green alert: alert is over: disk | 2G are free | `,
		`yellow parked: T1, Add it, is parked | a person must decide<U+001B>[31m | nexus retry T1 --run r1, or nexus stop --skip T1 --run r1`,
		`yellow end: the run is partial | a task is parked; 0 of 2 tasks landed, $0.00 spent | nexus status --report r1`,
	}
	if d := cmp.Diff(want, told(t, events, before)); d != "" {
		t.Error(d)
	}
	// Whoever comes later is told the same of what comes then: what was told once is no news.
	if d := cmp.Diff(want[3:], told(t, events, before+4)); d != "" {
		t.Error(d)
	}
}

// TestDamaged leaves out a run whose events do not fit together, and says what
// keeps the past from being read.
func TestDamaged(t *testing.T) {
	events := &tape{}
	events.add(nexus.LandingCompleted{Task: "T9"}, nexus.RunEnded{Status: nexus.StatusDone})
	if all := told(t, events, 0); len(all) != 0 {
		t.Errorf("%q", all)
	}
	f := NoticeCollector{Past: func(nexus.RunID) iter.Seq2[nexus.Event, error] {
		return func(yield func(nexus.Event, error) bool) { yield(nexus.Event{}, errors.New("gone")) }
	}}
	if _, err := f.Apply((*begun())[0]); err == nil {
		t.Error("no error")
	}
}

// TestRules sends what one rule sends.
func TestRules(t *testing.T) {
	rules := []DeliveryRule{
		{Kinds: []NoticeKind{End, Parked}, Ways: []string{"phone"}},
		{Severity: humaninput.Red},
		{Kinds: []NoticeKind{Alert}, Severity: humaninput.Yellow, Ways: []string{"mail"}},
	}
	for _, c := range []struct {
		kind     NoticeKind
		severity humaninput.QuestionSeverity
		phone    bool
		mail     bool
	}{
		{End, humaninput.Green, true, false},
		{End, humaninput.Red, true, true},
		{Question, humaninput.Yellow, false, false},
		{Alert, humaninput.Green, false, false},
		{Alert, humaninput.Yellow, false, true},
		{Budget, humaninput.Red, true, true},
	} {
		n := Notice{Kind: c.kind, Severity: c.severity}
		if phone, mail := ShouldSend(rules, n, "phone"), ShouldSend(rules, n, "mail"); phone != c.phone || mail != c.mail {
			t.Errorf("%s %s: phone %v, mail %v", c.severity, c.kind, phone, mail)
		}
		if !ShouldSend(nil, n, "phone") {
			t.Errorf("%s: without a rule it stays", c.kind)
		}
	}
}

// at makes a notice of a severity that is some time after noon.
func at(id string, severity humaninput.QuestionSeverity, after time.Duration) Notice {
	return Notice{ID: id, Severity: severity, At: noon.Add(after)}
}

// TestTiming plays when notices are sent, at times after noon of a Thursday.
func TestTiming(t *testing.T) {
	hours := func(text string) improveloop.WeeklyHours {
		h, err := improveloop.ParseWeeklyHours(text)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	green, red := at("g", humaninput.Green, 0), at("r", humaninput.Red, 10*time.Second)
	for name, c := range map[string]struct {
		timing  NoticeTiming
		waiting []Notice
		now     time.Duration
		send    string
		next    time.Duration // after noon, where nothing is sent
	}{
		"at once":              {NoticeTiming{}, []Notice{green}, 0, "g", 0},
		"nothing":              {NoticeTiming{}, nil, 0, "", -1},
		"window":               {NoticeTiming{Window: time.Minute}, []Notice{green}, 0, "", time.Minute},
		"window over":          {NoticeTiming{Window: time.Minute}, []Notice{green, at("h", humaninput.Green, 50*time.Second)}, time.Minute, "g h", 0},
		"red has company":      {NoticeTiming{Window: time.Minute, Through: humaninput.Red}, []Notice{green, red}, 10 * time.Second, "g r", 0},
		"nothing breaks":       {NoticeTiming{Window: time.Minute}, []Notice{green, red}, 10 * time.Second, "", time.Minute},
		"most":                 {NoticeTiming{Most: 1}, []Notice{green, red}, time.Minute, "g", 0},
		"quiet":                {NoticeTiming{Quiet: hours("11:00-14:00")}, []Notice{green}, 0, "", 2 * time.Hour},
		"quiet, zone":          {NoticeTiming{Quiet: hours("11:00-14:00"), Zone: berlin}, []Notice{green}, 0, "", time.Hour},
		"quiet, red":           {NoticeTiming{Quiet: hours("11:00-14:00"), Through: humaninput.Red}, []Notice{green, red}, time.Minute, "r", 0},
		"quiet is over":        {NoticeTiming{Quiet: hours("11:00-14:00")}, []Notice{green}, 2 * time.Hour, "g", 0},
		"quiet begins":         {NoticeTiming{Quiet: hours("12:30-14:00"), Window: time.Hour}, []Notice{green}, 0, "", 2 * time.Hour},
		"sent late, quiet now": {NoticeTiming{Quiet: hours("22:00-07:00")}, []Notice{green}, 11 * time.Hour, "", 19 * time.Hour},
		"digest":               {NoticeTiming{Digest: "18:00"}, []Notice{green}, 0, "", 6 * time.Hour},
		"digest, zone":         {NoticeTiming{Digest: "18:00", Zone: berlin}, []Notice{green}, 0, "", 5 * time.Hour},
		"digest of tomorrow":   {NoticeTiming{Digest: "11:00"}, []Notice{green}, 0, "", day - time.Hour},
		"digest, red":          {NoticeTiming{Digest: "18:00", Through: humaninput.Red}, []Notice{green, red}, time.Minute, "r", 0},
		"digest is due":        {NoticeTiming{Digest: "18:00"}, []Notice{green, red}, 6 * time.Hour, "g r", 0},
		"digest was missed":    {NoticeTiming{Digest: "18:00"}, []Notice{green}, 20 * time.Hour, "g", 0},
	} {
		send, next := c.timing.NextDigestTime(c.waiting, noon.Add(c.now))
		var ids []string
		for _, n := range send {
			ids = append(ids, n.ID)
		}
		if got := strings.Join(ids, " "); got != c.send {
			t.Errorf("%s: sends %q, want %q", name, got, c.send)
		}
		switch {
		case c.send != "":
		case c.next < 0 && !next.IsZero(), c.next >= 0 && !next.Equal(noon.Add(c.next)):
			t.Errorf("%s: next at %s, want noon and %s", name, next, c.next)
		}
		if err := c.timing.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"25:00", "1:00", "x", "18:00 Mon", "18:00:00"} {
		if err := (NoticeTiming{Digest: text}).Check(); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
