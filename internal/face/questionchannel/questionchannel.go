// Package questionchannel sends open questions to people, wherever they are, and passes their answers to
// the run.
//
// Like every face, it follows the journal and appends requests to it; it changes no run itself.
// Its packages are the channels: files, web, webhooks, Telegram. The channels receive a question
// one after the other, each keeps it open until it is answered, and the first answer in the
// journal counts.
package questionchannel

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// InboxJournal is the part of a journal that an inbox needs.
type InboxJournal interface {
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Ask(ctx context.Context, run nexus.RunID, r nexus.Request) (nexus.Event, error)
}

// answerTimeout limits how long an answer waits for the conductor to settle it.
const answerTimeout = 5 * time.Second

// JournalInbox lists the open items of all runs of a repository and submits people's answers to them. It
// is safe for concurrent use.
type JournalInbox struct {
	journal InboxJournal
	held    func(context.Context, nexus.RunID) bool // reports whether a process conducts the run
	now     func() time.Time

	mu      sync.Mutex // guards the fields below
	book    humaninput.RepositoryInbox
	seq     int64 // number of the last applied event
	grown   chan struct{}
	taken   map[string]string               // by key: who answered here, until the journal has the answer
	settled map[int64]*nexus.RequestSettled // requests made here; nil until settled
}

// OpenInbox returns an inbox with the open items that are in the journal now. [JournalInbox.Follow] keeps it
// up to date.
func OpenInbox(ctx context.Context, j InboxJournal, held func(context.Context, nexus.RunID) bool, now func() time.Time) (*JournalInbox, error) {
	d := &JournalInbox{journal: j, held: held, now: now, grown: make(chan struct{}), taken: map[string]string{}, settled: map[int64]*nexus.RequestSettled{}}
	d.book.Past = func(run nexus.RunID) iter.Seq2[nexus.Event, error] {
		return j.Events(context.WithoutCancel(ctx), run, 0)
	}
	for e, err := range j.Events(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		d.applyJournalEvent(e)
	}
	return d, nil
}

// Follow keeps the inbox up to date with the journal until the context ends.
func (d *JournalInbox) Follow(ctx context.Context) error {
	d.mu.Lock()
	after := d.seq
	d.mu.Unlock()
	for e, err := range d.journal.Follow(ctx, "", after) {
		if err != nil {
			return err
		}
		d.applyJournalEvent(e)
	}
	return nil
}

func (d *JournalInbox) applyJournalEvent(e nexus.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.book.Apply(e)
	d.seq = e.Seq
	if f, ok := e.Fact.(nexus.RequestSettled); ok {
		if _, ours := d.settled[f.Seq]; ours {
			d.settled[f.Seq] = &f
		}
	}
	close(d.grown)
	d.grown = make(chan struct{})
}

// openItemsSnapshot returns the open items, and a channel that is closed when they may have changed.
func (d *JournalInbox) openItemsSnapshot() ([]humaninput.WaitingItem, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unansweredItems(), d.grown
}

// unansweredItems returns the open items that were not answered here. The caller holds the lock.
func (d *JournalInbox) unansweredItems() []humaninput.WaitingItem {
	now := d.now()
	return slices.DeleteFunc(d.book.WaitingItems(), func(i humaninput.WaitingItem) bool {
		return d.taken[i.UniqueName()] != "" || !i.Deadline.IsZero() && !i.Deadline.After(now)
	})
}

// Items returns the items that wait for a person, the oldest first.
func (d *JournalInbox) Items() []humaninput.WaitingItem {
	all, _ := d.openItemsSnapshot()
	return all
}

// Find returns the open item with that ID, or an error that explains why it is not open.
func (d *JournalInbox) Find(run nexus.RunID, id string) (humaninput.WaitingItem, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.findItem(run, id)
}

func (d *JournalInbox) findItem(run nexus.RunID, id string) (humaninput.WaitingItem, error) {
	i, err := d.book.FindItem(run, id)
	if by := d.taken[i.UniqueName()]; err == nil && by != "" {
		return i, &humaninput.LateAnswerError{By: by, Text: "it was sent to the run"}
	}
	if err == nil && !i.Deadline.IsZero() && !i.Deadline.After(d.now()) {
		return i, &humaninput.LateAnswerError{By: "fallback", Text: i.Fallback}
	}
	return i, err
}

