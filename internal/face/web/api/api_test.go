package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// wire is a feed of a real journal behind a real port.
type wire struct {
	tb    testing.TB
	lease *journal.Lease
	feed  *EventFeed
	url   string
	ended chan error // of each client that listened
}

func openWire(tb testing.TB, beat time.Duration, tasks int) *wire {
	tb.Helper()
	j, err := journal.Open(tb.Context(), filepath.Join(tb.TempDir(), "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = j.Close() })
	w := &wire{tb: tb, ended: make(chan error, 1000)}
	if w.lease, err = j.Acquire(tb.Context(), "run1", nexus.RunProcess{PID: 1, Host: "h"}, time.Hour); err != nil {
		tb.Fatal(err)
	}
	goal := nexus.GoalAccepted{Goal: nexus.Goal{Text: "a large goal"}, Base: "b0"}
	facts := []nexus.Fact{goal, nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: tasks}}
	for n := range tasks {
		task := nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", n)), Title: "Do it", Brief: strings.Repeat("words ", 20)}
		facts = append(facts, nexus.TaskPlanned{Task: task})
	}
	w.put(facts...)
	w.feed = OpenFeed(j, int64(len(facts)))
	a := &API{WebBackend: access.WebBackend{Journal: j, Now: time.Now}, Feed: w.feed, Beat: beat, Patience: time.Second}
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		a.streamEvents(out, r)
		w.ended <- r.Context().Err()
	}))
	tb.Cleanup(s.Close)
	tb.Cleanup(s.CloseClientConnections)
	w.url = s.URL
	questionruntest.RunAll(tb, w.feed.Follow)
	return w
}

func (w *wire) put(facts ...nexus.Fact) {
	w.tb.Helper()
	for part := range slices.Chunk(facts, 500) {
		if _, err := w.lease.Append(w.tb.Context(), part...); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// heard is a message of a stream.
type heard struct{ id, event, data string }

// listen returns what a client hears, one by one.
func (w *wire) listen(query, last string) (next func() heard) {
	w.tb.Helper()
	ctx, cancel := context.WithTimeoutCause(w.tb.Context(), 2*time.Minute, errors.New("nothing more was heard"))
	w.tb.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"?"+query, nil)
	if err != nil {
		w.tb.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := (&http.Transport{}).RoundTrip(r)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		w.tb.Fatalf("%s: %d", query, resp.StatusCode)
	}
	in := bufio.NewReaderSize(resp.Body, 1<<20)
	return func() (h heard) {
		w.tb.Helper()
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				w.tb.Fatalf("%s: %v", query, err)
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				h.id = value
			case "event":
				h.event = value
			case "data":
				h.data = value
			case "": // ": connected" has no name, and neither has the end
				if line == "\n" && h != (heard{}) {
					return h
				}
			}
		}
	}
}

// TestStream replays from a number, goes on with what comes, and leaves nothing
// out between the two, whatever is filtered.
func TestStream(t *testing.T) {
	w := openWire(t, 20*time.Millisecond, 20)
	all := w.listen("after=0", "")
	if h := all(); h.id != "0" || h.event != "" {
		t.Fatalf("it begins with %+v", h)
	}
	now := w.listen("", "")
	if h := now(); h.id != "23" {
		t.Fatalf("only new ones begin with %+v", h)
	}
	one := w.listen("run=run1&task=T7&kind=task.planned,task.parked", "3")
	one()
	other := w.listen("run=run2&after=0", "")
	other()
	w.put(nexus.PlanApproved{By: "ada"}, nexus.TaskParked{Task: "T7", Why: "it is hard"}, nexus.TaskParked{Task: "T8", Why: "too"})
	for n := 1; n <= 26; n++ {
		h := all()
		for h.event == "" {
			h = all()
		}
		var e struct {
			Seq  int64
			Kind string
		}
		if err := json.Unmarshal([]byte(h.data), &e); err != nil || h.id != fmt.Sprint(n) || e.Seq != int64(n) || e.Kind != h.event {
			t.Fatalf("event %d is %+v (%v)", n, h, err)
		}
	}
	for h := now(); ; h = now() {
		if h.event != "" {
			if h.id != "24" || h.event != "plan.approved" {
				t.Errorf("new: %+v", h)
			}
			break
		}
	}
	var ids []string
	for len(ids) < 2 {
		if h := one(); h.event != "" {
			ids = append(ids, h.id)
		}
	}
	if !slices.Equal(ids, []string{"11", "25"}) {
		t.Errorf("of T7: %v", ids)
	}
	for h := other(); h.id != "26"; h = other() { // it is told how far it came, though nothing was for it
		if h.event != "" {
			t.Fatalf("of another run: %+v", h)
		}
	}
}

