package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// Options configure a server. The zero value is right for tests.
type Options struct {
	Addr   string        // where to listen; empty is a free port on loopback
	Log    io.Writer     // gets a JSON line for each finished request; may be nil
	Pace   time.Duration // pause before each event, for people who watch
	Bodies bool          // store request bodies in [LoggedRequest.Body]
	Linger time.Duration // time that a connection stays open after an answer; below 0: until the client disconnects

	Now func() time.Time // time for the windows of an account; required with one
}

// Server plays a script. It is also an [http.Handler].
type Server struct {
	script  Script
	options Options
	url     string
	memory  simulatedPromptCache
	account accountUsageCounter
	stalled chan struct{} // closed to end stalled answers

	mu     sync.Mutex // guards the fields below
	seen   []LoggedRequest
	faults map[scriptTurnKey]int
	calls  map[string]int
}

type scriptTurnKey struct {
	conversation string
	step         int
}

// LoggedRequest is a received request. Its JSON is a line of the log.
type LoggedRequest struct {
	Seq          int           `json:"seq"` // in the order of arrival, from 1
	Wire         string        `json:"wire"`
	Model        string        `json:"model"`
	Conversation string        `json:"conversation"`
	Step         int           `json:"step"`
	Bytes        int           `json:"bytes"`  // of the whole body
	Prompt       int           `json:"prompt"` // bytes of tools, system and messages
	Kept         int           `json:"kept"`   // part of Prompt that an earlier request began with
	Fault        ProviderFault `json:"fault,omitempty"`
	Status       int           `json:"status"`         // of the response; 0 without one
	Over         string        `json:"over,omitempty"` // limit of the account that refused it
	Paid         bool          `json:"paid"`           // the complete answer was sent, so it would be charged
	Body         []byte        `json:"-"`              // with [Options.Bodies]

	Usage nexus.Usage `json:"usage,omitzero"` // usage that is charged for the complete answer
}

// NewServer returns a server without a listener; it is used as a handler.
func NewServer(s Script, o Options) (*Server, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Account != nil && o.Now == nil {
		return nil, errors.New("an account needs a clock")
	}
	return &Server{
		account: accountUsageCounter{now: o.Now},
		script:  s, options: o, stalled: make(chan struct{}),
		memory: simulatedPromptCache{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}},
		faults: map[scriptTurnKey]int{}, calls: map[string]int{},
	}, nil
}

// StartServer starts a server, and returns a function that ends it and waits until it has ended.
func StartServer(ctx context.Context, script Script, o Options) (*Server, func(), error) {
	s, err := NewServer(script, o)
	if err != nil {
		return nil, nil, err
	}
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, fmt.Errorf("scripted model: %w", err)
	}
	s.url = "http://" + l.Addr().String()
	h := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = h.Serve(l) }) // ends with Close
	return s, sync.OnceFunc(func() {
		close(s.stalled)
		_ = h.Close() // there is nothing to save
		wg.Wait()
	}), nil
}

// URL returns the URL for clients of Anthropic and Google; those of OpenAI may append "/v1".
func (s *Server) URL() string { return s.url }

// Requests returns the received requests, in the order of arrival.
func (s *Server) Requests() []LoggedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]LoggedRequest(nil), s.seen...)
}

// PaidAnswers returns the number of complete answers in the conversation, which a provider would have
// charged for.
func (s *Server) PaidAnswers(conversation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[conversation]
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := strings.TrimPrefix(r.URL.Path, "/v1"); {
	case r.Method == http.MethodPost && path == "/messages":
		s.serveTurn(w, r, wireformat.Anthropic)
	case r.Method == http.MethodPost && path == "/chat/completions":
		s.serveTurn(w, r, wireformat.Chat)
	case r.Method == http.MethodPost && path == "/responses":
		s.serveTurn(w, r, wireformat.Responses)
	case r.Method == http.MethodPost && strings.HasPrefix(path, "beta/models/"):
		s.serveTurn(w, r, wireformat.Gemini)
	case r.Method == http.MethodGet && (path == "/models" || path == "beta/models"):
		s.listModels(w, path == "beta/models")
	case r.Method == http.MethodGet && path == "/log":
		s.listRequests(w)
	default:
		http.Error(w, "no such thing here", http.StatusNotFound)
	}
}

