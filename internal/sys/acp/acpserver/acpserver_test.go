package acpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// talker is an agent for tests: a prompt says what it does.
type talker struct {
	mu   sync.Mutex
	mode string
	c    *Client

	flooded chan struct{} // gets one when a flood has been sent
}

func (a *talker) Ready(context.Context) error {
	return &nexus.Error{Code: nexus.CodeNoKey, Message: "no key", Hint: "Set one."}
}

func (a *talker) Open(_ context.Context, c *Client, o SessionOpenParams) (ServedSession, error) {
	if !o.Fresh && c.ID != "known" {
		return nil, &nexus.Error{Code: nexus.CodeNotFound, Message: "there is none"}
	}
	if !o.Fresh && !o.Silent {
		c.ReplayUserMessage("before")
	}
	return &talker{mode: "a", c: c, flooded: a.flooded}, nil
}

func (a *talker) Sessions(context.Context, string) ([]SessionListEntry, error) {
	all := make([]SessionListEntry, 250)
	for i := range all {
		all[i].ID = fmt.Sprint(i)
	}
	return all, nil
}

func (a *talker) Opened() { a.c.SendCommands([]SlashCommand{{Name: "go", About: "goes"}}) }

func (a *talker) Options() []SessionOption {
	a.mu.Lock()
	defer a.mu.Unlock()
	return []SessionOption{{ID: ModeOption, Name: "Mode", Value: a.mode, Choices: []SessionOptionValue{{Value: "a", Name: "A"}, {Value: "b", Name: "B"}}}}
}

func (a *talker) Set(_, value string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = value
	return nil
}

func (a *talker) Beside(text string) bool { return text == "look" }

func (a *talker) Prompt(ctx context.Context, text string) (PromptStopReason, error) {
	switch text {
	case "wait":
		<-ctx.Done()
		return PromptDone, context.Cause(ctx)
	case "flood":
		for range 3 * maxUnread {
			a.c.SendMessage("x")
		}
		select {
		case a.flooded <- struct{}{}:
		default:
		}
	case "permit":
		answer, err := a.c.AskPermission(ctx, ToolCallView{ID: "1", Title: "T"}, []PermissionOption{{ID: "yes", Kind: "allow_once"}})
		a.c.SendMessage(fmt.Sprintf("%q %v", answer, err))
	case "elicit":
		r, err := a.c.AskText(ctx, "Q", []string{"red"})
		a.c.SendMessage(fmt.Sprintf("%+v %v", r, err))
	case "fail":
		return "", errors.New("it broke")
	default:
		a.c.SendMessage(text)
	}
	return PromptDone, nil
}

// player plays the client.
type player struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Scanner
	done chan struct{}

	flooded chan struct{}
}

func play(t *testing.T) *player {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	p := &player{t: t, to: to, from: bufio.NewScanner(from), done: make(chan struct{}), flooded: make(chan struct{}, 1)}
	p.from.Buffer(nil, 1<<20)
	go func() {
		defer close(p.done)
		(&Server{}).Serve(t.Context(), &talker{flooded: p.flooded}, in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = to.Close()
		for p.from.Scan() {
		}
		<-p.done
	})
	return p
}

func (p *player) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.to, line+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// want reads until a line holds a text, and returns it.
func (p *player) want(text string) string {
	p.t.Helper()
	var all []string
	for p.from.Scan() {
		if all = append(all, p.from.Text()); strings.Contains(p.from.Text(), text) {
			return p.from.Text()
		}
	}
	p.t.Fatalf("no line with %s: %s", text, all)
	return ""
}

func (p *player) begin() {
	p.t.Helper()
	const able = `"clientCapabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"Ed 1"}`
	p.send(`{"id":0,"method":"initialize","params":{"protocolVersion":1,`+able+`}}`, `{"id":1,"method":"session/load","params":{"sessionId":"known","cwd":"/x"}}`)
	p.want(`"id":0`)
	p.want(`"user_message_chunk"`)
	p.want(`"currentModeId":"a"`)
	p.want(`available_commands_update`)
}

func prompt(id int, text string) string {
	return fmt.Sprintf(`{"id":%d,"method":"session/prompt","params":{"sessionId":"known","prompt":[{"type":"text","text":%q}]}}`, id, text)
}

func TestPrompts(t *testing.T) {
	p := play(t)
	p.begin()
	p.send(prompt(2, "hello"))
	p.want(`"text":"hello"`)
	p.want(`"stopReason":"end_turn"`)
	p.send(prompt(3, "fail"))
	if got := p.want(`"id":3`); !strings.Contains(got, `"code":-32603,"message":"it broke"`) {
		t.Error(got)
	}

	// One at a time, unless it only looks; the identifier of one that is worked on is taken.
	p.send(prompt(4, "wait"), prompt(5, "hello"), prompt(6, "look"), prompt(4, "look"))
	p.want(`"code":-32600,"message":"a prompt is being worked on in this session; cancel it`)
	p.want(`a request with this id is being worked on`)
	p.send(`{"id":7,"method":"session/load","params":{"sessionId":"known","cwd":"/x"}}`)
	p.want(`cancel it first`)
	p.send(`{"method":"session/cancel","params":{"sessionId":"known"}}`)
	p.want(`"stopReason":"cancelled"`)
	p.send(prompt(8, "wait"), `{"method":"$/cancel_request","params":{"requestId":8}}`)
	p.want(`"stopReason":"cancelled"`)
	p.send(prompt(9, "wait"), `{"id":10,"method":"session/close","params":{"sessionId":"known"}}`)
	p.want(`"id":9`)
	p.want(`"id":10`)
	p.send(prompt(11, "hello"))
	p.want(`"code":-32002`)
}

