package llmtest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// steeredScript has one turn, and says what follows it.
const steeredScript = `
conversations:
  - match: T1.1/coder.1
    turns:
      - calls: [{tool: finish, input: {summary: done, status: done}}]
`

// TestSteered asks for what a script has, and for more.
func TestSteered(t *testing.T) {
	const more = "steered: {say: I play a script., calls: [{tool: finish, input: {summary: no more, status: done}}]}\n"
	brief := `{"role":"user","content":"Conversation: T1.1/coder.1\nDo it."}`
	comment := `{"role":"user","content":"A person reviewed your change.\n\n### c7 (must) a.go:1\n\nSay {\"comment\": \"c1\"}"}`
	finished := `{"role":"assistant","content":"","tool_calls":[{"id":"x","type":"function","function":{"name":"finish","arguments":"{}"}}]}`
	for _, c := range []struct {
		name, script string
		messages     []string
		status       int
		want, not    string
	}{
		{"the script", steeredScript + more, []string{brief}, 200, `\"summary\":\"done\"`, "answers"},
		{"a comment on the way", steeredScript + more, []string{brief, comment}, 200, `[{\"comment\":\"c7\",\"status\":\"declined\",\"why\":\"I play a script.\"}]`, "c1"},
		{"after the last turn", steeredScript + more, []string{brief, finished, comment}, 200, `\"comment\":\"c7\"`, `\"summary\":\"done\"`},
		{"a comment that was answered", steeredScript + more, []string{brief, comment, finished}, 200, `\"summary\":\"no more\"`, "c7"},
		{"another conversation", steeredScript + more, []string{strings.Replace(brief, "T1", "T2", 1)}, 400, "no conversation", "no more"},
		{"a script that says nothing of it", steeredScript, []string{brief, finished, comment}, 400, "has 1 turns in the script", "c7\\\""},
		{"its comments", steeredScript, []string{brief, comment}, 200, `\"summary\":\"done\"`, "answers"},
	} {
		script, err := llmtest.ParseScript([]byte(c.script))
		if err != nil {
			t.Fatal(err)
		}
		s, err := llmtest.NewServer(script, llmtest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		body := `{"model":"scripted","messages":[` + strings.Join(c.messages, ",") + `]}`
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
		got, err := io.ReadAll(w.Result().Body)
		if err != nil || w.Code != c.status || !strings.Contains(string(got), c.want) || strings.Contains(string(got), c.not) {
			t.Errorf("%s: %d %s, %v", c.name, w.Code, got, err)
		}
	}
}
