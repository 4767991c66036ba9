package conform

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// Row is the result of a call with a fault.
type Row struct {
	Fault string
	About string
	Saw   string
}

// Matrix calls the model with every fault, and returns the results: the class of the failure or
// the stop reason, the wait that the provider asked for, and the usage that was counted of the
// received part.
func Matrix(t *testing.T, m Model) []Row {
	t.Helper()
	var all []Row
	for _, f := range llmtest.Faults() {
		turn := twoCalls()
		if turn.Fault = f; f == llmtest.RateLimit {
			turn.After = "7"
		}
		s := start(t, llmtest.Options{}, turn)
		got, err := m(s.URL(), bounds(f, time.Second), nil).Stream(t.Context(), Conversation("c"), nil) // on a busy machine, events may be delayed, too
		all = append(all, Row{string(f), f.About(), saw(got, err)})
	}
	for _, b := range Barriers() {
		all = append(all, Row{b.Name, b.Why, saw(llm.Response{}, b.ask(t, m))})
	}
	return all
}

func saw(got llm.Response, err error) string {
	if err == nil {
		text := fmt.Sprintf("answer: %s", got.Stop)
		for _, c := range got.Calls() {
			if c.Flaw != "" {
				text += ", a call with a flaw"
			}
		}
		return text
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return "no class"
	}
	text := string(cmp.Or(e.Class, "no class"))
	if after, ok := e.Wait(time.Time{}); ok {
		text += fmt.Sprintf(", after %s", after)
	}
	if got.Usage != (nexus.Usage{}) {
		text += map[bool]string{true: ", usage about", false: ", usage"}[got.Estimated]
	}
	return text
}
