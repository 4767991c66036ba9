package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
)

// TestQuirks asks each kind of server in its own way.
func TestQuirks(t *testing.T) {
	for name, c := range map[string]struct{ has, lacks string }{
		"openai":     {`"max_completion_tokens":1000 "reasoning_effort":"low" "include_usage":true`, `"max_tokens"`},
		"openrouter": {`"max_tokens":1000 "reasoning":{"effort":"low"} "usage":{"include":true}`, `"reasoning_effort"`},
		"ollama":     {`"max_tokens":1000 "reasoning_effort":"low" "include_usage":true`, `"max_completion_tokens"`},
		"vllm":       {`"max_tokens":1000 "include_usage":true`, `"usage":{`},
		"lmstudio":   {`"max_tokens":1000`, `effort`},
		"llamacpp":   {`"max_tokens":1000`, `stream_options`},
		"compatible": {`"max_tokens":1000 "include_usage":true`, `"reasoning":`},
	} {
		s := serve(t, 200, "text/event-stream", stream(`{"content":"a"}|stop`, done))
		r := conform.NewRequest("c")
		r.Effort = "low"
		got, err := ask(t, s, openai.Config{Server: name}, r)
		if err != nil || !got.Estimated || got.Usage.PromptTokens() == 0 || got.Usage.Output == 0 {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		for has := range strings.FieldsSeq(c.has) {
			if !strings.Contains(s.body, has) {
				t.Errorf("%s: no %s in %s", name, has, s.body)
			}
		}
		if strings.Contains(s.body, c.lacks) {
			t.Errorf("%s: %s in %s", name, c.lacks, s.body)
		}
	}
}

func TestServers(t *testing.T) {
	names := map[string]bool{}
	for _, s := range openai.ServersWithQuirks() {
		if s.Limit == "" || names[s.Name] {
			t.Errorf("%+v", s)
		}
		names[s.Name] = true
	}
	if len(names) < 7 {
		t.Errorf("%d servers", len(names))
	}
	for base, official := range map[string]bool{
		"": true, "https://api.openai.com/v1": true, "https://eu.api.openai.com/v1": true, "https://openrouter.ai/api/v1": false,
		"http://localhost:11434/v1": false, "http://127.0.0.1:8080": false, "https://api.openai.com.example.org/v1": false, "::": false,
	} {
		if openai.IsOpenAIServer(base) != official {
			t.Errorf("%q: official is %t", base, !official)
		}
	}
}

// TestHabits hears what only some servers say.
func TestHabits(t *testing.T) {
	call := func(name, arguments string) string {
		return `{"tool_calls":[{"function":{"name":"` + name + `","arguments":` + arguments + `}}]}`
	}
	for name, c := range map[string]struct {
		events []string
		ids    string
		class  llm.CallFailureClass
		stop   llm.StopReason
	}{
		"no id, no index": {events: []string{call("t", `{"a":1}`), call("t", `{"a":2}`) + "|stop", done}, ids: "chat-call-0-0 chat-call-0-1", stop: llm.StopTools},
		"in pieces":       {events: []string{call("t", `"{\"a\":"`), call("t", `"1}"`) + "|tool_calls", done}, ids: "chat-call-0-0", stop: llm.StopTools},
		"max_tokens":      {events: []string{`{"content":"a"}|max_tokens`, done}, stop: llm.StopLength},
		"safety":          {events: []string{`{"content":"a"}|safety`, done}, stop: llm.StopRefuse},
		"eos":             {events: []string{`{"content":"a"}|eos`, done}, stop: llm.StopDone},
		"error":           {events: []string{`{"content":"a"}|error`, done}, class: llm.Transient},
		"error with 200":  {events: []string{`!{"error":{"code":402,"message":"Insufficient credits"}}`}, class: llm.Billing},
	} {
		got, err := ask(t, serve(t, 200, "text/event-stream", stream(c.events...)), openai.Config{}, conform.NewRequest("c"))
		if c.class != "" {
			if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != c.class {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var ids []string
		for _, call := range got.ToolCalls() {
			ids = append(ids, call.ID)
		}
		if err != nil || got.Stop != c.stop || strings.Join(ids, " ") != c.ids {
			t.Errorf("%s: %s %v %v", name, got.Stop, ids, err)
		}
	}
	cost := `!{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.0125}}`
	got, err := ask(t, serve(t, 200, "text/event-stream", stream(`{"content":"a"}|stop`, cost, done)), openai.Config{Server: "openrouter"}, conform.NewRequest("c"))
	if err != nil || got.Cost != nexus.Dollar/80 || got.Estimated {
		t.Errorf("%+v %v", got, err)
	}
}
