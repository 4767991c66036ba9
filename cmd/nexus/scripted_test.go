package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

func model(ts *testscript.TestScript, _ bool, args []string) {
	script, err := llmtest.ParseScript([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	for _, tasks := range []string{"T*", "FIX-*"} {
		script.Conversations = append(script.Conversations, llmtest.ScriptConversation{
			Match: tasks + "/reviewer.*", Turns: []llmtest.ScriptTurn{{Calls: []llmtest.ScriptCall{{
				Tool: "finish", Input: map[string]any{"approved": true, "summary": "Good.", "findings": []any{}},
			}}}},
		})
	}
	server, err := llmtest.NewServer(script, llmtest.Options{Bodies: true, Now: time.Now})
	ts.Check(err)
	p := playOf(ts)
	if p.model != nil {
		p.model.close()
		for _, e := range happenings(ts) {
			p.begun = e.Seq
		}
	}
	m := &scripted{server: server, holds: map[string]*pledge{}, log: ts.Logf}
	m.web = httptest.NewUnstartedServer(m)
	m.web.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, peer{}, c) }
	m.web.Start()
	p.model = m
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "scripted", "ANTHROPIC_BASE_URL": m.web.URL, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": m.web.URL + "/v1", "MODEL_URL": m.web.URL,
	} {
		ts.Setenv(name, value)
	}
}

// scripted is the scripted model, which can be held back.
type scripted struct {
	server *llmtest.Server
	web    *httptest.Server
	log    func(string, ...any)

	mu    sync.Mutex // guards holds
	holds map[string]*pledge
}

type pledge struct {
	asked, freed chan struct{}
	once         sync.Once
	half         bool // of the answer is said before
}

// keep waits until the pledge is freed, and reports whether it was.
func (h *pledge) keep(r *http.Request) bool {
	h.once.Do(func() { close(h.asked) })
	select {
	case <-h.freed:
		return !hungUp(r) // both may be so, where who asked was killed
	case <-r.Context().Done():
		return false
	}
}

// peer is the key of a request's connection in its context.
type peer struct{}

// hungUp reports whether nobody waits for the answer any more. The kernel knows
// it when a process that was killed has ended; the server hears of it later.
func hungUp(r *http.Request) (gone bool) {
	raw, err := r.Context().Value(peer{}).(syscall.Conn).SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = err == nil && n == 0 || errors.Is(err, syscall.ECONNRESET)
	})
	return gone || err != nil
}

// halves holds an answer back when half of it is written.
type halves struct {
	http.ResponseWriter
	r *http.Request
	h *pledge
}

// Write implements [http.ResponseWriter].
func (w halves) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:len(p)/2])
	if err == nil {
		err = http.NewResponseController(w.ResponseWriter).Flush()
	}
	if err != nil || !w.h.keep(w.r) {
		return n, err
	}
	m, err := w.ResponseWriter.Write(p[len(p)/2:])
	return n + m, err
}

func (m *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	name, step := conversation(body)
	m.mu.Lock()
	h := m.holds[fmt.Sprint(name, " ", step)]
	m.mu.Unlock()
	switch {
	case h != nil && h.half:
		w = halves{w, r, h}
	case h != nil && !h.keep(r):
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.server.ServeHTTP(w, r)
}

// conversation returns the name of a request's conversation, and the step.
func conversation(body []byte) (name string, step int) {
	for _, m := range gjson.GetBytes(body, "messages").Array() {
		if m.Get("role").String() == "assistant" {
			step++
		}
		if strings.Contains(m.Raw, `"Next task: `) { // it goes on with another one's
			name, step = "", 0
		}
		if _, after, ok := strings.Cut(m.Raw, "Conversation: "); ok && name == "" {
			name = after[:strings.IndexAny(after, "\\\" ")]
		}
	}
	return name, step
}

func (m *scripted) free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, h := range m.holds {
		close(h.freed)
		delete(m.holds, k)
	}
}

func (m *scripted) close() {
	m.web.CloseClientConnections()
	m.web.Close()
}

func theModel(ts *testscript.TestScript) *scripted {
	m := playOf(ts).model
	if m == nil {
		ts.Fatalf("no model was started")
	}
	return m
}

func hold(ts *testscript.TestScript, _ bool, args []string) {
	m := theModel(ts)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds[strings.Join(args[:2], " ")] = &pledge{asked: make(chan struct{}), freed: make(chan struct{}), half: len(args) > 2}
}

