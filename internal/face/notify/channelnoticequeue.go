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

	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// maxAge limits the age of a notice that is still sent, so that a channel that was off for long
// sends nothing old.
const maxAge = 7 * 24 * time.Hour

// channelCursor is a channel's position in the journal.
type channelCursor struct {
	After  int64    `json:"after"`            // no event up to this one waits
	Done   []string `json:"done,omitempty"`   // notices after it that need not be sent any more
	Flight []string `json:"flight,omitempty"` // notices of the message that is being sent
	Until  int64    `json:"until,omitzero"`   // event of the last of these
}

// parseCursor reads a cursor. An invalid one counts as missing.
func parseCursor(data []byte) (channelCursor, bool) {
	var m channelCursor
	if json.Unmarshal(data, &m) != nil || m.After < 0 {
		return channelCursor{}, false
	}
	return m, true
}

func readCursor(path string) (channelCursor, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return channelCursor{}, false
	}
	return parseCursor(data)
}

func writeCursor(path string, m channelCursor) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return filewrite.ReplaceFile(path, data)
}

// channelNoticeQueue contains the waiting notices of one channel.
type channelNoticeQueue struct {
	notifier Notifier
	way      NotificationChannel

	mu      sync.Mutex // guards the fields below
	mark    channelCursor
	seen    int64           // last event that was processed
	waiting []notice.Notice // the oldest first
	over    bool            // no more notices will come
	grown   chan struct{}
}

func newChannelQueue(d Notifier, w NotificationChannel, m channelCursor) *channelNoticeQueue {
	return &channelNoticeQueue{notifier: d, way: w, mark: m, seen: m.After, grown: make(chan struct{})}
}

// addNotices adds the notices of an event.
func (q *channelNoticeQueue) addNotices(seq int64, told []notice.Notice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if seq <= q.seen {
		return // another channel is further behind
	}
	q.seen = seq
	for _, n := range told {
		old := q.notifier.Now().Sub(n.At) > maxAge
		if old || !notice.ShouldSend(q.notifier.Rules, n, q.way.Name) || slices.Contains(q.mark.Done, n.ID) {
			continue
		}
		q.waiting = append(q.waiting, q.notifier.maskNotice(n))
		q.wakeSender()
	}
}

// endNotices marks that no more notices will come.
func (q *channelNoticeQueue) endNotices() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.wakeSender()
}

// wakeSender wakes the sender. The caller holds the lock.
func (q *channelNoticeQueue) wakeSender() {
	close(q.grown)
	q.grown = make(chan struct{})
}

// nextBatch returns the notices to send now; if there are none, the time of the next ones, and a
// channel that is closed on a change. The batch that a dead process was sending comes first,
// unchanged.
func (q *channelNoticeQueue) nextBatch() (send []notice.Notice, at time.Time, grown chan struct{}, over bool) {
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
			return nil, time.Time{}, q.grown, q.over // they are still to be read
		}
		send = nil // the rules have changed, and these notices no longer use this channel
	}
	t := q.way.Timing
	if q.over {
		t.Window = 0 // the process will end before the window does
	}
	send, at = t.NextDigestTime(q.waiting, q.notifier.Now())
	return send, at, q.grown, q.over
}

// sendDueNotices sends due notices until no more will come and none is due, or last ends.
func (q *channelNoticeQueue) sendDueNotices(last context.Context) {
	b := webhookpost.Backoff{Unit: cmp.Or(q.notifier.Wait, time.Second)}
	defer func() { q.saveRemaining(b.N > 0) }()
	for last.Err() == nil {
		send, at, grown, over := q.nextBatch()
		if len(send) > 0 {
			wait, failed := q.sendMessage(last, send, &b)
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

// waitForChange waits until the channel is closed, for the given time if it is not negative, and
// no longer than ctx.
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

// sendMessage sends one message, and marks its notices. It returns how long to wait if it must be tried
// again.
func (q *channelNoticeQueue) sendMessage(last context.Context, all []notice.Notice, b *webhookpost.Backoff) (wait time.Duration, again bool) {
	ids := make([]string, len(all))
	for i, n := range all {
		ids[i] = n.ID
	}
	if err := q.markInFlight(ids, all[len(all)-1].Seq); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
		return b.NextWait(0), true
	}
	m := delivery.NoticeMessage{ID: messageID(ids), Place: q.notifier.Place, Link: q.notifier.Link, Notices: all}
	began := q.notifier.Now()
	err := q.way.Sender.Send(last, m)
	if err != nil && last.Err() != nil {
		return 0, true // ctx has ended, and the cursor stays
	}
	entry := DeliveryLogEntry{
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
	q.logSendAttempt(entry)
	if entry.Result == Failed {
		var wants time.Duration
		if e, ok := errors.AsType[*webhookpost.PostError](err); ok {
			wants = e.Wait
		}
		return b.NextWait(wants), true
	}
	if err := q.markHandled(ids); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
	}
	return 0, false
}

// logSendAttempt writes a try into the log, and reports the problem, once per message.
func (q *channelNoticeQueue) logSendAttempt(e DeliveryLogEntry) {
	if err := appendLogEntry(q.notifier.Dir, e); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
	}
	switch {
	case e.Result == Failed && e.Try == 1:
		q.notifier.Say("notifications, %s: %s; trying again", q.way.Name, e.Why)
	case e.Result == Refused:
		q.notifier.Say("notifications, %s: %s; not sent", q.way.Name, e.Why)
	}
}

// messageID derives the ID of a message from its notices.
func messageID(ids []string) string {
	sum := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(sum[:12])
}

// markInFlight records the notices that are about to be sent.
func (q *channelNoticeQueue) markInFlight(ids []string, until int64) error {
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

// markHandled removes sent or refused notices from the waiting ones.
func (q *channelNoticeQueue) markHandled(ids []string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(n notice.Notice) bool { return slices.Contains(ids, n.ID) })
	q.mark.Flight, q.mark.Until = nil, 0
	q.mark.Done = append(q.mark.Done, ids...)
	return q.advanceCursor()
}

// advanceCursor moves the cursor to the last position before a waiting notice. The caller holds
// the lock.
func (q *channelNoticeQueue) advanceCursor() error {
	q.mark.After = q.seen
	if len(q.waiting) == 0 {
		q.mark.Done = nil
	} else {
		q.mark.After = min(q.seen, q.waiting[0].Seq-1)
	}
	return writeCursor(q.notifier.cursorPath(q.way.Name), q.mark)
}

// saveRemaining stores the cursor for the next process, and reports waiting notices that could not be
// sent.
func (q *channelNoticeQueue) saveRemaining(failing bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.advanceCursor(); err != nil {
		q.notifier.Say("notifications, %s: %s", q.way.Name, err)
	}
	if n := len(q.waiting); n > 0 && failing {
		q.notifier.Say("notifications, %s: %d not sent yet; the next nexus run, resume or serve sends them", q.way.Name, n)
	}
}
