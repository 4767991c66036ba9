package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// eager keeps what it is asked.
type eager struct{ asked llm.Request }

func (e *eager) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	e.asked = r
	return llm.Response{}, nil
}

// TestFit asks models only for what they take.
func TestFit(t *testing.T) {
	able, err := llm.LoadCapabilities()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		effort, want string
		forces       bool
	}{
		"anthropic/claude-opus-5-5":      {"minimal", "low", false},
		"anthropic/claude-fable-5-2":     {"max", "max", false},
		"anthropic/claude-opus-5":        {"high", "high", true},
		"anthropic/claude-opus-4-5":      {"max", "high", true},
		"anthropic/claude-haiku-4-5":     {"high", "", true},
		"openai/gpt-6.2-sol":             {"none", "low", true},
		"openai/gpt-6-luna":              {"none", "none", true},
		"gemini/gemini-3.8-flash":        {"minimal", "low", true},
		"gemini/gemini-3.1-pro-preview":  {"minimal", "minimal", true},
		"gemini/gemini-2.5-flash":        {"high", "", true},
		"openrouter/anthropic/claude":    {"high", "", false},
		"ollama/llama":                   {"high", "", false},
		"anthropic/claude-sonnet-5-5":    {"loud", "", false},
		"anthropic/claude-mythos-5-2":    {"", "", false},
		"openai/gpt-5.6-terra":           {"max", "xhigh", true},
		"gemini/gemini-3.5-flash-lite":   {"xhigh", "high", true},
		"anthropic/claude-sonnet-4-6":    {"low", "", true},
		"unheard-of/claude-opus-5-5-new": {"low", "", false},
	} {
		provider, model, _ := llm.SplitModelName(name)
		m := &eager{}
		before := llm.UserMessage("do it")
		r := llm.Request{Model: model, Effort: c.effort, Force: "finish", System: "You review.", Messages: []llm.Message{before}}
		if _, err := able.FitRequests(m, provider).Stream(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		text := m.asked.System
		if m.asked.Effort != c.want || (m.asked.Force == "finish") != c.forces || strings.Contains(text, "tool finish") == c.forces ||
			!strings.HasPrefix(text, "You review.") || m.asked.Messages[0].Text() != "do it" || r.System != "You review." {
			t.Errorf("%s: asked %q %q with effort %q", name, text, m.asked.Force, m.asked.Effort)
		}
	}
}

// stubborn turns requests down that force a tool, or all of them.
type stubborn struct {
	all, none bool
	asked     []llm.Request
}

func (s *stubborn) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	s.asked = append(s.asked, r)
	if !s.none && (s.all || r.Force != "") {
		return llm.Response{ID: r.Force}, &llm.ModelCallError{Class: llm.Invalid, Status: 400, Cause: errors.New("tool_choice is not supported")}
	}
	return llm.Response{ID: "fine"}, nil
}

// TestARefusedForceIsPutIntoWords asks a model that refuses to be forced,
// though its traits say that it takes it, once more and never forced again.
func TestARefusedForceIsPutIntoWords(t *testing.T) {
	able, err := llm.LoadCapabilities()
	if err != nil {
		t.Fatal(err)
	}
	m := &stubborn{}
	fit := able.FitRequests(m, "openai")
	r := llm.Request{Model: "gpt-6-sol", System: "You review.", Force: llm.AnyTool, Messages: []llm.Message{llm.UserMessage("do it")}}
	for range 3 {
		if resp, err := fit.Stream(t.Context(), r, nil); err != nil || resp.ID != "fine" {
			t.Fatal(resp, err)
		}
	}
	if len(m.asked) != 4 || m.asked[0].Force != llm.AnyTool {
		t.Fatalf("%d calls, the first forced by %q", len(m.asked), m.asked[0].Force)
	}
	for _, q := range m.asked[1:] {
		if q.Force != "" || q.System != m.asked[1].System || !strings.HasPrefix(q.System, "You review.") || !strings.Contains(q.System, "calls at least one of your tools") {
			t.Errorf("%q %q", q.Force, q.System)
		}
	}
	m = &stubborn{all: true} // what is wrong is something else: once more, and that is said
	fit = able.FitRequests(m, "openai")
	if resp, err := fit.Stream(t.Context(), r, nil); err == nil || resp.ID != llm.AnyTool || len(m.asked) != 2 {
		t.Errorf("%v, %v after %d calls", resp, err, len(m.asked))
	}
	m.all, m.none = false, true
	if _, err := fit.Stream(t.Context(), r, nil); err != nil || m.asked[2].Force != llm.AnyTool {
		t.Errorf("%v: it is not forced any more: %+v", err, m.asked[2])
	}
}

// TestReactions holds the table to its promises: one reaction for every
// class, and never a second call for what a person must settle.
func TestReactions(t *testing.T) {
	seen := map[llm.CallFailureClass]bool{}
	for _, r := range llm.FailureReactions() {
		if seen[r.Class] || r.When == "" || r.How == "" || r.Do == "" || r.Then == "" || r.Then == llm.RemedyRetry {
			t.Errorf("%+v", r)
		}
		seen[r.Class] = true
		if r.Class.ReactionTo() != r {
			t.Errorf("%s has two reactions", r.Class)
		}
	}
	for _, c := range []llm.CallFailureClass{llm.Transient, llm.Overload, llm.Quota} {
		if !c.IsRetryable() {
			t.Errorf("%s is not tried again", c)
		}
	}
	for _, c := range []llm.CallFailureClass{llm.Billing, llm.Auth, llm.Invalid, llm.Context, llm.Safety, llm.Fatal, "", "novel"} {
		if c.IsRetryable() || c.ReactionTo().Do == llm.RemedyRetry {
			t.Errorf("%s is tried again", c)
		}
		if _, again := (llm.CallRetryPolicy{}).RetryWait(&llm.ModelCallError{Class: c}, 1); again {
			t.Errorf("%s is waited for", c)
		}
	}
	if len(seen) != 9 {
		t.Errorf("%d classes", len(seen))
	}
}