func (s *Server) serveTurn(w http.ResponseWriter, r *http.Request, way wireformat.WireFormat) {
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), 1<<20)) + bytes.MinRead)
	if _, err := b.ReadFrom(r.Body); err != nil {
		return // the client has disconnected
	}
	body := b.Bytes()
	a, err := wireformat.ParseReceivedRequest(way, r.URL.Path, body)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, scriptError(way, err.Error()))
		return
	}
	seen := LoggedRequest{Wire: string(way), Model: a.Model, Conversation: a.Conversation, Step: a.Step, Bytes: len(body)}
	var begin func()
	seen.Prompt, seen.Kept, begin = s.memory.measureKeptPrefix(a)
	if s.options.Bodies {
		seen.Body = body
	}
	turn, err := s.script.findTurn(a)
	if err == nil {
		err = turn.checkExpected(a.TextSinceAnswer())
	}
	if to := s.script.Steered; to != nil {
		turn = turn.withDeclines(a.CommentIDs(), to.Say)
	}
	if err != nil {
		seen.Status = http.StatusBadRequest
		s.recordRequest(&seen)(false)
		writeJSON(w, seen.Status, scriptError(way, "script: "+err.Error()))
		return
	}
	leave := func() {}
	if s.script.Account != nil {
		var over string
		var wait time.Duration
		if over, wait, leave = s.account.admitCall(s.script.Account, composeScriptedTurn(a, turn, seen), w.Header()); over != "" {
			seen.Over, seen.Status = over, http.StatusTooManyRequests
			s.recordRequest(&seen)(false)
			writeRateLimit(w, way, over, wait)
			return
		}
	}
	turn.Fault = s.dueFault(a, turn)
	seen.Fault, seen.Status = turn.Fault, turn.Fault.httpStatus(a)
	said := composeScriptedTurn(a, turn, seen)
	if turn.Fault.isWholeAnswer() {
		seen.Usage = said.Usage
	}
	arrived := s.recordRequest(&seen)
	settle := func(paid bool) {
		leave()
		arrived(paid)
	}
	defer settle(false)
	s.sendTurn(w, r, turn, said, seen, answerProgressCallbacks{begin, settle})
}

// checkExpected returns an error if a text that the script expects is missing.
func (t ScriptTurn) checkExpected(heard string) error {
	for _, e := range t.Expect {
		if !strings.Contains(heard, e) {
			return fmt.Errorf("nothing said since the last answer holds %q, but only: %s", e, heard)
		}
	}
	return nil
}

// scriptError returns the error body for an unsupported request.
func scriptError(way wireformat.WireFormat, text string) any {
	return wireformat.ErrorBody(way, wireformat.WireError{
		Status: http.StatusBadRequest, Anthropic: "invalid_request_error", Kind: "invalid_request_error", Code: "script", Text: text,
	})
}

// dueFault returns the fault of the turn, if it is still due.
func (s *Server) dueFault(a wireformat.ReceivedModelRequest, t ScriptTurn) ProviderFault {
	if t.Fault == "" || t.Times < 0 {
		return t.Fault
	}
	k := scriptTurnKey{a.Conversation, a.Step}
	if a.Summary {
		k.step = -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults[k] >= max(t.Times, 1) {
		return ""
	}
	s.faults[k]++
	return t.Fault
}

// recordRequest records the request and returns a function that completes the record, once: as paid or
// not. It is called before the client can see the end of its answer, so that every received answer
// is already counted.
func (s *Server) recordRequest(seen *LoggedRequest) func(paid bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := len(s.seen)
	seen.Seq = i + 1
	s.seen = append(s.seen, *seen)
	settled := false
	return func(paid bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if settled {
			return
		}
		settled = true
		s.seen[i].Paid = paid
		if paid {
			s.calls[s.seen[i].Conversation]++
		}
		if s.options.Log != nil {
			line, _ := json.Marshal(s.seen[i])             // numbers and strings
			_, _ = s.options.Log.Write(append(line, '\n')) // an error of the log must not affect the answers
		}
	}
}

// listRequests lists the requests, one per line.
func (s *Server) listRequests(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/jsonl")
	e := json.NewEncoder(w)
	for _, seen := range s.Requests() {
		if e.Encode(seen) != nil {
			return // the client has disconnected
		}
	}
}

// listModels lists one model, in the common form of Anthropic and OpenAI, or in Google's.
func (s *Server) listModels(w http.ResponseWriter, google bool) {
	type listed struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Object  string `json:"object"`
		Name    string `json:"display_name"`
		Owner   string `json:"owned_by"`
		Created string `json:"created_at"`
		Input   int64  `json:"max_input_tokens"`
		Output  int64  `json:"max_tokens"`
		Length  int64  `json:"max_model_len"` // vLLM's field
	}
	if google {
		writeJSON(w, http.StatusOK, map[string]any{"models": []map[string]any{{
			"name": "models/scripted", "displayName": "Scripted", "inputTokenLimit": 1_000_000, "outputTokenLimit": 128_000,
			"supportedGenerationMethods": []string{"generateContent"},
		}}})
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Object string   `json:"object"`
		Data   []listed `json:"data"`
		More   bool     `json:"has_more"`
	}{"list", []listed{{"scripted", "model", "model", "Scripted", "nexus", "2026-01-01T00:00:00Z", 1_000_000, 128_000, 1_000_000}}, false})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may have disconnected
}
