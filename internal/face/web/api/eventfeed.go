package api

import (
	"context"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// kept is the number of the latest events that all clients share. A client that falls further
// behind while it listens is dropped, and continues from the journal.
const kept = 4096

// encodedEvent is an event in its encoded form, which is shared by all clients.
type encodedEvent struct {
	event nexus.Event
	kind  string
	data  []byte
}

func encodeEvent(e nexus.Event) (encodedEvent, error) {
	v, err := view.EventStreamLineOf(e)
	if err != nil {
		return encodedEvent{}, err
	}
	data, err := access.EncodeSafeJSON(v)
	return encodedEvent{e, v.Kind, data}, err
}

// EventFeed follows the journal once for all clients. Make one with [OpenFeed].
type EventFeed struct {
	journal access.EventJournal

	mu     sync.Mutex // guards the fields below
	ring   [kept]encodedEvent
	start  int64 // number of the last event before the kept ones
	n      int   // number of events received since
	last   int64 // number of the last event
	grown  chan struct{}
	closed bool
}

// OpenFeed returns a feed that begins after an event. [EventFeed.Follow] keeps it up to date.
func OpenFeed(j access.EventJournal, last int64) *EventFeed {
	return &EventFeed{journal: j, start: last, last: last, grown: make(chan struct{})}
}

// Follow keeps the feed up to date with the journal until the context ends.
func (f *EventFeed) Follow(ctx context.Context) error {
	defer f.close()
	for e, err := range f.journal.Follow(ctx, "", f.start) {
		if err != nil {
			return err
		}
		t, err := encodeEvent(e)
		if err != nil {
			return err
		}
		f.addEvent(t)
	}
	return nil
}

func (f *EventFeed) addEvent(t encodedEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.n % kept
	if f.n >= kept {
		f.start = f.ring[at].event.Seq
	}
	f.ring[at] = t
	f.n++
	f.last = t.event.Seq
	close(f.grown)
	f.grown = make(chan struct{})
}

func (f *EventFeed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	close(f.grown)
	f.grown = make(chan struct{})
}

// Last returns the number of the last event.
func (f *EventFeed) Last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// feedSegment is the part of a feed after an event.
type feedSegment struct {
	events []encodedEvent // at most 256, in order
	behind bool           // there are events before the kept ones: read the journal up to last
	last   int64
	closed bool
	grown  <-chan struct{}
}

// eventsSince returns the part after an event.
func (f *EventFeed) eventsSince(after int64) feedSegment {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := feedSegment{last: f.last, closed: f.closed, grown: f.grown, behind: after < f.start}
	if l.behind || after >= f.last {
		return l
	}
	from := max(f.n-kept, 0)
	for lo, hi := from, f.n; lo < hi; { // the first one after it
		mid := (lo + hi) / 2
		if f.ring[mid%kept].event.Seq <= after {
			lo = mid + 1
		} else {
			hi = mid
		}
		from = lo
	}
	for ; from < f.n && len(l.events) < 256; from++ {
		l.events = append(l.events, f.ring[from%kept])
	}
	return l
}
