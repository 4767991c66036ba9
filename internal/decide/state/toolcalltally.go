package state

import (
	"fmt"
	"maps"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ToolCallTally counts the tool calls of a session. Its counts only grow, except Row.
type ToolCallTally struct {
	Calls  int
	Failed int
	Row    int            // the last failed calls in a row
	Tools  map[string]int // calls of each tool; never changed in place
}

// WithCall returns the tally with one more call.
func (t ToolCallTally) WithCall(tool string) ToolCallTally {
	t.Calls++
	tools := maps.Clone(t.Tools)
	if tools == nil {
		tools = map[string]int{}
	}
	tools[tool]++
	t.Tools = tools
	return t
}

// WithAnswer returns the tally with one more answer.
func (t ToolCallTally) WithAnswer(failed bool) ToolCallTally {
	t.Row++
	if !failed {
		t.Row = 0
		return t
	}
	t.Failed++
	return t
}

// LimitReason returns the limit that is used up, or "" if none is. Tool is the tool that was
// called last.
func (t ToolCallTally) LimitReason(l nexus.Limits, tool string) string {
	switch {
	case l.Calls > 0 && t.Calls >= l.Calls:
		return fmt.Sprintf("%d tool calls are used up", l.Calls)
	case l.ToolCalls > 0 && t.Tools[tool] >= l.ToolCalls:
		return fmt.Sprintf("%d calls of %s are used up", l.ToolCalls, tool)
	case l.FailedCalls > 0 && t.Failed >= l.FailedCalls:
		return fmt.Sprintf("%d tool calls failed", t.Failed)
	case l.FailedInRow > 0 && t.Row >= l.FailedInRow:
		return fmt.Sprintf("%d tool calls in a row failed", t.Row)
	default:
		return ""
	}
}
