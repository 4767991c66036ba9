// Package notify sends people notifications about the runs of a repository that they do not
// watch.
//
// It follows the journal, which is the queue: each channel has a cursor in a file, and unsent
// notices after the cursor are waiting. A message is recorded before it is sent, so a killed
// process repeats at most one message, under the same ID, and loses none. One process at a time
// delivers the notices of a repository; the next takes over.
package notify

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/sentmessages"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// Grace limits how long messages may be sent after the end of the process. The next process sends
// the rest.
const Grace = 10 * time.Second

// EventJournal is the journal that the notifier follows.
type EventJournal interface {
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Head(ctx context.Context) (int64, error)
}

// MessageSender sends a message. Its error is a [*post.Error].
type MessageSender interface {
	Send(ctx context.Context, m delivery.NoticeMessage) error
}

// NotificationChannel is one notification channel.
type NotificationChannel struct {
	Name   string // used in its file names
	Sender MessageSender
	Timing notice.NoticeTiming
}

// Notifier sends the notices about the runs of a repository.
type Notifier struct {
	Journal EventJournal
	Dir     string // of the cursors, and of the log
	Place   string // name of the repository
	Link    string // of the dashboard; empty: none
	Ways    []NotificationChannel
	Rules   []notice.DeliveryRule
	Now     func() time.Time
	Mask    func(string) string // removes secrets
	Say     func(format string, args ...any)
	Grace   time.Duration
	Wait    time.Duration // before a second try; 0: a second. It doubles up to 30 times the value
}

// Start follows the journal; new channels start with the next event. The returned function stops
// that, and waits up to the grace period.
func (d Notifier) Start(ctx context.Context) (stop func(), err error) {
	if err := d.initCursors(ctx); err != nil {
		return nil, err
	}
	tell := func(err error) { d.Say("notifications: %s", err) }
	return sentmessages.RunBeside(ctx, filepath.Join(d.Dir, ".lock"), d.Grace, tell, d.serveDestinations), nil
}

// initCursors gives channels without a cursor one at the journal's last event, so that they send
// nothing old.
func (d Notifier) initCursors(ctx context.Context) error {
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return filewrite.WrapError("make a directory", err)
	}
	last, err := d.Journal.Head(ctx)
	if err != nil {
		return err
	}
	for _, w := range d.Ways {
		if _, ok := readCursor(d.cursorPath(w.Name)); ok {
			continue
		}
		if err := writeCursor(d.cursorPath(w.Name), channelCursor{After: last}); err != nil {
			return err
		}
	}
	return nil
}

func (d Notifier) cursorPath(name string) string { return filepath.Join(d.Dir, name+".json") }

// serveDestinations follows the journal until life ends, and sends until everything that may be sent is sent,
// or last ends.
func (d Notifier) serveDestinations(life, last context.Context) error {
	fold := notice.NoticeCollector{Past: func(run nexus.RunID) iter.Seq2[nexus.Event, error] {
		return d.Journal.Events(context.WithoutCancel(last), run, 0)
	}}
	var queues []*channelNoticeQueue
	var all sync.WaitGroup
	after := int64(-1)
	for _, w := range d.Ways {
		m, _ := readCursor(d.cursorPath(w.Name))
		q := newChannelQueue(d, w, m)
		queues = append(queues, q)
		if after < 0 || m.After < after {
			after = m.After
		}
		all.Go(func() { q.sendDueNotices(last) })
	}
	defer all.Wait()
	defer func() {
		for _, q := range queues {
			q.endNotices()
		}
	}()
	take := func(e nexus.Event) error {
		told, err := fold.Apply(e)
		if err != nil {
			return err
		}
		for _, q := range queues {
			q.addNotices(e.Seq, told)
		}
		after = e.Seq
		return nil
	}
	for e, err := range d.Journal.Follow(life, "", max(after, 0)) {
		if err == nil {
			err = take(e)
		}
		if err != nil {
			return err
		}
	}
	for e, err := range d.Journal.Events(last, "", max(after, 0)) {
		if last.Err() != nil {
			return nil // the next process continues from its cursor
		}
		if err == nil {
			err = take(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maskNotice removes secrets from a notice.
func (d Notifier) maskNotice(n notice.Notice) notice.Notice {
	n.Title, n.Text = d.Mask(n.Title), d.Mask(n.Text)
	return n
}