func held(ts *testscript.TestScript, _ bool, _ []string) {
	m := theModel(ts)
	m.mu.Lock()
	var all []*pledge
	for _, h := range m.holds {
		all = append(all, h)
	}
	m.mu.Unlock()
	for _, h := range all {
		select {
		case <-h.asked:
		case <-time.After(patience):
			ts.Fatalf("the model was not asked for what it holds back")
		}
	}
}

func release(ts *testscript.TestScript, _ bool, _ []string) { theModel(ts).free() }

// paid waits until so many answers of a conversation are on their way.
func paid(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for end := time.Now().Add(patience); theModel(ts).server.PaidAnswers(args[1]) < want; runtime.Gosched() {
		if time.Now().After(end) {
			ts.Fatalf("%d answers in %s were sent, want %d", theModel(ts).server.PaidAnswers(args[1]), args[1], want)
		}
	}
}

func asked(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	n := 0
	for _, q := range theModel(ts).server.Requests() {
		if ok, _ := path.Match(args[1], q.Conversation); ok {
			n++
		}
		ts.Logf("asked: %s step %d %s %s", q.Conversation, q.Step, q.Model, q.Fault)
	}
	if n != want {
		ts.Fatalf("%d requests in %s, want %d", n, args[1], want)
	}
}

func lighter(ts *testscript.TestScript, _ bool, args []string) {
	count := func(pattern string) (n [3]int64) {
		for _, q := range theModel(ts).server.Requests() {
			if ok, _ := path.Match(pattern, q.Conversation); ok {
				n[0]++
				n[1] += q.Usage.PromptTokens()
				n[2] += q.Usage.PromptTokens() - q.Usage.CacheRead
			}
		}
		ts.Logf("%s: %d requests, %d tokens of prompts, %d of them from no cache", pattern, n[0], n[1], n[2])
		return n
	}
	a, b := count(args[0]), count(args[1])
	if a[0] == 0 || a[0] >= b[0] || a[1] >= b[1] || a[2] >= b[2] {
		ts.Fatalf("%s is not lighter than %s: %v, %v", args[0], args[1], a, b)
	}
}

func shares(ts *testscript.TestScript, _ bool, args []string) {
	share := func(part, of int64) int64 { return 100 * part / max(of, 1) }
	var all, later, roles [2]int64 // read from the cache, and sent
	add := func(to *[2]int64, u nexus.Usage) { to[0], to[1] = to[0]+u.CacheRead, to[1]+u.PromptTokens() }
	seen, begun := map[string]bool{}, map[string]bool{}
	for _, q := range theModel(ts).server.Requests() {
		if ok, _ := path.Match(args[0], q.Conversation); !ok {
			continue
		}
		add(&all, q.Usage)
		role, _, _ := strings.Cut(path.Base(q.Conversation), ".")
		switch {
		case seen[q.Conversation]:
		case begun[role]:
			add(&later, q.Usage)
		default:
			add(&roles, q.Usage)
		}
		seen[q.Conversation], begun[role] = true, true
	}
	ts.Logf("%s: %d sessions of %d roles; from the cache: %d %% of %d tokens in all", args[0], len(seen), len(begun), share(all[0], all[1]), all[1])
	ts.Logf("in first requests of a role's further sessions, %d %% of %d; of its first, %d %% of %d",
		share(later[0], later[1]), later[1], share(roles[0], roles[1]), roles[1])
	for i, got := range []int64{share(all[0], all[1]), share(later[0], later[1])} {
		least, err := strconv.ParseInt(args[i+1], 10, 64)
		ts.Check(err)
		if got < least {
			ts.Fatalf("%d %% came from the cache, want %d %%", got, least)
		}
	}
}

func refused(ts *testscript.TestScript, _ bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	n := 0
	for _, q := range theModel(ts).server.Requests() {
		if q.Status == http.StatusTooManyRequests {
			n++
			ts.Logf("refused: %s step %d, over %s", q.Conversation, q.Step, q.Over)
		}
	}
	if n > most {
		ts.Fatalf("%d requests were refused, more than %d", n, most)
	}
}

// sent counts the requests of conversations that hold texts: so many, or with a plus so many at least.
func sent(ts *testscript.TestScript, _ bool, args []string) {
	number, least := strings.CutSuffix(args[0], "+")
	want, err := strconv.Atoi(number)
	ts.Check(err)
	n := 0
	for _, q := range theModel(ts).server.Requests() {
		if ok, _ := path.Match(args[1], q.Conversation); !ok {
			continue
		}
		if !slices.ContainsFunc(args[2:], func(text string) bool { return !bytes.Contains(q.Body, []byte(text)) }) {
			n++
		}
	}
	if n < want || n > want && !least {
		ts.Fatalf("%d requests in %s hold %q, want %s", n, args[1], args[2:], args[0])
	}
}
