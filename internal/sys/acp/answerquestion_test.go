package acp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// TestQuestion holds that what an agent asks reaches a person, and that it gets the
// answer as the kind that it asked for, or a refusal.
func TestQuestion(t *testing.T) {
	t.Parallel()
	const color = `form {"type":"object","properties":{"color":{"type":"string","enum":["red","blue"]}},"required":["color"]}` + "\n"
	const several = `form {"properties":{"count":{"type":"integer","minimum":1},"fast":{"type":"boolean","default":true},"name":{"type":"string"}},"required":["name","count"]}` + "\n"
	for name, c := range map[string]struct {
		script  string
		answers []string
		says    string // the agent
		asked   string // the last question, in part
		fault   nexus.AgentProgramFault
	}{
		"a choice":           {color, []string{"blue"}, `accepted {"color":"blue"}`, "one of: red, blue", ""},
		"several fields":     {several, []string{"name = Ada; count = 3"}, `accepted {"count":3,"fast":true,"name":"Ada"}`, "- count: a whole number of at least 1", ""},
		"one that is JSON":   {several, []string{`{"name":"a;b","count":2,"fast":false}`}, `accepted {"count":2,"fast":false,"name":"a;b"}`, "", ""},
		"no":                 {color, []string{"decline"}, "declined", "or decline, or cancel", ""},
		"not now":            {color, []string{"Cancel."}, "cancelled", "", ""},
		"one that is unfit":  {color, []string{"green", "red"}, `accepted {"color":"red"}`, "The answer does not fit: color is not one of: red, blue", ""},
		"none that fits":     {color, []string{"green", "pink", "black", "red"}, "declined", "", ""},
		"a page":             {"open https://example.com/login?x=1 Sign in.\n", []string{"done"}, "accepted null", "page of example.com, which Nexus does not open: https://example.com/login?x=1", ""},
		"a page, no":         {"open https://example.com Sign in.\n", []string{"no"}, "declined", "Sign in.", ""},
		"a page of nowhere":  {"open file:///etc/passwd Look.\n", nil, "declined", "", ""},
		"a page that lies":   {"open https://bank.example@evil.example/ Look.\n", nil, "declined", "", ""},
		"a secret":           {`form {"properties":{"apiKey":{"type":"string"}}}` + "\n", nil, "declined", "", ""},
		"nobody":             {color, []string{"error"}, "declined", "", ""},
		"again and again":    {strings.Repeat(color, 25), []string{"red"}, "accepted", "", nexus.FaultAsking},
		"it stops for a no":  {"ask Which one?\n", []string{"no"}, "", "Answer yes, or decline", nexus.FaultUnfinished},
		"a form of nonsense": {`form {"properties":{"a":{"type":"object"}},"required":["a"]}` + "\n", nil, "declined", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := play(t, "\n---\n"+c.script, nil)
			var asked []agentcli.AgentQuestion
			e := b.say(t, agentcli.AgentPrompt{Text: "x", Ask: func(_ context.Context, q agentcli.AgentQuestion) (string, error) {
				asked = append(asked, q)
				if len(c.answers) == 0 {
					t.Errorf("asked %q", q.Text)
					return "", nil
				}
				answer := c.answers[min(len(asked), len(c.answers))-1]
				if answer == "error" {
					return "", errors.New("nobody is there")
				}
				return answer, nil
			}})
			said := strings.Join(b.events, "\n")
			if e.Fault != c.fault || !strings.Contains(said, c.says) {
				t.Errorf("ended %q: %s; said\n%s\nwant %s", e.Fault, e.Why, said, c.says)
			}
			for _, q := range asked {
				if q.Fallback != "decline" || q.Personal != strings.Contains(q.Text, "open this page") {
					t.Errorf("asked %+v", q)
				}
			}
			if c.asked != "" && (len(asked) == 0 || !strings.Contains(asked[len(asked)-1].Text, c.asked)) {
				t.Errorf("asked %+v, want %s", asked, c.asked)
			}
			if c.fault == "" && len(asked) > 0 && !strings.Contains(said, "question-1=AskUserQuestion\nanswered question-1") {
				t.Errorf("it is not told as a call:\n%s", said)
			}
		})
	}
}

// TestQuestionStopped holds that an agent whose prompt is stopped while a person is
// asked gets no answer, and that the cause is known.
func TestQuestionStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("it is stopped")
	b := play(t, "\n---\nform {}\nsay more\n", func(l *acp.AgentLaunchOptions) { l.Keep = true })
	e, err := b.prompt(ctx, agentcli.AgentPrompt{Text: "x", Ask: func(ctx context.Context, _ agentcli.AgentQuestion) (string, error) {
		stop(cause)
		<-ctx.Done()
		return "yes", nil
	}})
	if said := strings.Join(b.events, "\n"); !errors.Is(err, cause) || e.Fault != nexus.FaultStopped || strings.Contains(said, "accepted") {
		t.Errorf("%v, %q: %s", err, e.Fault, said)
	}
}