// Answer submits an answer to the run in the name of a person, and returns its result as text. An
// error explains why the answer does not count.
func (d *JournalInbox) Answer(ctx context.Context, run nexus.RunID, id, answer, by string) (string, error) {
	d.mu.Lock()
	item, err := d.findItem(run, id)
	if err != nil {
		d.mu.Unlock()
		return "", err
	}
	wish, err := item.AnswerRequest(answer, by)
	if err != nil {
		d.mu.Unlock()
		return "", err
	}
	d.taken[item.UniqueName()] = by
	d.mu.Unlock()
	said, err := d.makeRequest(ctx, run, wish)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.taken, item.UniqueName())
	return said, err
}

// makeRequest appends a request. If the run has a conductor, it waits for the conductor's answer; in
// any case it waits until the inbox has read the request from the journal.
func (d *JournalInbox) makeRequest(ctx context.Context, run nexus.RunID, wish nexus.Request) (string, error) {
	held := d.held(ctx, run)
	d.mu.Lock()
	e, err := d.journal.Ask(ctx, run, wish)
	if err == nil {
		d.settled[e.Seq] = nil
	}
	d.mu.Unlock()
	if err != nil {
		return "", err
	}
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.settled, e.Seq)
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errors.New("there was no answer in time"))
	defer cancel()
	for {
		d.mu.Lock()
		settled, known, grown := d.settled[e.Seq], d.seq >= e.Seq, d.grown
		d.mu.Unlock()
		switch {
		case settled != nil && settled.Granted:
			return "taken", nil
		case settled != nil:
			return "", refusalError(d, run, wish, settled.Why)
		case known && !held:
			return "recorded: the run is not in progress, continue it with nexus resume", nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return "recorded: the run has not answered yet", nil
		}
	}
}

// FollowPublishApprovals calls do, one call at a time, for each run that has no conductor and in which a person
// agreed to publish the landed changes, until the context ends. It does not try the same answer
// twice.
func (d *JournalInbox) FollowPublishApprovals(ctx context.Context, do func(context.Context, nexus.RunID)) {
	tried := map[int64]bool{}
	for ctx.Err() == nil {
		d.mu.Lock()
		due, grown := d.book.PublishApprovals(), d.grown
		d.mu.Unlock()
		for _, a := range due {
			if !tried[a.Seq] && !d.held(ctx, a.Run) {
				tried[a.Seq] = true
				do(ctx, a.Run)
			}
		}
		select {
		case <-grown:
		case <-ctx.Done():
		}
	}
}

// refusalError explains why the conductor refused a request: usually another person answered
// first.
func refusalError(d *JournalInbox, run nexus.RunID, wish nexus.Request, why string) error {
	id := wish.ID
	if id == "" {
		id = string(wish.Task)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.book.FindItem(run, id); err != nil {
		return err
	}
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "refused: " + why, Hint: "See nexus status."}
}

// InboxSubscription is one channel's subscription to an inbox: it receives items a fixed delay after
// they were asked. One goroutine calls Next.
type InboxSubscription struct {
	*JournalInbox
	delay time.Duration
	last  []string
	begun bool
}

// Subscribe returns a subscription that receives each item after the given delay.
func (d *JournalInbox) Subscribe(delay time.Duration) *InboxSubscription {
	return &InboxSubscription{JournalInbox: d, delay: delay}
}

// Next returns the open items as soon as they differ from the last call; the first call returns
// at once.
func (s *InboxSubscription) Next(ctx context.Context) ([]humaninput.WaitingItem, error) {
	for {
		all, grown := s.openItemsSnapshot()
		now := s.now()
		var due time.Time
		soonest := func(t time.Time) {
			if due.IsZero() || t.Before(due) {
				due = t
			}
		}
		all = slices.DeleteFunc(all, func(i humaninput.WaitingItem) bool {
			if !i.Deadline.IsZero() {
				soonest(i.Deadline)
			}
			at := i.Asked.Add(s.delay)
			if !at.After(now) {
				return false
			}
			soonest(at)
			return true
		})
		keys := make([]string, len(all))
		for n, i := range all {
			keys[n] = i.UniqueKey()
		}
		if !s.begun || !slices.Equal(keys, s.last) {
			s.begun, s.last = true, keys
			return all, nil
		}
		if err := waitForChange(ctx, grown, due, now); err != nil {
			return nil, err
		}
	}
}

// waitForChange waits until the channel is closed or, if there is a due time, until that time.
func waitForChange(ctx context.Context, grown <-chan struct{}, due, now time.Time) error {
	var alarm <-chan time.Time
	if !due.IsZero() {
		t := time.NewTimer(max(due.Sub(now), time.Millisecond))
		defer t.Stop()
		alarm = t.C
	}
	select {
	case <-grown:
	case <-alarm:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
