package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// slow is a model that begins its answer after a while, or fails.
type slow struct {
	begin, end time.Duration
	fail       error

	mu    sync.Mutex // guards began
	start time.Time
	began []time.Duration // when calls reached it
}

func (s *slow) Stream(ctx context.Context, _ llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	s.mu.Lock()
	n := len(s.began)
	s.began = append(s.began, time.Since(s.start))
	s.mu.Unlock()
	select {
	case <-time.After(s.begin):
	case <-ctx.Done():
		return llm.Response{}, context.Cause(ctx)
	}
	if s.fail != nil && n == 0 {
		return llm.Response{}, s.fail
	}
	if heard != nil {
		heard(llm.AnswerDelta{Text: "x"})
	}
	time.Sleep(s.end)
	return llm.Response{}, nil
}

// together makes four calls at once and returns when they reached the model.
func together(t *testing.T, s *slow, name string, change func(i int, r *llm.Request)) []time.Duration {
	t.Helper()
	able, err := llm.LoadCapabilities()
	if err != nil {
		t.Fatal(err)
	}
	s.start = time.Now()
	provider, model, _ := llm.SplitModelName(name)
	m := able.StaggerForCache(s, provider, time.Now)
	var wg sync.WaitGroup
	for i := range 4 {
		r := llm.Request{Model: model, System: "You are a coder.", MaxTokens: 10}
		change(i, &r)
		wg.Go(func() { _, _ = m.Stream(t.Context(), r, nil) })
	}
	wg.Wait()
	return s.began
}

func TestSiblingsWaitForTheFirst(t *testing.T) {
	const ms = time.Millisecond
	same := func(int, *llm.Request) {}
	cases := []struct {
		name   string
		model  string
		slow   *slow
		change func(int, *llm.Request)
		want   [4]time.Duration
	}{
		{"the answer begins", "anthropic/claude-opus-5-5", &slow{begin: 400 * ms, end: time.Minute}, same, [4]time.Duration{0, 400 * ms, 400 * ms, 400 * ms}},
		{"three seconds at most", "openai/gpt-6-sol", &slow{begin: 9 * time.Second}, same, [4]time.Duration{0, 3 * time.Second, 3 * time.Second, 3 * time.Second}},
		{"the first fails", "gemini/gemini-3.8-flash", &slow{begin: 400 * ms, fail: errors.New("no")}, same, [4]time.Duration{0, 400 * ms, 800 * ms, 800 * ms}},
		{"no cache", "ollama/qwen", &slow{begin: 400 * ms}, same, [4]time.Duration{}},
		{"other roles", "anthropic/claude-opus-5-5", &slow{begin: 400 * ms}, func(i int, r *llm.Request) { r.System += string(rune('a' + i)) }, [4]time.Duration{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := together(t, c.slow, c.model, c.change); [4]time.Duration(got) != c.want {
					t.Errorf("reached the model after %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestACallThatWaitsIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		able, err := llm.LoadCapabilities()
		if err != nil {
			t.Fatal(err)
		}
		m := able.StaggerForCache(&slow{begin: time.Minute}, "anthropic", time.Now)
		r := llm.Request{Model: "claude-opus-5-5", MaxTokens: 10}
		gone := errors.New("gone")
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = m.Stream(t.Context(), r, nil) })
		synctest.Wait()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, gone)
		defer cancel()
		start := time.Now()
		if _, err := m.Stream(ctx, r, nil); !errors.Is(err, gone) || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		wg.Wait()
	})
}

// TestSiblingsReadWhatTheFirstWrote counts on a real wire, with and without
// staggered starts.
func TestSiblingsReadWhatTheFirstWrote(t *testing.T) {
	able, err := llm.LoadCapabilities()
	if err != nil {
		t.Fatal(err)
	}
	for _, stagger := range []bool{false, true} {
		server, stop, err := llmtest.StartServer(t.Context(), llmtest.Script{Default: &llmtest.ScriptTurn{Say: "Yes.", Delay: 100 * time.Millisecond}}, llmtest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var m llm.Model = anthropic.NewProvider(anthropic.Config{Key: "key", BaseURL: server.URL()})
		if stagger {
			m = able.StaggerForCache(m, "anthropic", time.Now)
		}
		var wg sync.WaitGroup
		for _, name := range []string{"T1.1", "T2.1", "T3.1", "T4.1"} {
			wg.Go(func() {
				_, err := m.Stream(t.Context(), llm.Request{
					Model: "claude-opus-5-5", System: "You are a coder. Copy the manner of the code that is there.", MaxTokens: 100,
					Messages: []llm.Message{llm.UserMessage("Conversation: " + name + "/coder.1")},
				}, nil)
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		hit := 0
		for _, r := range server.Requests() {
			if r.Usage.CacheRead > 0 {
				hit++
			}
		}
		stop()
		if want := map[bool]int{false: 0, true: 3}[stagger]; hit != want {
			t.Errorf("staggered %v: %d of 4 read from the cache, want %d", stagger, hit, want)
		}
	}
}
