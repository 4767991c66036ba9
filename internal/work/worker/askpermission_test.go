package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// crowd answers what people are asked, after a while, and keeps the question.
type crowd struct {
	AttemptFactRecorder
	answer string
	err    error
	asked  nexus.QuestionAsked
	think  func()
}

func (c *crowd) Ask(_ context.Context, q nexus.QuestionAsked) (string, error) {
	c.asked = q
	if c.think != nil {
		c.think()
	}
	return c.answer, c.err
}

// TestAgree asks a person about a command, word for word, and runs it only when
// that says yes. Where nobody is there, the session is halted before the call.
func TestAgree(t *testing.T) {
	broken := errors.New("no journal")
	for name, c := range map[string]struct {
		reason, answer string
		err            error
		text           string
		refused        string // what the error says; empty: it runs
		halted         bool
	}{
		"yes":                   {"", "yes", nil, `may it run "rm -rf \"a b\""?`, "", false},
		"yes, with a reason":    {"It deletes.", "yes", nil, `may it run "rm -rf \"a b\""? It deletes.`, "", false},
		"no":                    {"", "no", nil, `may it run "rm -rf \"a b\""?`, "a person said: no", false},
		"something else":        {"", "use mv", nil, `may it run "rm -rf \"a b\""?`, "a person said: use mv", false},
		"nobody is there":       {"", nexus.Unapproved, nil, `may it run "rm -rf \"a b\""?`, "may it run", true},
		"nobody could be asked": {"", "", broken, `may it run "rm -rf \"a b\""?`, "no journal", false},
	} {
		now := time.Unix(1_700_000_000, 0)
		s := &AgentSessions{Site: &RunEnvironment{Now: func() time.Time { return now }}}
		a := &state.AttemptState{ID: "T1.1"}
		d := &crowd{answer: c.answer, err: c.err, think: func() { now = now.Add(time.Hour) }}
		var cause error
		ask := s.approvalFunc(t.Context(), ConversationStretchRequest{Attempt: a, Limits: nexus.Limits{Approval: nexus.ApproveDestructive}}, d, func(err error) { cause = err })
		err := ask(t.Context(), `rm -rf "a b"`, c.reason)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
		if (cause != nil) != c.halted || c.halted && (!IsApprovalNeededError(cause) || !IsApprovalNeededError(err)) || !c.halted && IsApprovalNeededError(err) {
			t.Errorf("%s: halted by %v, %v", name, cause, err)
		}
		if d.asked.Text != c.text || d.asked.Attempt != "T1.1" || !strings.HasPrefix(d.asked.ID, "T1.1-") || d.asked.Trigger != humaninput.SecurityTrigger || d.asked.Fallback != nexus.Unapproved {
			t.Errorf("%s: asked %+v", name, d.asked)
		}
		if a.Rested != time.Hour {
			t.Errorf("%s: the attempt rested %s while a person thought", name, a.Rested)
		}
	}
	s := &AgentSessions{Site: &RunEnvironment{Now: time.Now}}
	if s.approvalFunc(t.Context(), ConversationStretchRequest{Attempt: &state.AttemptState{}, Limits: nexus.Limits{Approval: nexus.ApproveNone}}, &crowd{}, nil) != nil {
		t.Error("people are asked who are to be asked nothing")
	}
}

// TestConsentToPublish is asked of no attempt, and is no question of a command.
func TestConsentToPublish(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		alone    bool
		patience time.Duration
		deadline time.Time
	}{
		"people take their time": {false, 0, time.Time{}},
		"people have a while":    {false, time.Hour, now.Add(time.Hour)},
		"nobody is there":        {true, time.Hour, now},
	} {
		s := &AgentSessions{Site: &RunEnvironment{Now: func() time.Time { return now }}, Alone: c.alone, Patience: c.patience}
		d := &crowd{answer: "yes"}
		if answer, err := s.AskPermission(t.Context(), "", "may it be pushed?", d); answer != "yes" || err != nil {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
		if d.asked.Trigger != humaninput.PublishTrigger || !strings.HasPrefix(d.asked.ID, "result-") || !d.asked.Deadline.Equal(c.deadline) {
			t.Errorf("%s: %+v", name, d.asked)
		}
	}
}

// TestQuestionOfARunWithoutPeople waits for the one who answers in their place,
// and for nobody where none does; the attempt's clock stands still.
func TestQuestionOfARunWithoutPeople(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	auto := &QuestionAutoAnswerer{After: time.Minute}
	for name, c := range map[string]struct {
		alone    bool
		deputy   *QuestionAutoAnswerer
		trigger  string
		deadline time.Time
	}{
		"somebody stands in":    {true, auto, humaninput.AmbiguityTrigger, now.Add(time.Minute + respite)},
		"not for this":          {true, auto, humaninput.SecurityTrigger, now},
		"nobody does":           {true, nil, humaninput.AmbiguityTrigger, now},
		"people are there, too": {false, auto, humaninput.AmbiguityTrigger, now},
	} {
		at := now
		s := &AgentSessions{Site: &RunEnvironment{Now: func() time.Time { return at }}, Alone: c.alone, Deputy: c.deputy}
		a, d := &state.AttemptState{ID: "T1.1"}, &crowd{answer: "blue", think: func() { at = at.Add(time.Second) }}
		answer, err := s.askQuestion(t.Context(), ConversationStretchRequest{Attempt: a}, d, nexus.QuestionAsked{ID: "q", Trigger: c.trigger, Deadline: now})
		if answer != "blue" || err != nil || !d.asked.Deadline.Equal(c.deadline) || a.Rested != time.Second {
			t.Errorf("%s: %q, %v: %+v, rested %s", name, answer, err, d.asked, a.Rested)
		}
	}
}

// TestStandsIn asks the model of the fast tier.
func TestStandsIn(t *testing.T) {
	s := &AgentSessions{Pick: func(role nexus.Role, tier nexus.Tier, pin string) (PricedModel, error) {
		return PricedModel{Name: strings.Join([]string{string(role), string(tier), pin}, " ")}, nil
	}}
	d := &QuestionAutoAnswerer{}
	s.SetAutoAnswer(d)
	if m, err := d.Pick(); err != nil || m.Name != string(nexus.Router)+" "+string(nexus.Fast)+" " || s.Deputy != d || d.Mark("q") == "" || d.Mark("q") == d.Mark("p") {
		t.Errorf("%+v, %v", m, err)
	}
}
