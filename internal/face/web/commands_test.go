package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
)

// TestCommands holds what the API lets programs do to the command line that does it, as
// the person who calls.
func TestCommands(t *testing.T) {
	w := openWhole(t, Options{})
	const run = "/api/v1/runs/run1"
	for _, c := range []struct {
		role       access.Role
		path, body string
		want       int
		line       string // that is run; empty: none
	}{
		{access.Steer, run + "/tasks/T1/diff", `{"comments":[{"file":"a.go","start":3,"kind":"must","body":"no"}],"approve":true,"commit":"abc"}`, 200, `review --run run1 --json --batch - -- T1 < {"commit":"abc","comments":[{"file":"a.go","start":3,"body":"no","kind":"must"}],"approve":true}`},
		{access.Steer, run + "/tasks/T1/diff", `{"remarks":[]}`, 400, ""},
		{access.Steer, run + "/plan/compare", `{"markdown":"# Goal\n"}`, 200, "plan --run run1 --json --diff --edited - < # Goal\n"},
		{access.Steer, run + "/plan", `{"markdown":"# Goal\n"}`, 409, ""}, // no plan waits
		{access.Steer, run + "/checks/again", `{"task":"T1","gate":"a,b"}`, 202, `check --run run1 --json --task T1 --gates "a,b"`},
		{access.Steer, run + "/checks/again", `{"task":"T1"}`, 422, ""},
		{access.Steer, run + "/checks/again", `{"task":"T9","gate":"test"}`, 404, ""},
		{access.Steer, "/api/v1/runs/run9/checks/again", `{"task":"T1","gate":"test"}`, 404, ""},
		{access.Admin, "/api/v1/memory", `{"id":"x","action":"approve"}`, 200, "memory approve --json -- x"},
		{access.Admin, "/api/v1/memory", `{"id":"x","action":"gc"}`, 422, ""},
		{access.Admin, "/api/v1/memory", `{"action":"forget"}`, 422, ""},
		{access.Admin, "/api/v1/settings", `{"key":"limits.parallel","value":"2"}`, 200, "config set -- limits.parallel 2"},
		{access.Admin, "/api/v1/settings", `{"key":"limits.parallel","unset":true,"project":true}`, 200, "config unset --project -- limits.parallel"},
		{access.Admin, "/api/v1/settings", `{"key":"limits.parallel","unset":true,"value":"2"}`, 422, ""},
		{access.Admin, "/api/v1/settings", `{"value":"2"}`, 422, ""},
		{access.Admin, "/api/v1/settings", `{"key":"sandbox.mode","value":"off","confirm":true}`, 403, ""}, // not who started the server
		{access.Admin, run + "/at/x", "", 422, ""},
		{access.Admin, run + "/at/0", "", 422, ""},
		{access.Admin, run + "/at/1", "", 200, ""},
	} {
		*w.did = nil
		r := access.ServerRoute{Method: http.MethodPost, Pattern: c.path, Changes: true}
		if c.body == "" {
			r.Method, r.Changes = http.MethodGet, false
		}
		got, _, text := w.call(r, c.body, w.as(c.role))
		w.s.gates.Wait()
		line := strings.Join(*w.did, "\n")
		if want := strings.TrimSuffix("web:the-"+string(c.role)+": "+c.line, ": "); got != c.want || c.line == "" && line != "" || c.line != "" && line != want {
			t.Errorf("%s %s: %d, %q, want %d, %q\n%.300s", c.path, c.body, got, line, c.want, c.line, text)
		}
	}
}

// TestCommandsThatFail holds that a command which fails says so with the status and the
// words of its error, and not with the zero value of what it would have printed.
func TestCommandsThatFail(t *testing.T) {
	w := openWhole(t, Options{})
	*w.fails = access.CommandLineResult{Code: "not_found", Text: "there is no such thing", Hint: "Look elsewhere.", Exit: 2}
	for _, path := range []string{
		"/api/v1/runs/run1/tasks/T1/diff", "/api/v1/runs/run1/plan/text", "/api/v1/runs/run1/report", "/api/v1/history", "/api/v1/memory",
		"/api/v1/rules", "/api/v1/doctor", "/api/v1/settings", "/api/v1/settings/x",
	} {
		got, _, text := w.call(access.ServerRoute{Method: http.MethodGet, Pattern: path}, "", w.as(access.Admin))
		if got != http.StatusNotFound || !strings.Contains(text, "there is no such thing") || !strings.Contains(text, "Look elsewhere.") {
			t.Errorf("%s: %d: %s", path, got, text)
		}
	}
}
