package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/notice"
	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// maxAge is how old a notice may be that is still sent: a way that was not used
// for long tells nothing old.
const maxAge = 7 * 24 * time.Hour

// cursor is a way's place in the journal.
type cursor struct {
	After  int64    `json:"after"`            // nothing up to this event waits
	Done   []string `json:"done,omitempty"`   // notices after it that need not be sent any more
	Flight []string `json:"flight,omitempty"` // notices of the message that is being sent
	Until  int64    `json:"until,omitzero"`   // event of the last of these
}

// parseCursor reads a place. One that makes no sense is none.
func parseCursor(data []byte) (cursor, bool) {
	var m cursor
	if json.Unmarshal(data, &m) != nil || m.After < 0 {
		return cursor{}, false
	}
	return m, true
}

func readCursor(path string) (cursor, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return cursor{}, false
	}
	return parseCursor(data)
}

func writeCursor(path string, m cursor) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return disk.Replace(path, data)
}

// queue is what waits to go one way.
type queue struct {
	notifier Notifier
	way      Destination

	mu      sync.Mutex // guards what follows
	mark    cursor
	seen    int64           // last event that was looked at
	waiting []notice.Notice // the oldest first
	over    bool            // nothing more comes
	grown   chan struct{}
}

func newQueue(d Notifier, w Destination, m cursor) *queue {
	return &queue{notifier: d, way: w, mark: m, seen: m.After, grown: make(chan struct{})}
}

// add takes what people are told of an event.
func (q *queue) add(seq int64, told []notice.Notice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if seq <= q.seen {
		return // another way is further back
	}
	q.seen = seq
	for _, n := range told {
		old := q.notifier.Now().Sub(n.At) > maxAge
		if old || !notice.ShouldSend(q.notifier.Rules, n, q.way.Name) || slices.Contains(q.mark.Done, n.ID) {
			continue
		}
		q.waiting = append(q.waiting, q.notifier.maskNotice(n))
		q.wake()
	}
}

// finish says that nothing more comes.
func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.wake()
}

// wake lets work look again. The caller holds the lock.
func (q *queue) wake() {
	close(q.grown)
	q.grown = make(chan struct{})
}

// nextBatch returns what to send now; where there is nothing, when there may be, and
// what is closed when something changes. What a process that died was sending
// comes first, as it was.
func (q *queue) nextBatch() (send []notice.Notice, at time.Time, grown chan struct{}, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.mark.Flight) > 0 {
		for _, n := range q.waiting {
			if slices.Contains(q.mark.Flight, n.ID) {
				send = append(send, n)
			}
		}
		switch {
		case len(send) == len(q.mark.Flight):
			return send, time.Time{}, q.grown, q.over
		case !q.over && q.seen < q.mark.Until:
			return nil, time.Time{}, q.grown, q.over // they are to be read
		}
		send = nil // other rules hold meanwhile, and they do not go this way any more
	}
	t := q.way.Timing
	if q.over {
		t.Window = 0 // nobody will be here for it
	}
	send, at = t.Next(q.waiting, q.notifier.Now())
	return send, at, q.grown, q.over
}

// sendDue sends what is due until nothing more comes and nothing is due, or last
// ends.
func (q *queue) sendDue(last context.Context) {
	b := webhookpost.Backoff{Unit: cmp.Or(q.notifier.Wait, time.Second)}
	defer func() { q.close(b.N > 0) }()
	for last.Err() == nil {
		send, at, grown, over := q.nextBatch()
		if len(send) > 0 {
			wait, failed := q.send(last, send, &b)
			if !failed {
				b.N = 0
				continue
			}
			waitForChange(last, nil, wait)
			continue
		}
		if over {
			return
		}
		wait := time.Duration(-1)
		if !at.IsZero() {
			wait = max(at.Sub(q.notifier.Now()), time.Millisecond)
		}
		waitForChange(last, grown, wait)
	}
}

