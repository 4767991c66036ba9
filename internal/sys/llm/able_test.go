package llm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// eager keeps what it is asked.
type eager struct{ asked llm.Request }

func (e *eager) Stream(_ context.Context, r llm.Request, _ func(llm.Delta)) (llm.Response, error) {
	e.asked = r
	return llm.Response{}, nil
}

// TestFit asks models only for what they take.
func TestFit(t *testing.T) {
	able, err := llm.LoadAble()
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
		provider, model, _ := llm.Split(name)
		m := &eager{}
		before := llm.Say("do it")
		r := llm.Request{Model: model, Effort: c.effort, Force: "finish", Messages: []llm.Message{before}}
		if _, err := able.Fit(m, provider).Stream(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		text := m.asked.Messages[0].Text()
		if m.asked.Effort != c.want || (m.asked.Force == "finish") != c.forces || strings.Contains(text, "tool finish") == c.forces ||
			!strings.HasPrefix(text, "do it") || r.Messages[0].Text() != "do it" || len(before.Parts) != 1 {
			t.Errorf("%s: asked %q %q with effort %q", name, text, m.asked.Force, m.asked.Effort)
		}
	}
}

// TestReactions holds the table to its promises: one reaction for every
// class, and never a second call for what a person must settle.
func TestReactions(t *testing.T) {
	seen := map[llm.Class]bool{}
	for _, r := range llm.Reactions() {
		if seen[r.Class] || r.When == "" || r.How == "" || r.Do == "" || r.Then == "" || r.Then == llm.Again {
			t.Errorf("%+v", r)
		}
		seen[r.Class] = true
		if r.Class.Reaction() != r {
			t.Errorf("%s has two reactions", r.Class)
		}
	}
	for _, c := range []llm.Class{llm.Transient, llm.Overload, llm.Quota} {
		if !c.Retryable() {
			t.Errorf("%s is not tried again", c)
		}
	}
	for _, c := range []llm.Class{llm.Billing, llm.Auth, llm.Invalid, llm.Context, llm.Safety, llm.Fatal, "", "novel"} {
		if c.Retryable() || c.Reaction().Do == llm.Again {
			t.Errorf("%s is tried again", c)
		}
		if _, again := (llm.Policy{}).Wait(&llm.Error{Class: c}, 1); again {
			t.Errorf("%s is waited for", c)
		}
	}
	if len(seen) != 9 {
		t.Errorf("%d classes", len(seen))
	}
}
