package api

import (
	"context"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// kept is how many of the latest events all clients share. Who falls further
// behind while they listen is dropped, and continues from the journal.
const kept = 4096

// told is an event as clients get it: encoded once for all of them.
type told struct {
	event nexus.Event
	kind  string
	data  []byte
}

func tell(e nexus.Event) (told, error) {
	v, err := view.EventOf(e)
	if err != nil {
		return told{}, err
	}
	data, err := access.Encode(v)
	return told{e, v.Kind, data}, err
}

// Feed follows the journal once for all clients. Make one with [OpenFeed].
type Feed struct {
	journal access.Journal

	mu     sync.Mutex // guards what follows
	ring   [kept]told
	start  int64 // number of the last event before those that are kept
	n      int   // events that were told since
	last   int64 // number of the last event
	grown  chan struct{}
	closed bool
}

// OpenFeed returns a feed that begins behind an event. [Feed.Follow] keeps it
// in step.
func OpenFeed(j access.Journal, last int64) *Feed {
	return &Feed{journal: j, start: last, last: last, grown: make(chan struct{})}
}

// Follow keeps the feed in step with the journal until the context ends.
func (f *Feed) Follow(ctx context.Context) error {
	defer f.close()
	for e, err := range f.journal.Follow(ctx, "", f.start) {
		if err != nil {
			return err
		}
		t, err := tell(e)
		if err != nil {
			return err
		}
		f.add(t)
	}
	return nil
}

func (f *Feed) add(t told) {
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

func (f *Feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	close(f.grown)
	f.grown = make(chan struct{})
}

// Last returns the number of the last event.
func (f *Feed) Last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// look is what a feed has behind an event.
type look struct {
	events []told // at most 256, in their order
	behind bool   // there are events before those that are kept: read the journal up to last
	last   int64
	closed bool
	grown  <-chan struct{}
}

// since returns what is behind an event.
func (f *Feed) since(after int64) look {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := look{last: f.last, closed: f.closed, grown: f.grown, behind: after < f.start}
	if l.behind || after >= f.last {
		return l
	}
	from := max(f.n-kept, 0)
	for lo, hi := from, f.n; lo < hi; { // the first behind it
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