// waitForChange waits until something is closed, for a time where that is not less than
// 0, and no longer than ctx.
func waitForChange(ctx context.Context, grown <-chan struct{}, wait time.Duration) {
	var alarm <-chan time.Time
	if wait >= 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		alarm = t.C
	}
	select {
	case <-grown:
	case <-alarm:
	case <-ctx.Done():
	}
}

// send sends one message, and settles what is in it. It returns how long to wait
// where it is to be tried again.
func (q *queue) send(last context.Context, all []notice.Notice, b *webhookpost.Backoff) (wait time.Duration, again bool) {
	ids := make([]string, len(all))
	for i, n := range all {
		ids[i] = n.ID
	}
	if err := q.markInFlight(ids, all[len(all)-1].Seq); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
		return b.Next(0), true
	}
	m := delivery.Message{ID: messageID(ids), Place: q.notifier.Place, Link: q.notifier.Link, Notices: all}
	began := q.notifier.Now()
	err := q.way.Sender.Send(last, m)
	if err != nil && last.Err() != nil {
		return 0, true // its time is over, and its place stays
	}
	entry := Entry{
		At: began, Way: q.way.Name, ID: m.ID, Notices: ids, Title: m.Subject(), Try: b.N + 1, Result: Sent,
		Seconds: q.notifier.Now().Sub(began).Seconds(),
	}
	if err != nil {
		entry.Why = q.notifier.Mask(err.Error())
		entry.Result = Failed
		if webhookpost.IsFinal(err) {
			entry.Result = Refused
		}
	}
	q.logAttempt(entry)
	if entry.Result == Failed {
		var wants time.Duration
		if e, ok := errors.AsType[*webhookpost.Error](err); ok {
			wants = e.Wait
		}
		return b.Next(wants), true
	}
	if err := q.markDone(ids); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
	}
	return 0, false
}

// logAttempt writes a try into the log, and says what went wrong, once for the same message.
func (q *queue) logAttempt(e Entry) {
	if err := appendEntry(q.notifier.Dir, e); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
	}
	switch {
	case e.Result == Failed && e.Try == 1:
		q.notifier.Say("notifications, %s: %s; trying again", q.way.Name, e.Why)
	case e.Result == Refused:
		q.notifier.Say("notifications, %s: %s; not sent", q.way.Name, e.Why)
	}
}

// messageID names a message by what is in it.
func messageID(ids []string) string {
	sum := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(sum[:12])
}

// markInFlight writes down what is about to be sent.
func (q *queue) markInFlight(ids []string, until int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.Equal(q.mark.Flight, ids) {
		return nil
	}
	m := q.mark
	m.Flight, m.Until = ids, until
	if err := writeCursor(q.notifier.cursorPath(q.way.Name), m); err != nil {
		return err
	}
	q.mark = m
	return nil
}

// markDone takes what was sent, or is refused, from what waits.
func (q *queue) markDone(ids []string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(n notice.Notice) bool { return slices.Contains(ids, n.ID) })
	q.mark.Flight, q.mark.Until = nil, 0
	q.mark.Done = append(q.mark.Done, ids...)
	return q.advanceCursor()
}

// advanceCursor moves the place as far as nothing waits. The caller holds the lock.
func (q *queue) advanceCursor() error {
	q.mark.After = q.seen
	if len(q.waiting) == 0 {
		q.mark.Done = nil
	} else {
		q.mark.After = min(q.seen, q.waiting[0].Seq-1)
	}
	return writeCursor(q.notifier.cursorPath(q.way.Name), q.mark)
}

// close leaves the place for the next process, and says what still waits that
// could not be sent.
func (q *queue) close(failing bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.advanceCursor(); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
	}
	if n := len(q.waiting); n > 0 && failing {
		q.notifier.Say("notifications, %s: %d not sent yet; the next nexus run, resume or serve sends them", q.way.Name, n)
	}
}