func TestAsked(t *testing.T) {
	for _, c := range []struct{ prompt, answer, want string }{
		{"permit", `"result":{"outcome":{"outcome":"selected","optionId":"yes"}}`, `\"yes\" <nil>`},
		{"permit", `"result":{"outcome":{"outcome":"selected","optionId":"root"}}`, `\"\" <nil>`},
		{"permit", `"result":{"outcome":{"outcome":"cancelled","optionId":"yes"}}`, `\"\" <nil>`},
		{"permit", `"result":{}`, `\"\" <nil>`},
		{"permit", `"result":7`, `\"\" json`},
		{"permit", `"error":{"code":-32601,"message":"no"}`, `\"\" no`},
		{"permit", `"error":"broken"`, `\"\" the client answered with the error \"\"broken\"\"`},
		{"permit", `"error":{"code":"x"}`, `\"\" the client answered`},
		{"permit", `"error":null,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}`, `\"yes\" <nil>`},
		{"elicit", `"result":{"action":"accept","content":{"answer":"red"}}`, `red <nil>`},
		{"elicit", `"result":{"action":"accept","content":{"answer":"blue"}}`, ` <nil>`},
		{"elicit", `"result":{"action":"decline","content":{"answer":"red"}}`, ` <nil>`},
	} {
		p := play(t)
		p.begin()
		p.send(prompt(2, c.prompt))
		p.want(`"id":1`)
		p.send(`{"id":77,"result":{}}`, `{"id":1,`+c.answer+`}`, `{"id":1,`+c.answer+`}`)
		p.want(`"text":"` + c.want)
		p.want(`"id":2`)
	}
}

// TestNoMethod holds that what is no request is not answered: two that did would not
// stop.
func TestNoMethod(t *testing.T) {
	var out strings.Builder
	const answers = `{"id":null,"error":{"code":-32600,"message":"no"}}` + "\n" + `{"id":[],"error":7}` + "\n{}\n" + `{"id":4,"error":"x"}`
	(&Server{}).Serve(t.Context(), &talker{}, strings.NewReader(answers), &out)
	if out.Len() > 0 {
		t.Error(out.String())
	}
}

// TestUnanswered holds that a question that nobody answers ends with its prompt,
// and that the client is told.
func TestUnanswered(t *testing.T) {
	p := play(t)
	p.begin()
	p.send(prompt(2, "permit"))
	p.want(`"session/request_permission"`)
	p.send(`{"method":"session/cancel","params":{"sessionId":"known"}}`)
	p.want(`"method":"$/cancel_request","params":{"requestId":1}`)
	p.want(`"stopReason":"cancelled"`)
	p.send(prompt(3, "permit"))
	p.want(`"session/request_permission"`)
	_ = p.to.Close() // it goes away
	p.want(`"id":3`)
	<-p.done
}

// TestUnread lets a client read nothing for a while: updates are left out, the
// oldest first, and the answer is not.
func TestUnread(t *testing.T) {
	p := play(t)
	p.begin()
	p.send(prompt(2, "flood"))
	<-p.flooded
	n := 0
	for p.from.Scan() && !strings.Contains(p.from.Text(), `"id":2`) {
		n++
	}
	if n < maxUnread-10 || n > maxUnread+10 {
		t.Errorf("%d updates", n)
	}
}

func TestOptions(t *testing.T) {
	p := play(t)
	p.begin()
	p.send(`{"id":2,"method":"session/set_mode","params":{"sessionId":"known","modeId":"b"}}`)
	p.want(`"config_option_update"`)
	p.send(`{"id":3,"method":"session/set_config_option","params":{"sessionId":"known","configId":"mode","value":"a"}}`)
	p.want(`"currentModeId":"a"`)
	p.want(`"currentValue":"a"`)
	for _, set := range []string{`"configId":"mode","value":"c"`, `"configId":"x","value":"a"`, `"configId":"mode","value":true`} {
		p.send(`{"id":4,"method":"session/set_config_option","params":{"sessionId":"known",` + set + `}}`)
		p.want(`"code":-32602`)
	}
	p.send(`{"id":5,"method":"session/list","params":{"cursor":"100"}}`)
	if got := p.want(`"id":5`); !strings.Contains(got, `"nextCursor":"200"`) || !strings.Contains(got, `{"sessionId":"100"`) {
		t.Error(got)
	}
	p.send(`{"id":6,"method":"session/list","params":{"cursor":"9999"}}`)
	p.want(`"sessions":[]`)
	p.send(`{"id":7,"method":"authenticate","params":{"methodId":"nexus"}}`)
	p.want(`"code":-32000,"message":"no key. Set one."`)
}