// TestResume loses nothing and hears nothing twice, whenever a connection is lost.
func TestResume(t *testing.T) {
	w := openWire(t, time.Minute, 300)
	var mu sync.Mutex // guards more
	more := 0
	last, want := "0", 1
	for want <= 303+200 {
		next := w.listen("", last)
		next()
		for range 37 {
			if want > 303+200 {
				break
			}
			mu.Lock()
			if more < 200 && want > 303+more-5 {
				w.put(nexus.TaskParked{Task: nexus.TaskID(fmt.Sprintf("T%d", more)), Why: "it is hard"})
				more++
			}
			mu.Unlock()
			h := next()
			if h.id != fmt.Sprint(want) || h.event == "" {
				t.Fatalf("event %d is %+v", want, h)
			}
			last = h.id
			want++
		}
	}
}

// TestSlow drops a client that takes nothing, and holds up nobody.
func TestSlow(t *testing.T) {
	w := openWire(t, time.Minute, 10)
	u, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "GET /?after=0 HTTP/1.1\r\nHost: %s\r\n\r\n", u.Host); err != nil {
		t.Fatal(err)
	}
	quick := w.listen("after=13", "")
	quick()
	long := strings.Repeat("x", 100_000)
	for n := range 300 { // more than the buffers of a socket hold
		w.put(nexus.TaskParked{Task: nexus.TaskID(fmt.Sprintf("T%d", n%10)), Why: long})
		if h := quick(); h.event != "task.parked" {
			t.Fatalf("%d: %+v", n, h)
		}
	}
	select {
	case <-w.ended:
	case <-time.After(time.Minute):
		t.Fatal("a client that takes nothing is still served")
	}
}

// TestFeed keeps the latest events, and says when there are others before them.
func TestFeed(t *testing.T) {
	f := OpenFeed(nil, 10)
	for n := int64(11); n <= 10+kept+50; n++ {
		f.addEvent(encodedEvent{event: nexus.Event{Seq: n}})
	}
	for after, want := range map[int64]int64{61: 62, 60: 61, 1000: 1001, 10 + kept + 49: 10 + kept + 50} {
		if l := f.eventsSince(after); l.behind || len(l.events) == 0 || l.events[0].event.Seq != want {
			t.Errorf("behind %d: %v, %d events", after, l.behind, len(l.events))
		}
	}
	if l := f.eventsSince(10 + kept + 50); l.behind || len(l.events) != 0 {
		t.Errorf("behind the last: %+v", l.events)
	}
	for _, after := range []int64{0, 10, 59} {
		if l := f.eventsSince(after); !l.behind {
			t.Errorf("event %d is kept", after+1)
		}
	}
}

// FuzzWish reads queries as anybody may send them.
func FuzzWish(f *testing.F) {
	for _, q := range []string{"run=r&task=T1&kind=run.ended&after=1", "after=-1", "kind=,", "after=9223372036854775808", "%zz"} {
		f.Add(q, "")
		f.Add("", q)
	}
	f.Fuzz(func(t *testing.T, query, last string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		w, err := parseEventFilter(q, last)
		if err != nil {
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		for _, kind := range w.kinds {
			if !slices.Contains(nexus.FactKinds(), kind) {
				t.Errorf("%q: kind %q", query, kind)
			}
		}
		if w.after < -1 || w.task != "" && w.run == "" {
			t.Errorf("%q: %+v", query, w)
		}
	})
}

// FuzzDecode reads bodies as anybody may send them: what is understood says each
// thing once, and in its own spelling.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{`{"action":"stop"}`, `{"action":"stop","Action":"land"}`, `{"ACTION":"stop"}`, `[]`, `{}{}`, `null`, ``} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var a access.ActionRequest
		if decodeStrictly(strings.NewReader(body), &a) != nil {
			return
		}
		var plain map[string]any
		if err := json.Unmarshal([]byte(body), &plain); err != nil {
			t.Fatalf("%q is no object: %v", body, err)
		}
		if a.Action != "" && a.Action != plain["action"] {
			t.Errorf("%q: action %q", body, a.Action)
		}
	})
}

// BenchmarkClients measures how fast a run writes with clients that listen and
// without: a run of 10,000 tasks.
func BenchmarkClients(b *testing.B) {
	rate := map[int]float64{}
	for _, clients := range []int{0, 50} {
		b.Run(fmt.Sprintf("%d", clients), func(b *testing.B) {
			w := openWire(b, time.Minute, 10_000)
			ctx, cancel := context.WithCancelCause(b.Context())
			var all sync.WaitGroup
			for n := range clients {
				next := w.listen("after=10003", "")
				next()
				all.Go(func() {
					for want := 0; want < b.N && ctx.Err() == nil; want++ {
						if h := next(); h.event == "" {
							b.Errorf("client %d: %+v", n, h)
						}
					}
				})
			}
			b.ResetTimer()
			for n := range b.N {
				w.put(nexus.TaskParked{Task: nexus.TaskID(fmt.Sprintf("T%d", n%10_000)), Why: "it is hard"})
			}
			b.StopTimer()
			rate[clients] = float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate[clients], "facts/s")
			if clients > 0 && rate[0] > 0 {
				b.ReportMetric(rate[clients]/rate[0], "ratio")
			}
			all.Wait()
			cancel(nil)
		})
	}
}
