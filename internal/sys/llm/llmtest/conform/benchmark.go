package conform

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// BenchmarkStream measures a streamed turn of usual size, a text and two calls in about two hundred events,
// in comparison with only reading the same bytes.
func BenchmarkStream(b *testing.B, m ModelFactory) {
	b.Helper()
	turn := twoCallTurn()
	turn.Say = strings.Repeat(sampleText, 90)
	stream := recordStream(b, m, turn)
	events := bytes.Count(stream, []byte("data: "))
	about := fmt.Sprintf("%dKB-%devents", len(stream)>>10, events)
	h := &http.Client{Transport: recordedStreamTransport{stream: stream}}
	b.Run("raw/"+about, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://tape.invalid", http.NoBody)
			if err != nil {
				b.Fatal(err)
			}
			resp, err := h.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body) // cannot fail
			_ = resp.Body.Close()
		}
	})
	b.Run("turn/"+about, func(b *testing.B) {
		b.ReportAllocs()
		model := m("http://tape.invalid", llm.CallLimits{}, h)
		for b.Loop() {
			if got, err := model.Stream(b.Context(), NewRequest("c"), func(llm.AnswerDelta) {}); err != nil || got.Stop != llm.StopTools {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
	})
}
