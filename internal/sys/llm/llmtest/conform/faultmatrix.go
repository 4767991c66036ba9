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

// FaultMatrixRow is the result of a call with a fault.
type FaultMatrixRow struct {
	Fault string
	About string
	Saw   string
}

// RunFaultMatrix calls the model with every fault, and returns the results: the class of the failure or
// the stop reason, the wait that the provider asked for, and the usage that was counted of the
// received part.
func RunFaultMatrix(t *testing.T, m ModelFactory) []FaultMatrixRow {
	t.Helper()
	var all []FaultMatrixRow
	for _, f := range llmtest.AllFaults() {
		turn := twoCallTurn()
		if turn.Fault = f; f == llmtest.RateLimit {
			turn.After = "7"
		}
		s := startServer(t, llmtest.Options{}, turn)
		got, err := m(s.URL(), limitsFor(f, time.Second), nil).Stream(t.Context(), NewRequest("c"), nil) // on a busy machine, events may be delayed, too
		all = append(all, FaultMatrixRow{string(f), f.Description(), describeResult(got, err)})
	}
	for _, b := range AllConnectionFaults() {
		all = append(all, FaultMatrixRow{b.Name, b.Why, describeResult(llm.Response{}, b.ask(t, m))})
	}
	return all
}

func describeResult(got llm.Response, err error) string {
	if err == nil {
		text := fmt.Sprintf("answer: %s", got.Stop)
		for _, c := range got.ToolCalls() {
			if c.Flaw != "" {
				text += ", a call with a flaw"
			}
		}
		return text
	}
	e, ok := errors.AsType[*llm.ModelCallError](err)
	if !ok {
		return "no class"
	}
	text := string(cmp.Or(e.Class, "no class"))
	if after, ok := e.RetryWait(time.Time{}); ok {
		text += fmt.Sprintf(", after %s", after)
	}
	if got.Usage != (nexus.Usage{}) {
		text += map[bool]string{true: ", usage about", false: ", usage"}[got.Estimated]
	}
	return text
}
