package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLists reads lists in parts: each item once and in order, by the cursor of the part
// before, and only those that were asked for. What a client has is not sent again.
func TestLists(t *testing.T) {
	w := openWhole(t, Options{})
	l, err := w.j.Acquire(t.Context(), "run2", nexus.RunProcess{PID: 1, Host: "h"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	facts := []nexus.Fact{nexus.GoalAccepted{Goal: nexus.Goal{Text: "many"}, Base: "b0"}, nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: 7}}
	for n := range 7 {
		facts = append(facts, nexus.TaskPlanned{Task: nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", n+1)), Title: "Do it"}})
	}
	facts = append(facts, nexus.PlanApproved{By: "ada"})
	for _, id := range []string{"T1", "T2"} {
		task := nexus.TaskID(id)
		facts = append(facts, nexus.AttemptStarted{Task: task, Attempt: nexus.AttemptID(id + ".1"), Base: "b0"},
			nexus.SessionStarted{Session: nexus.SessionID(id + ".1/coder.1"), Attempt: nexus.AttemptID(id + ".1"), Role: nexus.Coder, Model: "m"})
	}
	made, err := l.Append(t.Context(), append(facts, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbPause, Task: "T7", Text: "not now", By: "ada"}})...)
	if err != nil {
		t.Fatal(err)
	}
	asked := made[len(made)-1].Seq
	if _, err := l.Append(
		t.Context(), nexus.RequestSettled{Seq: asked, Why: "it is blocked"},
		nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "use tabs", By: "web:eve"}},
	); err != nil {
		t.Fatal(err)
	}
	get := func(path string, change func(*http.Request)) (int, http.Header, string) {
		return w.call(access.ServerRoute{Method: "GET", Pattern: "/api/v1/runs" + path}, "", func(r *http.Request) {
			w.as(access.Read)(r)
			if change != nil {
				change(r)
			}
		})
	}
	for tries := 0; ; tries++ { // the page hears of a run in a moment
		if status, _, text := get("/run2/tasks", nil); status == http.StatusOK {
			break
		} else if tries > 1000 {
			t.Fatal(text)
		}
	}

	var ids, parts []string
	for cursor := ""; ; {
		_, _, text := get("/run2/tasks?limit=3&cursor="+cursor, nil)
		part := gjson.Get(text, "items.#.id").Array()
		for _, id := range part {
			ids = append(ids, id.String())
		}
		parts = append(parts, fmt.Sprint(len(part)))
		if gjson.Get(text, "total").Int() != 7 {
			t.Fatal(text)
		}
		if cursor = gjson.Get(text, "next").String(); cursor == "" || len(parts) > 9 {
			break
		}
	}
	if have := strings.Join(ids, " ") + ": " + strings.Join(parts, " "); have != "T1 T2 T3 T4 T5 T6 T7: 3 3 1" {
		t.Error(have)
	}
	for path, want := range map[string]string{
		"/run2/tasks?limit=7&cursor=7":   "[]",
		"/run2/tasks?limit=1&cursor=99":  "[]",
		"/run2/tasks?lane=running":       `["T1","T2"]`,
		"/run2/tasks?lane=done":          "[]",
		"/run2/attempts":                 `["T1.1","T2.1"]`,
		"/run2/attempts?task=T2":         `["T2.1"]`,
		"/run2/attempts?task=T":          "[]",
		"/run2/sessions?task=T1":         `["T1.1/coder.1"]`,
		"/run2/sessions?task=T7":         "[]",
		"/run2/sessions?limit=1":         `["T1.1/coder.1"]`,
		"/run2/attempts?limit=1&cursor=": `["T1.1"]`,
	} {
		if _, _, text := get(path, nil); gjson.Get(text, "items.#.id").Raw != want {
			t.Errorf("%s: %s, want %s", path, gjson.Get(text, "items.#.id").Raw, want)
		}
	}

	_, _, text := get("/run2/requests", nil)
	for path, want := range map[string]string{
		"total": "2", "items.0.seq": fmt.Sprint(asked), "items.0.verb": "pause", "items.0.task": "T7", "items.0.text": "not now", "items.0.by": "ada",
		"items.0.settled": "true", "items.0.granted": "false", "items.0.why": "it is blocked", "items.1.settled": "false", "items.1.by": "web:eve",
	} {
		if have := gjson.Get(text, path).String(); have != want {
			t.Errorf("%s of the requests is %q, want %q", path, have, want)
		}
	}

	_, h, _ := get("/run2/plan", nil)
	tag := h.Get("Etag")
	for has, want := range map[string]int{tag: 304, `"x", ` + tag: 304, `"x"`: 200, "": 200, strings.Trim(tag, `"`): 200} {
		got, _, text := get("/run2/plan", func(r *http.Request) { r.Header.Set("If-None-Match", has) })
		if got != want || (text == "") != (want == 304) {
			t.Errorf("a client that has %s gets %d and %d bytes", has, got, len(text))
		}
	}
}
