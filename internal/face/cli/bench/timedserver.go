package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// timedServer is a scripted model that answers at once, with a clock at its entrance.
type timedServer struct {
	*llmtest.Server
	url string
	now func() time.Time

	mu     sync.Mutex // guards visits
	visits []requestTimes
}

// requestTimes is the arrival and departure time of one request.
type requestTimes struct{ in, out time.Time }

// visitCommand returns the command that the model runs at a turn.
func visitCommand(turn int) string {
	return fmt.Sprintf("echo turn %d >> notes.txt; echo done %d", turn, turn)
}

// visitScript returns a model that runs one command per turn, then submits; its reviewer accepts.
func visitScript(turns int) llmtest.Script {
	all := make([]llmtest.ScriptTurn, 0, turns+1)
	said := llmtest.ScriptTurn{Say: "Done."} // what ends a session of nexus agent, which has nothing to submit
	for i := range turns {
		command := map[string]any{"command": visitCommand(i + 1)}
		all = append(all, llmtest.ScriptTurn{Say: fmt.Sprintf("Step %d.", i+1), Calls: []llmtest.ScriptCall{{Tool: "shell", Input: command}}})
	}
	handin := map[string]any{"summary": "Done.", "status": "done"}
	finish := llmtest.ScriptTurn{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: handin}}}
	agrees := map[string]any{"approved": true, "summary": "Correct.", "findings": []any{}}
	return llmtest.Script{Conversations: []llmtest.ScriptConversation{
		{Match: "*/reviewer.*", Turns: []llmtest.ScriptTurn{{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: agrees}}}}},
		{Match: "*/assistant.*", Turns: append(slices.Clone(all), said)},
		{Match: "*/*", Turns: append(all, finish)},
	}}
}

// startScriptedServer starts a server on loopback and returns the function that stops it.
func startScriptedServer(ctx context.Context, now func() time.Time, turns int) (*timedServer, func(), error) {
	inner, err := llmtest.NewServer(visitScript(turns), llmtest.Options{Bodies: true})
	if err != nil {
		return nil, nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("scripted model: %w", err)
	}
	s := &timedServer{Server: inner, url: "http://" + l.Addr().String(), now: now}
	h := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = h.Serve(l) }) // ends by Close
	return s, func() {
		_ = h.Close() // nothing is left to save
		wg.Wait()
	}, nil
}

// ServeHTTP records when a request arrived and when it was answered.
func (s *timedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := requestTimes{in: s.now()}
	s.Server.ServeHTTP(w, r)
	v.out = s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, v)
}

// firstRequestTime returns the arrival time of the first request.
func (s *timedServer) firstRequestTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.visits) == 0 {
		return time.Time{}
	}
	return s.visits[0].in
}

// requestGaps returns the times between an answer and the next request of the coder, starting with the
// second: the first includes one-time preparation.
func (s *timedServer) requestGaps() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.Requests()
	var gaps []time.Duration
	for i := 2; i < min(len(s.visits), len(seen)); i++ {
		if seen[i].Conversation == seen[0].Conversation {
			gaps = append(gaps, s.visits[i].in.Sub(s.visits[i-1].out))
		}
	}
	return gaps
}

// SentBytes is the amount of data that a conversation sends, and sends again.
type SentBytes struct {
	Standing int     `json:"standing_bytes"` // system prompt and tools: the start of every request of a role
	Beyond   float64 `json:"beyond_bytes"`   // of a turn, beyond the growth of the conversation
	Kept     float64 `json:"kept"`           // share of the last request that the next one begins with
}

// measureSent compares each request of the coder with the previous one.
func (s *timedServer) measureSent() SentBytes {
	seen := s.Requests()
	var out SentBytes
	var last llmtest.LoggedRequest
	turns, kept, before := 0, 0, 0
	for i, q := range seen {
		if q.Conversation != seen[0].Conversation {
			continue
		}
		if i == 0 {
			out.Standing = len(gjson.GetBytes(q.Body, "system").Raw) + len(gjson.GetBytes(q.Body, "tools").Raw)
			last = q
			continue
		}
		turns++
		kept += min(q.Kept, last.Prompt)
		before += last.Prompt
		commas := len(gjson.GetBytes(q.Body, "messages").Array()) - len(gjson.GetBytes(last.Body, "messages").Array())
		out.Beyond += float64(q.Bytes - last.Bytes - (q.Prompt - last.Prompt) - commas)
		last = q
	}
	if turns > 0 {
		out.Beyond /= float64(turns)
		out.Kept = float64(kept) / float64(before)
	}
	return out
}
