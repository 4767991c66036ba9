package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

type noFiles struct{}

func (noFiles) Read(string) (string, error) { return "one\ntwo\n", nil }
func (noFiles) Write(string, string) error  { return errors.New("no") }

// FuzzPrompt lets an agent send anything: nothing falls over, each call is told
// before its result, money and tokens are not invented, and only a stop reason
// says that the agent is done.
func FuzzPrompt(f *testing.F) {
	const begin = `{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}},"authMethods":[{"id":"b"}]}}
{"id":2,"result":{"sessionId":"s","configOptions":[{"id":"model","options":[{"value":"m"},7]}],"modes":null}}
`
	const done = "\n" + `{"id":"3","result":{"stopReason":"end_turn","usage":{"inputTokens":-1,"outputTokens":4}}}`
	update := func(u string) string {
		return `{"method":"session/update","params":{"sessionId":"s","update":` + u + "}}\n"
	}
	for _, s := range []string{
		update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`),
		update(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"edit","rawInput":{},"locations":[{"path":"/a"}]}`) +
			update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"diff","path":"/b"},{"type":"terminal","terminalId":"t"},null]}`),
		update(`{"sessionUpdate":"plan","entries":[{"content":"a"},null]}`), update(`{"sessionUpdate":"usage_update","used":-1,"cost":{"amount":-1e300,"currency":"usd"}}`),
		`{"id":"p","method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","kind":"execute","title":"ls [in /x] (lists)"},"options":[{"kind":"allow_once"}]}}` + "\n",
		`{"id":4,"method":"session/request_permission","params":{"toolCall":{"rawInput":{"command":["sh","-c","ls"]}}}}` + "\n",
		`{"id":5,"method":"fs/read_text_file","params":{"path":"/w/a","line":-4,"limit":1}}` + "\n", `{"id":null,"method":"fs/write_text_file","params":{"path":7}}` + "\n",
		`{"id":6,"method":"terminal/create","params":{"command":"ls","args":["a b"],"cwd":"/w/sub","outputByteLimit":-1}}` + "\n" +
			`{"id":7,"method":"terminal/wait_for_exit","params":{"terminalId":"terminal-1"}}` + "\n" + `{"id":8,"method":"terminal/release","params":{"terminalId":"terminal-1"}}` + "\n",
		`{"id":9,"method":"elicitation/create","params":{}}` + "\n", `{"id":[],"method":"_x"}` + "\n", "null\n[]\n\xff\n{", `{"id":3,"error":{"code":-32000,"data":{"a":1}}}`,
	} {
		f.Add([]byte(begin + s + done))
	}
	f.Add([]byte(`{"id":1,"result":{"protocolVersion":1,"authMethods":[{"id":"b"}]}}` + "\n" + `{"id":2,"error":{"code":-32000}}` + "\n" + `{"id":3,"result":{}}` + "\n" + `{"id":4,"result":{"sessionId":"s"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := NewAgent(AgentLaunchOptions{
			Files: noFiles{}, Writes: true, Command: sandbox.Command{Dir: "/w"},
			Run: func(context.Context, sandbox.Command) (sandbox.Result, error) { return sandbox.Result{}, nil },
		})
		a.connection = startConnection(bytes.NewReader(data), io.Discard, nil)
		defer a.connection.close()
		told := map[string]bool{}
		q := newPromptTurn(a, agentcli.AgentPrompt{
			Text: "x", Permit: func(_ context.Context, c stream.AgentToolCall) string {
				if told[c.ID] = true; !json.Valid(c.Input) || c.Input[0] != '{' {
					t.Errorf("asked about %q", c.Input)
				}
				return ""
			},
			Heard: func(_ context.Context, e stream.AgentEvent) error {
				for _, c := range e.Calls {
					if told[c.ID] = true; !json.Valid(c.Input) || c.Input[0] != '{' {
						t.Errorf("input %q", c.Input)
					}
				}
				if e.Kind == stream.CallAnswered && !told[e.ID] {
					t.Errorf("the result of %q, which was not told", e.ID)
				}
				return nil
			},
		})
		err := q.openAndSendPrompt(t.Context())
		if err == nil && !bytes.Contains(data, []byte("end_turn")) && !bytes.Contains(data, []byte(`\u`)) {
			t.Error("done, and it did not say so")
		}
		e := q.promptEndWithoutFault()
		if u := e.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || e.Money < 0 {
			t.Errorf("%+v", e)
		}
	})
}

// BenchmarkUpdate is what a message costs.
func BenchmarkUpdate(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words of it"}}}}`)
	l := &agentConnection{busy: func() bool { return false }}
	t := newPromptTurn(&Agent{connection: l, id: "s"}, agentcli.AgentPrompt{})
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		var m rpcMessage
		if !decodeMessage(line, &m) || len(t.parseSessionUpdate(m.Params)) > 0 {
			b.Fatal("it is read wrong")
		}
		if t.text.Len() > maxText/2 {
			t.text.Reset()
		}
	}
}
