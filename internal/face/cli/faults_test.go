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
	b.WriteString("# Faults\n\nEvery failure of a model's provider has a class, and every class has one reaction. The wires send a\n" +
		"call once, so that retries do not multiply.\n\n| class | what has happened | what is done | how |\n|---|---|---|---|\n")
	for _, r := range llm.Reactions() {
		do := string(r.Do)
		if r.Then != r.Do {
			do += ", then " + string(r.Then)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Class, r.When, do, r.How)
	}
	b.WriteString("\n*again*: the same call again, after a wait. *shorten*: the session ends, and a shorter conversation takes over. *give up*: the session\n" +
		"ends, and the next attempt may use another model. *person*: the run stops until a person has settled it; `nexus resume` goes on.\n" +
		"*stop*: the run stops, and `nexus resume` goes on.\n\n" +
		"No wire lets a broken answer be continued: it is asked for again, as a call of its own that reserves its own money. What had\n" +
		"arrived of the broken one is accounted: what the provider had reported, and an estimate of a token for three bytes where that is more\n" +
		"or nothing was reported; such a sum is marked as an estimate. Anthropic reports the prompt when the answer begins and Gemini reports\n" +
		"both in every event; OpenAI and compatible servers report only at the end.\n\n" +
		"A whole answer with a malformed call is no failure, and is not asked for again. The call is not run: the model gets a failed result\n" +
		"that says what is wrong (not JSON, ends too early, text after the JSON, not an object, no id, the id of another call, no usable\n" +
		"name), and the other calls are run. Gemini keeps such calls to itself; there the model is told in words. These calls count as failed\n" +
		"ones, and five answers in a row with malformed calls end the session without progress.\n\n## What came of each fault\n\n" +
		"Seen on the scripted server, through the real wires. *usage*: what had been paid for is accounted in full; *usage about*: with an estimate.\n\n")
	models := []struct {
		name string
		conform.Model
	}{
		{"Anthropic", func(url string, l llm.Limits, h *http.Client) llm.Provider {
			return anthropic.New(anthropic.Config{Key: conform.Key, BaseURL: url, Limits: l, HTTP: h})
		}},
		{"OpenAI Responses", func(url string, l llm.Limits, h *http.Client) llm.Provider {
			return responses.New(responses.Config{Key: conform.Key, BaseURL: url + "/v1", Limits: l, HTTP: h})
		}},
		{"Chat Completions", func(url string, l llm.Limits, h *http.Client) llm.Provider {
			return openai.New(openai.Config{Key: conform.Key, BaseURL: url + "/v1", Limits: l, HTTP: h})
		}},
		{"Gemini", func(url string, l llm.Limits, h *http.Client) llm.Provider {
			return gemini.New(gemini.Config{Key: conform.Key, BaseURL: url, Limits: l, HTTP: h})
		}},
	}
	head, line := "| fault | what goes wrong |", "|---|---|"
	var rows []string
	for _, m := range models {
		head, line = head+" "+m.name+" |", line+"---|"
		for i, r := range conform.Matrix(t, m.Model) {
			if i == len(rows) {
				rows = append(rows, fmt.Sprintf("| `%s` | %s |", r.Fault, r.About))
			}
			rows[i] += " " + r.Saw + " |"
		}
	}
	b.WriteString(head + "\n" + line + "\n" + strings.Join(rows, "\n") + "\n\n## Compatible servers\n\n" +
		"OpenAI's own address is asked by Responses; every other address by Chat Completions, with the habits of what serves it. A server is told by its\n" +
		"address, by the name of the provider, or by `providers.NAME.server`.\n\n| server | told by | bound on an answer | effort | missing call ids | usage | note |\n|---|---|---|---|---|---|---|\n")
	for _, s := range openai.Servers() {
		told := strings.Join(s.Hosts, ", ")
		if len(s.Ports) > 0 {
			told = "port " + strings.Join(s.Ports, ", ")
		}
		ids, usage := "made here", "asked for"
		if s.StrictIDs {
			ids = "told to the model"
		}
		if s.NoOptions {
			usage = "estimated unless told"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s | %s |\n", s.Name, told, s.Limit, s.Effort, ids, usage, s.Note)
	}
	return b.String()
}
