package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/gemini"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
)

// faultsPage lets every provider meet every fault and writes down what came
// of it.
func faultsPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Faults\n\nEvery failure of a model provider has a class, and every class has one reaction. The wires send a call\n" +
		"once, so retries do not multiply.\n\n| class | what happened | reaction | details |\n|---|---|---|---|\n")
	for _, r := range llm.FailureReactions() {
		do := string(r.Do)
		if r.Then != r.Do {
			do += ", then " + string(r.Then)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Class, r.When, do, r.How)
	}
	b.WriteString("\n*again*: Nexus makes the same call again after a wait. *shorten*: Nexus shortens the conversation and continues. *give up*: the session\n" +
		"ends, and the next attempt may use another model. *person*: the run stops until a person has fixed it; `nexus resume` continues it.\n" +
		"*stop*: the run stops, and `nexus resume` continues it.\n\n" +
		"No wire continues a broken answer. Nexus asks for it again, as a new call with its own reservation. The broken answer is charged with\n" +
		"what the provider had reported, or with an estimate of a token for three bytes if that is more or nothing was reported; such an amount\n" +
		"is marked as an estimate. Anthropic reports the prompt's tokens when the answer starts, and Gemini reports all tokens in every event.\n" +
		"OpenAI and compatible servers report only at the end.\n\n" +
		"A complete answer with a malformed call is not a failure, and Nexus does not ask for it again. It does not run that call: the model gets\n" +
		"a failed result that says what is wrong (not JSON, ends too early, text after the JSON, not an object, no id, the id of another call, no\n" +
		"usable name). The other calls run. Gemini does not return such calls, so Nexus tells the model in words. These calls count as failed, and\n" +
		"five answers in a row with malformed calls end the session without progress.\n\n## The result of each fault\n\n" +
		"Tested with the scripted server, through the real wires. *usage*: the whole cost is accounted for; *usage about*: with an estimate.\n\n")
	models := []struct {
		name string
		conform.ModelFactory
	}{
		{"Anthropic", func(url string, l llm.CallLimits, h *http.Client) llm.Provider {
			return anthropic.NewProvider(anthropic.Config{Key: conform.Key, BaseURL: url, Limits: l, HTTP: h})
		}},
		{"OpenAI Responses", func(url string, l llm.CallLimits, h *http.Client) llm.Provider {
			return responses.NewProvider(responses.Config{Key: conform.Key, BaseURL: url + "/v1", Limits: l, HTTP: h})
		}},
		{"Chat Completions", func(url string, l llm.CallLimits, h *http.Client) llm.Provider {
			return openai.NewProvider(openai.Config{Key: conform.Key, BaseURL: url + "/v1", Limits: l, HTTP: h})
		}},
		{"Gemini", func(url string, l llm.CallLimits, h *http.Client) llm.Provider {
			return gemini.NewProvider(gemini.Config{Key: conform.Key, BaseURL: url, Limits: l, HTTP: h})
		}},
	}
	head, line := "| fault | what goes wrong |", "|---|---|"
	var rows []string
	for _, m := range models {
		head, line = head+" "+m.name+" |", line+"---|"
		for i, r := range conform.RunFaultMatrix(t, m.ModelFactory) {
			if i == len(rows) {
				rows = append(rows, fmt.Sprintf("| `%s` | %s |", r.Fault, r.About))
			}
			rows[i] += " " + r.Saw + " |"
		}
	}
	b.WriteString(head + "\n" + line + "\n" + strings.Join(rows, "\n") + "\n\n## Compatible servers\n\n" +
		"Nexus uses Responses for OpenAI's own address, and Chat Completions for every other address, with the habits of its server. It recognises a server by its\n" +
		"address, by the name of the provider, or by `providers.NAME.server`.\n\n| server | recognised by | limit on an answer | effort | missing call ids | usage | note |\n|---|---|---|---|---|---|---|\n")
	for _, s := range openai.ServersWithQuirks() {
		told := strings.Join(s.Hosts, ", ")
		if len(s.Ports) > 0 {
			told = "port " + strings.Join(s.Ports, ", ")
		}
		ids, usage := "added by Nexus", "requested"
		if s.StrictIDs {
			ids = "reported to the model"
		}
		if s.NoOptions {
			usage = "estimated if not reported"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s | %s |\n", s.Name, told, s.Limit, s.Effort, ids, usage, s.Note)
	}
	return b.String()
}
