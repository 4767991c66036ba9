package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

const (
	// heartbeat is the interval of messages to a client without events, which show that it is
	// connected.
	heartbeat = 15 * time.Second
	// patience is how long a client may accept no data before it is dropped.
	patience = 10 * time.Second
	// between is the minimum time between two writes to a client: with many clients, the events
	// of a fast run are sent in groups.
	between = 25 * time.Millisecond
	// chunk is the number of bytes that are buffered before they are sent.
	chunk = 32 << 10
)

// eventFilter selects the events for a client.
type eventFilter struct {
	run   nexus.RunID
	task  nexus.TaskID
	kinds []string
	after int64 // -1: only new events
}

// parseEventFilter parses the query and, for a client that continues, the number of its last event.
func parseEventFilter(q url.Values, lastID string) (eventFilter, error) {
	w := eventFilter{run: nexus.RunID(q.Get("run")), task: nexus.TaskID(q.Get("task")), after: -1}
	for name := range q {
		if !slices.Contains([]string{"run", "task", "kind", "after"}, name) {
			return eventFilter{}, invalidInput("unknown parameter "+view.QuoteForTerminal(name), "Use run, task, kind and after.")
		}
	}
	for _, list := range q["kind"] {
		for kind := range strings.SplitSeq(list, ",") {
			if !slices.Contains(nexus.FactKinds(), kind) {
				return eventFilter{}, invalidInput("unknown kind of event "+view.QuoteForTerminal(kind), "docs/events.md lists the kinds.")
			}
			w.kinds = append(w.kinds, kind)
		}
	}
	if w.task != "" && w.run == "" {
		return eventFilter{}, invalidInput("task without run", "Name the run of the task: ?run=RUN&task="+url.QueryEscape(string(w.task))+".")
	}
	number := q.Get("after")
	if lastID != "" {
		number = lastID
	}
	if number == "" {
		return w, nil
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return eventFilter{}, invalidInput("after and Last-Event-ID are numbers of an event", "Use the id of the last event that you have, or 0 for all.")
	}
	w.after = n
	return w, nil
}

func invalidInput(message, hint string) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
}

// matches reports whether an event matches.
func (w eventFilter) matches(t encodedEvent) bool {
	return (w.run == "" || t.event.Run == w.run) && (len(w.kinds) == 0 || slices.Contains(w.kinds, t.kind)) &&
		(w.task == "" || view.IsAboutTask(t.event.Fact, w.task))
}

// eventStreamClient is a client of the event stream.
type eventStreamClient struct {
	eventFilter

	out  http.ResponseWriter
	rc   *http.ResponseController
	buf  []byte
	most time.Duration // how long it may accept no data
	sent time.Time     // time of the last write
	seen int64         // number of the last event that was checked
	told int64         // number of the last ID that was sent
}

// streamEvents streams events to a client for as long as it listens.
func (a *API) streamEvents(w http.ResponseWriter, r *http.Request) {
	want, err := parseEventFilter(r.URL.Query(), r.Header.Get("Last-Event-ID"))
	if err != nil {
		access.RefuseError(w, r, err)
		return
	}
	last := a.Feed.Last()
	if want.after > last {
		access.RefuseError(w, r, invalidInput(fmt.Sprintf("the journal has no event %d yet: its last is %d", want.after, last),
			"The journal is another one than before. Start again with after=0, or without after for new events only."))
		return
	}
	if want.after < 0 {
		want.after = last
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	l := &eventStreamClient{eventFilter: want, out: w, rc: http.NewResponseController(w), seen: want.after, most: cmp.Or(a.Patience, patience)}
	l.buf = fmt.Appendf(l.buf, "retry: 1000\nid: %d\n\n", l.seen)
	l.told = l.seen
	_ = l.serveEvents(r.Context(), a) // a client that is gone, or too slow, connects again
}

var errSlow = errors.New("the client is too slow")

// serveEvents sends the existing events, then the new ones.
func (l *eventStreamClient) serveEvents(ctx context.Context, a *API) error {
	live := false
	beat := time.NewTicker(a.heartbeatInterval())
	defer beat.Stop()
	for {
		now := a.Feed.eventsSince(l.seen)
		switch {
		case now.behind && live:
			return errSlow
		case now.behind:
			if err := l.replayEvents(ctx, a, now.last); err != nil {
				return err
			}
			continue
		}
		if err := l.sendEvent(now.events); err != nil {
			return err
		}
		if len(now.events) > 0 {
			continue
		}
		if err := l.flushBuffer(); err != nil || now.closed {
			return err
		}
		live = true
		select {
		case <-now.grown:
			if err := l.waitBetweenSends(ctx); err != nil {
				return err
			}
		case <-beat.C:
			l.sendHeartbeat()
			if err := l.flushBuffer(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitBetweenSends waits until some time has passed since the last write.
func (l *eventStreamClient) waitBetweenSends(ctx context.Context) error {
	left := between - time.Since(l.sent)
	if left <= 0 {
		return nil
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sendHeartbeat sends a heartbeat with the client's position, so that skipped events need not be checked
// again.
func (l *eventStreamClient) sendHeartbeat() {
	if l.seen > l.told {
		l.buf = fmt.Appendf(l.buf, "id: %d\n\n", l.seen)
		l.told = l.seen
		return
	}
	l.buf = append(l.buf, ": connected\n\n"...)
}

// replayEvents sends the events up to a number from the journal.
func (l *eventStreamClient) replayEvents(ctx context.Context, a *API, last int64) error {
	for e, err := range a.Journal.Events(ctx, l.run, l.seen) {
		if err != nil {
			return err
		}
		if e.Seq > last {
			break
		}
		t, err := encodeEvent(e)
		if err != nil {
			return err
		}
		if err := l.sendEvent([]encodedEvent{t}); err != nil {
			return err
		}
	}
	l.seen = max(l.seen, last)
	return nil
}

func (l *eventStreamClient) sendEvent(all []encodedEvent) error {
	for _, t := range all {
		l.seen = t.event.Seq
		if !l.matches(t) {
			continue
		}
		l.buf = fmt.Appendf(l.buf, "id: %d\nevent: %s\ndata: ", t.event.Seq, t.kind)
		l.buf = append(append(l.buf, t.data...), "\n\n"...)
		l.told = t.event.Seq
		if len(l.buf) >= chunk {
			if err := l.flushBuffer(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flushBuffer sends the buffered data. A client that accepts nothing for a while is dropped.
func (l *eventStreamClient) flushBuffer() error {
	if len(l.buf) == 0 {
		return nil
	}
	l.sent = time.Now() //nolint:forbidigo // a deadline of a socket is of the real clock
	if err := l.rc.SetWriteDeadline(l.sent.Add(l.most)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := l.out.Write(l.buf)
	l.buf = l.buf[:0]
	if err != nil {
		return err
	}
	return l.rc.Flush()
}
