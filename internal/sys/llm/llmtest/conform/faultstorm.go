package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// FaultStormTally is the summary of many conversations.
type FaultStormTally struct {
	Conversations, Calls, Failed int
	Ends                         map[string]int // number of conversations by end
	Charged                      nexus.Usage    // by the server, for complete answers
	Accounted                    nexus.Usage    // by the client, for complete and broken answers
	Longest                      time.Duration  // of a conversation, in simulated time
}

// RunFaultStorm has n conversations with a server that fails at random, by the seed, and retries as the
// table of reactions requires. It reports a conversation that does not end, that ends without a
// class, or whose usage is too low. Waits take no real time.
func RunFaultStorm(t *testing.T, m ModelFactory, seed uint64, n int) FaultStormTally {
	t.Helper()
	sum := FaultStormTally{Ends: map[string]int{}}
	for i := range n {
		synctest.Test(t, func(t *testing.T) {
			s := &faultStormRun{FaultStormTally: &sum, r: rand.New(rand.NewPCG(seed, uint64(i)))}
			s.runConversation(t, m)
		})
	}
	return sum
}

type faultStormRun struct {
	*FaultStormTally
	r     *rand.Rand
	calls []llm.Response // of the conversation
}

// randomScript returns one to six turns, most of which fail at least once.
func (s *faultStormRun) randomScript() []llmtest.ScriptTurn {
	faults := append(llmtest.AllFaults(), "", "", "", "", "", "")
	var turns []llmtest.ScriptTurn
	for range 1 + s.r.IntN(6) {
		turn := twoCallTurn()
		turn.Fault = faults[s.r.IntN(len(faults))]
		if turn.Fault == llmtest.Huge { // has its own test
			turn.Fault = llmtest.Noise
		}
		if turn.Times = 1 + s.r.IntN(3); s.r.IntN(20) == 0 {
			turn.Times = -1
		}
		if s.r.IntN(3) == 0 {
			turn.After = fmt.Sprint(s.r.IntN(40))
		}
		turns = append(turns, turn)
	}
	return append(turns, llmtest.ScriptTurn{Say: "done"})
}

// timeLimit ends a conversation with a provider that is always busy, like the time limit of a run.
const timeLimit = time.Hour

func (s *faultStormRun) runConversation(t *testing.T, m ModelFactory) {
	t.Helper()
	server, err := llmtest.NewServer(llmtest.Script{Conversations: []llmtest.ScriptConversation{{Match: "c", Turns: s.randomScript()}}}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client, wait := NewHandlerClient(server)
	defer wait()
	ctx, stop := context.WithTimeoutCause(t.Context(), timeLimit, errors.New("the time of the run is used up"))
	defer stop()
	model := m("http://inside.invalid", llm.CallLimits{Idle: time.Minute, Answer: 5 * time.Minute}, client)
	begun := time.Now() //nolint:forbidigo // time is made up here
	end := s.converseToEnd(ctx, t, model)
	stop()
	wait()
	s.Conversations++
	s.Ends[end]++
	s.Longest = max(s.Longest, time.Since(begun))
	for i, seen := range server.Requests() {
		if !seen.Paid {
			continue
		}
		s.Charged = s.Charged.Add(seen.Usage)
		if u := s.calls[i].Usage; u.Output < seen.Usage.Output || u.PromptTokens() < seen.Usage.PromptTokens() {
			t.Errorf("%+v was charged and %+v is accounted", seen.Usage, u)
		}
	}
}

// converseToEnd runs the conversation and returns how it ended.
func (s *faultStormRun) converseToEnd(ctx context.Context, t *testing.T, model llm.Model) string {
	t.Helper()
	p := llm.CallRetryPolicy{Jitter: s.r.Float64, Now: time.Now} //nolint:forbidigo // time is made up here
	r := NewRequest("c")
	failures := map[llm.CallFailureClass]int{}
	for {
		heard := 0
		got, err := model.Stream(ctx, r, func(d llm.AnswerDelta) { heard += len(d.Text) + len(d.Thought) })
		s.Calls++
		s.Accounted = s.Accounted.Add(got.Usage)
		s.calls = append(s.calls, got)
		if heard > 0 && (4*got.Usage.Output < int64(heard) || got.Usage.PromptTokens() == 0) {
			t.Errorf("%d bytes were heard and %+v is accounted", heard, got.Usage)
		}
		if err == nil {
			clear(failures)
			if got.Stop != llm.StopTools {
				return "answer: " + string(got.Stop)
			}
			r = s.answerCalls(t, r, got)
			continue
		}
		s.Failed++
		e, ok := errors.AsType[*llm.ModelCallError](err)
		if !ok || e.Class == "" {
			t.Fatalf("no class: %v", err)
		}
		failures[e.Class]++
		rest, again := p.RetryWait(e, failures[e.Class])
		if !again {
			return fmt.Sprintf("%s: %s", e.Class, e.Class.ReactionTo().Then)
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return fmt.Sprintf("%s: the run's time", e.Class)
		}
	}
}

// answerCalls appends the results of the calls, after a round trip through the transcript's JSON.
func (s *faultStormRun) answerCalls(t *testing.T, r llm.Request, got llm.Response) llm.Request {
	t.Helper()
	kept, err := json.Marshal(got.Message)
	var said llm.Message
	if err = errors.Join(err, json.Unmarshal(kept, &said)); err != nil {
		t.Fatal(err)
	}
	ours := llm.Message{From: llm.User}
	for _, c := range said.Parts {
		if c.Call != nil {
			ours.Parts = append(ours.Parts, llm.MessagePart{Result: &llm.ToolResult{ID: c.Call.ID, Text: "it holds nothing"}})
		}
	}
	r.Messages = append(r.Messages, said, ours)
	return r
}