func TestTextOf(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`[{"type":"text","text":"Fix "},{"type":"resource_link","name":"a","uri":"file:///w/a/b.go"},{"type":"text","text":" now"}]`, "Fix a/b.go now"},
		{`[{"type":"resource_link","uri":"file:///etc/passwd"}]`, "/etc/passwd"},
		{`[{"type":"resource_link","uri":"https://x/y"}]`, "https://x/y"},
		{`[{"type":"text","text":"See "},{"type":"resource","resource":{"uri":"file:///w/a.md","text":"` + "```x```" + `\n"}}]`, "See a.md\n\na.md:\n````\n```x```\n````"},
		{`[{"type":"resource","resource":{"uri":"file:///w/a.bin","blob":"AA=="}}]`, "a.bin"},
		{`[{"type":"image","data":""}]`, "!"},
		{`{}`, "!"},
		{`[]`, ""},
	} {
		got, err := promptText(json.RawMessage(c.in), "/w")
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.in, got, c.want)
		}
	}
}

// FuzzServe lets a client send anything: nothing falls over, each request that has
// an identifier is answered once, and what is written is messages.
func FuzzServe(f *testing.F) {
	const begin = `{"id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
		`{"id":1,"method":"session/resume","params":{"sessionId":"known","cwd":"/x"}}` + "\n"
	for _, s := range []string{
		prompt(2, "hello"), prompt(2, "wait") + "\n" + prompt(3, "wait") + "\n" + `{"method":"session/cancel","params":{"sessionId":"known"}}`,
		`{"id":2,"method":"session/new","params":{"cwd":"/"}}`, `{"id":"x","method":"session/close","params":{"sessionId":"known"}}`,
		prompt(2, "permit") + "\n" + `{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`, "[]\nnull\n\xff\n{", `{"id":[],"method":"x"}`,
		`{"id":null,"method":"session/list"}`, `{"method":"session/cancel","params":[]}`, `{"id":2,"method":"session/set_mode","params":{"sessionId":"known","modeId":"b"}}`,
		prompt(2, "wait") + "\n" + prompt(2, "look"), prompt(2, "flood"), `{"id":1e400,"method":"session/list","params":null}`, `{"id":-0,"method":"$/cancel_request"}`,
	} {
		f.Add([]byte(begin + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out strings.Builder
		(&Server{}).Serve(t.Context(), &talker{flooded: make(chan struct{}, 9)}, strings.NewReader(string(data)), &out)
		asked, answered := map[string]int{}, map[string]int{}
		for line := range bytes.Lines(data) {
			var m protocolMessage
			if json.Unmarshal(bytes.TrimSpace(line), &m) == nil && m.Method != "" && isRequestID(m.ID) && m.ID != nil {
				asked[string(m.ID)]++
			}
		}
		for line := range strings.Lines(out.String()) {
			var m protocolMessage
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if m.Method == "" && string(m.ID) != "null" {
				answered[string(m.ID)]++
			}
		}
		if !maps.Equal(asked, answered) {
			t.Errorf("asked %v, answered %v: %s", asked, answered, data)
		}
	})
}

// TestName holds that what a client calls itself is harmless.
func TestName(t *testing.T) {
	for in, want := range map[string]string{"Zed": "Zed", "": "unnamed", "a b\n\x1b[2J": "a-b2J", strings.Repeat("x", 99): strings.Repeat("x", maxClient), "--": "unnamed"} {
		var c clientCapabilitiesInfo
		if c.Info.Name = in; c.displayName() != want {
			t.Errorf("%q is %q", in, c.displayName())
		}
	}
}

// TestLastMoment holds that an answer which arrives as nobody wants to wait any longer
// is not lost.
func TestLastMoment(t *testing.T) {
	for range 100 { // which of the two is seen first is chance
		l := newClientConnection(io.Discard, func(error) {})
		go l.writeQueuedMessages()
		ctx, end := context.WithCancelCause(t.Context())
		got := make(chan error, 1)
		var r struct{ Answer string }
		go func() { got <- l.callClient(ctx, "x", nil, &r) }()
		for {
			l.mu.Lock()
			waits := l.waiting["1"] != nil
			l.mu.Unlock()
			if waits {
				break
			}
			runtime.Gosched()
		}
		l.deliverResponse(protocolMessage{ID: json.RawMessage("1"), Result: json.RawMessage(`{"answer":"yes"}`)})
		end(errors.New("nobody waits"))
		if err := <-got; err != nil || r.Answer != "yes" {
			t.Fatalf("%v, %q", err, r.Answer)
		}
		l.stopQueuing()
		<-l.gone
	}
}
