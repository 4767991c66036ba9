package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
)

// TestRequests takes the actions that the projection offers, in the caller's
// name, if their role allows it.
func TestRequests(t *testing.T) {
	w := openWhole(t, Options{})
	ask := access.ServerRoute{Method: "POST", Pattern: "/api/v1/runs/{run}/requests", Changes: true}
	for _, c := range []struct {
		role access.Role
		body string
		want int
		code string
	}{
		{access.Answer, `{"action":"answer","item":"q1","input":"-x"}`, 200, ""},
		{access.Answer, `{"action":"answer","item":"q1"}`, 422, "invalid_input"},
		{access.Answer, `{"action":"answer","item":"q7","input":"x"}`, 404, "not_found"},
		{access.Answer, `{"action":"dance","item":"q1","input":"x"}`, 422, "invalid_input"},
		{access.Answer, `{"action":"tell","task":"T1","input":"x"}`, 403, "role"},
		{access.Answer, `{"action":"pause"}`, 403, "role"},
		{access.Steer, `{"action":"tell","task":"T1","input":"--run=other"}`, 200, ""},
		{access.Steer, `{"action":"tell","task":"T1","input":"a\u0000b"}`, 422, "invalid_input"},
		{access.Steer, `{"action":"stop"}`, 409, "confirm"},
		{access.Steer, `{"action":"stop","confirm":true}`, 200, ""},
		{access.Steer, `{"action":"land","confirm":true}`, 409, "illegal_transition"},
		{access.Steer, `{"action":"stop","ACTION":"land"}`, 400, "invalid_input"},
		{access.Steer, `{"action":"stop","args":["run"]}`, 400, "invalid_input"},
		{access.Steer, `[]`, 400, "invalid_input"},
		{access.Steer, `{"action":"stop"}{}`, 400, "invalid_input"},
	} {
		got, _, text := w.call(ask, c.body, w.as(c.role))
		if got != c.want || gjson.Get(text, "error.code").String() != c.code {
			t.Errorf("%s: %s: %d %s", c.role, c.body, got, text)
		}
	}
	start := access.ServerRoute{Method: "POST", Pattern: "/api/v1/runs", Changes: true}
	if got, _, text := w.call(start, `{"goal":"--help","budget":1.5}`, w.as(access.Admin)); got != http.StatusAccepted {
		t.Errorf("%d %s", got, text)
	}
	whole := `{"goal":"x","max_time":"2h","target":"next","land":true,"approval":"all"}`
	if got, _, text := w.call(start, whole, w.as(access.Admin)); got != http.StatusAccepted {
		t.Errorf("%d %s", got, text)
	}
	want := []string{
		"web:the-answer: answer --run run1 -- q1 -x", "web:the-steer: tell --run run1 -- T1 --run=other", "web:the-steer: stop --run run1",
		"web:the-admin: run --detach --json --budget=1.5 -- --help",
		"web:the-admin: run --detach --json --max-time=2h --target=next --approval=all --land -- x",
	}
	if !slices.Equal(*w.did, want) {
		t.Errorf("done:\n%s", strings.Join(*w.did, "\n"))
	}
}
