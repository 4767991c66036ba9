package state

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestTally(t *testing.T) {
	var ty ToolCallTally
	for _, c := range []struct {
		tool   string
		failed bool
	}{{"a", true}, {"a", false}, {"b", true}, {"b", true}} {
		ty = ty.WithCall(c.tool).WithAnswer(c.failed)
	}
	was := ty
	if ty = ty.WithCall("b"); was.Tools["b"] != 2 || ty.Tools["b"] != 3 {
		t.Errorf("%+v became %+v", was, ty)
	}
	for _, c := range []struct {
		l    nexus.Limits
		want string
	}{
		{nexus.Limits{}, ""},
		{nexus.Limits{Calls: 6, ToolCalls: 4, FailedCalls: 4, FailedInRow: 3}, ""},
		{nexus.Limits{Calls: 5}, "5 tool calls are used up"},
		{nexus.Limits{ToolCalls: 3}, "3 calls of b are used up"},
		{nexus.Limits{FailedCalls: 3}, "3 tool calls failed"},
		{nexus.Limits{FailedInRow: 2}, "2 tool calls in a row failed"},
	} {
		if got := ty.LimitReason(c.l, "b"); got != c.want {
			t.Errorf("%+v: %q", c.l, got)
		}
	}
}
