package conform

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// testWindows checks that the windows in the headers are reported before the answer ends, even for
// a refused call.
func testWindows(t *testing.T, w wireformat.WireFormat, m ModelFactory) {
	t.Helper()
	s, stop, err := llmtest.StartServer(t.Context(), llmtest.Script{
		Default: &llmtest.ScriptTurn{Say: "x"}, Account: &llmtest.AccountLimits{Requests: 2, Tokens: 50_000, Output: 9000, Every: time.Hour},
	}, llmtest.Options{Now: time.Now}) //nolint:forbidigo // the server and the client have the same clock
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	names := map[wireformat.WireFormat][]string{wireformat.Anthropic: {"input-tokens", "output-tokens", "requests"}, wireformat.Gemini: nil}[w]
	if w == wireformat.Chat || w == wireformat.Responses {
		names = []string{"requests", "tokens"}
	}
	model := m(s.URL(), llm.CallLimits{}, nil)
	for call, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		var got []llm.AccountLimitWindow
		told, early := 0, false
		ctx := llm.WithHeaderListener(t.Context(), func(status int, all []llm.AccountLimitWindow) { told, got = status, all })
		_, err := model.Stream(ctx, NewRequest("c"), func(llm.AnswerDelta) { early = told > 0 })
		if told != want || (err == nil) != (want == http.StatusOK) || err == nil && !early {
			t.Fatalf("call %d: heard of %d, early %v: %v", call, told, early, err)
		}
		checkLimitWindows(t, got, names, int64(1-call))
		if err == nil {
			continue
		}
		e, ok := errors.AsType[*llm.ModelCallError](err)
		wait, asked := e.RetryWait(time.Time{})
		if !ok || e.Class != llm.Quota || !asked || wait < 20*time.Minute || wait > 31*time.Minute {
			t.Errorf("%+v: after %s", e, wait)
		}
	}
}

// checkLimitWindows checks the windows and the number of remaining requests.
func checkLimitWindows(t *testing.T, got []llm.AccountLimitWindow, names []string, left int64) {
	t.Helper()
	if len(got) != len(names) {
		t.Fatalf("got %+v, want %v", got, names)
	}
	for i, x := range got {
		wait, ok := x.UntilReset(time.Now()) //nolint:forbidigo // as the server's
		if x.Name != names[i] || x.Limit <= 0 || !ok || wait <= 0 || wait > time.Hour+2*time.Second {
			t.Errorf("%+v: %s", x, wait)
		}
		if x.Name == "requests" && x.Left != max(left, 0) {
			t.Errorf("%+v, want %d left", x, left)
		}
		if x.Name == "tokens" && x.Left > x.Limit-1000 { // minus the maximum of the answers
			t.Errorf("%+v counts no answer ahead", x)
		}
	}
}
