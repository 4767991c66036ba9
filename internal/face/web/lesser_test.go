package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLeftTask lets nobody retry or skip a task who may only answer questions,
// by no way that takes answers.
func TestLeftTask(t *testing.T) {
	j := questionruntest.NewJournal(time.Now)
	j.Append(nexus.TaskParked{Task: "T1", Why: "it is hard"})
	d, err := questionchannel.OpenInbox(t.Context(), j, j.IsConducted, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	book := access.TokenStoreOf(t.TempDir())
	tokens := map[access.Role]string{}
	for _, role := range []access.Role{access.Answer, access.Steer} {
		if tokens[role], err = book.AddPerson(access.TokenOwner{Name: "the-" + string(role), Role: role}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Listen(t.Context(), d, Options{Now: time.Now, Book: book})
	if err != nil {
		t.Fatal(err)
	}
	questionruntest.RunAll(t, d.Follow, s.Serve)
	send := func(role access.Role, path, kind, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Address()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+tokens[role])
		r.Header.Set("Content-Type", kind)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	const program = `{"run":"r1","id":"T1","answer":"skip"}`
	got, text := send(access.Answer, "/api/v1/answer", "application/json", program)
	if got != http.StatusForbidden || gjson.Get(text, "error.code").String() != access.CodeRole {
		t.Errorf("a program skips: %d %s", got, text)
	}
	if got, text := send(access.Steer, "/api/v1/answer", "application/json", program); got != http.StatusOK {
		t.Errorf("who steers: %d %s", got, text)
	}
}

// TestRemovedListener tells who listens nothing more once their token is taken away.
func TestRemovedListener(t *testing.T) {
	w := openWhole(t, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	listen := func(path string, role access.Role) *bufio.Reader {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.s.Address()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.as(role)(r)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return bufio.NewReader(resp.Body)
	}
	hear := func(r *bufio.Reader, until string) (all string) {
		for {
			line, err := r.ReadString('\n')
			if all += line; err != nil || until != "" && strings.Contains(line, until) {
				return all
			}
		}
	}
	ask := func(text string) {
		if _, err := w.j.Ask(t.Context(), "run1", nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: text, By: "ada"}); err != nil {
			t.Fatal(err)
		}
	}
	gone, live := listen("/api/v1/events?after=0", access.Steer), listen("/live?run=run1", access.Steer)
	stays := listen("/api/v1/events?after=0", access.Read)
	ask("before")
	for _, r := range []*bufio.Reader{gone, stays} {
		if all := hear(r, "before"); !strings.Contains(all, "before") {
			t.Fatalf("%q", all)
		}
	}
	hear(live, "changed")
	if err := w.s.Book.Remove("the-steer"); err != nil {
		t.Fatal(err)
	}
	ask("after")
	if all := hear(stays, "after"); !strings.Contains(all, "after") {
		t.Errorf("who has a token hears %q", all)
	}
	for _, r := range []*bufio.Reader{gone, live} {
		all := hear(r, "")
		if lines := strings.Split(all, "\n"); slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, `"after"`) }) {
			t.Errorf("whose token was removed hears %q", all)
		}
	}
}
